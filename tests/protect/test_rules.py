"""Rules that records keep: read from text, checked as a plain reading of each row says, and kept by draws."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

import confide as cf
from confide.frames.encoded import Encoded
from confide.protect.shared.rules import Held, Sum, named, quoted, read_rule

PEOPLE = pl.DataFrame(
    {
        "age": [3, 17, 40, None, 80],
        "wed": ["no", "no", "yes", "yes", None],
        "rooms (all)": [1.5, 2.0, 3.0, 4.0, None],
        "used": [1.5, 3.0, 1.0, None, 2.0],
        "born": [dt.date(2020, 1, 1), dt.date(2006, 5, 5), None, dt.date(1990, 1, 1), dt.date(1943, 2, 2)],
    }
)
AGES = [3, 17, 40, None, 80]
WED = ["no", "no", "yes", "yes", None]
READ = {
    "age >= 18": [a is None or a >= 18 for a in AGES],
    "wed == 'yes' -> age >= 50": [w != "yes" or a is None or a >= 50 for w, a in zip(WED, AGES, strict=True)],
    "age < 18 -> wed != 'yes'": [True, True, True, True, True],
    "age in [3, 17] -> wed is missing": [False, False, True, True, True],
    "age not in [3, 17]": [False, False, True, True, True],
    "wed is present": [True, True, True, True, False],
    "used <= `rooms (all)`": [True, False, True, True, True],
    "born >= '1990-01-01'": [True, True, True, True, False],
}


@pytest.mark.parametrize("text", READ)
def test_each_row_is_judged_as_one_reads_it(text: str) -> None:
    rule = read_rule(text)
    assert isinstance(rule, Held)
    records = Encoded(PEOPLE).records(PEOPLE.columns, {"age": "numeric"})
    assert rule.holds(records).tolist() == READ[text]


def test_numbers_that_are_taken_as_codes_have_a_size() -> None:
    f = pl.DataFrame({"children": [0, 1, 2, 3] * 9, "persons": [1, 1, 3, 5] * 9})
    rule = read_rule("children < persons")
    assert isinstance(rule, Held)
    records = Encoded(f).records(f.columns, {})
    assert records["children"].kind == "categorical"
    assert rule.holds(records).tolist() == [True, False, True, True] * 9


def test_a_sum_is_read_with_its_signs() -> None:
    rule = read_rule("`net pay` = gross + bonus - tax")
    assert rule == Sum(rule.text, "net pay", ("gross", "bonus"), ("tax",))


@pytest.mark.parametrize(
    "text", ["", "age", "age >=", "age ~ 3", "age >= 3 or 4", "in == 3", "age is old", "a = 3", "a = b c", "x not 3", 7]
)
def test_what_cannot_be_read_is_refused(text: object) -> None:
    with pytest.raises(cf.InputError, match="rule"):
        read_rule(text)


HINTED = {
    "age => 15": "Write >=",
    "age = 15": "Compare by ==",
    "age > 18 and age < 30": "one thing per rule",
    "if age > 15 then wed == 'SECRET'": "one thing per rule",
    "total == a + b": "A sum has one =",
    "total = a * 2": "Only sums",
    "wed == 'SECRET": "not closed",
    r"wed == 'SECRET\users'": "backslash twice",
    r"wed == 'SECRET\d'": "backslash twice",
    "wed == 'SECRET\nx'": "new line",
}


@pytest.mark.parametrize("text", HINTED)
def test_what_may_have_been_meant_is_said_without_values(text: str) -> None:
    with pytest.raises(cf.InputError, match=HINTED[text]) as wrong:
        read_rule(text)
    assert "SECRET" not in str(wrong.value)


def test_a_backslash_is_written_twice() -> None:
    rule = read_rule(f"wed == {quoted(chr(92) + 'users')}")
    assert isinstance(rule, Held)
    assert rule.then.values == ("\\users",)


def test_names_and_values_are_written_as_they_are_read() -> None:
    for name in ("age", "in", "the age", "Größe", "3x"):
        rule = read_rule(f"{named(name)} == {quoted(chr(39) + 'a' + chr(34))}")
        assert isinstance(rule, Held)
        assert rule.then.variable == name
        assert rule.then.values == ("'a\"",)
    assert named("a`b") == ""


def test_a_text_is_not_compared_by_size() -> None:
    rule = read_rule("wed >= 3")
    assert isinstance(rule, Held)
    with pytest.raises(cf.InputError, match="categories that are no numbers"):
        rule.holds(Encoded(PEOPLE).records(["wed"], {}))
