"""A choice in sentences: why this plan, why not that one, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from confide.measure.utility.measure import Measure
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import Question, amount, aside, number, ratio_of, shown
from confide.study.tradeoff.repeats import same
from confide.study.tradeoff.risk_names import about_file, apart, is_share


def asked_words(asked: Question) -> str:
    """The question as it was understood: limits as people and as shares, what is asked of utility, and whose risk."""
    limits = " and ".join(_limit_words(asked, risk, limit) for risk, limit in asked.limits.items())
    many = len(asked.every.intruders)
    who = "the intruder" if many == 1 else f'the intruder "{asked.who[0]}"' if asked.single else "the worst intruder"
    who = "" if all(map(about_file, asked.limits)) else f" by {who}"
    floors = "".join(f"; {_floor_words(m, floor)}" for m, floor in asked.floors.items())
    ends = ", worse ends of intervals" if asked.cautious else ""
    return f"{limits}{who}{ends}{floors}; then the best {asked.measure.name}"


def _limit_words(asked: Question, risk: str, limit: float) -> str:
    """A limit as it was stated; beside it the same as a share or a number, where all plans have as many targets."""
    said, span = f"{risk} at most {amount(risk, limit)}", asked.every.span(asked.who)
    if span is None or apart(risk):
        return said
    if span[0] == span[1]:
        return f"{said} ({aside(risk, limit, span[0])})"
    many = f"{span[0]:,.0f} to {span[1]:,.0f}"
    if is_share(risk):
        return f"{said} of each plan's own targets ({many})"
    return f"{said} people (plans have {many} targets)"


def _floor_words(measure: Measure, floor: float) -> str:
    side = "at least" if measure.direction == "higher" else "at most"
    return f"{measure.name} {side} {number(floor)}"


def why_not(asked: Question, plan: int) -> str:
    """What of a plan breaks a limit; that another is better, where nothing does."""
    broken = [_broken(asked, plan, risk, limit) for risk, limit in asked.limits.items()]
    problems = [b for b in broken if b]
    for measure, floor in asked.floors.items():
        short, found = asked.short(plan, measure), asked.also[measure.name][plan]
        if short is None:
            problems.append(
                f"{measure.name} is not known" if found is None else f"the spread of {measure.name} is not known"
            )
        elif short > 0:
            problems.append(f"{measure.name} is {shown(found)}, where {_floor_words(measure, floor)} is asked")
    if asked.utility[plan] is None:
        problems.append(f"{asked.measure.name} cannot be computed")
    return "; ".join(problems) or f"{asked.measure.name} is not the best"


def _broken(asked: Question, plan: int, risk: str, limit: float) -> str:
    """What is wrong with one risk of a plan; nothing where it is within its limit."""
    found, tried = asked.held(plan, risk), asked.tried(plan, risk)
    if found is None:
        return f"{risk} is not known"
    if tried is None:
        return f"the spread of {risk} is not known with one repeat"
    if ratio_of(tried, limit) <= 1 + 1e-12:
        return ""
    upper = "the upper end of " if asked.cautious else ""
    by = "" if asked.single or about_file(risk) else f' for "{found[0]}"'
    return f"{upper}{risk} is {amount(risk, tried)}{by}, above {amount(risk, limit)}"


def nobody(asked: Question) -> str:
    """No plan is within the limits: which comes nearest, and by how much it fails."""
    plans = range(len(asked.every.plans))
    safe = [k for k in plans if asked.within(k)]
    # With a limit of 0 every ratio is infinite; then the least risk is nearest.
    nearest = min(
        safe or plans,
        key=lambda k: (asked.ratio(k) if not safe else 0.0, _missed(asked, k),
                       sum(asked.tried(k, r) or 0.0 for r in asked.limits), k),
    )  # fmt: skip
    hint = " Leave cautious out, or run more repeats." if asked.cautious else ""
    limits = " and ".join(f"{risk} at most {amount(risk, limit)}" for risk, limit in asked.limits.items())
    what = f"No plan has {limits}."
    if safe:
        kept = len([k for k in safe if asked.every.plans[k] != EVERYTHING]) or len(safe)
        many = "1 plan has" if kept == 1 else f"{kept} plans have"
        what = f"{many} {limits}, but none of them the utility that is asked for."
    return f'{what} "{asked.every.plans[nearest]}" comes nearest: {why_not(asked, nearest)}.{hint}'


def _missed(asked: Question, plan: int) -> float:
    """How much utility a plan misses; infinite where it is not known."""
    if asked.utility[plan] is None:
        return math.inf
    return sum(math.inf if (short := asked.short(plan, m)) is None else short for m in asked.floors)


def reason_of(asked: Question, order: Sequence[int], missing: str = "") -> str:
    """Why the first of the plans in order was chosen; `missing`: what it does not release, in a sentence."""
    best = order[0]
    name, measure = asked.every.plans[best], asked.measure
    utility = asked.utility[best]
    risks = " and ".join(_risk_words(asked, best, risk) for risk in asked.limits)
    held = _held(asked, order)
    parts = [
        f'"{name}" has {risks}; its {measure.name} of {shown(utility)} is the best within the limits.', held,
    ]  # fmt: skip
    if len(order) == 1:
        parts[0] = f'"{name}" has {risks}; its {measure.name} is {shown(utility)}.'
    else:
        parts.append(_runner_up(asked, best, order[1]))
    if name == EVERYTHING:
        parts.append("It is the file as it is: these limits ask for no protection.")
    parts += [f"Its {m.name} is {shown(asked.also[m.name][best])}." for m in asked.floors if m is not measure]
    parts += [missing] if missing else []
    return " ".join([*parts, *warnings_of(asked, best), f"Asked: {asked_words(asked)}."])


def _held(asked: Question, order: Sequence[int]) -> str:
    """How many plans meet the limits; the file as it is counts among plans only where it is the best."""
    left = set() if asked.every.plans[order[0]] == EVERYTHING else {EVERYTHING}
    many = sum(p not in left for p in asked.every.plans)
    kept = sum(asked.every.plans[k] not in left for k in order)
    too = " The file as it is meets them too." if kept < len(order) else ""
    alone = f"It is the only one of {many} plans that meets the limits."
    return (f"{kept} of {many} plans meet the limits." if kept > 1 else alone) + too


def _risk_words(asked: Question, plan: int, risk: str) -> str:
    found = asked.risks[plan][risk]
    assert found is not None  # a plan whose risk is not known meets no limit
    by = "" if asked.single or about_file(risk) else f' for the worst intruder, "{found[0]}"'
    top, high = asked.upper[plan][risk], asked.tried(plan, risk)
    if asked.cautious and top is not None and top[0] != found[0] and high is not None:
        by += f' (the upper end is largest for "{top[0]}": {amount(risk, high)})'
    return f"{risk} {shown(found[1], risk, asked.targets(plan, risk))}{by}, within {amount(risk, asked.limits[risk])}"


def _runner_up(asked: Question, best: int, second: int) -> str:
    a, b, name = asked.utility[best], asked.utility[second], asked.every.plans[second]
    assert a is not None
    assert b is not None
    if same(a.mean, b.mean):
        first = next(iter(asked.limits))
        one, two = asked.risks[best][first], asked.risks[second][first]
        assert one is not None
        assert two is not None
        by = f"it has no more of {first}" if same(one[1].mean, two[1].mean) else f"it has less of {first}"
        return f'"{name}" is as useful; of the two this was taken because {by}.'
    gap = asked.every.paired(asked.values, best, second)
    text = f'Next comes "{name}" with {shown(b)}, {number(abs(gap.mean))} worse'
    if gap.low is None or gap.high is None:
        return f"{text}; with one repeat it is not known whether another draw would reverse the order."
    if gap.low == gap.high:
        return f"{text} in every repeat."
    clear = gap.low > 0 or gap.high < 0
    ends = " to ".join(number(v) for v in sorted((abs(gap.low), abs(gap.high)) if clear else (gap.low, gap.high)))
    if clear:
        return f"{text} (95% interval of the difference, repeat by repeat: {ends})."
    return f"{text}, which is within the spread over repeats (95% interval of the difference: {ends})."


def warnings_of(asked: Question, plan: int) -> list[str]:
    """Of each risk whose interval reaches above its limit for some intruder, or has no known spread."""
    out = []
    for risk, limit in asked.limits.items():
        found, top = asked.risks[plan][risk], asked.upper[plan][risk]
        if found is None or top is None:
            continue
        high = top[1].high
        by = "" if top[0] == found[0] else f' for "{top[0]}"'
        if high is None:
            out.append(f"Warning: with one repeat the spread of {risk} is not known.")
        elif ratio_of(high, limit) > 1 + 1e-12:
            out.append(
                f"Warning: the upper end of the interval of {risk}, {amount(risk, high)}{by}, is above the limit."
            )
    return out
