"""Multiplicative lognormal noise: closed form, what is kept, rounding, later steps, calibration on its own scale."""

import ast
import inspect
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import lognorm

import confide as cf
from confide.core.random.origin import Origin
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.fitted import View
from confide.protect.seam.likelihood import take

HEADS = cf.demo("heads").head(3_000)
RNG = np.random.default_rng(3)


def fitted(step: cf.LognormalNoise, frame: pl.DataFrame) -> tuple[Any, Any]:
    records = cf.Plan([step]).encode(frame)
    return step.fit(records, records, {}), records


def probability(step: cf.LognormalNoise, frame: pl.DataFrame, y: float, z: np.ndarray) -> np.ndarray:
    """Pr(z given y) by the evidence."""
    part, records = fitted(step, frame)
    (v,) = step.variables
    model = records[v]
    seen = records.take(np.zeros(len(z), dtype=np.int64)).replaced([model.with_values(z.astype(float))])
    evidence = part.evidence(View(seen, {}, {}), (v,))
    mine = seen.replaced([model.with_values(np.full(len(z), float(y)))])
    like = evidence.likelihood
    p = np.exp(like.log(like.target(mine), like.record))
    label = evidence.labels[v]
    return np.where(label.of(mine) == label.released, p, 0.0)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("y", [1, 7, 1_000, -1_000])
def test_probabilities_of_rounded_values_are_areas_of_the_lognormal(y: int, unbiased: bool) -> None:
    step = cf.LognormalNoise("x", sd=0.3, unbiased=unbiased)
    frame = pl.DataFrame({"x": [0, 1, 7, 1_000, -1_000, 50]})
    z = np.arange(-20_000, 20_001)
    law = lognorm(0.3, scale=abs(y) * (np.exp(-0.045) if unbiased else 1.0))
    size = np.sign(y) * z
    area = np.where(size > 0, law.cdf(size + 0.5) - law.cdf(size - 0.5), 0.0)
    found = probability(step, frame, y, z)
    np.testing.assert_allclose(found, area / area.sum(), atol=1e-10)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)


def test_a_continuum_has_the_lognormal_density_of_logarithms() -> None:
    frame = pl.DataFrame({"x": np.exp(RNG.normal(size=50))})
    z = np.exp(RNG.normal(size=20))
    law = lognorm(0.2, scale=1.5 * np.exp(-0.02))
    found = probability(cf.LognormalNoise("x", sd=0.2), frame, 1.5, z)
    np.testing.assert_allclose(found, law.pdf(z) * z, rtol=1e-9)


def test_zeros_signs_missing_values_and_codes_are_kept_and_totals_unbiased() -> None:
    x = np.concatenate([np.zeros(50), RNG.integers(1, 40_000, 4_000), -RNG.integers(1, 40_000, 500)]).astype(float)
    frame = pl.DataFrame({"x": pl.Series([*x.tolist(), None, 9999.0]).cast(pl.Int64)})
    schema = cf.Schema({"x": cf.VariableSchema("x", missing=(9999,))})
    release = cf.Plan([cf.LognormalNoise("x", sd=0.3)]).protect(cf.attach(frame, schema), seed=1)
    y, z = frame["x"].gather(release.link).to_numpy(), release.data["x"].to_numpy()
    there = ~np.isnan(y)
    assert np.isnan(z[~there]).all()
    kept = (y == 0) | (y == 9999)
    assert np.array_equal(y[kept], z[kept])
    moved = there & ~kept
    assert np.array_equal(np.sign(y[moved]), np.sign(z[moved]))
    assert not np.isin(z[moved], [0, 9999]).any()
    ratio = z[moved] / y[moved]
    large = np.abs(y[moved]) > 1_000
    assert ratio[large].mean() == pytest.approx(1.0, abs=4 * 0.3 / np.sqrt(large.sum()))
    assert np.log(np.abs(ratio[large])).std() == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize(
    ("steps", "how"),
    [
        ([], {}),
        ([cf.Topcode("hh_income", at=60_000)], {}),
        ([cf.Recode("hh_income", breaks=[1, 20_000, 40_000, 80_000])], {}),
        ([], {"beliefs": "released"}),
    ],
    ids=["alone", "topcode", "recode", "released beliefs"],
)
def test_the_attack_is_calibrated(steps: list[Any], how: dict[str, Any]) -> None:
    heads = HEADS.filter(pl.col("hh_income") >= 0) if steps else HEADS
    plan = cf.Plan([cf.LognormalNoise("hh_income", sd=0.15), *steps], identifiers=["id"])
    release = plan.protect(heads, seed=1)
    for knows in (["sex", "race", "hh_income"], ["sex", "race", "marital", "age"]):
        assert abs(cf.Intruder(knows=knows, **how).attack(release).calibration().z) < 3, knows


