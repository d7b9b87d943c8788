"""Predictive distributions agree with a double loop over records and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.attribute_twin import law


def small(n: int = 40, seed: int = 3) -> pl.DataFrame:
    """A tiny file in which everything goes with everything."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, n)
    return pl.DataFrame({
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)], "race": np.array(["a", "b", "c"])[base],
        "area": np.array(["x", "y"])[(base + rng.integers(0, 2, n)) % 2],
        "job": np.array(["p", "q", "r"])[(base + rng.integers(0, 2, n)) % 3],
        "pay": np.array([0.0, 10, 20, 30, 50, 80])[np.clip(base + rng.integers(0, 4, n), 0, 5)],
        "weight": rng.integers(2, 6, n).astype(float),
    })  # fmt: skip


MATRIX = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]
KEYS = [cf.Swap("race", rate=0.3)]
CASES: dict[str, tuple[list[Any], str]] = {
    "kept": ([], "job"),
    "kept number": ([], "pay"),
    "kept, keys swapped": (KEYS, "job"),
    "kept number, keys swapped": (KEYS, "pay"),
    "recoded": ([*KEYS, cf.Recode("job", mapping={"p": "pq", "q": "pq"})], "job"),
    "recoded number": ([*KEYS, cf.Recode("pay", width=25)], "pay"),
    "topcoded": ([*KEYS, cf.Topcode("pay", at=30)], "pay"),
    "PRAM": ([*KEYS, cf.Pram("job", matrix=MATRIX, levels=["p", "q", "r"])], "job"),
    "swapped": ([*KEYS, cf.Swap("job", rate=0.4)], "job"),
    "swapped number": ([*KEYS, cf.Swap("pay", rate=0.4)], "pay"),
    "swapped together": ([cf.Swap(["race", "job"], rate=0.4)], "job"),
    "noise": ([*KEYS, cf.Noise("pay", sd=12.0, keep_zeros=True)], "pay"),
}
LEVELS = ("sdl", "exact", "average")
MEMBERSHIPS = {"certain": "certain", "in_file": "in_file", "total": cf.Unsure(total=90, model="proportional")}


def agree(attack: cf.Attack, variable: str, targets: range) -> None:
    found = attack.guess(variable, smoothing=5)
    for t in targets:
        twin = law(attack, variable, t, 5.0)
        got = dict(found.predictive(t).iter_rows())
        assert sum(got.values()) == pytest.approx(1, abs=1e-9)
        for v, p in twin.items():
            assert got.get(v, 0.0) == pytest.approx(p, abs=1e-9), (t, v)
        own = twin[attack.release.original[variable][int(attack.truth[t])]]
        assert found.frame["p_true_value"][t] == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("level", LEVELS)
def test_the_double_loop(name: str, level: str) -> None:
    steps, variable = CASES[name]
    release = cf.Plan(steps, numeric=["pay"]).protect(small(), seed=1)
    agree(cf.Intruder.at(level, knows=["sex", "race"]).attack(release), variable, range(0, 40, 13))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variable", ["job", "pay"])
def test_known_noise(variable: str, level: str) -> None:
    """A known number with noise, one known to be left alone, and a category: densities beside classes."""
    rng = np.random.default_rng(8)
    file = small().with_columns(age=pl.Series(np.round(20 + 10 * rng.random(40), 1)))
    steps = [*KEYS, cf.Noise("age", sd=2.0, bounds=(21, 60))]
    plan = cf.Plan([*steps, cf.Bottomcode("age", at=21)], numeric=["pay"])
    attack = cf.Intruder.at(level, knows=["sex", "race", "age"]).attack(plan.protect(file, seed=1))
    agree(attack, variable, range(0, 40, 13))


@pytest.mark.parametrize("membership", MEMBERSHIPS)
@pytest.mark.parametrize("name", ["kept, keys swapped", "kept number", "PRAM", "noise"])
def test_memberships(name: str, membership: str) -> None:
    steps, variable = CASES[name]
    steps = [*steps, cf.Sample(fraction=0.7)] if membership != "certain" else steps
    release = cf.Plan(steps, numeric=["pay"]).protect(small(), seed=1)
    attack = cf.Intruder(knows=["sex", "race"], membership=MEMBERSHIPS[membership]).attack(release)
    agree(attack, variable, range(0, attack.units.height, 9))


@pytest.mark.parametrize("name", CASES)
def test_without_the_own_row(name: str) -> None:
    """The probability of the true value without the own row, by the double loop without it."""
    steps, variable = CASES[name]
    attack = cf.Intruder(knows=["sex", "race"]).attack(cf.Plan(steps, numeric=["pay"]).protect(small(), seed=1))
    found = attack.guess(variable, smoothing=5)
    for t in range(0, 40, 7):
        twin = law(attack, variable, t, 5.0, own=False)
        own = attack.release.original[variable][int(attack.truth[t])]
        assert found.rest["p_without_person"][t] == pytest.approx(twin[own], abs=1e-9)
