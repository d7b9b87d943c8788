"""The first screen in words: whether the file can go out, as what, and the three numbers that say why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from confide.show.names import KEPT, capital, said
from confide.show.report.believed import caution
from confide.show.report.file_risks import file_risk_sentences
from confide.show.report.learnt import learnt_sentences
from confide.show.report.people_figures import exposed
from confide.show.report.view import View
from confide.study.released import missing_words
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.risk_names import counted

MOST_GROUPS = 3


@dataclass(frozen=True)
class Verdict:
    """A sentence that decides, what is to be known before it, and what follows from it."""

    lead: str
    before: str
    rest: tuple[str, ...]
    good: bool


@dataclass(frozen=True)
class Number:
    """A large number, its unit, what it is, and the words below it; `beyond` where it passes a limit."""

    value: str
    unit: str
    name: str
    words: str
    beyond: bool = False


def verdict(view: View) -> Verdict:
    """Yes or no in plain words, and the reasons; first of all whether the risk can be believed."""
    if view.chosen is not None:
        return Verdict(_yes(view), caution(view), tuple(_why(view)), bool(view.asked.limits))
    if view.nobody:
        return Verdict(_no(view), caution(view), tuple(_lacks(view)), False)
    lead = "No rule was stated, so no plan is chosen."
    return Verdict(lead, caution(view), tuple(_open(view)), False)


def _yes(view: View) -> str:
    plan = "it is" if view.chosen == EVERYTHING else f"“{view.chosen}”"
    if not view.asked.limits:
        return f"Chosen: {plan}. No rule was stated."
    limits = "limits that were set" if view.outside else "stated limits"
    return f"Yes, within the {limits}: as {plan}."


def _why(view: View) -> Iterator[str]:
    yield from _within(view)
    yield from _found(view, str(view.chosen))
    yield from learnt_sentences(view, str(view.chosen))
    yield from file_risk_sentences(view, str(view.chosen))
    yield from _missing(view, str(view.chosen))
    if view.chosen == EVERYTHING:
        yield "These limits ask for no protection."
    yield from _groups(view)


def _within(view: View) -> Iterator[str]:
    """How many plans keep the limits, and by what this one was taken; outside only what it went by."""
    by, table = view.asked.by, getattr(view.choice, "table", None)
    if by is None or not view.asked.limits:
        return
    best = f"has the best {said(by)}"
    if view.outside or table is None or "meets" not in table.columns:
        limited = " and ".join(dict.fromkeys(said(counted(r)) for r in view.asked.limits))
        if view.withheld_words(by, view.plans):  # the order of figures tells of those that are withheld
            yield f"It was chosen by limits that were set on {limited}, and by {said(by)}."
        else:
            yield f"Of the plans within the limits that were set on {limited}, it {best}."
        return
    others = table if view.chosen == EVERYTHING else table.filter(pl.col("plan") != EVERYTHING)
    kept = int(others["meets"].sum())
    if kept == 1:
        yield f"It is the only one of {others.height} plans that stays within them."
    else:
        yield f"{capital(_counted(kept))} of {others.height} plans stay within them; of these it {best}."


def _found(view: View, plan: str) -> Iterator[str]:
    """How many people the worst intruder finds, before and after."""
    who = view.worst_of(plan)
    share, before = _share(view, plan), _share(view, EVERYTHING)
    if share is None or who is None:
        return
    after = f"The intruder who finds most, {who}, finds {one_in(share)}"
    if plan == EVERYTHING or before is None:
        yield f"{after}."
    else:
        yield f"{after}; in the file as it is, {one_in(before)}."


def _missing(view: View, plan: str) -> Iterator[str]:
    """What of the file does not go out, which no measure of the rest shows."""
    if words := missing_words(view.result.released, plan):
        yield f"With “{plan}”, {words}"


def _groups(view: View) -> Iterator[str]:
    found = exposed(view)
    if not found:
        return
    told = ", ".join(f"{variable} “{level}” ({words})" for variable, level, words in found[:MOST_GROUPS])
    more = f" and {len(found) - MOST_GROUPS} more" if len(found) > MOST_GROUPS else ""
    groups = f"{_counted(len(found))} group{'s' * (len(found) != 1)}"
    yield f"{capital(groups)} stay{'s' * (len(found) == 1)} far more exposed than people on average: {told}{more}."


def _no(view: View) -> str:
    if view.outside:
        return "No: no plan is within the limits that were set beforehand, so none is chosen."
    near = f" “{view.nearest}” comes nearest." if view.nearest else ""
    return f"No: no plan stays within the stated limits.{near}"


def _lacks(view: View) -> Iterator[str]:
    """What the nearest plan lacks, in words."""
    if view.outside:
        return
    yield from _found(view, view.focus)
    yield from learnt_sentences(view, view.focus)
    yield from file_risk_sentences(view, view.focus)
    yield from _missing(view, view.focus)
    after = view.nobody.partition("comes nearest: ")[2].partition(" Leave cautious out")[0]
    if after:
        yield f"What it lacks: {worded(after)}"


def _open(view: View) -> Iterator[str]:
    """Without a rule or a choice: what there is to choose from."""
    others = [p for p in view.plans if p != EVERYTHING]
    for m in view.result.measures[:1]:
        on = [p for p in others if m.name in view.frontier[p]]
        risks = sorted(on, key=lambda p: view.number(p, view.risk, view.worst_of(p))["mean"] or 0.0)
        ends = "".join(f": “{p}”" for p in on)
        if len(risks) > 1:
            ends = f", from “{risks[0]}” (least risk) to “{risks[-1]}”"
        are = "are" if len(on) != 1 else "is"
        many = f"{_counted(len(on))} of {len(others)} plans"
        yield f"By {said(m.name)}, {many} {are} beaten by no other in both risk and utility{ends}."
    yield from _found(view, view.focus)
    yield from learnt_sentences(view, view.focus)
    yield from file_risk_sentences(view, view.focus)
    yield from _missing(view, view.focus)


def worded(text: str) -> str:
    """Raw names of risks and measures in a sentence, replaced by words.

    >>> worded("the upper end of expected_matches is 12, above 5; ci_overlap is 0.5")
    'the upper end of expected right matches is 12, above 5; overlap of confidence intervals is 0.5'
    >>> worded("found is 12, above 5")
    'people found is 12, above 5'
    """
    text = re.sub(r"\bfound(?= (?:is|at most|for|\d))", said("found"), text)
    return re.sub(r"\b[a-z]\w*_\w+\b|\bentropy\b|\bhellinger\b", lambda m: said(m[0]), text)


def one_in(share: float) -> str:
    """A share of people as one in so many.

    >>> one_in(0.019), one_in(0.47), one_in(0.528), one_in(0.98)
    ('1 person in 53', 'nearly 1 person in 2', 'more than 1 person in 2', 'nearly everybody')
    """
    if share <= 0:
        return "nobody"
    if share >= 0.95:
        return "nearly everybody"
    if share >= 0.45:
        return f"{'more than' if share > 0.505 else 'nearly'} 1 person in 2"
    return f"1 person in {1 / share:,.0f}"


def numbers(view: View) -> list[Number]:
    """The share at risk before and after, and the utility that is kept."""
    after = [_at_risk(view, view.focus)] if view.focus != EVERYTHING else []
    return [_at_risk(view, EVERYTHING), *after, *_kept(view)]


def _at_risk(view: View, plan: str) -> Number:
    t, who = view.treat, view.worst_of(plan)
    found, whole = view.number(plan, view.risk, who), view.targets(plan)
    mean = found["mean"]
    what = "of people would be found" if view.risk in ("found", "expected_matches") else f"of people: {said(view.risk)}"
    if mean is None or not whole or who is None:
        return Number("?", "", what, f"The risk of “{plan}” is not known.")
    share = t.share_text(mean, whole)
    low = share.startswith("fewer")
    of = f"{t.interval(mean, found['low'], found['high'])} of {t.people(whole)} by the intruder {who}"
    if plan == EVERYTHING:
        return Number(
            "<" + str(t.base) if low else share[:-1], "" if low else "%", f"{what} in the file as it is", f"{of}."
        )
    level = LEVEL_WORDS.get(view.level(plan, who), "")
    limit, beyond = view.asked.limit(view.risk, view.people), False
    words = f"{of}{level}."
    if limit is not None:
        words += f" Limit: {view.asked.short(view.risk, view.alike)}."
        stated = view.asked.limits.get(view.risk)
        beyond = (
            mean > stated * (1 + 1e-9)
            if stated is not None
            else (mean / whole > limit / (view.people or whole) * (1 + 1e-9))
        )
    name = f"{what} with “{plan}”"
    return Number("<" + str(t.base) if low else share[:-1], "" if low else "%", name, words, beyond)


LEVEL_WORDS = {
    "exact": ", who uses all that follows from the plan", "informed": ", who knows the plan and its rates",
    "naive": ", who takes released values as true",
    "unaltered": ", who leaves altered values aside and guesses among the records that agree in the others",
}  # fmt: skip


def _kept(view: View) -> Iterator[Number]:
    """The utility that the choice goes by, as what is kept; the others in words."""
    plan, by, names = view.focus, view.deciding, [m.name for m in view.result.measures]
    if by is None:
        return
    told = "; ".join(f"{said(m)} {view.said(plan, m)}{_floor(view, m)}" for m in names if m != by)
    value, unit, what = kept_words(view, plan, by)
    words = (
        f"{capital(said(by))}: {view.number_text(plan, by)}; as it is: {view.said(EVERYTHING, by)}{_floor(view, by)}."
    )
    gone = missing_words(view.result.released, plan)
    words = " ".join(filter(None, (gone, words, f"{capital(told)}." if told else "")))
    yield Number(value, unit, what, words, view.lacks(plan) and not view.outside)


def _floor(view: View, name: str) -> str:
    """What the rule asks of a measure."""
    floor = view.asked.floors.get(name)
    side = "at least" if view.measure(name).direction == "higher" else "at most"
    return "" if floor is None else f" (asked: {side} {floor:g})"


def kept_words(view: View, plan: str, name: str) -> tuple[str, str, str]:
    """A measure as a share that is kept, where it has two ends: the number, its unit and what it is of."""
    measure, shown = view.measure(name), view.said(plan, name)
    mean = view.treat.value(view.number(plan, name)["mean"])
    low, high = measure.range
    if mean is None or shown in ("withheld", "unknown") or (low, high) != (0, 1) or measure.best not in (0, 1):
        return shown, "", f"{said(name)} ({measure.best:g} is best)"
    kept = mean if measure.best == 1 else 1 - mean
    return f"{100 * kept:.0f}", "%", KEPT.get(name, "is kept")


def _share(view: View, plan: str) -> float | None:
    found, whole = view.number(plan, view.risk, view.worst_of(plan))["mean"], view.targets(plan)
    return None if found is None or not whole else view.treat.share(found, whole)


def _counted(many: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[many] if many < len(words) else f"{many:,}"
