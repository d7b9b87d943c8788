"""Copies: several releases of one file by one plan, each with its own draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.result import Public
from confide.frames.marks import withhold
from confide.protect.release import Release

if TYPE_CHECKING:
    from confide.protect.plan import Plan

MOST = 1000
"""Copies beyond which a number is taken for a mistake."""


@dataclass(frozen=True, eq=False, repr=False)
class Copies(Sequence[Release], Public):
    """Several releases of one file, as multiple imputation makes them.

    `linked`: whether row i is the same person in every copy, so that an intruder can use all of them together.
    Estimates from the copies are combined with `combine`.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers=["id"])
    >>> copies = plan.protect(cf.demo("heads"), seed=1, copies=3)
    >>> copies
    Copies: 3 of 51,016 rows; row by row the same people; a draft, not for publication
    >>> cf.combine_frames(copies.data, lambda f: (f["hh_income"].mean(), f["hh_income"].var() / f.height)).copies
    3
    """

    releases: tuple[Release, ...]
    linked: bool = True

    def __post_init__(self) -> None:
        releases = tuple(self.releases)
        object.__setattr__(self, "releases", releases)
        if not releases or not all(isinstance(r, Release) for r in releases):
            raise InputError("Copies holds one or more releases.")
        first = releases[0]
        if any(r.plan != first.plan for r in releases):
            raise InputError("Copies must come from one plan.")
        if any(r.public_variables != first.public_variables for r in releases):
            raise InputError("Copies must have the same columns, in the same order.")
        if not self.linked:
            return
        if any(r.frame.height != first.frame.height for r in releases):
            raise InputError("Linked copies must have the same number of rows.")
        links = [np.zeros(0) if r.link is None else r.link for r in releases]
        if any(not np.array_equal(link, links[0]) for link in links):
            raise InputError("Copies whose rows are not in the same order are not linked: say linked=False.")

    @overload
    def __getitem__(self, index: int) -> Release: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Release]: ...
    def __getitem__(self, index: int | slice) -> Release | Sequence[Release]:
        return self.releases[index]

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[Release]:
        return iter(self.releases)

    @property
    def data(self) -> list[Any]:
        """The public frames."""
        return [r.data for r in self.releases]

    @property
    def frame(self) -> pl.DataFrame:
        """All copies, one below the other: `copy`, from 1, and the columns of a copy."""
        if "copy" in self.releases[0].public_variables:
            raise InputError('A variable is named "copy", as the number of a copy would be: take the copies from data.')
        every = [r.frame.select(pl.lit(i).alias("copy"), pl.all()) for i, r in enumerate(self.releases, 1)]
        unlike = [c for c in every[0].columns if len({f.schema[c] for f in every}) > 1]
        stacked = pl.concat([f.with_columns(pl.col(unlike).cast(pl.String)) for f in every])
        return withhold(stacked, self.refusal) if self.refusal else stacked

    @property
    def refusal(self) -> str:
        """Why the copies must not be published; empty where they may be."""
        return self.releases[0].refusal

    def summary(self) -> pl.DataFrame:
        """The summary of each copy, one below the other; see `Release.summary`."""
        return pl.concat(r.summary().select(pl.lit(i).alias("copy"), pl.all()) for i, r in enumerate(self.releases, 1))

    @property
    def plan(self) -> Plan | None:
        return self.releases[0].plan

    def kept(self) -> list[str]:
        """Released variables that are the same in every copy."""
        compiled = self.releases[0].compiled
        ways = {} if compiled is None else compiled.ways
        return [v for v in self.releases[0].public_variables if v not in ways or ways[v].random is None]

    def linkable(self) -> float:
        """The share of rows that anybody can find again in every copy: all where linked, else those whose kept values
        nobody shares."""
        if self.linked:
            return 1.0
        kept = self.kept()
        if not kept or len({r.frame.height for r in self.releases}) > 1:
            return 0.0
        return float(np.mean(~self.releases[0].frame.select(kept).is_duplicated().to_numpy()))

    def relinked(self) -> Copies:
        """The same copies with rows in one order, found by kept values that nobody shares."""
        kept = self.kept()
        order = [
            r.frame.select(kept).with_row_index("__row").sort(kept, nulls_last=True)["__row"] for r in self.releases
        ]
        moved = []
        for r, rows in zip(self.releases, order, strict=True):
            frame = r.frame[rows]
            link = None if r.link is None else r.link[rows.to_numpy()]
            moved.append(replace(r, frame=frame, data=frame, link=link))
        return Copies(tuple(moved), linked=True)

    def __repr__(self) -> str:
        rows = self.releases[0].frame.height
        how = "row by row the same people" if self.linked else "rows in orders of their own"
        origin = self.releases[0].origin
        drawn = "" if origin is None else f"; {origin.words}"
        return f"Copies: {len(self)} of {rows:,} rows; {how}{drawn}"


def checked_copies(copies: Any) -> int:
    """A number of copies, from 2 upwards."""
    if isinstance(copies, bool) or not isinstance(copies, (int, np.integer)) or not 2 <= copies <= MOST:
        raise InputError(f"copies is how many releases to make, a whole number from 2 to {MOST}.")
    return int(copies)
