"""What steps keep of a file that is read in parts: enough, and no more."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from confide.core.random.draws import Counter
from confide.frames.columns import Column, Records
from confide.protect.scanned.steps import JointCounts
from confide.protect.seam import learning
from confide.protect.seam.gathering import Patch
from confide.protect.seam.learning import drawn, learnt, may_learn, surely_below
from confide.protect.shared.smallest import Smallest

DRAWS = Counter(bytes(range(16)))


def records(rows: np.ndarray) -> Records:
    values = rows.astype(float) % 7
    return Records([Column("x", "numeric", values, pl.Float64())], rows=rows.astype(np.int64))


@pytest.mark.parametrize("last", [255, 256, 70_000, 2**33])
def test_a_patch_changes_its_rows_and_no_others(last: int) -> None:
    patch = Patch.of(np.array([last, 3]), {"x": np.array([-1.0, -2.0])})
    for first in (0, 1, last - 2, last, last + 1, last + 300):
        rows = np.arange(first, first + 5)
        found = patch.apply(records(rows), records(rows), DRAWS).columns
        new = found[0].values if found else records(rows)["x"].values
        np.testing.assert_array_equal(new, np.where(rows == last, -1.0, np.where(rows == 3, -2.0, rows % 7)))


@pytest.mark.parametrize("start", [0, 2**32 - 50, 2**40])
@pytest.mark.parametrize("size", [1, 37, 99, 100])
def test_a_sample_in_parts_is_the_sample(start: int, size: int) -> None:
    rows = np.arange(start, start + 100)
    gathering = Smallest(DRAWS, 100, size)
    for part in (rows[:1], rows[1:40], rows[40:40], rows[40:]):
        gathering.see(records(part), records(part))
    np.testing.assert_array_equal(np.flatnonzero(gathering.done().keeps(rows)), DRAWS.sample(rows, size))
    assert gathering.left == size


def test_few_words_are_kept_beside_those_that_are_needed() -> None:
    """Of 100,000 records a sample of a tenth keeps its threshold's neighbours alone."""
    gathering = Smallest(DRAWS, 100_000, 10_000)
    gathering.see(records(np.arange(100_000)), records(np.arange(100_000)))
    assert sum(map(len, gathering.one)) < 2_500


def test_the_smallest_share_lies_below_the_limit() -> None:
    rng = np.random.default_rng(1)
    for share, n in ((0.001, 1_000), (0.3, 500), (0.9, 2_000), (1.0, 10), (0.0, 10)):
        limit = float(surely_below(share, n))
        below = (rng.random((300, n)) < limit).sum(axis=1)
        assert (below >= share * n).all()


def test_records_that_a_model_learns_from_are_among_those_kept() -> None:
    file = records(np.arange(5_000))
    wanted = learnt(file, 400, "Step:x").rows
    kept = np.flatnonzero(may_learn(file.rows, 400, 5_000, "Step:x"))
    assert set(wanted.tolist()) <= set(kept.tolist())
    assert len(kept) < 1_000
    np.testing.assert_array_equal(learnt(file.take(kept), 400, "Step:x").rows, wanted)
    assert learnt(file, None, "Step:x") is file


@pytest.mark.parametrize("many", [1, 400, 4_999, 5_000, 9_000])
def test_their_numbers_are_found_without_any_record(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "TOGETHER", 700)
    np.testing.assert_array_equal(drawn(5_000, many, "Step:x"), learnt(records(np.arange(5_000)), many, "Step:x").rows)


def test_joint_counts_do_not_hang_on_the_cut() -> None:
    file = records(np.arange(50))
    one, many = JointCounts(["x"]), JointCounts(["x"])
    one.see(file, file)
    for k in range(0, 50, 3):
        part = file.take(np.arange(k, min(k + 3, 50)))
        many.see(part, part)
    np.testing.assert_array_equal(one.found()["x"].values, many.found()["x"].values)
    np.testing.assert_array_equal(one.found().counts, many.found().counts)
