"""A first answer where the whole takes long: some people, drawn at random, are looked for in one release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.app.documents import SEED
from confide.app.work.data import data_of
from confide.app.worker import Work

LOOKED_FOR = 2_000
"""People whom a preview looks for. Records are never sampled: with fewer of them every probability would change."""

FROM = 30_000
"""Rows times intruders from which on the whole may take more than three seconds. `Intruder.cost` would say it better,
but takes longer than the preview itself."""


def preview(work: Work, plan: cf.Plan, count: int, intruders: Mapping[str, cf.Intruder]) -> None:
    """Tell the share found among some people, with the error of having looked for so few."""
    try:
        release = plan.protect(data_of(work.folder), seed=SEED)
        if release.link is None or release.frame.height * len(intruders) < FROM:
            return
        found = [_looked_for(release, name, who) for name, who in intruders.items()]
    except cf.InputError:
        return  # the study says what is wrong, and at which step
    worst = max(found, key=lambda r: r["share"])
    work.preview({"count": count, "rows": release.original.height, "of": LOOKED_FOR, "worst": worst})


def _looked_for(release: cf.Release, name: str, who: cf.Intruder) -> dict[str, Any]:
    assert release.link is not None
    drawn = np.random.default_rng(SEED).choice(release.link, min(LOOKED_FOR, len(release.link)), replace=False)
    attack = who.attack(release, targets=release.original[drawn], truth=drawn, progress=False)
    right = (attack.units["hit"].cast(pl.Float64) / attack.units["n_max"]).fill_nan(None).fill_null(0.0).to_numpy()
    return {"name": name, "share": float(right.mean()), "error": float(1.96 * right.std() / len(right) ** 0.5)}
