"""Draws of records far down a file: never moved, and the same where the file is read in parts.

`python -m tests.protect.test_far_rows` prints what is in `data/far_rows.json`.
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.random.origin import Origin
from confide.frames.columns import Column, Records
from confide.protect.seam.fitted import Applied
from tests.protect.scanned import test_same_release, test_spark
from tests.protect.test_canonical import PLANS

HELD = Path(__file__).parent / "data" / "far_rows.json"
PEOPLE = cf.demo("heads").filter(pl.col("hh_income").is_between(0, 10**6)).head(120)
STARTS = (0, 2**32 - 60, 2**40)
"""The numbers of the first record: they pass 2^32 amid the file."""

BY_ROW: dict[str, cf.extend.Mechanism] = {
    "noise": cf.Noise("hh_income", sd=500.0, bounds=(0, 10**6)),
    "joint noise": cf.Noise(["age", "wage_income"], sd={"age": 3, "wage_income": 500}, correlation=0.5),
    "lognormal noise": cf.LognormalNoise("hh_income", sd=0.1),
    "pram": cf.Pram("sex", retention=0.8),
    "swap": cf.Swap("race", rate=0.4, within="sex"),
    "joint swap": cf.Swap(["race", "educ"], rate=0.3),
    "rank swap": cf.RankSwap("hh_income", window=10),
    "rank swap in pairs": cf.RankSwap("age", window=6, exchange=True),
    "local suppression": cf.LocalSuppression(["race", "marital"], k=6),
    "sample": cf.Sample(0.4),
}
MODELS: dict[str, cf.extend.Mechanism] = {
    "quantile regression": cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=9, learn=90),
    "normal": cf.NormalSynthesis("hh_income", given=["sex", "age"], learn=90),
    "trees": cf.CartSynthesis("property_value", given=["sex", "age"], draw="independent", learn=90),
}
"""Their values hang on the last digits of a library, so they are not pinned."""
STEPS = {**BY_ROW, **MODELS}


def records(step: cf.extend.Mechanism, start: int) -> Records:
    made = cf.Plan([step]).encode(PEOPLE)
    return Records(made.values(), n=made.n, rows=start + np.arange(made.n), file=start + made.n)


def values(before: Records, found: Applied) -> dict[str, Column]:
    """The variables after a step."""
    return {**before, **{c.name: c for c in found.columns}}


def pinned(name: str, start: int) -> str:
    """A digest of what is made of these records."""
    step, file = STEPS[name], records(STEPS[name], start)
    found = step.fit(file, file, {}).apply(file, file, Origin.of(("test",), 3).draws(step.stream))
    made = [np.asarray(found.rows)] if found.rows is not None else [c.values + 0.0 for c in found.columns]
    return hashlib.sha256(b"".join(np.ascontiguousarray(x, dtype="<f8").tobytes() for x in made)).hexdigest()[:16]


def test_every_method_that_goes_in_parts_is_tried() -> None:
    in_parts = {type(s) for p in PLANS.values() for s in p.steps if not s.at_once() and s.role != "coarsen"}
    every = {type(s) for s in STEPS.values()}
    assert in_parts | {type(s) for s in MODELS.values()} == every
    for plans in (test_same_release.PLANS, test_spark.PLANS):  # whole releases: batches, files, engines
        assert every <= {type(s) for steps in plans.values() for s in steps}


@pytest.mark.parametrize("name", BY_ROW)
def test_nothing_moves(name: str) -> None:
    golden = json.loads(HELD.read_text())[name]
    assert [pinned(name, start) for start in STARTS] == golden
    assert len(set(golden)) == (1 if name == "rank swap in pairs" else len(STARTS))  # pairs are drawn by rank


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", [n for n in STEPS if n != "sample"])  # of samples: scanned/test_gathering.py
def test_parts_are_those_of_the_whole(name: str, start: int) -> None:
    step, file = STEPS[name], records(STEPS[name], start)
    draws, fitted = Origin.of(("test",), 3).draws(step.stream), step.fit(file, file, {})
    whole = values(file, fitted.apply(file, file, draws))
    parts = [file.take(np.arange(a, b)) for a, b in pairwise((0, 1, 50, 50, 75, file.n))]
    by_row, gathering = fitted, fitted.gathering(draws, file.n)
    if gathering is not None:
        for part in parts:
            gathering.see(part, part)
        by_row = gathering.done()
    for part in parts:
        found = values(part, by_row.apply(part, part, draws))
        for v in step.variables:
            np.testing.assert_array_equal(found[v].values, whole[v].values[part.rows - start])


if __name__ == "__main__":
    print(json.dumps({name: [pinned(name, start) for start in STARTS] for name in BY_ROW}, indent=1))
