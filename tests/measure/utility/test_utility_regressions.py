"""Regressions: formulas read without evaluation, fits against statsmodels, overlap and differences, copies."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

import confide as cf
from confide.core.errors import InputError
from confide.measure.utility.design import design
from confide.measure.utility.fitting import fit
from confide.measure.utility.formula import read_formula
from confide.measure.utility.measure import Measure
from confide.measure.utility.pair import Pair
from confide.measure.utility.regressions import CoefficientDifference, RegressionOverlap, overlap
from confide.measure.utility.run import utility

some = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def file(n=500, seed=0):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n), rng.choice(["f", "m"], n)
    race = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    income = np.exp(9 + 0.01 * age + 0.3 * (sex == "m") + rng.normal(0, 0.6, n))
    own = rng.random(n) < 1 / (1 + np.exp(2 - 0.04 * age))
    return pl.DataFrame({"age": age, "sex": sex, "race": race, "income": income, "own": own.astype(int),
                         "w": rng.uniform(0.5, 3, n).round(2)})  # fmt: skip


def moved(frame, seed=1):
    rng = np.random.default_rng(seed)
    swapped = frame["race"].to_numpy().copy()
    at = rng.choice(frame.height, frame.height // 3, replace=False)
    swapped[at] = swapped[rng.permutation(at)]
    return frame.with_columns(pl.Series("race", swapped), pl.col("age") + pl.Series(rng.integers(-9, 10, frame.height)))


FORMULAS = [
    ("log(income) ~ age + C(race) + sex", None),
    ("income ~ age * sex", None),
    ("log(income) ~ poly(age, 2) + race:sex + race + sex", "np.log(income) ~ age + I(age**2) + race:sex + race + sex"),
    ("log1p(income) ~ 0 + race + age", "np.log1p(income) ~ 0 + race + age"),
    ("sqrt(income) ~ race + race:age - 1", "np.sqrt(income) ~ race + race:age - 1"),
    ("income ~ race:sex", None),
    ("income ~ age + age:sex", None),
    ("income ~ (age + sex) * race", None),
    ('log(income) ~ I(age > 40) + I(race == "b")', "np.log(income) ~ I((age > 40)*1.0) + I((race == 'b')*1.0)"),
    ("income ~ 1", None),
    ("I(age ** 2) ~ sex", "I(age**2) ~ sex"),
]


def outside(text):
    return text.replace("log(", "np.log(")


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(("ours", "theirs"), FORMULAS)
def test_linear_fits_equal_statsmodels(ours, theirs, weight):
    y = file()
    frame = y.to_pandas()
    w = frame["w"] if weight else np.ones(500)
    model = smf.wls(theirs or outside(ours), frame, weights=w).fit(cov_type="HC1")
    made = design(read_formula(ours), [Pair.of_frames(y, y, weight)], "linear", "test")
    found = fit(made.files[0], "linear", made.intercept, "test")
    fitted = made.files[0].x[:, found.known] @ found.coefficients[found.known]
    assert fitted == pytest.approx(np.asarray(model.fittedvalues), rel=1e-7)
    if found.known.all():  # else there is one column too many, and which one has no coefficient is a matter of taste
        assert sorted(found.coefficients) == pytest.approx(sorted(model.params), rel=1e-6, abs=1e-9)
        assert sorted(found.variances) == pytest.approx(sorted(model.bse**2), rel=1e-6, abs=1e-15)
    assert found.known.sum() == np.linalg.matrix_rank(model.model.exog)


@pytest.mark.parametrize("formula", ["own ~ age + C(race) + sex", "own ~ age * sex", "own ~ 0 + race"])
def test_logistic_fits_equal_statsmodels(formula):
    y = file()
    model = smf.logit(formula, y.to_pandas()).fit(disp=0, cov_type="HC0")
    k = len(model.params)
    made = design(read_formula(formula), [Pair.of_frames(y, y)], "logistic", "test")
    found = fit(made.files[0], "logistic", made.intercept, "test")
    assert sorted(found.coefficients) == pytest.approx(sorted(model.params), rel=1e-6)
    assert sorted(found.variances) == pytest.approx(sorted(model.bse**2 * 500 / (500 - k)), rel=1e-5)


def test_weighted_logistic_by_hand():
    y = file()
    x = np.stack([np.ones(500), y["age"].to_numpy(), (y["sex"] == "m").to_numpy()], axis=1)
    w, t = y["w"].to_numpy(), y["own"].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        b = sm.GLM(t, x, family=sm.families.Binomial(), freq_weights=w).fit(tol=1e-12).params
    p = 1 / (1 + np.exp(-x @ b))
    bread = np.linalg.inv((x * (w * p * (1 - p))[:, None]).T @ x)
    score = x * (w * (t - p))[:, None]
    made = design(read_formula("own ~ age + sex"), [Pair.of_frames(y, y, "w")], "logistic", "test")
    found = fit(made.files[0], "logistic", True, "test")
    assert found.coefficients == pytest.approx(b, rel=1e-6)
    assert found.variances == pytest.approx(np.diag(bread @ (score.T @ score) @ bread) * 500 / 497, rel=1e-6)


def karr(before, after):
    """Overlap straight from the paper."""
    out = []
    for (b, s), (c, t) in zip(before, after, strict=True):
        q = stats.norm.ppf(0.975)
        low, high = max(b - q * s, c - q * t), min(b + q * s, c + q * t)
        out.append(max(0, 0.5 * ((high - low) / (2 * q * s) + (high - low) / (2 * q * t))))
    return np.mean(out)


@pytest.mark.parametrize("weight", [None, "w"])
def test_overlap_and_difference_from_outside_fits(weight):
    y, z = file(), moved(file())
    models = [
        smf.wls("np.log(income) ~ age + race + sex", f.to_pandas(), weights=f["w"] if weight else np.ones(500)).fit(
            cov_type="HC1"
        )
        for f in (y, z)
    ]
    before, after = ([(b, s) for b, s in zip(m.params, m.bse, strict=True)] for m in models)
    formula = "log(income) ~ age + C(race) + sex"
    assert RegressionOverlap(formula)(y, z, weight=weight) == pytest.approx(karr(before, after), rel=1e-6)
    gap = np.abs(models[1].params - models[0].params) / models[0].bse
    assert CoefficientDifference(formula)(y, z, weight=weight) == pytest.approx(gap.mean(), rel=1e-6)


MEASURES = [
    RegressionOverlap("log(income) ~ age * race"), RegressionOverlap("own ~ age + sex", family="logistic"),
    CoefficientDifference("log(income) ~ age * race"), CoefficientDifference("own ~ age + sex", family="logistic"),
]  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.name} {m.family}")
def test_identical_files_row_order_and_unit_of_weights(measure):
    y, z = file(), moved(file())
    assert measure(y, y) == pytest.approx(measure.best, abs=1e-9)
    assert measure(y, y.sample(fraction=1, shuffle=True, seed=1), weight="w") == pytest.approx(measure.best, abs=1e-6)
    assert measure(y[::-1], z.sample(fraction=1, shuffle=True, seed=1)) == pytest.approx(measure(y, z), rel=1e-6)
    scaled = [f.with_columns(pl.col("w") * 100) for f in (y, z)]
    assert measure(*scaled, weight="w") == pytest.approx(measure(y, z, weight="w"), rel=1e-6)


def test_whole_weights_give_the_coefficients_of_repeated_rows():
    y = file().with_columns(pl.Series("w", np.random.default_rng(0).integers(1, 4, 500)))
    rows = np.repeat(np.arange(500), y["w"].to_numpy())
    for formula, family in (("log(income) ~ age + race", "linear"), ("own ~ age + race", "logistic")):
        fits = []
        for frame, weight in ((y, "w"), (y[rows], None)):
            made = design(read_formula(formula), [Pair.of_frames(frame, frame, weight)], family, "test")
            fits.append(fit(made.files[0], family, True, "test").coefficients)
        assert fits[0] == pytest.approx(fits[1], rel=1e-8)


@some
@given(st.lists(st.floats(-10, 10), min_size=4, max_size=4))
def test_overlap_is_a_share_and_symmetric(ends):
    a, b = sorted(ends[:2]), sorted(ends[2:])
    found = overlap(*(np.array([v]) for v in (*a, *b)))[0]
    assert 0 <= found <= 1
    assert found == pytest.approx(overlap(*(np.array([v]) for v in (*b, *a)))[0])
    assert overlap(*(np.array([v]) for v in (*a, *a)))[0] == 1


@some
@given(st.floats(0, 10), st.floats(0.01, 10), st.floats(-10, 10), st.floats(0.01, 10))
def test_overlap_is_the_printed_one_unless_one_interval_is_three_times_as_wide(centre, width, other, other_width):
    ends = [np.array([c + sign * w]) for c, w in ((centre, width), (other, other_width)) for sign in (-1, 1)]
    common = max(0.0, min(ends[1][0], ends[3][0]) - max(ends[0][0], ends[2][0]))
    printed = common * (1 / (2 * width) + 1 / (2 * other_width)) / 2
    wide = 2 * common / (2 * max(width, other_width))
    assert overlap(*ends)[0] == pytest.approx(min(1.0, printed, wide), abs=1e-9)
    if max(width, other_width) <= 3 * min(width, other_width):
        assert overlap(*ends)[0] == pytest.approx(min(1.0, printed), abs=1e-9)


def test_noise_that_drowns_every_estimate_has_no_overlap_and_more_of_it_never_has_more():
    rng = np.random.default_rng(5)
    x, z = rng.normal(50, 15, 2000), rng.normal(0, 1, 2000)
    y = 30_000 + 300 * x + 2000 * z + rng.normal(0, 12_000, 2000)
    frame = pl.DataFrame({"x": x, "z": z, "y": y})
    measure = RegressionOverlap("y ~ x + z")
    for noisy in ("y", "x"):
        sds = (1e2, 1e4, 1e5, 1e6, 1e7, 1e9)
        draws = [[measure(frame, cf.Plan([cf.Noise(noisy, sd=sd)]).protect(frame, seed=s).data) for s in range(5)]
                 for sd in sds]  # fmt: skip
        found = np.mean(draws, axis=1)
        assert (np.diff(found) < 0.06).all(), found
        if noisy == "y":
            assert found[-1] < 1e-3
    careful = measure(frame, frame.with_columns((pl.col("y") / 5_000).round() * 5_000))
    assert careful > 0.8
    assert measure(frame, frame[:10]) < 0.25  # 0.48 by the customary mean alone


@pytest.mark.slow
@some
@given(st.integers(0, 10_000))
def test_ranges(seed):
    y, z = file(60, seed), moved(file(60, seed + 1), seed)
    measure = RegressionOverlap("log(income) ~ age + race")
    assert 0 <= measure(y, z) <= 1
    assert 0 <= CoefficientDifference("log(income) ~ age + sex")(y, z) < np.inf


def test_a_category_that_is_gone_has_no_overlap_and_no_difference():
    y = file()
    z = y.with_columns(pl.col("race").replace("c", "a"))
    release = cf.Release.adopt(y, z)
    found = utility(release, [RegressionOverlap("income ~ race")])
    assert "1 cannot be estimated from the release" in found["detail"].item()
    assert found["value"].item() < 2 / 3
    assert found["lost"].item() == "race (1 coefficient)"
    assert CoefficientDifference("income ~ race")(y, z) > 10 / 3
    new = y.with_columns(pl.Series("race", ["d"] * 20 + y["race"].to_list()[20:]))
    assert 0.5 < RegressionOverlap("income ~ race")(y, new) < 1  # a coefficient that the original lacks does not count


def test_a_regressor_that_repeats_another_is_left_out():
    y = file().with_columns(twice=pl.col("age") * 2)
    assert RegressionOverlap("income ~ age + twice")(y, y) == pytest.approx(1)
    year = file().with_columns(year=2000 + pl.col("age") % 10)
    made = design(read_formula("income ~ poly(year, 2)"), [Pair.of_frames(year, year)], "linear", "test")
    found = fit(made.files[0], "linear", True, "test")
    x = (year["year"] - 2000).to_numpy()
    slopes = np.polyfit(x, year["income"].to_numpy(), 2)
    assert found.coefficients[2] == pytest.approx(slopes[0], rel=1e-5)


def test_separation_is_refused():
    y = file().with_columns(old=(pl.col("age") > 60).cast(pl.Int64))
    for formula in ("old ~ age", "old ~ I(age > 60)", "old ~ I(age > 50)", "old ~ race + age"):
        with pytest.raises(InputError, match="separation"):
            RegressionOverlap(formula, family="logistic")(y, y)
    assert RegressionOverlap("own ~ I(income > 0)", family="logistic")(y, y) == 1  # nothing varies: a mean alone


def test_undefined_and_missing_values_are_left_out_and_counted():
    y = file().with_columns(pl.when(pl.int_range(500) < 7).then(0.0).otherwise(pl.col("income")).alias("income"))
    z = y.with_columns(pl.when(pl.int_range(500) >= 490).then(None).otherwise(pl.col("age")).alias("age"))
    found = utility(cf.Release.adopt(y, z), [RegressionOverlap("log(income) ~ age")])["detail"].item()
    assert "7 of 500 original and 17 of 500 released records" in found
    assert RegressionOverlap("log(income) ~ age")(y, z) == pytest.approx(
        RegressionOverlap("log(income) ~ age")(y[7:], z[7:490]), rel=1e-9
    )


def test_a_band_stands_in_the_place_of_the_number():
    release = cf.Plan([cf.Recode("age", width=10)]).protect(file(), seed=1)
    middles = file().with_columns(pl.col("age") // 10 * 10 + 4.5)
    for measure in (RegressionOverlap("log(income) ~ age + sex"), CoefficientDifference("own ~ age", family="logistic"),
                    RegressionOverlap("log(age) ~ sex")):  # fmt: skip
        assert utility(release, [measure])["value"].item() == pytest.approx(measure(file(), middles), rel=1e-9)


def test_each_coefficient_is_compared_with_that_of_the_category_which_stands_for_it():
    y = file()
    formula = "log(income) ~ race * age"
    first, merged = ({"a": "ab", "b": "ab"}, {"b": "bc", "c": "bc"})
    fits = []
    for mapping in ({}, merged, first):
        frame = y.with_columns(pl.col("race").replace(mapping)).to_pandas()
        model = smf.ols("np.log(income) ~ race * age", frame).fit(cov_type="HC1")
        fits.append(dict(zip(model.params.index, zip(model.params, model.bse, strict=True), strict=True)))
    names = ["Intercept", "race[T.b]", "race[T.c]", "age", "race[T.b]:age", "race[T.c]:age"]
    before = [fits[0][n] for n in names]
    after = [fits[1][n.replace("[T.b]", "[T.bc]").replace("[T.c]", "[T.bc]")] for n in names]
    release = cf.Plan([cf.Recode("race", mapping=merged)]).protect(y, seed=1)
    assert utility(release, [RegressionOverlap(formula)])["value"].item() == pytest.approx(
        karr(before, after), rel=1e-6
    )
    release = cf.Plan([cf.Recode("race", mapping=first)]).protect(y, seed=1)
    kept = [n for n in names if "T.b" not in n]  # one with the reference: nothing is left of the difference
    found = utility(release, [RegressionOverlap(formula)])
    wanted = karr([fits[0][n] for n in kept], [fits[2][n] for n in kept]) * 4 / 6
    assert found["value"].item() == pytest.approx(wanted, rel=1e-6)
    assert found["lost"].item() == "race (1 coefficient), age:race (1 coefficient)"


def test_a_lost_variable_loses_its_coefficients_and_no_others():
    y = file()
    formula = "log(income) ~ age + race + sex"
    release = cf.Plan(drop=["race"]).protect(y, seed=1)
    full, less = (
        smf.ols(f"np.log(income) ~ age + sex{more}", y.to_pandas()).fit(cov_type="HC1") for more in (" + race", "")
    )
    names = ["Intercept", "age", "sex[T.m]"]
    wanted = karr(*([(m.params[n], m.bse[n]) for n in names] for m in (full, less))) * 3 / 5
    found = utility(release, [RegressionOverlap(formula), CoefficientDifference(formula)])
    assert found["value"][0] == pytest.approx(wanted, rel=1e-6)
    assert found["value"][1] > 10 * 2 / 5
    assert found["lost"][0] == "race (2 coefficients)"
    assert "race (not released)" in found["detail"][0]
    nothing = utility(
        cf.Plan(drop=["income"]).protect(y, seed=1), [RegressionOverlap(formula), CoefficientDifference(formula)]
    )
    assert nothing["value"].to_list() == [0, 10]
    for response in ("own", "sex", "I(age > 50)", 'I(race == "b")'):
        measure = RegressionOverlap(f"{response} ~ income", family="logistic")
        for plan in (
            cf.Plan(drop=["own", "sex", "age", "race"]),
            cf.Plan([cf.Topcode("own", at=0)], drop=["sex", "age", "race"]),
        ):
            assert utility(plan.protect(y, seed=1), [measure])["value"].item() == 0


def test_a_release_that_does_not_allow_the_regression_has_lost_it():
    y = file().with_columns(old=(pl.col("age") > 60).cast(pl.Int64))
    z = y.with_columns(old=(pl.col("income") > 12_000).cast(pl.Int64))
    measure = RegressionOverlap("old ~ income", family="logistic")
    assert measure(y, z) == 0  # separated in the release alone
    assert "does not allow" in utility(cf.Release.adopt(y, z), measure)["detail"].item()


def test_comparisons_with_a_merged_category():
    y = file()
    release = cf.Plan([cf.Recode("race", mapping={"a": "ab", "b": "ab"})]).protect(y, seed=1)
    half = y.with_columns(b=pl.col("race").is_in(["a", "b"]) * 0.5)
    whole = y.with_columns(b=(pl.col("race") == "b") * 1.0)
    wanted = RegressionOverlap("log(income) ~ b")(whole, half)
    found = utility(release, [RegressionOverlap('log(income) ~ I(race == "b")')])["value"].item()
    assert found == pytest.approx(wanted, rel=1e-9)
    assert utility(release, [cf.InverseMse('share(race, "b")', relative=False)])["value"].item() > 0


def test_copies_are_combined():
    plan = cf.Plan([cf.NormalSynthesis("income", given=["age", "sex"])], weight="w")
    copies = plan.protect(file(), seed=1, copies=4)
    formula = "log(income) ~ age + sex"
    models = [
        smf.wls(
            "np.log(income) ~ age + sex",
            c.to_pandas().query("income > 0"),
            weights=c.to_pandas().query("income > 0")["w"],
        ).fit(cov_type="HC1")
        for c in copies.data
    ]
    joined = cf.combine([m.params for m in models], [m.bse**2 for m in models])
    original = smf.wls("np.log(income) ~ age + sex", file().to_pandas(), weights=file()["w"]).fit(cov_type="HC1")
    q = stats.norm.ppf(0.975)
    low, high = original.params - q * original.bse, original.params + q * original.bse
    expected = overlap(*(np.asarray(v) for v in (low, high, joined.low, joined.high))).mean()
    found = utility(copies, [RegressionOverlap(formula), CoefficientDifference(formula), "means", "hellinger"])
    assert found["value"][0] == pytest.approx(expected, rel=1e-6)
    assert found["value"][1] == pytest.approx(
        np.mean(np.abs(joined.estimate - original.params) / original.bse), rel=1e-6
    )
    assert "4 copies combined by rule partial" in found["detail"][0]
    y = file()
    centre, sd = (np.average(y["income"], weights=y["w"]), np.sqrt(np.cov(y["income"], aweights=y["w"], ddof=0)))
    after = np.mean([np.average(c["income"], weights=c["w"]) for c in copies.data])
    assert utility(copies, [cf_means("income")])["value"].item() == pytest.approx(abs(after - centre) / sd)
    each = [utility(c, ["hellinger"])["value"].item() for c in copies]
    assert found["value"][3] == pytest.approx(np.mean(each))


def cf_means(variable):
    from confide.measure.utility.moments import Means

    return Means(variable)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y", "one ~"), ("y ~ x ~ z", "one ~"), ("y ~", "expected a name"), ("y ~ x +", "expected a name"),
        ("y ~ f(x)", "no function f"), ("y ~ __import__('os')", "no function __import__"), ("y ~ x ? z", "character 7"),
        ("y ~ 2", "a number alone"), ("y ~ I(x)", "I\\(\\) holds"), ("y ~ poly(x, 0)", "whole number"),
        ("y ~ x z", "not expected"), ("y ~ (x", "expected"), ("y ~ x * 0", "cannot be multiplied"), ("y ~ 0", "nothing after"),
        ("poly(y, 2) ~ x", "one variable"), ("y ~ x[0]", "not part of the language"), ("y ~ x^2", r"write a power as I\(x"),
        ("y ~ (a + b)**2", "all pairs as"), ("log(y + 1) ~ x", "log1p"), ("y ~ I(g == yes)", "category in quotes"),
        ("y ~ x + y", "response is also after"), ("y ~ x.__class__()", "no function"),
    ],
)  # fmt: skip
def test_formulas_outside_the_language_are_refused(text, words):
    with pytest.raises(InputError, match=words):
        RegressionOverlap(text)


@some
@given(st.text(alphabet="xy~+-*:()C1 ,I>\"'`.λ", max_size=20))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        read_formula("y ~ " + text)


def test_sentences():
    y = file()
    for call, words in [
        (lambda: RegressionOverlap("income ~ q")(y, y), 'no column "q"'),
        (lambda: RegressionOverlap("sex ~ age")(y, y), "holds categories, where a number"),
        (lambda: RegressionOverlap("race ~ age", family="logistic")(y, y), "response of two values"),
        (lambda: RegressionOverlap("log(income) ~ age", family="logistic")(y, y), "response of two values"),
        (lambda: RegressionOverlap("income ~ age", family="probit"), "linear"),
        (lambda: RegressionOverlap("income ~ age", confidence=95), "fraction"),
        (lambda: RegressionOverlap("income ~ age", rule="some"), "partial"),
        (lambda: RegressionOverlap("income ~ C(income)")(y, y), "more than 300"),
        (lambda: RegressionOverlap("income ~ age * race")(y[:3], y), "too few"),
        (lambda: RegressionOverlap('income ~ I(race == "zz")')(y, y), "no such category"),
    ]:
        with pytest.raises(InputError, match=words):
            call()


def hiding(frame: pl.DataFrame, variable: str, rows: np.ndarray) -> pl.DataFrame:
    return frame.with_columns(pl.when(pl.Series(rows)).then(None).otherwise(pl.col(variable)).alias(variable))


REGRESSIONS = [cf.RegressionOverlap("hh_income ~ age + race"), cf.CoefficientDifference("hh_income ~ age + race")]


@pytest.mark.parametrize("measure", REGRESSIONS, ids=lambda m: m.key)
def test_the_last_values_of_a_regressor_cost_no_more_than_to_have_none(measure: Measure) -> None:
    heads = cf.demo("heads").select("hh_income", "age", "race").gather_every(40)
    order = np.random.default_rng(1).permutation(heads.height) / heads.height
    shares = (0, 0.2, 0.5, 0.9, 0.97, 0.99, 0.995, 1)
    losses = [abs(measure(heads, hiding(heads, "age", order < h)) - measure.best) for h in shares]
    assert losses[0] == pytest.approx(0, abs=1e-9)
    assert np.all(np.maximum.accumulate(losses) - losses <= 0.02 * measure.worst + 0.02), losses
    assert losses[-1] == pytest.approx(abs(measure(heads, heads.drop("age")) - measure.best))


@pytest.mark.parametrize("measure", REGRESSIONS, ids=lambda m: m.key)
def test_without_any_regressor_a_regression_is_lost(measure: Measure) -> None:
    heads = cf.demo("heads").select("hh_income", "age", "race").gather_every(40)
    every = np.ones(heads.height, dtype=bool)
    for gone in (heads.drop("age", "race"), hiding(hiding(heads, "age", every), "race", every)):
        assert measure(heads, gone) == measure.worst
    mean = type(measure)("hh_income ~ 1")
    assert mean(heads, heads) == pytest.approx(mean.best)


def test_a_regressor_that_is_left_out_is_told() -> None:
    heads = cf.demo("heads").select("hh_income", "age", "race").gather_every(40)
    gone = hiding(heads, "age", np.arange(heads.height) >= 8)
    release = cf.Release.adopt(heads, gone, link=range(heads.height))
    (row,) = cf.utility(release, REGRESSIONS[:1]).rows(named=True)
    assert "lost: age (left out: 99.4% of its values are hidden)" in row["detail"]
    assert row["lost"] == "age (1 coefficient)"
    assert row["value"] == pytest.approx(REGRESSIONS[0](heads, heads.drop("age")))
