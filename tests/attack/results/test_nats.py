"""Contributions in nats of one person: worked cases, definition, and what must not matter."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.results import coalitions
from confide.attack.results import nats as nats_file
from confide.attack.results.attack import Attack
from confide.attack.results.nats import REST, nats_of
from tests.helpers.guide import NAMES, guide
from tests.helpers.shapley_twin import slow_nats

KEYS = ["sex", "race", "marital", "age"]
SWAPS = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]


@cache
def heads(n: int = 400) -> pl.DataFrame:
    return cf.demo("heads").head(n)


def attacked(steps: list[Any], knows: list[str], data: pl.DataFrame | None = None, **options: Any) -> Attack:
    data = heads() if data is None else data
    plan = cf.Plan(steps, identifiers=["id"] if "id" in data.columns else [])
    found = cf.Intruder(knows=knows, **options).attack(plan.protect(data, seed=1))
    assert isinstance(found, Attack)
    return found


def nats(attack: Attack, target: int) -> dict[str, float]:
    return dict(attack.explain(target).nats.frame.select("variable", "nats").rows())


def test_the_guide_s_example() -> None:
    attack = attacked([], NAMES, guide())
    fifth, third = nats(attack, 4), nats(attack, 2)
    assert [round(fifth[v], 3) for v in NAMES] == [0.887, 0.238, 0.521, 0.656]
    assert [round(third[v], 3) for v in NAMES] == [0.039, 0.123, 1.763, 0.377]
    assert sum(fifth.values()) == pytest.approx(np.log(10), abs=1e-9)
    assert sum(third.values()) == pytest.approx(np.log(10), abs=1e-9)


def test_what_to_leave_out_in_the_guide_s_example() -> None:
    attack = attacked([], NAMES, guide())
    third, fifth = attack.explain(2), attack.explain(4)
    assert third.left_out.select("variables", "alike").rows() == [(["education"], 4)]
    assert [set(s) for s in fifth.left_out["variables"]] == [
        {"residence", *two} for two in (("gender", "education"), ("gender", "labour"), ("education", "labour"))
    ]
    assert "No longer alone without education (p_max 0.25)." in str(third)
    assert str(fifth).count("or without") == 2


def test_left_out_applied_gives_what_is_stated() -> None:
    attack = attacked([cf.Recode("age", width=5)], KEYS)
    for target in attack.units.filter(pl.col("candidates") == 1)["target"].to_list()[:5]:
        found = attack.explain(target)
        for names, alike, p_max in found.left_out.select("variables", "alike", "p_max").rows():
            left = cf.Intruder(knows=[v for v in KEYS if v not in names]).attack(attack.release).units
            assert (left["candidates"][target], left["p_max"][target]) == (alike, pytest.approx(p_max))
            assert alike > 1
            assert all(set(names) & set(s) for s in found.alone["variables"])  # it hits every set


def test_left_out_is_an_attack_where_an_altered_variable_remains() -> None:
    attack = attacked([cf.Recode("age", width=5), cf.Swap("marital", rate=0.2)], KEYS)
    release, beyond_count = attack.release, 0
    for target in attack.units.filter(pl.col("candidates") == 1)["target"].to_list()[:4]:
        found = attack.explain(target)
        for names, alike, p_max in found.left_out.select("variables", "alike", "p_max").rows():
            assert release.plan is not None
            steps = [s for s in release.plan.steps if not set(names) & set(s.variables)]
            plan = cf.Plan(steps, identifiers=["id"], drop=names)
            made = cf.Release.adopt(release.original, release.data.drop(names), plan, link=release.link)
            left = cf.Intruder(knows=[v for v in KEYS if v not in names]).attack(made)
            place = int(np.flatnonzero(left.truth == attack.truth[target])[0])
            assert left.units["p_max"][place] == pytest.approx(p_max, abs=1e-9)
            beyond_count += p_max > 1 / alike + 1e-6
        assert f"(p_max {found.left_out['p_max'][0]:.2g})" in str(found)
    assert beyond_count


def test_over_the_limit_left_out_comes_to_it() -> None:
    attack = attacked(SWAPS, KEYS)
    target = attack.units.filter(pl.col("p_max") > 0.3, pl.col("candidates") > 1)["target"][0]
    found = attack.explain(target, limit=0.3)
    assert found.left_out.height
    for names, p_max in found.left_out.select("variables", "p_max").rows():
        who = cf.Intruder(knows=[v for v in KEYS if v not in names], unavailable="ignore")
        assert who.attack(attack.release).units["p_max"][target] == pytest.approx(p_max) if len(names) < 4 else True
        assert p_max <= 0.3
    assert "At most 0.3 without" in str(found)


@pytest.mark.parametrize("options", [{}, {"others": "ignore"}, {"membership": "in_file"}, {"unavailable": "ignore"}])
def test_the_same_as_attacks_by_hand(options: dict[str, Any]) -> None:
    attack = attacked(SWAPS, ["sex", "race", "age"], **options)
    for target in (0, 7, 31):
        found = attack.explain(target).nats
        slow = slow_nats(attack, target, 400)
        rows = dict(found.frame.select("variable", "nats").rows())
        assert rows.pop(REST, 0.0) == pytest.approx(found.total - sum(slow.values()), abs=1e-9)
        assert rows == {v: pytest.approx(x, abs=1e-9) for v, x in slow.items()}
        assert found.frame["nats"].sum() == pytest.approx(found.total, abs=1e-9)
        assert found.total == pytest.approx(np.log(400 * attack.units["p_true"][target]), abs=1e-9)


def test_counting_and_attacking_agree() -> None:
    """Where nothing is uncertain one pass counts; everybody being in the file makes the engine attack instead."""
    counted, engine = (attacked([cf.Recode("age", width=5)], KEYS, membership=m) for m in ("certain", "in_file"))
    for target in (0, 5, 50):
        assert nats(counted, target) == {v: pytest.approx(x, abs=1e-9) for v, x in nats(engine, target).items()}


@pytest.mark.parametrize(
    ("steps", "others", "near"), [([], "sdl", 1e-9), (SWAPS, "ignore", 1e-9), (SWAPS, "sdl", 0.02)]
)
def test_a_variable_without_information_gets_nothing(steps: list[Any], others: str, near: float) -> None:
    """Exactly; where beliefs are fitted, up to what one more column does to their smoothing."""
    plain = attacked(steps, KEYS, others=others)
    more = [f.with_columns(same=pl.lit("x")) for f in (heads(), plain.release.frame)]
    release = cf.Release.adopt(*more, plain.release.plan, link=plain.release.link)
    found = nats(cf.Intruder(knows=[*KEYS, "same"], others=others).attack(release), 3)
    assert found.pop("same") == pytest.approx(0.0, abs=near)
    assert found == {v: pytest.approx(x, abs=near) for v, x in nats(plain, 3).items()}


def test_a_target_of_whom_a_value_is_missing() -> None:
    data = heads().with_columns(race=pl.when(pl.col("race") != "Black").then("race"))
    blank = data["race"].is_null().arg_true()[0]
    found = nats(attacked([], ["sex", "race", "age"], data, knows_missing=False), blank)
    assert found["race"] == pytest.approx(0.0, abs=1e-9)
    assert sum(found.values()) > 0


def test_the_order_of_rows_and_of_variables_does_not_matter() -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(heads(), seed=1)
    assert release.link is not None
    attack = cf.Intruder(knows=KEYS).attack(release)
    order = np.random.default_rng(2).permutation(400)
    again = cf.Release.adopt(heads(), release.frame[order], release.plan, link=release.link[order])
    moved = cf.Intruder(knows=KEYS[::-1]).attack(again)
    for target in (2, 19):
        assert nats(moved, target) == {v: pytest.approx(x, abs=1e-9) for v, x in nats(attack, target).items()}


@pytest.mark.parametrize("swapped", [False, True])
def test_names_do_not_matter(swapped: bool) -> None:
    """Of a swapped file without part A, whose beliefs hold records out by a digest of names and values."""
    new = {v: f"{v}_2" for v in KEYS}
    found = []
    for name in ({v: v for v in KEYS}, new):
        more = [cf.Swap(name["race"], rate=0.3)] if swapped else []
        release = cf.Plan([cf.Recode(name["age"], width=10), *more], identifiers=["id"]).protect(
            heads().rename(name), seed=1
        )
        frame = release.frame if not found else found[0][1].rename(name)
        link = release.link if not found else found[0][2]
        made = cf.Release.adopt(heads().rename(name), frame, release.plan, link=link)
        attack = cf.Intruder(knows=list(name.values()), others="ignore").attack(made)
        found.append(([nats(attack, t) for t in (2, 19)], frame, link))
    for plain, renamed in zip(found[0][0], found[1][0], strict=True):
        assert renamed == {new[v]: pytest.approx(x, abs=1e-9) for v, x in plain.items()}


def test_a_swap_that_misled_counts_against_the_record() -> None:
    attack = attacked([cf.Swap("race", rate=0.3)], ["sex", "race", "age"])
    data = heads().with_row_index("row")
    assert attack.release.link is not None
    now = pl.DataFrame({"row": attack.release.link, "now": attack.release.frame["race"]})
    there = data.join(now.with_columns(pl.col("row").cast(pl.UInt32)), on="row")
    swapped = there.filter(pl.col("race") != pl.col("now"))["row"].to_list()
    assert len(swapped) > 20
    assert all(nats(attack, t)["race"] < 0 for t in swapped[:8])


def test_the_likeliest_record_is_explained_where_the_own_one_is_impossible() -> None:
    data = pl.DataFrame({"a": ["x", "x", "y", "y", "y"], "b": ["p", "q", "p", "p", "q"]})
    release = cf.Plan([]).protect(data, seed=1)
    targets = pl.DataFrame({"a": ["y"], "b": ["p"]})
    wrong = cf.Intruder(knows=["a", "b"]).attack(release, targets, truth=[1]).explain(0).nats
    nobody = cf.Intruder(knows=["a", "b"]).attack(release, targets, truth=[-1]).explain(0).nats
    for found in (wrong, nobody):
        assert not found.own
        assert found.p == pytest.approx(0.5)
        assert dict(found.frame.select("variable", "nats").rows()) == {
            "a": pytest.approx((np.log(5 / 3) + np.log(3 / 2)) / 2), "b": pytest.approx((np.log(5 / 3) + np.log(3 / 2)) / 2)
        }  # fmt: skip
        assert "likeliest record" in str(found)


def test_equally_likely_records_are_averaged_whatever_their_order() -> None:
    """Two records tie for somebody who is not there, by different variables: none of them is preferred."""
    data = pl.DataFrame({"a": ["x"] * 20 + ["y"] * 20, "b": ["p", "q"] * 20})
    plan = cf.Plan([cf.Pram("a", matrix=[[0.8, 0.2], [0.2, 0.8]]), cf.Pram("b", matrix=[[0.8, 0.2], [0.2, 0.8]])])
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": ["q", "p"] * 20})
    found = []
    for order in (np.arange(40), np.arange(40)[::-1]):
        release = cf.Release.adopt(data, frame[order], plan, link=order)
        who = cf.Intruder(knows=["a", "b"], others="ignore")
        attack = who.attack(release, pl.DataFrame({"a": ["x"], "b": ["p"]}), truth=[-1])
        assert attack.units["n_max"][0] == 40
        found.append(attack.explain(0).nats.frame.sort("variable")["nats"].to_list())
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert found[0][0] == pytest.approx(found[0][1], abs=1e-9)


@pytest.mark.parametrize(
    ("membership", "people"),
    [
        (cf.Unsure(total=5_000), 5_000.0),
        (cf.Unsure(weights="weight"), None),
        (cf.Unsure(population=cf.demo("heads").head(2_000)), 2_000.0),
        ("in_file", 400.0),
    ],
)
def test_unsure_membership_counts_people(membership: Any, people: float | None) -> None:
    attack = attacked(SWAPS, ["sex", "race", "age"], membership=membership)
    found = attack.explain(11).nats
    expected = people or float(attack.release.frame["weight"].sum())
    assert found.everybody == pytest.approx(expected)
    assert found.frame["nats"].sum() == pytest.approx(np.log(expected * attack.units["p_true"][11]), abs=1e-9)
    slow = slow_nats(attack, 11, expected)
    rows = dict(found.frame.select("variable", "nats").rows())
    assert {v: rows[v] for v in slow} == {v: pytest.approx(x, abs=1e-9) for v, x in slow.items()}


def test_units_with_several_rows() -> None:
    panel = pl.concat([heads(120).with_columns(home=pl.int_range(120), wave=pl.lit(w)) for w in ("a", "b")])
    plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"], unit="home")
    attack = cf.Intruder(knows=["sex", "race", "age"]).attack(plan.protect(panel, seed=1))
    found = attack.explain(3).nats
    assert found.everybody == 120
    assert found.frame["nats"].sum() == pytest.approx(np.log(120 * attack.units["p_true"][3]), abs=1e-9)


def test_many_variables_are_sampled_with_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = attacked(SWAPS, KEYS)
    exact = nats(attack, 4)
    monkeypatch.setattr(coalitions, "EXACT", 3)
    found = nats_of(attack, 4, orders=7)
    assert found.orders == 8
    assert found.frame["nats"].sum() == pytest.approx(found.total, abs=1e-9)
    assert found.frame["error"].max() > 0
    assert all(abs(x - exact[v]) <= 4 * e + 1e-9 for v, x, e in found.frame.rows())
    assert "standard errors up to" in str(found)
    monkeypatch.setattr(nats_file, "PRINTED", 3)
    assert "take longer" in str(attack.explain(4))


def test_many_certain_variables_are_counted_exactly() -> None:
    names = [f"v{k}" for k in range(12)]
    rng = np.random.default_rng(5)
    data = pl.DataFrame({v: rng.integers(0, 3, 60).astype(str) for v in names})
    found = attacked([], names, data).explain(4).nats
    assert found.orders is None
    assert found.frame["nats"].sum() == pytest.approx(found.total, abs=1e-9)
    assert set(found.frame["error"]) == {0.0}


def test_what_cannot_be_explained_is_said() -> None:
    release = cf.Plan([]).protect(heads().select("sex", "age"), seed=1)
    attack = cf.Intruder(knows=["sex"]).attack(release, pl.DataFrame({"sex": ["other"]}))
    with pytest.raises(cf.InputError, match="No record can be the person"):
        attack.explain(0).nats  # noqa: B018
    assert str(attack.explain(0)).startswith("0 candidates")
    known = attacked([], KEYS)
    with pytest.raises(cf.InputError, match="orders is a whole number from 4"):
        nats_of(known, 3, orders=2)


def test_a_naive_intruder_s_numbers_may_have_no_contribution() -> None:
    """By age alone another record is nearest, so that the own one has probability 0 there."""
    data = pl.DataFrame({"a": [1.0, 2.0, 9.0, 9.5], "b": [5.0, 1.0, 9.0, 5.2]})
    plan = cf.Plan([cf.Noise("a", sd=1.0), cf.Noise("b", sd=1.0)], numeric=["a", "b"])
    released = pl.DataFrame({"a": [1.2, 2.5, 1.0, 9.0], "b": [5.1, 1.0, 9.0, 5.0]})
    attack = cf.Intruder.at("naive", knows=["a", "b"]).attack(cf.Release.adopt(data, released, plan, link=np.arange(4)))
    assert attack.units["hit"][0]
    with pytest.raises(cf.InputError, match="not finite"):
        attack.explain(0).nats  # noqa: B018
    assert "nats" not in str(attack.explain(0))


def test_linked_copies_and_intervals_are_explained_too() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    copies = plan.protect(heads(), seed=1, copies=2, linked=True)
    attack = cf.Intruder(knows=["sex", "race", "age"]).attack(copies)
    assert isinstance(attack, Attack)
    found = attack.explain(3).nats
    assert found.frame["nats"].sum() == pytest.approx(np.log(400 * attack.units["p_true"][3]), abs=1e-9)
    alone = cf.Intruder(knows=["sex", "race", "age"]).attack(copies[0])
    assert isinstance(alone, Attack)
    race = [dict(a.explain(3).nats.frame.select("variable", "nats").rows())["race"] for a in (attack, alone)]
    assert race[0] != pytest.approx(race[1])
    targets = heads().head(5).with_columns(low=pl.col("age") - 3, high=pl.col("age") + 3)
    who = cf.Intruder(knows=["sex", "race"], between={"age": ("low", "high")})
    ranged = who.attack(copies[0], targets, truth=range(5))
    told = ranged.explain(2).nats
    assert set(told.frame["variable"]) == {"sex", "race", "age"}
    assert told.frame["nats"].sum() == pytest.approx(np.log(400 * ranged.units["p_true"][2]), abs=1e-9)
    assert ranged.contributions().frame["total"][0] == pytest.approx(
        np.mean([ranged.explain(t).nats.total for t in range(5)]), abs=1e-9
    )


@pytest.mark.parametrize("level", ["exact", "average", "naive"])
def test_other_levels_sum_to_the_whole(level: str) -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], identifiers=["id"])
    data = heads().select("id", "sex", "race", "marital", "tenure")
    attack = cf.Intruder.at(level, knows=["sex", "race"]).attack(plan.protect(data, seed=1))
    assert isinstance(attack, Attack)
    for target in attack.units.filter(pl.col("p_true") > 0)["target"].to_list()[:3]:
        found = attack.explain(target).nats
        assert found.own
        assert found.frame["nats"].sum() == pytest.approx(np.log(400 * attack.units["p_true"][target]), abs=1e-9)
