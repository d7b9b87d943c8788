"""Mistakes about error of unknown size: each met with a sentence that helps and shows no value of the data."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confide as cf

N = 60
RNG = np.random.default_rng(77)
FILE = pl.DataFrame({
    "age": np.round(RNG.normal(48.7, 11.3, N), 3), "money": np.round(RNG.gamma(4.0, 917.3, N), 3),
    "town": RNG.choice(["Quebec", "Ottawa", "Halifax"], N),
})  # fmt: skip
AGE = cf.MeasurementError("age", noise_variance=cf.Gamma(20, 2))
FIXED = cf.MeasurementError("age", noise_sd=3.0)


def error(name="age", **options):
    return cf.MeasurementError(name, **options)


def protect(*steps, file=FILE):
    return cf.Plan(list(steps)).protect(file, seed=1)


def attack(knows=("age",), step=AGE, targets=None, **options):
    release = protect(*(step if isinstance(step, (list, tuple)) else [step]))
    truth = None if targets is None else np.full(targets.height, -1)
    return cf.Intruder(knows=list(knows), **options).attack(release, targets, truth)


def changed(**columns):
    return FILE.with_columns(**columns)


STATEMENTS = {
    "noise of zero": (lambda: error(noise_variance=0), "noise_variance must be above zero.*leave it out"),
    "noise below zero": (lambda: error(noise_variance=-2.0), "noise_variance must be above zero"),
    "noise sd of zero": (lambda: error(noise_sd=0.0), "noise_sd must be above zero.*leave it out"),
    "noise sd below zero": (lambda: error(noise_sd=-1), "noise_sd must be above zero"),
    "bias of zero": (lambda: error(bias_variance=0), "bias_variance must be above zero.*leave it out"),
    "bias below zero": (lambda: error(noise_sd=1, bias_variance=-0.1), "bias_variance must be above zero"),
    "bias sd of zero": (lambda: error(bias_sd=0), "bias_sd must be above zero"),
    "bias sd below zero": (lambda: error(bias_sd=-0.1), "bias_sd must be above zero"),
    "not a number": (lambda: error(noise_variance=float("nan")), "finite number"),
    "infinite": (lambda: error(noise_sd=float("inf")), "finite number"),
    "in words": (lambda: error(noise_variance="big"), "must be a number"),
    "true": (lambda: error(noise_sd=True), "must be a number"),
    "one of several of zero": (lambda: error(["age", "money"], noise_variance={"age": 1.0, "money": 0}), '"money".*above zero'),
    "nothing said": (lambda: error(), "how large is it"),
    "nothing said of one": (lambda: error(["age", "money"], noise_variance={"age": 1.0}), 'error of "money"'),
    "a stranger in a table": (
        lambda: error(["age", "money"], noise_variance={"age": 1.0, "money": 2.0, "mony": 3.0}), "mony"),
    "a stranger in a table of noise": (
        lambda: cf.Noise(["age", "money"], sd={"age": 1.0, "money": 2.0, "mony": 3.0}), "mony"),
    "exposure without a plan": (lambda: cf.exposure(FILE, "plan", ["age"]), "needs a plan, not str"),
    "noise twice": (lambda: error(noise_variance=4, noise_sd=2), "either noise_variance or noise_sd"),
    "bias twice": (lambda: error(bias_variance=0.1, bias_sd=0.3), "either bias_variance or bias_sd"),
    "gamma as noise sd": (lambda: error(noise_sd=cf.Gamma(2, 3)), "give it as noise_variance"),
    "gamma as bias sd": (lambda: error(bias_sd=cf.Gamma(2, 30)), "give it as bias_variance"),
    "bias in percent": (lambda: error(bias_sd=5), "bias_sd=0.05"),
    "bias variance in percent": (lambda: error(bias_variance=25), "factor around 1"),
    "gamma of a bias in percent": (lambda: error(bias_variance=cf.Gamma(400, 20)), "factor around 1"),
    "shape of zero": (lambda: cf.Gamma(0, 5), "shape must be above zero"),
    "shape below zero": (lambda: cf.Gamma(-1, 5), "shape must be above zero"),
    "rate of zero": (lambda: cf.Gamma(5, 0), "rate must be above zero"),
    "rate below zero": (lambda: cf.Gamma(5, -3), "rate must be above zero"),
    "shape too vague": (lambda: cf.Gamma(0.3, 1), "above 0.5"),
    "shape in words": (lambda: cf.Gamma("400", 1), "must be a number"),
    "mean of zero": (lambda: cf.Gamma.around(0), "above zero"),
    "absent of another kind": (lambda: error(noise_sd=1, absent="uniform"), '"student", "normal", "file"'),
    "absent a number": (lambda: error(noise_sd=1, absent=3), "Conjugate"),
    "knowledge worth nothing": (lambda: cf.Conjugate(mean=1, worth=0, sd=1, sd_worth=1), "worth must be above zero"),
    "spread known below zero": (lambda: cf.Conjugate(mean=1, worth=1, sd=-1, sd_worth=1), "sd must be above zero"),
    "same column twice": (lambda: error(["age", "age"], noise_sd=1), "twice"),
    "no column": (lambda: error([], noise_sd=1), "name of a column"),
    "two random steps": (lambda: cf.Plan([FIXED, cf.Noise("age", sd=2.0)]), "twice"),
    "protection: percent for fraction": (lambda: cf.Noise("age", sd=1, bias_sd=5), "for 5 percent write 0.05"),
    "protection: bias below zero": (lambda: cf.Noise("age", bias_sd=-0.1), "bias_sd must be above zero"),
    "protection: bias of one missing": (
        lambda: cf.Noise(["age", "money"], sd=1, bias_sd={"age": 0.1}), 'nothing about "money"'),
    "protection: bias and correlation": (
        lambda: cf.Noise(["age", "money"], sd=1, bias_sd=0.1, correlation=0.5), "do not go together"),
    "protection: sd and relative": (lambda: cf.Noise("age", sd=1, relative=0.1, bias_sd=0.1), "either sd or relative"),
    "protection: no size": (lambda: cf.Noise("age"), "either sd or relative"),
    "range of words": (lambda: cf.prior_from_range(["a", "b"]), "column of numbers"),
    "range of a constant": (lambda: cf.prior_from_range([4.0, 4.0]), "no range"),
    "range of nothing": (lambda: cf.prior_from_range(np.array([np.nan, np.nan])), "all missing"),
    "range of a factor reversed": (lambda: cf.prior_from_range([1.0, 2.0], theta=(1.25, 0.75)), "lowest, highest"),
    "range of a factor in percent": (lambda: cf.prior_from_range([1.0, 2.0], theta=(75, 125)), "percent"),
    "ratio of zero": (lambda: cf.prior_from_range([1.0, 2.0], ratio=0), "above zero"),
}  # fmt: skip


NONE = pl.lit(None, dtype=pl.Float64)
Z, X = FILE["age"].to_numpy(), FILE["age"].to_numpy() + 1.5
LINE = changed(double=2 * pl.col("age") + 3)

FILES = {
    "wrong column": (lambda: protect(error("aeg", noise_sd=1)), 'no column "aeg".*Did you mean "age"'),
    "words for numbers": (lambda: protect(error("town", noise_sd=1)), "numbers are needed"),
    "constant": (lambda: protect(AGE, file=changed(age=pl.lit(48.125))), "all values of the file are the same"),
    "all missing": (lambda: protect(AGE, file=changed(age=NONE)), "no value"),
    "one value": (
        lambda: protect(AGE, file=changed(age=pl.when(pl.int_range(N) == 3).then("age"))), "one value only"),
    "zeros with bias only": (
        lambda: protect(error(bias_sd=0.1), file=changed(age=pl.when(pl.int_range(N) < 4).then(0.0).otherwise("age"))),
        "4 values of the file are zero.*noise_variance"),
    "coarsened before": (lambda: protect(cf.Round("age", base=5), AGE), "another step coarsens"),
    "coarsened after": (lambda: protect(AGE, cf.Recode("age", width=5)), "another step coarsens"),
    "topcoded after": (lambda: protect(AGE, cf.Topcode("age", at=60)), "another step coarsens"),
    "joint with missing values": (
        lambda: protect(error(["age", "money"], noise_sd=1, absent="joint"),
                        file=changed(age=pl.when(pl.int_range(N) > 3).then("age"))), "without missing values"),
    "joint and one follows from another": (
        lambda: cf.Intruder(knows=["age", "double"], membership=cf.Unsure(total=500)).attack(
            protect(error(["age", "double"], noise_sd=1, absent="joint"), file=LINE)), "follows from the others"),
    "joint with too few records": (
        lambda: cf.Intruder(knows=["age", "money"], membership=cf.Unsure(total=500)).attack(
            protect(error(["age", "money"], noise_sd=1, absent="joint"), file=FILE.head(4))), "too few"),
    "too few values for absence": (
        lambda: cf.Intruder(knows=["age"], membership=cf.Unsure(total=500)).attack(protect(AGE, file=FILE.head(2))),
        "too little"),
    "population smaller than the file": (lambda: attack(membership=cf.Unsure(total=10)), "smaller than the 60"),
    "errors of the intruder as well": (lambda: attack(errors={"age": 2.0}), "says already how the true"),
    "an interval": (
        lambda: attack((), between={"age": ("low", "high")}, targets=pl.DataFrame({"low": [30.0], "high": [40.0]})),
        "give a value"),
    "words of a target": (lambda: attack(targets=pl.DataFrame({"age": ["old"]})), "numbers are needed"),
    "targets without the column": (lambda: attack(targets=pl.DataFrame({"money": [1.0]})), 'no column "age"'),
    "plan as text": (lambda: cf.simulate_targets(FILE, "measurement_error"), "needs a plan"),
    "steps for a plan": (lambda: cf.simulate_targets(FILE, [AGE]), "needs a plan"),
    "plan without error": (lambda: cf.simulate_targets(FILE, cf.Plan([cf.Swap("town", rate=0.1)])), "add MeasurementError"),
    "empty plan": (lambda: cf.simulate_targets(FILE, cf.Plan([])), "add MeasurementError"),
    "targets of no file": (lambda: cf.simulate_targets(7, cf.Plan([AGE])), "polars"),
    "targets of another file": (lambda: cf.simulate_targets(FILE.drop("age"), cf.Plan([AGE])), 'no column "age"'),
    "seed in words": (lambda: cf.simulate_targets(FILE, cf.Plan([AGE]), seed="one"), "whole number"),
    "learning from unequal lengths": (lambda: AGE.learn(Z, X[:5]), "60 values of the file but 5 true ones"),
    "nothing to learn": (lambda: FIXED.learn(Z, X), "nothing to learn"),
    "no overlap": (
        lambda: AGE.learn(np.where(np.arange(N) < 30, Z, np.nan), np.where(np.arange(N) < 30, np.nan, X)),
        "no verified person has both"),
    "learning from words": (lambda: AGE.learn(Z, ["a"] * N), "must hold numbers"),
    "learning without the column": (lambda: AGE.learn(FILE.drop("age"), FILE), 'no column "age"'),
    "learning several from one column": (
        lambda: error(["age", "money"], noise_variance=cf.Gamma(2, 1)).learn(Z, X), "frame with the columns"),
    "learning a bias from zeros": (
        lambda: error(bias_variance=cf.Gamma(2, 10)).learn(np.append(Z, 0.0), np.append(X, 1.0)), "zeros.*noise_variance"),
    "nothing released": (lambda: cf.exposure(FILE, cf.Plan([FIXED]), ["age"], shares=[0]), "fractions above 0"),
    "shares in percent": (lambda: cf.exposure(FILE, cf.Plan([FIXED]), ["age"], shares=[50]), "for 50 percent write 0.5"),
    "no share": (lambda: cf.exposure(FILE, cf.Plan([FIXED]), ["age"], shares=[]), "fractions above 0"),
    "no repeat": (lambda: cf.exposure(FILE, cf.Plan([FIXED]), ["age"], repeats=0), "repeats must be"),
    "exposure of a stranger": (lambda: cf.exposure(FILE, cf.Plan([FIXED]), ["aeg"], seed=1), '"aeg"'),
    "one draw": (lambda: attack().monte_carlo(draws=1), "from 2 upwards"),
    "draws in words": (lambda: attack().monte_carlo(draws="many"), "from 2 upwards"),
    "draws of a stranger": (lambda: attack().monte_carlo(draws=5, targets=[999]), "0 to 59"),
    "no variance in play": (
        lambda: cf.Intruder(knows=["town"]).attack(protect(AGE)).monte_carlo(draws=5), "nothing to draw"),
    "no variance uncertain": (lambda: attack(step=FIXED).monte_carlo(draws=5, seed=1), "nothing to draw"),
    "no rank": (lambda: attack().ranks(top=0), "from 1 upwards"),
    "rank in words": (lambda: attack().ranks(top="10"), "from 1 upwards"),
    "ranks without the truth": (
        lambda: cf.Intruder(knows=["age"]).attack(cf.Release.adopt(FILE, FILE, cf.Plan([AGE]))).ranks(), "need the truth"),
    "threshold in percent": (lambda: attack().declare(50), "for 50 percent write 0.5"),
    "one threshold in percent": (lambda: attack().declare([0.2, 50]), "for 50 percent write 0.5"),
    "threshold below zero": (lambda: attack().declare(-0.1), "between 0 and 1"),
    "no threshold": (lambda: attack().declare([]), "a probability"),
    "protection: zeros with bias only": (
        lambda: protect(cf.Noise("age", bias_sd=0.1), file=changed(age=pl.when(pl.int_range(N) < 4).then(0.0).otherwise("age"))),
        "4 values are zero.*keep_zeros"),
    "protection: a density beside absence": (
        lambda: attack(step=cf.Noise("age", sd=2.0, bias_sd=0.1), others="ignore", membership=cf.Unsure(total=500)),
        "cannot be compared"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", [*STATEMENTS, *FILES])
def test_every_mistake_gets_a_sentence_without_data(mistake: str) -> None:
    make, sentence = (STATEMENTS | FILES)[mistake]
    with pytest.raises(cf.InputError) as caught:
        make()
    words = str(caught.value)
    assert re.search(sentence, words, re.DOTALL), words
    assert words.strip().endswith((".", "?"))
    assert not [v for v in FILE["town"].unique() if v in words]
    shown = [f"{x:.3f}".rstrip("0") for v in ("age", "money") for x in FILE[v]]
    assert not [x for x in shown if x in words]
    assert "48.125" not in words


# -- what is unusual and yet fine --------------------------------------------------------------------------------------


def test_an_intruder_who_does_not_know_the_variable_is_not_moved() -> None:
    with_, without = (cf.Intruder(knows=["town"]).attack(protect(*steps)).units for steps in ([AGE], []))
    assert with_.drop("target").equals(without.drop("target"))


def test_a_variable_left_out_by_choice() -> None:
    units = attack(("town", "age"), available="ignore").units
    np.testing.assert_allclose(units["p_max"] * units["candidates"], 1.0)


def test_zeros_with_noise_are_fine() -> None:
    file = changed(age=pl.when(pl.int_range(N) < 4).then(0.0).otherwise("age"))
    step = cf.MeasurementError("age", noise_sd=1.0, bias_sd=0.1)
    targets = cf.simulate_targets(file, cf.Plan([step]), seed=1)
    units = cf.Intruder(knows=["age"]).attack(protect(step, file=file), targets, truth=range(N)).units
    assert units["p_true"].is_between(0, 1).all()
    assert (units["p_true"][:4] > 0.05).all()


def test_one_missing_value_in_any_form_is_missing() -> None:
    gap = [None, float("nan"), *FILE["age"].to_list()[2:]]
    for file in (changed(age=pl.Series(gap, strict=False)), changed(age=pl.Series(gap, strict=False)).to_pandas()):
        targets = cf.simulate_targets(file, cf.Plan([AGE]), seed=1)
        found = targets["age"]
        assert (int(found.isna().sum()) if isinstance(file, pd.DataFrame) else found.null_count()) == 2
        release = protect(AGE, file=file)
        units = cf.Intruder(knows=["age"], knows_missing=False).attack(release, targets, truth=range(N)).units
        np.testing.assert_allclose(units["p_true"][:2], 1 / N)
        units = cf.Intruder(knows=["age"]).attack(release, targets, truth=range(N)).units
        np.testing.assert_allclose(units["p_true"][:2], 1 / 2)


def test_no_targets_gives_empty_tables() -> None:
    result = attack(targets=FILE.head(0))
    assert result.units.height == 0
    assert result.ranks()["targets"].sum() == 0
    assert result.declare(0.5)["declared"].to_list() == [0]
    assert result.monte_carlo(draws=5, seed=1).height == 0


def test_whole_numbers_and_wide_types() -> None:
    for kind in (pl.Int64, pl.Float32, pl.UInt8):
        file = changed(age=pl.col("age").cast(kind))
        targets = cf.simulate_targets(file, cf.Plan([AGE]), seed=1)
        assert targets["age"].dtype == pl.Float64
        units = cf.Intruder(knows=["age"]).attack(protect(AGE, file=file), targets, truth=range(N)).units
        assert units["p_true"].is_between(0, 1).all()
