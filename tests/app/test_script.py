"""Scripts: what pages show names no value of a grouping, what is saved names all; and names are never code."""

from __future__ import annotations

from confide.app.script import file_of, last_line, literal, script_of, shown_script
from confide.app.state import State

STEPS = [{"method": "recode", "variable": "region", "mapping": {"RARE-island": "rest", "coast": "rest"}}]
STATE = State(
    source="/data/heads.csv", name="heads", roles={"region": "key", "age": "key"}, steps=STEPS,
    intruders=[{"name": "near", "knows": ["region", "age"]}], candidates=[{"name": "grouped", "steps": STEPS}],
)  # fmt: skip


def test_a_page_shows_no_value_that_a_grouping_names() -> None:
    shown = shown_script(STATE)
    assert "RARE-island" not in shown.python + shown.toml
    assert "2 values" in shown.python
    assert "RARE-island" not in last_line(STATE, State(source="/data/heads.csv", name="heads"))
    assert "RARE-island" in script_of(STATE, "").python
    assert "RARE-island" in (file_of(STATE, "study.toml") or "")


def test_names_are_never_code() -> None:
    for name in ('"); import os; ("', "a\\", "a\nb", "it's", '"""', "\\u2028", "é"):
        assert eval(literal(name)) == name
        assert "\n" not in literal(name)
