"""Plans as documents: what is written can be read, and what is wrong is said all at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.documents.plain import Reader, Writer
from confide.core.errors import InputError
from confide.core.registry import KINDS, known
from tests.helpers.places import EXAMPLES

NUMBER = st.integers(1, 10**6) | st.floats(0.01, 1e6)
SHARE = st.floats(0.01, 1.0)
VALUE = st.text(max_size=5) | st.integers(-9, 9) | st.booleans()
RISING = st.lists(st.integers(-50, 50), min_size=1, max_size=4, unique=True).map(sorted)
LIMITS = st.sampled_from([None, (0, 600_000), (None, 5), (1.5, None)])
MATRIX = [[0.9, 0.1], [0.25, 0.75]]


@st.composite
def steps(draw: st.DrawFn) -> list[Any]:
    """Every method, each on a variable of its own, with any of its options."""
    counted = draw(st.sampled_from([cf.Pram(["c", "d"], retention=draw(SHARE)), cf.Pram("c", matrix=MATRIX)]))
    coded = cf.Pram("e", matrix=MATRIX, levels=draw(st.sampled_from([(0, 1), ("x", "y"), (True, False)])))
    return [
        cf.Recode("a", width=draw(NUMBER), start=draw(st.integers(-5, 5))),
        cf.Recode("b", breaks=draw(RISING)),
        cf.Recode("j", breaks=[1, 2], labels=["low", "middle", "high"]),
        cf.Recode("k", mapping=draw(st.dictionaries(VALUE, VALUE, min_size=1))),
        counted,
        coded,
        cf.Topcode("l", at=draw(NUMBER)),
        cf.Bottomcode("m", at=draw(st.integers(-9, 9))),
        cf.Round("n", base=draw(NUMBER)),
        cf.Swap(
            draw(st.sampled_from(["o", ["o", "p"]])),
            rate=draw(SHARE),
            within=draw(st.sampled_from(["", "q", ["q", "r"]])),
            jointly=draw(st.booleans()),
            force=draw(st.sampled_from([None, "flag", (3, 17)])),
            simulate=draw(st.integers(0, 3)),
        ),
        cf.Swap("s", rate=0.5, keys=["t"], within=["u"], candidates="unique"),
        cf.Noise("v", sd=draw(NUMBER), bounds=draw(LIMITS), keep_zeros=draw(st.booleans())),
        cf.Noise(
            ["w", "x"],
            sd={"w": draw(NUMBER), "x": 2.0},
            correlation=draw(st.sampled_from([None, 0.5, "data"])),
        ),
        cf.Noise("y", relative=draw(st.floats(0.01, 9)), sequential=draw(st.booleans())),
        cf.Sample(fraction=draw(SHARE)),
    ]


@given(all_steps=steps(), keep=st.data())
@settings(max_examples=60, deadline=None)
def test_every_method_survives_a_round_trip(all_steps: list[Any], keep: st.DataObject) -> None:
    chosen = keep.draw(st.lists(st.sampled_from(all_steps), unique_by=id))
    names = [v for s in chosen for v in (*s.variables, *s.needs)]
    plan = cf.Plan(
        chosen, identifiers=["id"], weight=keep.draw(st.sampled_from([None, "weight"])),
        drop=["flag", *(v for v in ("secret",) if v not in names)],
    )  # fmt: skip
    doc = plan.to_dict()
    assert cf.Plan.from_dict(doc) == plan
    assert cf.Plan.from_dict(json.loads(json.dumps(doc, allow_nan=False))) == plan
    again = cf.Plan.from_dict(doc).to_dict()
    assert again == doc  # also what `==` of a step leaves out, as the matrix of a Pram


def test_only_what_differs_from_the_defaults_is_written() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.3, jointly=True), cf.Swap(["a", "b"], rate=0.1)])
    assert plan.to_dict() == {
        "steps": [
            {"method": "swap", "variable": "race", "rate": 0.3},
            {"method": "swap", "variables": ["a", "b"], "rate": 0.1},
        ]
    }
    assert cf.Plan().to_dict() == {}
    assert cf.Plan.from_dict({}) == cf.Plan()


@pytest.mark.parametrize("key", ["variable", "variables", "what"])
@pytest.mark.parametrize("names", ["age", ["age"]])
def test_either_spelling_of_the_variables(key: str, names: Any) -> None:
    plan = cf.Plan.from_dict({"steps": [
        {"method": "recode", key: names, "width": 5}, {"method": "noise", key: names, "sd": 1},
    ]})  # fmt: skip
    assert plan == cf.Plan([cf.Recode("age", width=5), cf.Noise("age", sd=1)])


def test_toml_pairs_tables_and_no_limit(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        '[[steps]]\nmethod = "recode"\nvariable = "a"\nmapping = [[1, 10], [2, 10]]\n'
        '[[steps]]\nmethod = "recode"\nvariable = "b"\nmapping = { x = "z", "y y" = "z" }\n'
        '[[steps]]\nmethod = "noise"\nvariable = "c"\nsd = 1\nbounds = [-inf, 9]\n'
    )
    plan = cf.Plan.load(file)
    assert plan.steps[0].mapping == {1: 10, 2: 10}  # type: ignore[attr-defined]
    assert plan.steps[1].mapping == {"x": "z", "y y": "z"}  # type: ignore[attr-defined]
    assert plan.steps[2].bounds == (None, 9)  # type: ignore[attr-defined]
    assert plan.to_dict()["steps"][0]["mapping"] == [[1, 10], [2, 10]]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        'identifier = "id"\nweight = 3\n[[steps]]\nmethod = "recod"\n[[steps]]\nmethod = "swap"\nrat = 0.3\n'
        '[[steps]]\nvariable = "age"\n'
        '[[steps]]\nmethod = "noise"\nvariable = "x"\nsd = "much"\nkeep_zeros = 1\n'
        '[[steps]]\nmethod = "swap"\nvariable = "race"\nrate = 30\n'
        '[[steps]]\nmethod = "recode"\nvariable = ["a", "b"]\nwidth = true\n'
        '[[steps]]\nmethod = "recode"\nvariable = "c"\nmapping = [[1, 2], [1, 3], [2, 3]]\n'
    )
    with pytest.raises(InputError) as caught:
        cf.Plan.load(file)
    said = str(caught.value)
    for sentence in (
        'plan.toml: unknown key "identifier". Did you mean "identifiers"?',
        'plan.toml: "weight" must be text, not a number.',
        'steps[0]: unknown method "recod". Did you mean "recode"?',
        'steps[1] (swap): unknown key "rat". Did you mean "rate"?',
        'steps[1] (swap): "variable" is missing.',
        'steps[1] (swap): "rate" is missing.',
        'steps[2]: must be a table with a "method"',
        'steps[3] (noise): "sd" must be a number or a table (of number), not text.',
        'steps[3] (noise): "keep_zeros" must be true or false, not a number.',
        "steps[4] (swap): " + 'Swap("race"): rate is a fraction between 0 and 1; for 30 percent write 0.3.',
        'steps[5] (recode): "variable" must be text, not a list.',
        'steps[5] (recode): "width" must be a number, not true or false.',
        "steps[6] (recode).mapping: 1 of 3 pairs repeat an old value.",
    ):
        assert sentence in said, sentence
    assert said.count("\n") == 13


def test_an_impossible_plan_is_refused_by_the_plan_itself() -> None:
    twice = [{"method": "swap", "variable": "race", "rate": 0.1}] * 2
    with pytest.raises(InputError, match="altered at random twice"):
        cf.Plan.from_dict({"steps": twice})


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ({"steps": {"method": "swap"}}, '"steps" must be a list, not a table'),
        ({"steps": ["swap"]}, r"steps\[0\]: must be a table"),
        ({"plan": {}, "weight": "w"}, r'"weight" stands outside of \[plan\]'),
        ({"intruder": {}}, r"There is no \[plan\] here, only \[intruder\]"),
        ({"plan": [{"name": "a"}, {"name": "b"}]}, "pick one by its name: a, b"),
        ({"plan": 3}, "plan: must be a table of keys and values, not a number"),
        ([], "must be a table"),
    ],
)
def test_documents_of_the_wrong_shape(doc: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cf.Plan.from_dict(doc)


def test_sections_and_names() -> None:
    table = {"drop": ["x"]}
    assert cf.Plan.from_dict({"plan": table, "intruder": {"knows": "a"}}) == cf.Plan(drop=["x"])
    assert cf.Plan.from_dict({**table, "intruder": {"knows": "a"}}) == cf.Plan(drop=["x"])
    several = {"plan": [{"name": "mild"}, {"name": "strong", **table}]}
    assert cf.Plan.from_dict(several, name="strong") == cf.Plan(drop=["x"])
    with pytest.raises(InputError, match=r'no plan named "stron"\. Did you mean "strong"\?'):
        cf.Plan.from_dict(several, name="stron")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        cf.Plan.load(tmp_path / "none.toml")
    cases = [
        ("a.toml", b"steps = [", "is not TOML"),
        ("a.json", b"{", "is not JSON"),
        ("b.json", b"[]", "must hold a table"),
        ("b.toml", b"\xff", "not UTF-8"),
    ]
    for name, text, said in cases:
        (tmp_path / name).write_bytes(text)
        with pytest.raises(InputError, match=said):
            cf.Plan.load(tmp_path / name)
    (tmp_path / "c.json").write_text("\ufeff" + json.dumps({"weight": "w"}), encoding="utf-8")
    assert cf.Plan.load(tmp_path / "c.json").weight == "w"


@dataclass(frozen=True)
class Gamma:
    shape: float
    scale: float = 1.0


@dataclass(frozen=True)
class Normal:
    sd: float


@dataclass(frozen=True)
class Invented:
    """A method that the documents have never heard of."""

    what: str
    law: Gamma | Normal
    most: float | None
    only: Gamma | None = None
    codes: Mapping[int, str] | None = None

    method: ClassVar[str] = "invented"


def test_a_new_method_needs_no_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS["method"].classes, "invented", Invented)
    step = Invented("x", Gamma(2, 3), most=None, only=Gamma(1), codes={1: "a"})
    doc = Writer().plain(step, Any, "steps[0]")
    assert doc == {
        "method": "invented",
        "variable": "x",
        "law": {"gamma": {"shape": 2, "scale": 3}},
        "most": None,
        "only": {"shape": 1},
        "codes": [[1, "a"]],
    }
    reader = Reader()
    assert reader.registered("method", doc, "steps[0]") == step
    assert not reader.problems
    reader.registered("method", {**doc, "only": {"shap": 1}}, "steps[0]")
    assert reader.problems[0] == 'steps[0] (invented).only: unknown key "shap". Did you mean "shape"?'


def test_what_has_no_place_in_a_document_is_refused() -> None:
    plan = cf.Plan([cf.Recode("a", mapping={"x": object()})])
    with pytest.raises(InputError, match=r"steps\[0\] \(recode\).mapping holds a value of type object"):
        plan.to_dict()


def test_all_methods_of_the_room_are_known() -> None:
    assert {"recode", "topcode", "bottomcode", "round", "swap", "noise", "pram", "sample"} <= set(known("method"))
    assert all(known("method")[m].method == m for m in known("method"))


def test_the_example_runs() -> None:
    plan = cf.Plan.load(EXAMPLES / "plan.toml")
    release = plan.protect(cf.demo("heads").head(300), seed=1)
    assert release.data.width == 13
    assert set(release.data["tenure"].cast(str)) == {"owned", "rented"}
