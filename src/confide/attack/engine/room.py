"""Arrays that the compiled loops work in. They are made here, since code that allocates is slow to compile."""

from __future__ import annotations

import numpy as np

from confide.attack.engine.kernels.unknown_errors import ROOMS, TOGETHER
from confide.frames.columns import F64, I64

HELD = 4_000_000
"""Log weights held for targets that are worked on together."""


def widest_block(block_of: I64, offsets: I64) -> int:
    """Records of the largest block among those of some targets."""
    return int((offsets[block_of + 1] - offsets[block_of]).max(initial=0))


def room(rows: int, block_of: I64, offsets: I64) -> F64:
    """Rows as long as the widest block."""
    return np.empty((rows, widest_block(block_of, offsets)))


def tops(top: int) -> F64:
    """Where the largest weights of a target, and how often each is there, are gathered."""
    return np.empty((2, top))


def spread_room(block_of: I64, offsets: I64) -> tuple[F64, I64]:
    """For `attack_spread`: numbers and positions. A target has at most one true record more than its block has."""
    widest = widest_block(block_of, offsets)
    batch = max(min(TOGETHER, HELD // max(widest, 1)), 1)
    return np.empty((ROOMS + batch, widest + 1)), np.empty((4, max(widest + 1, batch)), dtype=np.int64)


def node_room(nodes: int, classes: int) -> tuple[F64, F64, F64]:
    """For sums over a belief's nodes: masses, weights and totals."""
    return np.empty((nodes, classes)), np.empty(nodes), np.empty(classes)
