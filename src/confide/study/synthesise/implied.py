"""Rules between two variables that all rows of a file keep though chance would break them: found, and put in words.

A rule is taken up where at least `SUPPORT` rows would break it if the two variables had nothing to do with each other.
Limits are put at round numbers beyond the last row, and one step further where that row's own value is round and few
share it, so that a rule does not hold a value of one person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64, Column, Records
from confide.protect.shared.rules import Held, named, quoted, read_rule

SUPPORT = 20
"""Rows that would break a rule by chance; none of them does."""
LEVELS = 60
"""Categories of a variable up to which rules are sought for each."""
MOST = 100
"""Variables between which rules are sought."""
EPOCH = date(1970, 1, 1)
"""Day 0 of dates."""
SHARED = 3
"""Rows that have a value before a limit may be put at it."""
ZEROS = 0.01
"""A number's zeros are a state of their own where they are at least this share of rows."""


@dataclass(frozen=True, eq=False)
class _Facts:
    """One variable: `states`, the state of each row as a code; `says[k]`: that a row is in state k, in words; `never`:
    that it is in another; `numbers`: its values where they have a size (NaN where missing), else None; `number`:
    whether it is a numeric variable."""

    name: str
    states: I64
    says: tuple[str, ...]
    never: tuple[str, ...]
    numbers: F64 | None
    number: bool = False
    day: bool = False
    """Whether numbers are days."""
    time: bool = False
    """Whether they are days or times."""

    @property
    def counts(self) -> F64:
        """Rows in each state."""
        return np.bincount(self.states, minlength=len(self.says)).astype(np.float64)


def rules_in(records: Records) -> tuple[Held, ...]:
    """Rules between two variables each that all rows keep.

    >>> import numpy as np, polars as pl
    >>> from confide.frames.encoded import Encoded
    >>> age = np.arange(400) % 80
    >>> f = pl.DataFrame({"age": age, "wed": np.where((age > 20) & (age % 2 == 0), "yes", "no")})
    >>> [r.text for r in rules_in(Encoded(f).records(f.columns, {}))]
    ["wed == 'yes' -> age >= 20"]
    """
    facts = [f for c in list(records.values())[:MOST] if (f := _facts(c)) is not None]
    texts: list[str] = []
    for a, b in combinations(facts, 2):
        texts += _excluded(b, a) if a.number and not b.number else _excluded(a, b)
        texts += [*_limits(a, b), *_limits(b, a)]
        if a.numbers is not None and b.numbers is not None and _alike(records[a.name], records[b.name]):
            texts += [*_ordered(a, b), *_ordered(b, a)]
    found = [r for t in dict.fromkeys(texts) if isinstance(r := read_rule(t), Held)]
    return tuple(r for r in _stronger(found) if bool(r.holds(records).all()))


def _stronger(rules: Sequence[Held]) -> Iterator[Held]:
    """Rules without those that a limit of the same variable in the same case says too: not 1, where it is 2 or more."""
    limits = {(r.given, r.then.variable, r.then.sign): r.then.values[0] for r in rules if r.then.sign in ("<=", ">=")
              and r.then.values}  # fmt: skip
    for r in rules:
        value = r.then.values[0] if r.then.sign == "!=" else None
        if isinstance(value, float):
            low = limits.get((r.given, r.then.variable, ">="), -np.inf)
            high = limits.get((r.given, r.then.variable, "<="), np.inf)
            if not low <= value <= high:
                continue
        yield r


def _facts(column: Column) -> _Facts | None:
    name = named(column.name)
    if not name:
        return None
    missing = column.missing
    if column.kind == "numeric":
        return _of_number(column, name)
    levels = np.array([*_sizes(column), np.nan])[column.values] if _sizes(column) else None
    if len(column.levels) > LEVELS:
        if not missing.any():
            return None
        there, gone = f"{name} is present", f"{name} is missing"
        return _Facts(column.name, missing.astype(np.int64), (there, gone), (gone, there), levels)
    words = [quoted(x) for x in column.levels]
    says, never = [f"{name} == {w}" for w in words], [f"{name} != {w}" for w in words]
    if missing.any():
        says.append(f"{name} is missing")
        never.append(f"{name} is present")
    states = np.where(missing, len(column.levels), column.values)
    return _Facts(column.name, states, tuple(says), tuple(never), levels)


def _of_number(column: Column, name: str) -> _Facts:
    """States of a number: missing, zero where zeros are many, and all else."""
    usable = column.usable
    zero = usable & (column.values == 0)
    states = np.where(zero, 1, np.where(column.missing, 2, 0)).astype(np.int64)
    few = column.dtype.is_temporal() or not ZEROS * len(column) <= zero.sum() < usable.sum()
    if few or column.special:
        states = np.where(column.missing, 2, 0).astype(np.int64)
        rest, other = f"{name} is present", f"{name} is missing"
    else:
        rest, other = f"{name} != 0", f"{name} == 0"
    numbers = np.where(usable, column.values, np.nan)
    says = (rest, f"{name} == 0", f"{name} is missing")
    never = (other, f"{name} != 0", f"{name} is present")
    return _Facts(column.name, states, says, never, numbers, True, column.dtype == pl.Date, column.dtype.is_temporal())


