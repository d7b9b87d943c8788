"""generalise against every node of the lattice carried out, counted and attacked, and on the shipped householders."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.study.search.lattice.plans import plan_at

HEADS = cf.demo("heads")
RACES = {"White": "white", **dict.fromkeys(["Black", "Native or other", "Asian or Pacific"], "not white")}
MARITAL = {
    **dict.fromkeys(["married, spouse present", "spouse absent"], "married"),
    **dict.fromkeys(["widowed", "divorced", "separated"], "was married"), "never married": "never married",
}  # fmt: skip
LEVELS = {
    "sex": cf.Hierarchy(), "race": cf.Hierarchy(table={v: [g] for v, g in RACES.items()}),
    "marital": cf.Hierarchy(table={v: [g] for v, g in MARITAL.items()}),
    "age": cf.Hierarchy(widths=[5, 10, 20]),
}  # fmt: skip
KEYS = list(LEVELS)
WHO = cf.Intruder(knows=KEYS)
K, L, T = cf.measures.KAnonymity, cf.measures.LDiversity, cf.measures.TCloseness


def test_the_shipped_householders_with_k_5() -> None:
    found = cf.generalise(HEADS, hierarchies=LEVELS, until={"k": 5})
    assert (found.nodes, found.minimal.height, found.ties.height) == (90, 4, 0)
    assert found.best == {"sex": "as it is", "race": "as it is", "marital": "as it is", "age": "left out"}
    assert found.loss == pytest.approx(0.25, abs=1e-12)
    assert 15 <= found.before_best <= 18
    assert found.plan.drop == ("age",)
    assert K(KEYS, k=5).of(found.plan.protect(HEADS, seed=1)).value == 0


def test_the_shipped_householders_with_one_percent_below() -> None:
    found = cf.generalise(HEADS, hierarchies=LEVELS, until=K(KEYS, k=5), share=0.01)
    assert (found.minimal.height, found.before_best) == (6, 4)
    assert found.best["age"] == "in steps of 5"
    assert [s for v, s in found.best.items() if v != "age"] == ["as it is"] * 3
    assert round(found.loss, 4) == 0.0946
    assert "411 rows (0.8%) fail, and are released as they are" in str(found)
    assert K(KEYS, k=5).of(found.plan.protect(HEADS, seed=1)).value == 411
    assert cf.Entropy(KEYS, scale="own")(HEADS, found.plan.protect(HEADS, seed=1).data) == pytest.approx(found.loss)


def test_the_shipped_householders_with_50_expected_matches() -> None:
    found = cf.generalise(HEADS, hierarchies=LEVELS, until={"expected_matches": 50}, intruders=WHO)
    assert (found.minimal.height, found.best["age"]) == (10, "left out")
    assert 15 <= found.before_best <= 18
    matches = WHO.attack(found.plan.protect(HEADS, seed=1)).summary().expected_matches
    assert matches == pytest.approx(found.frame.filter("best")["expected_matches"].item())
    assert matches <= 50


@st.composite
def cases(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, cf.Hierarchy]]:
    """A small file with gaps, and hierarchies of its three keys."""
    n = draw(st.integers(3, 25))
    letters = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=n, max_size=n)
    numbers = st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=n, max_size=n)
    said = st.lists(st.sampled_from(["flu", "cold", "cough"]), min_size=n, max_size=n)
    file = pl.DataFrame({"x": draw(letters), "y": draw(letters), "z": draw(numbers), "s": draw(said)})
    first = draw(st.lists(st.sampled_from("pqr"), min_size=4, max_size=4))
    second = {g: draw(st.sampled_from("vw")) for g in "pqr"}
    table = {v: [g, second[g]] for v, g in zip("abcd", first, strict=True)}
    hierarchies = {
        "x": cf.Hierarchy(table=table, hide=draw(st.booleans())), "y": cf.Hierarchy(),
        "z": cf.Hierarchy(widths=[3, 6], hide=draw(st.booleans())),
    }  # fmt: skip
    return file.cast({"x": pl.String, "y": pl.String, "z": pl.Int64}), hierarchies


def every_node(
    file: pl.DataFrame, hierarchies: dict[str, cf.Hierarchy], passes: Any, goal: Any
) -> dict[tuple[int, ...], tuple[bool, float]]:
    """The whole lattice carried out: whether each node passes, and its loss."""
    out = {}
    plan = cf.Plan(numeric="z", categorical=["x", "y"])
    for node in itertools.product(*(range(len(h.levels)) for h in hierarchies.values())):
        made = plan_at(plan, hierarchies, dict(zip(hierarchies, node, strict=True))).protect(file, seed=1)
        out[node] = passes(made), cf.utility(made, [goal])["value"].item()
    return out


UNTIL = [
    (K(["x", "y", "z"], k=2), 0.0), (K(["x", "y", "z"], k=3), 0.2), (K(["x", "z"], k=3), 0.0),
    (L(["x", "y", "z"], "s", l=2), 0.0), (L(["x", "y", "z"], "s", l=2), 0.3),
    (L(["x", "y", "z"], "s", l=1.8, kind="entropy"), 0.0), (L(["x", "y", "z"], "s", l=1.8, kind="entropy"), 0.3),
    (L(["x", "y", "z"], "s", l=2, kind="recursive", c=2), 0.3), (T(["x", "y", "z"], "s", t=0.4, kind="equal"), 0.0),
    (T(["x", "y", "z"], "s", t=0.3), 0.3),
]  # fmt: skip


@pytest.mark.parametrize("asked", UNTIL, ids=lambda a: f"{a[0].name}-{getattr(a[0], 'kind', '')}-{a[1]}")
@settings(max_examples=6, deadline=None)
@given(cases())
def test_as_good_as_every_node_looked_at(
    asked: tuple[Any, float], case: tuple[pl.DataFrame, dict[str, cf.Hierarchy]]
) -> None:
    """Hypothesis: best loss, all ties' losses, minimal nodes and every judgement as the exhaustive lattice has them."""
    (file, hierarchies), (limit, share) = case, asked
    hierarchies = {v: h for v, h in hierarchies.items() if v in limit.keys}
    useless = any(file[v].null_count() == file.height or file[v].n_unique() == file.height for v in hierarchies)
    if useless or getattr(limit, "k", 2) > file.height:
        return  # keys that the measures refuse, and a k that nobody can have
    most = int(share * file.height + 1e-9)
    goal = cf.Entropy(list(hierarchies), scale="own")
    truth = every_node(file, hierarchies, lambda made: _violations(limit, made) <= most, goal)
    good = {node: loss for node, (met, loss) in truth.items() if met}
    if not good:
        with pytest.raises(cf.InputError, match="No combination of levels meets the condition"):
            cf.generalise(file, hierarchies=hierarchies, until=limit, share=share)
        return
    found = cf.generalise(file, hierarchies=hierarchies, until=limit, share=share)
    assert found.loss == pytest.approx(min(good.values()), abs=1e-9)
    for row in found.frame.iter_rows(named=True):
        node = tuple(row[v] for v in hierarchies)
        assert row["meets"] == truth[node][0]
        assert row[found.goal] == pytest.approx(truth[node][1], abs=1e-9)
    lowest = {n for n in good if not any((*n[:v], n[v] - 1, *n[v + 1 :]) in good for v in range(len(n)) if n[v])}
    said = found.frame.filter("minimal").select(list(hierarchies)).rows()
    assert set(said) == lowest
    assert found.ties.height + 1 == sum(abs(x - found.loss) < 1e-11 for x in good.values())


