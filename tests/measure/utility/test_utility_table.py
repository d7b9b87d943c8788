"""The table of measures, short names, and measures that somebody else wrote."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.core.registry import known
from confide.measure.utility.measure import Measure
from confide.measure.utility.moments import Means
from confide.measure.utility.registry import as_measure
from confide.measure.utility.run import utility

SETTINGS = {
    "ci_overlap": {"formula": "log(hh_income) ~ age + C(race) + sex"},
    "coefficient_difference": {"formula": "log(hh_income) ~ age + C(race) + sex"},
    "inverse_mse": {"estimates": ["mean(age)", "median(hh_income)"]},
}


def heads(n=1500):
    return cf.demo("heads").head(n).drop("state")


def everything():
    return [{"measure": name, **SETTINGS.get(name, {})} for name in known("measure")]


@pytest.mark.parametrize("weighted", [True, False])
def test_an_unaltered_release_has_the_best_value_of_each(weighted):
    release = cf.Plan([], identifiers=["id"], weight="weight").protect(heads(), seed=1)
    found = utility(release, everything(), weighted=weighted)
    assert found.columns == ["measure", "value", "direction", "best", "lost", "detail"]
    assert found["value"].to_numpy() == pytest.approx(found["best"].to_numpy(), abs=1e-6)
    assert found["measure"].to_list() == ["pmse_ratio" if n == "propensity" else n for n in known("measure")]


def test_more_protection_costs_more():
    rows = []
    for sd, rate in ((2, 0.05), (20, 0.6)):
        plan = cf.Plan([cf.Noise("age", sd=sd), cf.Swap("race", rate=rate)], identifiers=["id"], weight="weight")
        rows.append(utility(plan.protect(heads(), seed=1), everything()))
    for name, direction, little, much in zip(
        rows[0]["measure"], rows[0]["direction"], rows[0]["value"], rows[1]["value"], strict=True
    ):
        assert (little > much) if direction == "higher" else (little < much or name in ("means", "entropy")), name


def test_every_measure_states_what_it_is():
    for name, kind in known("measure").items():
        measure = as_measure({"measure": name, **SETTINGS.get(name, {})})
        assert isinstance(measure, Measure)
        assert measure.direction in ("higher", "lower")
        assert measure.range[0] <= measure.best <= measure.range[1]
        assert measure.best == (measure.range[0] if measure.direction == "lower" else measure.range[1])
        assert kind.key in kind.__doc__ or ">>>" in kind.__doc__
        assert measure.needs_link == (name == "il1s")


def test_the_plans_weight_is_used_unless_told_otherwise():
    plan = cf.Plan([cf.Noise("age", sd=20)], identifiers=["id"], weight="weight")
    release = plan.protect(heads(), seed=1)
    values = [
        utility(release, [Means("age")], **how)["value"].item()
        for how in ({}, {"weighted": False}, {"weight": "n_persons"})
    ]
    assert len(set(values)) == 3
    assert values[0] == Means("age")(heads(), release.data, weight="weight")
    assert values[1] == Means("age")(heads(), release.data)


def test_a_sample_can_be_measured():
    plan = cf.Plan([cf.Sample(0.5)], identifiers=["id"], weight="weight")
    found = utility(plan.protect(heads(), seed=1), everything())
    assert found["value"].is_finite().all()
    assert found.filter(pl.col("measure") == "il1s")["value"].item() == pytest.approx(0.5, abs=0.01)


def test_kinds_that_a_plan_names():
    data = heads().with_columns(pl.Series("code", np.arange(1500) % 40))
    plan = cf.Plan([], identifiers=["id"], categorical=["code"], numeric=["n_persons"])
    found = utility(plan.protect(data, seed=1), ["means"])
    assert found["detail"].item().startswith("7 variables")  # with n_persons, without code


def test_items_are_those_of_the_original_whatever_the_plan():
    data = heads()
    plans = [cf.Plan(identifiers=["id"], weight="weight"), cf.Plan(identifiers=["id"], weight="weight", drop=["age"])]
    for plan in plans:
        for more in ({}, {"weighted": False}):  # the weight is no variable, whether or not it is used
            found = utility(plan.protect(data, seed=1), ["means", "total_variation"], **more)["detail"]
            assert [d.split(" variable")[0] for d in found] == ["5", "12"]
    release = plans[1].protect(data, seed=1)
    one = utility(release, ["means", "total_variation"], items="hh_income")
    assert one["value"].to_list() == pytest.approx([0, 0], abs=1e-12)
    kinds = utility(release, ["means"], items={"hh_income": None, "n_persons": "numeric", "age": None})
    assert kinds["value"].item() == pytest.approx(1 / 3)
    assert kinds["lost"].item() == "age"


def test_what_is_constant_in_the_original_is_no_item():
    data = heads().with_columns(pl.lit(7.5).alias("one"), pl.lit(None, dtype=pl.Float64).alias("none"))
    release = cf.Plan(identifiers=["id"], drop=["one", "none"]).protect(data, seed=1)
    found = utility(release, ["means", "total_variation", "entropy"])
    assert found["value"].to_list() == [0, 0, 0]
    assert all("left out, one value only in the original: one, none" in d for d in found["detail"])


def test_pandas_frames_come_in():
    frame = heads().to_pandas()
    assert Means("age")(frame, frame) == 0
    plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    assert utility(plan.protect(frame, seed=1), "total_variation")["value"].item() == 0


@dataclass(frozen=True)
class Rows:
    """Somebody's own measure."""

    name: str = "rows"
    direction: str = "higher"
    range: tuple[float, float] = (0, 1)
    best: float = 1.0

    def __call__(self, original, released, *, weight=None, link=None):  # noqa: ARG002
        return released.height / original.height


