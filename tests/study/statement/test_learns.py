"""What must not be learnt: statements, documents, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import confide as cf
from confide.study.statement.learns import as_learns

HEADS = cf.demo("heads").head(300)
COSTS = {"right_identification": 1, "wrong_identification": 0.5, "right_attribution": 2, "wrong_attribution": 1}


def study(learns: Any, data: pl.DataFrame = HEADS, knows: tuple[str, ...] = ("sex", "age"), **more: Any) -> cf.Study:
    plan = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"])
    return cf.Study(data, {"a": plan}, {"near": cf.Intruder(knows=list(knows))}, ["hellinger"], learns=learns, **more)


@pytest.mark.parametrize(
    ("numeric", "stated", "loss", "gain"),
    [
        (True, cf.Learns("v"), cf.Within(share=0.1), 0.5),
        (True, cf.Learns("v", loss=cf.Exceeds(10, cost=1, gain=3)), cf.Exceeds(10, cost=1, gain=3), 1.5),
        (True, cf.Learns("v", loss=cf.Within(0.2), gain=0), cf.Within(0.2), 0.0),
    ],
)
def test_what_is_left_out(numeric: bool, stated: cf.Learns, loss: object, gain: float) -> None:
    assert stated.judged(numeric) == (loss, gain)


def test_categories_are_right_or_wrong() -> None:
    loss, gain = as_learns("tenure").judged(numeric=False, levels=("a", "b"))
    assert (loss.words, gain) == ("0/1 loss: 1 for a wrong value", 0.5)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"variable": ""}, "name one variable"),
        ({"variable": "v", "loss": "absolute"}, "in its own unit, and so is gain"),
        ({"variable": "v", "loss": "squared"}, "own unit squared"),
        ({"variable": "v", "loss": "relative", "gain": 1}, "loss is one of"),
        ({"variable": "v", "loss": abs}, "attack.guess"),
        ({"variable": "v", "gain": "10%"}, "unit of the loss"),
        ({"variable": "v", "gain": 50}, "passed by nobody"),
        ({"variable": "v", "gain": -0.1}, "not below 0"),
        ({"variable": "v", "gain": float("nan")}, "finite"),
        ({"variable": "v", "costs": {"right_identification": 1}}, "missing: wrong_identification"),
        ({"variable": "v", "costs": {**COSTS, "wrong": 1}}, 'no cost "wrong"'),
        ({"variable": "v", "costs": {**COSTS, "wrong_attribution": -1}}, "not below 0"),
        ({"variable": "v", "costs": {**COSTS, "threshold": 90}}, "for 90 percent write 0.9"),
        ({"variable": "v", "loss": "absolute", "gain": 5, "costs": COSTS}, "no guess is right or wrong"),
        ({"variable": "v", "costs": 3}, "costs is a table"),
    ],
)
def test_statements_that_are_wrong(stated: dict[str, Any], words: str) -> None:
    with pytest.raises(cf.InputError, match=words):
        cf.Learns(**stated)


@pytest.mark.parametrize(
    ("learns", "words"),
    [
        (["hh_incom"], 'no column "hh_incom". Did you mean "hh_income"'),
        (["sex"], "every intruder knows"),
        (["id"], "identifier"),
        (["tenure", "tenure"], "listed 2 times"),
        ([cf.Learns("tenure", loss=cf.Within(0.1))], "is categorical"),
        ([cf.Learns("hh_income", loss="absolute", gain=0.5)], "thousandth"),
        ([cf.Learns("hh_income", loss=cf.Exceeds(1e12, cost=1, gain=1))], "outside the values"),
        ([{"variable": "tenure", "gains": 1}], 'unknown key "gains"'),
        ([3], "not int"),
        (7, "learns is a list"),
        (["same"], "everybody has the same"),
        (["none"], "are missing"),
    ],
)
def test_studies_that_cannot_be_meant(learns: Any, words: str) -> None:
    data = HEADS.with_columns(same=pl.lit("a"), none=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(cf.InputError, match=words):
        study(learns, data)


def test_a_measure_cannot_have_the_name_of_a_risk() -> None:
    plan, who = cf.Plan([], identifiers=["id"]), {"near": cf.Intruder(knows=["sex"])}
    with pytest.raises(cf.InputError, match='column named "learnt_tenure"'):
        cf.Study(HEADS, {"a": plan}, who, [cf.Hellinger(label="learnt_tenure")], learns=["tenure"])


def test_documents_go_round(tmp_path: Path) -> None:
    learns = [
        "tenure",
        cf.Learns("hh_income", loss=cf.Within(share=0.2, floor=500), gain=0.25, costs=COSTS),
        cf.Learns("property_value", loss="absolute", gain=20_000),
        cf.Learns("wage_income", loss=cf.Exceeds(50_000, cost=2, gain=1)),
    ]
    stated = study(learns, choice=cf.Rule({"learnt_tenure": "5%"}), seed=1)
    for name in ("study.toml", "study.json"):
        path = stated.save(tmp_path / name, data="demo:heads")
        again = cf.Study.load(path)
        assert again.learns == stated.learns
        assert again.choice == stated.choice
    jsonschema.validate(stated.to_dict(data="demo:heads"), cf.Study.json_schema())


TEXT = """
data = "demo:heads"
learn = [{learn}]
[[plan]]
name = "a"
identifiers = ["id"]
steps = [{{ method = "recode", variable = "age", width = 5 }}]
[[intruder]]
name = "near"
knows = ["sex", "age"]
"""


def written(folder: Path, learn: str) -> Path:
    path = folder / "study.toml"
    path.write_text(TEXT.format(learn=learn))
    return path


def test_short_forms_in_a_file(tmp_path: Path) -> None:
    made = cf.Study.load(written(tmp_path, '"tenure", { variable = "hh_income", loss = { within = 0.2 } }'))
    assert made.learns == (cf.Learns("tenure"), cf.Learns("hh_income", loss=cf.Within(share=0.2)))
    jsonschema.validate({**made.to_dict(), "learn": [{"variable": "v", "loss": {"within": 0.2}}, "tenure"]},
                        cf.Study.json_schema())  # fmt: skip


@pytest.mark.parametrize(
    ("learn", "words"),
    [
        ('{ variable = "hh_income", loss = "absolute" }', r"learn\[0\]: Learns: the absolute loss"),
        ('{ variable = "hh_income", gian = 0.5 }', 'unknown key "gian". Did you mean "gain"'),
        ('"hh_incom"', 'study.toml: learns: there is no column "hh_incom"'),
        ("3", "name of a variable or a table"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, learn: str, words: str) -> None:
    with pytest.raises(cf.InputError, match=words):
        cf.Study.load(written(tmp_path, learn))
