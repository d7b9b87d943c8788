"""What must hold of guesses, whatever the file: no evidence no gain, row order, limits, coverage, membership."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.attack.learning.attributes.test_twin import CASES, small

KEYS = ["sex", "race", "marital", "age"]


def heads(n: int = 1500) -> pl.DataFrame:
    return cf.demo("heads").head(n)


@pytest.mark.parametrize("name", ["kept, keys swapped", "noise", "PRAM", "swapped number", "recoded number"])
def test_row_order_changes_nothing(name: str) -> None:
    steps, variable = CASES[name]
    file = small(60)
    release = cf.Plan(steps, numeric=["pay"]).protect(file, seed=1)
    released = release.data
    order = np.random.default_rng(1).permutation(60)
    assert release.link is not None
    other = cf.Release.adopt(file, released[order], release.plan, link=release.link[order])
    who = cf.Intruder(knows=["sex", "race"])
    a, b = (who.attack(r).guess(variable).frame for r in (release, other))
    for column in ("loss", "expected_loss", "loss_relations", "loss_without_person", "p_true_value"):
        assert a[column].to_numpy() == pytest.approx(b[column].to_numpy(), abs=1e-9)
    moved = cf.Release.adopt(file[order], released, release.plan, link=np.argsort(order)[release.link])
    c = who.attack(moved).guess(variable).frame
    place = np.argsort(order)
    for column in ("loss", "expected_loss", "loss_margin", "loss_relations", "p_true_value"):
        assert a[column].to_numpy() == pytest.approx(c[column].to_numpy()[place], abs=1e-9)


def test_no_noise_equals_kept_and_infinite_noise_equals_relations() -> None:
    file = small(80)
    plans = {sd: cf.Plan([cf.Noise("pay", sd=sd)], numeric=["pay"]) for sd in (1e-6, 1e9)}
    who = cf.Intruder(knows=["sex", "race"])
    kept = who.attack(cf.Plan([], numeric=["pay"]).protect(file, seed=1)).guess("pay").frame
    quiet, loud = (who.attack(plans[sd].protect(file, seed=1)).guess("pay").frame for sd in (1e-6, 1e9))
    for column in ("loss", "expected_loss", "p_true_value", "loss_without_person"):
        assert quiet[column].to_numpy() == pytest.approx(kept[column].to_numpy(), abs=1e-6)
    assert loud["loss"].to_numpy() == pytest.approx(loud["loss_relations"].to_numpy(), abs=1e-6)


def test_nothing_perturbed_and_nobody_else_gives_the_own_value() -> None:
    file = small(30).with_columns(key=pl.Series(range(30)).cast(pl.String))
    for variable in ("job", "pay"):
        found = cf.Intruder(knows="key").attack(cf.Plan([], numeric=["pay"]).protect(file, seed=1)).guess(variable)
        assert found.frame["loss"].sum() == 0
        assert found.frame["loss_without_person"].to_numpy() == pytest.approx(found.frame["loss_relations"].to_numpy())


@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
def test_a_permuted_attribute_adds_nothing(loss: str) -> None:
    variable = "tenure" if loss == "zero_one" else "hh_income"
    file = heads()
    values = file[variable].sample(fraction=1.0, shuffle=True, seed=4)
    release = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(file, seed=1)
    assert release.link is not None
    frame = release.frame.with_columns(values[release.link])
    wrong = replace(release, data=frame, frame=frame)
    who = cf.Intruder(knows=KEYS)
    shuffled, true = (who.attack(r).guess(variable, loss).frame for r in (wrong, release))
    adds = (shuffled["loss_relations"] - shuffled["loss"]).to_numpy()
    assert adds.mean() < 3 * adds.std() / np.sqrt(len(adds))
    assert (true["loss_relations"] - true["loss"]).to_numpy().mean() > 3 * adds.std() / np.sqrt(len(adds))


def test_without_the_row_is_a_release_without_it() -> None:
    """Where it is said to be exact: the same file and release with one row fewer in the release."""
    file = small(60)
    matrix = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]
    plans: dict[str, tuple[list[Any], str]] = {
        "kept": ([], "pay"), "recoded": ([cf.Recode("pay", width=25)], "pay"),
        "PRAM": ([cf.Pram("job", matrix=matrix, levels=["p", "q", "r"])], "job"),
        "noise": ([cf.Noise("pay", sd=12.0)], "pay"),
    }  # fmt: skip
    for steps, variable in plans.values():
        release = cf.Plan(steps, numeric=["pay"]).protect(file, seed=1)
        who = cf.Intruder(knows=["sex", "race"], beliefs="original")
        found = who.attack(release).guess(variable)
        assert found.without_exact
        assert release.link is not None
        for t in (3, 17, 44):
            keep = np.flatnonzero(release.link != t)
            fewer = cf.Release.adopt(file, release.data[keep], release.plan, link=release.link[keep])
            other = who.attack(fewer, targets=file, truth=np.arange(60)).guess(variable)
            assert other.frame["loss"][t] == pytest.approx(found.frame["loss_without_person"][t], abs=1e-9), (
                variable,
                t,
            )


@pytest.mark.parametrize("membership", ["in_file", "weights", "total", "population"])
def test_memberships_and_their_releases_without_a_row(membership: str) -> None:
    file = small(60)
    release = cf.Plan([cf.Sample(fraction=0.6)], numeric=["pay"]).protect(file, seed=1)
    who = {
        "in_file": "in_file", "weights": cf.Unsure(weights="weight", model="proportional"),
        "total": cf.Unsure(total=150, model="proportional"), "population": cf.Unsure(population=file),
    }[membership]  # fmt: skip
    attack = cf.Intruder(knows=["sex", "race"], membership=who).attack(release)
    found = attack.guess("pay", "squared")
    assert found.without_exact
    assert release.link is not None
    some = [t for t in range(attack.units.height) if attack.own_rows[t] >= 0][:4]
    for t in some:
        keep = np.flatnonzero(release.link != attack.truth[t])
        fewer = cf.Release.adopt(file, release.data[keep], release.plan, link=release.link[keep])
        rows = file[attack.truth]
        other = cf.Intruder(knows=["sex", "race"], membership=who).attack(fewer, targets=rows, truth=attack.truth)
        again = other.guess("pay", "squared").frame["loss"][t]
        assert again == pytest.approx(found.frame["loss_without_person"][t], rel=1e-6), t


def test_what_is_not_released_and_what_is_synthetic_is_believed() -> None:
    file = heads(400)
    keys = ["sex", "age"]
    dropped = cf.Plan([], identifiers=["id"], drop=["tenure"]).protect(file, seed=1)
    found = cf.Intruder(knows=keys).attack(dropped).guess("tenure")
    assert found.how == "not released"
    assert found.frame["loss"].equals(found.frame["loss_relations"].alias("loss"))
    assert "the release holds no value of it" in str(found.summary())
    made = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex"])], identifiers=["id"]).protect(file, seed=1)
    for level in ("sdl", "exact"):
        drawn = cf.Intruder.at(level, knows=keys).attack(made).guess("hh_income")
        assert drawn.how == "synthetic"
        assert drawn.frame["loss"].equals(drawn.frame["loss_relations"].alias("loss"))


def test_missing_values() -> None:
    file = small(60).with_columns(pl.when(pl.int_range(60) % 7 == 0).then(None).otherwise(pl.col("pay")).alias("pay"))
    file = file.with_columns(pl.when(pl.int_range(60) % 5 == 0).then(None).otherwise(pl.col("job")).alias("job"))
    for steps in ([], [cf.Swap("job", rate=0.3), cf.Noise("pay", sd=5.0)], [cf.Recode("pay", width=20)]):
        attack = cf.Intruder(knows=["sex", "race"]).attack(cf.Plan(steps, numeric=["pay"]).protect(file, seed=1))
        pay, job = attack.guess("pay"), attack.guess("job")
        assert pay.summary().missing == 9
        assert pay.frame["loss"].null_count() == 9
        assert pay.frame["p_missing"].mean() == pytest.approx(0.15, abs=0.05)
        assert job.summary().people == 60
        assert job.frame["loss"].null_count() == 0
        assert pay.predictive(1)["p"].sum() == pytest.approx(1)


def test_targets_from_elsewhere() -> None:
    """People who are not in the file: their own column is the truth; without one there is none."""
    file = heads(300)
    release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(file, seed=1)
    others = cf.demo("heads")[300:320].drop("id")
    who = cf.Intruder(knows=["sex", "race"])
    found = who.attack(release, targets=others, truth=[-1] * 20).guess("tenure")
    assert found.frame["loss"].null_count() == 0
    nobody = who.attack(release, targets=others.select("sex", "race"), truth=[-1] * 20).guess("tenure")
    assert nobody.frame["loss"].null_count() == 20
    assert nobody.summary().no_truth == 20
    assert nobody.frame["guess"].null_count() == 0


RELEASED = {
    "kept": ([], "hh_income"),
    "recoded": ([cf.Recode("hh_income", width=20_000)], "hh_income"),
    "swapped": ([cf.Swap("tenure", rate=0.3)], "tenure"),
    "PRAM": ([cf.Pram("tenure", retention=0.6)], "tenure"),
    "noise": ([cf.Noise("hh_income", sd=20_000)], "hh_income"),
    "topcoded": ([cf.Topcode("hh_income", at=100_000)], "hh_income"),
    "microaggregated": ([cf.Microaggregate("hh_income", k=4)], "hh_income"),
    "synthetic": ([cf.NormalSynthesis("hh_income", given=["sex"])], "hh_income"),
}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["sdl", "exact"])
@pytest.mark.parametrize("name", RELEASED)
def test_intervals_cover_what_they_say(name: str, level: str) -> None:
    steps, variable = RELEASED[name]
    keys = [cf.Recode("age", width=5), cf.Swap("race", rate=0.30), cf.Swap("marital", rate=0.30)]
    file = heads(800).select("id", *KEYS, "tenure", "hh_income")
    release = cf.Plan([*keys, *steps], identifiers=["id"]).protect(file, seed=2)
    found = cf.Intruder.at(level, knows=KEYS).attack(release).guess(variable)
    row = found.coverage(levels=[0.8]).frame.row(0, named=True)
    assert abs(row["z"]) < 3.5, row
    z = found.summary().z
    assert z is None or abs(z) < 4


def test_corrected_intervals_where_face_value_claims_otherwise() -> None:
    """Blocks of 20, unit variance, noise sd 0.5: 80 percent corrected, 84 at face value."""
    rng = np.random.default_rng(5)
    file = pl.DataFrame({"b": [f"g{i // 20}" for i in range(2000)], "y": np.round(rng.normal(size=2000), 3)})
    release = cf.Plan([cf.Noise("y", sd=0.5)]).protect(file, seed=1)
    right, naive = (
        cf.Intruder.at(level, knows="b").attack(release).guess("y").coverage([0.8]).frame["covered"][0]
        for level in ("sdl", "naive")
    )
    assert right == pytest.approx(0.80, abs=0.025)
    assert naive == pytest.approx(0.84, abs=0.025)
    assert naive > right


@pytest.mark.slow
def test_records_are_weighed_by_what_they_show_of_the_attribute() -> None:
    """Known x with noise sd 1, y kept, correlation 0.8, blocks of 50: 0.35 and 80 percent, where (b) has 0.36."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=2000)
    y = 0.8 * x + 0.6 * rng.normal(size=2000)
    file = pl.DataFrame({"b": [f"g{i // 50}" for i in range(2000)], "x": np.round(x, 3), "y": np.round(y, 3)})
    found = (
        cf.Intruder(knows=["b", "x"])
        .attack(cf.Plan([cf.Noise("x", sd=1.0)]).protect(file, seed=1))
        .guess("y", "squared")
    )
    assert found.summary().loss == pytest.approx(0.35, abs=0.03)
    assert found.coverage([0.8]).frame["covered"][0] == pytest.approx(0.8, abs=0.03)


def test_several_rows_of_a_unit() -> None:
    file = small(60).with_columns(home=pl.int_range(60) // 2)
    release = cf.Plan([cf.Swap("race", rate=0.3)], unit="home", numeric=["pay"]).protect(file, seed=1)
    found = cf.Intruder(knows=["sex", "race"]).attack(release).guess("job")
    assert found.predictive(3)["p"].sum() == pytest.approx(1)
    assert found.frame["loss"].null_count() == 0


@pytest.mark.slow
def test_ten_releases_are_near_the_shortcut() -> None:
    file = heads(900).select("id", *KEYS, "tenure")
    plan = cf.Plan(
        [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Swap("tenure", rate=0.2)], identifiers=["id"]
    )
    attack = cf.Intruder(knows=KEYS).attack(plan.protect(file, seed=1))
    short, long = attack.guess("tenure"), attack.guess("tenure", without="releases")
    assert not short.without_exact
    assert "ten releases" in short.without
    assert "each without a tenth" in long.without
    a, b = (g.frame["loss_without_person"].to_numpy() for g in (short, long))
    assert abs((a - b).mean()) < 4 * (a - b).std() / np.sqrt(len(a)) + 0.03
