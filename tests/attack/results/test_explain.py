"""Why a person stands out, and what would end it: the same as enumerated sets and as releases made elsewhere."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.results.attack import Attack
from confide.attack.results.explain import Explanation
from tests.helpers.minimal import minimal_unique_sets

KEYS = ["sex", "race", "marital", "age"]


@cache
def heads(n: int = 1_500) -> pl.DataFrame:
    return cf.demo("heads").head(n)


def attacked(steps: list[Any], knows: list[str], data: pl.DataFrame | None = None, **options: Any) -> Attack:
    plan = cf.Plan(steps, identifiers=["id"], **options.pop("plan", {}))
    data = heads() if data is None else data
    found = cf.Intruder(knows=knows, **options).attack(plan.protect(data, seed=1))
    assert isinstance(found, Attack)
    return found


def risky(attack: Attack, *more: pl.Expr) -> list[int]:
    return attack.units.filter(pl.col("p_max") > 0.2, *more)["target"].to_list()


def sets(found: Explanation) -> set[tuple[str, ...]]:
    return {tuple(s) for s in found.alone["variables"]}


def elsewhere(attack: Attack, target: int, remedy: dict[str, Any]) -> tuple[int, float]:
    """The remedy carried out by hand: a file made with the steps, adopted, and attacked."""
    release, knows = attack.release, attack.intruder.knows
    assert release.plan is not None
    assert release.link is not None
    plan, frame = release.plan, release.frame
    for v, step in zip(remedy["variables"], remedy["steps"], strict=True):
        if step is None:
            frame, knows = frame.drop(v), tuple(k for k in knows if k != v)
            continue
        mine = [s for s in plan.steps if v in s.variables]
        replaced = len(mine) == 1 and isinstance(mine[0], cf.Recode)
        steps = [step if replaced and s is mine[0] else s for s in plan.steps]
        plan = cf.Plan([*steps, *([] if replaced else [step])], identifiers=["id"])
        source = release.original[release.link.tolist()] if replaced else frame
        coarse = cf.Plan([step]).protect(source.select(v), seed=1)
        assert coarse.link is not None
        frame = frame.with_columns(coarse.frame[v].gather(np.argsort(coarse.link)))
    frame = frame.select(v for v in frame.columns if v in knows or any(v in s.variables for s in plan.steps))
    plan = cf.Plan(
        plan.steps, identifiers=["id"], drop=[v for v in release.original.columns if v not in ("id", *frame.columns)]
    )
    again = cf.Intruder(knows=knows).attack(cf.Release.adopt(release.original, frame, plan, link=release.link)).units
    return int(again["candidates"][target]), float(again["p_max"][target])


def test_alone_by_what_is_certain_is_minimal_and_unique() -> None:
    attack = attacked([cf.Recode("age", width=5)], KEYS)
    rows = heads().select("sex", "race", "marital", pl.col("age") // 5).rows()
    for target in risky(attack, pl.col("candidates") == 1)[:12]:
        found = attack.explain(target)
        expected = {tuple(KEYS[v] for v in s) for s in minimal_unique_sets(rows, int(attack.truth[target]))}
        assert sets(found) == expected
        assert found.alone["size"].to_list() == sorted(len(s) for s in expected)
        assert set(found.alone["alike"]) == {1}
        assert "Alone by" in str(found) or "Alone only by" in str(found)


@pytest.mark.parametrize("steps", [[cf.Recode("age", width=5)], [], [cf.Swap("race", rate=0.3)]], ids=str)
def test_remedies_are_what_a_release_with_the_step_gives(steps: list[Any]) -> None:
    attack = attacked(steps, KEYS)
    for target in risky(attack, pl.col("candidates") < 3)[:2]:
        found = attack.explain(target)
        assert found.remedies.height
        for remedy in found.remedies.iter_rows(named=True):
            alike, p_max = elsewhere(attack, target, remedy)
            assert remedy["alike"] == alike
            assert remedy["p_max"] == pytest.approx(p_max, abs=1e-9)
            assert remedy["p_max"] <= 0.2
            assert remedy["coarsening"] in str(found)


def test_no_finer_step_would_do() -> None:
    attack = attacked([], KEYS)
    for target in risky(attack)[:8]:
        found = attack.explain(target).remedies.filter(pl.col("variables").list.first() == "age").to_dicts()
        width = getattr(found[0]["steps"][0], "width", None) if found else None
        if width is not None and width > 2:
            finer = cf.Plan([cf.Recode("age", width={5: 2, 10: 5, 20: 10, 50: 20}[width])], identifiers=["id"])
            again = cf.Intruder(knows=KEYS).attack(finer.protect(heads(), seed=1))
            assert again.units["p_max"][target] > 0.2


def test_evidence_of_altered_variables_alone_as_enumerated() -> None:
    attack = attacked([cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], KEYS)
    target = risky(attack, pl.col("candidates") > 3)[0]
    row, truth = heads()[int(attack.truth[target])], [int(attack.truth[target])]
    p = {}
    for s in (s for size in range(1, 5) for s in combinations(KEYS, size)):
        who = cf.Intruder(knows=s, unavailable="ignore")
        p[s] = float(who.attack(attack.release, targets=row, truth=truth).units["p_max"][0])
    good = {s for s in p if p[s] > 0.1}
    found = attack.explain(target, limit=0.1)
    assert sets(found) == {s for s in good if not any(set(g) < set(s) for g in good)}
    for r in found.alone.iter_rows(named=True):
        assert r["p_max"] == pytest.approx(p[tuple(r["variables"])], abs=1e-9)
    assert "Above 0.1" in str(found)


def test_nobody_who_does_not_stand_out() -> None:
    attack = attacked([], KEYS)
    target = int(attack.units.sort("p_max")["target"][0])
    found = attack.explain(target)
    assert not found.alone.height
    assert not found.remedies.height
    assert found.remedies.columns == ["variables", "coarsening", "steps", "p_max", "alike"]
    assert "Alone" not in str(found)
    with pytest.raises(cf.InputError, match="limit is a fraction"):
        attack.explain(target, limit=20)


def test_pairs_where_no_single_variable_is_enough() -> None:
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"id": range(400), **{f"x{k}": rng.normal(size=400).round(6) for k in range(2)}})
    attack = attacked([], ["x0", "x1"], data)
    found = attack.explain(0).remedies
    assert found["variables"].to_list() == [["x0", "x1"]]
    assert found["p_max"][0] <= 0.2


def test_merged_categories_are_neighbours_or_the_smallest() -> None:
    attack = attacked([], KEYS, heads().with_columns(pl.col("race").cast(pl.String)))
    steps = [step for t in risky(attack)[:20] for (step, *_) in attack.explain(t).remedies["steps"].to_list() if step]
    levels = heads().schema["marital"].categories.to_list()
    places = [sorted(levels.index(k) for k in s.mapping) for s in steps if s.variables == ("marital",)]
    assert places
    assert all(p[-1] - p[0] <= 2 * (len(p) - 1) for p in places)
    small = attack.release.frame["race"].value_counts().sort("count")["race"].to_list()
    assert all(len(set(s.mapping) & set(small[:2])) > 0 for s in steps if s.variables == ("race",))


def test_printouts_name_no_category() -> None:
    data = heads().with_columns(pl.col("race").cast(pl.String))
    words = {*data["race"], *data["marital"].cast(pl.String)}
    attack = attacked([], KEYS, data)
    shown = "".join(str(attack.explain(target)) for target in risky(attack)[:8])
    assert "merged" in shown
    assert not any(w in shown for w in words)


def test_units_of_several_rows() -> None:
    data = heads(600).with_columns(hid=pl.col("id") // 3)
    attack = attacked([], KEYS, data, plan={"unit": "hid"})
    target = risky(attack, pl.col("candidates") == 1)[0]
    found = attack.explain(target)
    frame = data.with_columns(pl.col("hid").rank("dense"))
    me = frame[int(attack.truth[target])]
    for s in found.alone["variables"]:
        agree = frame.filter(*(pl.col(v) == me[v][0] for v in s))
        assert agree["hid"].n_unique() == 1
    for r in found.remedies.iter_rows(named=True):
        assert r["p_max"] <= 0.2
        assert r["alike"] >= 5


def test_unsure_membership_copies_intervals_and_missing_values() -> None:
    unsure = attacked([], KEYS, membership=cf.Unsure(total=3_000))
    target = risky(unsure, pl.col("candidates") == 1)[0]
    found = unsure.explain(target)
    assert found.alone["p_max"].null_count() == found.alone.height > 0
    assert set(found.remedies["p_max"] <= 0.2) == {True}
    sure = unsure.explain(target, limit=1.0)
    assert not sure.remedies.height
    assert "the largest probability is at most 1" in str(sure)

    copies = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(heads(400), seed=1, copies=2)
    together = cf.Intruder(knows=KEYS).attack(copies)
    assert isinstance(together, Attack)
    assert together.explain(risky(together)[0]).remedies.height

    people = heads(400).with_columns(low=pl.col("hh_income") - 1, high=pl.col("hh_income") + 1, age=None)
    who = cf.Intruder(knows=["sex", "age"], between={"hh_income": ("low", "high")}, knows_missing=False)
    release = cf.Plan([], identifiers=["id"]).protect(heads(400), seed=1)
    attack = who.attack(release, targets=people, truth=range(400))
    found = attack.explain(risky(attack, pl.col("candidates") == 1)[0])
    assert sets(found) == {("hh_income",)}
    assert found.remedies["coarsening"].to_list() == ["hh_income left out"]


def test_what_is_not_tried_is_said() -> None:
    attack = attacked([cf.Swap("race", rate=0.3, within=["sex"])], KEYS)
    assert "Not tried: sex made coarser, since Swap reads it." in str(attack.explain(risky(attack)[0]))
    release = cf.Release.adopt(heads(300), heads(300).drop("id"), link=range(300))
    naive = cf.Intruder.at("naive", knows=KEYS).attack(release)
    assert "the plan behind the release is not known" in str(naive.explain(risky(naive)[0]))
    exact = attacked([cf.Swap("race", rate=0.3)], ["sex", "race"], heads(120).select("id", "sex", "race", "marital"),
                     available="exact", unavailable="exact", others="exact")  # fmt: skip
    assert "level exact" in str(exact.explain(int(exact.units.sort("p_max")["target"][-1]), limit=0.001))


def test_what_unknown_variables_add_at_level_exact() -> None:
    data = heads(300).select("id", "sex", "race", "marital", "age")
    attack = attacked([cf.Swap("marital", rate=0.2)], ["sex", "marital"], data,
                      available="exact", unavailable="exact", others="exact")  # fmt: skip
    target = int(attack.units.sort("p_max")["target"][-1])
    limit = float(attack.units["p_max"][target]) * 0.999
    found = attack.explain(target, limit=limit)
    assert not found.remedies.height
    assert "released variables that nobody knows add the rest" in str(found)


def test_a_known_variable_that_is_not_released_is_in_no_set() -> None:
    attack = attacked([], KEYS, plan={"drop": ["marital"]})
    found = attack.explain(risky(attack, pl.col("candidates") == 1)[0])
    assert found.alone.height
    assert not any("marital" in s for s in found.alone["variables"])
    assert "marital" not in str(found)


def test_an_explanation_travels() -> None:
    attack = attacked([], KEYS)
    found = attack.explain(risky(attack)[0])
    assert pickle.loads(pickle.dumps(found)).alone.equals(found.alone)


def test_remedies_of_a_random_plan_are_said_to_be_of_this_release() -> None:
    anew = "These figures are of this release: a plan with the step added draws anew."
    for steps, drawn in (([cf.Recode("age", width=2)], False), ([cf.Swap("race", rate=0.1)], True)):
        attack = attacked(steps, KEYS)
        told = [str(attack.explain(target)) for target in risky(attack)[:3]]
        assert all((anew in t) == (drawn and "To come to" in t) for t in told)
        assert any("To come to" in t for t in told)
