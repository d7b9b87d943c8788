"""The compiled loop of `elimination` that shows again what is not needed: each secondary is tried, the dearest first.

Notation as in `walk_kernel`. Small counts that only moves with a secondary protect get other moves without it, or it
stays hidden.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled
from confide.tables.schemes.suppress.boxes_kernel import SEED
from confide.tables.schemes.suppress.walk_kernel import search


@compiled(inner=True)
def count(move: Any, by: int, times: Any) -> None:
    """Add `by` for each row that a move changes to how many moves change it."""
    for r in range(len(move)):
        if move[r] != 0:
            times[r] += by


@compiled
def spared(start: Any, at: Any, by: Any, begin: Any, row: Any, value: Any, up: Any, down: Any, oneway: Any,
           targets: Any, tried: Any, moves: Any, steps: int, tries: int, most: int) -> Any:  # fmt: skip
    """Moves with which less is hidden. `tried`: rows to show again, the first first; `most`: small counts that may be
    without a move then."""
    n, m = len(up), len(oneway)
    state = np.array([SEED], dtype=np.uint64)
    d, change, weight = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    broken, place = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    kept, have = np.zeros((2 * len(moves) + len(targets), n), dtype=np.int32), len(moves)
    times = np.zeros(n, dtype=np.int64)
    for t in range(have):
        for r in range(n):
            kept[t, r] = moves[t, r]
        count(kept[t], 1, times)
    for c in tried:
        for t in range(have):
            if kept[t, c] != 0:
                count(kept[t], -1, times)
        bare = 0
        for p in targets:
            bare += times[p] == 0
        top, bottom, new, fine = up[c], down[c], have, bare <= most
        up[c], down[c] = 0, 0
        for p in targets:
            if not fine:
                break
            if times[p] == 0:
                d[:], change[:], weight[:] = 0, 0, 1
                fine = new < len(kept) and search(start, at, by, begin, row, value, up, down, oneway, p, steps, tries,
                                                  state, d, change, weight, broken, place)  # fmt: skip
                if fine:
                    for r in range(n):
                        kept[new, r] = change[r]
                    count(kept[new], 1, times)
                    new += 1
        if fine:
            stay = 0
            for t in range(new):
                if kept[t, c] == 0:
                    for r in range(n):
                        kept[stay, r] = kept[t, r]
                    stay += 1
            have = stay
        else:
            up[c], down[c] = top, bottom
            for t in range(have, new):
                count(kept[t], -1, times)
            for t in range(have):
                if kept[t, c] != 0:
                    count(kept[t], 1, times)
    return kept[:have]
