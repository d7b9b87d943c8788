"""Where nobody can be absent, what targets are without helpers is not fitted: it is the same for all their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.engine import fit as fits
from confide.core.run.memory import forget

KEYS = ["sex", "race", "marital"]
STEPS = [cf.Swap("race", rate=0.3), cf.Noise("property_value", relative=0.1)]


def attack(**options: Any) -> cf.Attack:
    forget()
    data = cf.demo("heads").head(400).select("id", *KEYS, "tenure", "property_value")
    release = cf.Plan(STEPS, identifiers=["id"]).protect(data, seed=1)
    return cf.Intruder.at("exact", knows=[*KEYS, "property_value"], **options).attack(release, progress=False)


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of every fit, whether targets by themselves were fitted."""
    seen: list[bool] = []
    made = fits._believe

    def believe(*given: Any) -> fits.Believed:
        seen.append((found := made(*given)).compared)
        return found

    monkeypatch.setattr(fits, "_believe", believe)
    return seen


def test_posteriors_are_those_of_a_full_fit(monkeypatch: pytest.MonkeyPatch, fitted: list[bool]) -> None:
    fewer = attack()
    assert fitted == [False]
    monkeypatch.setattr(fits, "_compared", lambda _: True)
    full = attack()
    assert fitted == [False, True]
    for name in ("p_true", "p_max", "n_max", "hit", "as_likely", "rank", "p_absent"):
        one, other = (a.frame[name].cast(pl.Float64).to_numpy() for a in (fewer, full))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12, err_msg=name)
    for target in (0, 7):
        np.testing.assert_allclose(fewer.posterior(target)["p"], full.posterior(target)["p"], rtol=0, atol=1e-12)


def test_beside_absence_it_is_fitted(fitted: list[bool]) -> None:
    attack(membership="in_file")
    assert fitted == [True]
