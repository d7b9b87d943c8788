"""A target's missing value is a value: known to be missing, through every method, unless that is said not to be known."""

import numpy as np
import polars as pl
import pytest

import confide as cf

N = 60
SMALL = pl.DataFrame({
    "sex": ["f", "m"] * (N // 2),
    "job": [None if i % 5 == 0 else "abc"[i % 3] for i in range(N)],
    "pay": [None if i % 4 == 0 else 9_999 if i % 7 == 0 else 1_000 + 13 * i for i in range(N)],
})  # fmt: skip
CODE = cf.Schema({"pay": cf.VariableSchema("pay", missing=(9_999,))})
FILE = cf.Data(SMALL, CODE)
MISSING = SMALL["pay"].is_null().to_numpy()

LEFT_ALONE = {
    "kept": [],
    "recoded": [cf.Recode("pay", width=500)],
    "topcoded": [cf.Topcode("pay", at=1_500)],
    "noise": [cf.Noise("pay", sd=200)],
    "lognormal": [cf.LognormalNoise("pay", sd=0.2)],
    "rank swap": [cf.RankSwap("pay", window=5)],
    "microaggregated": [cf.Microaggregate("pay", k=3)],
    "measured": [cf.MeasurementError("pay", noise_sd=50)],
}


def attack(steps, file=FILE, seed=1, **options):
    release = cf.Plan(steps).protect(file, seed=seed)
    return release, cf.Intruder(**{"knows": ["sex", "pay"], **options}).attack(release, threads=1)


@pytest.mark.parametrize("method", LEFT_ALONE)
@pytest.mark.parametrize("membership", ["certain", "in_file"])
def test_missing_goes_with_missing_where_it_is_left_alone(method: str, membership: str) -> None:
    release, found = attack(LEFT_ALONE[method], membership=membership)
    for i in (0, 4):
        rows = found.posterior(i)["row"].to_numpy()
        own = release.link[rows]
        assert MISSING[own].all()
        assert (SMALL["sex"].to_numpy()[own] == SMALL["sex"][i]).all()
        assert len(rows) == (MISSING & (SMALL["sex"] == SMALL["sex"][i]).to_numpy()).sum()
        assert found.units["p_true"][i] == pytest.approx(1 / len(rows))


@pytest.mark.parametrize("method", LEFT_ALONE)
def test_an_answer_code_goes_with_itself(method: str) -> None:
    release, found = attack(LEFT_ALONE[method])
    who = int(np.flatnonzero((SMALL["pay"] == 9_999).fill_null(False))[0])
    rows = found.posterior(who)["row"].to_numpy()
    assert (SMALL["pay"].to_numpy()[release.link[rows]] == 9_999).all()


def test_nobody_asked_is_something_else() -> None:
    _, found = attack([], knows_missing=False)
    assert found.units["candidates"][0] == N // 2
    _, found = attack([], knows=["job", "pay"], knows_missing=["pay"])
    assert found.units["candidates"][0] == int(MISSING.sum())  # job is missing too, and not known to be
    _, found = attack([], knows=["job", "pay"])
    assert found.units["candidates"][0] == int((MISSING & SMALL["job"].is_null().to_numpy()).sum())


@pytest.mark.parametrize("step", [cf.Swap("job", rate=0.4), cf.Pram("job", retention=0.6)])
def test_missing_is_a_category_for_swaps_and_pram(step: cf.extend.Mechanism) -> None:
    _, found = attack([step], knows=["sex", "job"])
    _, unknown = attack([step], knows=["sex", "job"], knows_missing=False)
    assert found.units["candidates"][0] == N // 2
    assert found.units["p_max"][0] > unknown.units["p_max"][0]


def test_a_naive_intruder_finds_missing_nearest_to_missing() -> None:
    release, found = attack([cf.Noise("pay", sd=200)], available="naive")
    best = found.posterior(0).filter(pl.col("p") > 0)["row"].to_numpy()
    assert MISSING[release.link[best]].all()
    code = int(np.flatnonzero((SMALL["pay"] == 9_999).fill_null(False))[0])
    best = found.posterior(code).filter(pl.col("p") > 0)["row"].to_numpy()
    assert (SMALL["pay"].to_numpy()[release.link[best]] == 9_999).all()


def test_a_missing_value_that_the_file_does_not_have_finds_nobody() -> None:
    full = SMALL.with_columns(pay=pl.Series(range(1_000, 1_000 + N)))
    gap = full.head(1).with_columns(pay=pl.lit(None, dtype=pl.Int64))
    for steps in LEFT_ALONE.values():
        release = cf.Plan(steps).protect(full, seed=1)
        units = (
            cf.Intruder(knows=["sex", "pay"], membership=cf.Unsure(total=1_000)).attack(release, gap, truth=[-1]).units
        )
        assert units["p_absent"][0] == 1


def test_answer_codes_lie_in_no_interval() -> None:
    release = cf.Plan([]).protect(FILE, seed=1)
    ends = pl.DataFrame({"sex": ["f", "m", "f"], "low": [5_000, 9_999, None], "high": [None, 1_300, None]})
    who = cf.Intruder(knows=["sex"], between={"pay": ("low", "high")})
    units = who.attack(release, ends, truth=[0, 1, 2]).units
    assert units["candidates"].to_list()[0] == 0
    under = SMALL.filter((pl.col("sex") == "m") & (pl.col("pay") <= 1_300)).height
    assert units["candidates"].to_list()[1:] == [under, N // 2]


def test_mistakes_leave_missing_values_certain() -> None:
    for errors in ({"pay": 40.0}, {"job": 0.1}):
        release, found = attack([], knows=["sex", "job", "pay"], errors=errors)
        rows = release.link[found.posterior(0)["row"].to_numpy()]
        assert SMALL[next(iter(errors))].is_null().to_numpy()[rows].all()


def test_knows_missing_in_documents() -> None:
    for said in (True, False, ["pay"]):
        who = cf.Intruder(knows=["sex", "pay"], knows_missing=said)
        assert cf.Intruder.from_dict(who.to_dict()).told_missing == who.told_missing
    assert "knows_missing" not in cf.Intruder(knows=["sex"]).to_dict()
    with pytest.raises(cf.InputError, match='knows_missing: "age" is not among the known variables'):
        cf.Intruder(knows=["sex"], knows_missing=["age"])


@pytest.mark.slow
@pytest.mark.parametrize("step", [cf.Noise("hh_income", relative=0.1), cf.Swap("hh_income", rate=0.3)])
def test_claims_are_true_where_half_of_the_incomes_are_missing(step: cf.extend.Mechanism) -> None:
    heads = cf.demo("heads").head(4_000)
    share = np.where(heads["sex"].to_numpy() == heads["sex"][0], 0.7, 0.3)
    gone = pl.Series(np.random.default_rng(5).random(heads.height) < share)
    file = heads.with_columns(hh_income=pl.when(gone).then(None).otherwise("hh_income"))
    plan = cf.Plan([step, cf.Swap("marital", rate=0.3)], identifiers="id")
    intruder = cf.Intruder(knows=["sex", "race", "marital", "hh_income"])
    units = [intruder.attack(plan.protect(file, seed=s)).units for s in range(3)]
    assert abs(cf.calibrate(units).z) < 3
    assert abs(cf.calibrate([u.filter(gone) for u in units]).z) < 3
