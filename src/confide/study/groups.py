"""Groups of people, by what an intruder knows of them: who is at risk, without naming a record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.attack.results.units import found_matches, right_matches
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
    def of(
        cls, frame: pl.DataFrame, intruders: Iterable[Intruder], categorical: Collection[str] = (),
        stated: Sequence[str] = (),
    ) -> Groups:  # fmt: skip
        """Groups by every variable that an intruder knows, or that is stated: categories as they are, numbers in about
        five ranges, unless they are among the `categorical`."""
        every = [v for who in intruders for v in (*who.knows, *who.between)]
        known = dict.fromkeys(v for v in (*stated, *every) if v in frame.columns)
        columns = {v: frame.get_column(v) for v in known}
        cuts = {v: Cut.of(values, v in categorical) for v, values in columns.items()}
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
    right, found = (each(units).fill_null(0.0).to_numpy() for each in (right_matches, found_matches))
    own = rows >= 0
    claimed = units["p_max"].to_numpy()
    return rows[own], (np.ones(int(own.sum())), over[own].astype(float), right[own], found[own], claimed[own])


def _sum(codes: I64, rows: I64, weights: Any, size: int) -> Any:
    return np.bincount(codes[rows], weights=weights, minlength=size)
