"""Calibration where two numbers that depend on each other are known together: income and a tax with kinks."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf

pytestmark = pytest.mark.slow
LABELS = ["sex", "age", "region"]


def taxpayers(n: int, seed: int) -> pl.DataFrame:
    """Income with ties and zeros; a tax that is a kinked function of it and a little more; labels related to both."""
    rng = np.random.default_rng(seed)
    sex, age, region = rng.integers(0, 2, n), rng.integers(0, 6, n), rng.integers(0, 5, n)
    level = 10 + 0.25 * sex + 0.12 * np.minimum(age, 4) - 0.1 * (age == 5) + 0.08 * region
    income = np.exp(level + 0.6 * rng.standard_normal(n))
    income = np.where(rng.random(n) < 0.5, np.round(income, -3), np.round(income, -1))
    income[rng.random(n) < 0.08 + 0.06 * (sex == 0)] = 0
    tax = 0.2 * np.maximum(income - 8000 - 3000 * (age > 3), 0) + 0.2 * np.maximum(income - 40_000, 0)
    noisy = np.maximum(tax * (1 + 0.05 * rng.standard_normal(n)) + rng.normal(0, 150, n), 0)
    tax = np.round(np.where(tax > 0, noisy, 0), -1)
    names = {"sex": sex, "age": age, "region": region}
    labels = {v: pl.Series([f"{v}{code}" for code in codes]).cast(pl.Categorical) for v, codes in names.items()}
    return pl.DataFrame({"id": np.arange(n), **labels, "income": income, "tax": tax})


def noise(relative: float, **more: object) -> list[cf.Noise]:
    return [cf.Noise(v, relative=relative, bounds=(0, None), **more) for v in ("income", "tax")]


PLANS = {
    "small noise": noise(0.05),
    "noise": noise(0.1),
    "large noise": noise(0.5),
    "noise that leaves zeros": noise(0.1, keep_zeros=True),
    "correlated noise": [cf.Noise(["income", "tax"], relative=0.2, correlation=0.7)],
    "rank swaps": [cf.RankSwap(["income", "tax"], window=120)],
    "swaps": [cf.Swap("income", rate=0.7), cf.Swap("tax", rate=0.7)],
    "noise and rank swap": [cf.Noise("income", relative=0.1, bounds=(0, None)), cf.RankSwap("tax", window=120)],
    "noise and swap": [cf.Noise("income", relative=0.1, bounds=(0, None)), cf.Swap("tax", rate=0.3)],
}


@pytest.mark.parametrize("known", [True, False], ids=["labels known", "numbers alone"])
@pytest.mark.parametrize("name", PLANS)
def test_income_and_tax_together(name: str, known: bool) -> None:
    who = cf.Intruder(knows=[*(LABELS if known else []), "income", "tax"])
    units = []
    for seed in range(6):
        release = cf.Plan(PLANS[name], identifiers=["id"]).protect(taxpayers(2400, 300 + seed), seed=seed)
        units.append(who.attack(release, progress=False).units)
    result = cf.calibrate(units)
    # Who knows the numbers alone has one block of few neighbours, in which a record's own values count too much for how
    # common they are: claims are some percent too low.
    assert -3 < result.z < (3 if known else 4.5), result
