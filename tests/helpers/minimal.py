"""Minimal unique sets straight from the definition: every set of variables, every other row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any


def alike(rows: Sequence[Sequence[Any]], row: int, variables: Sequence[int]) -> int:
    """How many rows share a row's values of some variables, itself among them."""
    return sum(all(other[v] == rows[row][v] for v in variables) for other in rows)


def minimal_unique_sets(rows: Sequence[Sequence[Any]], row: int, limit: int = 1) -> set[tuple[int, ...]]:
    """Sets of variables that at most `limit` rows share with a row, and of which no proper part has that property."""
    width = len(rows[row])
    every = [s for size in range(1, width + 1) for s in combinations(range(width), size)]
    good = {s for s in every if alike(rows, row, s) <= limit}
    return {s for s in good if not any(set(g) < set(s) for g in good)}
