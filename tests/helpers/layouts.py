"""Layouts for tests, made without the package's own way from names to margins."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from confide.tables.layout import Layout, Part


def layout_of(shape, margins=None, cells=True):
    """All margins of a table, or those over the given axes."""
    places = np.indices(shape).reshape(len(shape), -1)
    axes = range(len(shape))
    margins = [c for r in axes for c in combinations(axes, r)] if margins is None else margins
    parts = []
    for kept in [tuple(axes)] * cells + list(margins):
        sizes = [shape[k] for k in kept]
        entry = np.ravel_multi_index([places[k] for k in kept], sizes) if kept else np.zeros(places.shape[1])
        parts.append(Part(tuple("abcd"[k] for k in kept), entry.astype(np.int64), int(np.prod(sizes))))
    return Layout(places.shape[1], tuple(parts))
