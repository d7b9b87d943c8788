"""Groups of people, by what an intruder knows of them: who is at risk, without naming a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.frames.columns import I64
from confide.frames.cut import Cut
from confide.measure.risk.identification import MARGIN


@dataclass(frozen=True, eq=False)
class Groups:
    """`codes`: by variable, each original row's group; `levels`: by variable, the names of the groups.

    Names of groups of numbers are ranges between rounded numbers, each with a number of people. `stated`: variables by
    which groups were asked for, whoever knows them; by these, utility is told too.
    """

    codes: Mapping[str, I64]
    levels: Mapping[str, tuple[str, ...]]
    stated: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: pl.DataFrame, intruders: Iterable[Intruder], stated: Sequence[str] = ()) -> Groups:
        """Groups by every variable that an intruder knows, or that is stated: categories as they are, numbers in about
        five ranges."""
        every = [v for who in intruders for v in (*who.knows, *who.between)]
        known = dict.fromkeys(v for v in (*stated, *every) if v in frame.columns)
        columns = {v: frame.get_column(v) for v in known}
        cuts = {v: Cut.of(values) for v, values in columns.items()}
        codes = {v: cut.codes(columns[v]) for v, cut in cuts.items()}
        return cls(codes, {v: cut.names for v, cut in cuts.items()}, tuple(stated))

    def rows(self, attacks: Sequence[Attack], who: Intruder, threshold: float) -> list[list[Any]]:
        """For each group: variable, level, targets, targets over the threshold, expected right matches, found,
        claimed."""
        out: list[list[Any]] = []
        each = [_per_target(a, threshold) for a in attacks]
        for v in dict.fromkeys((*who.knows, *who.between, *self.stated)):
            if v not in self.codes:
                continue
            size = len(self.levels[v])
            sums = np.mean([[_sum(self.codes[v], rows, w, size) for w in kinds] for rows, kinds in each], axis=0)
            for level, numbers in zip(self.levels[v], sums.T.tolist(), strict=True):
                if numbers[0]:
                    out.append([v, level, *numbers])
        return out


def _per_target(attack: Attack, threshold: float) -> tuple[I64, tuple[Any, ...]]:
    """The original row of each target that has one, and what is summed over them."""
    units, rows = attack.units, attack.truth
    over = (units["p_max"] > threshold * (1 + MARGIN)).to_numpy()
    right = (units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)).fill_null(0.0).to_numpy()
    found = right * (1 - units["p_absent"].fill_null(1.0).to_numpy())
    own = rows >= 0
    claimed = units["p_max"].to_numpy()
    return rows[own], (np.ones(int(own.sum())), over[own].astype(float), right[own], found[own], claimed[own])


def _sum(codes: I64, rows: I64, weights: Any, size: int) -> Any:
    return np.bincount(codes[rows], weights=weights, minlength=size)
