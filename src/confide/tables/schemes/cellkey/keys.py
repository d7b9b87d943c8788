"""Cell keys: where they come from, so that equal cells have equal keys.

The key of a cell is the fractional part of the sum of its people's keys, in whole units of 2^-32 which add up without
rounding. A person's key is a number of the file, or is derived from a vault's secret and what identifies the person.
Where only counts are there, each cell has a key by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.random.digest import row_hashes
from confide.core.random.draws import Counter
from confide.core.random.origin import opened
from confide.core.random.vault import Vault, derived
from confide.tables.axes import Axes
from confide.tables.checks import text_column
from confide.tables.layout import Ints

U64 = NDArray[np.uint64]

UNITS = 2**32
"""How many different keys there are."""

AT_ONCE = 2**15
"""Numbers looked up in one go."""

HALF = np.uint64(32)


def record_keys(data: pl.DataFrame, key: Any, vault: Any, flat: Ints, shape: tuple[int, ...]) -> Any:
    """Keys in [0, 1) of all cells of a table, shape `shape`; None where records have none. `flat`: each one's cell."""
    held = opened(vault)
    if held is not None:
        units = _of_content(data, held) if key is None else _of_identifiers(data, checked_key(key, data), held)
    elif key is not None:
        units = _of_column(data, key)
    else:
        return None
    sums = np.zeros(int(np.prod(shape)), dtype=np.uint64)
    np.add.at(sums, flat, units)
    return ((sums % np.uint64(UNITS)) / float(UNITS)).reshape(shape)


def checked_key(key: Any, data: pl.DataFrame) -> list[str]:
    """The columns that identify a person, none with a missing value."""
    names = [key] if isinstance(key, str) else list(key) if isinstance(key, Iterable) else []
    if not names or any(not isinstance(n, str) for n in names):
        raise InputError('With a vault, key names the columns that identify a person, as "id" or ["house", "person"].')
    raise_all(
        f'There is no column "{n}" of identifiers.{did_you_mean(n, data.columns)}'
        for n in names
        if n not in data.columns
    )
    raise_all(fault for n in names for fault in _faults(data[n], n))
    return names


def _faults(column: pl.Series, name: str) -> list[str]:
    """What keeps a column from identifying people, the same in every file."""
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary, pl.Duration):
        return [f'"{name}" holds {column.dtype.base_type().__name__} values, which cannot identify a person.']
    texts = text_column(column)
    missing = texts.null_count() + int((texts == "").sum())
    if missing:
        return [
            f'{missing:,} of {len(column):,} identifiers in "{name}" are missing: all such people would share one key. '
            "Fill them in, name other columns, or leave key out to take keys from whole records."
        ]
    if column.dtype.is_float() and not _whole(column):
        return [f'The identifiers in "{name}" are numbers with fractions, or beyond 2^53; give them as text.']
    return []


def _whole(column: pl.Series) -> bool:
    values = column.to_numpy()
    return bool((np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all())


def _of_column(data: pl.DataFrame, key: Any) -> U64:
    """Keys that the file holds, numbers in [0, 1)."""
    if not isinstance(key, str):
        raise InputError("Without a vault, key names one column of record keys in [0, 1).")
    if key not in data.columns:
        raise InputError(f'There is no column "{key}" of record keys.{did_you_mean(key, data.columns)}')
    hint = "For identifiers give a vault: Table.of(frame, by=..., key=..., vault=FOLDER)."
    if not data[key].dtype.is_numeric() or data[key].null_count():
        raise InputError(f'The record keys in "{key}" must be numbers in [0, 1), none missing. {hint}')
    values = data[key].cast(pl.Float64).to_numpy()
    if np.any(~(values >= 0)) or np.any(values >= 1):
        raise InputError(f'The record keys in "{key}" must lie in [0, 1). {hint}')
    return np.round(values * float(UNITS)).astype(np.uint64)


def _of_identifiers(data: pl.DataFrame, names: Sequence[str], vault: Vault) -> U64:
    """By the text of the identifiers alone: names of columns and the rest of the file do not matter."""
    secret = vault.key("record keys", str(len(names)))
    texts = [text_column(data[n]) for n in names]
    if len(texts) == 1:
        joined = texts[0]
    else:  # each with its length, so that no two lists of texts are the same
        frame = pl.DataFrame([t.alias(str(i)) for i, t in enumerate(texts)])
        parts = [p for c in frame.columns for p in (pl.col(c).str.len_bytes().cast(pl.String), pl.lit(":"), pl.col(c))]
        joined = frame.select(pl.concat_str(parts)).to_series()
    distinct = joined.unique(maintain_order=True)
    code = distinct.to_frame("t").with_row_index("code")
    at = joined.to_frame("t").join(code, on="t", how="left", maintain_order="left")["code"].to_numpy()
    keys = [_word(secret, t.encode("utf-8", "surrogatepass")) for t in distinct.to_list()]
    return np.asarray((np.array(keys, dtype=np.uint64) >> HALF)[at])


def _of_content(data: pl.DataFrame, vault: Vault) -> U64:
    """By the whole record: the same wherever a file with these columns holds it."""
    return _units(Counter(vault.key("record keys", "content")[:16]), row_hashes(data))


def cell_units(root: bytes, axes: Axes, areas: Sequence[str], counts: Ints) -> Ints:
    """Keys of cells without keys of people, in units, shape (n, m): by levels and variables, area and count.

    Neither other cells nor the order of variables matter. The count counts: a table that is published again with one
    person more has other noise there, so that the difference of the two tells nothing exact.
    """
    secret = derived(root, "cells")
    here = np.zeros(axes.shape, dtype=np.uint64)
    for i, (name, levels) in enumerate(zip(axes.names, axes.levels, strict=True)):
        words = [_named(secret, "level", name, v) for v in levels]
        here = here + np.array(words, dtype=np.uint64).reshape([-1 if j == i else 1 for j in range(len(axes.shape))])
    outer = np.array([_named(secret, "area", a) if a else 0 for a in areas], dtype=np.uint64)
    step = np.uint64(_named(secret, "count") | 1)
    rows = here.reshape(1, -1) + outer[:, None] + counts.astype(np.uint64) * step
    draws = Counter(derived(root, "cell keys")[:16])
    return _units(draws, rows.ravel()).astype(np.int64).reshape(counts.shape)


def _units(draws: Counter, hashes: U64) -> U64:
    """Keys of hashes, so many at a time that memory suffices."""
    rows = (hashes >> np.uint64(1)).astype(np.int64)
    parts = [draws.words(rows[i : i + AT_ONCE]) >> HALF for i in range(0, len(rows), AT_ONCE)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)


def _named(secret: bytes, *parts: str) -> int:
    """64 bits that belong to these texts, each with its length."""
    texts = [p.encode("utf-8", "surrogatepass") for p in parts]
    return _word(secret, b"".join(len(t).to_bytes(8, "big") + t for t in texts))


def _word(secret: bytes, data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, key=secret, digest_size=8).digest(), "little")
