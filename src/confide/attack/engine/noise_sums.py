"""Integrals over what is believed of a number with normal noise: log Pr(z_j given cell and class) of records."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from confide.attack.engine import kernels
from confide.attack.engine.kernels.arguments import Grid, Nodes
from confide.attack.engine.room import node_room
from confide.core.run.memory import remembered
from confide.core.run.threads import run_pieces, thread_count
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.beliefs.regressions import NumberBelief
    from confide.attack.engine.scene import Number, Scene
    from confide.protect.likelihoods.normal import Normal

PIECE = 2_000
"""Records whose integrals are one piece of work."""
ROOM = 5_000_000
"""Integrals of one scene up to which they are kept."""
ALIKE, FEWEST = 4.0, 4
"""Fewer records per cell than this, and at least so many classes: then sums at even values of mu serve all of them."""
FINENESS, POINTS, MOST = 8, 16, 4_000
"""Values of mu in one tau; how many of them a polynomial goes through; and how many there may be."""


def log_noise(
    scene: Scene, number: Number, like: Normal, belief: NumberBelief, rows: I64, limit: tuple[float, float] | None
) -> F64:
    """log of the integral over beliefs of Pr(z_j given y), shape (rows, K), 0 where the record is not noisy."""
    out = np.zeros((len(rows), scene.classes.size))
    picked = np.flatnonzero(like.inside[scene.rows][rows])
    if not len(picked):
        return out
    cells, at = np.unique(scene.cell_r[rows][picked], return_inverse=True)
    asked = np.arange(scene.classes.size) if number.noisy is None else np.flatnonzero(number.noisy)
    believed = _believed(like, belief, cells, asked, limit)
    low, high = (edge[scene.rows][rows[picked]] for edge in (like.low, like.high))
    if len(scene.rows) * len(asked) > ROOM:
        out[picked[:, None], asked] = _integrals(low, high, at, believed)
    else:  # an attack and every question to it ask for the same
        by = [low, high, at, *believed]
        out[picked[:, None], asked] = remembered(_integrals, low, high, at, believed, by=by, bulky=True)
    return out


def _integrals(low: F64, high: F64, at: I64, believed: Nodes) -> F64:
    """log of the integrals for records with these cells of z, shape (records, classes); `at`: each one's row of what is
    believed."""
    cells, classes = believed.mu.shape
    order = np.argsort(at, kind="stable")
    part, out = np.empty((len(order), classes)), np.empty((len(order), classes))
    grid = even_grid(believed) if len(order) < ALIKE * cells and classes >= FEWEST else None

    def work(a: int, b: int) -> None:
        given = order[a:b], low, high, at, believed
        if grid is None:
            kernels.log_node_sums(*given, *node_room(len(believed.nodes), classes), part[a:b])
        else:
            room = np.empty(len(believed.nodes)), *np.empty((2, grid.mass.shape[1]))
            kernels.log_node_sums_between(*given, grid, *room, part[a:b])

    pieces = [(a, min(a + PIECE, len(order))) for a in range(0, len(order), PIECE)]
    run_pieces(work, pieces, thread_count(None), lambda _: None)
    out[order] = part
    return out


def _believed(like: Normal, belief: NumberBelief, cells: I64, asked: I64, limit: tuple[float, float] | None) -> Nodes:
    """What is believed in some cells and classes; outside an interval that is known nothing can be drawn."""
    points, law, nodes = belief.nodes, belief.law, belief.nodes.values
    allowed = like.log_allowed(nodes)
    if limit is not None:
        allowed = np.where(points.inside(*limit), allowed, np.inf)
    some = np.ix_(cells, asked)
    p_spike, mu = np.exp(law.log_spike[some]), np.ascontiguousarray(law.mu[some])
    return Nodes(like.on(nodes), like.sd_at(nodes), allowed, points.edges, points.spike, p_spike, mu, law.tau)


def even_grid(believed: Nodes) -> Grid | None:
    """Masses of nodes at even steps of mu, beyond all that occur; None where these lie too far apart."""
    step = believed.tau / FINENESS
    first = float(believed.mu.min()) - POINTS * step
    many = int((float(believed.mu.max()) - first) / step) + POINTS + 2
    if many > MOST:
        return None
    at = first + step * np.arange(many)
    edge = (believed.edges[:, None] - at) / believed.tau
    low, high = edge[:-1], edge[1:]
    with np.errstate(invalid="ignore"):  # -inf + inf where one point holds everything
        area = np.where(low + high > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    signs = np.array([(-1.0) ** p * comb(POINTS - 1, p) for p in range(POINTS)])
    return Grid(np.where(believed.spike[:, None] < 0, area, 0.0), first, step, signs)
