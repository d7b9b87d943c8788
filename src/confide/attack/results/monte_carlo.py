"""Posteriors by Monte Carlo over unknown variances, with standard errors: the way of print, and a check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import logsumexp

from confide.attack.results.again import candidates
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, stream
from confide.frames.columns import F64, I64
from confide.protect.seam.likelihood import take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Scene
    from confide.attack.results.attack import Attack

CHUNK = 2_000_000
"""Numbers in one array of draws times records."""

Draws = Callable[[], Any]


def monte_carlo(attack: Attack, draws: int, seed: int | None, targets: int | Sequence[int] | None) -> pl.DataFrame:
    """Each target's probabilities from `draws` drawn variances instead of quadrature nodes, with standard errors."""
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 2:
        raise InputError("draws must be a whole number from 2 upwards.")
    chosen = checked_seed(seed)
    if isinstance(targets, (int, np.integer)):
        targets = [int(targets)]
    who = range(attack.units.height) if targets is None else [int(t) for t in targets]
    rows = [_one(attack, t, int(draws), chosen) for t in who]
    names = ["target", "p_true", "p_true_error", "p_max", "p_max_error"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row").cast({"target": pl.Int64})


def _one(attack: Attack, target: int, draws: int, seed: int) -> tuple[float | None, ...]:
    found = candidates(attack, target)
    if found.unit is not None:
        raise InputError("Variances are not drawn for attacks on units; leave unit out.")
    scene, rows, parts = found.scene, found.at, found.parts
    if not len(rows):
        return target, None, None, None, None
    items = _drawn_items(scene)
    if not items:
        raise InputError("No variance is uncertain in what this intruder uses, so there is nothing to draw.")
    for at in items:
        parts.pop(" + ".join(scene.uncertain[at].variables))
    log_w = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(rows))
    factors = [f for at in items for f in _factors(scene, at, found.target, rows, draws, seed)]
    means = [_log_mean(f) for f in factors]
    log_w = log_w + np.sum(means, axis=0) - scene.side.log_absent[found.target]
    peak = float(log_w.max())
    absent = attack.absent_weight(target)
    w = np.exp(log_w - peak)
    p = w / (w.sum() + (np.exp(np.log(absent) - peak) if absent > 0 else 0.0))
    own = np.flatnonzero(found.rows == attack.own_rows[target])
    picked = np.array([*own[:1], int(np.argmax(p))])
    error = np.sqrt(sum(_variance(f, m, p, picked, draws) for f, m in zip(factors, means, strict=True)))
    true = (float(p[own[0]]), float(error[0])) if len(own) else (None, None)
    return float(target), *true, float(p[picked[-1]]), float(error[-1])


def _drawn_items(scene: Scene) -> list[int]:
    """Steps in play whose likelihood is an average over something that can be drawn."""
    return [
        at
        for at, (u, t) in enumerate(zip(scene.uncertain, scene.known_t, strict=True))
        if t is not None and u.like.uncertain
    ]


def _factors(scene: Scene, at: int, i: int, rows: I64, draws: int, seed: int) -> list[Draws]:
    """For each independently drawn factor of a step: a function that yields blocks of log densities (draws, rows).

    Draws depend on the step's variables and the seed alone: every target meets the same ones.
    """
    u, t = scene.uncertain[at], scene.known_t[at]
    assert t is not None
    own, z = take(t, np.full(len(rows), i)), take(scene.records[at], rows)
    size = max(min(CHUNK // len(rows), draws), 1)

    def blocks(k: int) -> Any:
        rng = stream(seed, f"Monte Carlo:{u.variables[k]}")
        for first in range(0, draws, size):
            n = min(size, draws - first)
            yield u.like.log_draws(k, own, z, n, rng)

    return [lambda k=k: blocks(k) for k in range(len(u.like.margins()))]  # type: ignore[misc]


def _log_mean(factor: Draws) -> F64:
    """log of the mean density of each record over all draws."""
    parts, n = [], 0
    for block in factor():
        parts.append(logsumexp(block, axis=0))
        n += len(block)
    return np.asarray(logsumexp(parts, axis=0) - np.log(n))


def _variance(factor: Draws, log_mean: F64, p: F64, picked: I64, draws: int) -> F64:
    """Variance of the picked probabilities by the delta method, from one factor's draws.

    p_j moves by p_j (g_j - sum_i p_i g_i), where g is a draw's density relative to the mean.
    """
    square = np.zeros(len(picked))
    for block in factor():
        g = np.exp(block - log_mean)
        move = p[picked] * (g[:, picked] - (g @ p)[:, None])
        square += (move**2).sum(axis=0)
    # The mean move is p_j (1 - sum p): the same for all draws.
    centre = p[picked] * (1 - p.sum())
    return np.asarray(np.maximum(square / draws - centre**2, 0.0) / (draws - 1))
