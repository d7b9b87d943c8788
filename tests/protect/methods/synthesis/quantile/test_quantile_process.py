"""The whole quantile process against linear programs, statsmodels, and properties that every best line has.

Losses are compared, never coefficients: a best line need not be unique.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import confide as cf
from confide.protect.methods.synthesis.quantile import solver as quantile_process
from confide.protect.methods.synthesis.quantile.solver import check_loss, fit_process

LEVELS = np.array([1e-4, 0.05, 0.25, 0.5, 0.6, 0.9, 1 - 1e-4])


def reference(x: np.ndarray, y: np.ndarray, tau: float) -> float:
    """The least loss, by HiGHS, from the primal program."""
    n, p = x.shape
    cost = np.concatenate([np.zeros(p), np.full(n, tau), np.full(n, 1 - tau)])
    a = np.hstack([x, np.eye(n), -np.eye(n)])
    answer = linprog(cost, A_eq=a, b_eq=y, bounds=[(None, None)] * p + [(0, None)] * (2 * n), method="highs")
    assert answer.status == 0
    return check_loss(x, y, answer.x[:p], tau)


def losses(x: np.ndarray, y: np.ndarray, taus: np.ndarray) -> np.ndarray:
    beta = fit_process(x, y, taus)
    assert beta.shape == (x.shape[1], len(taus))
    assert np.isfinite(beta).all()
    return np.array([check_loss(x, y, beta[:, k], tau) for k, tau in enumerate(taus)])


def agrees(x: np.ndarray, y: np.ndarray, taus: np.ndarray = LEVELS) -> None:
    """Our losses are not above those of the linear program, nor below by more than its tolerance."""
    ours = losses(x, y, taus)
    best = np.array([reference(x, y, tau) for tau in taus])
    rounding = 1e-13 * np.abs(y).sum()
    assert (ours <= best * (1 + 1e-9) + rounding).all()
    assert (ours >= best * (1 - 1e-6) - rounding).all()


def design(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))])
    return x, x @ rng.normal(size=p) + (1 + 0.5 * np.abs(x[:, -1])) * rng.standard_t(3, size=n)


def heads() -> tuple[np.ndarray, np.ndarray]:
    """Household income on an intercept, age, its square, household size, sex, education, tenure and marriage."""
    d = cf.demo("heads")
    age, educ = d["age"].to_numpy().astype(float), d["educ"].to_physical().to_numpy()
    flags = [educ == 8, (educ == 9) | (educ == 10), educ == 11, educ >= 12]
    flags += [(d[c] == v).to_numpy() for c, v in (("sex", "female"), ("tenure", "rented"))]
    flags += [(d["marital"] == "married, spouse present").to_numpy()]
    x = np.column_stack([np.ones(d.height), age, age**2, d["n_persons"].to_numpy(), *flags]).astype(float)
    return x, d["hh_income"].to_numpy().astype(float)


def test_check_loss_by_hand():
    x, y = np.ones((3, 1)), np.array([0.0, 1.0, 5.0])
    assert check_loss(x, y, np.array([1.0]), 0.25) == pytest.approx(0.25 * 4 + 0.75 * 1)


def test_an_intercept_alone_gives_sample_quantiles():
    y = np.random.default_rng(0).normal(size=101)
    b = fit_process(np.ones((101, 1)), y, np.array([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(b[0], np.sort(y)[[10, 50, 90]], rtol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(30, 2), (80, 4), (200, 6), (300, 12)])
def test_linear_program(n, p):
    agrees(*design(n, p, n))


def test_statsmodels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sm = pytest.importorskip("statsmodels.api")
        warnings.simplefilter("ignore")  # again: the import sets filters of its own
        taus = np.array([0.05, 0.3, 0.5, 0.8, 0.95])
        for n, p in ((200, 3), (2000, 6)):
            x, y = design(n, p, n + 1)
            theirs = [check_loss(x, y, np.asarray(sm.QuantReg(y, x).fit(q=t, max_iter=5000).params), t) for t in taus]
            ours = losses(x, y, taus)
            assert (ours <= np.array(theirs) * (1 + 1e-9)).all()
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_dependent_constant_and_badly_scaled_columns():
    x, y = design(120, 4, 5)
    full = losses(x, y, LEVELS)
    wide = np.column_stack([x, x[:, 1] - 2 * x[:, 2], np.full(120, -3.0), np.zeros(120), x[:, 3] * 1e9])
    np.testing.assert_allclose(losses(wide, y, LEVELS), full, rtol=1e-9)
    beta = fit_process(wide, y, LEVELS)
    assert (np.count_nonzero(beta, axis=0) <= 4).all()
    assert (beta[6] == 0).all()
    scaled = x * np.array([1.0, 1e-9, 1e7, 1.0]) + np.array([0.0, 0.0, 0.0, 1e4])
    np.testing.assert_allclose(losses(scaled, y, LEVELS), full, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e150])
def test_scale_of_the_outcome(scale):
    x, y = design(100, 3, 7)
    np.testing.assert_allclose(losses(x, y * scale, LEVELS) / scale, losses(x, y, LEVELS), rtol=1e-9)


def test_far_from_zero():
    x, y = design(100, 3, 8)
    np.testing.assert_allclose(losses(x, y + 1e9, LEVELS), losses(x, y, LEVELS), rtol=1e-4)


def test_no_intercept():
    x, y = design(100, 4, 9)
    agrees(x[:, 1:], y)


def test_ties_and_duplicated_rows():
    rng = np.random.default_rng(10)
    x = np.column_stack([np.ones(150), rng.integers(0, 3, (150, 3))]).astype(float)
    y = rng.integers(0, 4, 150).astype(float)
    agrees(x, y)
    agrees(np.tile(x[:7], (20, 1)), np.tile(y[:7], 20))


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_zero_heavy_outcome(share):
    x, y = design(200, 4, 11)
    agrees(x, np.where(np.random.default_rng(1).random(200) < share, 0.0, np.exp(y)))
    agrees(x, np.maximum(y, np.quantile(y, share)))


def test_constant_outcome_and_perfect_fit():
    x, _ = design(60, 4, 12)
    assert losses(x, np.full(60, 7.0), LEVELS).max() == 0
    assert losses(x, x @ np.array([1.0, 2.0, 3.0, 4.0]), LEVELS).max() < 1e-11
    assert losses(x, np.zeros(60), LEVELS).max() == 0


def test_fewer_records_than_columns():
    rng = np.random.default_rng(13)
    for n in (1, 2, 5):
        x = np.column_stack([np.ones(n), rng.normal(size=(n, 8))])
        assert losses(x, rng.normal(size=n), LEVELS).max() < 1e-12
    assert fit_process(np.zeros((1, 1)), np.ones(1), LEVELS).tolist() == [[0.0] * len(LEVELS)]


def test_one_outlier_does_not_hide_the_others():
    x, y = design(100, 3, 14)
    wild = y.copy()
    wild[y.argmax()] = 1e13
    calm, tau = fit_process(x, y, np.array([0.5])), np.array([0.5])
    np.testing.assert_allclose(fit_process(x, wild, tau), calm, rtol=1e-6)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="finite"):
        fit_process(np.ones((2, 1)), np.array([1.0, np.nan]), LEVELS)
    with pytest.raises(ValueError, match="levels"):
        fit_process(np.ones((2, 1)), np.ones(2), np.array([0.0, 0.5]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["continuous", "zeros", "whole numbers", "almost perfect", "no intercept"])
def test_band_equals_plain(kind, monkeypatch):
    x, y = design(20_000, 5, 15)
    if kind == "zeros":
        y = np.where(np.random.default_rng(2).random(len(y)) < 0.4, 0.0, np.exp(y))
    elif kind == "whole numbers":
        x, y = np.round(x), np.round(y)
    elif kind == "almost perfect":
        y = np.where(np.arange(len(y)) < 200, y, x @ np.arange(5.0))
    elif kind == "no intercept":
        x = x[:, 1:]
    taus = np.array([1e-4, 0.02, 0.03, 0.3, 0.31, 0.32, 0.5, 0.51, 0.9, 0.97, 0.99])
    banded = losses(x, y, taus)
    monkeypatch.setattr(quantile_process, "SMALL", len(y))
    plain = losses(x, y, taus)
    np.testing.assert_allclose(banded, plain, rtol=1e-9)


def test_a_bad_band_is_repaired(monkeypatch):
    """With far too narrow bands the signs are wrong at first, and the answer is still exact."""
    x, y = design(6000, 4, 16)
    taus = np.array([0.2, 0.21, 0.5, 0.52, 0.8])
    fit, narrow = quantile_process.Band.fit, []

    def narrower(self, tau, guess, width):
        narrow.append(width)
        return fit(self, tau, guess, 40)

    with monkeypatch.context() as m:
        m.setattr(quantile_process.Band, "fit", narrower)
        banded = losses(x, y, taus)
    assert len(narrow) == len(taus)
    monkeypatch.setattr(quantile_process, "SMALL", len(y))
    np.testing.assert_allclose(banded, losses(x, y, taus), rtol=1e-10)


def test_highs_takes_over_when_the_interior_point_stalls(monkeypatch):
    x, y = design(80, 3, 17)
    expected = losses(x, y, LEVELS)
    monkeypatch.setattr(quantile_process, "_interior", lambda *_: iter(()))
    np.testing.assert_allclose(losses(x, y, LEVELS), expected, rtol=1e-7)


def test_same_data_same_lines():
    x, y = design(5000, 4, 18)
    taus = np.linspace(0.05, 0.95, 19)
    np.testing.assert_array_equal(fit_process(x, y, taus), fit_process(x.copy(), y.copy(), taus))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_never_above_the_linear_program(data):
    n, p = data.draw(st.integers(1, 14)), data.draw(st.integers(1, 4))
    whole = st.integers(-3, 3)
    x = np.array(data.draw(st.lists(st.lists(whole, min_size=p, max_size=p), min_size=n, max_size=n)), dtype=float)
    y = np.array(data.draw(st.lists(whole, min_size=n, max_size=n)), dtype=float)
    if data.draw(st.booleans()):
        x[:, 0] = 1.0
    again = data.draw(st.lists(st.integers(0, n - 1), max_size=8))
    x, y = np.vstack([x, x[again]]), np.append(y, y[again])
    tau = data.draw(st.sampled_from([1e-4, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1 - 1e-4]))
    ours, best = losses(x, y, np.array([tau]))[0], reference(x, y, tau)
    assert ours <= best * (1 + 1e-9) + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 60), st.integers(1, 5), st.booleans(), st.floats(0.01, 0.99))
def test_counts_below_the_line(seed, n, p, whole, tau):
    """With an intercept, #(r < 0) <= n tau <= #(r <= 0)."""
    x, y = design(n, p, seed)
    if whole:
        x, y = np.round(x), np.round(y)
    r = y - x @ fit_process(x, y, np.array([tau]))[:, 0]
    zero = 1e-9 * (1 + np.abs(y).max())
    assert np.count_nonzero(r < -zero) <= n * tau * (1 + 1e-12) + 1e-9
    assert np.count_nonzero(r <= zero) >= n * tau * (1 - 1e-12) - 1e-9


def test_counts_and_coverage_on_real_data():
    """On the half that was fitted the counts hold exactly; on the other half the share below is near tau."""
    x, y = heads()
    taus = np.append(np.arange(1, 20) / 20, [0.99])
    half = np.random.default_rng(19).random(len(y)) < 0.5
    beta = fit_process(x[half], y[half], taus)
    inside, outside = (y[s][:, None] - x[s] @ beta for s in (half, ~half))
    assert ((inside < -1e-4).sum(axis=0) <= len(inside) * taus).all()
    assert ((inside <= 1e-4).sum(axis=0) >= len(inside) * taus).all()
    error = np.sqrt(taus * (1 - taus) / len(outside))
    assert (np.abs((outside < 0).mean(axis=0) - taus) < 5 * error).all()
