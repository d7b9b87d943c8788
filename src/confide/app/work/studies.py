"""Studies of the project's file, stated by the tables that its study file holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.work.data import data_of


def study_of(folder: Path, table: Mapping[str, Any]) -> cf.Study:
    """The study that `documents.study_table` states, on the file that the worker holds already."""
    plans = {p["name"]: cf.Plan.from_dict({k: v for k, v in p.items() if k != "name"}) for p in table["plan"]}
    intruders = {
        who["name"]: cf.Intruder.from_dict({k: v for k, v in who.items() if k != "name"}) for who in table["intruder"]
    }
    rule = table.get("choice")
    return cf.Study(
        data_of(folder), plans, intruders, table["utility"], repeats=table["repeats"], seed=table["seed"],
        choice=None if rule is None else cf.Rule.from_dict(rule), title=table["title"], label=table["data"],
    )  # fmt: skip
