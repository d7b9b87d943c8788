"""Local suppression solved: which values of which people are hidden, at what cost, and how near the least that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from confide.frames.columns import F64, I64
from confide.protect.methods.local_suppression.bounds import alike, below, distance_bound
from confide.protect.methods.local_suppression.exact import hide_exactly
from confide.protect.methods.local_suppression.own_rule import hide_own
from confide.protect.methods.local_suppression.pieces import Pieces
from confide.protect.methods.local_suppression.wildcard_rule import hide_wildcard

RULES = ("own", "wildcard")
HOW = ("greedy", "exact")

Hide = Callable[[Pieces, int, F64, Sequence[int]], Pieces]


@dataclass(frozen=True, eq=False)
class Solution:
    """`pieces`: people with what is hidden of them. `cost`: importance times weight, summed over hidden values;
    `bound`: no solution by the rule is cheaper, None where none is known; `linear`: the bound of the linear programme,
    where one was solved; `proved`: the cost is the least."""

    pieces: Pieces
    cost: float
    bound: float | None
    linear: float | None = None

    @property
    def gap(self) -> float | None:
        """How far above the least cost this can be, as a share of the bound; None where no bound is known."""
        if self.bound is None or (self.bound == 0 and self.cost > 0):
            return None
        return 0.0 if self.cost <= self.bound else self.cost / self.bound - 1

    @property
    def proved(self) -> bool:
        return self.gap is not None and self.gap < 1e-9


def solve(pieces: Pieces, sizes: Mapping[int, int], importance: F64, rule: str, how: str, where: str) -> Solution:
    """Hide until the rule holds in every set of so many variables. `sizes`: the size of sets, and their k.

    Sets are gone through from the largest to the smallest, again and again until all pass: hiding for one set can
    leave fewer equals in another.
    """
    if how == "exact":
        ((_, k),) = sizes.items()
        proved = hide_exactly(pieces, k, importance, where)
        return Solution(proved.pieces, proved.pieces.cost(importance), proved.bound, proved.linear)
    hide: Hide = hide_own if rule == "own" else hide_wildcard
    sets, made = sets_of(pieces.codes.shape[1], sizes), pieces
    while True:
        failing = [(within, k) for within, k in sets if below(made, rule, k, within)]
        if not failing:
            break
        for within, k in failing:
            if below(made, rule, k, within):
                made = hide(made, k, importance, within)
    bound = max(distance_bound(pieces, k, importance, within) for within, k in sets) if rule == "own" else None
    return Solution(made, made.cost(importance), bound)


def sets_of(many: int, sizes: Mapping[int, int]) -> list[tuple[tuple[int, ...], int]]:
    """All sets of the sizes asked for, the largest first, each with its k."""
    return [(within, sizes[m]) for m in sorted(sizes, reverse=True) for within in combinations(range(many), m)]


def left_below(pieces: Pieces, sizes: Mapping[int, int]) -> dict[str, int]:
    """People to be protected who have fewer than k equals in some set, by each way of counting."""
    sets, count = sets_of(pieces.codes.shape[1], sizes), pieces.count * pieces.asked
    out = {}
    for rule in ("own", "person", "wildcard"):
        few = np.any([alike(pieces, rule, within) < k for within, k in sets], axis=0)
        out[rule] = int(count[few].sum())
    return out


def least_rows(pieces: Pieces, within: Sequence[int], rule: str) -> int:
    """The fewest rows that a person to be protected shares keys with, by a way of counting; by "person" the least n_t:
    rows that can be of somebody whose true values are known."""
    found: I64 = alike(pieces, rule, within)[pieces.asked]
    return int(found.min()) if len(found) else 0
