"""The cost of an attack: trials on a few targets, carried forward; memory that grows with the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import confide as cf
from confide.attack.results import cost
from confide.attack.results.cost import AttackCost, cost_of, extrapolated, memory_of

HEADS = cf.demo("heads").head(3_000)
RELEASE = cf.Plan([cf.Swap("race", rate=0.2)], identifiers=["id"]).protect(HEADS, seed=1)
WHO = cf.Intruder(knows=["sex", "race", "age", "state", "hh_income"])


def work(once: float, each: float, sizes: list[int]) -> Callable[[Any], float]:
    """Trials that take so long once, and for each target; the first one takes longer."""

    def tried(some: Any) -> float:
        sizes.append(len(some))
        return once + each * len(some) + 100.0 * (len(sizes) == 1)

    return tried


@pytest.mark.parametrize(("once", "each"), [(0.0, 0.01), (2.0, 0.01), (0.5, 1e-3)])
def test_two_trials_are_carried_forward(once: float, each: float) -> None:
    sizes: list[int] = []
    found = cost._estimated(50_000, work(once, each, sizes))
    assert found == pytest.approx(once + each * 50_000)
    assert sizes == [200, 200, 1_000]


def test_a_third_trial_where_targets_take_next_to_no_time() -> None:
    sizes: list[int] = []
    assert cost._estimated(1_000_000, work(5.0, 1e-5, sizes)) == pytest.approx(15.0)
    assert sizes == [200, 200, 1_000, 50_000]


def test_a_few_targets_are_all_tried() -> None:
    sizes: list[int] = []
    assert cost._estimated(700, work(1.0, 0.01, sizes)) == pytest.approx(8.0)
    assert sizes == [700, 700]
    assert cost._estimated(0, work(1.0, 0.01, [1])) == pytest.approx(1.0)


def test_a_trial_of_more_that_took_less_adds_nothing() -> None:
    assert extrapolated([(200, 1.0), (1_000, 0.9)], 10**6) == pytest.approx(0.9)


def test_targets_are_spread_evenly() -> None:
    some = cost._spread(3_000, 200)
    assert (np.diff(some) == 15).all()
    assert cost._spread(7, 7).tolist() == [*range(7)]


def test_trials_are_attacks_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is what the clock says, of those who are not alike."""
    now, many = [0.0], []

    def attack(_self: Any, _release: Any, targets: Any, truth: Any, **_: Any) -> None:
        many.append(targets.height)
        assert targets.equals(HEADS[truth])
        now[0] += 1.0 + 0.01 * targets.height

    monkeypatch.setattr(cf.Intruder, "attack", attack)
    found = cost_of(WHO, RELEASE, None, clock=lambda: now[0])
    unlike = HEADS.select(WHO.knows).n_unique()
    assert many == [200, 200, 1_000]
    assert found.seconds == pytest.approx(1.0 + 0.01 * unlike + cost.PER_TARGET * (3_000 - unlike), abs=1e-9)
    assert (found.rows, found.targets) == (3_000, 3_000)


def test_of_a_real_attack() -> None:
    found = WHO.cost(RELEASE)
    assert found.seconds > 0
    assert found.bytes == memory_of(3_000, 3_000, 5)
    assert found.said.endswith("of memory, for 3,000 targets and 3,000 released rows")
    few = WHO.cost(RELEASE, HEADS.head(20))
    assert few.targets == 20


def test_memory_grows_with_rows_targets_and_what_is_known() -> None:
    sizes = [memory_of(n, n, 3) for n in (10, 1_000, 100_000, 10_000_000)]
    assert sizes == sorted(set(sizes))
    assert memory_of(100, 100, 2) < memory_of(100, 100, 3)
    assert memory_of(100, 100, 2) < memory_of(100, 5_000, 2)
    assert memory_of(100, 5, 2) == memory_of(100, 100, 2)


def test_whether_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = AttackCost(1.0, 500, 1, 1, "")
    for free, fits in ((499, False), (500, True), (None, None)):
        monkeypatch.setattr(cost, "free_bytes", lambda free=free: free)
        assert found.fits is fits


@pytest.mark.parametrize(
    ("seconds", "needed", "said"),
    [
        (0.3, 61_000_000, "less than a second and 60 MB"),
        (7.4, 1_640_000_000, "about 7 s and 1.6 GB"),
        (130, 940_000_000, "about 2 min and 940 MB"),
        (36_000, 2_000_000_000, "about 10 h and 2.0 GB"),
    ],
)
def test_in_words(seconds: float, needed: int, said: str) -> None:
    assert cost._said(seconds, needed, 5_000, 1_000) == f"{said} of memory, for 1,000 targets and 5,000 released rows"


def test_bad_input() -> None:
    copies = cf.Plan([cf.Swap("race", rate=0.2)]).protect(HEADS, seed=1, copies=2)
    with pytest.raises(cf.InputError, match="one Release"):
        WHO.cost(copies)  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match='targets: there is no column "race"'):
        WHO.cost(RELEASE, HEADS.drop("race"))
    with pytest.raises(cf.InputError, match="between names columns"):
        cf.Intruder(knows=["sex"], between={"age": ("low", "high")}).cost(RELEASE)
