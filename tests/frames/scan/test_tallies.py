"""A codebook that keeps only some values of a long number encodes every batch as one that keeps all does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.tallies import Tallies
from tests.helpers.scanned import in_files, people


@pytest.mark.parametrize("rows", [97, 10_000])
def test_some_values_are_enough(rows: int, tmp_path: Path) -> None:
    cents = pl.Series("cents", np.round(np.random.default_rng(1).normal(0, 9, 700), 2))
    short = pl.Series("short", np.linspace(0, 1, 700).round(3), dtype=pl.Float32)
    late = pl.Series("late", [*map(float, range(699)), 0.125])
    early = late.reverse().alias("early")
    data = in_files(people(700).with_columns(cents, short, late, early), tmp_path, [1, 1, 500])
    whole, some = Codebook.of(data, data.columns), Codebook.of(data, data.columns, rows=rows, most=30)
    for v in data.columns:
        a, b = whole.columns[v], some.columns[v]
        assert (a.kind, a.dtype, a.step, a.special, a.levels, a.why) == (
            b.kind,
            b.dtype,
            b.step,
            b.special,
            b.levels,
            b.why,
        ), v
        assert len(b) <= 31 or b.kind == "categorical"
    assert some.columns["late"].step == some.columns["early"].step == 0.001
    for first, batch in data.batches(rows=150):
        one, other = whole.encode(batch, first), some.encode(batch, first)
        assert all(np.array_equal(one[v].values, other[v].values, equal_nan=True) for v in data.columns)
    assert not len(some.counts["cents"])
    assert len(some.counts["sex"]) == len(whole.counts["sex"])


def test_whole_numbers_that_floats_blur_are_categories_with_all_values(tmp_path: Path) -> None:
    long = pl.DataFrame({"code": [*range(100), *(2**60 + k for k in range(50))]})
    data = in_files(long, tmp_path, [100])
    found = Codebook.of(data, ["code"], rows=40, most=30).columns["code"]
    assert found.kind == "categorical"
    assert len(found.levels) == 150
    with pytest.raises(cf.InputError, match=r"beyond 2\^53"):
        Codebook.of(data, ["code"], {"code": "numeric"}, rows=40, most=30)


def test_infinite_numbers_are_said_wherever_they_are(tmp_path: Path) -> None:
    data = in_files(pl.DataFrame({"x": [*np.linspace(0, 1, 200), np.inf, -np.inf]}), tmp_path, [])
    with pytest.raises(cf.InputError, match="2 infinite values"):
        Codebook.of(data, ["x"], rows=50, most=30)


def test_parts_merge() -> None:
    frame = pl.DataFrame({"x": np.linspace(0, 1, 100).round(2), "y": ["a", "b"] * 50})
    parts = [Tallies(["x", "y"], ["x"], 30) for _ in range(3)]
    for k, part in enumerate(parts):
        part.add(frame[[0, 40, 90][k] : [40, 90, 100][k]])
    parts[2].merge(parts[0])
    parts[2].merge(parts[1])
    one = Tallies(["x", "y"], ["x"], 30)
    one.add(frame)
    assert parts[2].facts["x"].precision == one.facts["x"].precision == 0.01
    assert parts[2].rows == 100
    assert parts[2].found("y").sort("y").rows() == one.found("y").sort("y").rows()
    assert parts[2].found("x").height <= 40
