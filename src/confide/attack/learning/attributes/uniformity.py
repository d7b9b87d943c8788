r"""Whether predictive distributions hold: the randomised probability integral transform.

With V uniform, :math:`F(y-) + V (F(y) - F(y-))` is uniform if the distributions are right, point masses included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.result import Result
from confide.frames.columns import F64


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """`frame`: each stated `level`, the share `covered`, its standard `error`, and how many standard errors off it is
    (`z`). `pit`: the transform, one number per person who has a true value."""

    frame: pl.DataFrame
    pit: F64

    def __repr__(self) -> str:
        lines = [f"Do intervals hold? {len(self.pit):,} people"]
        for r in self.frame.iter_rows(named=True):
            lines.append(f"  {r['level']:>5.0%} intervals cover {r['covered']:.1%} (standard error {r['error']:.1%})")
        return "\n".join(lines)


def coverage(below: F64, upto: F64, levels: Sequence[float], seed: int) -> Coverage:
    """Middle intervals of each level, and the share of people in theirs."""
    there = ~np.isnan(below)
    if not there.any():
        raise InputError("coverage: nobody has a true value to compare with.")
    pit = below[there] + np.random.default_rng(seed).random(int(there.sum())) * (upto - below)[there]
    rows = []
    for level in levels:
        stated = fraction(level, "levels")
        inside = float((np.abs(pit - 0.5) <= stated / 2).mean())
        error = float(np.sqrt(stated * (1 - stated) / len(pit)))
        rows.append((stated, inside, error, (inside - stated) / error if error else 0.0))
    return Coverage(pl.DataFrame(rows, schema=["level", "covered", "error", "z"], orient="row"), pit)
