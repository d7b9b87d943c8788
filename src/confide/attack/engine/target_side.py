"""The target's side of the formula: belief in each class given all that is known of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.synthetic import log_values
from confide.attack.engine.record_side import log_mass
from confide.frames.columns import F64, I64, Bools, Column
from confide.protect.seam.likelihood import take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene


def log_belief(scene: Scene, t: I64, agree: F64 | None = None) -> F64:
    """log e_k(t): belief in each class given all that is known of targets t, shape (len(t), K); `agree`: as `log_agree`
    gave it, where it is there.

    With helpers the class probabilities belong to the records instead, and only consistency is left here.
    """
    out = log_agree(scene, t) if agree is None else agree
    if scene.fit.helped:
        return out
    cell = scene.cell_t[t]
    known = log_numbers(scene, t, cell, scene.numbers, scene.fit.believed.correlation, np.isfinite(out))
    out = out + scene.fit.believed.log_pi[cell] + known + log_limits(scene, cell, scene.numbers)
    total = logsumexp(out, axis=1, keepdims=True)
    return np.where(np.isfinite(total), out - np.where(np.isfinite(total), total, 0.0), -np.inf)


def log_normaliser(scene: Scene, t: I64, agree: F64 | None = None) -> F64:
    """log Pr(known uncertain values of t given its labels), needed with helpers beside absence, shape (len(t),);
    `agree` as in `log_belief`."""
    if not scene.fit.helped or scene.fit.whole_absence or not scene.fit.believed.compared:
        return np.zeros(len(t))
    cell = scene.cell_t[t]
    agree = log_agree(scene, t) if agree is None else agree
    known = log_numbers(scene, t, cell, scene.side.numbers_t, scene.fit.believed.correlation_t, np.isfinite(agree))
    joint = agree + scene.fit.believed.log_pi[cell]
    joint += known
    if scene.knowledge.limits:
        joint += log_limits(scene, cell, scene.side.numbers_t)
    return _log_sums(joint)


def _log_sums(joint: F64) -> F64:
    """log of the sum of exponentials of each row, most of which are 0; 0 where all are."""
    at, k = np.nonzero(joint > -np.inf)
    out, value = np.zeros(len(joint)), joint[at, k]
    if len(at):
        first = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        top = np.maximum.reduceat(value, first)
        every = np.exp(value - np.repeat(top, np.diff(np.append(first, len(at)))))
        out[at[first]] = top + np.log(np.add.reduceat(every, first))
    return out


def log_numbers(
    scene: Scene, t: I64, cell: I64, numbers: Sequence[Number], r: F64 | None, asked: Bools | None = None
) -> F64:
    """log density of the known numbers in each class, shape (len(t), K); `r`: correlation of synthetic ones; `asked`:
    in which classes, of the same shape (None: all); anything may stand elsewhere."""
    out = np.zeros((len(t), scene.classes.size))
    synthetic = []
    for n in numbers:
        if n.binned is not None:
            synthetic.append((n.binned, met_value(scene, n, t)))
            out += n.fit.log_state(cell, np.isnan(synthetic[-1][1]))
        if not n.known or n.belief is None or n.target is None:
            continue
        y = met_value(scene, n, t)
        altered, missing = n.like.altered(take(n.target, t)), np.isnan(y)
        noisy = altered & ~missing
        if asked is None:
            for k in range(scene.classes.size):
                out[:, k] += np.where(noisy, n.belief.log_density(y, cell, k), 0.0)
        else:
            at, which = np.nonzero(noisy[:, None] & asked)
            out[at, which] += n.belief.log_density(y[at], cell[at], which)
        out += n.fit.log_state(cell, missing)
    return out + log_values(synthetic, cell, r, asked) if synthetic else out


def met_value(scene: Scene, n: Number, t: I64) -> F64:
    column: Column = scene.uncertain[n.item].met(scene.targets.select([n.variable]).take(t))[n.variable]
    return np.asarray(column.values, dtype=float)


def log_limits(scene: Scene, cell: I64, numbers: Sequence[Number]) -> F64:
    """log Pr(interval given cell, class) for variables known as intervals, shape (len(cell), K)."""
    out = np.zeros((len(cell), scene.classes.size))
    for v, (low, high) in scene.knowledge.limits.items():
        if v in scene.classes.codes:
            out += np.where(scene.classes.inside(v, low, high, scene.case.compiled.way(v).before), 0.0, -np.inf)
        for n in numbers:
            if n.variable == v:
                out += log_interval(n, cell, low, high)
    return out


def log_interval(n: Number, cell: I64, low: float, high: float) -> F64:
    """The same for one unknown number: belief mass inside the interval; by frequency where it is not noisy."""
    out = log_mass(n, cell, low, high)
    return out if n.noisy is None or n.fit.log_inside is None else np.where(n.noisy, out, n.fit.log_inside)


def no_class_fits(scene: Scene, t: I64, agree: F64 | None = None) -> Bools:
    """Targets with a combination of known categories that nobody in the reference file has, shape (len(t),); `agree` as
    in `log_belief`."""
    return np.asarray(~(((log_agree(scene, t) if agree is None else agree) > -np.inf).any(axis=1)))


def log_agree(scene: Scene, t: I64) -> F64:
    """log Pr(known categories of targets t given the class), shape (len(t), K)."""
    out = np.zeros((len(t), scene.classes.size))
    for i, u in enumerate(scene.uncertain):
        if not scene.fit.numeric[i] and not u.direct:
            out = out + scene.classes.log_agree(u, scene.targets, t)
    return out
