"""Study files: what they state, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import confide as cf

GOOD = """
title = "Swaps"
data = "people.csv"
repeats = 2
seed = 4
threshold = 0.1
utility = ["means"]

[release]
identifiers = ["id"]
weight = "weight"

[[plan]]
name = "swap"
[[plan.steps]]
method = "swap"
variable = "race"
rate = {from = 0.1, to = 0.5, steps = 3}

[[plan]]
name = "recode"
drop = ["state"]
[[plan.steps]]
method = "recode"
variable = "age"
width = 5

[[intruder]]
name = "near"
knows = ["sex", "race", "age"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cf.demo("heads").head(300).write_csv(tmp_path / "people.csv")
    return tmp_path


def load(folder: Path, text: str) -> cf.Study:
    (folder / "study.toml").write_text(text)
    return cf.Study.load(folder / "study.toml")


def test_a_file_states_a_study(folder: Path) -> None:
    study = load(folder, GOOD)
    assert [c.name for c in study.candidates] == ["swap [rate=0.1]", "swap [rate=0.3]", "swap [rate=0.5]", "recode"]
    assert study.candidates[3].plan.drop == ("state",)
    assert all(c.plan.identifiers == ("id",) and c.plan.weight == "weight" for c in study.candidates)
    assert (study.title, study.repeats, study.seed, study.threshold) == ("Swaps", 2, 4, 0.1)
    assert study.everything.plan.drop == ()
    frame = study.run().frame
    assert frame["value"].unique().sort().to_list() == [None, 0.1, 0.3, 0.5]
    assert frame.filter(pl.col("sweep") == "swap").height == 6


def test_five_mistakes_are_five_sentences_with_places(folder: Path) -> None:
    text = (
        GOOD.replace("repeats = 2", "repeats = 0")
        .replace('method = "swap"', 'method = "swop"')
        .replace('variable = "age"', 'variable = "aeg"')
        .replace('"race", "age"]', '"rice"]')
        .replace('utility = ["means"]', 'utility = ["hellinger", "mean"]')
    )
    with pytest.raises(cf.InputError) as e:
        load(folder, text)
    lines = str(e.value).splitlines()[1:]
    assert len(lines) == 5
    assert all(line.startswith("  - study.toml: ") for line in lines)
    said = "\n".join(lines)
    for part in (
        "repeats is how often",
        'plan "swap".steps[0]: unknown method "swop". Did you mean "swap"?',
        'plan "recode": Recode: there is no column "aeg". Did you mean "age"?',
        'intruder "near": there is no column "rice". Did you mean "race"?',
        'utility[1]: There is no measure of utility named "mean". Did you mean "means"?',
    ):
        assert part in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('data = "people.csv"\n', "", "data: must be the name of a file"),
        ("people.csv", "persons.csv", "data: .*persons.csv"),
        ("people.csv", "demo:hats", 'Did you mean "heads"'),
        ("seed = 4", "seed = -4", "seed must be"),
        ("threshold = 0.1", "threshold = 10", "for 10 percent write 0.1"),
        ("threshold = 0.1", "tresh = 0.1", 'unknown key "tresh". Did you mean "threshold"'),
        ('title = "Swaps"', "title = 3", "title: must be text"),
        ('name = "near"', "", r'intruder\[0\]: "name" is missing'),
        ('name = "recode"', 'name = "swap"', '2 .*plan.* tables are named "swap"'),
        ('utility = ["means"]', "utility = []", "utility: names measures"),
        ('utility = ["means"]', "utility = [3]", r"utility\[0\]: must be a name or a table"),
        ('utility = ["means"]', 'utility = ["means", "means"]', 'two measures are named "means"'),
        ('weight = "weight"', 'wait = "weight"', 'release: unknown key "wait". Did you mean "weight"'),
        ("steps = 3}", "steps = 1}", r'plan "swap".steps\[0\].rate: steps is how many'),
        ("to = 0.5", "to = 5", 'plan "swap": at rate=2.55: .*fraction'),
        ("rate = {", "rates = {", 'plan "swap".steps.*unknown key "rates"'),
        ('knows = ["sex", "race", "age"]', "", 'intruder "near" knows nothing'),
        ("width = 5", "", 'plan "recode".steps'),
        ('drop = ["state"]', "copies = 1.5", 'copies of "recode"'),
    ],
)
def test_a_mistake_gets_a_sentence_with_its_place(folder: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(cf.InputError, match=said):
        load(folder, GOOD.replace(old, new))


def test_an_empty_file_of_data(folder: Path) -> None:
    pl.DataFrame(schema={"sex": pl.String}).write_csv(folder / "people.csv")
    with pytest.raises(cf.InputError, match="no rows"):
        load(folder, GOOD)


def test_not_a_study_at_all(folder: Path) -> None:
    with pytest.raises(cf.InputError, match="not TOML"):
        load(folder, "plan = = 3")
    with pytest.raises(cf.InputError, match="cannot be read"):
        cf.Study.load(folder / "none.toml")
    with pytest.raises(cf.InputError, match=r"plan\[0\]: must be a table"):
        cf.Study.from_dict({"data": "demo:elites", "plan": ["swap"], "intruder": [{"name": "a", "knows": ["age"]}]})
    with pytest.raises(cf.InputError, match="release: must be a table"):
        cf.Study.from_dict(
            {"data": "demo:elites", "release": 3, "plan": {"name": "p"}, "intruder": {"name": "a", "knows": ["age"]}}
        )


def test_copies_and_populations_in_a_file(folder: Path) -> None:
    cf.demo("heads").select("sex", "race", "age").write_csv(folder / "population.csv")
    text = GOOD + '[intruder.membership]\npopulation = "population.csv"\n'
    text = text.replace('drop = ["state"]', "copies = 2").replace('method = "recode"\nvariable = "age"\nwidth = 5',
                        'method = "normal_synthesis"\nvariable = "hh_income"\ngiven = ["sex", "age"]')  # fmt: skip
    study = load(folder, text)
    assert study.copies == {"recode": 2}
    assert isinstance(study.intruders["near"].membership.population, pl.DataFrame)
    assert study.run().frame.filter(plan="recode").height == 2


def test_a_rule_in_the_file_makes_the_choice(folder: Path) -> None:
    study = load(folder, GOOD + '[choice]\nmax_risk = {expected_matches = 200}\nby = "means"\ncautious = true\n')
    assert study.choice == cf.Rule({"expected_matches": 200}, "means", cautious=True)
    result = study.run()
    assert result.choose().plan == result.choose({"expected_matches": 200}, "means", cautious=True).plan
    with pytest.raises(cf.InputError, match="Say what risk is tolerable"):
        load(folder, GOOD).run().choose()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("max_risk = 100", r'choice: "max_risk" must be a table'),
        ("max_risk = {matches = 100}", 'choice: max_risk: there is no risk named "matches"'),
        ("max_risk = {expected_matches = -1}", "choice: max_risk: .*from 0 upwards"),
        ('by = "means"', 'choice: "max_risk" is missing'),
        ('max_risk = {expected_matches = 100}\nby = "median"', 'choice: by: .*"median"'),
        ('max_risk = {expected_matches = 100}\nintruder = "nera"', 'choice: .*Did you mean "near"'),
        ("max_risk = {expected_matches = 100}\nlimit = 1", 'choice: unknown key "limit"'),
        ('max_risk = {expected_matches = 100}\ncautious = "yes"', 'choice: "cautious" must be'),
    ],
)
def test_a_rule_with_a_mistake(folder: Path, rule: str, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        load(folder, f"{GOOD}[choice]\n{rule}\n")


def test_mistakes_of_the_rule_are_said_with_the_others(folder: Path) -> None:
    text = GOOD.replace('["means"]', '["mean"]').replace('"race", "age"]', '"race", "rice"]')
    with pytest.raises(cf.InputError) as e:
        load(folder, text + '[choice]\nmax_risk = {matches = 100}\nintruder = "nera"\nby = "mean"\n')
    for said in ('named "mean"', '"rice"', 'named "matches"', 'Did you mean "near"'):
        assert said in str(e.value)
    assert str(e.value).count("\n  - ") == 4


def test_several_measures_and_no_name_to_choose_by(folder: Path) -> None:
    text = GOOD.replace('["means"]', '["means", "hellinger"]') + "[choice]\nmax_risk = {expected_matches = 100}\n"
    with pytest.raises(cf.InputError, match="choice: There are several measures"):
        load(folder, text)
