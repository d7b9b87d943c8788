"""What advice tells: the table of all that was tried, of families, and the reason in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from confide.protect.seam.dials import Untried
from confide.study.advise.finish import Ending
from confide.study.advise.numbers import Risk, Spread, breaks, holds, loss_of, risks_of
from confide.study.advise.result import FAMILIES, UNTRIED, Nearest
from confide.study.advise.search import Search
from confide.study.advise.trials import FINAL, Tried
from confide.study.result import EVERYTHING
from confide.study.tradeoff.question import amount, number, shown

TRIED = {
    "name": pl.String, "families": pl.String, "steps": pl.Int64, "rung": pl.Int64, "evaluations": pl.Int64,
    "intruder": pl.String, "found": pl.Float64, "found_low": pl.Float64, "found_high": pl.Float64, "share": pl.Float64,
}  # fmt: skip

FOUND = ("found", "found_share")


def tried_frame(search: Search, ending: Ending, chosen: Mapping[str, Tried]) -> pl.DataFrame:
    """One row per candidate, those of the study first, then by how far they came and how little they lose."""
    spread, sure = Spread.of(search.candidates, search.measure), search.sure()
    names = {id(c): name for name, c in chosen.items()}
    rows = []
    for c in search.candidates:
        name = names.get(id(c))
        status, why = _status(search, ending, c, name, spread, sure)
        who, found = _worst(c)
        n = found.N if found else 0.0
        error = found.error((found.value * found.n + 0.5) / (found.n + 1)) if found and found.n else 0.0
        ends = (max(found.value - 1.96 * error, 0.0), min(found.value + 1.96 * error, 1.0)) if found else (None, None)
        count = [None if x is None else x * n for x in (found.value if found else None, *ends)]
        steps = 0 if c.plan is None else len(c.plan.steps) + len(set(c.plan.drop) - set(search.space.base.drop))
        mine = ending.result.frame.filter(plan=name) if name else None
        utility = {
            m.name: _mean(c, m.name) if m in search.work.needed else None if mine is None else mine[m.name].mean()
            for m in ending.result.measures
        }
        rows.append({
            "name": name or c.name, "families": ", ".join(c.families), "steps": steps,
            "rung": FINAL if name else c.rung, "evaluations": c.evaluations, "intruder": who, "found": count[0],
            "found_low": count[1], "found_high": count[2], "share": found.value if found else None, **utility,
            "status": status, "why": why,
        })  # fmt: skip
    schema: dict[str, Any] = {
        **TRIED,
        **{m.name: pl.Float64 for m in ending.result.measures},
        "status": pl.String,
        "why": pl.String,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    loss = (pl.col(search.measure.name) - float(search.measure.best)).abs()
    ranks = {s: k for k, s in enumerate(("chosen", "nearest", "finalist"))}
    first = pl.col("status").replace_strict(ranks, default=len(ranks), return_dtype=pl.Int64)
    return frame.sort(first, -pl.col("rung"), loss, "name", nulls_last=True)


def _worst(c: Tried) -> tuple[str | None, Risk | None]:
    """The intruder who finds most, and that risk, in the search."""
    found = {who: r for (who, _), r in risks_of(c, {"found_share": 1.0}).items()}
    who = max(found, key=lambda w: found[w].value, default=None)
    return who, None if who is None else found[who]


def _mean(c: Tried, name: str) -> float | None:
    values = [v for t in c.good if (v := t.utility.get(name)) is not None]
    return sum(values) / len(values) if values and len(values) == len(c.good) else None


def _status(
    search: Search, ending: Ending, c: Tried, name: str | None, spread: Spread, sure: Sequence[Tried]
) -> tuple[str, str]:
    if c.error:
        return "cannot be carried out", c.error
    if name is not None:
        return _final(ending, name)
    if breaks(c, search.limits):
        far = max(risks_of(c, search.limits).items(), key=lambda r: r[1].ratio)
        (who, risk), found = far
        by = f' by "{who}"' if who else ""
        return "breaks the limit", f"{risk} is {found.ratio:.3g} times the limit{by}, beyond 3 standard errors"
    rival = search.beaten_by(c, spread, sure)
    if rival is not None:
        mine, theirs = loss_of(c, search.measure), loss_of(rival, search.measure)
        assert mine is not None
        assert theirs is not None
        return f"beaten by {rival.name}", (
            f"it loses {number(mine)} by {search.measure.name}, {rival.name} {number(theirs)} within the limits, "
            "beyond 3 standard errors"
        )
    if not holds(c, search.limits) and c.whole:
        return "breaks the limit", "on average over its releases; whether beyond noise is not known"
    return "budget", f"not pursued: {search.ended}, before it was beaten or broke the limit beyond noise"


def _final(ending: Ending, name: str) -> tuple[str, str]:
    if name == ending.name:
        return "chosen", "the best utility within the limits, and within them with fresh draws"
    if name == ending.nearest:
        return "nearest", "no plan meets the limits; this one comes nearest"
    if name in ending.failed:
        return "finalist", "it met the limits in the study and broke one with fresh draws"
    table = ending.choice.table if ending.choice is not None else None
    why = None if table is None else next(iter(table.filter(plan=name)["why_not"].to_list()), None)
    return "finalist", why or "no plan meets the limits"


def families_frame(search: Search) -> pl.DataFrame:
    """What each family could reach, by the search's own trials; what could not be carried out was not tried."""
    rows = []
    every = [c for c in search.candidates if not c.error]
    for family in dict.fromkeys(f for c in search.candidates for f in c.families):
        mine = [c for c in every if family in c.families]
        alone, mixed = ([c for c in mine if (len(c.families) == 1) is one] for one in (True, False))
        best = [_best(search, group) for group in (alone, mixed)]
        low = [r.value for c in mine if (r := _worst(c)[1]) is not None]
        rows.append((family, len(mine), *best, min(low, default=None)))
    return pl.DataFrame(rows, schema=FAMILIES, orient="row")


