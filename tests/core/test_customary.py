"""Customary names lead to what there is, and lists of methods and measures are whole."""

from __future__ import annotations

import re

import pytest

import confide as cf
from confide.core.customary import HERE, NONE_YET, RISKS, customary, hint
from confide.core.errors import did_you_mean
from confide.core.registry import known
from confide.measure.utility.registry import as_measure

NAMES = [
    (word, here, other.strip()) for word, table in HERE.items() for here in table for other in table[here].split(",")
]


@pytest.mark.parametrize(("word", "here", "other"), NAMES, ids=str)
def test_what_there_is_exists_under_another_name(word: str, here: str, other: str) -> None:
    assert here in known(word)
    said = f'a risk of the file, "{here}"' if word == "risk" else f'the {word} "{here}"'
    assert said in customary(other) or other in ("rounding",)
    assert customary(other.upper().replace(" ", "_"))


def test_risks_of_the_file_are_told_by_their_class() -> None:
    for here in HERE["risk"]:
        (name,) = re.findall(r"cf\.measures\.(\w+)\(", customary(HERE["risk"][here].partition(",")[0]))
        assert getattr(cf.measures, name) is known("risk")[here]


def test_what_is_said_of_others_names_things_that_exist() -> None:
    said = " ".join([*RISKS.values(), *NONE_YET.values()])
    keys = {name for word in ("method", "measure", "scheme") for name in known(word)}
    assert set(re.findall(r'measure "(\w+)"', said)) <= keys
    for name in re.findall(r"\b(Recode|Topcode|RankSwap|NormalSynthesis|CartSynthesis|Noise|Plan|Intruder)\b", said):
        assert hasattr(cf, name)
    for method in re.findall(r"attack\.(\w+)", said):
        assert method in dir(cf.Attack) or method in cf.Attack.__dataclass_fields__


def test_no_name_is_explained_twice() -> None:
    names = [n.strip() for table in (*HERE.values(), RISKS, NONE_YET) for k, v in table.items()
             for n in (v if table in HERE.values() else k).split(",")]  # fmt: skip
    assert len(names) == len(set(names))
    own = {n for word in HERE if word != "risk" for n in known(word)}  # "suda" is no method, and worth a word there
    assert not own & set(names) - {"round"}


def test_lists_are_whole() -> None:
    for word in ("method", "measure", "scheme"):
        assert all(name in hint("zzzzzz", known(word)) for name in known(word))
        assert all(name in hint("gower distance", known(word)) for name in known(word))
    assert "..." in did_you_mean("zzzzzz", [f"column {k}" for k in range(50)])


def test_where_names_are_asked_for() -> None:
    with pytest.raises(cf.InputError, match='is the measure "propensity" here'):
        as_measure("pmse")
    with pytest.raises(cf.InputError, match=r"confide has no local recoding.*There are: bottomcode, .*, topcode"):
        cf.Plan.from_dict({"steps": [{"method": "local_recoding", "variable": "age"}]})
    with pytest.raises(
        AttributeError, match=r"no attribute 'KAnonymity'. What others call .* cf\.measures\.KAnonymity"
    ):
        cf.KAnonymity  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'Nonsense'$"):
        cf.Nonsense  # noqa: B018
