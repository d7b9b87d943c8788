"""How much of a file a release has: variables and records that are not in it cost no measure that names others."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from confide.protect.release import Release

SIZES = ("variables", "of_variables", "records", "of_records")
SCHEMA = {"plan": pl.String, **dict.fromkeys(SIZES, pl.Float64)}


def sizes(releases: Sequence[Release]) -> dict[str, float]:
    """Variables but the identifiers, and records: how many are released, the mean over copies, and how many there are.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Sample(0.5)], identifiers=["id"], drop=["sex", "race"])
    >>> sizes([plan.protect(cf.demo("heads").head(100), seed=1)])
    {'variables': 12.0, 'of_variables': 14.0, 'records': 50.0, 'of_records': 100.0}
    """
    first = releases[0]
    aside = () if first.plan is None else first.plan.identifiers
    names = [v for v in first.original.columns if v not in aside]
    kept = sum(v in first.frame.columns for v in names)
    records = sum(r.frame.height for r in releases) / len(releases)
    return dict(zip(SIZES, (float(kept), float(len(names)), records, float(first.original.height)), strict=True))


def missing_words(released: pl.DataFrame, plan: str) -> str:
    """How many variables and records of how many a plan does not release, in a sentence; empty where it releases all.

    >>> row = {"plan": "a", "variables": 3.0, "of_variables": 8.0, "records": 3000.0, "of_records": 3000.0}
    >>> missing_words(pl.DataFrame([row]), "a")
    '5 of 8 variables are not released.'
    """
    rows = released.filter(pl.col("plan") == plan).select(SIZES).rows() if released.width else []
    if not rows:
        return ""
    kept, of, records, of_records = rows[0]
    parts = [
        f"{round(whole - there):,} of {round(whole):,} {what}"
        for there, whole, what in ((kept, of, "variables"), (records, of_records, "records"))
        if round(whole - there) > 0
    ]
    one = len(parts) == 1 and parts[0].startswith("1 of")
    return f"{' and '.join(parts)} {'is' if one else 'are'} not released." if parts else ""
