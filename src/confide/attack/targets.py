"""Who is attacked, what is known of each, and which released row is theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.beliefs.label_regressions import FOLDS
from confide.attack.intruder import Intruder
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Column, Records, encode_column
from confide.frames.comparing import encode_like, in_unit
from confide.frames.distinct import Distinct
from confide.frames.door import array_of
from confide.frames.tally import Tally

if TYPE_CHECKING:
    from confide.protect.release import Release

UNKNOWN = -2
"""Truth of a target of whom it is not known whether and where it is in the original file."""


@dataclass(frozen=True, eq=False)
class Targets:
    """`records`: known values, those that are alike once; `of`: each target's row among them, None for its own.

    `truth`: each target's original row, -1: not there, -2: unknown. `low`, `high`: intervals, by row of `records`.
    `part`: by row of `records`, the part of the people without whom beliefs are fitted that are used about this one,
    None where all are alike.
    """

    records: Records
    truth: I64
    low: Mapping[str, F64] = field(default_factory=dict)
    high: Mapping[str, F64] = field(default_factory=dict)
    of: I64 | None = None
    part: I64 | None = None

    def patterns(
        self, knows: tuple[str, ...], told: Collection[str]
    ) -> Iterator[tuple[I64, tuple[str, ...], dict[str, tuple[float, float]]]]:
        """Rows that share what is known: their numbers, the variables known as values, those known as intervals.

        Missing is a value of variables that are `told`; others are not known where they are missing.
        """
        n = self.records.n
        if not n:
            return
        absent = [self.records[v].missing & (v not in told) for v in knows]
        keys: list[Any] = [m for m in absent if m.any()]
        keys += [ends[v] for ends in (self.low, self.high) for v in ends]
        if not keys:
            yield np.arange(n), knows, {}
            return
        of = Distinct.rows(keys, n).of
        order = np.argsort(of, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(of[order])) + 1):
            first = int(rows[0])
            known = tuple(v for v, miss in zip(knows, absent, strict=True) if not miss[first])
            between = {v: (float(self.low[v][first]), float(self.high[v][first])) for v in self.low}
            yield rows, known, {v: p for v, p in between.items() if p != (-np.inf, np.inf)}


def default_rows(intruder: Intruder, release: Release) -> I64:
    """Original rows attacked when nobody names targets: as the membership prior says (methods, calibration)."""
    if release.link is None or intruder.membership == "in_file":
        return np.arange(release.original.height, dtype=np.int64)
    return np.sort(release.link)


def default_targets(intruder: Intruder, release: Release, original: Tally, part: I64 | None) -> Targets:
    """The people of the original file, those of whom the same is known once; `part`: of each row, where it matters."""
    if intruder.between:
        raise InputError("between names columns of targets=...; give the targets.")
    rows = default_rows(intruder, release)
    own = rows if release.link is not None else np.full(len(rows), UNKNOWN)
    known = original.records.select(intruder.knows)
    if original.of is None:
        return Targets(known.only(rows), own, part=None if part is None else part[rows])
    alike = [c.values for c in known.values()] + ([] if part is None else [part])
    found = Distinct.rows(alike, known.n)
    mine = None if part is None else part[found.first]
    return Targets(known.take(found.first), own, of=found.of[original.of[rows]], part=mine)


def gather_targets(
    intruder: Intruder, release: Release, original: Tally, targets: Any, truth: Any, part: I64 | None = None
) -> Targets:
    """Targets as arrays of the same kinds as the original file; `part`: of each row of that, where it matters."""
    if targets is None:
        if truth is not None:
            raise InputError("truth goes with targets; the default targets know theirs.")
        return default_targets(intruder, release, original, part)
    frame = to_polars(targets, "targets")
    known, low, high = stated_targets(intruder, original.records, frame)
    own = truth_of(release, frame, truth)
    return Targets(known, own, low, high, part=_part_of(original, own, part))


def stated_targets(
    intruder: Intruder, model: Records, frame: pl.DataFrame
) -> tuple[Records, dict[str, F64], dict[str, F64]]:
    """What is known of stated targets: values, and lower and upper ends of intervals; `model`: the original file."""
    wanted = [*intruder.knows, *(c for pair in intruder.between.values() for c in pair)]
    raise_all(
        f'targets: there is no column "{v}".{did_you_mean(v, frame.columns)}' for v in wanted if v not in frame.columns
    )
    columns = [encode_like(frame.get_column(v), model[v]) for v in intruder.knows]
    low, high = {}, {}
    for v, (a, b) in intruder.between.items():
        low[v], high[v] = (_limit(frame.get_column(c), model[v], end) for c, end in ((a, -np.inf), (b, np.inf)))
        if bool((low[v] > high[v]).any()):
            raise InputError(
                f'between: {int((low[v] > high[v]).sum())} targets have a low end above the high end of "{v}".'
            )
    return Records(columns, n=frame.height), low, high


def _part_of(original: Tally, truth: I64, part: I64 | None) -> I64 | None:
    return None if part is None else part_of(original.place(truth), part)


def part_of(place: I64, part: I64) -> I64:
    """The part of each target, by its place among distinct original rows; one more than there are for somebody who is
    not in the file."""
    return np.where(place >= 0, part[np.maximum(place, 0)], FOLDS)


def _limit(s: pl.Series, model: Column, missing: float) -> F64:
    """Ends of intervals: a missing one, and an answer code, is no limit."""
    values = encode_column(in_unit(s, model.dtype) if s.dtype.is_temporal() else s, "numeric").values
    return np.where(np.isnan(values) | np.isin(values, model.special), missing, values)


def truth_of(release: Release, frame: pl.DataFrame, truth: Any) -> I64:
    """Each target's original row: as stated, else by identifiers, else unknown."""
    n = release.original.height
    if truth is None:
        return _by_identifiers(release, frame)
    rows = array_of(truth.to_numpy() if hasattr(truth, "to_numpy") else truth)
    if not rows.size:
        rows = rows.astype(np.int64)  # an empty list has no type of its own
    if rows.shape != (frame.height,) or not np.issubdtype(rows.dtype, np.integer):
        raise InputError(
            f"truth must give one original row number for each of the {frame.height} targets (-1: not there)."
        )
    if len(rows) and (rows.min() < -1 or rows.max() >= n):
        raise InputError(f"truth points outside the original file, whose rows are 0 to {n - 1} (-1: not there).")
    return rows.astype(np.int64)


def _by_identifiers(release: Release, frame: pl.DataFrame) -> I64:
    """Original rows of targets that carry the file's identifiers; unknown where they do not."""
    names = [] if release.plan is None else [v for v in release.plan.identifiers if v in frame.columns]
    if not names:
        return np.full(frame.height, UNKNOWN, dtype=np.int64)
    wanted, index = frame.select(names), release.original.select(names).with_row_index("__row")
    try:
        index = index.join(wanted, on=names, how="semi")
    except pl.exceptions.PolarsError:
        raise InputError(
            f"The identifier {', '.join(names)} has another type in targets than in the original file."
        ) from None
    if index.select(names).is_duplicated().any():
        raise InputError(f"The identifier {', '.join(names)} is not unique in the original file; give truth= instead.")
    found = wanted.join(index, on=names, how="left", maintain_order="left")["__row"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64)


def released_row(release: Release, truth: I64) -> I64:
    """The released row of each target, -1 where it was not released, -2 where unknown."""
    if release.link is None:
        return np.full(len(truth), UNKNOWN, dtype=np.int64)
    place = np.full(release.original.height, -1, dtype=np.int64)
    place[release.link] = np.arange(len(release.link))
    return np.where(truth >= 0, place[np.maximum(truth, 0)], truth)
