"""Chances of rank swaps for pairs, in a loop of their own: the same as of aligned ranges, which have twins elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from confide.frames.columns import F64, I64, Bools
from confide.protect.likelihoods.window import Window
from confide.protect.shared.rank_shares import RankMoves


def ranges(rng: np.random.Generator, n: int, many: int) -> tuple[I64, I64, Bools]:
    """Ranks of values, some of them empty or not moved."""
    low = rng.integers(0, n, many)
    return low, np.minimum(low + rng.integers(-1, 4, many), n - 1), rng.random(many) < 0.8


def window(moves: RankMoves, z: tuple[I64, I64, Bools], reach: int, tells: Bools | None) -> Window:
    def nowhere(_: F64) -> tuple[I64, I64, Bools]:
        raise AssertionError

    return Window(*z, moves, "x", nowhere, moves.n, reach, tells)


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 3), (40, 5), (40, 60), (7, 6), (200, 20)])
@pytest.mark.parametrize("told", [False, True])
def test_pairs_are_as_likely_as_aligned_ranges(exchange: bool, n: int, d: int, told: bool) -> None:
    rng = np.random.default_rng([exchange, n, d])
    t, z = ranges(rng, n, 30), ranges(rng, n, 25)
    like = window(RankMoves(exchange, n, d), z, d, rng.random(25) < 0.7 if told else None)
    known = dict(zip(("low", "high", "inside"), t, strict=True))
    who, which = np.divmod(rng.permutation(30 * 25), 25)
    found = like.log_pairs(known, who, like.record, which)
    plainly = like.log({k: v[who] for k, v in known.items()}, {k: v[which] for k, v in like.record.items()})
    np.testing.assert_allclose(found, plainly, rtol=1e-13, atol=1e-13)
    assert (found == -np.inf).any()
    assert (found > -np.inf).any()


def test_chances_that_know_no_pairs_are_asked_one_by_one() -> None:
    rng = np.random.default_rng(5)
    t, z = ranges(rng, 40, 30), ranges(rng, 40, 25)
    known = dict(zip(("low", "high", "inside"), t, strict=True))
    who, which = rng.integers(0, 30, 90), rng.integers(0, 25, 90)
    moves = RankMoves(False, 40, 5)
    fast = window(moves, z, 5, None)
    plain = Window(*z, lambda *ranks: moves(*ranks), "x", fast.ranks, 40, 5)
    a, b = (like.log_pairs(known, who, like.record, which) for like in (fast, plain))
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
