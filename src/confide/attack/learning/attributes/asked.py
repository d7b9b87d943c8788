"""What is asked: whose value of which variable, with what is known of each, and what beliefs rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder, Uniform
from confide.attack.learning.attributes.relations import Relations
from confide.attack.learning.attributes.support import Support
from confide.attack.targets import UNKNOWN, default_rows, released_row, truth_of
from confide.core.errors import InputError, did_you_mean
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Bools, Column, Records, codes_in
from confide.frames.comparing import encode_like

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Asked:
    """An intruder, a release and its targets as the attack has them (`given`), and the variable to be guessed.

    `y`: the true values, by person; `told`: of whom there is one; `known`: what is known, by person; `truth`: original
    rows (-1: not there, -2: unknown); `own`: released rows, the same. `rows`: the rows that the values were taken from,
    where they were.
    """

    intruder: Intruder
    release: Release
    given: tuple[Any, Any, Sequence[Release]]
    variable: str
    column: Column
    y: F64
    told: Bools
    known: Records
    truth: I64
    own: I64
    rows: I64 | None = None

    @classmethod
    def of(cls, intruder: Intruder, release: Release, given: tuple[Any, Any, Sequence[Release]], v: str) -> Asked:
        """Gathered, and refused where nothing could be guessed."""
        check_variable(intruder, release, v)
        column = release.before.column(v, release.kinds.get(v))
        _check_values(column)
        targets, truth, _ = given
        names = [n for n in intruder.knows if n in release.original.columns]
        file = [release.before.column(n, release.kinds.get(n)) for n in names]
        if targets is None:
            rows = default_rows(intruder, release)
            rows_true = rows if release.link is not None else np.full(len(rows), UNKNOWN)
            known = Records([c.take(rows) for c in file], n=len(rows))
            y, told = column.values[rows], np.ones(len(rows), dtype=bool)
            return cls(intruder, release, given, v, column, y.astype(float), told, known, rows_true,
                       released_row(release, rows_true), rows)  # fmt: skip
        frame = to_polars(targets, "targets")
        known = Records([encode_like(frame.get_column(c.name), c) for c in file], n=frame.height)
        rows_true = truth_of(release, frame, truth)
        y, told = _values_of(frame, column, rows_true)
        return cls(intruder, release, given, v, column, y, told, known, rows_true, released_row(release, rows_true))

    @property
    def n(self) -> int:
        return len(self.truth)

    def reference(self) -> tuple[Records, Column, Bools]:
        """The file on which relations are learnt: what is known, the variable, and who of the people it holds."""
        if self.intruder.beliefs != "released":
            file = [self.release.before.column(n, self.release.kinds.get(n)) for n in self.known]
            return Records(file, n=len(self.column)), self.column, self.truth >= 0
        v, release = self.variable, self.release
        lost = [n for n in (v, *self.known) if n not in release.public_variables]
        if lost:
            raise InputError(
                f'beliefs="released" cannot say how "{v}" goes with what is known: "{lost[0]}" is not released.'
            )
        _, seen = release.encoded([v, *self.known])
        if seen[v].kind != self.column.kind:
            raise InputError(f'beliefs="released" cannot say what "{v}" is, which is released more coarsely.')
        if seen[v].kind == "categorical":
            codes = codes_in(seen[v], self.column)
            return seen.select(list(self.known)), self.column.with_values(codes), self.own >= 0
        return seen.select(list(self.known)), seen[v], self.own >= 0

    def relations(self, support: Support, smoothing: float | None) -> tuple[Relations, Bools]:
        """The belief about the variable, and whose own value it has seen."""
        beliefs = self.intruder.beliefs
        if isinstance(beliefs, Uniform):
            return _flat(support, beliefs, self.variable), np.zeros(self.n, dtype=bool)
        known, column, saw = self.reference()
        bins = support.bins_of_rows
        if column is not support.column:
            y, gone = column.values.astype(float), column.missing
            y = np.where(gone, 0.0, y)
            bins = support.bins_of(y, gone, support.places(y))
        return Relations.fit(known, bins, support.bins, support.numeric, smoothing), saw

    def known_as_seen(self) -> Records:
        """What is known, in the form that the reference file has."""
        compiled = self.release.compiled
        if self.intruder.beliefs != "released" or compiled is None:
            return self.known
        return Records([compiled.released_form(c) for c in self.known.values()], n=self.n)


def _flat(support: Support, beliefs: Uniform, v: str) -> Relations:
    """Nothing but a range is known: all bins by how many values they have inside it."""
    low, high = beliefs.ranges.get(v, (-np.inf, np.inf)) if support.numeric else (-np.inf, np.inf)
    inside = (support.values >= low) & (support.values <= high)
    count = np.bincount(support.bin, weights=inside if inside.any() else np.ones(len(inside)), minlength=support.bins)
    share = np.append(count / count.sum(), 0.0)
    return Relations((), (), share, None, 0.0, True, share)


def _values_of(frame: pl.DataFrame, column: Column, truth: I64) -> tuple[F64, Bools]:
    """True values of named targets: their own column, or the original's of those who are in it."""
    if column.name in frame.columns:
        own = encode_like(frame.get_column(column.name), column)
        if column.kind == "categorical":
            codes = codes_in(own, column)
            return codes.astype(float), (codes >= 0) | own.missing
        return own.values.astype(float), np.ones(len(own), dtype=bool)
    told = truth >= 0
    values = column.values[np.maximum(truth, 0)].astype(float)
    return np.where(told, values, -1.0 if column.kind == "categorical" else np.nan), told


def check_variable(intruder: Intruder, release: Release, v: str) -> None:
    """Refuse what cannot be guessed."""
    if v not in release.original.columns:
        raise InputError(f'guess: there is no column "{v}".{did_you_mean(v, release.original.columns)}')
    if v in intruder.knows:
        raise InputError(f'guess: "{v}" is known to this intruder; guess what it does not know.')
    if v in intruder.between:
        raise InputError(
            f'guess: "{v}" is known to this intruder as an interval; guess it for an intruder who knows nothing of it.'
        )
    if release.plan is not None and v in release.plan.identifiers:
        raise InputError(f'guess: "{v}" is an identifier, which has nothing to be learnt; guess another variable.')
    if release.plan is not None and v == release.plan.unit:
        raise InputError(f'guess: "{v}" says which rows belong together; guess another variable.')


def _check_values(column: Column) -> None:
    there = column.values[~column.missing]
    if not len(there):
        raise InputError(
            f'guess: all values of "{column.name}" are missing in the original; there is nothing to learn.'
        )
    if (there == there[0]).all() and not column.missing.any():
        raise InputError(f'guess: everybody has the same "{column.name}"; there is nothing to learn.')
