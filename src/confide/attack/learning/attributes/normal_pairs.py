"""Densities of one noisy number for all pairs of some true and some released values, compiled."""

from __future__ import annotations

import numpy as np

from confide.attack.engine import kernels
from confide.core.run.threads import run_pieces, thread_count
from confide.frames.columns import F64
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Columns


def add_normal(like: Normal, true: Columns, record: Columns, out: F64) -> None:
    """Add log Pr(z given y) to `out`, shape (true values, records); as `Normal.log` of every pair."""
    y = np.where(true["inside"], true["y"], 0.0)
    sd = like.sd_at(y) * true.get("wider", np.ones(1))
    given = (
        y, true["inside"], -true["log_allowed"], np.where(sd > 0, sd, 1.0), record["low"], record["high"],
        record["inside"], out,
    )  # fmt: skip
    step = max(len(y) // 8, 1)
    cuts = [(a, min(a + step, len(y))) for a in range(0, len(y), step)]
    run_pieces(lambda a, b: kernels.add_normal_pairs(a, b, *given), cuts, thread_count(None), lambda _: None)
