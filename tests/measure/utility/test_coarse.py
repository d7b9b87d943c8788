"""What released categories stand for: middles, open ends, merged ones, in one file, in copies and in the audit."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.registry import known
from confide.measure.utility.measure import Measure
from confide.measure.utility.pair import Pair
from confide.measure.utility.registry import as_measure
from confide.measure.utility.traces import traces

NEEDS: dict[str, dict[str, Any]] = {
    "ci_overlap": {"formula": "income ~ age + C(town)"}, "coefficient_difference": {"formula": "income ~ age + C(age)"},
    "inverse_mse": {"estimates": ["mean(age)", 'share(town, "North")']},
}  # fmt: skip


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 95, n),
            "income": rng.lognormal(10, 0.5, n),
            "town": rng.choice(["North", "South", "West", "East"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "born": [date(1930 + int(i), 1 + int(i) % 12, 1) for i in rng.integers(0, 70, n)],
        }
    )


def read(*steps: Any, variable: str, data: pl.DataFrame | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Original numbers, and released ones as an analyst reads them, record by record."""
    release = cf.Plan(list(steps)).protect(people() if data is None else data, seed=1)
    pair = Pair.of_release(release, None)
    return pair.numbers(variable, 0)[release.link], pair.numbers(variable, 1)


def test_whole_numbers_have_whole_middles() -> None:
    y, z = read(cf.Recode("age", width=5), variable="age")
    assert np.array_equal(z, y // 5 * 5 + 2)
    y, z = read(cf.Recode("age", width=1), variable="age")
    assert np.array_equal(z, y)


def test_a_continuum_has_the_middle_between_the_ends() -> None:
    y, z = read(cf.Recode("income", width=1_000, start=500), variable="income")
    assert np.allclose(z, (y - 500) // 1_000 * 1_000 + 1_000)


@pytest.mark.parametrize("labels", [None, ["young", "middle", "old"]])
def test_open_intervals_have_their_finite_end(labels: list[str] | None) -> None:
    y, z = read(cf.Recode("age", breaks=[30, 65], labels=labels), variable="age")
    assert np.array_equal(z, np.select([y < 30, y < 65], [29, 47], 65))


def test_a_topcode_before_the_groups_leaves_the_last_one_open() -> None:
    y, z = read(cf.Topcode("age", at=80), cf.Recode("age", width=10), variable="age")
    assert np.array_equal(z, np.where(y >= 80, 80, y // 10 * 10 + 4.5))


def test_groups_of_noisy_numbers_may_lie_outside_the_original() -> None:
    y, z = read(cf.Noise("age", sd=60), cf.Recode("age", width=10), variable="age")
    assert not np.isnan(z).any()
    assert z.max() > y.max() + 20
    assert set(z % 10) == {4.5}


def test_groups_that_a_mapping_joins_have_the_middle_of_the_values_in_them() -> None:
    steps = [
        cf.Recode("age", breaks=[30, 65], labels=["a", "b", "c"]),
        cf.Recode("age", mapping={"a": "not b", "c": "not b"}),
    ]
    y, z = read(*steps, variable="age")
    assert np.array_equal(z, np.where((y >= 30) & (y < 65), 47, (y.min() + y.max()) / 2))


def test_answer_codes_are_no_numbers() -> None:
    frame = people().with_columns(age=pl.when(pl.int_range(300) < 20).then(-9).otherwise("age"))
    data = cf.attach(frame, cf.Schema({"age": cf.VariableSchema("age", missing=(-9,))}))
    y, z = read(cf.Recode("age", width=5), variable="age", data=data)
    assert np.isnan(y).sum() == 20
    assert np.array_equal(z, y // 5 * 5 + 2, equal_nan=True)


def test_dates_have_middles_in_days() -> None:
    y, z = read(cf.Recode("born", width=365), variable="born")
    assert np.abs(z - y).max() <= 182
    assert np.array_equal(z, y // 365 * 365 + 182)


def test_a_merged_category_is_shared_out_among_those_that_occur() -> None:
    data = people().with_columns(pl.col("town").cast(pl.Enum(["North", "Nowhere", "South", "West", "East"])))
    plan = cf.Plan([cf.Recode("town", mapping={"North": "n", "Nowhere": "n", "South": "n"})])
    coarse = Pair.of_release(plan.protect(data, seed=1), None).coarse["town"]
    assert coarse.shared_out(["n", "East", "other"]).tolist() == [[0.5, 0, 0.5, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]


def test_another_name_is_no_loss() -> None:
    plan = cf.Plan([cf.Recode("town", mapping={"North": "N", "South": "S", "West": "W", "East": "E"})])
    release = plan.protect(people(), seed=1)
    asked = ["total_variation", "hellinger", "propensity", "entropy", cf.RegressionOverlap("income ~ town")]
    found = cf.utility(release, [*asked, cf.Propensity("town", model="cart"), cf.InverseMse('share(town, "East")')])
    assert found["value"].to_numpy() == pytest.approx(found["best"].to_numpy(), abs=1e-9)


STEPS = [
    cf.Recode("age", width=10),
    cf.Swap("town", rate=0.5),
    cf.Recode("town", mapping={"North": "NS", "South": "NS"}),
]


def measure(key: str) -> Measure:
    return as_measure({"measure": key, **NEEDS.get(key, {})})


@pytest.mark.parametrize("key", known("measure"))
def test_the_audit_asks_again_about_coarser_variables(key: str) -> None:
    release = cf.Plan(STEPS).protect(people(), seed=1)
    plain = cf.utility(release, [measure(key)])["value"].item()
    found, trace = traces(release, [measure(key)])[measure(key).name]
    assert not isinstance(found, str)
    assert found.value == plain
    assert trace.differ == 300
    assert trace.effect is not None
    assert trace.effect >= 0


@pytest.mark.parametrize("key", known("measure"))
def test_copies_of_coarser_variables(key: str) -> None:
    plan = cf.Plan([*STEPS, cf.Noise("income", sd=500.0)])
    copies = plan.protect(people(), seed=1, copies=3)
    value = cf.utility(copies, [measure(key)])["value"].item()
    each = [cf.utility(c, [measure(key)])["value"].item() for c in copies]
    assert min(each) - 0.2 <= value <= max(each) + 0.2
    if key in ("total_variation", "hellinger", "entropy", "il1s", "propensity"):
        assert value == pytest.approx(np.mean(each))


def test_the_same_numbers_for_an_adopted_release_with_its_plan() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.Recode("town", mapping={"North": "NS", "South": "NS"})])
    made = plan.protect(people(), seed=1)
    adopted = cf.Release.adopt(people(), made.data, plan, link=made.link)
    asked = [measure(k) for k in known("measure")]
    assert cf.utility(adopted, asked)["value"].to_list() == cf.utility(made, asked)["value"].to_list()
    without = cf.utility(cf.Release.adopt(people(), made.data, link=made.link), ["means", "entropy"])
    assert without["lost"].to_list() == ["age", ""]
    assert "no plan says what they stand for" in without["detail"][0]
