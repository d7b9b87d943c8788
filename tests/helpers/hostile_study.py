"""A study whose plans, intruders, columns and categories have names that no renderer, page or terminal should meet.

Run by itself (`python hostile_study.py FOLDER`), since a renderer that fails on one of them takes the process with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import confide as cf
from confide.show.charts.charts import strategies_chart
from confide.show.charts.drawable import OF_OBJECTS
from confide.show.charts.drawing import save_chart
from confide.show.charts.rank_charts import rank_chart
from confide.show.charts.synthesis_charts import claims_chart
from confide.show.charts.table_charts import area_map, scheme_map
from confide.show.report import save_report_folder

CATEGORIES = [
    "a\x00", "a\x01", "a\x0b", "a\x1f", "a\uffff", "a\n", "a\u2028", "a\u202e", "\x1b[31ma", "</script>", "constructor",
    "__proto__", "'\"\\", "👩‍👧", "a\U0010ffff",
]  # fmt: skip
PLANS = [
    "p\u2028",
    "p\x01",
    "p\x02",
    "</script><b>",
    "../../p",
    "\x1b]0;x\x07",
    "'\"\\{{x}}",
    "constructor",
    "__proto__",
]
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

    plans: dict[str, cf.Plan | cf.Sweep] = {name: swap(0.01 + 0.02 * i) for i, name in enumerate(PLANS)}
    plans["sweep\x03"] = cf.Sweep(swap, rate=[0.5, 0.7])
    who = {"near\x01": cf.Intruder(knows=["c\x01", "c\x02", "age"]), "constructor": cf.Intruder(knows=["c\x01", "age"])}
    rule = cf.Rule({"expected_matches": 500})
    said = {"title": TITLE, "label": "\x07", "groups": ["c\x01"]}
    return cf.Study(data, plans, who, [cf.Means("age")], repeats=1, seed=1, choice=rule, **said)


def others() -> Iterator[Any]:
    """Charts that no study draws, of every name."""
    names = [*CATEGORIES, *PLANS, *sorted(OF_OBJECTS)]
    names = list(dict.fromkeys(names))
    numbers = {"expected_matches": [1.0 + i for i in range(len(names))]}
    yield strategies_chart(pl.DataFrame({"strategy": names, "knows": names[::-1], **numbers}), title="\x01")
    claimed = [2.0 + i for i in range(len(names))]
    yield claims_chart(pl.DataFrame({"intruder": names, "claimed": claimed, "right": claimed[::-1]}))
    yield rank_chart({n: pl.DataFrame({"rank": ["1", ">1"], "targets": [2, 3]}) for n in names[:12]}, title="\x0b")
    yield area_map(cf.Tables([[2, 1]] * len(names), areas=names).publish(cf.Exact()).attack(known=[1]).frame, n=1)
    schemes = {n: cf.RoundCells(3 + i) for i, n in enumerate(names[:14])}
    yield scheme_map(cf.compare_schemes(cf.Table([2, 1, 3]), schemes, known=2).frame)


def main(folder: Path) -> None:
    result = study().run(folder / "work")
    save_report_folder(result, folder / "out", result.choose())
    result.save(folder / "out")
    (folder / "printed.txt").write_text(str(result))
    chart = result.map()
    chart.save(str(folder / "map.svg"))  # by altair itself
    save_chart(chart, folder / "map.html")
    for i, other in enumerate(others()):
        save_chart(other, folder / f"other-{i}.svg")
    print("whole")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
