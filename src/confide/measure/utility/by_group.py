"""What analysts of single groups lose, beside what all lose: so that no minority pays for protection unnoticed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.visible import visible
from confide.frames.columns import Bools
from confide.measure.utility.grouped_pairs import GroupedPairs, restricted
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.pair import Pair, Wanted
from confide.measure.utility.run import DEFAULT, asked_measures, checked_items, measured, pairs_of, releases_of
from confide.protect.copies import Copies
from confide.protect.release import Release

Z = 1.959963984540054
ROUNDING = 1e-12
NOBODY = "no released row is in this group"
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "group": pl.String, "people": pl.Int64, "released": pl.Int64, "measure": pl.String,
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "chance": pl.Float64, "whole": pl.Float64,
    "worse": pl.Boolean, "direction": pl.String, "best": pl.Float64, "detail": pl.String,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class UtilityByGroup(Result):
    """`frame`: one row per variable, group and measure.

    `people`: rows of the group in the original, `released`: in the release (of the first copy). `value`: the measure of
    the group's rows alone, `whole`: of the whole file. `low`, `high`: a 95 percent interval from `replicates` draws of
    people with replacement, of both files together. `chance`: the mean of the measure over as many groups of as many
    people at random, since small groups lose more by chance alone. `worse`: whether the interval lies beyond both,
    `whole` and `chance`. All of these are null without replicates, `chance` also where no link is known. `detail`: the
    measure's remark, or why there is no value. Measures that name no variables leave the variable of the groups out.
    """

    frame: pl.DataFrame
    replicates: int = 0

    def summary(self) -> pl.DataFrame:
        """One row per group, one column per measure."""
        return self.frame.pivot("measure", index=["variable", "group", "people"], values="value")

    def __repr__(self) -> str:
        lines = []
        for (variable, measure), part in self.frame.group_by(["variable", "measure"], maintain_order=True):
            first = part.row(0, named=True)
            lines.append(
                f"{visible(str(measure))} by {visible(str(variable))} ({first['direction']} is better; whole file "
                f"{_number(first['whole'])})"
            )
            width = max(len(visible(g)) for g in part["group"])
            for r in part.iter_rows(named=True):
                ends = "" if r["low"] is None else f"  ({_number(r['low'])} to {_number(r['high'])})"
                ends += "" if r["chance"] is None else f"  by chance {_number(r['chance'])}"
                lines.append(
                    f"    {visible(r['group']):<{width}}  {r['people']:>8,}  {_number(r['value'])}{ends}"
                    f"{'  worse' if r['worse'] else ''}"
                )
        if self.frame["worse"].any():
            lines.append(
                "Worse: beyond the whole file, and beyond groups of as many people at random, by more than noise."
            )
        if not self.replicates:
            lines.append("No intervals: small groups lose more by chance alone. replicates=100 draws people anew.")
        return "\n".join(lines)


def utility_by_group(
    release: Release | Copies, by: str | Sequence[str],
    measures: Measure | str | Mapping[str, object] | Iterable[Measure | str | Mapping[str, object]] = DEFAULT, *,
    weight: str | None = None, weighted: bool = True, items: Wanted | None = None, replicates: int = 0,
    progress: Progress = None,
) -> UtilityByGroup:  # fmt: skip
    """What analysts lose in each group of people: every measure of the group's rows alone.

    `by`: variables by which groups are made, one after the other; they must be released, since an analyst selects
    people by what is released: swapped people count where the release puts them, and a recoded variable makes the
    groups that it still has. A measure that follows people from row to row (`InformationLoss`) takes the people of the
    group and their own rows. `measures`, `weight`, `weighted`, `items`: as in `utility`. `replicates`: how often people
    are drawn anew for intervals, 0 for none. A measure that cannot be computed in a group has no value, and `detail`
    says why.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Swap("marital", rate=0.3)], identifiers=["id"]).protect(heads, seed=1)
    >>> found = cf.utility_by_group(release, "sex", cf.Hellinger("marital"))
    >>> found.frame.select("group", "people").rows()
    [('male', 979), ('female', 1021)]
    """
    if isinstance(replicates, bool) or not isinstance(replicates, int) or not (replicates == 0 or replicates >= 20):
        raise InputError("replicates is 0, or a whole number from 20 upwards: how often people are drawn anew.")
    names = names_of(by, "by")
    releases, asked = releases_of(release), asked_measures(measures)
    wanted = None if items is None else checked_items(items, releases[0])
    pairs = pairs_of(releases, weight, weighted, wanted)
    grouped = [GroupedPairs.of(pairs, v) for v in names]
    whole = {(g.variable, m.name): _value(measured(m, g.pairs, strict=False), m) for g in grouped for m in asked}
    parts = [(g, *part) for g in grouped for part in g]
    rows = []
    with progress_bar("measuring", len(parts) * len(asked), progress) as done:
        for g, name, mine, theirs in parts:
            for m in asked:
                rows.append(_row(g, name, mine, theirs, m, whole[g.variable, m.name], replicates))
                done(1)
    return UtilityByGroup(pl.DataFrame(rows, schema=SCHEMA, orient="row"), replicates)


def group_values(
    pairs: Sequence[Pair], by: Sequence[str], measures: Sequence[Measure]
) -> Iterator[tuple[str, str, int, str, float | None]]:
    """Every measure in every group, for studies: variable, group, people, measure, value. A variable that this release
    has lost has no groups."""
    for v in by:
        try:
            grouped = GroupedPairs.of(pairs, v)
        except InputError:
            continue
        for name, mine, theirs in grouped:
            for m in measures:
                yield v, name, int(mine.sum()), m.name, _value(_found(grouped, mine, theirs, m), m)


def _found(g: GroupedPairs, mine: Bools, theirs: Sequence[Bools], measure: Measure) -> Found | str:
    part = g.part(mine, theirs, bool(getattr(measure, "needs_link", False)))
    if part is None:
        return NOBODY
    try:
        return measured(measure, [p.checked() for p in part], strict=False)
    except InputError as e:  # weights that are all zero in the group
        return str(e)


def _row(
    g: GroupedPairs, name: str, mine: Bools, theirs: Sequence[Bools], measure: Measure, whole: float | None,
    replicates: int,
) -> tuple[Any, ...]:  # fmt: skip
    found = _found(g, mine, theirs, measure)
    value, size = _value(found, measure), int(mine.sum())
    low = high = chance = worse = None
    if value is not None and replicates and np.isfinite(value):
        spread = _known(_redrawn(g, mine, theirs, measure, seed) for seed in range(replicates))
        random = _known(_at_random(g, size, measure, seed) for seed in range(replicates))
        chance = float(np.mean(random)) if random else None
        if len(spread) >= replicates / 2:
            reach = Z * float(np.std(spread, ddof=1))
            low, high = max(value - reach, measure.range[0]), min(value + reach, measure.range[1])
            others = [x for x in (whole, chance) if x is not None]
            worse = all(low > x if measure.direction == "lower" else high < x for x in others)
    detail = found if isinstance(found, str) else found.detail
    return (g.variable, name, size, int(theirs[0].sum()), measure.name, value, low, high, chance, whole, worse,
            measure.direction, float(measure.best), detail)  # fmt: skip


def _known(values: Iterable[float | None]) -> list[float]:
    return [x for x in values if x is not None and np.isfinite(x)]


def _at_random(g: GroupedPairs, size: int, measure: Measure, seed: int) -> float | None:
    part = g.like(size, seed)
    return None if part is None else _value(measured(measure, part, strict=False), measure)


def _redrawn(g: GroupedPairs, mine: Bools, theirs: Sequence[Bools], measure: Measure, seed: int) -> float | None:
    """The measure for people drawn with replacement, who bring their rows of both files along where they are linked."""
    rng = np.random.default_rng([seed, len(mine)])
    linked = bool(getattr(measure, "needs_link", False))
    times = rng.multinomial(len(mine), np.full(len(mine), 1 / len(mine)))
    before = np.repeat(np.flatnonzero(mine), times[mine])
    part = []
    for p, z in zip(g.pairs, theirs, strict=True):
        there = np.flatnonzero(mine[p.link] if linked and p.link is not None else z)
        if not len(there) or not len(before):
            return None
        again = rng.integers(0, len(there), len(there)) if p.link is None else None
        after = there[again] if again is not None else np.repeat(there, times[p.link[there]])  # type: ignore[index]
        if not len(after):
            return None
        part.append(restricted(p, before, after, linked))
    return _value(measured(measure, part, strict=False), measure)


def _value(found: Found | str, measure: Measure) -> float | None:
    """The value, if there is one; beside the best by less than rounding, it is the best."""
    if isinstance(found, str) or np.isnan(found.value):
        return None
    best = float(measure.best)
    return best if abs(found.value - best) < ROUNDING * max(1.0, abs(best)) else float(found.value)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
