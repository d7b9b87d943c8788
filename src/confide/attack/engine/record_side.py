"""The released record's side of the formula: likelihoods by class, integrals over beliefs, and m = 1 / A."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.joint_numbers import known_together
from confide.attack.engine.joint_sums import log_joint
from confide.attack.engine.node_sums import log_sums
from confide.attack.engine.noise_sums import log_noise
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene

CHUNK = 400_000
"""Numbers in the largest temporary of a chunk of records times classes."""
ROOM = 20_000_000
"""Integrals that are kept from A for B."""

Kept = tuple[I64, F64]
"""Each row's place among integrals, and these, shape (places, K)."""


def log_classes(
    scene: Scene, rows: I64, for_a: bool, only: int | None = None, target: int | None = None,
    classes: I64 | None = None,
) -> F64:  # fmt: skip
    """log L_kj of the class variables (of one step `only`), shape (rows, K); -inf where labels contradict.

    With `target`, known variables have that target's values instead of the class's: for one whom no class fits.
    `classes`: only of these.
    """
    k = scene.classes.size
    out = np.zeros((len(rows), k if classes is None else len(classes)))
    for i, u in enumerate(scene.uncertain):
        like = u.like_a if for_a else u.like
        record = scene.records_a[i] if for_a else scene.records[i]
        if like is None or record is None or only not in (None, i):
            continue
        if not scene.fit.numeric[i] and not u.silent and (for_a or not u.direct):
            values, of = scene.classes.frames[i].take(scene.classes.steps[i].first), scene.classes.steps[i].of
            if target is not None:
                values, of = _with_known(scene, i, target), np.arange(k)
            t, many = like.target(values), values.n
            z = take(record, np.repeat(rows, many))
            found = like.log(take(t, np.tile(np.arange(many), len(rows))), z).reshape(len(rows), many)
            of = of if classes is None else of[classes]
            out += found if many == k and classes is None else found[:, of]
        for v, label in u.regions.items():
            own = scene.classes.regions[v] if classes is None else scene.classes.regions[v][classes]
            out += np.where(own == label.released[scene.rows][rows][:, None], 0.0, -np.inf)
    return out


def _with_known(scene: Scene, i: int, target: int) -> Records:
    """The K classes as values of step i's variables, those known of a target replaced by its own."""
    u = scene.uncertain[i]
    own = scene.targets.select(u.variables_known).take(np.full(scene.classes.size, target))
    return scene.classes.frames[i].replaced(u.met(own).values())


def log_number(scene: Scene, number: Number, rows: I64, for_a: bool, limit: tuple[float, float] | None = None) -> F64:
    """log of the integral over beliefs of Pr(z_j given y), shape (rows, K), 0 where the record is not noisy."""
    like = number.like_a if for_a else number.like
    assert like is not None
    belief = number.belief
    assert belief is not None
    cell = scene.cell_r[rows]
    if isinstance(like, Normal):
        out = log_noise(scene, number, like, belief, rows, limit)
    elif isinstance(like, Match):
        z = scene.released[number.variable].values[rows]
        point = belief.log_point(z, cell) + number.fit.log_state(cell, np.zeros(len(cell), dtype=bool))
        if number.fit.log_there is not None:
            point = np.where(np.isnan(z)[:, None], number.fit.log_there[1, cell], point)
        total = np.zeros(1)  # log of the belief that is asked about: everything, or the interval
        if limit is not None:
            point = np.where(((z >= limit[0]) & (z <= limit[1]))[:, None], point, -np.inf)
            total = log_mass(number, cell, *limit)
        same, diff = like.log_same[scene.rows][rows][:, None], like.log_diff[scene.rows][rows][:, None]
        with np.errstate(divide="ignore"):
            rest = np.log(np.maximum(np.exp(total) - np.exp(point), 0.0))
            out = np.logaddexp(same + point, diff + rest)
    else:
        out = np.zeros((len(rows), scene.classes.size))
        picked = np.flatnonzero(like.moved(scene.rows[rows]))
        out[picked] = log_sums(scene, number, like, rows[picked], limit)
    if number.noisy is not None:  # only classes in which the number is a noisy one
        out = np.where(number.noisy, out, 0.0)
    return out