def _violations(limit: Any, made: cf.Release) -> float:
    """Of k by counting rows that are equal, of l and t by the measure itself on the released file."""
    if not isinstance(limit, K):
        return float(limit.of(made).value)
    kept = [v for v in limit.keys if v in made.frame.columns]
    sizes = made.frame.group_by(kept).len()["len"] if kept else pl.Series([made.frame.height])
    return float(sizes.filter(sizes < limit.k).sum())


@settings(max_examples=8, deadline=None)
@given(
    cases(),
    st.sampled_from(["expected_matches", "unique_matches", "over_threshold", "found_share"]),
    st.sampled_from(["informed", "exact"]),
)
def test_risks_from_classes_are_those_of_attacks(
    case: tuple[pl.DataFrame, dict[str, cf.Hierarchy]], risk: str, level: str
) -> None:
    file, hierarchies = case
    who = cf.Intruder.at(level, knows=list(hierarchies))
    limit = 0.3 if risk == "found_share" else 4
    try:
        found = cf.generalise(file, hierarchies=hierarchies, until={risk: limit}, intruders=who, threshold=0.3)
    except cf.InputError as error:
        if "No combination of levels" not in str(error):
            raise
        return
    for row in found.frame.head(6).iter_rows(named=True):
        plan = plan_at(cf.Plan(numeric="z"), hierarchies, {v: row[v] for v in hierarchies})
        summary = who.attack(plan.protect(file, seed=1)).summary(0.3)
        value = summary.found_share if risk == "found_share" else getattr(summary, risk)
        assert row[risk] == pytest.approx(value, abs=1e-9)


