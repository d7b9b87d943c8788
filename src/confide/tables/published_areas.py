"""One published table per area."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.random.origin import Origin
from confide.core.result import Public
from confide.core.run.progress import Progress, progress_bar
from confide.tables.drafts import TidyFrame, draft_text, marked, refusal_of, seen_outside, stated_by_margin
from confide.tables.layout import Bools, Ints, Layout
from confide.tables.published import Published, parts_text, stated

if TYPE_CHECKING:
    from confide.tables.areas import Tables
    from confide.tables.risk.areas_attack import TablesAttack


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTables(Public):
    """What `Tables.publish` returns: as `Published`, with arrays of areas x Q."""

    tables: Tables
    layout: Layout
    values: Ints
    shown: Bools
    lower: Ints
    upper: Ints
    scheme: Any
    sharp: bool
    origin: Origin | None = None

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, area: str | int) -> Published:
        """One area's published table.

        >>> import confide as cf
        >>> cf.Tables([[2, 1], [0, 3]], areas=["a", "b"]).publish(cf.RoundCells(3))["b"].values
        array([0, 3])
        """
        return self.at(self.tables.place(area))

    @property
    def refusal(self) -> str:
        """Why it may not be published; empty where it may be.

        >>> import confide as cf
        >>> cf.Tables([[2, 1], [0, 3]]).publish(cf.RoundCells(3)).refusal
        ''
        """
        return refusal_of(self.origin)

    def at(self, k: int) -> Published:
        """The published table of the area at a position."""
        one = Published(
            self.tables._at(k),
            self.layout,
            self.values[k],
            self.shown[k],
            self.lower[k],
            self.upper[k],
            self.scheme,
        )
        return replace(one, sharp=self.sharp, origin=self.origin)

    @property
    def frame(self) -> TidyFrame:
        """All areas' published tables, one row per quantity: area, and the columns of `Published.frame`."""
        one = self.at(0).frame.drop("published", "lower", "upper")
        areas = np.repeat(np.array(self.tables.areas, dtype=object), one.height)
        frame = pl.concat([one] * len(self)).select(
            pl.Series("area", areas, dtype=pl.String),
            pl.all(),
            *stated(self.values.ravel(), self.shown.ravel(), self.lower.ravel(), self.upper.ravel()),
        )
        return marked(frame, self.origin)

    def bounds(self, sharp: bool = True, progress: Progress = None) -> pl.DataFrame:
        """The tightest whole numbers for each cell of each area: area, and the columns of `Published.bounds`.

        >>> import confide as cf
        >>> cf.Tables([[2, 1], [0, 3]], areas=["a", "b"]).publish(cf.RoundCells(3)).bounds()["upper"].to_list()
        [4, 1, 1, 4]
        """
        found = []
        with progress_bar("areas", len(self), progress) as done:
            for k, area in enumerate(self.tables.areas):
                one = self.at(k).bounds(sharp, progress=False)
                found.append(one.select(pl.lit(area).alias("area"), pl.all()))
                done(1)
        return pl.concat(found)

    def attack(self, known: Any = None, **options: Any) -> TablesAttack:
        """Attack every area's table; see `confide.sap` for the options."""
        from confide.tables.risk.areas_attack import OPTIONS, attack_tables
        from confide.tables.risk.who_is_known import check_options

        check_options(options, OPTIONS)
        return attack_tables(self, known, **options)

    def public(self, empty_levels: bool = True) -> TidyFrame:
        """All areas' tables as they go out; as `Published.public`.

        >>> import confide as cf
        >>> cf.Tables([[2, 1], [0, 3]], areas=["a", "b"]).publish(cf.RoundCells(3)).public().rows()[3]
        ('b', 'v1', '1', 3)
        """
        return seen_outside(self.frame, self.origin, empty_levels)

    def summary(self) -> pl.DataFrame:
        """One row per margin, over all areas; as `Published.summary`."""
        return stated_by_margin(self.frame)

    def __repr__(self) -> str:
        said = f"{parts_text(self.layout, self.tables.names)}, by {self.scheme}{draft_text(self.origin)}"
        return f"Published in each of {len(self):,} areas: {said}"
