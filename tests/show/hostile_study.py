"""A study whose plans, intruders, columns and categories have names that no renderer, page or terminal should meet.

Run by itself (`python hostile_study.py FOLDER`), since a renderer that fails on one of them takes the process with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import confide as cf
from confide.show.drawable import OF_OBJECTS
from confide.show.drawing import save_chart
from confide.show.report import save_report_folder

CATEGORIES = [
    "a\x00", "a\x01", "a\x0b", "a\x1f", "a\uffff", "a\n", "a\u2028", "a\u202e", "\x1b[31ma", "</script>", "constructor",
    "__proto__", "'\"\\", "👩‍👧", "a\U0010ffff",
]  # fmt: skip
PLANS = ["plan\u2028", "plan\x01", "plan\x02", "</script><b>", "../../plan", "\x1b]0;title\x07", "'\"\\{{x}}", "漢字", "a\nb"]
TITLE = "A try\x00\x1b[31m</title><script>\u2029"


def study() -> cf.Study:
    rows = 4 * 15 * 8
    data = pl.DataFrame(
        {
            "id": [f"{i}" for i in range(rows)],
            "c\x01": [CATEGORIES[i % 15] for i in range(rows)],
            "c\x02": ["toString" if i % 2 else "m\x0b" for i in range(rows)],
            "age": [20 + (7 * i) % 50 for i in range(rows)],
        }
    )

    def swap(rate: float) -> cf.Plan:
        return cf.Plan([cf.Swap("c\x01", rate=rate)], identifiers=["id"])

    names = [*PLANS, *sorted(OF_OBJECTS)]
    plans: dict[str, cf.Plan | cf.Sweep] = {name: swap(0.01 + 0.02 * i) for i, name in enumerate(names)}
    plans["sweep\x03"] = cf.Sweep(swap, rate=[0.5, 0.6, 0.7])
    who = {"near\x01": cf.Intruder(knows=["c\x01", "c\x02", "age"]), "constructor": cf.Intruder(knows=["c\x01", "age"])}
    rule = cf.Rule({"expected_matches": 500}, by="means")
    return cf.Study(
        data, plans, who, [cf.Hellinger(), cf.Means("age")], repeats=1, seed=1, choice=rule, title=TITLE, label="\x07"
    )


def main(folder: Path) -> None:
    result = study().run(folder / "work", threads=2)
    choice = result.choose()
    save_report_folder(result, folder / "out", choice)
    result.save(folder / "out")
    (folder / "printed.txt").write_text(str(result))
    chart = result.map()
    chart.save(str(folder / "map.svg"))  # by altair itself
    save_chart(chart, folder / "map.html")
    print("whole")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
