"""A digest of a file's content: the same for pandas, polars, CSV and Parquet, and for any cut into batches.

Each row is hashed with its number, and the hashes are added up, so that batches can be digested by themselves and
merged. Values count, types do not: 12, 12.0 and the text "12" are one value, and so are an empty text, "NA", NaN and
null, since a CSV file cannot tell them apart. It is not meant to withstand somebody who wants two files to collide;
what must not be guessed is keyed by a secret as well.

Notation
--------
x : 64 bits that stand for a value
h : two sums over rows, 64 bits each, of mixed hashes
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

F64 = NDArray[np.float64]
U64 = NDArray[np.uint64]
Codes = NDArray[np.integer[Any]]

LANES = (b"confide digest 0", b"confide digest 1")
NULL = 0x6E756C6C6E756C6C
WIDE = ("UInt64", "Int128", "UInt128")
"""Whole numbers that 64 bits with a sign may not hold; they are read as text."""
MANY = 20_000
"""Rows from which loops are compiled."""
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,15})?", re.ASCII)
"""Text that a CSV reader takes for a number; a leading zero makes a code of it."""


@dataclass(frozen=True)
class Digest:
    """Of some rows: how many, and their hashes added up. `names`: the columns, sorted.

    >>> whole = pl.DataFrame({"age": [31, 42, None], "sex": ["f", "m", "m"]})
    >>> parts = Digest.of(whole[:1]).merged(Digest.of(whole[1:], first=1))
    >>> parts.hex() == Digest.of(whole).hex() == Digest.of(whole.cast({"age": pl.Float64})).hex()
    True
    >>> Digest.of(whole[::-1]).hex() == Digest.of(whole).hex()
    False
    """

    rows: int
    names: tuple[str, ...]
    sums: tuple[int, int]

    @classmethod
    def of(cls, frame: pl.DataFrame, first: int = 0) -> Digest:
        """Of a batch whose first row has this number in the file."""
        names = tuple(sorted(frame.columns))
        if frame.height >= MANY:
            return cls(frame.height, names, _of_many(frame, first))
        sums = [0, 0]
        bits = {s.name: _bits(s) for s in frame.get_columns()}
        numbers = np.arange(first, first + frame.height, dtype=np.uint64)
        for lane, salt in enumerate(LANES):
            total = np.zeros(frame.height, dtype=np.uint64)
            for name, x in bits.items():
                total += _mixed(x[lane] + _constant(salt, name))
            sums[lane] = int(_mixed(total + _mixed(numbers + _constant(salt, None))).sum(dtype=np.uint64))
        return cls(frame.height, names, (sums[0], sums[1]))

    def merged(self, other: Digest) -> Digest:
        """Of the rows of both."""
        if self.names != other.names:
            raise ValueError("batches of one file have the same columns")
        a, b = ((x + y) % 2**64 for x, y in zip(self.sums, other.sums, strict=True))
        return Digest(self.rows + other.rows, self.names, (a, b))

    def hex(self) -> str:
        """As text, 64 digits."""
        text = repr((self.rows, self.names, self.sums))
        return hashlib.sha256(text.encode()).hexdigest()


def _of_many(frame: pl.DataFrame, first: int) -> tuple[int, int]:
    """The sums of a batch of many rows, by compiled loops."""
    from confide.core.random.digest_loops import add_bits, add_codes, add_real, add_whole, summed

    total = np.zeros((2, frame.height), dtype=np.uint64)
    for s in frame.get_columns():
        constants = [_constant(salt, s.name) for salt in LANES]
        if s.dtype.is_integer() and str(s.dtype) not in WIDE and not s.null_count():
            add_whole(s.cast(pl.Int64).to_numpy().view(np.uint64), total, *constants)
        elif s.dtype == pl.Float64:
            add_real(_no_gaps(s), total, *constants, np.uint64(NULL))
        elif s.dtype.is_numeric() and str(s.dtype) not in WIDE and not s.dtype.is_decimal():
            add_bits(*_bits(s), total, *constants)
        else:
            codes, table = _coded(s)
            add_codes(codes, _mixed(table + np.array(constants)), total)
    row = np.uint64(first)
    sums = [int(summed(lane, row, _constant(salt, None))) for lane, salt in zip(total, LANES, strict=True)]
    return sums[0], sums[1]


def row_hashes(frame: pl.DataFrame) -> U64:
    """A hash of each row's content, whatever its place in the file, shape (n,)."""
    total = np.zeros(frame.height, dtype=np.uint64)
    for s in frame.get_columns():
        total += _mixed(_bits(s)[0] + _constant(LANES[0], s.name))
    return _mixed(total)


