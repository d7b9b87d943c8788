"""Predictors of a synthesis step as a matrix: numbers scaled, categories as indicators, missing values of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError, raise_all
from confide.frames.columns import F64, Column, Records, codes_in

RARE = 1
"""A category held by no more records than this gets no indicator of its own: it would fit that record exactly."""

MOST = 250_000_000
"""Entries of the largest matrix of predictors."""

TOGETHER = 32_000
"""Entries of a product that are added up together: as many as stay near the processor."""


@dataclass(frozen=True, eq=False)
class _Number:
    """One numeric predictor: centre and scale, and whether it has an indicator of missing values."""

    name: str
    centre: float
    scale: float
    gaps: bool

    def columns(self, column: Column) -> list[F64]:
        missing = column.missing
        scaled = np.where(missing, 0.0, (column.values - self.centre) / self.scale)
        return [scaled, missing.astype(float)] if self.gaps else [scaled]


@dataclass(frozen=True, eq=False)
class _Category:
    """One categorical predictor: the codes that have an indicator; -1 stands for missing."""

    name: str
    reference: Column
    codes: tuple[int, ...]

    def columns(self, column: Column) -> list[F64]:
        codes = np.where(column.missing, -1, codes_in(column, self.reference))
        return [(codes == c).astype(float) for c in self.codes]


@dataclass(frozen=True, eq=False)
class Predictors:
    """`matrix(records)`: shape (n, p), the first column 1. Learnt on one file, used on another.

    A number has mean 0 and standard deviation 1; a missing one is at the mean, with an indicator. A category has one
    indicator a level but the commonest; missing is a level. What is constant in the file is left out.
    """

    names: tuple[str, ...]
    parts: tuple[_Number | _Category, ...]

    @classmethod
    def of(cls, records: Records, names: Sequence[str], where: str, rare: int = RARE) -> Predictors:
        parts: list[_Number | _Category] = []
        check_present(records, names, where)
        for v in names:
            part = _number(records[v]) if records[v].kind == "numeric" else _category(records[v], rare)
            if part is not None:
                parts.append(part)
        return cls(tuple(names), tuple(parts))

    def matrix(self, records: Records, intercept: bool = True) -> F64:
        """The design of the records given, shape (n, p)."""
        if records.n * self.width > MOST:
            raise InputError(
                f"The predictors {', '.join(self.names)} make {self.width:,} columns (indicators of categories "
                f"included) for {records.n:,} records, more than fit in memory. Recode them, or name fewer."
            )
        columns = [np.ones(records.n)] if intercept else []
        for part in self.parts:
            columns += part.columns(records[part.name])
        if not columns:
            return np.zeros((records.n, 0))
        return np.ascontiguousarray(np.stack(columns, axis=1))

    @property
    def width(self) -> int:
        """Columns of the matrix, the first one included."""
        return 1 + sum(1 + p.gaps if isinstance(p, _Number) else len(p.codes) for p in self.parts)


def check_present(records: Records, names: Sequence[str], where: str) -> None:
    """Refuse predictors without any value."""
    raise_all(
        f'{where}: "{v}" is missing in every record, so it predicts nothing; leave it out.'
        for v in names
        if records.n and bool(records[v].missing.all())
    )


def times(x: F64, beta: F64) -> F64:
    """The product of a design and coefficients, added up column by column, so that the result for a record hangs on no
    other: products of matrices round by their shape. Shapes: (n, p), (p, q), gives (n, q)."""
    out = np.zeros((len(x), beta.shape[1]))
    step = max(TOGETHER // max(beta.shape[1], 1), 1)
    for a in range(0, len(x), step):
        some, into = x[a : a + step], out[a : a + step]
        for j in range(beta.shape[0]):
            into += some[:, j : j + 1] * beta[j]
    return out


def _number(column: Column) -> _Number | None:
    y = column.values[~column.missing]
    gaps = bool(0 < column.missing.sum() < len(column))
    scale = float(np.std(y))
    if scale <= 1e-12 * (1 + float(np.abs(y).max())):
        return _Number(column.name, float(y.mean()), 1.0, True) if gaps else None
    return _Number(column.name, float(y.mean()), scale, gaps)


def _category(column: Column, rare: int) -> _Category | None:
    codes, count = np.unique(column.values, return_counts=True)
    if len(codes) < 2:
        return None
    base = codes[np.argmax(count)]
    kept = tuple(int(c) for c, n in zip(codes, count, strict=True) if c != base and n > rare)
    return _Category(column.name, column, kept) if kept else None


def enough_rows(predictors: Predictors, n: int, where: str) -> None:
    """Refuse a model with as many columns as records: it would repeat the file."""
    if n < 2:
        raise InputError(f"{where}: only one record has a value to learn from (zeros that stand apart do not count).")
    if predictors.width >= n:
        raise InputError(
            f"{where}: given makes {predictors.width} columns (indicators of categories included), but only {n} "
            "records can be used to fit them. Name fewer predictors, or recode them."
        )
