"""What the way of tables states: which table, what is published of it, who attacks it; with guesses to begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from confide.app import ways
from confide.app.state import State

COUNTS = re.compile(r"^(counts?|n|number|freq(uency)?|people|persons|population|residents|obs_value|value)$", re.I)
MARGINS = {"none": "none", "total": "the total", "all": "all of them"}
KNOWN, LIMIT, REPEATS = 20, 0.05, 3
"""Residents known and the limit on the worst area to begin with; how often what is random is drawn to compare it."""

LEAST = 0.000001
"""The smallest limit that can be stated; what is below it is not told apart."""

FEW, MOST = 12, 200
"""Values of a variable that is proposed, and of one that may be chosen at all."""

Facts = Mapping[str, Any]


def settled(state: State, facts: Facts) -> State:
    """The state with guesses where nobody stated anything."""
    given = dict(state.table)
    holds = given.get("holds") or ("counts" if guessed_count(facts) else "records")
    out: dict[str, Any] = {
        "holds": holds, "count": guessed_count(facts) if holds == "counts" else "", "area": guessed_area(facts),
        "margins": "total", "known": KNOWN, "limit": LIMIT, "hide": False, "ways": ways.first_ways(), "choice": "",
        "key": list(facts["numbering"][:1]), **given,
    }  # fmt: skip
    if "by" not in given:
        out["by"] = guessed_by(facts, holds, out["count"], out["area"])
    return state.but(table=out)


def guessed_count(facts: Facts) -> str:
    """The column that looks like counts; empty where none does."""
    return next((v["name"] for v in facts["variables"] if COUNTS.match(v["name"])), "")


def guessed_area(facts: Facts) -> str:
    """The first variable that is a place."""
    return next((v["name"] for v in facts["variables"] if v["place"] and v["values"] > 1), "")


def guessed_by(facts: Facts, holds: str, count: str, area: str) -> list[str]:
    """Two variables with few values that can be known; of counts all other columns with few values."""
    free = [v for v in facts["variables"] if v["name"] not in (count, area) and 2 <= v["values"] <= FEW]
    if holds == "counts":
        return [v["name"] for v in free][:6]
    plain = [v for v in free if v["kind"] == "categorical" and not v["place"]]
    order = sorted(plain, key=lambda v: (v["role"] not in ("key", "sensitive"), v["values"] < 3))
    chosen = {v["name"] for v in order[:2]}
    return [v["name"] for v in facts["variables"] if v["name"] in chosen]


def choosable(facts: Facts, table: Mapping[str, Any]) -> list[str]:
    """Variables that a table can have, beside those that it has."""
    taken = {table["area"], table["count"], *table["by"]}
    return [
        v["name"] for v in facts["variables"]
        if v["name"] not in taken and v["role"] not in ("identifier", "weight") and v["values"] <= MOST
    ]  # fmt: skip


def areas(facts: Facts, table: Mapping[str, Any]) -> list[str]:
    """Variables that can make one table each of their values."""
    taken = {table["count"], *table["by"]}
    return [
        v["name"] for v in facts["variables"]
        if v["name"] not in taken and v["role"] not in ("identifier", "weight") and 1 < v["values"] <= facts["rows"] / 2
    ]  # fmt: skip


def table_given(table: Mapping[str, Any]) -> dict[str, Any]:
    """What tells one table from another."""
    return {k: table[k] for k in ("holds", "by", "count", "area")}


def schemes_given(table: Mapping[str, Any]) -> dict[str, Any]:
    """What tells one comparison from another."""
    return {**table_given(table), "margins": table["margins"], "known": table["known"], "ways": list(table["ways"])}


def publish_given(table: Mapping[str, Any], way: Mapping[str, Any]) -> dict[str, Any]:
    """What tells one release from another."""
    return {
        **table_given(table), "margins": table["margins"], "known": table["known"], "way": dict(way),
        "key": keyed(table, way),
    }  # fmt: skip


def keyed(table: Mapping[str, Any], way: Mapping[str, Any]) -> list[str]:
    """What identifies a person where noise belongs to people; empty where whole records do, or nothing is keyed."""
    if table["holds"] != "records" or not getattr(ways.classes()[way["scheme"]], "keyed", False):
        return []
    return list(table["key"])


def chosen(table: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """The way to publish: the one that somebody chose, else the one with the least error that keeps the limit and hides
    nothing (or may hide); empty where none does."""
    if any(r["scheme"] == table["choice"] and r.get("worst") is not None for r in rows):
        return str(table["choice"])
    good = [r for r in rows if keeps(r, table)]
    return str(min(good, key=lambda r: (r["distortion"], r["worst"]))["scheme"]) if good else ""


def keeps(row: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    """Whether a way keeps the limit in the worst area, and hides counts only where it may."""
    if row.get("worst") is None:
        return False
    return bool(row["worst"] <= table["limit"] and (table["hide"] or row["hidden"] == 0))


def nearest(rows: Sequence[Mapping[str, Any]], table: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Where no way keeps the limit, the one with the least risk of those that might be chosen."""
    able = [r for r in rows if r.get("worst") is not None and (table["hide"] or r["hidden"] == 0)]
    return min(able, key=lambda r: (r["worst"], r["distortion"]), default=None)


def chance(value: float | None, limit: float | None = None) -> str:
    """A probability with two telling digits; with as many as it takes to see on which side of a limit it is.

    >>> chance(0.8768), chance(0.0486), chance(0.00003), chance(1.0), chance(0.0), chance(0.0502, 0.05)
    ('0.88', '0.049', '0.00003', '1', '0', '0.0502')
    """
    if value is None:
        return "unknown"
    if value in (0, 1):
        return f"{value:.0f}"
    if value < LEAST:
        return f"<{plain(LEAST)}"
    digits = 2 if value >= 0.001 else 1
    while digits < 9 and (float(f"{value:.{digits}g}") >= 1 or _hides(value, limit, digits)):
        digits += 1
    text = f"{float(f'{value:.{digits}g}'):.12f}".rstrip("0")
    return text if len(text) > 3 else f"{value:.2f}"


def plain(value: float) -> str:
    """A number that somebody stated, without powers of ten.

    >>> plain(0.05), plain(0.000001), plain(1.0)
    ('0.05', '0.000001', '1')
    """
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _hides(value: float, limit: float | None, digits: int) -> bool:
    return limit is not None and (float(f"{value:.{digits}g}") > limit) != (value > limit)
