"""Small files for work in parts: every type of column, gaps, a value that only one part has, and an empty part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf


def people(n: int = 3_000, seed: int = 5) -> pl.DataFrame:
    """A file with categories, numbers, dates, text and missing values."""
    r = np.random.default_rng(seed)
    region = pl.Series("region", r.choice(["north", "east", "south"], n).tolist(), dtype=pl.String)
    income = np.where(r.random(n) < 0.2, 0.0, np.round(np.exp(r.normal(9, 1, n))))
    frame = pl.DataFrame({
        "id": np.arange(10_000, 10_000 + n),
        "sex": pl.Series(r.choice(["f", "m"], n).tolist(), dtype=pl.Enum(["m", "f", "x"])),
        "region": region,
        "race": pl.Series(r.integers(1, 6, n), dtype=pl.Int8),
        "marital": r.choice(["married", "single", "widowed"], n, p=[0.6, 0.35, 0.05]).tolist(),
        "age": pl.Series(r.integers(0, 96, n), dtype=pl.Int16),
        "income": pl.Series(income, dtype=pl.Int64),
        "height": pl.Series(np.round(r.normal(170, 10, n), 1), dtype=pl.Float32),
        "score": r.normal(0, 1, n),
        "share": pl.Series(np.round(r.random(n) * 100, 2)).cast(pl.Decimal(8, 2)),
        "born": pl.Series(r.integers(0, 9_000, n), dtype=pl.Int32).cast(pl.Date),
        "seen": pl.Series(r.integers(0, 10**9, n) * 1_000_000, dtype=pl.Int64).cast(pl.Datetime("us")),
        "insured": r.random(n) < 0.7,
        "kind": pl.Series(r.choice(["a", "b", "c"], n).tolist(), dtype=pl.Categorical),
    })  # fmt: skip
    gaps = {v: r.random(n) < 0.05 for v in ("sex", "region", "race", "age", "income", "score", "born", "insured")}
    frame = frame.with_columns(
        pl.when(pl.Series(gone)).then(None).otherwise(pl.col(v)).alias(v) for v, gone in gaps.items()
    )
    once = pl.when(pl.int_range(n) == n - 7)
    return frame.with_columns(region=once.then(pl.lit("island")).otherwise(pl.col("region")))


def in_files(frame: pl.DataFrame, folder: Path, cuts: Sequence[int], suffix: str = ".parquet") -> cf.Scan:
    """The frame in files that end at the rows given; equal ones make an empty file."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [0, *cuts, frame.height]
    for k, (a, b) in enumerate(pairwise(edges)):
        path = folder / f"part-{k:02}{suffix}"
        cf.write(frame[a:b], path) if suffix != ".arrow" else frame[a:b].write_ipc(path)
    return cf.scan(folder)
