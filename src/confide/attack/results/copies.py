"""Attacks on several copies of a file: together where rows can be linked, else one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.result import Result
from confide.core.run.progress import Progress
from confide.core.shares import percent

if TYPE_CHECKING:
    from confide.attack.intruder import Intruder
    from confide.attack.results.attack import Attack
    from confide.protect.copies import Copies


@dataclass(frozen=True, eq=False, repr=False)
class Averaged(Result):
    """A summary of attacks on copies whose rows cannot be linked: one `attack` a copy, and their averages.

    An intruder who sees the copies knows more than any of them says; an average only describes. `units` has one row a
    target: means over copies of `p_true` and `p_max`, and `hits`, the share of copies in which its own record was among
    the likeliest. `linkable`: the share of rows that kept values identify in every copy.
    """

    attacks: tuple[Attack, ...]
    linkable: float

    @property
    def units(self) -> pl.DataFrame:
        every = pl.concat([a.units for a in self.attacks])
        return every.group_by("target", maintain_order=True).agg(
            pl.col("p_true").mean(), pl.col("p_max").mean(), pl.col("hit").cast(pl.Float64).mean().alias("hits")
        )

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `units`, private."""
        return self.units

    def summary(self, threshold: float = 0.2) -> pl.DataFrame:
        """The file's risk in each copy, and last (copy null) on average.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.Swap("race", rate=0.3)])
        >>> few = cf.demo("heads").select("sex", "race").head(500)
        >>> copies = plan.protect(few, seed=1, copies=2, linked=False)
        >>> cf.Intruder(knows=["sex", "race"]).attack(copies).summary()["copy"].to_list()
        [1, 2, None]
        """
        rows = [{"copy": i + 1, **a.summary(threshold).to_dict()} for i, a in enumerate(self.attacks)]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        means = frame.select(pl.all().exclude("copy").cast(pl.Float64).mean())
        every = frame.with_columns(pl.all().exclude("copy").cast(pl.Float64))
        return pl.concat([every, means.with_columns(pl.lit(None, dtype=pl.Int64).alias("copy")).select(every.columns)])

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self.attacks[0]), name):
            raise AttributeError(
                f"Averaged has no {name}: rows of the copies are not linked. Ask one: .attacks[0].{name}"
            )
        raise AttributeError(f"Averaged has no {name}.")

    def __repr__(self) -> str:
        shown = self.summary().tail(1).to_dicts()[0]
        n, found, claimed = self.attacks[0].units.height, shown["found"], shown["claimed_matches"]
        right = "found unknown" if found is None else f"found {found:,.1f} ({percent(found, n)})"
        return (
            f"Averaged: {len(self.attacks)} attacks on copies whose rows are not linked ({self.linkable:.0%} of rows "
            f"could be); of {n:,} targets per copy, on average, {right}, claimed {claimed:,.1f} "
            f"({percent(claimed, n)}). A summary: the copies together tell more."
        )


def attack_copies(
    intruder: Intruder, copies: Copies, targets: Any, truth: Any, *, threads: int | None, progress: Progress
) -> Attack | Averaged:
    """One attack on all copies where rows are linked, or can be by kept values; else an attack on each."""
    from confide.attack.engine.run import run_attack

    linkable = copies.linkable()
    if linkable < 1:
        each = [run_attack(intruder, r, targets, truth, threads=threads, progress=progress) for r in copies]
        return Averaged(tuple(each), linkable)
    linked = copies if copies.linked else copies.relinked()
    return run_attack(intruder, linked[0], targets, truth, threads=threads, progress=progress, also=linked.releases[1:])
