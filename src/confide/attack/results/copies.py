"""Attacks on several copies of a file: together where rows can be linked, else one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.evidence import Knowledge, Uncertain
from confide.protect.likelihoods.product import repeated

if TYPE_CHECKING:
    from confide.attack.intruder import Intruder
    from confide.attack.results.attack import Attack
    from confide.protect.copies import Copies


def joined(each: Sequence[Knowledge]) -> Knowledge:
    """What copies say together: likelihoods multiply, and part A is one joint sum over all copies' values."""
    first = each[0]
    if len(each) == 1:
        return first
    uncertain = [_joined(same) for same in zip(*(k.uncertain for k in each), strict=True)]
    eligible = np.logical_and.reduce([k.eligible for k in each])
    return replace(first, uncertain=tuple(uncertain), eligible=np.asarray(eligible))


def _joined(same: Sequence[Uncertain]) -> Uncertain:
    first = same[0]
    if first.silent or first.once:
        return first
    like = repeated([u.like for u in same])
    like_a = None
    if first.like_a is not None:
        shared = all(u.like_a is u.like for u in same)
        like_a = like if shared else repeated([u.like_a for u in same])
    own = [u.log_own for u in same if u.log_own is not None]
    log_own = np.asarray(np.sum(own, axis=0)) if own else None
    return replace(first, like=like, like_a=like_a, log_own=log_own)


@dataclass(frozen=True, eq=False, repr=False)
class Averaged:
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
        return (
            f"Averaged: {len(self.attacks)} attacks on copies whose rows are not linked ({self.linkable:.0%} of rows "
            f"could be); {shown['expected_matches']:.1f} expected matches per copy on average. A summary: the copies "
            "together tell more."
        )


def attack_copies(
    intruder: Intruder, copies: Copies, targets: Any, truth: Any, *, threads: int | None, progress: bool | None
) -> Attack | Averaged:
    """One attack on all copies where rows are linked, or can be by kept values; else an attack on each."""
    from confide.attack.engine.run import run_attack

    linkable = copies.linkable()
    if linkable < 1:
        each = [run_attack(intruder, r, targets, truth, threads=threads, progress=progress) for r in copies]
        return Averaged(tuple(each), linkable)
    linked = copies if copies.linked else copies.relinked()
    return run_attack(intruder, linked[0], targets, truth, threads=threads, progress=progress, also=linked.releases[1:])
