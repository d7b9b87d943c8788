"""A named group of people, some perhaps known only in part: which zeros do they recover together?

With x the table, s the cells of those known in full and r those of the others, the rest is z = x - s - r >= 0. Where r
is not known, it may be anything that fits. A zero is recovered where z can only be 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix, hstack, identity, vstack

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout, Part
from confide.tables.published import Published
from confide.tables.risk.who_is_known import People
from confide.tables.solve.bounds import bounds_of
from confide.tables.solve.programme import Programme


def left_over(published: Published, people: People) -> tuple[Ints, Bools]:
    """The most unknown people that each cell can hold, and whether that is proven (an unproven 0 never occurs)."""
    if people.parts:
        return _with_parts(published, people)
    bounds = bounds_of(with_known(published, people.counts))
    return bounds.upper - people.counts, bounds.proven


def with_known(published: Published, counts: Ints) -> Published:
    """The release seen by somebody who knows so many people in each cell: one more part, of lower bounds."""
    m = published.layout.cells
    part = Part(("known people",), np.arange(m), m)
    return replace(
        published,
        layout=Layout(m, (*published.layout.parts, part)),
        values=np.concatenate([published.values, counts]),
        shown=np.concatenate([published.shown, np.zeros(m, dtype=bool)]),
        lower=np.concatenate([published.lower, counts]),
        upper=np.concatenate([published.upper, np.full(m, UNBOUNDED)]),
    )


def _with_parts(published: Published, people: People) -> tuple[Ints, Bools]:
    """Columns: z for each cell, then where each kind of people known in part may be."""
    m = published.layout.cells
    lower, upper = published.cell_bounds
    matrix = vstack([identity(m, dtype=np.int64, format="csr"), published.layout.matrix]).tocsr()
    places = np.concatenate([cells for cells, _ in people.parts])
    kind = np.repeat(np.arange(len(people.parts)), [len(cells) for cells, _ in people.parts])
    width = len(places)
    sums = csr_matrix(
        (np.ones(width, dtype=np.int64), (kind, m + np.arange(width))), shape=(len(people.parts), m + width)
    )
    whole_matrix = vstack([hstack([matrix, matrix[:, places]]), sums]).tocsr()
    known = np.concatenate([people.counts, published.layout.sums(people.counts)])
    high = np.concatenate([upper, published.upper])
    sizes = np.array([k for _, k in people.parts])
    programme = Programme(
        whole_matrix,
        np.concatenate([np.concatenate([lower, published.lower]) - known, sizes]),
        np.concatenate([np.where(high >= UNBOUNDED, UNBOUNDED, high - known), sizes]),
        np.zeros(m + width, dtype=np.int64),
        np.full(m + width, UNBOUNDED),
        integer=True,
        seconds=20.0,
    )
    left, proven = np.zeros(m, dtype=np.int64), np.ones(m, dtype=bool)
    for cell in range(m):
        objective = np.zeros(m + width)
        objective[cell] = 1.0
        answer = programme.maximise(objective)
        proven[cell] = answer.status in ("optimal", "unbounded")
        bound = answer.bound if np.isfinite(answer.bound) else UNBOUNDED
        left[cell] = min(int(np.floor(bound + 1e-6)), UNBOUNDED) if proven[cell] else UNBOUNDED
    return left, proven
