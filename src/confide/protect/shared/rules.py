"""Rules that records keep: statements such as ``marital == "married" -> age >= 15``, read from text and checked.

A rule is a *clause*, a clause that follows from another (``if -> then``), or a sum (``total = a + b``). A clause
compares a variable with a value (``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``), with a list (``in [..]``,
``not in [..]``) or with another variable (``a <= b``), or says that a value ``is missing`` or ``is present``. Names
that are no plain words stand in backticks, texts and dates in quotation marks.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import F64, Bools, Column
from confide.frames.types.exact import to_floats

WORDS = ("in", "not", "is", "missing", "present")
PLAIN = re.compile(r"[^\W\d]\w*\Z")
TOKEN = re.compile(
    r"\s*(?:(?P<name>`[^`]+`)|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[^\W\d]\w*)|(?P<sign>->|==|!=|<=|>=|[<>=+\-\[\],]))"
)
COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
FORMS = '"a <= b", "age >= 15", "total = a + b" or "marital == \'married\' -> age >= 15"'

BETWEEN = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'")
"""Names and texts, in which nothing is a sign."""
HINTS = (
    (re.compile(r"=>|=<"), " Write >= and <=."),
    (re.compile(r"\b(and|or|if|then)\b|[&|;]", re.IGNORECASE), " State one thing per rule, and what follows after ->."),
    (re.compile(r"[*/()]"), " Only sums and differences of variables are computed."),
    (re.compile(r"==.*\+"), " A sum has one =, as in total = a + b."),
    (re.compile(r"(?<![=!<>])=(?![=<>])"), " Compare by ==, as in age == 15; one = is for sums of variables."),
    (re.compile(r"[`\"']"), " A quotation mark or backtick is not closed."),
)
"""What a text that cannot be read may have meant."""


def named(name: str) -> str:
    """A variable as rules name it: in backticks unless it is a plain word; empty where it cannot be named.

    >>> named("age"), named("age (years)")
    ('age', '`age (years)`')
    """
    if PLAIN.match(name) and name not in WORDS:
        return name
    return "" if "`" in name or not name else f"`{name}`"


def quoted(value: Any) -> str:
    """A value as rules write it: a number as it is, all else as text in quotation marks."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))
    return repr(str(value).lower() if isinstance(value, bool) else str(value))


@dataclass(frozen=True)
class Clause:
    """One comparison. `sign`: as written, or "in", "not in", "missing", "present"; `other`: a variable to compare with,
    else `values` are what it is compared with."""

    variable: str
    sign: str
    values: tuple[Any, ...] = ()
    other: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it speaks of."""
        return (self.variable, self.other) if self.other else (self.variable,)

    def strange(self, columns: Mapping[str, Column]) -> bool:
        """Whether it names a category that its variable does not have."""
        column = columns[self.variable]
        if column.kind == "numeric" or self.sign not in ("==", "!=", "in", "not in") or self.other:
            return False
        return not all(any(_same(level, v) for level in column.levels) for v in self.values)

    def holds(self, columns: Mapping[str, Column], unknown: bool) -> Bools:
        """Where it holds, shape (n,); `unknown` is the answer where a value to compare is missing or an answer code."""
        column = columns[self.variable]
        if self.sign in ("missing", "present"):
            return np.asarray(column.missing == (self.sign == "missing"))
        there = _there(column)
        if self.other:
            there = there & _there(columns[self.other])
            with np.errstate(invalid="ignore"):
                found = COMPARED[self.sign](_numbers(column), _numbers(columns[self.other]))
        elif self.sign in ("in", "not in"):
            found = np.any([_equal(column, v) for v in self.values], axis=0) == (self.sign == "in")
        elif self.sign in ("==", "!="):
            found = _equal(column, self.values[0]) == (self.sign == "==")
        else:
            with np.errstate(invalid="ignore"):
                found = COMPARED[self.sign](_numbers(column), _as_number(column, self.values[0]))
        return np.where(there, found, unknown)


@dataclass(frozen=True)
class Held:
    """A rule that a record keeps or breaks: `then` holds, where there is an `given` one only if that holds.

    >>> rule = read_rule("marital == 'married' -> age >= 15")
    >>> rule.names, rule.given.values, rule.then.sign
    (('marital', 'age'), ('married',), '>=')
    """

    text: str
    then: Clause
    given: Clause | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it speaks of."""
        mine = (*(self.given.names if self.given else ()), *self.then.names)
        return tuple(dict.fromkeys(mine))

    def holds(self, columns: Mapping[str, Column]) -> Bools:
        """Where records keep it, shape (n,). A comparison with a missing value breaks nothing."""
        found = self.then.holds(columns, True)
        return found if self.given is None else np.asarray(found | ~self.given.holds(columns, False))


