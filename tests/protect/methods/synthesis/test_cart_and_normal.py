"""CartSynthesis and NormalSynthesis: what they draw."""

import numpy as np
import polars as pl
import pytest

import confide as cf


def file(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    sex = rng.choice(["f", "m"], n)
    own = np.where(rng.random(n) < 0.2 + age / 120, "owned", "rented")
    income = (500 * age * (1 + 0.4 * rng.standard_normal(n)) + 9_000 * (own == "owned")).round().astype(int)
    return pl.DataFrame({"age": age, "sex": sex, "own": own, "income": income})


def released(y, *steps, seed=1, **options):
    release = cf.Plan(list(steps), **options).protect(y, seed=seed)
    return release.data[np.argsort(release.link)]


def test_cart_draws_numbers_and_categories_that_occur():
    y = file()
    z = released(y, cf.CartSynthesis("own", given=["age", "sex"]), cf.CartSynthesis("income", given=["age", "own"]))
    assert set(z["income"]) <= set(y["income"])
    for value in ("owned", "rented"):
        a, b = ((f["own"] == value).to_numpy() for f in (y, z))
        assert abs(np.corrcoef(a, y["age"])[0, 1] - np.corrcoef(b, y["age"])[0, 1]) < 0.06
    means = [[f.filter(pl.col("own") == v)["income"].mean() for v in ("owned", "rented")] for f in (y, z)]
    assert np.allclose(means[0], means[1], rtol=0.06)


def test_cart_leaves_are_as_large_as_asked():
    y = file(500)
    plan = cf.Plan([cf.CartSynthesis("income", given=["age", "sex"], leaf=20)])
    tree = plan.protect(y, seed=1).compiled.fitted[0].tree
    assert np.diff(tree.starts).min() >= 20
    rows = tree.leaves(plan.encode(y))
    for leaf in np.unique(rows):  # the values of a leaf are those of the records that lead to it, sorted
        inside = np.sort(y["income"].to_numpy()[rows == leaf])
        assert np.array_equal(tree.values[tree.starts[leaf] : tree.starts[leaf + 1]], inside)


def test_missing_values_and_no_predictors():
    y = file(900).with_columns(
        income=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("income"),
        own=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise("own"),
    )
    z = released(y, cf.CartSynthesis("own"), cf.CartSynthesis("income", given=["own", "age"]))
    assert abs(z["income"].null_count() / 900 - 1 / 3) < 0.06
    assert z["own"].null_count() == 225  # one leaf, of which each value is drawn once


def test_normal_has_the_moments_of_the_regression():
    y = file(20_000)
    z = released(y, cf.NormalSynthesis("income", given=["age", "sex", "own"]))
    for f in (lambda d: np.polyfit(d["age"], d["income"], 1), lambda d: [d["income"].std()]):
        assert np.allclose(f(y), f(z), rtol=0.05, atol=300)


def test_nothing_piles_up_at_the_ends_of_the_range():
    y = pl.DataFrame({"x": np.random.default_rng(1).exponential(10, 3000).round(2)})
    z = released(y, cf.NormalSynthesis("x"))
    assert z["x"].is_between(y["x"].min(), y["x"].max()).all()
    assert (z["x"] == y["x"].min()).sum() < 5


def test_normal_by_ranks_keeps_a_skewed_distribution():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(5000)
    y = pl.DataFrame({"x": x, "pay": np.exp(10 + x + rng.standard_normal(5000)).round().astype(int)})
    z = released(y, cf.NormalSynthesis("pay", given="x", scale="ranks"))
    a, b = (np.quantile(f["pay"], [0.05, 0.25, 0.5, 0.75, 0.95]) for f in (y, z))
    assert np.allclose(np.log(a), np.log(b), atol=0.12)
    assert abs(np.corrcoef(x, np.log(y["pay"]))[0, 1] - np.corrcoef(x, np.log(z["pay"] + 1))[0, 1]) < 0.03


@pytest.mark.slow
def test_parameters_are_drawn_once_a_copy():
    """The mean of a copy has the variance alpha^2 + sigma^2/n of Duncan and Keller-McNulty's hierarchical model."""
    n = 400
    y = pl.DataFrame({"x": np.random.default_rng(0).normal(100, 10, n)})
    means = {}
    for name, step in {
        "estimates": cf.NormalSynthesis("x", draw=False), "posterior": cf.NormalSynthesis("x"),
        "stated": cf.NormalSynthesis("x", alpha=2.0),
    }.items():  # fmt: skip
        copies = cf.Plan([step]).protect(y, seed=3, copies=150)
        means[name] = np.var([c["x"].mean() for c in copies.data])
    sigma2 = y["x"].var() / n
    for name, expected in {"estimates": sigma2, "posterior": 2 * sigma2, "stated": 4 + sigma2}.items():
        assert abs(means[name] / expected - 1) < 0.3, name  # 150 copies: the variance is known to 12 percent


MISTAKES = {
    "leaf": (lambda: cf.CartSynthesis("income", leaf=0), "from 1 upwards"),
    "draw": (lambda: cf.CartSynthesis("income", draw=True), "draw is 'even', 'independent' or 'bootstrap'"),
    "smooth": (lambda: cf.CartSynthesis("income", smooth="yes"), "smooth is true or false"),
    "scale": (lambda: cf.NormalSynthesis("income", scale="log"), '"values" or "ranks"'),
    "alpha with predictors": (lambda: cf.NormalSynthesis("income", given="age", alpha=1.0), "without given"),
    "alpha": (lambda: cf.NormalSynthesis("income", alpha=0), "above zero"),
    "itself": (lambda: cf.CartSynthesis("own", given=["own"]), "cannot be predicted from itself"),
    "category": (lambda: released(file(50), cf.NormalSynthesis("own", given="age")), "numbers are needed"),
    "missing": (
        lambda: released(file(50).with_columns(own=pl.lit(None, pl.String)), cf.CartSynthesis("own", given="age")),
        "missing in every record",
    ),
    "too many predictors": (
        lambda: released(file(2), cf.NormalSynthesis("income", given="age"), numeric=["age"]),
        "Name fewer predictors",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()
