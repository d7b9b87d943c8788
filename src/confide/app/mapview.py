"""The map of a page: which candidates it draws, how high, and what it says to those who do not see it."""

from __future__ import annotations

from typing import Any

from confide.app import compared, words
from confide.app import rule as rules
from confide.app.documents import ANALYSES, KEPT, measures_of
from confide.app.mapchart import Map
from confide.app.web import Page


def map_view(page: Page, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The map in both forms, or nothing where there is nothing to draw."""
    state = page.state
    heights = {m: KEPT[m] for m in measures_of(state)}
    height = page.query.text("height") if page.query.text("height") in heights else rules.by_of(state)
    people = (page.facts or {}).get("rows", 0)
    limit = rules.people(state.rule.get("max_found"), people)
    drawn = [
        {**r, "height": r["kept"][height], "ends": r["kept_ends"].get(height, []), "hollow": r["other"]}
        for r in rows if r["found"] is not None and r["kept"].get(height) is not None
    ]  # fmt: skip
    near_there = limit is not None and any(limit / 3 <= max(r["found"], 1.0) <= limit * 3 or r["chosen"] for r in drawn)
    near = near_there and page.query.text("view") != "all"
    over = "" if limit is None else f"more than {words.count(limit)} found ({words.percent(limit / people)} %)"
    said = _map_words(drawn, limit, height)
    made = {
        form: Map(drawn, limit, over, heights[height], height == ANALYSES, wide, high, near, said).svg()
        for form, wide, high in (("wide", 972, 430), ("narrow", 366, 400)) if drawn
    }  # fmt: skip
    return {"map": made, "heights": heights, "height": height, "near": near, "near_there": near_there,
            "hollow": any(r["hollow"] for r in drawn)}  # fmt: skip


def _map_words(drawn: list[dict[str, Any]], limit: float | None, height: str) -> str:
    """What the map shows, for those who do not see it."""
    parts = [f"Map of {words.plural(len(drawn), 'candidate')}: people found to the right, {KEPT[height]} upwards."]
    if limit is not None:
        inside = sum(r["limits"] == compared.WITHIN for r in drawn)
        parts.append(f"The limit is {words.count(limit)} people; {inside} {'is' if inside == 1 else 'are'} within.")
    for row in drawn:
        if row["chosen"]:
            kept = rules.kept_words(height, row["height"])
            parts.append(f"{row['name']} is chosen, with {words.count(row['found'])} found and {kept} kept.")
    return " ".join([*parts, "The table below has all of them."])
