"""The compiled loop of `elimination` that looks for moves: steps between whole tables that mend what they break.

Notation: n rows (quantities), m free cells; change = X d, where X (n x m) is what `eliminated` leaves, in rows (start,
at, by) and in columns (begin, row, value). A move is d in whole numbers, not below 0 where `oneway`, for which
-down <= change <= up. A search begins with one free cell and then changes d by 1 again and again: a broken row is
drawn, and of the cells that would mend it the one with the least sum of what is broken. A row that stays broken weighs
more and more (Morris 1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled
from confide.tables.schemes.suppress.boxes_kernel import SEED, below


@compiled(inner=True)
def over(change: int, up: int, down: int) -> Any:
    """How far a change is beyond what is allowed."""
    return max(change - up, -down - change, 0)


@compiled(inner=True)
def step(begin: Any, row: Any, value: Any, up: Any, down: Any, j: int, sign: int, change: Any, broken: Any, place: Any,
         many: int) -> int:  # fmt: skip
    """Change free cell j by `sign`; how many rows are broken then. `broken[:many]` lists them, `place` says where."""
    for q in range(begin[j], begin[j + 1]):
        r = row[q]
        old = over(change[r], up[r], down[r])
        change[r] += sign * value[q]
        new = over(change[r], up[r], down[r])
        if old == 0 and new > 0:
            broken[many], place[r] = r, many
            many += 1
        elif old > 0 and new == 0:
            many -= 1
            last = broken[many]
            broken[place[r]], place[last] = last, place[r]
    return many


@compiled(inner=True)
def worse(begin: Any, row: Any, value: Any, up: Any, down: Any, j: int, sign: int, change: Any, weight: Any) -> Any:
    """By how much more rows are broken if free cell j changes by `sign`, each as much as it weighs."""
    out = 0
    for q in range(begin[j], begin[j + 1]):
        r = row[q]
        new = change[r] + sign * value[q]
        out += weight[r] * (over(new, up[r], down[r]) - over(change[r], up[r], down[r]))
    return out


@compiled(inner=True)
def first_cell(start: Any, at: Any, begin: Any, target: int) -> Any:
    """The free cell of a row that changes fewest others."""
    best = at[start[target]]
    for q in range(start[target], start[target + 1]):
        if begin[at[q] + 1] - begin[at[q]] < begin[best + 1] - begin[best]:
            best = at[q]
    return best


@compiled(inner=True)
def search(start: Any, at: Any, by: Any, begin: Any, row: Any, value: Any, up: Any, down: Any, oneway: Any,
           target: int, steps: int, tries: int, state: Any, d: Any, change: Any, weight: Any, broken: Any,
           place: Any) -> bool:  # fmt: skip
    """Look for a move that changes row `target`: `change`, all 0 at first. `tries`: cells looked at for each step."""
    begun = first_cell(start, at, begin, target)
    j, sign, many = begun, 1, 0
    if not oneway[begun] and below(state, 2):
        sign = -1
    for _ in range(steps):
        d[j] += sign
        many = step(begin, row, value, up, down, j, sign, change, broken, place, many)
        if many == 0 and change[target] != 0:
            return True
        if many == 0:
            j, sign = begun, 1
            continue
        r = broken[below(state, many)]
        need = 1 if change[r] < -down[r] else -1
        length, best, found = start[r + 1] - start[r], 0, -1
        skip, seen = below(state, length), 0
        for k in range(length):
            q = start[r] + (skip + k) % length
            other, way = at[q], need if by[q] > 0 else -need
            if (oneway[other] and d[other] + way < 0) or (other == begun and d[other] + way == 0) or seen == tries:
                continue
            seen += 1
            cost = worse(begin, row, value, up, down, other, way, change, weight)
            if found < 0 or cost < best:
                best, found, sign = cost, other, way
        if found < 0:
            return False
        if best >= 0:
            for q in range(many):
                weight[broken[q]] += 1
        j = found
    return False


@compiled(inner=True)
def heaviest(weight: Any, target: int) -> int:
    """The row other than `target` that stayed broken longest; -1 if none did."""
    best = -1
    for r in range(len(weight)):
        if weight[r] > 1 and r != target and (best < 0 or weight[r] > weight[best]):
            best = r
    return best


@compiled
def walked(start: Any, at: Any, by: Any, begin: Any, row: Any, value: Any, up: Any, down: Any, oneway: Any,
           targets: Any, steps: int, tries: int) -> Any:  # fmt: skip
    """Moves (moves x n) that change as many of the rows `targets` as one search for each finds; and for each of these
    the row that stood in its way, -1 for none."""
    n, m = len(up), len(oneway)
    state = np.array([SEED], dtype=np.uint64)
    d, change, weight = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    broken, place, done = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    out, found = np.zeros((64, n), dtype=np.int32), 0
    blocked = np.full(len(targets), -1, dtype=np.int64)
    for k in range(len(targets)):
        target = targets[k]
        if done[target] or start[target] == start[target + 1]:
            continue
        d[:], change[:], weight[:] = 0, 0, 1
        if search(start, at, by, begin, row, value, up, down, oneway, target, steps, tries, state, d, change, weight,
                  broken, place):  # fmt: skip
            if found == len(out):
                more = np.zeros((2 * found, n), dtype=np.int32)
                for t in range(found):
                    for r in range(n):
                        more[t, r] = out[t, r]
                out = more
            for r in range(n):
                out[found, r] = change[r]
                done[r] = done[r] or change[r] != 0
            found += 1
        else:
            blocked[k] = heaviest(weight, target)
    return out[:found], blocked
