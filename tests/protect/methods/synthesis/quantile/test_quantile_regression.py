"""QuantileRegression: what it draws."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf


def file(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.integers(18, 90, n)
    wage = np.where(rng.random(n) < 0.35, 0, np.exp(9 + 0.01 * age + 0.5 * rng.standard_normal(n)).round())
    wealth = (20_000 + 500 * age * (1 + 0.5 * rng.standard_normal(n))).round()
    return pl.DataFrame({"sex": sex, "age": age, "wage": wage.astype(int), "wealth": wealth.astype(int)})


def released(y, *steps, seed=1, **options):
    """Released rows in the order of the original, so that they can be compared."""
    release = cf.Plan(list(steps), **options).protect(y, seed=seed)
    return release.data[np.argsort(release.link)]


def test_conditional_quantiles_of_the_release_are_those_of_the_file():
    y = file(20_000)
    z = released(y, cf.QuantileRegression("wealth", given=["sex", "age"]))
    for low, high in [(20, 30), (50, 60), (80, 90)]:
        cell = y["age"].is_between(low, high).to_numpy()
        for q in (0.05, 0.25, 0.5, 0.75, 0.95):
            a, b = np.quantile(y["wealth"].to_numpy()[cell], q), np.quantile(z["wealth"].to_numpy()[cell], q)
            spread = y["wealth"].to_numpy()[cell].std()
            assert abs(a - b) < 0.12 * spread, (low, q)


def test_values_keep_precision_range_and_zeros():
    y = file()
    z = released(y, cf.QuantileRegression("wage", given=["sex", "age"]))["wage"]
    assert z.dtype == y["wage"].dtype
    assert z.min() == 0
    assert z.max() <= y["wage"].max()
    assert z.filter(z > 0).min() >= y["wage"].filter(y["wage"] > 0).min()
    assert abs((z == 0).mean() - (y["wage"] == 0).mean()) < 0.04
    cents = y.with_columns(pl.col("wealth") / 100)
    out = released(cents, cf.QuantileRegression("wealth", given="age"))["wealth"].to_numpy()
    assert np.allclose(out * 100, np.round(out * 100), atol=1e-6)


def test_tails_beyond_the_outermost_lines_are_drawn_from():
    """With lines at the quartiles alone, the tenth percentile still is where it was, and the largest values are new."""
    y = file(8000)
    z = released(y, cf.QuantileRegression("wealth", given=["sex", "age"], quantiles=3))["wealth"]
    for q in (0.05, 0.1, 0.9, 0.95):
        a, b = np.quantile(y["wealth"], q), np.quantile(z, q)
        assert abs(a - b) < 0.15 * y["wealth"].std(), q
    assert z.max() > y["wealth"].quantile(0.999)


def test_a_missing_predictor_tells_what_it_tells():
    rng = np.random.default_rng(0)
    gone = rng.random(3000) < 0.3
    age = pl.Series([None if g else int(a) for g, a in zip(gone, rng.integers(18, 90, 3000), strict=True)])
    y = pl.DataFrame({"age": age, "pay": (500.0 * gone + rng.normal(100, 5, 3000)).round(1)})
    z = released(y, cf.QuantileRegression("pay", given="age"))["pay"].to_numpy()
    assert abs(z[gone].mean() - 600) < 5
    assert abs(z[~gone].mean() - 100) < 5


def test_zeros_in_one_part_where_asked():
    y = file()
    one = released(y, cf.QuantileRegression("wage", given="age", zeros=False))["wage"]
    assert 0.1 < (one == 0).mean() < 0.6
    assert one.filter(one > 0).min() < y["wage"].filter(y["wage"] > 0).min()  # between zero and the least wage


def test_it_does_not_depend_on_the_record_but_through_what_is_given():
    y = file(6000)
    z = released(y, cf.QuantileRegression("wealth", given=["sex", "age"]))
    fitted = np.poly1d(np.polyfit(y["age"], y["wealth"], 2))(y["age"])
    left = np.corrcoef(y["wealth"] - fitted, z["wealth"] - fitted)[0, 1]
    assert abs(left) < 0.05


def test_steps_made_before_are_used_as_made():
    y = file(5000)
    first = cf.QuantileRegression("wealth", given="age")
    second = cf.QuantileRegression("wage", given=["wealth", "age"], zeros=False)
    z = released(y, first, second)
    # The release's own relation is that of the file, though every value is new.
    a = np.corrcoef(y["wealth"], y["wage"])[0, 1]
    assert abs(np.corrcoef(z["wealth"], z["wage"])[0, 1] - a) < 0.06
    assert abs(np.corrcoef(y["wealth"], z["wage"])[0, 1] - a) < 0.06  # through age alone
    alone = released(y, second)
    assert not alone["wage"].equals(z["wage"])


def test_a_recoded_predictor_is_used_in_its_released_form():
    y = file()
    z = released(y, cf.Recode("age", width=10), cf.QuantileRegression("wealth", given="age"))
    means = [z.filter(pl.col("age") == a)["wealth"].mean() for a in ("20 to 29", "70 to 79")]
    assert means[1] > 1.3 * means[0]


def test_missing_values_of_predictor_and_of_the_variable():
    y = file().with_columns(
        age=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("age"),
        sex=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("sex"),
        wealth=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise("wealth"),
    )
    z = released(y, cf.QuantileRegression("wealth", given=["sex", "age"]))
    assert abs(z["wealth"].null_count() / y.height - 0.25) < 0.04
    assert z["age"].equals(y["age"])


@pytest.mark.parametrize("given", [["age", "constant"], ["age", "twice"], ["age", "sex", "sex_again"]])
def test_constant_and_dependent_predictors_change_nothing_but_the_columns(given):
    y = file(400).with_columns(constant=pl.lit(3), twice=2 * pl.col("age"), sex_again=pl.col("sex") + "x")
    z = released(y, cf.QuantileRegression("wealth", given=given))
    assert z["wealth"].is_finite().all() if z["wealth"].dtype.is_float() else True
    assert z["wealth"].is_between(y["wealth"].min(), y["wealth"].max()).all()


def test_a_constant_variable_stays_constant():
    y = file(200).with_columns(wealth=pl.lit(7))
    assert released(y, cf.QuantileRegression("wealth", given="age"), numeric=["wealth"])[
        "wealth"
    ].unique().to_list() == [7]


@settings(max_examples=15, deadline=None)
@given(n=st.integers(12, 60), quantiles=st.integers(3, 30), seed=st.integers(0, 10))
def test_small_files(n, quantiles, seed):
    y = file(n, seed)
    step = cf.QuantileRegression("wealth", given=["sex", "age"], quantiles=quantiles)
    z = released(y, step)["wealth"]
    assert z.is_between(y["wealth"].min(), y["wealth"].max()).all()
    assert released(y, step)["wealth"].equals(z)  # the same seed


MISTAKES = {
    "two variables": (lambda: cf.QuantileRegression(["wage", "wealth"]), "takes the name of one column"),
    "zeros": (lambda: cf.QuantileRegression("wage", zeros=0.05), "zeros is true or false"),
    "a class": (lambda: cf.Plan([cf.QuantileRegression]), "without its parameters"),
    "not released": (
        lambda: cf.Plan([cf.QuantileRegression("wage", given="age")], drop=["age"]),
        'draws "wage" by "age", which is not released',
    ),
    "an identifier": (
        lambda: cf.Plan([cf.CartSynthesis("wage", given="age")], identifiers=["age"]),
        "which is an identifier",
    ),
    "itself": (lambda: cf.QuantileRegression("wage", given=["wage"]), "cannot be predicted from itself"),
    "quantiles": (lambda: cf.QuantileRegression("wage", quantiles=0.5), "quantiles is how many"),
    "no column": (lambda: released(file(50), cf.QuantileRegression("wages")), 'Did you mean "wage"'),
    "category": (lambda: released(file(50), cf.QuantileRegression("sex", given="age")), "numbers are needed"),
    "all missing": (
        lambda: released(
            file(50).with_columns(wage=pl.lit(None, pl.Int64)), cf.QuantileRegression("wage", given="age")
        ),
        "missing in every record",
    ),
    "predictor all missing": (
        lambda: released(file(50).with_columns(age=pl.lit(None, pl.Int64)), cf.QuantileRegression("wage", given="age")),
        "predicts nothing",
    ),
    "more predictors than rows": (
        lambda: released(
            file(12).with_columns(a=pl.int_range(12) // 2, b=pl.int_range(12) % 6),
            cf.QuantileRegression("wealth", given=["sex", "age", "a", "b"]),
            categorical=["a", "b"],
        ),
        "Name fewer predictors",
    ),
    "read before it is made": (
        lambda: cf.Plan([cf.QuantileRegression("wage", given="wealth"), cf.QuantileRegression("wealth", given="age")]),
        "changes afterwards",
    ),
    "twice": (lambda: cf.Plan([cf.QuantileRegression("wage"), cf.Noise("wage", sd=3)]), "altered at random twice"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()
