"""Perturbation tables that come from elsewhere: read from a frame or given as rows, and checked."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import type_name

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

OFF_ONE = 1e-6
"""Probabilities of a count may sum to 1 give or take this much (rounded tables); they are then divided by their sum."""
FARTHEST = 1_000_000
"""The largest count and noise that a table may hold."""


def problems(count: I64, noise: I64, p: F64, size: int, keep_zeros: bool) -> list[str]:
    """All that is wrong with a table of `size` counts. Arrays of equal length, one entry a (count, noise) pair."""
    if not size:
        return ["It has no rows."]
    if (count < 0).any():
        return ["Counts must not be negative."]
    found = []
    present, place = np.unique(count, return_inverse=True)
    if len(present) < size:
        lost = f"{size - len(present)} {'is' if size - len(present) == 1 else 'are'}"
        found.append(f"Counts must run 0, 1, 2, ... without gaps; {lost} missing below the largest.")
    twice = len(count) - len(set(zip(count.tolist(), noise.tolist(), strict=True)))
    if twice:
        found.append(f"A count and noise may be listed together once only; {twice} {_rows_word(twice)} too many.")
    if not np.isfinite(p).all() or (p < 0).any():
        found.append("Probabilities must be numbers, and not negative.")
    else:
        off = present[np.abs(np.bincount(place, weights=p) - 1) > OFF_ONE].tolist()
        if off:
            which = ", ".join(map(str, off[:5])) + (f" and {len(off) - 5} more" if len(off) > 5 else "")
            found.append(
                f"The probabilities of each count must sum to 1; they do not for count{'s' * (len(off) > 1)} {which}."
            )
    below = int(((count + noise < 0) & (p > 0)).sum())
    if below:
        found.append(f"Noise makes the published count negative in {below} {_rows_word(below)}.")
    if keep_zeros and ((count == 0) & (noise > 0) & (p > 0)).any():
        found.append("A count of 0 is published as a positive one; if that is meant, say keep_zeros=False.")
    return found


def as_rows(count: I64, noise: I64, p: F64, size: int) -> tuple[tuple[tuple[int, float], ...], ...]:
    """The pairs of each count in order, those of probability 0 left out; sums of 1 but for rounding are made 1."""
    rows = []
    order = np.lexsort((noise, count))
    ends = np.searchsorted(count[order], np.arange(size + 1))
    for start, stop in pairwise(ends.tolist()):
        here = order[start:stop]
        total = math.fsum(p[here])
        rows.append(as_pairs(noise[here], p[here] / total if abs(total - 1) > 1e-12 else p[here]))
    return tuple(rows)


def as_pairs(v: I64, p: F64) -> tuple[tuple[int, float], ...]:
    return tuple((a, q) for a, q in zip(v.tolist(), p.tolist(), strict=True) if q > 0)


def flat(rows: Any) -> tuple[I64, I64, F64, int]:
    try:
        rows = list(rows)
        flat = [(c, v, p) for c, row in enumerate(rows) for v, p in row]
        noise = [v for _, v, _ in flat]
        p = np.array([float(p) for *_, p in flat])
    except (TypeError, ValueError):
        noise, p = [None], np.empty(0)
    if not all(is_whole(v) and abs(v) <= FARTHEST for v in noise):
        raise InputError(
            "rows must hold, for each count from 0, pairs of a whole number (the noise) and its probability."
        )
    count = np.array([c for c, *_ in flat], dtype=np.int64)
    return count, np.array(noise, dtype=np.int64), p, len(rows)


def read_columns(frame: pl.DataFrame) -> tuple[I64, I64, F64]:
    """Columns count, noise and probability as arrays; `published` may stand for noise."""
    second = [name for name in ("noise", "published") if name in frame.columns]
    found = [
        f'The perturbation table has no column "{name}".{did_you_mean(name, frame.columns)}'
        for name in ("count", "probability")
        if name not in frame.columns
    ]
    if not second:
        found.append('The perturbation table needs a column "noise" or "published".')
    raise_all(found)
    columns = {}
    for name in ("count", *second, "probability"):
        columns[name], wrong = _numbers(frame[name], whole=name != "probability")
        found += wrong
    raise_all(found, "The perturbation table cannot be used:" if len(found) > 1 else "")
    count = columns["count"].astype(np.int64)
    published = columns["published"].astype(np.int64) if "published" in columns else None
    noise = columns["noise"].astype(np.int64) if "noise" in columns else None
    if noise is None:
        noise = (count if published is None else published) - count
    elif published is not None and (count + noise != published).any():
        raise InputError("In the perturbation table published is not count + noise everywhere; leave one of them out.")
    return count, noise, columns["probability"]


def _numbers(column: pl.Series, whole: bool) -> tuple[F64, list[str]]:
    name, kind = column.name, "whole numbers" if whole else "numbers"
    if not column.dtype.is_numeric():
        return np.empty(0), [
            f'Column "{name}" of the perturbation table must hold {kind}, not {type_name(column.dtype)}.'
        ]
    values = column.cast(pl.Float64).to_numpy()
    missing = int((~np.isfinite(values)).sum())
    if missing:
        return values, [
            f'Column "{name}" of the perturbation table is missing or infinite in {missing} {_rows_word(missing)}.'
        ]
    if whole and (values != np.floor(values)).any():
        return values, [f'Column "{name}" of the perturbation table must hold whole numbers, not fractions.']
    if whole and (np.abs(values) > FARTHEST).any():
        return values, [f'Column "{name}" of the perturbation table may not go beyond {FARTHEST:,}.']
    return values, []


def _rows_word(n: int) -> str:
    return "row" if n == 1 else "rows"


def is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole_array(values: Any, what: str) -> I64:
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what} must hold whole numbers; it has rows of different lengths.") from None
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max):
        raise InputError(f"{what} must hold whole numbers, not {array.dtype}.")
    return array.astype(np.int64)