def _best(search: Search, group: Sequence[Tried]) -> float | None:
    """The best utility of those that keep the limits on all targets."""
    held = [(loss_of(c, search.measure), _mean(c, search.measure.name)) for c in group if holds(c, search.limits)]
    known = [(loss, value) for loss, value in held if loss is not None and value is not None]
    return min(known)[1] if known else None


def untried_frame(untried: Sequence[Untried], search: Search) -> pl.DataFrame:
    """What methods do not offer, and dials that the budget left no room for."""
    rows = [(u.family, ", ".join(u.variables), u.why) for u in untried]
    turned = {k for c in search.candidates if c.evaluations for k, _ in c.setting}
    rows += [(d.family, ", ".join(d.variables), f"not tried: {search.ended}")
             for k, d in enumerate(search.space.dials) if k not in turned]  # fmt: skip
    return pl.DataFrame(rows, schema=UNTRIED, orient="row")


def nearest_of(search: Search, ending: Ending, plan: Any) -> Nearest | None:
    """The plan that comes nearest where nothing meets the limits, and what would have to be given up."""
    if ending.nearest is None:
        return None
    asked = ending.asked
    k = asked.every.plans.index(ending.nearest)
    found = {measure: mean for kind, measure, mean, _, _ in ending.confirmed.rows() if kind == "risk"}
    risks = {r: (found[r], limit) for r, limit in asked.limits.items() if r in found}
    said = [
        f"Tolerate {_tolerated(risk, value)} in place of {amount(risk, limit)}."
        for risk, (value, limit) in risks.items()
        if value > limit
    ]
    people = search.work.study.data.height
    least = min((x * (people if r == "found_share" else 1) for r, x in asked.limits.items() if r in FOUND), default=1.0)
    if least < 1 and any(w.membership == "certain" for w in search.work.study.intruders.values()):
        said.append(
            f"The limit is less than one person of {people:,}, and whoever knows that a person is in the file and "
            "guesses among all records finds one on average: ask for no less than that."
        )
    for m, floor in asked.floors.items():
        short = asked.short(k, m)
        if short:
            said.append(f"Ask less of {m.name} than {number(floor)}: this plan misses it by {number(short)}.")
    kept = [v for v in search.kept if any(v in w.knows for w in search.work.study.intruders.values())]
    if kept:
        said.append(f"Let plans alter, or leave out, what is kept and known to an intruder: {', '.join(kept)}.")
    known, start = [search.forecast.known(c) for c in search.candidates], search.forecast.start
    if start is not None and not any(k.far < start.far for k in known if k is not None):
        said.append("Nothing that was tried lowers what intruders find; ask whether they know so much.")
    return Nearest(ending.nearest, plan, risks, tuple(said))


