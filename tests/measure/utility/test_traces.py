"""What a figure tells of few people: found for every measure, whatever it is and however the file was altered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
import confide.measure.utility
from confide.core.registry import known
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.registry import as_measure
from confide.measure.utility.traces import FEWEST, Trace, traces

ROWS = 400
NEEDS: dict[str, dict[str, Any]] = {
    "ci_overlap": {"formula": "income ~ age + C(town)"}, "coefficient_difference": {"formula": "income ~ age"},
    "inverse_mse": {"estimates": ["mean(income)"]},
}  # fmt: skip


def people(giant: float = 1_228_500.0) -> pl.DataFrame:
    """One person with a giant income, one in a town of its own."""
    rng = np.random.default_rng(7)
    income = np.round(rng.lognormal(10, 0.5, ROWS), 0)
    income[0] = giant
    town = ["Quixotville", *(("North", "South", "West")[i % 3] for i in range(ROWS - 1))]
    return pl.DataFrame({"income": income, "age": rng.integers(18, 90, ROWS), "town": town,
                         "sex": rng.integers(0, 2, ROWS).astype(str)})  # fmt: skip


def measure(key: str) -> Measure:
    return as_measure({"measure": key, **NEEDS.get(key, {})})


def trace(plan: cf.Plan, one: Measure, data: pl.DataFrame | None = None, **more: Any) -> Trace:
    release = plan.protect(people() if data is None else data, seed=3, **more)
    return traces(release, [one])[one.name][1]


@pytest.mark.parametrize("key", known("measure"))
def test_a_topcode_that_touches_one_person_is_seen_in_every_measure(key: str) -> None:
    at = float(people()["income"].sort()[-2])
    assert trace(cf.Plan([cf.Topcode("income", at=at)]), measure(key)) == Trace(1, None)


@pytest.mark.parametrize("key", ["entropy", "total_variation", "hellinger", "propensity", "ci_overlap"])
def test_a_category_of_one_person_is_seen_where_it_is_merged(key: str) -> None:
    plan = cf.Plan([cf.Recode("town", mapping={"Quixotville": "North"})])
    assert trace(plan, measure(key)).differ == 1


@pytest.mark.parametrize("key", known("measure"))
def test_few_people_who_are_not_released_are_seen_in_every_measure(key: str) -> None:
    plan = cf.Plan([cf.Sample(fraction=1 - 3 / ROWS)])
    assert trace(plan, measure(key)) == Trace(3, None)


@pytest.mark.parametrize("key", known("measure"))
def test_what_the_plan_leaves_alone_everybody_can_work_out(key: str) -> None:
    assert trace(cf.Plan(), measure(key)) == Trace(None)
    untouched = cf.Means("age")
    assert trace(cf.Plan([cf.Topcode("income", at=9_000)]), untouched) == Trace(None)


@pytest.mark.parametrize("key", ["means", "variances", "covariances", "eigenvalues", "il1s"])
def test_one_giant_among_many_altered_people_carries_the_loss(key: str) -> None:
    data = people().with_columns(income=pl.when(pl.col("income") > 1e6).then(5e8).otherwise("income"))
    found = trace(cf.Plan([cf.Topcode("income", at=45_000)]), measure(key), data)
    assert found.differ is not None
    assert found.differ > FEWEST
    assert found.carried > 0.5 * found.loss


def test_many_people_altered_alike_carry_nothing() -> None:
    found = trace(cf.Plan([cf.Noise("income", sd=3_000.0)]), cf.InformationLoss("income"), people(60_000.0))
    assert found.differ == ROWS
    assert found.carried < 0.15 * found.loss
    assert found.effect is not None
    assert found.effect > 0


def test_who_stands_out_is_seen_though_this_plan_hardly_alters_them() -> None:
    """The variance of the original is in the figure of a noise: another plan may hide the giant who makes it."""
    release = cf.Plan([cf.Noise("income", sd=20_000.0)]).protect(people(), seed=3)
    found, told = traces(release, [cf.Variances("income")])["variances"]
    assert isinstance(found, Found)
    assert told.effect is not None
    assert told.effect > 5 * found.value


def test_a_measure_of_ones_own_reads_everything() -> None:
    class Most:
        name, direction, range, best = "most", "lower", (0.0, np.inf), 0.0

        def __call__(self, original: Any, released: Any, *, weight: Any = None, link: Any = None) -> float:  # noqa: ARG002
            return float(original["income"].max() - released["income"].max())

    plan = cf.Plan([cf.Topcode("income", at=float(people()["income"].sort()[-2]))])
    assert trace(plan, Most()).differ == 1


def test_a_measure_that_cannot_be_computed_is_never_open() -> None:
    plan = cf.Plan([cf.Recode("age", width=10)])
    assert trace(plan, cf.RegressionOverlap("income ~ C(income)")) == Trace(0, None)


@pytest.mark.parametrize("key", known("measure"))
def test_a_variable_that_is_not_released_is_withheld_from_everybody(key: str) -> None:
    found = trace(cf.Plan(drop=["age"]), as_measure({"measure": key, **NEEDS.get(key, {})}))
    if key != "inverse_mse":  # of incomes alone
        assert found.differ == ROWS
        assert found.loss > 0
        assert found.effect is not None


@pytest.mark.parametrize("linked", [True, False])
def test_copies(linked: bool) -> None:
    plan = cf.Plan([cf.Noise("income", sd=3_000.0), cf.Sample(fraction=0.9)])
    found = trace(plan, cf.Means("income"), copies=2, linked=linked)
    assert found.differ is not None
    assert found.differ > 0.9 * ROWS
    assert found.effect is not None


def test_rows_made_of_several_people() -> None:
    some = np.random.default_rng(1).dirichlet(np.ones(ROWS), 60)
    plan = cf.Plan([cf.MatrixMask(["income", "age"], A=some)], drop=["town", "sex"])
    release = plan.protect(people(), seed=1)
    assert release.link is None
    found = traces(release, [cf.Means("income")])["means"][1]
    assert found.differ == ROWS
    assert found.effect is not None
    assert found.effect > 0


def test_weights_count() -> None:
    data = people(60_000.0).with_columns(w=pl.Series([5_000.0] + [1.0] * (ROWS - 1)))
    heavy = trace(cf.Plan([cf.Noise("income", sd=3_000.0)], weight="w"), cf.Means("income"), data)
    light = trace(cf.Plan([cf.Noise("income", sd=3_000.0)]), cf.Means("income"), data)
    assert heavy.effect is not None
    assert light.effect is not None
    assert heavy.effect > 5 * light.effect


def test_values_are_the_same_with_and_without_the_audit() -> None:
    release = cf.Plan([cf.Swap("town", rate=0.3), cf.Noise("income", sd=900.0)]).protect(people(), seed=3)
    asked = [measure(k) for k in known("measure")]
    plain = dict(cf.utility(release, asked).select("measure", "value").iter_rows())
    found = {k: v.value for k, (v, _) in traces(release, asked).items() if isinstance(v, Found)}
    assert found == plain


def test_measures_take_values_from_the_pair_and_never_from_its_frames() -> None:
    """Else the audit would not know what a figure depends on."""
    room = Path(confide.measure.utility.__file__).parent
    allowed = re.compile(r"\.(original|released)\.(schema|height)|schema\(\w+\.(original|released)\)")
    for file in sorted(room.glob("*.py")):
        if file.name in ("pair.py", "altered.py", "traces.py"):
            continue
        code = allowed.sub("", file.read_text(encoding="utf-8"))
        found = re.findall(r"\b(?:pair|pairs\[0\]|first|p)\.(?:original|released)\b", code)
        assert found == [], file.name


def test_the_quick_way_leaves_all_variables_alone_at_once() -> None:
    asked = [as_measure("means"), as_measure("hellinger")]
    release = cf.Plan([cf.Noise(["income", "age"], sd=3_000.0)]).protect(people(60_000.0), seed=3)
    slow, quick = (traces(release, asked, thorough) for thorough in (True, False))
    for m in asked:
        a, b = slow[m.name][1], quick[m.name][1]
        assert a.differ == b.differ == ROWS
        assert a.effect is not None
        assert b.effect is not None
        assert 0 < b.effect <= a.effect * (1 + 1e-9)


def test_a_figure_of_the_original_alone_is_not_open() -> None:
    """The plan leaves the incomes alone, but another plan of the report may hide one of them."""
    heads = cf.demo("heads").head(400)
    release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(heads, seed=1)
    size, same = cf.InverseMse("mean(hh_income)", relative=False), cf.Means("hh_income")
    found = traces(release, [size, same])
    assert found[size.name][1] == Trace(0, None)
    assert found[same.name][1] == Trace(None)