def log_m(scene: Scene) -> tuple[F64, dict[str, Kept]]:
    """log m_j = -log A_j of every eligible record: one joint sum over exactly the variables of C and B.

    Also, by variable, the integrals over an unknown number that B asks for again.
    """
    r = len(scene.rows)
    if all(u.like_a is None for u in scene.uncertain):
        return np.zeros(r), {}
    keys: list[Any] = [scene.cell_r]
    for u, record in zip(scene.uncertain, scene.records_a, strict=True):
        if record is not None:
            keys += list(record.values())
        keys += [lab.released[scene.rows] for lab in u.regions.values()]
    distinct = Distinct.rows(keys, r)
    out = np.empty(len(distinct))
    again = _asked_again(scene, len(distinct))
    step = max(CHUNK // max(scene.classes.size, 1), 1)
    for at in range(0, len(distinct), step):
        rows = distinct.first[at : at + step]
        if scene.case.intruder.as_printed:
            out[at : at + step] = _log_m_as_printed(scene, rows)
            continue
        joint = scene.fit.believed.log_pi_r[scene.cell_r[rows]] + log_classes(scene, rows, for_a=True)
        together = known_together([n.known for n in scene.numbers], [n.like_a for n in scene.numbers])
        if len(together) > 1:
            joint += log_joint(scene, together, rows, single=log_number)
        for i, n in enumerate(scene.numbers):
            if n.like_a is not None and (len(together) < 2 or i not in together):
                part = log_number(scene, n, rows, for_a=True)
                joint += part
                if n.variable in again:
                    again[n.variable][at : at + step] = part
        out[at : at + step] = logsumexp(joint, axis=1)
    return out[distinct.of], {v: (distinct.of, kept) for v, kept in again.items()}


def _asked_again(scene: Scene, many: int) -> dict[str, F64]:
    """Room for integrals over unknown numbers that A and B have in common, where they fit."""
    if scene.case.intruder.as_printed or many * scene.classes.size > ROOM:
        return {}
    asked = [
        n.variable
        for n in scene.numbers
        if not n.known and n.variable not in scene.knowledge.limits
        and (u := scene.uncertain[n.item]).like_a is u.like
    ]  # fmt: skip
    return {v: np.empty((many, scene.classes.size)) for v in asked}


def _log_m_as_printed(scene: Scene, rows: I64) -> F64:
    """A product of one sum over classes for each step, instead of one joint sum (Reiter 2005, section 4.2.1)."""
    log_pi = scene.fit.believed.log_pi_r[scene.cell_r[rows]]
    out = np.zeros(len(rows))
    for i, u in enumerate(scene.uncertain):
        if u.like_a is not None:
            part = log_classes(scene, rows, for_a=True, only=i)
            for n in scene.numbers:
                if n.item == i and n.like_a is not None:
                    part = part + log_number(scene, n, rows, for_a=True)
            out += logsumexp(log_pi + part, axis=1)
    return out


def chosen(found: F64, classes: I64 | None) -> F64:
    """Columns of some classes; None: all."""
    return found if classes is None else found[:, classes]


def log_unknown(scene: Scene, rows: I64, target: int | None = None, classes: I64 | None = None) -> F64:
    """log L_kj with the integrals over unknown numbers, shape (rows, K); `target` and `classes` as in `log_classes`."""
    out = log_classes(scene, rows, for_a=False, target=target, classes=classes)
    for n in scene.numbers:
        if not n.known:
            limit, kept = scene.knowledge.limits.get(n.variable), scene.integrals.get(n.variable)
            if kept is not None:
                of, found = kept
                out += chosen(found, classes)[of[rows]]
                continue
            part = log_number(scene, n, rows, for_a=False, limit=limit)
            if limit is not None:  # the restricted belief sums to one
                mass = log_mass(n, scene.cell_r[rows], *limit)
                mass = np.where(np.isfinite(mass), mass, 0.0)
                part = part - (mass if n.noisy is None else np.where(n.noisy, mass, 0.0))
            out += chosen(part, classes)
    return out


def log_mass(n: Number, cell: I64, low: float, high: float) -> F64:
    """log of the belief's mass on nodes in [low, high], shape (len(cell), K)."""
    belief = n.belief
    assert belief is not None
    each, at = np.unique(cell, return_inverse=True)
    found = belief.law.log_between(belief.every if isinstance(n.like, Match) else belief.nodes, low, high, each)
    return np.asarray((found + n.fit.log_state(each, np.zeros(len(each), dtype=bool)))[at])
