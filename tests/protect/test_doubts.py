"""Arithmetic on what looks like codes is said in the release, its record and the attack; a named kind silences it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf

RNG = np.random.default_rng(1)
FILE = pl.DataFrame({
    "occupation": RNG.choice(np.arange(110, 9_920, 10), 60)[RNG.integers(0, 60, 800)],
    "district": RNG.integers(1, 8, 800),
    "age": RNG.integers(18, 90, 800),
    "pay": RNG.integers(0, 90_000, 800),
})  # fmt: skip

STEPS: dict[str, tuple[Any, str]] = {
    "noise": (cf.Noise("occupation", sd=10), "Noise takes a number. occupation: whole numbers"),
    "width": (cf.Recode("occupation", width=100), "Recode takes a number. occupation"),
    "means": (cf.Microaggregate(["occupation", "pay"], k=3), "Microaggregate takes a number. occupation"),
    "few codes": (cf.Round("district", base=5), "Round takes a number. district"),
    "predictor": (cf.NormalSynthesis("pay", given=["occupation", "age"]), "NormalSynthesis takes a number. occupation"),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_looks_like_codes_is_asked_about(name: str) -> None:
    step, said = STEPS[name]
    release = cf.Plan([step]).protect(FILE, seed=1)
    assert len(release.doubts) == 1
    assert release.doubts[0].startswith(said)
    assert str(release).endswith(release.doubts[0])
    assert release.record()["doubts"] == list(release.doubts)


def test_a_named_kind_silences_it() -> None:
    plans = [
        cf.Plan([cf.Noise("occupation", sd=10)], numeric=["occupation"]),
        cf.Plan([cf.NormalSynthesis("pay", given=["occupation"])], categorical=["occupation"]),
        cf.Plan([cf.Swap("occupation", rate=0.2)]),
        cf.Plan([cf.Swap("pay", rate=0.2, within=["occupation"])]),
        cf.Plan([cf.Noise("age", sd=2), cf.Topcode("pay", at=80_000)]),
    ]
    for plan in plans:
        release = plan.protect(FILE, seed=1)
        assert release.doubts == ()
        assert "doubts" not in release.record()
        assert "\n" not in str(release)


def test_it_is_said_once_per_variable() -> None:
    plan = cf.Plan([cf.Noise(["occupation", "district"], sd=3), cf.Recode("occupation", width=500)])
    assert len(plan.protect(FILE, seed=1).doubts) == 2


def test_the_attack_says_it_of_each_variable() -> None:
    release = cf.Plan([cf.Noise("age", sd=2)]).protect(FILE, seed=1)
    treated = {t.variable: t.why for t in cf.Intruder(knows=["occupation", "age"]).attack(release).treatments}
    assert treated == {"occupation": "numbers, but they look like codes", "age": "needed by a step"}
    named = cf.Plan([cf.Noise("age", sd=2)], numeric=["occupation"]).protect(FILE, seed=1)
    assert cf.Intruder(knows=["occupation"]).attack(named).treatments[0].why == "named"


def test_utility_says_it_beside_the_value() -> None:
    release = cf.Plan([cf.Noise("age", sd=2)]).protect(FILE, seed=1)
    said = "taken as numbers, though they look like codes: occupation"
    assert cf.utility(release, ["means"])["detail"][0].endswith(said)
    assert said not in cf.utility(release, ["total_variation"])["detail"][0]
    named = cf.Plan([cf.Noise("age", sd=2)], numeric=["occupation"]).protect(FILE, seed=1)
    assert said not in cf.utility(named, ["means"])["detail"][0]


def test_kinds_and_results_stay_what_they_were() -> None:
    release = cf.Plan([]).protect(FILE, seed=1)
    assert release.before.column("occupation").kind == "numeric"
    assert release.before.column("district").kind == "categorical"