def _constant(salt: bytes, name: str | None) -> np.uint64:
    """Of a column, by its name; of row numbers, without one."""
    tail = b"" if name is None else b"|" + name.encode("utf-8", "surrogatepass")
    return np.uint64(int.from_bytes(hashlib.sha256(salt + tail).digest()[:8], "little"))


def _mixed(x: U64) -> U64:
    """Every bit of the result depends on every bit of x (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _bits(s: pl.Series) -> tuple[U64, U64]:
    """What stands for each value, for either lane."""
    if s.dtype.is_integer() and str(s.dtype) not in WIDE:
        return _twice(_whole(s))
    if s.dtype.is_float():
        return _twice(_real(s))
    codes, table = _coded(s)
    return table[codes, 0], table[codes, 1]


def _coded(s: pl.Series) -> tuple[Codes, U64]:
    """Codes of values, and what stands for each of those in either lane, shape (values, 2)."""
    codes, texts = _distinct(s)
    return codes, np.array([_of_text(t) for t in texts], dtype=np.uint64).reshape(-1, 2)


def _twice(x: U64) -> tuple[U64, U64]:
    return x, x


def _whole(s: pl.Series) -> U64:
    x = s.cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64).view(np.uint64)
    return np.where(s.is_null().to_numpy(), np.uint64(NULL), _mixed(x))


def _no_gaps(s: pl.Series) -> F64:
    """Real numbers as they are, with NaN for what is missing."""
    return (s.fill_null(float("nan")) if s.null_count() else s).to_numpy()


def _real(s: pl.Series) -> U64:
    """Whole ones as whole numbers, others by their bits; 32-bit ones as they would be written."""
    if s.dtype != pl.Float64:
        distinct = s.unique().to_numpy()
        written = pl.Series([float(str(v)) for v in distinct], dtype=pl.Float64)
        s = s.replace_strict(pl.Series(distinct), written, return_dtype=pl.Float64)
    x = _no_gaps(s)
    missing = np.isnan(x)
    whole = ~missing & (np.abs(x) < 2.0**63) & (x == np.floor(x))
    bits = np.where(whole, x, 0.0).astype(np.int64).view(np.uint64)
    bits = np.where(whole, bits, np.where(missing, 0.0, x).view(np.uint64) ^ np.uint64(0xF10A7))
    return np.where(missing, np.uint64(NULL), _mixed(bits))


def _distinct(s: pl.Series) -> tuple[Codes, list[str | None]]:
    """Codes of the distinct values, and each of those as text."""
    if isinstance(s.dtype, pl.Enum):
        texts = s.dtype.categories.to_list()
        held = s.to_physical()
        return (held.cast(pl.Int64).fill_null(len(texts)) if s.null_count() else held).to_numpy(), [*texts, None]
    text = _text(s)
    unique = text.unique(maintain_order=True)
    codes = text.to_frame("t").join(
        unique.to_frame("t").with_row_index("code"), on="t", how="left", nulls_equal=True, maintain_order="left"
    )
    return codes["code"].to_numpy().astype(np.int64), unique.to_list()


def _text(s: pl.Series) -> pl.Series:
    """As a CSV file would have it; what has no place there as Python shows it."""
    if isinstance(s.dtype, pl.Datetime):
        text = s.dt.to_string("%Y-%m-%dT%H:%M:%S%.9f").str.strip_suffix("000")
        return text.str.strip_suffix("T00:00:00.000000")  # pandas has no type for days alone
    if s.dtype == pl.Time:
        return s.dt.to_string("%H:%M:%S%.9f")
    if isinstance(s.dtype, pl.Duration):
        return s.to_physical().cast(pl.String) + f" {s.dtype.time_unit}"
    if s.dtype.is_nested() or s.dtype in (pl.Binary, pl.Object):
        return pl.Series(s.name, [None if v is None else repr(v) for v in s.to_list()], dtype=pl.String)
    return s.cast(pl.String)


def _of_number(x: float | int) -> int:
    """One number as `_whole` and `_real` have it."""
    if isinstance(x, float) and not (x.is_integer() and abs(x) < 2.0**63):
        bits = int(np.float64(x).view(np.uint64)) ^ 0xF10A7
    else:
        bits = int(x) % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = ((bits ^ (bits >> shift)) * factor) % 2**64
    return bits ^ (bits >> 31)


def _of_text(text: str | None) -> tuple[int, int]:
    """For either lane; a number in words is the number."""
    if text is None or text in ("", "NA"):
        return NULL, NULL
    if NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        if -(2**63) <= number < 2**63:
            bits = _of_number(number)
            return bits, bits
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")
