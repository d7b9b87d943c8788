r"""Scores of minimal sample uniques: both customary scales, DIS-SUDA, and what each key contributes."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64, Bools
from confide.frames.unique_sets import UniqueSets

SCALES = {"elliot": "(m - s)!", "ihsn": "(2^(m - s) - 1) / C(m, s)"}
"""What an MSU of s of m keys scores."""


def scores(m: int, scale: str) -> F64:
    """What an MSU of 1, 2, ..., m keys scores.

    >>> scores(4, "elliot").tolist(), scores(4, "ihsn").round(4).tolist()
    ([6.0, 2.0, 1.0, 1.0], [1.75, 0.5, 0.25, 0.0])
    """
    sizes = range(1, m + 1)
    if scale == "elliot":
        return np.array([float(factorial(m - s)) for s in sizes])
    return np.array([(2.0 ** (m - s) - 1) / comb(m, s) for s in sizes])


def dis_suda(score: F64, there: Bools, theta: float, m: int) -> F64:
    """DIS-SUDA of every record: 0 without an MSU, NaN where the scale gives a unique record no score."""
    scored = score > 0
    if not scored.any():
        return np.where(there, np.nan, 0.0)
    q = 1 + (8 - m) / 20
    power = (score[scored] / score.max()) ** q
    out = np.where(there, np.nan, 0.0)
    out[scored] = 1 / (1 + scored.sum() * (1 / theta - 1) / (power * (1 / power).sum()))
    return out


def smallest(found: UniqueSets) -> I64:
    """The size of each distinct row's smallest MSU."""
    return np.asarray(np.argmax(found.by_size > 0, axis=1) + 1)


def contributions(keys: Sequence[str], found: UniqueSets, of_size: F64) -> pl.DataFrame:
    """For each key, the share of the score of all MSUs that have it, and how many have it."""
    total = float(found.sizes @ of_size)
    rows = []
    for v, name in enumerate(keys):
        mine = [(len(s), int(k)) for s, k in zip(found.sets, found.count, strict=True) if v in s]
        score = sum(of_size[size - 1] * k for size, k in mine)
        rows.append((name, float(score) / total if total else None, sum(k for _, k in mine)))
    return pl.DataFrame(rows, {"variable": pl.String, "contribution": pl.Float64, "sets": pl.Int64}, orient="row")


def listed(keys: Sequence[str], found: UniqueSets) -> pl.DataFrame:
    """The sets of keys that are an MSU of somebody, small ones first, and of how many."""
    rows = [(", ".join(keys[v] for v in s), len(s), int(k)) for s, k in zip(found.sets, found.count, strict=True)]
    schema = {"variables": pl.String, "size": pl.Int64, "records": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(
        "size", "records", descending=[False, True], maintain_order=True
    )
