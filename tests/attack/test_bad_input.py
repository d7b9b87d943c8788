"""Mistakes that a statistician makes: each a sentence that helps, or a defined result; none shows a data value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confide as cf

HEADS = cf.demo("heads").head(200)
RELEASE = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=1)


def plan(*steps, **options):
    return cf.Plan(list(steps), **options)


def attack(knows, release=RELEASE, **options):
    extra = {k: options.pop(k) for k in ("targets", "truth", "threads") if k in options}
    return cf.Intruder(knows=knows, **options).attack(release, **extra)


STATEMENTS = {
    "percent for fraction": (lambda: cf.Swap("race", rate=30), "for 30 percent write 0.3"),
    "percent sampled": (lambda: cf.Sample(50), "for 50 percent write 0.5"),
    "nothing sampled": (lambda: cf.Sample(0), "releases nothing"),
    "negative sd": (lambda: cf.Noise("income", sd=-1), "above zero"),
    "sd and relative": (lambda: cf.Noise("income", sd=1, relative=0.1), "either sd or relative"),
    "relative in percent": (lambda: cf.Noise("income", relative=20), "for 20 percent of it write 0.2"),
    "bounds reversed": (lambda: cf.Noise("income", sd=1, bounds=(5, 1)), "not below"),
    "bounds not a pair": (lambda: cf.Noise("income", sd=1, bounds=5), "pair"),
    "correlation of one": (lambda: cf.Noise("income", sd=1, correlation=0.5), "two or more"),
    "correlation impossible": (lambda: cf.Noise(["a", "b"], sd=1, correlation=1.0), "positive definite"),
    "rows of a matrix": (lambda: cf.Pram("race", matrix=[[0.5, 0.4], [0, 1]]), "1 of 2 do not"),
    "matrix of words": (lambda: cf.Pram("race", matrix=[["x"]]), "must hold numbers"),
    "simulate less than nothing": (lambda: cf.Swap("race", rate=0.1, simulate=-3), "number of repetitions"),
    "matrix and retention": (lambda: cf.Pram("race", matrix=[[1]], retention=0.5), "either matrix or retention"),
    "two ways to recode": (lambda: cf.Recode("age", width=5, breaks=[1]), "exactly one"),
    "breaks not rising": (lambda: cf.Recode("age", breaks=[5, 1]), "rising"),
    "width zero": (lambda: cf.Recode("age", width=0), "above zero"),
    "keys alone": (lambda: cf.Swap("race", rate=0.1, keys=["sex"]), "candidates"),
    "swapped and fixed": (lambda: cf.Swap("race", rate=0.1, within="race"), "held fixed"),
    "same column twice": (lambda: cf.Swap(["race", "race"], rate=0.1), "twice"),
    "two random steps": (lambda: plan(cf.Swap("race", rate=0.1), cf.Pram("race", retention=0.9)), "twice"),
    "group changed later": (
        lambda: plan(cf.Swap("race", rate=0.1, within="age"), cf.Recode("age", width=5)), "Move Recode"),
    "altered but dropped": (lambda: plan(cf.Swap("race", rate=0.1), drop="race"), "not released"),
    "not a step": (lambda: cf.Plan(["swap"]), "list of steps"),
    "unknown level": (lambda: cf.Intruder(knows="sex", others="all"), "one of informed"),
    "exact alone": (lambda: cf.Intruder(knows="sex", others="exact"), "go together"),
    "errors of the unknown": (lambda: cf.Intruder(knows="sex", errors={"age": 1}), "not among the known"),
    "known twice": (lambda: cf.Intruder(knows="age", between={"age": ("a", "b")}), "choose one"),
    "population as weights": (lambda: cf.Unsure(1_016_437), "write total=1016437"),
    "a file as weights": (lambda: cf.Unsure(HEADS), "given as population=file"),
    "population unclear": (lambda: cf.Unsure(total=5, weights="w"), "exactly one"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", STATEMENTS)
def test_statement(mistake: str) -> None:
    make, sentence = STATEMENTS[mistake]
    with pytest.raises(cf.InputError, match=sentence):
        make()


FILES = {
    "unknown column": (lambda: plan(cf.Swap("rase", rate=0.3)).protect(HEADS), 'Did you mean "race"'),
    "no rows": (lambda: plan().protect(HEADS.head(0)), "no rows"),
    "duplicate names": (lambda: plan().protect(pd.DataFrame([[1, 2]], columns=["a", "a"])), "more than one column"),
    "all missing, swap": (
        lambda: plan(cf.Swap("x", rate=0.3)).protect(HEADS.with_columns(x=pl.lit(None))), "nothing to swap"),
    "all missing, noise": (
        lambda: plan(cf.Noise("x", sd=1)).protect(HEADS.with_columns(x=pl.lit(None, pl.Int64))), "no value would be"),
    "constant, relative": (
        lambda: plan(cf.Noise("x", relative=0.1)).protect(HEADS.with_columns(x=pl.lit(5))), "constant"),
    "text for a number": (lambda: plan(cf.Noise("race", sd=1)).protect(HEADS), "numbers are needed"),
    "infinite": (lambda: plan(cf.Noise("x", sd=1)).protect(HEADS.with_columns(x=pl.lit(np.inf))), "200 infinite"),
    "noise after categories": (
        lambda: plan(cf.Recode("age", width=5), cf.Noise("age", sd=1)).protect(HEADS), "earlier step made categories"),
    "values beyond bounds": (
        lambda: plan(cf.Noise("property_value", sd=9, bounds=(0, 3e5))).protect(HEADS), "Add Topcode"),
    "noise across a topcode": (
        lambda: plan(cf.Noise("property_value", sd=9), cf.Topcode("property_value", at=3e5)).protect(HEADS),
        "sequential=True"),
    "rounding into kept zeros": (
        lambda: plan(cf.Noise("property_value", sd=9, keep_zeros=True), cf.Round("property_value", 1000)).protect(HEADS),
        "Round or recode before"),
    "matrix of another size": (
        lambda: plan(cf.Pram("race", matrix=[[1, 0], [0, 1]])).protect(HEADS), "2 rows, but the column has 4"),
    "mapping of strangers": (lambda: plan(cf.Recode("race", mapping={"x": "y"})).protect(HEADS), "1 of 1 keys"),
    "forced rows": (lambda: plan(cf.Swap("race", rate=0.1, force=[999])).protect(HEADS), "beyond the last"),
    "sample of nobody": (lambda: plan(cf.Sample(0.001)).protect(HEADS), "less than one record"),
    "nothing left": (lambda: plan(identifiers="sex").protect(HEADS.select("sex")), "Nothing would be released"),
    "weight in words": (lambda: plan(weight="sex").protect(HEADS), "not numbers"),
    "seed in words": (lambda: plan().protect(HEADS, seed="one"), "whole number"),
    "not a frame": (lambda: plan().protect(7), "polars"),
    "unreleased knowledge": (lambda: attack(["id"]), "not released"),
    "knows nothing": (lambda: attack([]), "knows nothing"),
    "weights of zero": (
        lambda: attack("sex", plan().protect(HEADS.with_columns(weight=pl.lit(0.0))), membership=cf.Unsure(weights="weight")),
        "200 of 200 released weights"),
    "weights missing": (
        lambda: attack("sex", plan().protect(HEADS.with_columns(weight=pl.lit(None, pl.Float64))),
                       membership=cf.Unsure(weights="weight")), "zero, negative or missing"),
    "population too small": (lambda: attack("sex", membership=cf.Unsure(total=10)), "smaller than the 200"),
    "density beside absence": (
        lambda: attack(["property_value"], plan(cf.Noise("property_value", sd=9)).protect(HEADS), others="ignore",
                       membership=cf.Unsure(total=1e6)), "cannot be compared"),
    "target without the column": (lambda: attack(["sex", "age"], targets=HEADS.select("sex")), 'no column "age"'),
    "text for a target's number": (lambda: attack(["age"], targets=pl.DataFrame({"age": ["x"]})), "numbers are needed"),
    "truth of another length": (lambda: attack(["age"], targets=HEADS, truth=[1]), "one original row number"),
    "truth without targets": (lambda: attack(["age"], truth=[1]), "truth goes with targets"),
    "interval reversed": (
        lambda: attack([], between={"age": ("a", "b")}, targets=pl.DataFrame({"a": [9], "b": [1]})), "low end above"),
    "plan not known": (lambda: attack("sex", cf.Release.adopt(HEADS, HEADS)), "naive"),
    "calibration without truth": (
        lambda: attack("sex", cf.Release.adopt(HEADS, HEADS, plan())).calibration(), "needs the truth"),
    "threshold in percent": (lambda: attack("sex").summary(20), "for 20 percent write 0.2"),
    "target out of range": (lambda: attack("sex").posterior(1000), "0 to 199"),
    "top in words": (lambda: attack("sex").explain(0, top="3"), "from 1 upwards"),
    "attack on a frame": (lambda: attack("sex", HEADS), "needs a release"),
    "no threads": (lambda: attack("sex", threads=0), "from 1 upwards"),
    "belief about another variable": (
        lambda: attack("race", available="average", believes=[cf.Swap("sex", rate=0.1)]), "does not alter"),
    "sweep of an informed intruder": (
        lambda: cf.Intruder(knows="race").sweep(RELEASE, {"a": [cf.Swap("race", rate=0.1)]}), "average"),
    "adopted values that cannot be": (
        lambda: cf.Release.adopt(HEADS, HEADS, plan(cf.Topcode("age", at=30)), link=np.arange(200)), "not what the plan makes"),
    "adopted identifiers": (lambda: cf.Release.adopt(HEADS, HEADS, plan(identifiers="id")), "still holds"),
    "link of another length": (lambda: cf.Release.adopt(HEADS, HEADS, plan(), link=[1]), "200 released rows"),
    "link twice": (lambda: cf.Release.adopt(HEADS, HEADS, plan(), link=np.zeros(200, int)), "more than one"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FILES)
def test_file(mistake: str) -> None:
    make, sentence = FILES[mistake]
    with pytest.raises(cf.InputError, match=sentence):
        make()


@pytest.mark.parametrize("mistake", [*STATEMENTS, *FILES])
def test_no_message_shows_a_category_of_the_data(mistake: str) -> None:
    make, _ = (STATEMENTS | FILES)[mistake]
    with pytest.raises(cf.InputError) as caught:
        make()
    values = {str(v) for c in ("race", "marital", "educ", "state") for v in HEADS[c].unique()}
    words = str(caught.value)
    assert not [v for v in values if len(v) > 3 and v in words]


@pytest.mark.parametrize("rate", [0, 1, 0.0, 1.0])
def test_rates_at_the_ends_are_fine(rate: float) -> None:
    made = plan(cf.Swap("race", rate=rate), cf.Pram("marital", retention=rate)).protect(HEADS, seed=1)
    units = attack(["sex", "race", "marital"], made).units
    assert units["p_max"].is_between(0, 1 + 1e-12).all()
    assert units["p_true"].null_count() == 0


def test_one_row_is_its_own_match() -> None:
    made = plan(cf.Swap("race", rate=0.5), cf.Noise("property_value", sd=3)).protect(HEADS.head(1), seed=1)
    summary = attack(["race", "property_value"], made).summary()
    assert (summary.targets, summary.unique_matches) == (1, 1)


def test_a_constant_column_can_be_swapped_and_known() -> None:
    made = plan(cf.Swap("x", rate=0.3)).protect(HEADS.with_columns(x=pl.lit(5)), seed=1)
    units = attack(["sex", "x"], made).units
    np.testing.assert_allclose(units["p_max"] * units["candidates"], 1.0)


def test_strangers_have_no_candidate_and_are_never_an_error() -> None:
    targets = pl.DataFrame({"sex": ["male", "martian"], "age": [200, 40], "race": ["White", "klingon"]})
    sure = attack(["sex", "age", "race"], targets=targets, truth=[-1, -1]).units
    assert sure["status"].to_list() == ["contradiction", "contradiction"]
    assert sure["n_max"].to_list() == [0, 0]
    assert sure["hit"].to_list() == [False, False]
    assert sure["p_absent"].to_list() == [None, None]
    unsure = attack(["sex", "age", "race"], targets=targets, truth=[-1, -1], membership=cf.Unsure(total=1e6)).units
    assert unsure["p_absent"].to_list() == [1.0, 1.0]
    assert unsure["p_true"].to_list() == [None, None]


def test_an_unseen_category_of_a_swapped_variable_is_merely_unlikely() -> None:
    targets = pl.DataFrame({"sex": ["male"], "age": [40], "race": ["klingon"]})
    units = attack(["sex", "age", "race"], targets=targets, truth=[-1]).units
    assert units["status"].to_list() == ["not released"]
    assert 0 < units["p_max"][0] <= 1


def test_nan_and_null_are_both_missing() -> None:
    x = pl.Series([float("nan"), None, *range(198)], dtype=pl.Float64)
    made = plan(cf.Noise("x", sd=1)).protect(HEADS.with_columns(x=x), seed=1)
    assert made.data["x"].null_count() + made.data["x"].is_nan().sum() == 2
    units = attack(["x"], made).units
    assert units["candidates"][:2].to_list() == [2, 2]  # known to be missing
    assert (units["candidates"][2:] == 198).all()
    units = cf.Intruder(knows=["x"], knows_missing=False).attack(made).units
    assert units["candidates"][:2].to_list() == [200, 200]  # not known for these two


def test_no_targets_gives_an_empty_table() -> None:
    result = attack(["sex", "age"], targets=HEADS.head(0), truth=np.zeros(0, dtype=int))
    assert result.units.height == 0
    assert result.summary().expected_matches == 0
