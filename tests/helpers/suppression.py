"""Local suppression, slowly: classes, bounds and optima straight from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl

Row = tuple[int, ...]


def equals(shown: Sequence[Row], true: Sequence[Row], rule: str) -> list[int]:
    """How many rows each person counts as their equals; -1 is hidden."""

    def fits(i: int, j: int) -> bool:
        if rule == "own":
            return shown[i] == shown[j]
        mine = true[i] if rule == "person" else shown[i]
        either = rule == "wildcard"
        return all(a == b or b < 0 or (either and a < 0) for a, b in zip(mine, shown[j], strict=True))

    return [sum(fits(i, j) for j in range(len(shown))) for i in range(len(shown))]


def distance_bound(rows: Sequence[Row], k: int, c: Sequence[float]) -> float:
    """The sum of distances to the (k-1)th nearest other row."""
    total = 0.0
    for i, y in enumerate(rows):
        far = sorted(
            sum(w for w, a, b in zip(c, y, x, strict=True) if a != b and a >= 0) for j, x in enumerate(rows) if j != i
        )
        total += far[k - 2]
    return total


def least_cost(rows: Sequence[Row], k: int, c: Sequence[float]) -> float:
    """The least cost over all partitions into groups of k to 2k - 1."""

    def cost(group: tuple[int, ...]) -> float:
        first = rows[group[0]]
        differs = [any(rows[i][v] != first[v] for i in group) for v in range(len(first))]
        return sum(w for i in group for v, w in enumerate(c) if differs[v] and rows[i][v] >= 0)

    @cache
    def best(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        head, rest = left[0], left[1:]
        found = float("inf")
        for size in range(k - 1, min(2 * k - 1, len(rest) + 1)):
            for others in combinations(rest, size):
                remaining = tuple(i for i in rest if i not in others)
                found = min(found, cost((head, *others)) + best(remaining))
        return found

    return best(tuple(range(len(rows))))


def posterior(true: Sequence[Row], shown: Sequence[Row], target: int, informed: bool, k: int = 2) -> np.ndarray:
    """p_j of one person by w_j = L(z_j | y) / m_j, with the file's own shares as belief."""
    del k
    n = len(true)
    patterns = [tuple(v for v, a in enumerate(z) if a < 0) for z in shown]

    def rate(z: int, y: Row) -> float:
        if any(a >= 0 and a != b for a, b in zip(shown[z], y, strict=True)):
            return 0.0
        same = [i for i in range(n) if true[i] == y] if informed else list(range(n))
        return sum(patterns[i] == patterns[z] for i in same) / len(same)

    m = [sum(rate(j, y) for y in true) / n for j in range(n)]
    w = np.array([rate(j, true[target]) / m[j] for j in range(n)])
    return np.asarray(w / w.sum())


def cells(release: object) -> Iterator[int]:
    """Nulls of each released column."""
    yield from (s.null_count() for s in release.data)  # type: ignore[attr-defined]


GUIDE = pl.DataFrame(
    [
        line.split()
        for line in (
            ["U F si e", "U F si e", "U F pi n", "U M sc e", "R F sc u", "U M sc e", "U F pc n", "U M ps u", "U F si n", "U F si n"]
        )
    ],
    orient="row", schema=["residence", "gender", "education", "labour"],
)  # fmt: skip
TEN = pl.DataFrame({"v": list("aaaaaabbbc")})
WIDOW = pl.DataFrame({"area": ["A"] * 5, "marital": ["single", "married", "married", "single", "widow"]})


def plain_merging(rows: Sequence[Row], k: int, c: Sequence[float], credit: float, shared: bool) -> list[list[int]]:
    """The greedy merging of the rule "own", row by row: who is in each class, before anything is given back."""
    order = sorted(set(rows))
    classes = [[i for i, y in enumerate(rows) if y == value] for value in order]
    shown = list(order)
    worth = []
    for a, value in enumerate(order):
        far = sorted(
            sum(w for w, p, q in zip(c, value, x, strict=True) if p != q and p >= 0)
            for j, x in enumerate(rows)
            if j not in classes[a]
        )
        few = len(classes[a]) < k
        worth.append(credit * len(classes[a]) * far[k - len(classes[a]) - 1] if few else 0.0)
    while True:
        small = [g for g, each in enumerate(classes) if 0 < len(each) < k]
        if not small:
            return classes
        a = min(small, key=lambda g: len(classes[g]))
        best, partner, take = float("inf"), -1, 0
        for b, others in enumerate(classes):
            if b == a or not others:
                continue
            need = k - len(classes[a])
            rows_taken = need if len(others) > need and len(others) - need >= k else len(others)
            cost = sum(
                w * (len(classes[a]) * (p >= 0) + rows_taken * (q >= 0))
                for w, p, q in zip(c, shown[a], shown[b], strict=True)
                if p != q
            )
            helped = len(classes[a]) + (len(others) if len(others) < k else 0) if shared else 1
            if (cost - worth[b]) / helped < best:
                best, partner, take = (cost - worth[b]) / helped, b, rows_taken
        shown[a] = tuple(p if p == q else -1 for p, q in zip(shown[a], shown[partner], strict=True))
        classes[a] += classes[partner][:take]
        classes[partner] = classes[partner][take:]
        worth[a] = 0.0


def plain_wildcard(rows: Sequence[Row], k: int, c: Sequence[float]) -> list[Row]:
    """The greedy hiding of the rule "wildcard", row by row; what each row shows."""
    shown, many = list(rows), len(rows[0])

    def agree(a: Row, b: Row) -> bool:
        return all(p == q or p < 0 or q < 0 for p, q in zip(a, b, strict=True))

    while True:
        f = [sum(agree(a, b) for b in shown) for a in shown]
        few = [i for i in range(len(rows)) if f[i] < k]
        if not few:
            return shown
        i = min(few, key=lambda i: f[i])
        best, least, most = shown[i], float("inf"), -1
        for s in range(1 << many):
            hidden = [v for v in range(many) if s >> v & 1]
            tried = tuple(-1 if v in hidden else p for v, p in enumerate(shown[i]))
            fits = [j for j, b in enumerate(shown) if agree(tried, b)]
            cost = sum(c[v] for v in hidden) if all(shown[i][v] >= 0 for v in hidden) else float("inf")
            helped = sum(f[j] < k for j in fits)
            if len(fits) >= k and (cost < least or (cost == least and helped > most)):
                best, least, most = tried, cost, helped
        shown[i] = best
