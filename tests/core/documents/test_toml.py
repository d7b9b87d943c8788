"""TOML as it is written: what is read back is what was there."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.core.documents.toml import WIDTH, to_toml
from confide.core.errors import InputError
from confide.core.visible import HIDDEN

TEXT = st.text(st.characters(codec="utf-8"))
SCALAR = st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


@given(table=st.dictionaries(TEXT, VALUE, max_size=5))
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read_back(table: dict[str, Any]) -> None:
    text = to_toml(table)
    assert tomllib.loads(text) == table
    assert not HIDDEN.search(text.replace("\n", ""))


def test_people_can_read_it() -> None:
    long = {f"category {k}": "merged" for k in range(9)}
    assert len(str(long)) > WIDTH
    text = to_toml({"steps": [{"method": "recode", "mapping": long}, {"method": "swap"}], "weight": "w"})
    head, first, *_, last = text.split("\n\n")
    assert (head, first) == ('weight = "w"', '[[steps]]\nmethod = "recode"')
    assert last == '[[steps]]\nmethod = "swap"\n'
    assert '[steps.mapping]\n"category 0" = "merged"' in text


def test_nothing_is_no_limit_in_a_list_and_refused_elsewhere() -> None:
    assert to_toml({"bounds": [None, None]}) == "bounds = [-inf, inf]\n"
    with pytest.raises(InputError, match=r'"most" is nothing, which TOML cannot say; .* \.json'):
        to_toml({"law": {"most": None}})


def test_half_of_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="half of a character"):
        to_toml({"a": "\ud800"})
