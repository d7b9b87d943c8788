"""A first look: counts against a slow twin, measures against their own calls, and what must hold whatever the file."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.minimal_sets import minimal_sets
from tests.helpers.places import ROOT

HEADS = cf.demo("heads")
KEYS = ["sex", "race", "marital", "age"]
SIX = [*KEYS, "educ", "state"]


@cache
def some() -> cf.Look:
    return cf.look(HEADS.head(3_000), keys=SIX, weight="weight")


@cache
def persons() -> cf.Look:
    return cf.look(pl.read_parquet(ROOT / "tests/data/persons_in_households.parquet"), population=50_000)


def sizes(rows: list[tuple[object, ...]]) -> list[int]:
    """How many rows equal each, by plain counting."""
    count = Counter(rows)
    return [count[r] for r in rows]


def random_people(seed: int, n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({v: rng.integers(0, k, n) for v, k in {"a": 2, "b": 3, "c": 5, "d": 9}.items()})
    return frame.with_columns(pl.when(pl.col("b") > 0).then("b"), money=pl.Series(rng.integers(0, 4, n)))


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_a_slow_twin(seed: int) -> None:
    people = random_people(seed)
    keys = ["a", "b", "c", "d"]
    found = cf.look(people, keys=keys, sensitive="money")
    alike = sizes(people.select(keys).rows())
    assert found.frame["alike"].to_list() == alike
    assert found.counted.alone == alike.count(1)
    assert found.counted.below == tuple(sum(f < k for f in alike) for k in (2, 3, 5))
    assert found.found("sure") == pytest.approx(sum(1 / f for f in alike))
    assert found.found("unsure") is None
    assert found.frame["individual_risk"].to_list() == pytest.approx([1 / f for f in alike])
    for r in found.drivers.iter_rows(named=True):
        rest = sizes(people.select([k for k in keys if k != r["variable"]]).rows())
        assert (r["alone_without"], r["found_without"]) == (rest.count(1), round(sum(1 / f for f in rest)))


@pytest.mark.parametrize("seed", range(4))
def test_growth_takes_the_key_that_adds_most(seed: int) -> None:
    people, taken = random_people(seed), list[str]()
    for r in cf.look(people, keys=["a", "b", "c", "d"]).growth.iter_rows(named=True):
        tried = {k: len(set(people.select([*taken, k]).rows())) for k in ("a", "b", "c", "d") if k not in taken}
        taken.append(r["added"])
        assert r["found"] == tried[r["added"]] == max(tried.values())
        alike = sizes(people.select(taken).rows())
        assert (r["alone"], r["below_5"]) == (alike.count(1), sum(f < 5 for f in alike))
    assert len(taken) == 4


@pytest.mark.parametrize("seed", range(3))
def test_sets_are_those_of_one_person_at_a_time(seed: int) -> None:
    people, keys = random_people(seed), ["a", "b", "c", "d"]
    found = cf.look(people, keys=keys)
    from confide.frames.encoded import Encoded

    records = Encoded(people).records(keys, dict.fromkeys(keys, "categorical"))
    mine = [minimal_sets(records, row) for row in range(people.height)]
    every = Counter(s for sets in mine for s in sets)
    assert {tuple(r["variables"]): r["minimal"] for r in found.sets.iter_rows(named=True)} == dict(every)
    assert dict(found.alone_on) == dict(Counter(min(map(len, sets)) for sets in mine if sets))
    for r in found.sets.iter_rows(named=True):
        assert r["alone"] == sizes(people.select(r["variables"]).rows()).count(1)


@pytest.mark.slow
def test_the_shipped_householders() -> None:
    found = cf.look(HEADS, keys=SIX, weight="weight")
    assert found.counted.alone == 31_411
    assert found.counted.below == (31_411, 41_739, 48_699)
    assert found.found("sure") == pytest.approx(39_123)
    assert found.frame["suda"].max() == 126
    assert found.growth["added"].to_list()[:2] == ["age", "state"]
    assert found.drivers["variable"][0] == "age"
    assert dict(found.alone_on) == {1: 1, 2: 413, 3: 10_645, 4: 14_357, 5: 5_329, 6: 666}


def test_numbers_are_those_of_the_measures() -> None:
    found, people = some(), HEADS.head(3_000)
    risk = cf.measures.IndividualRisk(SIX, weight="weight").of(people)
    assert found.frame["individual_risk"].to_list() == risk.frame["risk"].to_list()
    suda = cf.measures.Suda(SIX).of(people)
    assert found.frame["suda"].to_list() == suda.frame["score"].to_list()
    uniques = cf.measures.PopulationUniques(SIX, weight="weight").of(people)
    assert found.population["tau1"].to_list() == uniques.table["tau1"].to_list()
    assert found.population.columns[:2] == ["estimator", "tau1"]
    assert {"tau2", "uniques", "tau1_low", "tau1_high"} <= set(found.population.columns)
    few = cf.measures.LDiversity(SIX, "wage_income", l=2).of(people)
    assert found.measures["l_diversity_wage_income"].numbers == few.numbers


def test_the_attack_is_that_of_an_intruder_who_knows_the_keys() -> None:
    people = HEADS.head(2_000)
    found = cf.look(people, keys=KEYS, weight="weight")
    release = cf.Plan([], identifiers=["id"]).protect(people, seed=3)
    for name, membership in {"sure": "certain", "unsure": cf.Unsure(weights="weight")}.items():
        attack = cf.Intruder(knows=KEYS, membership=membership).attack(release).summary()
        assert found.found(name) == pytest.approx(attack.found)


def test_a_file_of_the_population_is_counted() -> None:
    sample = HEADS.gather_every(5)
    found = cf.look(sample, keys=KEYS, population=HEADS, guess=False)
    joined = sample.join(HEADS.group_by(KEYS).len("people"), on=KEYS, how="left")["people"]
    assert found.frame["individual_risk"].to_list() == pytest.approx((1 / joined).to_list())
    alone = found.frame["alike"] == 1
    first = found.population.row(0, named=True)
    assert first["estimator"] == "counted"
    assert first["tau1"] == (alone & (joined == 1)).sum()
    assert first["tau2"] == pytest.approx((1 / joined.filter(alone)).sum())
    assert first["uniques"] == (HEADS.group_by(KEYS).len()["len"] == 1).sum()
    model = found.population.row(1, named=True)
    assert model["tau1_low"] <= first["tau1"] <= model["tau1_high"]
    assert found.stated.counted


@pytest.mark.slow
def test_the_truth_in_the_shipped_population() -> None:
    """tau1 14, tau2 57.6 and 188 population uniques, as counted by hand; the model is near them."""
    found = cf.look(HEADS, keys=KEYS, population=cf.demo("heads_population"), count="n_pop", guess=False)
    first, model = (found.population.row(k, named=True) for k in (0, 1))
    assert (first["tau1"], round(first["tau2"], 1), first["uniques"]) == (14, 57.6, 188)
    assert round(first["dis"], 4) == 0.0421
    assert (round(model["tau1"], 1), round(model["tau2"], 1)) == (9.0, 53.0)
    assert model["tau1_low"] <= 14 <= model["tau1_high"]
    assert found.stated.total == 1_016_437
    people = cf.demo("heads_population").group_by(KEYS).agg(pl.col("n_pop").sum())
    size = HEADS.join(people, on=KEYS, how="left")["n_pop"]
    assert found.found("unsure") == pytest.approx((1 / size).sum())


def test_roles_that_nobody_stated_are_marked() -> None:
    assert some().stated.guessed == {"sensitive"}
    assert persons().stated.guessed == {"keys", "sensitive", "unit"}
    assert "confirmed by nobody: keys puma" in persons().doubts[0]
    nothing = cf.look(HEADS.head(500), keys=KEYS, guess=False)
    assert not nothing.stated.guessed
    assert (nothing.stated.sensitive, nothing.stated.weight) == ((), None)
    assert any("Nothing says how many people" in d for d in nothing.doubts)


def test_households_are_found_by_all_their_members() -> None:
    found = persons()
    assert found.units == 4_226
    same = cf.measures.HouseholdRisk(list(found.stated.keys), "hid").of(
        pl.read_parquet(ROOT / "tests/data/persons_in_households.parquet")
    )
    assert found.measures["household_risk"].numbers == same.numbers


def test_a_release_is_looked_at_as_it_goes_out() -> None:
    people = HEADS.head(800)
    coarse = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(people, seed=1)
    found = cf.look(coarse, keys=KEYS, guess=False)
    assert found.counted == cf.look(coarse.data, keys=KEYS, guess=False).counted
    assert not any("Altered at random" in d for d in found.doubts)
    swapped = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(people, seed=1)
    assert any("Altered at random: race" in d for d in cf.look(swapped, keys=KEYS, guess=False).doubts)


def test_small_groups_are_not_shown() -> None:
    found = persons()
    assert found.groups["people"].min() >= 10  # type: ignore[operator]
    assert found.small_groups > 0
    whole = found.groups.filter(variable="sex")
    assert whole["people"].sum() == found.rows
    assert whole["found"].sum() == pytest.approx(found.found("sure"))


def test_labels_name_groups_and_missing_is_a_group() -> None:
    sex = cf.VariableSchema("sex", value_labels={1: "man", 2: "woman"})
    people = cf.Data({"sex": [1, 2, None] * 20, "age": [*range(20, 35)] * 4}, cf.Schema({"sex": sex}))
    found = cf.look(people, keys=["sex", "age"])
    assert set(found.groups.filter(variable="sex")["group"]) == {"man", "woman", "(missing)"}
    assert any("Missing counts as a value of its own" in d for d in found.doubts)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(12, 40))
def test_whatever_the_file(seed: int, n: int) -> None:
    people = random_people(seed, n).select("a", "b", "c")
    found = cf.look(people, keys=["a", "b", "c"], guess=False)
    again = cf.look(people.sample(fraction=1, shuffle=True, seed=seed), keys=["c", "a", "b"], guess=False)
    assert found.counted == again.counted
    assert found.found("sure") == pytest.approx(again.found("sure"))
    assert (found.growth["found"].diff().drop_nulls() >= 0).all()
    assert (found.growth["alone"].diff().drop_nulls() >= 0).all()
    assert found.frame["individual_risk"].is_between(0, 1).all()
    assert sum(found.alone_on.values()) == found.counted.alone
    assert sorted(found.frame["suda"]) == pytest.approx(sorted(again.frame["suda"]))


def test_every_pair_of_keys_is_no_riskier_than_all() -> None:
    people = random_people(7)
    whole = cf.look(people, keys=["a", "b", "c", "d"]).counted
    for pair in combinations("abcd", 2):
        part = cf.look(people, keys=list(pair)).counted
        assert part.alone <= whole.alone
        assert part.classes <= whole.classes


def test_saved_by_the_ending(tmp_path_factory: pytest.TempPathFactory) -> None:
    import json

    folder = tmp_path_factory.mktemp("look")
    found = cf.look(HEADS.head(500), keys=KEYS)
    plain = json.loads(found.save(folder / "look.json").read_text())
    assert plain["roles"]["keys"] == KEYS
    assert plain["summary"][0] == {"measure": "rows", "value": 500.0, "share": None, "what": "rows of the file"}
    assert "frame" not in plain
    assert cf.read(found.save(folder / "look.csv")).columns == ["row", "alike", "individual_risk", "suda"]
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
