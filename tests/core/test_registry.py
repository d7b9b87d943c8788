"""One registry: what can be registered, under which name, and that nobody takes another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

import confide as cf
from confide.core.registry import KINDS, known, name_of, registered, shipped


def test_a_class_says_its_kind_by_the_attribute_that_names_it() -> None:
    @registered
    @dataclass(frozen=True)
    class Mine:
        method: str = "a field is no name"
        key: ClassVar[str] = "mine"

    assert known("measure")["mine"] is Mine
    assert "mine" not in known("method")
    assert name_of(Mine()) == ("measure", "mine")
    assert not shipped(Mine)


@pytest.mark.parametrize(("word", "attribute", "name"), [("method", "method", "swap"), ("measure", "key", "means")])
def test_a_name_that_is_taken_is_refused(word: str, attribute: str, name: str) -> None:
    thief = dataclass(frozen=True)(type("Thief", (), {attribute: name}))
    with pytest.raises(cf.InputError, match=f'There is a {word} named "{name}" already'):
        registered(thief)
    assert shipped(known(word)[name])


def test_the_same_class_may_come_again() -> None:
    """A cell of a notebook that is run twice, a module that is loaded anew."""
    first, second = (dataclass(frozen=True)(type("Again", (), {"scheme": "again"})) for _ in range(2))
    registered(first)
    registered(second)
    assert known("scheme")["again"] is second
    assert name_of(first()) is None


def test_what_cannot_be_stated_is_refused() -> None:
    with pytest.raises(cf.InputError, match="what is stated is a dataclass"):
        registered(type("Bare", (), {"method": "bare"}))
    with pytest.raises(cf.InputError, match="no short name; give the class one of method, key, scheme"):
        registered(dataclass(type("Nameless", (), {})))


def test_everything_shipped_is_public_and_known() -> None:
    for word in KINDS:
        for name, cls in known(word).items():
            assert word == "risk" or getattr(cf, cls.__name__) is cls
            room = {"measure": cf.measures, "scheme": cf.schemes, "risk": cf.measures}.get(word, cf)
            assert getattr(room, cls.__name__) is cls
            assert name == getattr(cls, KINDS[word].attribute)
            assert name.isidentifier()
            assert name == name.lower()
