"""Intruders as documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.attack.intruder import Uniform, Unsure
from confide.core.errors import InputError
from tests.helpers.places import EXAMPLES

EXAMPLE = EXAMPLES / "intruder.toml"

INTRUDERS = {
    "plain": cf.Intruder(knows=["sex", "age"]),
    "in file": cf.Intruder(knows="sex", membership="in_file", beliefs="released"),
    "weights": cf.Intruder(knows="sex", membership=cf.Unsure(weights="weight")),
    "total": cf.Intruder(knows="sex", membership=cf.Unsure(total=1e6)),
    "plain rule": cf.Intruder(knows="sex", membership=cf.Unsure(weights="weight", model="proportional")),
    "levels": cf.Intruder(knows="sex", available="average", unavailable="exact", others="exact"),
    "uniform": cf.Intruder(knows="sex", beliefs=cf.Uniform({"income": (0, 1e6), "age": (0, 99)})),
    "no ranges": cf.Intruder(knows="sex", beliefs=cf.Uniform()),
    "believes": cf.Intruder(knows="sex", others="average", believes=[cf.Swap("race", rate=0.1), cf.Noise("x", sd=3)]),
    "errors": cf.Intruder(knows=["a", "b", "c"], errors={"a": 0.1, "b": 3, "c": cf.Pram("c", retention=0.9)}),
    "between": cf.Intruder(knows="sex", between={"income": ("low", "high")}),
}


@pytest.mark.parametrize("name", INTRUDERS)
def test_round_trip(name: str) -> None:
    who = INTRUDERS[name]
    doc = who.to_dict()
    again = cf.Intruder.from_dict(json.loads(json.dumps(doc)))
    assert again.to_dict() == doc
    for part in ("knows", "available", "unavailable", "others", "believes", "errors"):
        assert getattr(again, part) == getattr(who, part)
    assert {v: tuple(p) for v, p in again.between.items()} == dict(who.between)
    assert repr(again.membership) == repr(who.membership)
    assert type(again.beliefs) is type(who.beliefs)
    if isinstance(who.beliefs, Uniform):
        assert isinstance(again.beliefs, Uniform)
        assert again.beliefs.ranges == who.beliefs.ranges


def test_the_form_of_the_document() -> None:
    assert INTRUDERS["uniform"].to_dict()["beliefs"] == {"uniform": {"income": [0, 1e6], "age": [0, 99]}}
    assert INTRUDERS["total"].to_dict()["membership"] == {"total": 1e6}
    assert INTRUDERS["plain rule"].to_dict()["membership"] == {"weights": "weight", "model": "proportional"}
    assert INTRUDERS["believes"].to_dict()["believes"][0] == {
        "method": "swap",
        "variable": "race",
        "rate": 0.1,
    }
    short = cf.Intruder.from_dict({"knows": ["c"], "errors": {"c": {"method": "pram", "retention": 0.9}}})
    assert short.errors == {"c": cf.Pram("c", retention=0.9)}


def test_a_population_is_read_beside_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    pl.DataFrame({"sex": ["f", "m"], "n": [3, 4]}).write_csv(tmp_path / "people.csv")
    file = tmp_path / "deep" / "who.toml"
    file.write_text('[plan]\n[intruder]\nknows = "sex"\nmembership = { population = "../people.csv", count = "n" }\n')
    monkeypatch.chdir("/")
    who = cf.Intruder.load(file)
    assert isinstance(who.membership, Unsure)
    assert who.membership.population["n"].sum() == 7
    assert who.membership.count == "n"
    with pytest.raises(InputError, match="holds no data"):
        who.to_dict()
    assert who.to_dict(population="p.csv")["membership"] == {"population": "p.csv", "count": "n"}
    file.write_text('knows = "sex"\nmembership = { population = "none.csv" }\n')
    with pytest.raises(InputError, match=r"who.toml: membership: .*none.csv"):
        cf.Intruder.load(file)


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ({"know": "sex"}, 'unknown key "know". Did you mean "knows"?'),
        ({"knows": 3}, '"knows" must be text or a list (of text), not a number.'),
        ({"others": "all"}, "others must be one of informed (or sdl), average"),
        ({"membership": 5}, '"membership" must be text or a table, not a number.'),
        ({"membership": {"weight": "w"}}, 'membership: unknown key "weight". Did you mean "weights"?'),
        ({"membership": {"weights": "w", "total": 3}}, "membership: Unsure takes exactly one"),
        ({"membership": {"total": 9, "model": "log"}}, "membership: Unsure: model is one of loglinear, proportional"),
        ({"membership": {"population": 3}}, 'membership: "population" must be the name of a file'),
        ({"beliefs": {"unifor": {}}}, 'beliefs: unknown key "unifor".'),
        ({"beliefs": {"uniform": {"x": [3, 1]}}}, 'beliefs: Uniform: the range of "x"'),
        ({"believes": [{"method": "swap", "rate": 0.1}]}, 'believes[0] (swap): "variable" is missing.'),
        ({"knows": "a", "errors": {"a": {"method": "no"}}}, 'errors.a: unknown method "no".'),
        ({"plan": {}}, "There is no [intruder] here, only [plan]."),
    ],
)
def test_what_is_wrong_and_where(doc: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        cf.Intruder.from_dict(doc)
    assert said in str(caught.value)


def test_everything_at_once() -> None:
    with pytest.raises(InputError) as caught:
        cf.Intruder.from_dict({"know": "sex", "believes": [{"method": "swap", "rat": 1}], "others": 3}, source="a.toml")
    assert str(caught.value).count("a.toml: ") == 5


def test_the_example_runs() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], identifiers=["id"])
    release = plan.protect(cf.demo("heads").head(300), seed=1)
    for name in ("neighbour", "stranger"):
        assert cf.Intruder.load(EXAMPLE, name).attack(release, progress=False).units.height == 300
    with pytest.raises(InputError, match="pick one by its name: neighbour, stranger"):
        cf.Intruder.load(EXAMPLE)


def test_informed_is_a_spelling_of_sdl() -> None:
    """Stored, keyed and written as before: whoever writes "informed" has the same intruder."""
    parts = dict.fromkeys(("available", "unavailable", "others"), "informed")
    plain = cf.Intruder(knows=["sex"])
    for who in (
        cf.Intruder(knows=["sex"], **parts),
        cf.Intruder.at("informed", knows=["sex"]),
        cf.Intruder.from_dict({"knows": ["sex"], **parts}),
    ):
        assert (repr(who), who.levels, who.to_dict()) == (repr(plain), ("sdl",) * 3, {"knows": ["sex"]})
    lone = cf.Intruder.from_dict({"knows": ["sex"], "available": "naive", "others": "informed"})
    assert lone.to_dict() == {"knows": ["sex"], "available": "naive"}
