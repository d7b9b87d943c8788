"""What limits the numbers of a look, in sentences: guesses, missing values, what is not known of the population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from confide.core.shares import percent
from confide.study.look.asked import Asked
from confide.study.look.attacks import UNSURE
from confide.study.look.classes import LEVELS
from confide.study.look.measured import SUDA_KEYS
from confide.study.look.result import Look
from confide.study.look.sets import largest_size

SMALL = 100
"""Rows below which shares say little."""


def doubts_of(look: Look, asked: Asked, lost: Sequence[str] = ()) -> Iterator[str]:
    """Every doubt, the weightiest first."""
    yield from _guesses(look, asked)
    yield from asked.doubts
    yield from _file(look)
    yield from _missing(look, asked)
    yield from _population(look)
    yield from _sets(look)
    if look.remedies is None:
        yield (
            "What one coarser variable would do was not tried on so many rows or keys: ask attack.clearing(0.2) of an "
            "intruder with fewer keys, or look at a part of the file."
        )
    yield from lost


def _guesses(look: Look, asked: Asked) -> Iterator[str]:
    s = look.stated
    if s.guessed:
        named = {"keys": s.keys, "sensitive": s.sensitive, "weight": (s.weight,), "unit": (s.unit,)}
        said = "; ".join(f"{role} {', '.join(str(v) for v in named[role])}" for role in named if role in s.guessed)
        yield f"Guessed from names, labels and values, and confirmed by nobody: {said}. State what is different."
    more = [v for v in asked.roles.could_be_keys if v not in s.keys]
    if "keys" in s.guessed and more:
        yield f"Not taken as keys, but others may know them too: {', '.join(more)}. Each one more raises the risk."
    left = [v for v in asked.roles.sensitive if v not in (*s.sensitive, *s.keys)]
    if "sensitive" in s.guessed and left:
        yield f"Sensitive by their names, but not measured: {', '.join(left)}."


def _file(look: Look) -> Iterator[str]:
    rows = f"{look.rows:,} row{'s' * (look.rows != 1)}"
    if look.rows < SMALL:
        yield f"The file has {rows}: shares of so few say little of another file."
    too_large = [k for k in LEVELS if k > look.rows]
    if too_large:
        yield f"No file of {rows} can be {too_large[0]}-anonymous: everybody counts as a violation."


def _missing(look: Look, asked: Asked) -> Iterator[str]:
    keys = look.missing.filter(role="key")
    if not keys.height:
        return
    worst = keys.sort("rows", descending=True).row(0, named=True)
    some = f"most in {worst['variable']}, {worst['rows']:,} rows ({percent(worst['rows'], look.rows)})"
    yield (
        f"{keys.height} of {len(asked.keys)} keys have missing values ({some}). Missing counts as a value of its own, "
        "which an intruder is taken to know."
    )


def _population(look: Look) -> Iterator[str]:
    s = look.stated
    if look.found(UNSURE) is None:
        yield (
            "Nothing says how many people the file was drawn from: give weight= or population=. Until then an intruder "
            "who is sure that a person is in the file is the only measure of risk, and the prudent one."
        )
    elif not s.counted:
        by = f'the weights in "{s.weight}"' if s.weight else "the size of the population"
        yield (
            f"What is said of the population is estimated from {by}, by models of how common rare combinations are: "
            f"true numbers may differ by a factor of two or more.{_range(look)}"
        )


def _range(look: Look) -> str:
    """How far customary estimators are apart."""
    known = look.population["tau1"].drop_nulls().to_list()
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    return f" Customary estimators put those alone in the population too between {low:,.1f} and {high:,.1f}."


def _sets(look: Look) -> Iterator[str]:
    m = len(look.stated.keys)
    most = largest_size(m)
    if m > SUDA_KEYS:
        yield f"{m} keys are too many for SUDA2, which is computed for up to {SUDA_KEYS}: scores are 0."
    elif most < m:
        yield f"Of {m} keys only sets of up to {most} were counted: larger ones isolate more people."
