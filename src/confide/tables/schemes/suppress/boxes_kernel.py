"""The compiled loop of `boxes`: boxes are proposed at random, and taken or not as Metropolis does.

Notation: C places of the grid, D variables, T moves; tables[t, c] is what move t changes place c by; held[t, :size[t]]
are the places that it changes; used[c] is the number of moves that change c. The energy is the sum of price[c] over all
c that are used, and of long (1 + price[c] / 15) over all that each move changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled

STEPS = 4_096
"""Steps at one temperature."""

SAME = 128
"""Steps with one move, then the next."""

SEED = 88_172_645_463_325_252


@compiled(inner=True)
def draw(state: Any) -> Any:
    """A whole number from 0 up to 2^32 - 1 (Marsaglia 2003, xorshift)."""
    z = state[0]
    z ^= z << np.uint64(13)
    z ^= z >> np.uint64(7)
    z ^= z << np.uint64(17)
    state[0] = z
    return np.int64(z >> np.uint64(32))


@compiled(inner=True)
def below(state: Any, n: int) -> Any:
    """A whole number from 0 up to n - 1."""
    return (draw(state) * n) >> 32


@compiled(inner=True)
def box(shape: Any, codes: Any, a: int, b: int, state: Any, cells: Any, signs: Any) -> None:
    """The places of a box that holds place a, and b unless it is -1; signs[0], that of a, is 1."""
    cells[0], signs[0], have, stride = 0, 1, 1, len(codes)
    for v in range(len(shape)):
        stride //= shape[v]
        one = codes[a, v]
        two = codes[b, v] if b >= 0 else one
        if two == one:
            two = below(state, shape[v] - 1)
            two += two >= one
        turn = -1 if one < shape[v] - 1 and two < shape[v] - 1 else 1
        for k in range(have):
            cells[have + k] = cells[k] + two * stride
            signs[have + k] = turn * signs[k]
            cells[k] += one * stride
        have *= 2


@compiled(inner=True)
def change(up: Any, down: Any, price: Any, needed: Any, used: Any, own: Any, cells: Any, signs: Any, sign: int,
           long: float, most: float) -> float:  # fmt: skip
    """What the energy grows by if a box is added to a move; infinite if that is not allowed, or if what it adds alone
    is more than `most`."""
    plus, minus = 0.0, 0.0
    for k in range(len(cells)):
        c = cells[k]
        old = own[c]
        new = old + sign * signs[k]
        if new > up[c] or new < -down[c] or plus > most:
            return np.inf
        if old == 0:
            plus += long * (1.0 + price[c] / 15.0)
            if used[c] == 0:
                plus += price[c]
        elif new == 0:
            minus += long * (1.0 + price[c] / 15.0)
            if used[c] == 1:
                if needed[c]:
                    return np.inf
                minus += price[c]
    return plus - minus


@compiled(inner=True)
def gain(price: Any, used: Any, held: Any, size: int, long: float) -> float:
    """The most that a box can take off the energy: all that a move costs."""
    out = 0.0
    for q in range(size):
        c = held[q]
        out += long * (1.0 + price[c] / 15.0) + (price[c] if used[c] == 1 else 0.0)
    return out


@compiled(inner=True)
def add(used: Any, own: Any, held: Any, size: int, cells: Any, signs: Any, sign: int) -> int:
    """Add a box to a move; returns how many places that changes then."""
    for k in range(len(cells)):
        c = cells[k]
        old = own[c]
        own[c] = old + sign * signs[k]
        if old == 0:
            held[size] = c
            size += 1
            used[c] += 1
        elif own[c] == 0:
            used[c] -= 1
            q = 0
            while held[q] != c:
                q += 1
            size -= 1
            held[q] = held[size]
    return size


@compiled
def annealed(shape: Any, codes: Any, up: Any, down: Any, price: Any, needed: Any, tables: Any, heats: Any) -> int:
    """Change `tables` (T x C) box by box; how many boxes were added. `heats` (rounds x 2): temperature, `long`."""
    moves, places = tables.shape
    corners = 1 << len(shape)
    state = np.array([SEED], dtype=np.uint64)
    cells, signs = np.zeros(corners, dtype=np.int64), np.zeros(corners, dtype=np.int64)
    held, size = np.zeros((moves, places), dtype=np.int32), np.zeros(moves, dtype=np.int64)
    used = np.zeros(places, dtype=np.int64)
    for t in range(moves):
        for c in range(places):
            if tables[t, c] != 0:
                held[t, size[t]] = c
                size[t] += 1
                used[c] += 1
    added = 0
    for heat in range(len(heats)):
        hot, long = heats[heat, 0], heats[heat, 1]
        for _ in range(STEPS // SAME):
            t = below(state, moves)
            most = gain(price, used, held[t], size[t], long)
            for _ in range(SAME):
                if size[t] == 0:
                    break
                a = held[t, below(state, size[t])]
                b = held[t, below(state, size[t])] if below(state, 4) else -1
                box(shape, codes, a, b, state, cells, signs)
                sign = -1 if (tables[t, a] > 0) != (below(state, 8) == 0) else 1
                bar = -hot * np.log((draw(state) + 1.0) / 4294967296.0)
                if change(up, down, price, needed, used, tables[t], cells, signs, sign, long, bar + most) <= bar:
                    size[t] = add(used, tables[t], held[t], size[t], cells, signs, sign)
                    most = gain(price, used, held[t], size[t], long)
                    added += 1
    return added
