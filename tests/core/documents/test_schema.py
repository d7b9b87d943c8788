"""The JSON Schemas of documents: what is shipped and written is valid, what the reader refuses is not."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import confide as cf
from confide.cli.demo import study_text
from confide.core.registry import known
from tests.helpers.places import EXAMPLES

STATEMENTS = {"plan": cf.Plan, "intruder": cf.Intruder, "choice": cf.Rule, "study": cf.Study}


def checker(kind: str) -> Draft202012Validator:
    schema = json.loads(json.dumps(STATEMENTS[kind].json_schema()))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


PLANS = [
    cf.Plan(),
    cf.Plan(
        [
            cf.Recode("a", mapping={1: 10, 2: 10}),
            cf.Recode("b", mapping={"x": "z"}),
            cf.Swap(["c", "d"], rate=0.3, within="e"),
            cf.Noise(["f", "g"], sd={"f": 1, "g": 2.5}, bounds=(None, 9)),
            cf.Pram("h", matrix=[[0.9, 0.1], [0.2, 0.8]], levels=(0, 1)),
            cf.MeasurementError("i", noise_variance=cf.Gamma(2, 3)),
            cf.HotDeck(["j"], match=["k"], within=["l", "m"], coarser=[["l"]]),
            cf.MatrixMask.of(cf.Noise("n", sd=1)),
            cf.Sample(0.5),
        ],
        identifiers=["id"], public_codebook=True,
    ),
]  # fmt: skip
INTRUDERS = [
    cf.Intruder(),
    cf.Intruder(knows="sex", membership=cf.Unsure(total=10), beliefs=cf.Uniform({"income": (0, 9)})),
    cf.Intruder(knows=["a"], errors={"a": cf.Pram("a", retention=0.9)}, between={"b": ("low", "high")}),
    cf.Intruder(knows=["a"], others="average", believes=[cf.Swap("a", rate=0.1)], guesses={"window": {"w": 3}}),
]


def test_what_is_shipped_is_valid() -> None:
    for kind in ("plan", "intruder"):
        checker(kind).validate(tomllib.loads((EXAMPLES / f"{kind}.toml").read_text()))
    checker("study").validate(tomllib.loads(study_text()))


@pytest.mark.parametrize(("kind", "stated"), [("plan", PLANS), ("intruder", INTRUDERS)])
def test_what_is_written_is_valid(kind: str, stated: list[Any]) -> None:
    check = checker(kind)
    for each in stated:
        doc = json.loads(json.dumps(each.to_dict()))
        check.validate(doc)
        check.validate({kind: doc})
        check.validate({kind: [{"name": "one", **doc}], "$schema": "here.json"})
    checker("choice").validate(cf.Rule({"expected_matches": 100}, by="means").to_dict())


def test_every_method_and_measure_is_in_it() -> None:
    found = set(cf.Study.json_schema()["$defs"])
    assert {f"method-{n}" for n in known("method")} | {f"measure-{n}" for n in known("measure")} <= found


SWAP = {"method": "swap", "variable": "a", "rate": 0.3}
WRONG: list[tuple[str, Any]] = [
    ("plan", {"identifier": "id"}),
    ("plan", {"steps": [{**SWAP, "method": "swop"}]}),
    ("plan", {"steps": [{k: v for k, v in SWAP.items() if k != "variable"}]}),
    ("plan", {"steps": [{**SWAP, "rat": 0.3}]}),
    ("plan", {"steps": [{**SWAP, "rate": "much"}]}),
    ("plan", {"plan": {"weight": 3}}),
    ("intruder", {"others": "everything"}),
    ("intruder", {"membership": {"weight": "w"}}),
    ("intruder", {"knows": 3}),
    ("choice", {"by": "means"}),
]


@pytest.mark.parametrize(("kind", "doc"), WRONG)
def test_what_the_reader_refuses_is_not_valid(kind: str, doc: dict[str, Any]) -> None:
    with pytest.raises(cf.InputError):
        STATEMENTS[kind].from_dict(doc)
    assert not checker(kind).is_valid(doc)


def test_studies_have_ranges_in_plans_only() -> None:
    study = tomllib.loads(study_text())
    check = checker("study")
    study["plan"][2]["steps"][0]["rate"] = {"from": 0, "to": 0.5, "steps": 3}
    check.validate(study)
    for change in ({"repeats": "five"}, {"repeat": 5}, {"utility": ["mean"]}, {"release": {"wait": "w"}}, {"plan": []}):
        assert not check.is_valid({**study, **change}), change
    assert not checker("plan").is_valid({"steps": [{**SWAP, "rate": {"from": 0, "to": 0.5, "steps": 3}}]})