def test_another_goal_is_measured_at_all_nodes_that_meet_the_condition() -> None:
    file, few = HEADS.head(800), {v: LEVELS[v] for v in ("race", "age")}
    goal = cf.Hellinger(["race", "age"])
    found = cf.generalise(file, hierarchies=few, until={"k": 3}, goal=goal)
    truth = every_node(
        file.with_columns(x=pl.lit(1), y=pl.lit(1), z=pl.lit(1)), few,
        lambda made: K(["race", "age"], k=3).of(made).value == 0, goal,
    )  # fmt: skip
    assert found.loss == pytest.approx(min(loss for met, loss in truth.values() if met), abs=1e-9)
    assert found.goal == "hellinger"
    assert found.frame.filter(~pl.col("meets"))["hellinger"].null_count() == found.frame.filter(~pl.col("meets")).height
    higher = cf.generalise(file, hierarchies=few, until={"k": 3}, goal=cf.RegressionOverlap("hh_income ~ age"))
    assert higher.loss == higher.frame["ci_overlap"].max()


def test_weights_of_the_plan_weigh_entropy() -> None:
    file = pl.DataFrame({"x": ["a", "a", "b", "b"], "y": ["c", "d", "c", "d"], "w": [5.0, 1.0, 1.0, 1.0]})
    plain = cf.generalise(file, hierarchies={"x": cf.Hierarchy(), "y": cf.Hierarchy()}, until={"k": 2})
    assert plain.loss == 0.5
    assert plain.ties.height == 1
    assert "1 other loses as little" in plain.reason
    plan = cf.Plan(weight="w")
    heavy = cf.generalise(file, hierarchies={"x": cf.Hierarchy(widths=None)}, until=K(["x", "y"], k=2), plan=plan)
    assert heavy.best == {"x": "left out"}


def test_a_weight_that_is_none_is_refused() -> None:
    file = pl.DataFrame({"x": ["a", "b"], "w": [1.0, None]})
    with pytest.raises(cf.InputError, match='weight: "w" has missing or negative values'):
        cf.generalise(file, hierarchies={"x": cf.Hierarchy()}, until={"k": 2}, plan=cf.Plan(weight="w"))


def test_steps_that_draw_other_variables_change_no_class() -> None:
    file = HEADS.head(400)
    plan = cf.Plan([cf.Noise("hh_income", sd=1000)], identifiers="id")
    asked = {"hierarchies": {"age": LEVELS["age"]}, "until": {"k": 3}, "plan": plan, "seed": 1}
    found = cf.generalise(file, **asked, goal=cf.Hellinger(["age", "hh_income"]), repeats=2)  # type: ignore[arg-type]
    assert found.best == cf.generalise(file, **asked).best  # type: ignore[arg-type]
    assert found.plan.steps[-1] == plan.steps[0]


def test_keys_without_a_hierarchy_count_as_the_plan_releases_them() -> None:
    file = HEADS.head(2000)
    plan = cf.Plan([cf.Topcode("hh_income", at=0), cf.Bottomcode("hh_income", at=0)], identifiers="id")
    limit = K(["hh_income", "sex", "age"], k=3)
    found = cf.generalise(file, hierarchies={"age": LEVELS["age"]}, until=limit, plan=plan)
    assert found.plan.steps[-2:] == plan.steps
    assert found.plan.identifiers == ("id",)
    assert limit.of(found.plan.protect(file, seed=1)).value == 0
    assert found.best["age"] != "left out"
    hidden = cf.generalise(file, hierarchies={"age": LEVELS["age"]}, until=limit, plan=cf.Plan(drop="hh_income"))
    assert hidden.best == found.best


def test_distances_by_a_hierarchy() -> None:
    """Li et al.'s tree: the sensitive variable has a hierarchy too, stated as for recoding."""
    tree = cf.Hierarchy(table={
        "owned with mortgage": ["owned"], "owned free and clear": ["owned"], "rented": ["other"], "no rent paid": ["other"],
    })  # fmt: skip
    limit = T(["sex", "age"], "tenure", t=0.2, kind="hierarchical", hierarchy=tree)
    assert limit == T(["sex", "age"], "tenure", t=0.2, kind="hierarchical", hierarchy=tree.table)  # type: ignore[arg-type]
    found = cf.generalise(HEADS, hierarchies={"sex": cf.Hierarchy(), "age": LEVELS["age"]}, until=limit)
    assert limit.of(found.plan.protect(HEADS, seed=1)).value == 0
    with pytest.raises(cf.InputError, match="not by a rule"):
        T("sex", "tenure", kind="hierarchical", hierarchy=cf.Hierarchy(prefix=[1]))


