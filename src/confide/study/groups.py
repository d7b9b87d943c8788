"""Groups of people, by what an intruder knows of them: who is at risk, without naming a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.frames.columns import F64, I64
from confide.frames.types.exact import exact
from confide.measure.risk.identification import MARGIN

MOST_LEVELS = 20
FEWEST = 10
"""People that a range of numbers holds at least, so that its ends say nothing of one of them."""
SPIKE = 0.1
"""The share from which a value that many people have, such as zero, is a group of its own."""
MISSING, OTHER, MANY = "(missing)", "(other)", "(the commonest number)"


@dataclass(frozen=True, eq=False)
class Groups:
    """`codes`: by variable, each original row's group; `levels`: by variable, the names of the groups.

    Names of groups of numbers are ranges between rounded numbers, each with a number of people.
    """

    codes: Mapping[str, I64]
    levels: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, frame: pl.DataFrame, intruders: Iterable[Intruder]) -> Groups:
        """Groups by every variable that an intruder knows: categories as they are, numbers in about five ranges."""
        known = dict.fromkeys(v for who in intruders for v in (*who.knows, *who.between) if v in frame.columns)
        found = {v: _grouped(frame.get_column(v)) for v in known}
        return cls({v: c for v, (c, _) in found.items()}, {v: names for v, (_, names) in found.items()})

    def rows(self, attacks: Sequence[Attack], who: Intruder, threshold: float) -> list[list[Any]]:
        """For each group: variable, level, targets, targets over the threshold, expected right matches."""
        out: list[list[Any]] = []
        each = [_per_target(a, threshold) for a in attacks]
        for v in (*who.knows, *who.between):
            if v not in self.codes:
                continue
            size = len(self.levels[v])
            sums = np.mean([[_sum(self.codes[v], rows, w, size) for w in kinds] for rows, kinds in each], axis=0)
            for level, numbers in zip(self.levels[v], sums.T.tolist(), strict=True):
                if numbers[0]:
                    out.append([v, level, *numbers])
        return out


def _grouped(values: pl.Series) -> tuple[I64, tuple[str, ...]]:
    number = values.dtype.is_numeric() and exact(values)
    numbers = values.cast(pl.Float64).fill_nan(None) if number else None
    if numbers is not None and numbers.n_unique() > MOST_LEVELS:
        return _in_ranges(numbers)
    text = (values if numbers is None else numbers.cast(values.dtype)).cast(pl.String).fill_null(MISSING).alias("text")
    listed = values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else sorted(text.unique().to_list())
    names = [n for n in listed if n not in (MISSING, OTHER)]
    if len(names) > MOST_LEVELS:
        common = text.value_counts(name="people").sort(["people", "text"], descending=[True, False])["text"].to_list()
        keep = set([n for n in common if n in set(names)][:MOST_LEVELS])
        names = [n for n in names if n in keep]
    places = {n: i for i, n in enumerate([*names, OTHER, MISSING])}
    codes = text.replace_strict(places, default=places[OTHER], return_dtype=pl.Int64)
    return codes.to_numpy(), tuple(places)


def _in_ranges(values: pl.Series) -> tuple[I64, tuple[str, ...]]:
    """About five ranges of about as many people; a value that many have is a group of its own."""
    there, x = values.is_not_null().to_numpy(), values.drop_nulls().to_numpy()
    distinct, count = np.unique(x, return_counts=True)
    often = float(distinct[count.argmax()]) if count.max() >= SPIKE * len(x) else None
    rest = x if often is None else x[x != often]
    cuts = _cuts(rest)
    ends = [_said(c) for c in cuts]
    ranges = (
        [f"up to {ends[0]}", *(f"over {a} to {b}" for a, b in pairwise(ends)), f"over {ends[-1]}"] if ends else ["all"]
    )
    names = (*ranges, "zero" if often == 0 else MANY, MISSING)
    codes = np.full(len(values), len(names) - 1, dtype=np.int64)
    codes[there] = np.where(x == often, len(ranges), np.searchsorted(cuts, x, side="left"))
    return codes, names


def _cuts(x: F64) -> F64:
    """Fifths, moved to numbers of two digits; those that leave fewer than FEWEST people in a range are left out."""
    if len(x) < 2 * FEWEST:
        return np.zeros(0)
    found: list[float] = []
    for cut in sorted({float(f"{q:.2g}") for q in np.quantile(x, [0.2, 0.4, 0.6, 0.8])}):
        below = x[x <= cut]
        inside = len(below) if not found else int((below > found[-1]).sum())
        if inside >= FEWEST and len(x) - len(below) >= FEWEST:
            found.append(cut)
    return np.asarray(found)


def _said(cut: float) -> str:
    return f"{cut:,.0f}" if abs(cut) >= 10 or cut == 0 else f"{cut:.2g}"


def _per_target(attack: Attack, threshold: float) -> tuple[I64, tuple[Any, ...]]:
    """The original row of each target that has one, and what is summed over them."""
    units, rows = attack.units, attack.truth
    over = (units["p_max"] > threshold * (1 + MARGIN)).to_numpy()
    right = (units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)).fill_null(0.0).to_numpy()
    own = rows >= 0
    return rows[own], (np.ones(int(own.sum())), over[own].astype(float), right[own])


def _sum(codes: I64, rows: I64, weights: Any, size: int) -> Any:
    return np.bincount(codes[rows], weights=weights, minlength=size)
