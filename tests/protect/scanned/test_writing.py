"""Public files: the same bytes, in whatever pieces their rows come."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from confide.protect.scanned.writing import write_part


@pytest.mark.parametrize("cuts", [[1], [100_000, 250_000], range(7_000, 300_000, 7_000)])
def test_pieces_leave_no_trace(cuts: list[int], tmp_path: Path) -> None:
    """Polars ends row groups where pieces end, unless their size is stated; engines hold other pieces."""
    n, r = 300_000, np.random.default_rng(1)
    whole = pl.DataFrame({"a": r.integers(0, 99, n), "b": pl.Series(r.choice(["x", "y"], n), dtype=pl.String)})
    ends = [0, *cuts, n]
    pieces = pl.concat([whole[a:b] for a, b in pairwise(ends)])
    assert pieces.n_chunks() > whole.n_chunks()
    for name, frame in (("one", whole), ("other", pieces)):
        write_part(tmp_path / f"{name}.parquet", tmp_path / f"{name}.npy", frame, np.arange(n), {"a": "b"})
    assert len({sha256(file.read_bytes()).digest() for file in tmp_path.glob("*.parquet")}) == 1
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".npy", ".npy", ".parquet", ".parquet"]
