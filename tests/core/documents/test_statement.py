"""Plans, intruders, rules and studies as files: one way to load and save them all."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.cli.demo import study_text

STATED = [
    cf.Plan([cf.Recode("age", mapping={1: 10, 2: 10}), cf.Noise("x", sd=1, bounds=(None, 9))], identifiers=["id"]),
    cf.Intruder(knows=["sex"], membership=cf.Unsure(total=100), beliefs=cf.Uniform({"x": (0, 9)})),
    cf.Rule({"expected_matches": 100}, by="means", cautious=True),
]


@pytest.mark.parametrize("stated", STATED, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("form", ["toml", "json"])
def test_what_is_saved_is_loaded(tmp_path: Path, stated: Any, form: str) -> None:
    path = stated.save(tmp_path / f"it.{form}")
    assert path == tmp_path / f"it.{form}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = type(stated).load(path)
    assert again.to_dict() == stated.to_dict()
    with pytest.raises(cf.InputError, match="exists and is not overwritten; write overwrite=True"):
        stated.save(path)
    stated.save(path, overwrite=True)
    with pytest.raises(cf.InputError, match=r"ends in \.toml or \.json"):
        stated.save(tmp_path / "it.yaml")


def test_a_section_of_a_file_states_it_too(tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text('[plan]\ndrop = "x"\n[intruder]\nknows = "a"\n[choice]\nmax_risk = { expected_matches = 3 }\n')
    assert cf.Plan.load(file).drop == ("x",)
    assert cf.Intruder.load(file).knows == ("a",)
    assert cf.Rule.load(file).max_risk == {"expected_matches": 3}


def test_an_editors_key_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"$schema": "plan.schema.json", "drop": ["x"]}))
    assert cf.Plan.load(tmp_path / "plan.json") == cf.Plan(drop=["x"])


def test_what_no_document_can_hold_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    def merged(value: object) -> object:
        return value

    people = pl.DataFrame({"sex": ["f"]})
    for stated, said in (
        (cf.Plan([cf.Recode("a", mapping={"x": merged})]), r"steps\[0\] \(recode\).mapping holds a value of type func"),
        (cf.Intruder(knows=["sex"], membership=cf.Unsure(population=people)), "holds no data: save the population"),
    ):
        with pytest.raises(cf.InputError, match=said):
            stated.save(tmp_path / "it.toml")
    assert not [*tmp_path.iterdir()]


def test_a_population_is_named_by_its_file(tmp_path: Path) -> None:
    people = pl.DataFrame({"sex": ["f", "m"], "n": [3, 4]})
    people.write_csv(tmp_path / "people.csv")
    who = cf.Intruder(knows=["sex"], membership=cf.Unsure(population=people, count="n"))
    again = cf.Intruder.load(who.save(tmp_path / "who.toml", population="people.csv"))
    assert again.membership.population.equals(people)


def study(**changes: Any) -> cf.Study:
    stated: dict[str, Any] = {
        "plans": {"noise": cf.Plan([cf.Noise("income", sd=9)])},
        "intruders": {"press": cf.Intruder(knows=["age"])},
        "utility": [cf.Means("income"), "hellinger", cf.InverseMse("mean(age)", relative=False)],
        "copies": {"noise": 2},
        "choice": cf.Rule({"expected_matches": 10}, by="means"),
        "seed": 7,
        "title": "A try",
    }
    return cf.Study(cf.demo("elites"), **(stated | changes))


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_study_is_saved_and_loaded(tmp_path: Path, form: str) -> None:
    first = study()
    again = cf.Study.load(first.save(tmp_path / f"study.{form}", data="demo:elites"))
    assert again.to_dict() == first.to_dict(data="demo:elites")
    assert (again.seed, again.copies, again.choice, again.title) == (7, {"noise": 2}, first.choice, "A try")
    assert [m.name for m in again.measures] == [m.name for m in first.measures]


def test_a_study_with_ranges_keeps_them(tmp_path: Path) -> None:
    rate = "rate = {from = 0.1, to = 0.3, steps = 3}"
    (tmp_path / "study.toml").write_text(study_text().replace("rate = 0.30", rate, 1))
    first = cf.Study.load(tmp_path / "study.toml")
    again = cf.Study.load(first.save(tmp_path / "again.toml"))
    assert [c.name for c in again.candidates] == [c.name for c in first.candidates]
    assert "from = 0.1" in (tmp_path / "again.toml").read_text()


class Own:
    """A measure that is not registered."""

    name, direction, range, best = "own", "lower", (0.0, 1.0), 0.0

    def __call__(self, original: Any, released: Any, *, weight: Any = None, link: Any = None) -> float:  # noqa: ARG002
        return 0.0


def test_everything_that_a_study_cannot_write_is_said_at_once() -> None:
    made = cf.Sweep(lambda sd: cf.Plan([cf.Noise("income", sd=sd)]), sd=[1, 2])
    people = cf.Intruder(knows=["age"], membership=cf.Unsure(population=pl.DataFrame({"age": [1]})))
    with pytest.raises(cf.InputError) as caught:
        study(plans={"swept": made}, intruders={"press": people}, utility=[Own()], copies={}, choice=None).to_dict()
    for said in (
        "A document holds no data: save them, and name their file",
        'plan "swept": a sweep that is made by a function',
        'intruder "press": A document holds no data',
        'measure "own": the class Own has no place in a document: it is not registered.',
    ):
        assert said in str(caught.value)
    assert str(caught.value).count("\n  - ") == 4


def test_a_name_goes_with_tables_that_have_one(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study_text())
    with pytest.raises(cf.InputError, match="A file holds one study; leave name out"):
        cf.Study.load(tmp_path / "study.toml", "first")
