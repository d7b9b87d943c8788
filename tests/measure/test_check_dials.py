"""`check_dials`: what shipped methods offer can be done; methods that offer what cannot be done are told why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import confide as cf
import confide.extend as ce

HEADS = cf.demo("heads")[::170].select("sex", "race", "age", "property_value", "hh_income")


def offering(*offers: Any) -> type[ce.Mechanism]:
    """A method that rounds ages, with these offers."""

    @dataclass(frozen=True)
    class Rounded(cf.Round):
        @classmethod
        def dials(cls, outlook: ce.Outlook) -> ce.Offers:  # noqa: ARG003
            return offers

    return Rounded


def dial(strengths: tuple[Any, ...] = (5, 10), **more: Any) -> ce.Dial:
    return ce.Dial(
        "mine", ("age",), strengths, lambda x: ce.Change((cf.Round("age", base=x),)), lambda x: f"to {x}", **more
    )


@pytest.mark.parametrize("method", [cf.Noise, cf.Microaggregate, cf.LocalSuppression, cf.LognormalNoise, cf.Sample])
def test_offers_of_shipped_methods_can_be_done(method: type[ce.Mechanism]) -> None:
    found = ce.check_dials(method, HEADS, knows=["sex", "race", "age"], sensitive=["hh_income"])
    assert found.ok, found.summary()


def test_a_method_of_ones_own_passes() -> None:
    found = ce.check_dials(offering(dial(between=True, whole=True), ce.Untried("mine", "too few")), HEADS, knows="age")
    assert found.frame["check"].to_list() == ["mine, age: strengths", "mine, age: carried out", "mine"]
    assert found.ok


WRONG: Mapping[str, tuple[Any, ...]] = {
    "it offers nothing": (),
    "it has no strength": (dial(()),),
    "same words": (dial((5, 5)),),
    "powers of ten": (dial((5, 1e22)),),
    'at "to 0"': (dial((5, 0)),),
    "between two strengths": (dial((2, 5), between=True),),
    "says nothing of why": (ce.Untried("mine", ""),),
    "more people are found": (dial((200, 1)),),
}


@pytest.mark.parametrize("said", WRONG)
def test_offers_that_cannot_be_done_are_told(said: str) -> None:
    method = offering(*WRONG[said])
    assert not ce.check_dials(method, HEADS, knows=["age", "race", "property_value"], fail=False).ok
    with pytest.raises(cf.InputError, match=said):
        ce.check_dials(method, HEADS, knows=["age", "race", "property_value"])


def test_a_step_is_no_method() -> None:
    with pytest.raises(cf.InputError, match="takes the class of a method"):
        ce.check_dials(cf.Round("age", base=5), HEADS)  # type: ignore[arg-type]