def _tolerated(risk: str, value: float) -> str:
    """A risk as a thing to put up with.

    >>> _tolerated("found_share", 0.52), _tolerated("found", 1.0), _tolerated("expected_matches", 12.0)
    ('that 52% of people are found', 'that 1 person is found', 'expected_matches of 12')
    """
    told = amount(risk, value)
    if risk == "found_share":
        return f"that {told} of people are found"
    if risk == "found":
        return f"that {told} person is found" if told == "1" else f"that {told} people are found"
    return f"{risk} of {told}"


def reason_of(search: Search, ending: Ending) -> str:
    """The reason in sentences."""
    many = sum(not c.error for c in search.candidates)
    said = [
        f"{many:,} plans were tried in {search.budget.begun:,} evaluations; the search ended because {search.ended}."
    ]
    asked, by = ending.asked, search.measure.name
    if ending.name is None:
        k = asked.every.plans.index(ending.nearest or "")
        worst = [
            f"{risk} {shown(f[1], risk, asked.targets(k, risk))}, above {amount(risk, asked.limits[risk])}"
            for risk, f in asked.risks[k].items()
            if f is not None and f[1].mean > asked.limits[risk]
        ]
        what = f" has {' and '.join(worst)}." if worst else " does not have the utility that is asked for."
        if ending.failed:
            what = " met the limits when finalists were compared, and broke one with fresh draws; so did all others."
        return " ".join([*said, f'No plan meets the limits. The nearest, "{ending.nearest}",{what}'])
    numbers = {(kind, m): (mean, low, high) for kind, m, mean, low, high in ending.confirmed.rows()}
    told = [
        f"{risk} {_with_ends(risk, numbers['risk', risk])}, within {amount(risk, limit)}"
        for risk, limit in asked.limits.items()
        if ("risk", risk) in numbers
    ]
    said.append(
        f'The best within the limits is "{ending.name}": with fresh draws that chose nothing it has '
        f"{' and '.join(told)}; its {by} is {_with_ends('', numbers['utility', by])}."
    )
    if ending.failed:
        were = "1 plan" if len(ending.failed) == 1 else f"{len(ending.failed)} plans"
        said.append(f"It was taken after {were} that looked better broke a limit with fresh draws.")
    second = ending.runner_up
    if ending.name == EVERYTHING:
        return " ".join([*said, "Nothing can lose less than a file that is not altered."])
    if second is None:
        said.append("No other plan of the study is within the limits.")
    elif second.apart:
        said.append(f'The runner-up, "{second.name}", is worse by {shown(second.difference)}.')
    elif second.ahead:
        said.append(
            f'With fresh draws the runner-up, "{second.name}", was ahead: the chosen one is better by '
            f"{shown(second.difference)}. Draws that confirm choose nothing; compare both with more repeats."
        )
    else:
        said.append(
            f'It cannot be told apart from the runner-up, "{second.name}": the difference is '
            f"{shown(second.difference)}, so neither is better for all that is known."
        )
    others = [n for n in ending.close if second is None or n != second.name]
    if others:
        said.append(f"{len(others)} more cannot be told apart from it: {'; '.join(others)}.")
    return " ".join(said)


def _with_ends(risk: str, found: tuple[float, float | None, float | None]) -> str:
    mean, low, high = found
    if low is None or high is None or low == high:
        return amount(risk, mean)
    return f"{amount(risk, mean)} (95% interval {amount(risk, low)} to {amount(risk, high)})"
