"""Rows that go to every bucket in which their unit has candidates: on one machine, and on workers, as loops say."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from confide.attack.scanned import companions
from confide.attack.scanned.companions import MINE, NOWHERE, UNIT, WithCompanions
from confide.attack.scanned.cut import Cut
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.spark_units import FIRST, TIMES, SendUnits
from confide.attack.scanned.spark_work import AT, RECORDS
from confide.core.scale.spilled import Spilled

N, MANY = 300, 9
Sent = dict[int, list[tuple[int, int, bool]]]


def rows() -> tuple[np.ndarray, np.ndarray]:
    """The unit of each row, as the first of its rows; and its bucket, for some nowhere."""
    rng = np.random.default_rng(4)
    named = np.where(np.arange(N) % 8 == 0, 999, rng.integers(0, 120, N))
    _, first, of = np.unique(named, return_index=True, return_inverse=True)
    return first[of], np.where(rng.random(N) < 0.1, NOWHERE, rng.integers(0, MANY, N))


def by_loops(unit: np.ndarray, homes: list[set[int]]) -> Sent:
    """By bucket: each row of a unit that has candidates there, its unit, and whether it is one of these."""
    out: Sent = {b: [] for b in range(MANY)}
    for b in range(MANY):
        there = {int(unit[i]) for i in range(N) if b in homes[i]}
        out[b] = [(i, int(unit[i]), b in homes[i]) for i in range(N) if homes[i] and int(unit[i]) in there]
    return out


@pytest.mark.parametrize("alone", [False, True])
def test_on_one_machine(alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "SENT", 40)
    unit, bucket = rows()
    link = np.random.default_rng(1).permutation(N)
    original = np.empty(N, dtype=np.int32)
    original[link] = link[np.unique(unit, return_index=True)[1]][np.unique(unit, return_inverse=True)[1]]
    frame = pl.DataFrame({"row": np.arange(N)})
    batches = [(link[a : a + 70], frame[a : a + 70]) for a in range(0, N, 70)]
    units = FileUnits("home", original, np.ones(N, dtype=bool), N)
    work = WithCompanions(Spilled(tmp_path, "records", MANY), units, lambda: batches, alone)
    for k, (some, batch) in enumerate(batches):
        here = bucket[70 * k : 70 * k + 70]
        there = np.flatnonzero(here != NOWHERE)
        work.add(batch, some, there, here[there])
    done = work.done()
    homes = [set() if b == NOWHERE else {int(b)} for b in bucket.tolist()]
    expected = by_loops(original[link], homes)
    for b in range(MANY):
        found = done.bucket(b).select("row", UNIT, MINE).rows()
        assert found == [x for x in expected[b] if x[2] or not alone]


def test_on_workers_with_blocks_that_are_cut() -> None:
    unit, _ = rows()
    label = np.random.default_rng(2).integers(0, 12, N)
    cut = Cut(5, (np.array([3, 7]),), np.array([2, 2]))
    first, times = cut.ranges([label], N)
    sent, to = cut.of_records([label], N)
    homes = [set(to[sent == i].tolist()) for i in range(N)]
    assert homes == [set(range(a, a + n)) for a, n in zip(first, times, strict=True)]
    assert cut.many == MANY
    frame = pl.DataFrame({"row": np.arange(N), AT: np.arange(N), UNIT: unit, FIRST: first, TIMES: times})
    made = SendUnits()(
        {RECORDS: frame.with_columns(pl.lit(True).alias(MINE)).sample(fraction=1.0, shuffle=True, seed=1)}
    )
    expected = by_loops(unit, homes)
    found = dict(zip(made["bucket"].to_pylist(), made["packed"].to_pylist(), strict=True))
    assert set(made["side"].to_pylist()) == {RECORDS}
    for b in range(MANY):
        got = pl.read_ipc(io.BytesIO(found[b])).sort(AT).select("row", UNIT, MINE).rows() if b in found else []
        assert got == expected[b]
