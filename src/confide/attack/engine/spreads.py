"""Known numbers around whose released values the truth is spread, as the compiled loops want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.engine.kernels.arguments import Errors
from confide.frames.columns import I64
from confide.protect.likelihoods.spread import Spread
from confide.protect.seam.likelihood import Columns

if TYPE_CHECKING:
    from confide.attack.engine.scene import Scene

MOST_NODES = 600
"""Nodes of an unknown variance that compiled loops hold for every record."""


@dataclass(frozen=True, eq=False)
class KnownSpread:
    """One such number: the step it belongs to, its likelihood, and the targets' side of it."""

    item: int
    like: Spread
    target: Columns


def known_spreads(scene: Scene) -> list[KnownSpread]:
    """The sharpest first: it decides which records are visited."""
    found = [scene.numbers[i] for i in scene.fit.sharpest]
    return [KnownSpread(n.item, n.like, n.target) for n in found if n.target is not None and isinstance(n.like, Spread)]


def spread_arrays(spreads: Sequence[KnownSpread], targets: I64, rows: I64) -> Errors:
    """Arrays for the distinct targets and records given by their rows."""
    d, widest = len(spreads), max([s.like.p.shape[1] for s in spreads], default=1)
    x, add = (np.zeros((len(targets), d)) for _ in range(2))
    z, there, flat = (np.zeros((d, len(rows))) for _ in range(3))
    coef, steep = (np.zeros((d, widest, len(rows))) for _ in range(2))
    nodes, peaks = np.ones(d, dtype=np.int64), np.zeros(d)
    for i, s in enumerate(spreads):
        like = s.like
        x[:, i], add[:, i] = s.target["x"][targets], -s.target["log_absent"][targets]
        z[i], there[i] = like.z[rows], like.there[rows]
        order = np.argsort(-like.variance, axis=1)  # the widest node first
        v, p = (np.take_along_axis(a, order, axis=1) for a in (like.variance, like.p))
        nodes[i] = v.shape[1]
        at, absent = like.rule[rows], ~like.there[rows]
        flat[i] = np.where(absent, 0.0, 0.5 / v[at, 0])
        coef[i, : nodes[i]] = np.where(absent, 0.0, (p / np.sqrt(2 * np.pi * v))[at].T)
        coef[i, 0] = np.where(absent, np.exp(like.gap), coef[i, 0])
        steep[i, : nodes[i]] = np.where(absent, 0.0, (0.5 / v - 0.5 / v[:, :1])[at].T)
        peaks[i] = float(np.log(coef[i].sum(axis=0).max(initial=1e-300)))
    most = np.array(spreads[0].like.most if spreads else (0.0, 0.0))
    whole = bool(spreads) and bool(there[0].all())
    return Errors(x, add, z, there, flat, coef, steep, nodes, peaks, most, whole)
