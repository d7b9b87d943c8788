"""Gauss rules by series are those made directly."""

from __future__ import annotations

import numpy as np
import pytest

import confide as cf
from confide.protect.methods.measurement_error import rule_series
from confide.protect.methods.measurement_error.variances import Variances


@pytest.mark.parametrize("bias", [cf.Gamma(400, 5000), cf.Gamma(40, 4e5)])
@pytest.mark.parametrize("spread", [0.5, 40.0])
def test_series_give_the_rules(monkeypatch: pytest.MonkeyPatch, bias: cf.Gamma, spread: float) -> None:
    belief = Variances.of(cf.Gamma(400, 3.5), bias)
    z = np.random.default_rng(1).normal(30, spread, 700)
    quick = belief.rules(z)
    found = rule_series.rules_by_series(
        z, belief.p @ belief.noise, belief.p @ belief.bias, lambda some: belief._rule(some, belief._form_needed(z))
    )
    assert found is not None
    np.testing.assert_array_equal(found[0], quick[0])
    monkeypatch.setattr(rule_series, "FEWEST", 10**9)
    for ours, direct in zip(quick, belief.rules(z), strict=True):
        np.testing.assert_allclose(ours, direct, rtol=2e-11)


@pytest.mark.parametrize("z", [np.full(600, 3.0), np.linspace(1e9, 2e9, 600), np.array([*np.ones(600), np.inf])])
def test_no_series_where_none_will_do(z: np.ndarray) -> None:
    belief = Variances.of(cf.Gamma(400, 3.5), cf.Gamma(400, 5000))
    assert rule_series.rules_by_series(z, 100.0, 0.08, lambda some: belief._rule(some, (1, 10))) is None
