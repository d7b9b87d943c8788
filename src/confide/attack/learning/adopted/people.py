"""Who is attacked where no plan is known: people of the original file, others who are named, people held out of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.attack.targets import UNKNOWN, released_row, truth_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames import to_polars
from confide.frames.columns import I64, Column, Records, codes_in
from confide.frames.comparing import encode_like
from confide.frames.distinct import Distinct

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class People:
    """`known`: what is known of each; `rows`: their rows in the original file, -1: not there or not known; `own`: their
    released rows, -1: not released, -2: unknown; `frame`: where they come from, None for the original itself."""

    known: Records
    rows: I64
    own: I64
    frame: pl.DataFrame | None = None

    def values(self, model: Column) -> Column:
        """Their true values of a variable, in the form that the original has."""
        if self.frame is None:
            return model.take(self.rows)
        if model.name not in self.frame.columns:
            hint = did_you_mean(model.name, self.frame.columns)
            raise InputError(f'The people who are attacked have no column "{model.name}": nobody could be right.{hint}')
        return encode_like(self.frame.get_column(model.name), model)


def of_file(release: Release, original: Records) -> People:
    """The people behind the released rows; everybody in the original where no link says who they are."""
    if release.link is None:
        rows = np.arange(original.n, dtype=np.int64)
        return People(original, rows, np.full(original.n, UNKNOWN, dtype=np.int64))
    rows = np.sort(release.link)
    return People(original.take(rows), rows, released_row(release, rows))


def of_frame(release: Release, original: Records, targets: Any, truth: Any, what: str = "targets") -> People:
    """People whom a frame names; `truth`: their rows in the original, found by identifiers where the plan has them."""
    frame = to_polars(targets, what)
    lost = [v for v in original if v not in frame.columns]
    raise_all(f'{what}: there is no column "{v}".{did_you_mean(v, frame.columns)}' for v in lost)
    if not frame.height:
        raise InputError(f"{what} has no row: there is nobody to attack.")
    known = Records([encode_like(frame.get_column(v), original[v]) for v in original], n=frame.height)
    rows = truth_of(release, frame, truth)
    return People(known, np.maximum(rows, -1), released_row(release, rows), frame)


def held_out_people(release: Release, original: Records, held_out: Any) -> People:
    """People who are not in the original file; refused where they are."""
    people = of_frame(release, original, held_out, None, "held_out")
    assert people.frame is not None
    _check_apart(release, people.frame)
    nobody = np.full(people.frame.height, -1, dtype=np.int64)
    return People(people.known, nobody, nobody, people.frame)


def _check_apart(release: Release, frame: pl.DataFrame) -> None:
    """Refuse held-out people who equal people of the file more often than those equal each other."""
    keys, n = _comparable(release, frame), release.original.height
    if not keys:
        return
    found = Distinct.rows(keys, n + frame.height)
    size = np.bincount(found.of[:n], minlength=len(found))
    there = int((size[found.of[n:]] > 0).sum())
    by_chance = float((size[found.of[:n]] > 1).mean())
    allowed = by_chance * frame.height + 4 * np.sqrt(max(by_chance * (1 - by_chance) * frame.height, 1.0))
    if there > allowed:
        raise InputError(
            f"held_out: {there:,} of {frame.height:,} people equal a person of the original file in all {len(keys)} "
            f"shared columns, where {by_chance:.1%} would by chance. Held-out people must not be in the file: give "
            "people of the same population of whom nothing was used."
        )


def _comparable(release: Release, frame: pl.DataFrame) -> list[NDArray[Any]]:
    """The columns that both files have and that can be compared, the original's rows first."""
    keys = []
    for v in release.original.columns:
        if v in frame.columns:
            with suppress(InputError):  # lists, or words in one file and numbers in the other
                mine = release.before.column(v)
                theirs = encode_like(frame.get_column(v), mine)
                codes = theirs.values if mine.kind == "numeric" else np.where(theirs.missing, -1, _codes(theirs, mine))
                keys.append(np.concatenate([mine.values, codes]))
    return keys


def _codes(column: Column, model: Column) -> I64:
    """Codes in the model's levels; another code for a level that it has not."""
    known = codes_in(column, model)
    return np.asarray(np.where(known < 0, len(model.levels), known))
