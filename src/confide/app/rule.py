"""The rule: a limit as people write it, what it says in words, and whether it was stated before numbers were seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from confide.app import words
from confide.app.documents import ANALYSES, KEPT, measures_of
from confide.app.state import State
from confide.app.web import Form, Wrong

NUMBER = re.compile(r"\d{1,3}(?:[ ,]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?")


def limit_of(text: str, rows: int) -> float | str:
    """A limit on people found: a number of them, or a share as text; what is neither, or doubtful, is told.

    >>> limit_of("1,000", 51016), limit_of("2 %", 51016), limit_of("2,5%", 51016)
    (1000, '2%', '2.5%')
    """
    share = text.rstrip().endswith("%")
    value = _number(text.rstrip().removesuffix("%").strip())
    if value is None:
        raise Wrong(max_found="Write a number of people such as 1,000, or a share such as 2 %.")
    if value <= 0:
        raise Wrong(max_found="The limit must be above 0: no release that is of use lets nobody be found for certain.")
    if share:
        if value > 100:
            raise Wrong(max_found=f"{value:g} % is more than everybody. Write a share between 0 and 100 %.")
        return f"{value:g}%"
    if value < 1:
        raise Wrong(
            max_found=f"Is {text} a share? Then write {100 * value:g} %. Else write 1 or more people, such as 1,000."
        )
    if rows and value > rows:
        raise Wrong(max_found=f"{words.count(value)} is more than the {words.count(rows)} people in the file.")
    return int(value) if value == int(value) else value


def floor_of(text: str) -> float:
    """How much of analyses must be kept, between 0 and 1."""
    share = text.rstrip().endswith("%")
    value = _number(text.rstrip().removesuffix("%").strip())
    value = None if value is None else value / 100 if share else value
    if value is None or not 0 < value <= 1:
        raise Wrong(min_analyses="Write a number between 0 and 1, such as 0.80.")
    return value


def _number(text: str) -> float | None:
    if not NUMBER.fullmatch(text) or len(text) > 20:
        return None
    if re.fullmatch(r"\d+,\d{1,2}|\d+,\d{4,}", text):
        return float(text.replace(",", "."))
    return float(text.replace(",", "").replace(" ", ""))


def people(limit: float | str | None, rows: int) -> float | None:
    """The limit as a number of people."""
    if limit is None:
        return None
    return float(limit[:-1]) / 100 * rows if isinstance(limit, str) else float(limit)


def within(limit: float | str, found: float | None, share: float | None) -> bool:
    """Whether a number of people, or its share, is within the limit."""
    value = share if isinstance(limit, str) else found
    most = float(limit[:-1]) / 100 if isinstance(limit, str) else float(limit)
    return value is not None and value <= most * (1 + 1e-12)


def limit_words(limit: float | str) -> str:
    """The limit as it was stated: "1,000 people" or "2 % of people"."""
    return (
        f"{limit[:-1]} % of people"
        if isinstance(limit, str)
        else words.plural(limit, "person").replace("persons", "people")
    )


def help_words(limit: float | str | None, rows: int) -> str:
    """The other form of a limit: a share of a number, a number of a share."""
    if limit is None:
        return f"people found, as a number such as 1,000 or a share such as 2 %, of {words.count(rows)}"
    many = people(limit, rows) or 0.0
    if isinstance(limit, str):
        return f"of people found: {words.count(many)} of {words.count(rows)}"
    return f"people found: {words.percent(many / rows) if rows else '0'} % of {words.count(rows)}"


def shown(limit: float | str | None) -> str:
    """A limit as it stands in its field."""
    if limit is None:
        return ""
    return f"{limit[:-1]} %" if isinstance(limit, str) else f"{limit:,.10g}"


def stated(state: State, form: Form, rows: int, now: str, seen: bool) -> dict[str, Any]:
    """The rule that a form states. `seen`: whether numbers of candidates were there to be seen before."""
    new: dict[str, Any] = {}
    if text := form.text("max_found"):
        new["max_found"] = limit_of(text, rows)
    if state.formula and (text := form.text("min_analyses")):
        new["min_analyses"] = floor_of(text)
    by = form.text("by")
    if by not in measures_of(state):
        raise Wrong(by="Choose one of these.")
    new["by"], new["cautious"] = by, form.has("cautious")
    old = {k: v for k, v in state.rule.items() if k not in ("stated", "seen")}
    if new == old:
        return dict(state.rule)
    if not new.get("max_found"):
        return new
    return {**new, "stated": now, "seen": seen}


def most_words(by: str) -> str:
    """What is then the most, as the end of a sentence."""
    return KEPT[by].removesuffix(" kept")


def kept_words(measure: str, value: float | None) -> str:
    """How much is kept: in percent, analyses as a share of 1."""
    if value is None:
        return "not known"
    return words.share(value) if measure == ANALYSES else f"{words.percent(value)} %"


def by_of(state: State) -> str:
    """The measure that the rule chooses by."""
    measures = measures_of(state)
    return str(state.rule.get("by")) if state.rule.get("by") in measures else measures[0]


Rule = Mapping[str, Any]
