"""Somebody who believes only that a number lies in a range."""

from __future__ import annotations

import numpy as np

from confide.attack.beliefs.points import Merging, every, score_edges
from confide.attack.beliefs.regressions import Law, NumberBelief, middle_scores
from confide.frames.columns import F64

POINTS = 4
"""Points of Gauss and Legendre's rule in a panel."""
EIGHTH = 8
"""How wide a panel may be, in sixteenths of the noise's standard deviation."""
PANELS, HALVINGS = 1000, 60
"""Panels at most, and how often one is halved: towards zero logarithms never end."""
EVEN = 4000
"""Values, evenly spaced, where nothing says which of them can be told apart."""


def uniform_belief(low: float, high: float, n_cells: int, k: int, how: Merging) -> NumberBelief:
    """The same for all cells and classes. `how` says on which scale values can be told apart, and which interval is
    asked about: no panel of the rule crosses its ends."""
    if how.steps is None or not low < high:
        values, weight = np.linspace(low, high, EVEN), np.ones(EVEN)
    else:
        values, weight = _rule(_panels(low, high, how))
    edges = score_edges(weight)
    whole = every(values, edges, np.full(len(values), -1))
    zero = np.zeros((n_cells, k))
    return NumberBelief(whole, whole, Law(zero[:, :, None], zero, 1.0), middle_scores(edges), zero, 1.0)


def _panels(low: float, high: float, how: Merging) -> F64:
    """Ends of panels narrow enough for the noise."""
    assert how.steps is not None
    inner = [x for x in how.limits or () if low < x < high]
    ends = np.array([low, *inner, high])
    for _ in range(HALVINGS):
        wide = np.flatnonzero(np.diff(how.steps(ends)) > EIGHTH)
        if not len(wide) or len(ends) + len(wide) > PANELS:
            break
        ends = np.insert(ends, wide + 1, 0.5 * (ends[wide] + ends[wide + 1]))
    return ends


def _rule(ends: F64) -> tuple[F64, F64]:
    """Points and weights of all panels."""
    x, w = np.polynomial.legendre.leggauss(POINTS)
    half, centre = 0.5 * np.diff(ends)[:, None], 0.5 * (ends[1:] + ends[:-1])[:, None]
    return (centre + half * x).ravel(), (half * w).ravel()
