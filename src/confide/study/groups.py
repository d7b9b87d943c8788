"""Groups of people, by what an intruder knows of them: who is at risk, without naming a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.attack.attack import Attack
from confide.attack.intruder import Intruder
from confide.frames.columns import I64
from confide.measure.identification import MARGIN

MOST_LEVELS = 20
FIFTHS = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth")
MISSING, OTHER = "(missing)", "(other)"


@dataclass(frozen=True, eq=False)
class Groups:
    """`codes`: by variable, each original row's group; `levels`: by variable, the names of the groups.

    Names of groups of numbers hold no value of the file.
    """

    codes: Mapping[str, I64]
    levels: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, frame: pl.DataFrame, intruders: Iterable[Intruder]) -> Groups:
        """Groups by every variable that an intruder knows: categories as they are, numbers in fifths."""
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
    if values.dtype.is_numeric() and values.n_unique() > MOST_LEVELS:
        return _in_fifths(values)
    text = values.cast(pl.String).fill_null(MISSING)
    listed = values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else sorted(text.unique().to_list())
    names = [n for n in listed if n != MISSING]
    if len(names) > MOST_LEVELS:
        common = text.value_counts(sort=True).filter(pl.col(values.name) != MISSING)
        keep = set(common.sort(["count", values.name], descending=[True, False])[values.name].to_list()[:MOST_LEVELS])
        names = [n for n in names if n in keep]
        text = pl.select(pl.when(text.is_in([*names, MISSING])).then(text).otherwise(pl.lit(OTHER))).to_series()
        names.append(OTHER)
    names.append(MISSING)
    codes = text.replace_strict(names, list(range(len(names))), return_dtype=pl.Int64)
    return codes.to_numpy(), tuple(names)


def _in_fifths(values: pl.Series) -> tuple[I64, tuple[str, ...]]:
    x = values.cast(pl.Float64).fill_nan(None)
    there = x.is_not_null().to_numpy()
    known = x.drop_nulls().to_numpy()
    codes = np.full(len(x), len(FIFTHS), dtype=np.int64)
    codes[there] = np.searchsorted(np.quantile(known, [0.2, 0.4, 0.6, 0.8]), known, side="left")
    return codes, (*FIFTHS, MISSING)


def _per_target(attack: Attack, threshold: float) -> tuple[I64, tuple[Any, ...]]:
    """The original row of each target that has one, and what is summed over them."""
    units, rows = attack.units, attack.truth
    over = (units["p_max"] > threshold * (1 + MARGIN)).to_numpy()
    right = (units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)).fill_null(0.0).to_numpy()
    own = rows >= 0
    return rows[own], (np.ones(int(own.sum())), over[own].astype(float), right[own])


def _sum(codes: I64, rows: I64, weights: Any, size: int) -> Any:
    return np.bincount(codes[rows], weights=weights, minlength=size)
