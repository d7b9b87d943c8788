"""What the fuzz gives to calls: files with marked values, and odd values of every sort."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MARK = "Qzx"
"""Every text in the data begins so; no message may hold it."""

REGIONS = [f"{MARK}north", f"{MARK}south", f"{MARK}east"]
INCOMES = [48271.37, 59393.61, 71807.43, 83639.29, 95957.83, 46049.97]
"""Numbers that no count, default or limit looks like."""


def leak(text: str) -> bool:
    """Whether a message holds a value of the data."""
    return MARK in text or any(re.search(rf"(?<!\d){int(v)}(?!\d)", text.replace(",", "")) for v in INCOMES)


def people(n: int = 24) -> pl.DataFrame:
    """A small file: an identifier, categories, whole numbers, numbers, a weight."""
    rng = np.random.default_rng(5)
    return pl.DataFrame({
        "id": [f"{MARK}id{i}" for i in range(n)],
        "region": pl.Series([REGIONS[i % 3] for i in range(n)], dtype=pl.Enum(REGIONS)),
        "sex": [f"{MARK}{'fm'[i % 2]}" for i in range(n)],
        "age": rng.integers(20, 70, n),
        "income": [INCOMES[i % 6] + i * 0.01 for i in range(n)],
        "spent": rng.normal(300, 50, n).round(2),
        "weight": rng.uniform(1, 9, n).round(1),
    })  # fmt: skip


def _text_in_numbers() -> pl.DataFrame:
    return people().with_columns(income=pl.Series([f"{v}" for v in people()["income"]]))


def _odd_unicode() -> pl.DataFrame:
    odd = ["\x01", "\u2028", "\x0b", "e\u0301", "\u202e", "=1+1"]
    return people().with_columns(region=pl.Series([MARK + odd[i % 6] for i in range(24)]))


FRAMES: dict[str, Callable[[], Any]] = {
    "as it should be": people,
    "one row": lambda: people(1),
    "two rows": lambda: people(2),
    "no rows": lambda: people().head(0),
    "a column all missing": lambda: people().with_columns(income=pl.lit(None, dtype=pl.Float64)),
    "categories all missing": lambda: people().with_columns(region=pl.lit(None, dtype=pl.Enum(REGIONS))),
    "nulls without a type": lambda: people().with_columns(income=pl.lit(None), region=pl.lit(None)),
    "a constant": lambda: people().with_columns(income=pl.lit(48271.37), region=pl.lit(REGIONS[0])),
    "text in a number": _text_in_numbers,
    "infinite": lambda: people().with_columns(income=pl.lit(float("inf"))),
    "not a number": lambda: people().with_columns(income=pl.lit(float("nan"))),
    "weights of zero": lambda: people().with_columns(weight=pl.lit(0.0)),
    "negative weights": lambda: people().with_columns(weight=pl.lit(-1.0)),
    "largest numbers": lambda: people().with_columns(income=pl.lit(1e308), age=pl.lit(2**62)),
    "odd letters": _odd_unicode,
    "lists": lambda: people().with_columns(income=pl.Series([[1.0, 2.0]] * 24)),
    "dates": lambda: people().with_columns(income=pl.lit(dt.date(2020, 2, 29)), age=pl.lit(dt.datetime(2020, 1, 1))),
    "yes and no": lambda: people().with_columns(income=pl.Series([i % 2 == 0 for i in range(24)])),
    "pandas": lambda: people().with_columns(pl.col("region").cast(pl.String)).to_pandas(),
    "arrow": lambda: people().to_arrow(),
    "a dict": lambda: people().to_dict(as_series=False),
    "columns of two lengths": lambda: {"age": [1, 2], "income": [1]},
    "twice the same row": lambda: pl.concat([people(3)] * 8),
}

ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "30 for 0.30": lambda: 30,
    "0.3": lambda: 0.3,
    "0.5": lambda: 0.5,
    "1.5": lambda: 1.5,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "2**70": lambda: 2**70,
    "-2**63": lambda: -(2**63),
    "true": lambda: True,
    "complex": lambda: 1 + 2j,
    "decimal": lambda: Decimal("0.25"),
    "fraction": lambda: Fraction(1, 3),
    "a numpy float": lambda: np.float64(0.25),
    "a numpy float32": lambda: np.float32(0.25),
    "a numpy int": lambda: np.int64(3),
    "a numpy bool": lambda: np.bool_(True),
    "a numpy nan": lambda: np.float64("nan"),
    "an array": lambda: np.array([0.5, 1.5]),
    "an array of no dimension": lambda: np.array(3),
    "an array of two dimensions": lambda: np.ones((2, 2)),
    "no text": lambda: "",
    "a long name": lambda: "x" * 20_000,
    "another name": lambda: "no such column",
    "a column": lambda: "income",
    "categories": lambda: "region",
    "the identifier": lambda: "id",
    "NUL": lambda: "a\x00b",
    "a line separator": lambda: "a\u2028b",
    "half a letter": lambda: "\ud800",
    "right to left": lambda: "\u202eabc",
    "a letter with a mark": lambda: "re\u0301gion",
    "bytes": lambda: b"income",
    "a path": lambda: Path("income"),
    "an empty list": list,
    "an empty dict": dict,
    "an empty set": lambda: set(),
    "a set": lambda: {"income"},
    "names": lambda: ["income", "spent"],
    "a name twice": lambda: ["income", "income"],
    "names and a number": lambda: ["income", 3],
    "numbers": lambda: [1, 2, 3],
    "falling numbers": lambda: [3, 2, 1],
    "numbers and nothing": lambda: [1, None],
    "lists in lists": lambda: [[["income"]]],
    "rows of two lengths": lambda: [[1, 2], [3]],
    "a table": lambda: {"income": 3.0},
    "a table of nothing": lambda: {"income": None},
    "a table with numbers": lambda: {1: 2, None: 3},
    "a generator": lambda: (n for n in ["income"]),
    "a range": lambda: range(3),
    "a function": lambda: len,
    "a class": lambda: int,
    "an object": object,
    "a date": lambda: dt.date(2020, 1, 1),
    "a series": lambda: pl.Series([1.0, 2.0]),
    "a frame": people,
    "an empty frame": pl.DataFrame,
    "an expression": lambda: pl.col("income"),
}


def odd(rng: random.Random) -> tuple[str, Any]:
    """One odd value and what it is called."""
    name = rng.choice(list(ODD))
    return name, ODD[name]()


def frame(rng: random.Random, usual: float = 0.5) -> tuple[str, Any]:
    """A file, often as it should be."""
    name = "as it should be" if rng.random() < usual else rng.choice(list(FRAMES))
    return name, FRAMES[name]()
