"""A study of a small file full of unmistakable values, its reports, and all that can be read in them."""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

import confide as cf
from confide.show.report import write_report
from confide.study.result import StudyResult

ROWS, SEED, LIMIT = 240, 918273645, 210
LABEL = "very-private-folder/agency-file-7731.csv"
HOSTILE, QUOTED = "<script>alert(1)</script>", 'a "quoted" plan </script><b>bold</b> & more'
ALONE, PAIR, FIVE, TWELVE = "Quixotville", "Tinytown", "Smallham-of-five", "Dozenbury"


def frame() -> pl.DataFrame:
    """One value of each kind that must never be seen; towns of 1, 2, 5 and 12 people."""
    towns = [ALONE, *[PAIR] * 2, *[FIVE] * 5, *[TWELVE] * 12, *[HOSTILE] * 30]
    towns += [("Northbridge", "Southwick & Co")[i % 2] for i in range(ROWS - len(towns))]
    return pl.DataFrame({
        "person": [f"ID-zebra-{7 * i:05d}" for i in range(ROWS)],
        "town": towns, "sex": [("female", "male")[(i * 7) % 3 % 2] for i in range(ROWS)],
        "age": [18 + (i * 37) % 71 for i in range(ROWS)],
        "income": [987654321.25 if i == 0 else 20_000.625 + 1237.25 * ((i * 53) % ROWS) for i in range(ROWS)],
        "pay_code": [round(1.0003717 + 0.0131113 * i, 7) for i in range(ROWS)],
    })  # fmt: skip


def secrets() -> list[str]:
    """Texts that only a record has: identifiers and numbers as they may be printed."""
    data = frame()
    numbers = [v for c in ("income", "pay_code") for v in data[c]]
    return [*data["person"], *(repr(v) for v in numbers), *(f"{v:,.2f}" for v in data["income"]), "987,654,321"]


@functools.cache
def result() -> StudyResult:
    """The study, run once a process."""
    out = {"identifiers": ["person"], "drop": ["pay_code"]}
    plans: dict[str, Any] = {
        "swap": cf.Sweep(lambda rate: cf.Plan([cf.Swap("town", rate=rate, force=[0, 5])], **out), rate=[0.1, 0.3, 0.5]),
        QUOTED: cf.Plan([cf.Noise("income", sd=90_000.0), cf.Topcode("age", at=80)], **out),
        "broad ages": cf.Plan([cf.Recode("age", width=15), cf.Recode("town", mapping={ALONE: "Northbridge"})], **out),
    }
    who = {
        "neighbour": cf.Intruder(knows=["town", "sex", "age"]),
        "<tax> office": cf.Intruder(knows=["sex"], membership=cf.Unsure(total=31337.0)),
    }
    needs = ["hellinger", {"measure": "ci_overlap", "formula": "log1p(income) ~ age + sex + C(town)"}]
    said = {"title": f"A study {HOSTILE}", "label": LABEL, "groups": ["town", "age"]}
    study = cf.Study(frame(), plans, who, needs, repeats=2, seed=SEED, **said)
    return study.run(progress=False)


def build(place: Path) -> None:
    """Both versions of the report."""
    chosen = result().choose({"expected_matches": LIMIT}, by="ci_overlap")
    for outside, name in ((False, "inside.html"), (True, "outside.html")):
        write_report(result(), place / name, outside=outside, choice=chosen)


def specs(text: str) -> dict[str, dict[str, Any]]:
    """The charts in a page, by name: {"wide": ..., "narrow": ...}."""
    found = re.findall(r'<figure id="([^"]+)".*?<script type="application/json">(.*?)</script>', text, re.S)
    return {name: json.loads(spec) for name, spec in found}


def own(text: str) -> str:
    """A page without the libraries that draw, which hold many numbers of their own."""
    return re.sub(r"<script>.*?</script>", "", text, flags=re.S)


def everything(text: str) -> str:
    """All that a page says, in every form: as written, as read, data of charts, and pictures taken apart."""
    mine = own(text)
    pictures = [base64.b64decode(code).decode() for code in re.findall(r"base64,([A-Za-z0-9+/=]+)", mine)]
    charts = [json.dumps(spec, ensure_ascii=False) for spec in specs(text).values()]
    return "\n".join([mine, html.unescape(mine), *charts, *pictures, *map(html.unescape, pictures)])


def datasets(spec: Any) -> list[dict[str, Any]]:
    """Every row of data anywhere in a chart."""
    if isinstance(spec, dict):
        rows = (
            [r for r in spec.get("values", []) if isinstance(r, dict)] if isinstance(spec.get("values"), list) else []
        )
        named = [r for d in spec.get("datasets", {}).values() for r in d]
        return [*rows, *named, *(r for k, v in spec.items() if k != "datasets" for r in datasets(v))]
    return [r for v in spec for r in datasets(v)] if isinstance(spec, list) else []


def tables(text: str) -> list[list[list[str]]]:
    """Every table as rows of text."""
    found = re.findall(r"<table>(.*?)</table>", own(text), re.S)
    return [[[html.unescape(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
             for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.S)] for table in found]  # fmt: skip
