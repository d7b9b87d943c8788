"""Shapley values from their definition: the mean over all orders of what each player adds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

import confide as cf
from confide.attack.results.attack import Attack


def by_orders(value: Callable[[frozenset[str]], float], players: list[str]) -> dict[str, float]:
    """v of the empty set is 0."""
    added: dict[str, list[float]] = {p: [] for p in players}
    for order in permutations(players):
        there: frozenset[str] = frozenset()
        before = 0.0
        for p in order:
            there = there | {p}
            after = value(there)
            added[p].append(after - before)
            before = after
    return {p: float(np.mean(x)) for p, x in added.items()}


def slow_nats(attack: Attack, target: int, everybody: float) -> dict[str, float]:
    """Contributions to a target's own record: an attack by hand for every set of known variables."""
    release, who = attack.release, attack.intruder
    known: dict[frozenset[str], float] = {}

    def value(names: frozenset[str]) -> float:
        if names not in known:
            knows = [v for v in who.knows if v in names]
            one = cf.Intruder(
                knows=knows, membership=who.membership, available=who.available, unavailable="ignore",
                others=who.others, beliefs=who.beliefs,
            )  # fmt: skip
            p = one.attack(release).units["p_true"][target]
            known[names] = float(np.log(everybody * p))
        return known[names]

    return by_orders(value, list(who.knows))
