"""Plans for files in which units have several rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.measure.utility.pair import Pair
from tests.helpers.panels import panel

KINDS = ["region", "sex", "job", "quarter"]


def plan(*steps: object, **options: object) -> cf.Plan:
    return cf.Plan(list(steps), categorical=KINDS, **{"unit": "household", **options})  # type: ignore[arg-type]


def test_the_unit_becomes_a_pseudonym() -> None:
    data = panel(200, 3)
    release = plan().protect(data, seed=1)
    own, shown = data["household"].gather(release.link), release.frame["household"]
    pairs = pl.DataFrame({"own": own, "shown": shown}).unique()
    assert pairs.height == 200 == own.n_unique() == shown.n_unique()
    assert sorted(shown.unique().to_list()) == list(range(1, 201))
    assert abs(np.corrcoef(pairs["own"], pairs["shown"])[0, 1]) < 0.3
    again, other = plan().protect(data, seed=1), plan().protect(data, seed=2)
    assert again.frame.equals(release.frame)
    ours = pl.DataFrame({"own": data["household"].gather(other.link), "other": other.frame["household"]}).unique()
    assert pairs.join(ours, on="own").filter(pl.col("shown") == pl.col("other")).height < 10


def test_a_pseudonym_is_no_variable() -> None:
    data = panel(50, 3)
    release = plan(cf.Noise("income", sd=10)).protect(data, seed=1)
    assert release.summary().filter(pl.col("variable") == "household")["steps"].item() == "pseudonym"
    assert Pair.of_release(release, None).shared == ["quarter", "region", "sex", "job", "income"]


def test_a_dropped_unit_is_not_released() -> None:
    assert "household" not in plan(drop=["household"]).protect(panel(20, 3), seed=1).data.columns


def test_a_unit_without_a_number_is_by_itself() -> None:
    data = panel(20, 2).with_columns(household=pl.when(pl.col("household") < 10_003).then(None).otherwise("household"))
    release = plan().protect(data, seed=1)
    assert release.frame["household"].n_unique() == 23


def test_whole_units_are_sampled() -> None:
    data = panel(100, 4, ragged=True)
    release = plan(cf.Sample(0.3, per="unit")).protect(data, seed=1)
    left = data[release.link.tolist()].group_by("household").len().sort("household")
    full = data.group_by("household").len().sort("household")
    assert left.height == 30
    assert left.join(full, on=["household", "len"]).height == 30


def test_a_swap_of_units_moves_one_value_for_all_rows() -> None:
    data = panel(300, 3, ragged=True)
    release = plan(cf.Swap("region", rate=0.4, within="sex", per="unit")).protect(data, seed=1)
    shown = release.frame.group_by("household").agg(pl.col("region").n_unique())
    assert shown["region"].max() == 1
    before = data.unique("household").group_by("sex", "region").len().sort("sex", "region")
    after = release.frame.unique("household").group_by("sex", "region").len().sort("sex", "region")
    assert before.equals(after)
    moved = (data["region"].gather(release.link) != release.frame["region"]).sum()
    assert 0.15 * data.height < moved < 0.4 * data.height


def test_draws_per_unit_are_the_same_for_its_rows() -> None:
    data = panel(200, 4)
    release = plan(cf.Noise("income", sd=500, per="unit"), cf.Pram("sex", retention=0.6, per="unit")).protect(
        data, seed=1
    )
    both = pl.DataFrame({
        "unit": data["household"].gather(release.link),
        "noise": release.frame["income"] - data["income"].gather(release.link),
        "sex": release.frame["sex"],
    })  # fmt: skip
    spread = both.group_by("unit").agg(pl.col("noise").max() - pl.col("noise").min(), pl.col("sex").n_unique())
    assert spread["noise"].max() <= 1.0 + 1e-9  # rounding alone
    assert both["noise"].std() > 400
    assert spread["sex"].max() == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cf.Plan([cf.Sample(0.5, per="unit")]), "needs Plan"),
        (lambda: plan(cf.Swap("household", rate=0.1)), "becomes a pseudonym"),
        (lambda: cf.Sample(0.5, per="house"), 'per is "record" or "unit"'),
        (lambda: cf.Swap("sex", rate=0.1, per="unit", simulate=10), "neither force"),
        (lambda: plan(cf.Swap("job", rate=0.1, per="unit")).protect(panel(50, 4), seed=1), "differs between the rows"),
        (lambda: cf.Plan([], unit="id").protect(panel(5, 2), seed=1), "no column"),
    ],
)
def test_what_cannot_be_done_to_units_is_refused(make: object, words: str) -> None:
    with pytest.raises(cf.InputError, match=words):
        make()  # type: ignore[operator]


def test_documents_hold_units() -> None:
    stated = plan(cf.Sample(0.5, per="unit"))
    assert cf.Plan.from_dict(stated.to_dict()) == stated
    assert stated.to_dict()["unit"] == "household"
    who = cf.Intruder(knows="sex", unit="household")
    assert cf.Intruder.from_dict(who.to_dict()).unit == "household"


def test_pseudonyms_made_elsewhere_must_group_alike() -> None:
    data = panel(10, 2)
    release = plan().protect(data, seed=1)
    cf.Release.adopt(data, release.frame, plan(), release.link)
    mixed = release.frame.with_columns(household=pl.col("household") // 2)
    with pytest.raises(cf.InputError, match="puts other rows together"):
        cf.Release.adopt(data, mixed, plan(), release.link)
