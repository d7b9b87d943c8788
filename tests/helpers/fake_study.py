"""Tables of studies that never ran: stated numbers, and random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from confide.study.statement.checks import RISKS

OTHER = "release everything"
TARGETS = 51_016.0


def study_frame(plans: Mapping[str, Mapping[str, Any]], intruders: Sequence[str] = ("neighbour",)) -> pl.DataFrame:
    """`plans`: by name, `risk` (a list over repeats, or one such list an intruder), `u` (a list over repeats), and
    optionally sweep and value. All risks have the same numbers, of 51,016 targets."""
    rows = []
    for name, given in plans.items():
        risk = given["risk"] if isinstance(given["risk"], dict) else dict.fromkeys(intruders, given["risk"])
        for r, u in enumerate(given["u"]):
            for who in intruders:
                place = {"plan": name, "sweep": given.get("sweep"), "value": given.get("value"), "intruder": who}
                place["setting"] = "" if given.get("value") is None else f"rate={given['value']:g}"
                numbers = dict.fromkeys(RISKS, risk[who][r]) | {"targets": TARGETS}
                rows.append(
                    {**place, "repeat": r, **numbers, "ci_overlap": u, "hellinger": None if u is None else 1 - u}
                )
    kinds = {"plan": pl.String, "sweep": pl.String, "value": pl.Float64, "intruder": pl.String, "setting": pl.String}
    numbers_kinds = dict.fromkeys((*RISKS, "ci_overlap", "hellinger"), pl.Float64)
    return pl.DataFrame(rows, schema={**kinds, "repeat": pl.Int64, **numbers_kinds})


def as_plan(risk: float, u: float, repeats: int = 1) -> dict[str, Any]:
    return {"risk": [risk] * repeats, "u": [u] * repeats}


PUBLISHED = {
    OTHER: as_plan(2543.0, 1.0),
    "recode age": as_plan(1140.0, 0.93),
    "swap 10": {"risk": [580.0, 590.0, 600.0], "u": [0.89, 0.90, 0.91]},
    "swap 30": {"risk": [400.0, 412.0, 424.0], "u": [0.70, 0.72, 0.74]},
    "swap both": {"risk": [370.0, 380.0, 390.0], "u": [0.72, 0.74, 0.76]},
    "all": {"risk": [100.0, 104.0, 108.0], "u": [0.54, 0.55, 0.56]},
}
"""Risks as in table 6 of Reiter (2005) and utilities that fall with them."""
