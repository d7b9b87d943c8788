"""What an attack on a published table found. Private: certificates and cells are those of the true table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.result import Result
from confide.tables.layout import Bools, Ints
from confide.tables.published import Published
from confide.tables.risk.coalition import left_over
from confide.tables.risk.tags import tagged
from confide.tables.risk.who_is_known import People
from confide.tables.solve.routes import EXACT, Route
from confide.tables.table import cell_frame


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """People who, once known, recover a zero. `people`: how many; `frame`: their cells; `recovered`: what they empty.

    `smallest`: whether it is proven that fewer people do not suffice.
    """

    people: int
    frame: pl.DataFrame
    recovered: pl.DataFrame
    smallest: bool

    def summary(self) -> pl.DataFrame:
        """In one row: people, the cells they are in, the cells they empty, whether fewer do not suffice."""
        counts = {"people": self.people, "cells": self.frame.height, "recovered": self.recovered.height}
        return pl.DataFrame([{**counts, "smallest": self.smallest}])

    def __str__(self) -> str:
        if not self.people:
            said = "The release alone empties"
        else:
            who = "1 person" if self.people == 1 else f"{self.people:,} people"
            said = f"Knowing {who} in {_cells(self.frame.height)} empties"
        return f"{said} {_cells(self.recovered.height)}."


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


@dataclass(frozen=True, eq=False, repr=False)
class TableAttack(Result):
    """What an intruder recovers from a published table. Private: certificates and cells are those of the true table.

    `frame`: n, sap, standard_error, lower, upper, status, one row a number of known people. `method`: how it was
    computed.

    >>> import confide as cf
    >>> attack = cf.Table([2, 1, 3]).publish().attack(known=range(4))
    >>> attack.smallest, str(attack.certificate())
    (1, 'Knowing 1 person in 1 cell empties 1 cell.')
    """

    published: Published
    frame: pl.DataFrame
    method: str
    target: Bools
    known: Ints | None
    people: People | None
    route: Route

    @property
    def exact(self) -> bool:
        """Whether every probability is exact."""
        return bool((self.frame["status"] == EXACT).all())

    @property
    def most(self) -> int:
        """The largest number of known people."""
        return int(self.frame["n"].to_numpy().max())

    @cached_property
    def fractions(self) -> tuple[Fraction, ...] | None:
        """The probabilities as exact fractions (of the lower bounds, where that is what they are); None if simulated.

        >>> import confide as cf
        >>> [str(f) for f in cf.Table([2, 1, 3]).publish().attack(known=range(4)).fractions]
        ['0', '1/6', '2/5', '7/10']
        """
        if self.known is None:
            return (Fraction(int(self.frame["sap"][0])),)
        found = self.route.risk(self.most, True).fractions
        return None if found is None else tuple(found[n] for n in self.known)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The probability that each target cell is recovered: n, cell, its levels, risk. Private.

        >>> import confide as cf
        >>> cf.Table([2, 1]).publish().attack(known=[1]).cells.select("cell", "risk").rows()
        [(0, 0.0), (1, 0.3333333333333333)]
        """
        risks, _ = self._cell_risks
        which = np.flatnonzero(self.target)
        ns = self.frame["n"].to_numpy()
        levels = cell_frame(self.published.table.axes)[np.tile(which, len(ns))]
        return levels.select(
            pl.Series("n", np.repeat(ns, len(which))),
            pl.Series("cell", np.tile(which, len(ns))),
            pl.all(),
            pl.Series("risk", risks[:, which].ravel()),
        )

    @cached_property
    def expected_zeros(self) -> pl.DataFrame:
        """The expected number of recovered zeros: n, expected, status.

        >>> import confide as cf
        >>> cf.Table([1, 1, 2]).publish().attack(known=[1]).expected_zeros["expected"].to_list()
        [0.5]
        """
        risks, status = self._cell_risks
        return pl.DataFrame({"n": self.frame["n"], "expected": risks[:, self.target].sum(axis=1)}).with_columns(
            status=pl.lit(status)
        )

    @cached_property
    def _cell_risks(self) -> tuple[Any, str]:
        if self.people is not None:
            risks = np.zeros((1, len(self.target)))
            risks[0, self.recovered()["cell"].to_numpy()] = 1.0
            return risks, str(self.frame["status"][0])
        risks, status = self.route.cell_risks(self.most)
        return risks[self.known], status

    @property
    def smallest(self) -> int | None:
        """The smallest number of known people with any risk; None where there is none (or none found up to `most`)."""
        return self.route.smallest(self.most)

    def at_least(self, probability: float) -> int | None:
        """The smallest n asked for at which the probability is reached; None where it is not.

        >>> import confide as cf
        >>> cf.Table([2, 1, 3]).publish().attack(known=range(7)).at_least(0.5)
        3
        """
        if isinstance(probability, bool) or not isinstance(probability, (int, float)) or not 0 < probability <= 1:
            raise InputError("A probability lies between 0 and 1; for 20 percent write 0.20.")
        found = self.frame.filter(pl.col("sap") >= probability)["n"]
        return None if found.is_empty() else int(found.min())  # type: ignore[arg-type]

    def certificate(self, cell: int | None = None, keys: list[str] | None = None) -> Certificate | None:
        """The fewest people who recover a zero (in `cell`, if one is given); None where none is found. Private.

        Where sums nest in neither one nor two trees, only certificates of at most `most` people are looked for.

        `keys`: what is known of the person that a recovered zero is applied to; see `recovered`.
        """
        table = self.published.table
        whole = isinstance(cell, (int, np.integer)) and not isinstance(cell, bool)
        if cell is not None and not (whole and 0 <= cell < table.counts.size):
            raise InputError(f"cell is a position from 0 to {table.counts.size - 1}.")
        if cell is not None and not self.target[cell]:
            raise InputError("This cell is not among the targets.")
        found = self.route.certificate(cell, self.most)
        if found is None:
            return None
        counts = found.known
        inside = np.flatnonzero(counts)
        frame = cell_frame(table.axes)[inside].select(
            pl.Series("cell", inside, dtype=pl.Int64), pl.all(), pl.Series("people", counts[inside])
        )
        return Certificate(int(counts.sum()), frame, self._tagged(People(counts, ()), keys), found.smallest)

    def recovered(self, keys: list[str] | None = None) -> pl.DataFrame:
        """The zeros that a named group recovers, or the release alone: cell, its levels, tag, given.

        `tag` says what a zero tells of somebody in the table: "full" (only one possibility is left for people with
        these `keys`), "partial" (a level is ruled out), "combination" (only this combination is). With keys=None the
        strongest tag, and in `given` the fewest keys that it takes.

        >>> import confide as cf
        >>> beneficiaries = cf.Table([[15, 20, 5], [0, 30, 0]], names=["county", "race"])
        >>> beneficiaries.publish().attack(known=0).recovered().select("tag", "given").rows()
        [('full', 'county'), ('full', 'county')]
        """
        nobody = People(np.zeros(len(self.target), dtype=np.int64), ())
        return self._tagged(nobody if self.people is None else self.people, keys)

    def _tagged(self, people: People, keys: list[str] | None) -> pl.DataFrame:
        left, _ = left_over(self.published, people)
        return tagged(self.published.table, np.flatnonzero((left == 0) & self.target), left > 0, keys)

    def chart(self) -> Any:
        """The probability by the number of people known (altair)."""
        if self.people is not None:
            raise InputError("A named group has one probability, 0 or 1: there is no curve to draw.")
        return super().chart()

    def summary(self) -> pl.DataFrame:
        """In one row: the most people known, the largest probability, the fewest people with any, whether all is exact.

        >>> import confide as cf
        >>> cf.Table([2, 1]).publish().attack(known=[1]).summary().select("n", "smallest", "exact").rows()
        [(1, 1, True)]
        """
        return pl.DataFrame(
            [{"n": self.most, "sap": self.frame["sap"].max(), "smallest": self.smallest, "exact": self.exact}]
        )

    def __repr__(self) -> str:
        ns, sap = self.frame["n"].to_numpy(), self.frame["sap"].to_numpy()
        return f"TableAttack: n = {ns.min()}..{ns.max()}, SAP up to {sap.max():.4g} ({self.method})"