@dataclass(frozen=True)
class Sum:
    """A variable that is the sum of others: ``total = a + b - c``."""

    text: str
    total: str
    plus: tuple[str, ...]
    minus: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it speaks of."""
        return (self.total, *self.plus, *self.minus)


def read_rule(text: Any, where: str = "rules") -> Held | Sum:
    """A rule from its text.

    >>> read_rule("total = a + b").plus
    ('a', 'b')
    """
    if not isinstance(text, str):
        raise InputError(f"{where}: a rule is a text such as {FORMS}.")
    words = _Words(text, where)
    if len(words.left) > 1 and words.left[1] == ("sign", "="):
        return words.sum()
    first = words.clause()
    if not words.left:
        return Held(text, first)
    words.take("sign", "->")
    then = words.clause()
    words.end()
    return Held(text, then, first)


def held_rules(texts: Sequence[str], where: str) -> tuple[Held, ...]:
    """Rules that a drawn value can keep; a sum is refused."""
    found = [read_rule(t, where) for t in texts]
    if any(isinstance(r, Sum) for r in found):
        raise InputError(f"{where}: a sum is kept by Recompute, not by draws; leave it out of rules.")
    return tuple(r for r in found if isinstance(r, Held))


class _Words:
    """The words of a rule, taken one after another."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.left = text, where, list[tuple[str, str]]()
        at = 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if found is None:
                raise self.wrong()
            self.left.append((str(found.lastgroup), found[str(found.lastgroup)]))
            at = found.end()

    def wrong(self) -> InputError:
        hint = next((said for found, said in HINTS if found.search(BETWEEN.sub("", self.text))), "")
        return InputError(f"{self.where}: a rule cannot be read.{hint} Rules are written as {FORMS}.")

    def take(self, sort: str = "", word: str = "") -> str:
        if not self.left or (sort and self.left[0][0] != sort) or (word and self.left[0][1] != word):
            raise self.wrong()
        return self.left.pop(0)[1]

    def next_is(self, sort: str, word: str) -> bool:
        if self.left and self.left[0] == (sort, word):
            self.left.pop(0)
            return True
        return False

    def end(self) -> None:
        if self.left:
            raise self.wrong()

    def name(self) -> str:
        if self.left and self.left[0][0] == "name":
            return self.take()[1:-1]
        word = self.take("word")
        if word in WORDS:
            raise self.wrong()
        return word

    def value(self) -> Any:
        if self.left and self.left[0][0] == "number":
            return float(self.take())
        return self.unquoted(self.take("text"))

    def unquoted(self, text: str) -> str:
        """What stands in quotation marks; the parser's own complaint would show the value."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of a backslash that means nothing
                return str(ast.literal_eval(text))
        except (SyntaxError, ValueError, Warning):
            raise InputError(
                f"{self.where}: a text of a rule cannot be read. Write a backslash twice and a new line as \\n."
            ) from None

    def clause(self) -> Clause:
        variable = self.name()
        if self.next_is("word", "is"):
            for sign in ("missing", "present"):
                if self.next_is("word", sign):
                    return Clause(variable, sign)
            raise self.wrong()
        negative = self.next_is("word", "not")
        if self.next_is("word", "in"):
            return Clause(variable, "not in" if negative else "in", self.values())
        sign = self.take("sign")
        if negative or sign not in COMPARED:
            raise self.wrong()
        if self.left and self.left[0][0] in ("name", "word"):
            return Clause(variable, sign, other=self.name())
        return Clause(variable, sign, (self.value(),))

    def values(self) -> tuple[Any, ...]:
        self.take("sign", "[")
        found = [self.value()]
        while self.next_is("sign", ","):
            found.append(self.value())
        self.take("sign", "]")
        return tuple(found)

    def sum(self) -> Sum:
        total = self.name()
        self.take("sign", "=")
        parts: dict[str, list[str]] = {"+": [self.name()], "-": []}
        while self.left:
            parts[self.take("sign", "-" if self.left[0][1] == "-" else "+")].append(self.name())
        return Sum(self.text, total, tuple(parts["+"]), tuple(parts["-"]))


def _there(column: Column) -> Bools:
    return column.usable if column.kind == "numeric" else np.asarray(~column.missing)


def _numbers(column: Column) -> F64:
    """Values as numbers; those of a category are its levels."""
    if column.kind == "numeric":
        return np.asarray(column.values)
    try:
        levels = np.array([*(float(x) for x in column.levels), np.nan])
    except (TypeError, ValueError):
        raise InputError(
            f'A rule compares "{column.name}" by size, but it holds categories that are no numbers.'
        ) from None
    return np.asarray(levels[column.values])


def _as_number(column: Column, value: Any) -> float:
    """A value of a rule on the scale of a column: a date as its column counts it."""
    if isinstance(value, float):
        return value
    try:
        if column.dtype.is_temporal():
            text = pl.Series([value])
            day = text.str.to_date() if column.dtype == pl.Date else text.str.to_datetime().cast(column.dtype)
            return float(to_floats(day)[0][0])
        return float(value)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise InputError(f'A rule compares "{column.name}" by size with a text that is no such value.') from None


def _equal(column: Column, value: Any) -> Bools:
    if column.kind == "numeric":
        return np.asarray(column.values == _as_number(column, value))
    match = [_same(level, value) for level in column.levels]
    return np.asarray(np.array([*match, False])[column.values])


def _same(level: Any, value: Any) -> bool:
    return quoted(level) == quoted(value) or str(level) == str(value)