def _sizes(column: Column) -> list[float]:
    """Categories as numbers, where they are whole numbers without labels."""
    if not column.dtype.is_integer() or column.why == "value labels":
        return []
    return [float(x) for x in column.levels]


def _excluded(a: _Facts, b: _Facts) -> Iterator[str]:
    """States that never meet though chance would bring them together; both ways of saying it are one rule."""
    table = np.bincount(a.states * len(b.says) + b.states, minlength=len(a.says) * len(b.says))
    table = table.reshape(len(a.says), len(b.says))
    expected = np.outer(a.counts, b.counts) / max(len(a.states), 1)
    for i, j in np.argwhere((table == 0) & (expected >= SUPPORT)):
        yield f"{a.says[i]} -> {b.never[j]}"


def _limits(a: _Facts, b: _Facts) -> Iterator[str]:
    """The smallest and the largest number b where a is in some state, at round numbers beyond."""
    if b.numbers is None or (b.time and not b.day):
        return
    y, name = b.numbers[~np.isnan(b.numbers)], named(b.name)
    if len(y) < SUPPORT:
        return
    low, high = float(y.min()), float(y.max())
    order = np.sort(y)
    whole = bool((y == np.floor(y)).all())

    def bound(value: float, up: bool, more: int) -> float:
        return _day(value, up, more) if b.day else rounder(value, high - low, up, more, whole)

    for k, said in enumerate(a.says):
        mine = b.numbers[a.states == k]
        mine = mine[~np.isnan(mine)]
        if len(mine) < SUPPORT or (b.number and mine.min() == mine.max() == 0):  # that it is zero is said elsewhere
            continue
        at = _beyond(mine, bound, up=False)
        if at > low and len(mine) * np.searchsorted(order, at, side="left") / len(y) >= SUPPORT:
            yield f"{said} -> {name} >= {_written(at, b.day)}"
        at = _beyond(mine, bound, up=True)
        if at < high and len(mine) * (1 - np.searchsorted(order, at, side="right") / len(y)) >= SUPPORT:
            yield f"{said} -> {name} <= {_written(at, b.day)}"


def _beyond(mine: F64, bound: Callable[[float, bool, int], float], up: bool) -> float:
    """A round number that no value is beyond; not the last value itself where fewer than `SHARED` rows have it."""
    last = float(mine.max() if up else mine.min())
    at = bound(last, up, 0)
    return at if at != last or int((mine == last).sum()) >= SHARED else bound(last, up, 1)


def _day(value: float, up: bool, more: int) -> float:
    """The first or the last day of a day's year, or of one so many years beyond."""
    year = (EPOCH + timedelta(days=value)).year
    year = min(year + more, date.max.year) if up else max(year - more, date.min.year)
    return float(((date(year, 12, 31) if up else date(year, 1, 1)) - EPOCH).days)


def _written(value: float, day: bool) -> str:
    return repr(str(EPOCH + timedelta(days=value))) if day else quoted(value)


def _ordered(a: _Facts, b: _Facts) -> Iterator[str]:
    """Whether one number is never above another."""
    assert a.numbers is not None
    assert b.numbers is not None
    there = ~np.isnan(a.numbers) & ~np.isnan(b.numbers)
    x, y = a.numbers[there], b.numbers[there]
    if len(x) < SUPPORT or bool((x > y).any()) or bool((x == y).all()):
        return
    by_chance = float((1 - np.searchsorted(np.sort(x), y, side="right") / len(x)).sum())
    if by_chance >= SUPPORT:
        yield f"{named(a.name)} <= {named(b.name)}"


def _alike(a: Column, b: Column) -> bool:
    """Whether two numbers may be compared: two dates, or none."""
    return a.dtype == b.dtype if a.dtype.is_temporal() or b.dtype.is_temporal() else True


def rounder(value: float, span: float, up: bool, more: int = 0, whole: bool = False) -> float:
    """The next round number, of 1, 2 or 5 times a power of ten, in steps of about a twentieth of a span; `more` steps
    beyond it. Steps of `whole` numbers are 1 or more.

    >>> rounder(17.0, 80.0, up=False), rounder(17.0, 80.0, up=True), rounder(20.0, 80.0, up=False)
    (15, 20, 20)
    >>> rounder(20.0, 80.0, up=False, more=1), rounder(2.0, 6.0, up=False, more=1, whole=True)
    (15, 1)
    """
    if span <= 0:
        return value
    step = 10.0 ** np.floor(np.log10(span / 20))
    step *= next(m for m in (1, 2, 5, 10) if step * m >= span / 20)
    step = max(step, 1.0) if whole else step
    found = float((np.ceil(value / step) + more if up else np.floor(value / step) - more) * step)
    found = round(found, max(0, int(-np.floor(np.log10(step)))))
    return int(found) if found.is_integer() else found