def test_it_is_calibrated_beside_other_numbers_and_in_copies() -> None:
    plan = cf.Plan([cf.LognormalNoise(["hh_income", "wage_income"], sd=0.15), cf.Noise("age", sd=3)], numeric=["age"])
    who = cf.Intruder(knows=["sex", "hh_income", "age"])
    assert abs(who.attack(plan.protect(HEADS.head(1_500), seed=1)).calibration().z) < 3
    assert abs(who.attack(plan.protect(HEADS.head(400), seed=1, copies=2)).calibration().z) < 3


def test_an_interval_is_compared_with_values_as_they_are() -> None:
    few = HEADS.head(600)
    release = cf.Plan([cf.LognormalNoise("hh_income", sd=0.15)]).protect(few, seed=1)
    targets = few.with_columns(low=pl.lit(20_000.0), high=pl.lit(40_000.0)).filter(
        pl.col("hh_income").is_between(20_000, 40_000)
    )
    rows = few.with_row_index().filter(pl.col("hh_income").is_between(20_000, 40_000))["index"].to_list()
    who = cf.Intruder(knows=["sex", "race", "age"], between={"hh_income": ("low", "high")})
    assert abs(who.attack(release, targets, truth=rows).calibration().z) < 3


def test_it_is_written_as_somebody_outside_would() -> None:
    tree = ast.parse(inspect.getsource(inspect.getmodule(cf.LognormalNoise)))
    taken = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {m for m in taken if m.startswith("confide")} == {"confide.extend"}


def test_a_plan_file_holds_it_and_a_part_of_a_file_gets_the_draws_of_the_whole() -> None:
    plan = cf.Plan([cf.LognormalNoise(["hh_income", "age"], sd=0.1, unbiased=False)])
    doc = plan.to_dict()
    step = {"method": "lognormal_noise", "variables": ["hh_income", "age"], "sd": 0.1, "unbiased": False}
    assert doc == {"steps": [step]}
    assert cf.Plan.from_dict(doc) == plan
    part, records = fitted(cf.LognormalNoise("hh_income", sd=0.1), HEADS)
    draws = Origin.of(("test",), 3).draws("LognormalNoise:hh_income")
    rows = np.arange(records.n)[::-3]
    whole = part.apply(records, records, draws).columns[0].values
    some = part.apply(records.take(rows), records.take(rows), draws).columns[0].values
    assert np.array_equal(whole[rows], some)


def test_an_average_intruder_guesses_a_tenth() -> None:
    step = cf.LognormalNoise("hh_income", sd=0.4, unbiased=False)
    assert step.guess(cf.Plan([step]).encode(HEADS)) == cf.LognormalNoise("hh_income", sd=0.1, unbiased=False)
    release = cf.Plan([step]).protect(HEADS.head(300), seed=1)
    who = cf.Intruder(knows=["sex", "hh_income"], available="average", others="average")
    assert who.attack(release).units.height == 300


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: cf.LognormalNoise("x", sd=0), "sd must be above zero"),
        (lambda: cf.LognormalNoise("x", sd=10), "for 10 percent write 0.1"),
        (lambda: cf.LognormalNoise("x", sd=0.1, unbiased="yes"), "unbiased is true"),
        (lambda: cf.Plan([cf.LognormalNoise("x", sd=0.1)]).protect(pl.DataFrame({"x": [0.0, 0.0, None]}), seed=1),
         "no value would be altered"),
        (lambda: cf.Plan([cf.LognormalNoise("x", sd=0.1), cf.Round("x", base=100)]).protect(
            pl.DataFrame({"x": [0, 20, 300, 4_000]}), seed=1), "a later step merges noisy values"),
    ],
)  # fmt: skip
def test_bad_input(make: Any, told: str) -> None:
    with pytest.raises(cf.InputError, match=told):
        make()


def test_mistakes_about_a_number_that_was_multiplied_are_refused() -> None:
    release = cf.Plan([cf.LognormalNoise("hh_income", sd=0.1)]).protect(HEADS.head(300), seed=1)
    with pytest.raises(cf.InputError, match="not for one that multiplies"):
        cf.Intruder(knows=["hh_income"], errors={"hh_income": 500}).attack(release)


def test_kept_values_of_later_steps_are_not_drawn() -> None:
    """Rounding afterwards would make zeros of small results: they are drawn again, and the likelihood allows for it."""
    frame = pl.DataFrame({"x": [0, 60, 70, 80, 300, 4_000] * 50})
    step = cf.LognormalNoise("x", sd=0.5, unbiased=False)
    plan = cf.Plan([step, cf.Round("x", base=100)])
    release = plan.protect(frame, seed=1)
    y, z = frame["x"].gather(release.link), release.data["x"]
    assert ((y == 0) == (z == 0)).all()
    records = plan.encode(frame)
    chain = Chain((cf.Round("x", base=100),))
    part = step.fit(records, records, {"x": chain})
    seen = records.take(np.arange(60)).replaced([records["x"].with_values(np.arange(1, 61) * 100.0)])
    like = part.evidence(View(seen, {}, {"x": chain}), ("x",)).likelihood
    t = take(like.target(records), np.full(60, 1))
    assert np.exp(like.log(t, like.record)).sum() == pytest.approx(1.0, abs=1e-6)