def test_names_alone_take_proposed_hierarchies() -> None:
    found = cf.generalise(HEADS.head(3000), hierarchies=["sex", "age"], until={"k": 5})
    assert found.levels["variable"].to_list() == ["sex", "age"]
    assert found.summary().equals(found.levels)
    assert repr(found).startswith("Generalised: Best of 10 combinations")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"until": {"k": 301}}, "k is 301, but the file has 300 rows"),
        ({"until": {"k": 5}, "share": 5}, "for 5 percent write 0.05"),
        ({"until": {"k": 5}, "share": 1.0}, "with 1 all may"),
        ({"until": {"k": 5}, "hierarchies": {"agee": cf.Hierarchy()}}, 'no column "agee". Did you mean "age"'),
        ({"until": {"k": 5}, "hierarchies": {}}, "hierarchies is a table of variables"),
        ({"until": {"k": 5}, "hierarchies": {"age": 5}}, '"age" leads to int, not to a cf.Hierarchy'),
        ({"until": 5}, "until says what a release must meet"),
        ({"until": {}}, "until says what a release must meet"),
        ({"until": {"expected_matches": 5}}, "needs somebody who attacks"),
        ({"until": {"k": 5}, "intruders": WHO}, "intruders go with a limit"),
        ({"until": {"found": 5}, "intruders": 3}, "intruders is a cf.Intruder"),
        ({"until": {"found": 5}, "intruders": WHO, "share": 0.1}, "Leave share out"),
        ({"until": {"fond": 5}, "intruders": WHO}, 'no risk named "fond". Did you mean "found"'),
        ({"until": {"wrong": 5}, "intruders": WHO}, "a higher wrong is safer"),
        ({"until": K("sex", k=3)}, '"race" is not among the keys'),
        ({"until": K(KEYS, k=3, missing="wildcard")}, "has no classes to put together"),
        ({"until": [K(KEYS, k=3), K(KEYS, k=4)]}, "two limits have the same name"),
        ({"until": cf.measures.HouseholdRisk(["sex"], "id")}, "HouseholdRisk is not followed over levels"),
        ({"until": {"k": 5}, "plan": cf.Plan([cf.Recode("age", width=5)])}, 'makes "age" coarser already'),
        ({"until": {"k": 5}, "plan": cf.Plan(drop="age")}, '"age" is not released in the plan'),
        ({"until": {"k": 5}, "plan": cf.Plan([cf.Swap("sex", rate=0.1)])}, 'the plan alters "sex" at random'),
        ({"until": {"k": 5}, "plan": cf.Plan([cf.Sample(0.5)])}, "leaves out records at random"),
        ({"until": {"k": 5}, "goal": "helinger"}, 'Did you mean "hellinger"'),
        ({"until": {"k": 5}, "tries": 0}, "tries is how many nodes"),
        ({"until": {"k": 5}, "repeats": 0}, "repeats is how many seeds"),
        ({"until": L(KEYS[:3], "age", l=2)}, '"age" is not among the keys'),
    ],
)
def test_what_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.generalise(HEADS.head(300), **({"hierarchies": LEVELS} | asked))


def test_how_near_the_best_comes() -> None:
    ages = {"age": cf.Hierarchy(widths=[5], hide=False)}
    with pytest.raises(cf.InputError, match=r"The nearest is age in steps of 5: k_anonymity is \d+, and at most 0 is"):
        cf.generalise(HEADS.head(300), hierarchies=ages, until={"k": 200})
    with pytest.raises(cf.InputError, match=r"expected_matches is 1\d, and at most 2 is asked. Let age be left out"):
        cf.generalise(HEADS.head(300), hierarchies=ages, until={"expected_matches": 2}, intruders=cf.Intruder("age"))
    strict = T(["sex", "age"], "tenure", t=0.0, kind="equal")
    with pytest.raises(cf.InputError, match="The nearest is"):
        cf.generalise(HEADS.head(300), hierarchies={"age": ages["age"]}, until=strict, share=0.01)
