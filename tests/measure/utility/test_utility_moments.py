"""Means, variances, covariances, correlations, eigenvalues, IL1s and 1/MSE against numpy, and what they promise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import InputError
from confide.measure.utility.estimates import InverseMse
from confide.measure.utility.information_loss import InformationLoss
from confide.measure.utility.moments import Correlations, Covariances, Eigenvalues, Means, Variances
from confide.measure.utility.run import utility

some = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
XYZ = ["x", "y", "z"]


def file(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(50, 9, n)
    return pl.DataFrame(
        {
            "x": x,
            "y": 0.5 * x + rng.normal(0, 5, n),
            "z": rng.lognormal(3, 1, n),
            "g": rng.choice(["a", "b", "c"], n),
            "w": rng.integers(1, 5, n),
        }
    )


def moved(frame, seed=1):
    rng = np.random.default_rng(seed)
    return frame.with_columns([pl.col(v) + pl.Series(rng.normal(1, 4, frame.height)) for v in XYZ])


def arrays(frame, weighted):
    return frame.select(XYZ).to_numpy(), frame["w"].to_numpy() if weighted else np.ones(frame.height)


def by_hand(a, wa, b, wb):
    """Every measure from its formula."""
    ma, mb = np.average(a, axis=0, weights=wa), np.average(b, axis=0, weights=wb)
    ca, cb = (np.cov(x, rowvar=False, aweights=w, ddof=0) for x, w in ((a, wa), (b, wb)))
    s = np.sqrt(np.diag(ca))
    up = np.triu_indices(3, 1)
    ra, rb = ca / np.outer(s, s), cb / np.sqrt(np.outer(np.diag(cb), np.diag(cb)))
    ea, eb = (np.sort(np.linalg.eigvals(c / np.outer(s, s)).real) for c in (ca, cb))
    return {
        Means: np.mean(np.abs(mb - ma) / s),
        Variances: np.mean(np.abs(np.diag(cb) / np.diag(ca) - 1)),
        Covariances: np.mean((np.abs(cb - ca) / np.outer(s, s))[up]),
        Correlations: np.mean(np.abs(rb - ra)[up]),
        Eigenvalues: np.abs(eb - ea).sum() / 3,
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", [Means, Variances, Covariances, Correlations, Eigenvalues])
def test_formulas(measure, weighted):
    y, z = file(), moved(file())
    expected = by_hand(*arrays(y, weighted), *arrays(z, weighted))[measure]
    assert measure(XYZ)(y, z, weight="w" if weighted else None) == pytest.approx(expected, rel=1e-9)
    assert expected > 0.005


EVERY = [Means, Variances, Covariances, Correlations, Eigenvalues, InformationLoss]


@pytest.mark.parametrize("measure", EVERY)
def test_identical_files_row_order_and_repeated_rows(measure):
    y, z = file(), moved(file())
    link = np.arange(400)
    best = measure(XYZ)
    assert best(y, y, link=link) == pytest.approx(best.best, abs=1e-12)
    order = np.random.default_rng(3).permutation(400)
    assert best(y, z[order], link=order) == pytest.approx(best(y, z, link=link), rel=1e-9)
    rows = np.repeat(np.arange(400), y["w"].to_numpy())
    repeated = best(y[rows], z[rows], link=np.arange(len(rows)))
    assert best(y, z, weight="w", link=link) == pytest.approx(repeated, rel=1e-9)
    assert best(y, z, weight="w", link=link) == pytest.approx(
        best(*(f.with_columns(pl.col("w") * 0.01) for f in (y, z)), weight="w", link=link), rel=1e-9
    )


def test_records_that_are_not_released_count_as_lost_by_il1s():
    y = file()
    found = [
        cf.utility(cf.Plan([cf.Sample(f)]).protect(y, seed=1), [InformationLoss(XYZ)]) for f in (0.99, 0.5, 0.1, 0.01)
    ]
    assert [f["value"].item() for f in found] == pytest.approx([0.01, 0.5, 0.9, 0.99])
    assert "200 of 400 records not released, which count 1" in found[1]["detail"].item()
    w, x = y["w"].to_numpy(), y["x"].to_numpy()
    s = np.sqrt(2 * np.average((x - np.average(x, weights=w)) ** 2, weights=w))
    half = y[:200].with_columns(pl.col("x") + 0.1 * s)
    slow = (0.1 * w[:200].sum() + w[200:].sum()) / w.sum()
    assert InformationLoss("x")(y, half, link=np.arange(200), weight="w") == pytest.approx(slow)
    gaps = y.with_columns(x=pl.when(pl.int_range(pl.len()) >= 300).then(None).otherwise(pl.col("x")))
    assert InformationLoss("x")(gaps, gaps[:150], link=np.arange(150)) == pytest.approx(0.5)


def test_il1s_is_the_formula_and_needs_the_link():
    y, z = file(), moved(file())
    a, b = y.select(XYZ).to_numpy(), z.select(XYZ).to_numpy()
    expected = np.mean(np.abs(a - b) / (np.sqrt(2) * a.std(axis=0)))
    assert InformationLoss(XYZ)(y, z, link=np.arange(400)) == pytest.approx(expected)
    with pytest.raises(InputError, match="needs the link"):
        InformationLoss(XYZ)(y, z)
    plan = cf.Plan([cf.Noise("x", sd=3)])
    release = plan.protect(file(), seed=1)
    found = utility(release, [InformationLoss("x")])["value"].item()
    change = np.abs(release.data["x"].to_numpy() - file()["x"].to_numpy()[release.link])
    assert found == pytest.approx(change.mean() / (np.sqrt(2) * file()["x"].std(ddof=0)))


def test_missing_values_are_left_out():
    y, z = file(), moved(file())
    gaps = y.with_columns(pl.when(pl.int_range(400) < 50).then(None).otherwise(pl.col("x")).alias("x"))
    mean, sd = y["x"][50:].mean(), y["x"][50:].std(ddof=0)
    assert Means("x")(gaps, z) == pytest.approx(abs(z["x"].mean() - mean) / sd)
    assert Covariances(XYZ)(gaps, z) == pytest.approx(Covariances(XYZ)(y[50:], z))
    assert InformationLoss("x")(gaps, z, link=np.arange(400)) == pytest.approx(
        np.abs(z["x"] - y["x"])[50:].mean() / (np.sqrt(2) * sd)
    )


def test_one_over_mse():
    y, z = file(), moved(file())
    n, v = 400, y["x"].var() / 400
    error = (z["x"].mean() - y["x"].mean()) ** 2
    assert InverseMse("mean(x)")(y, z) == pytest.approx(v / (v + error))
    assert InverseMse("mean(x)", relative=False)(y, z) == pytest.approx(1 / (v + error))
    assert InverseMse("mean(x)", relative=False)(y, y) == pytest.approx(n / y["x"].var())
    share = (y["g"] == "a").mean()
    assert InverseMse('share(g, "a")', relative=False)(y, y) == pytest.approx((n - 1) / (share * (1 - share)))
    both = InverseMse(["mean(x)", 'share(g, "a")'])(y, z)  # the share is as it was
    assert both == pytest.approx(1 / np.mean([(v + error) / v, 1]))
    own = InverseMse({"my mean": lambda f: (f["x"].mean(), f["x"].var() / f.height)})
    assert own(y, z) == pytest.approx(v / (v + error))


TEXTS = [
    "mean(x)", "variance(x)", "sd(x)", "median(x)", "quantile(z, 0.9)", "covariance(x, y)", "correlation(x, y)",
    "ratio(x, y)", 'share(g, "a")',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_variances_of_estimates_are_those_of_repeated_samples(text):
    estimates, claimed = [], []
    for seed in range(250):
        y = file(300, seed)
        u = InverseMse(text, relative=False)(y, y)
        claimed.append(1 / u)
        estimates.append(_estimate(text, y))
    assert np.mean(claimed) == pytest.approx(np.var(estimates), rel=0.5 if "quantile" in text else 0.3)


def _estimate(text, f):
    x, y, z = (f[v].to_numpy() for v in XYZ)
    return {
        "mean(x)": x.mean(), "variance(x)": x.var(), "sd(x)": x.std(), "median(x)": np.median(x),
        "quantile(z, 0.9)": np.quantile(z, 0.9), "covariance(x, y)": np.cov(x, y)[0, 1],
        "correlation(x, y)": np.corrcoef(x, y)[0, 1], "ratio(x, y)": x.mean() / y.mean(),
        'share(g, "a")': (f["g"] == "a").mean(),
    }[text]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_estimates_do_not_change_with_identical_files_or_row_order(text):
    y, z = file(), moved(file())
    assert InverseMse(text)(y, y) == 1.0
    assert InverseMse(text)(y[::-1], z) == pytest.approx(InverseMse(text)(y, z), rel=1e-9)
    assert 0 < InverseMse(text)(y, z, weight="w") <= 1


@some
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_ranges(seed, n):
    rng = np.random.default_rng(seed)
    y = pl.DataFrame({"x": rng.choice([0.0, 1.0, 1e6, -3.5], n) + np.arange(n), "y": rng.normal(size=n)})
    z = pl.DataFrame({"x": rng.choice([0.0, 2.0], n), "y": rng.normal(size=n)})
    assume(y["x"].n_unique() > 1)  # without spread there is nothing to scale by
    for m in (Means(["x", "y"]), Variances(["x", "y"]), Covariances(["x", "y"]), Correlations(["x", "y"]),
              Eigenvalues(["x", "y"]), InverseMse(["mean(x)", "median(y)"])):  # fmt: skip
        found = m(y, z)
        assert m.range[0] <= found <= m.range[1]
        assert np.isfinite(found)


def test_duncan_and_keller_mcnulty_noise():
    """In expectation 1/MSE of a mean under noise is n / (sigma^2 + lambda^2)."""
    y = file(2000)
    sigma2, lam = y["x"].var(), 6.0
    inverse = []
    for seed in range(400):
        z = y.with_columns(pl.col("x") + np.random.default_rng(seed).normal(0, lam, 2000))
        inverse.append(1 / InverseMse("mean(x)", relative=False)(y, z))
    assert 1 / np.mean(inverse) == pytest.approx(2000 / (sigma2 + lam**2), rel=0.05)


def test_sentences():
    y, z = file(), moved(file())
    for call, words in [
        (lambda: Means("g")(y, z), "holds text"),
        (lambda: Means("q")(y, z), 'no column "q"'),
        (lambda: Means("x")(y.with_columns(pl.lit(1.0).alias("x")), z), "one value only"),
        (lambda: Covariances("x")(y, z), "2 or more"),
        (lambda: Means("x")(y.with_columns(pl.lit(None, dtype=pl.Float64).alias("x")), z), "one value only, or none"),
        (lambda: Means("x")(y, z, weight="v"), 'no weight "v"'),
        (lambda: Means("x")(y.with_columns(-pl.col("w")), z, weight="w"), "missing or negative in 400 rows"),
        (lambda: Means("x")(y, z, weight="g"), "not numbers"),
        (lambda: InformationLoss("x")(y, z, link=[0, 1]), "one original row number"),
        (lambda: InverseMse("mode(x)"), 'no "mode"'),
        (lambda: InverseMse("mean(x"), "expected"),
        (lambda: InverseMse("quantile(x, 3)"), "share between 0 and 1"),
        (lambda: InverseMse(["mean(x)", "mean(y)"], relative=False), "different units"),
        (lambda: InverseMse('share(g, "q")')(y, z), "no category"),
        (lambda: InverseMse({"a": lambda f: f.height})(y, z), "must give"),
        (lambda: Means(["x", "x"]), "twice"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=words):
            call()


def test_what_a_release_has_lost_counts_at_the_worst_value():
    y, z = file(), moved(file())
    for gone, why in [
        (z.drop("x"), "not released"),
        (z.with_columns(pl.lit("a").alias("x")), "no plan says what they stand for"),
        (z.with_columns(pl.lit(None, dtype=pl.Float64).alias("x")), "no value"),
        (z.with_columns(pl.lit(7.5).alias("x")), "one value only"),
    ]:
        for measure in (m("x") for m in (Means, Variances, Eigenvalues, InformationLoss)):
            assert measure(y, gone, link=np.arange(400)) == measure.worst == 1
        found = utility(cf.Release.adopt(y, gone, link=np.arange(400)), [Covariances(XYZ), "means"])
        assert f"x ({why}" in found["detail"][0] or why in found["detail"][0]
        assert found["lost"].to_list() == ["x with y, x with z", "x"]
        kept = Covariances(["y", "z"])(y, z)
        assert found["value"][0] == pytest.approx((kept + 2 * 2) / 3)
