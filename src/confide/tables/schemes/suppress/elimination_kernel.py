"""The compiled loop of `elimination`: sums are published one after the other, and the rest is reduced by them.

Notation: n rows (published quantities) as sums of m cells, in whole numbers modulo PRIME. Row r is the places
`at[first[r] : first[r] + size[r]]`, ascending, with coefficients `by`; both lie in one store that is packed when it is
full. held[j] is the number of rows that cell j is in. joint[j] is how far cell j goes in one move of all one-way cells;
tied[j]: an accepted sum needs that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled

PRIME = 2_147_483_647
"""Numbers that are 0 modulo this prime are taken for 0: chance makes it so once in two billion times."""

ONEWAY, APART = 1, 2
"""Kinds of cells. A sum of cells of which none moves both ways is published only where it can stay as it is; never if
one of them is to move without the others."""

STEEP = 3
"""The largest coefficient of a sum of one-way cells that is published."""


@compiled(inner=True)
def inverse(a: int) -> int:
    """1 / a modulo PRIME (Fermat)."""
    out, power, left = 1, a, PRIME - 2
    while left:
        if left & 1:
            out = out * power % PRIME
        power = power * power % PRIME
        left >>= 1
    return out


@compiled(inner=True)
def signed(a: int) -> int:
    """A small coefficient with its sign."""
    return a - PRIME if a > PRIME // 2 else a


@compiled(inner=True)
def find(at: Any, first: int, size: int, j: int) -> int:
    """Where cell j stands in a row; -1 if it is not there."""
    low, high = first, first + size
    while low < high:
        middle = (low + high) >> 1
        if at[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low if low < first + size and at[low] == j else -1


@compiled(inner=True)
def pivot_of(at: Any, first: int, size: int, kind: Any, held: Any) -> Any:
    """The cell of a row by which others are reduced: one that moves both ways if there is one, of those in few rows."""
    best = at[first]
    for q in range(first + 1, first + size):
        j = at[q]
        if kind[j] < kind[best] or (kind[j] == kind[best] and held[j] < held[best]):
            best = j
    return best


@compiled(inner=True)
def proportional(at: Any, by: Any, one: int, two: int, size: int, factor: int) -> Any:
    """Whether row one is `factor` times row two; both have this size."""
    same = 0
    while same < size and at[one + same] == at[two + same] and by[one + same] == by[two + same] * factor % PRIME:
        same += 1
    return same == size


@compiled(inner=True)
def joined(at: Any, by: Any, first: int, size: int, kind: Any, joint: Any, tied: Any, bump: int) -> bool:
    """Whether a sum of one-way cells can stay as it is while all of them move; mends `joint` where one cell must go
    further for it, by at most `bump` in the sum."""
    total, mend, plus, minus = 0, -1, False, False
    for q in range(first, first + size):
        a = signed(by[q])
        if kind[at[q]] == APART or abs(a) > STEEP:
            return False
        total += a * joint[at[q]]
        plus, minus = plus or a > 0, minus or a < 0
    if not (plus and minus) or abs(total) > bump:
        return False
    for q in range(first, first + size):
        a = signed(by[q])
        if total != 0 and not tied[at[q]] and (a > 0) != (total > 0) and total % a == 0:
            mend = q
    if total != 0 and mend < 0:
        return False
    if total != 0:
        joint[at[mend]] -= total // signed(by[mend])
    return True


@compiled(inner=True)
def tells(at: Any, by: Any, first: Any, size: Any, c: int, pivot: int, needed: Any, scale: int) -> bool:
    """Whether a row that is needed is a multiple of row c: publishing c would tell it. `scale`: 1 / c's coefficient."""
    for r in range(len(first)):
        if needed[r] and size[r] == size[c]:
            q = find(at, first[r], size[r], pivot)
            if q >= 0 and proportional(at, by, first[r], first[c], size[c], by[q] * scale % PRIME):
                return True
    return False


@compiled(inner=True)
def packed(at: Any, by: Any, first: Any, size: Any, more: int) -> Any:
    """A new store with room for as much again, and `more`; where it ends."""
    total = 0
    for r in range(len(first)):
        total += size[r]
    new_at, new_by = np.empty(2 * total + more, dtype=at.dtype), np.empty(2 * total + more, dtype=by.dtype)
    end = 0
    for r in range(len(first)):
        for q in range(size[r]):
            new_at[end + q], new_by[end + q] = at[first[r] + q], by[first[r] + q]
        first[r] = end
        end += size[r]
    return new_at, new_by, end


@compiled(inner=True)
def reduce_row(at: Any, by: Any, first: Any, size: Any, r: int, c: int, factor: int, held: Any, end: int) -> int:
    """Add `factor` times row c to row r, which moves to the end of the store; returns the new end."""
    p, q, out = first[r], first[c], end
    last_p, last_q = p + size[r], q + size[c]
    while p < last_p or q < last_q:
        if q == last_q or (p < last_p and at[p] < at[q]):
            at[out], by[out] = at[p], by[p]
            p, out = p + 1, out + 1
        elif p == last_p or at[q] < at[p]:
            at[out], by[out] = at[q], by[q] * factor % PRIME
            held[at[q]] += 1
            q, out = q + 1, out + 1
        else:
            value = (by[p] + by[q] * factor) % PRIME
            if value:
                at[out], by[out] = at[p], value
                out += 1
            else:
                held[at[p]] -= 1
            p, q = p + 1, q + 1
    first[r], size[r] = end, out - end
    return out


@compiled
def eliminated(start: Any, cells: Any, signs: Any, order: Any, needed: Any, kind: Any, bump: int, sure: bool) -> Any:
    """Publish rows so that none of `needed` (n) is told; what is left of each, in compressed form: nothing
    of what is published.

    `order`: the others, what is published first at first. `kind` (m): of each cell,
    0 if it moves both ways, ONEWAY if it can only rise, APART if it is to move by itself.
    `sure`: nothing is asked, and all of `order` is published.
    """
    n, m = len(start) - 1, len(kind)
    first, size = start[:-1].copy(), start[1:] - start[:-1]
    at, by, end = packed(cells, signs, first, size, m)
    for q in range(end):
        by[q] %= PRIME
    held, joint, tied = np.zeros(m, dtype=np.int64), np.ones(m, dtype=np.int64), np.zeros(m, dtype=np.bool_)
    for q in range(end):
        held[at[q]] += 1
    hide = np.zeros(n, dtype=np.bool_)
    for c in order:
        if size[c] == 0:
            continue
        pivot = pivot_of(at, first[c], size[c], kind, held)
        scale = inverse(by[find(at, first[c], size[c], pivot)])
        hide[c] = not sure and (
            tells(at, by, first, size, c, pivot, needed, scale)
            or (kind[pivot] > 0 and not joined(at, by, first[c], size[c], kind, joint, tied, bump))
        )
        if not hide[c]:
            for q in range(first[c], first[c] + size[c]):
                tied[at[q]] = tied[at[q]] or kind[pivot] > 0
                held[at[q]] -= 1
            for r in range(n):
                q = find(at, first[r], size[r], pivot) if r != c else -1
                if q >= 0:
                    factor = PRIME - by[q] * scale % PRIME
                    if end + size[r] + size[c] > len(at):
                        at, by, end = packed(at, by, first, size, m)
                        q = find(at, first[r], size[r], pivot)
                    end = reduce_row(at, by, first, size, r, c, factor, held, end)
            size[c] = 0
    at, by, end = packed(at, by, first, size, 0)
    for q in range(end):
        by[q] = signed(by[q])
    return np.append(first, end), at[:end], by[:end]
