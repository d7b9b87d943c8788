"""Matrices of a mask at the door: shapes, sizes, numbers; and which of them only move rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from confide.core.errors import InputError
from confide.frames.columns import F64, I64

MOST_DENSE = 25_000_000
"""Entries of a dense matrix on rows, at most: 200 megabytes."""


def checked_matrix(given: Any, what: str) -> Any:
    """A fixed matrix as a float array, or a sparse one by rows; None and callables as they are."""
    if given is None or (callable(given) and not hasattr(given, "shape")):
        return given
    if sp.issparse(given):
        matrix = sp.csr_array(given, dtype=np.float64)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        numbers = matrix.data
    else:
        matrix = numbers = _dense(given, what)
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise InputError(f"{what} holds {bad} entries that are not finite numbers.")
    return matrix


def _dense(given: Any, what: str) -> F64:
    if hasattr(given, "shape") and not what.endswith(" C"):
        check_size(given, what)
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} is a matrix of numbers (lists of equal length, an array, or a sparse matrix), or a function "
            "(X, rng) that makes one."
        ) from None
    if matrix.ndim not in (1, 2) or (matrix.ndim == 1 and not what.endswith(" C")):
        raise InputError(f"{what} must have rows and columns, but it has {matrix.ndim} dimensions.")
    matrix.setflags(write=False)
    return matrix


def check_rows(a: Any, n: int, where: str) -> None:
    """A against the file: n columns, no more than n rows, none of them zero, no percentages."""
    rows, columns = a.shape
    if columns != n:
        raise InputError(f"{where}: A acts on {n} records and so needs {n} columns, but it is {rows} x {columns}.")
    if rows > n or not rows:
        raise InputError(f"{where}: A makes {rows} rows of {n}; a mask makes at least one and no more than there are.")
    empty = int((abs(a).sum(axis=1) == 0).sum())
    if empty:
        raise InputError(f"{where}: {empty} of {rows} rows of A are all zero and would release nobody's value.")
    total = np.asarray(a.sum(axis=1)).reshape(-1)
    if np.allclose(total, 100) and (a.data if sp.issparse(a) else a).min() >= 0:
        raise InputError(f"{where}: the rows of A sum to 100; weights are fractions, so divide A by 100.")


def check_size(matrix: Any, what: str) -> None:
    """Refuse a dense matrix that only a sparse one should hold."""
    size = float(np.prod(matrix.shape))
    if size > MOST_DENSE:
        raise InputError(
            f"{what} is dense and {' x '.join(f'{s:,}' for s in matrix.shape)}, which takes {size * 8 / 1e9:.1f} GB. "
            "Give a scipy.sparse matrix: masks on rows are nearly all zeros."
        )


def check_columns(b: Any, p: int, where: str) -> None:
    """B against the variables: square, no column of zeros."""
    if b.shape != (p, p):
        raise InputError(
            f"{where}: B keeps the variables' names, so it must be {p} x {p}, but it is "
            f"{' x '.join(map(str, b.shape))}."
        )
    if bool((np.abs(b).sum(axis=0) == 0).any()):
        raise InputError(f"{where}: a column of B is all zero, so that a variable would be released as a constant.")


def check_added(c: Any, rows: int | None, p: int, where: str) -> None:
    """C against what it is added to: a row for all, or one row each (None: however many there will be)."""
    if c.shape[-1] != p or (c.ndim == 2 and rows is not None and c.shape[0] not in (1, rows)):
        each = "a row of" if rows is None else f"{rows} x"
        raise InputError(
            f"{where}: C is {' x '.join(map(str, c.shape))}, but it must have {each} {p} for the records, or one row "
            f"of {p} for all of them."
        )


def taken_rows(a: Any) -> I64 | None:
    """The row that each row of A takes, where A only moves rows (each has one 1, no column two); else None."""
    if sp.issparse(a):
        single = bool((np.diff(a.indptr) == 1).all()) and bool((a.data == 1).all())
        rows = a.indices if single else None
    else:
        single = bool(((a != 0).sum(axis=1) == 1).all()) and bool((a[a != 0] == 1).all())
        rows = a.argmax(axis=1) if single else None
    if rows is None or len(np.unique(rows)) < len(rows):
        return None
    return np.asarray(rows, dtype=np.int64)


def same_matrix(a: Any, b: Any) -> bool:
    """Whether two parts of masks are the same."""
    if a is None or b is None or not (hasattr(a, "shape") and hasattr(b, "shape")):
        return a is b
    if a.shape != b.shape or sp.issparse(a) != sp.issparse(b):
        return False
    return (a != b).nnz == 0 if sp.issparse(a) else bool(np.array_equal(a, b))