def test_a_measure_of_ones_own():
    release = cf.Plan([cf.Sample(0.5)], identifiers=["id"]).protect(heads(1000), seed=1)
    assert utility(release, Rows())["value"].item() == 0.5
    copies = cf.Plan([cf.Noise("age", sd=1)]).protect(heads(1000), seed=1, copies=2)
    assert utility(copies, [Rows()])["value"].item() == 1


def test_sentences():
    release = cf.Plan([], identifiers=["id"]).protect(heads(), seed=1)
    for call, words in [
        (lambda: utility(release, ["helinger"]), 'Did you mean "hellinger"'),
        (lambda: utility(release, [{"measure": "means", "variable": "age"}]), 'Did you mean "variables"'),
        (lambda: utility(release, ["ci_overlap"]), "needs formula"),
        (lambda: utility(release, [{"name": "means"}]), 'under "measure"'),
        (lambda: utility(release, [Means]), "without parentheses"),
        (lambda: utility(release, [3]), "not by int"),
        (lambda: utility(release, ["means", Means("age")]), 'named "means"'),
        (lambda: utility(heads(), ["means"]), "Release or Copies"),
        (lambda: utility(release, [Means("idd")]), 'no column "idd"'),
        (lambda: utility(release, ["means"], weight="wait"), 'no weight "wait"'),
        (lambda: utility(release, None), "not by NoneType"),
        (lambda: utility(release, ["means"], weighted="no"), "weighted is true or false"),
        (lambda: utility(release, ["means"], items=["age", "incom"]), 'no column "incom"'),
        (lambda: utility(release, ["means"], items={"age": "number"}), 'to "numeric", "categorical" or None'),
        (lambda: utility(release, ["means"], items=3), "utility\\(\\): items"),
        (lambda: Means(3), "name of a column"),
        (lambda: Means({"age": 1}), "name of a column"),
        (lambda: Means("age", label=3), "label is the name"),
        (lambda: cf.InverseMse(3), "estimates are texts"),
        (lambda: cf.InverseMse("age"), r"written as mean\(x\)"),
        (lambda: cf.InverseMse("share(race)"), r"Write it as share\(g"),
        (lambda: cf.InverseMse(["mean(age)", "mean(age)"]), "named twice"),
        (lambda: utility(release, cf.InverseMse('share(hh_income, "much")')), "share\\(\\) is of a category"),
    ]:
        with pytest.raises(InputError, match=words):
            call()
    assert utility(release, [Means(), Means("age", label="age")])["measure"].to_list() == ["means", "age"]
