"""The matrices of a formula: responses and regressors of both files, with the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column, codes_in
from confide.measure.utility.formula import COMPARISONS, Factor, Formula, Term
from confide.measure.utility.pair import Pair


@dataclass(frozen=True, eq=False)
class Matrices:
    """`x`: shape (n, k), `y`: shape (n,), `w`: weights, of the records without missing values; `left_out`: how many
    others there were."""

    x: F64
    y: F64
    w: F64
    left_out: int


@dataclass(frozen=True, eq=False)
class Design:
    """`files`: the original, then each copy of the release. `terms`: for each column the term it belongs to."""

    files: tuple[Matrices, ...]
    terms: tuple[str, ...]
    intercept: bool


class _Files:
    """The original and the copies as one list of files: 0 is the original."""

    def __init__(self, pairs: Sequence[Pair], where: str) -> None:
        self.pairs, self.where = pairs, where

    def weights(self) -> list[F64]:
        return [self.pairs[0].weights(0), *(p.weights(1) for p in self.pairs)]

    def numbers(self, variable: str) -> list[F64]:
        first = self.pairs[0]
        if first.known(variable, self.where) and not first.is_number(variable):
            if first.before.types[variable].is_numeric():
                raise InputError(
                    f'{self.where}: "{variable}" holds numbers in the original but is released as categories. Write '
                    f"C({variable}) to compare it in the released categories, or leave it out."
                )
            raise InputError(
                f'{self.where}: "{variable}" holds categories, where a number is needed. A response of two categories '
                'goes with family="logistic".'
            )
        return [first.numbers(variable, 0), *(p.numbers(variable, 1) for p in self.pairs)]

    def is_categorical(self, variable: str) -> bool:
        """Words, truth values, labelled codes, and what the plan says is categorical; other numbers are numbers."""
        first = self.pairs[0]
        dtype = first.before.types[first.known(variable, self.where)]
        named = first.kinds.get(variable)
        held = first.before.schema.variables
        labelled = variable in held and bool(held[variable].value_labels)
        return not (dtype.is_numeric() or dtype.is_temporal()) or named == "categorical" or (labelled and not named)

    def codes(self, variable: str) -> tuple[list[I64], list[str]]:
        """Codes of the levels that occur in any file, -1 missing; the first level is the reference."""
        both = [p.alike(variable, self.where) for p in self.pairs]
        if both[0][0].kind == "numeric":  # C() around a number
            values = self.numbers(variable)
            known = np.unique(np.concatenate([v[~np.isnan(v)] for v in values]))
            return [np.where(np.isnan(v), -1, np.searchsorted(known, v)) for v in values], [str(v) for v in known]
        columns = [both[0][0], *(z for _, z in both)]
        levels = tuple(dict.fromkeys(v for c in columns for v in c.levels))
        together = Column(variable, "categorical", np.zeros(0, dtype=np.int64), columns[0].dtype, levels)
        found = [codes_in(c, together) for c in columns]
        there = np.sum([np.bincount(c[c >= 0], minlength=len(levels)) for c in found], axis=0) > 0
        place = np.append(np.cumsum(there) - 1, -1)
        return [place[c] for c in found], [str(levels[i]) for i in np.flatnonzero(there)]


def design(formula: Formula, pairs: Sequence[Pair], family: str, where: str) -> Design:
    """Matrices of the original and of every copy."""
    files = _Files(pairs, where)
    count = len(pairs) + 1
    y = _event(files, formula.response) if family == "logistic" else _numbers(files, formula.response)
    parts: dict[tuple[Factor, bool], list[F64]] = {}
    columns: list[list[F64]] = [[] for _ in range(count)]
    names: list[str] = []
    for term in formula.terms:
        blocks = _term(files, term, formula.terms, parts)
        for file in range(count):
            columns[file].append(blocks[file])
        names += [":".join(str(f) for f in term) or "intercept"] * blocks[0].shape[1]
    made = [_rows(np.concatenate(c, axis=1), r, w) for c, r, w in zip(columns, y, files.weights(), strict=True)]
    for file, what in ((0, "original"), (1, "released")):
        if len(made[file].y) <= made[file].x.shape[1]:
            raise InputError(
                f"{where}: {len(made[file].y)} records of the {what} file can be used, too few for "
                f"{made[file].x.shape[1]} coefficients. Name fewer terms."
            )
    return Design(tuple(made), tuple(names), () in formula.terms)


def _rows(x: F64, y: F64, w: F64) -> Matrices:
    """Records without missing values and with weight."""
    weighted = w > 0
    there = weighted & ~np.isnan(x).any(axis=1) & ~np.isnan(y)
    left_out = int(weighted.sum() - there.sum())
    return Matrices(x, y, w, 0) if there.all() else Matrices(x[there], y[there], w[there], left_out)


def _term(files: _Files, term: Term, terms: Sequence[Term], parts: dict[tuple[Factor, bool], list[F64]]) -> list[F64]:
    """Columns of a term in each file, shape (n, width): products of those of its factors.

    A categorical factor has one indicator a level but the first where the term without it is in the model too, else one
    for every level: the rule of R and of Chambers and Hastie (1992).
    """
    blocks = [] if term else [np.ones((len(w), 1)) for w in files.weights()]
    for factor in term:
        categorical = factor.how == "C" or (factor.how == "as it is" and files.is_categorical(factor.variable))
        without = tuple(f for f in term if f != factor)
        key = (factor, categorical and without not in terms)
        if key not in parts:
            parts[key] = _indicators(files, *key) if categorical else [v[:, None] for v in _numbers(files, factor)]
        both = zip(blocks, parts[key], strict=True) if blocks else ()
        blocks = [(a[:, :, None] * b[:, None, :]).reshape(len(a), -1) for a, b in both] or parts[key]
    return blocks


def _indicators(files: _Files, factor: Factor, every: bool) -> list[F64]:
    codes, levels = files.codes(factor.variable)
    if len(levels) < 2 and not every:
        raise InputError(f'{files.where}: "{factor.variable}" has fewer than two categories; leave it out.')
    if len(levels) > 300:
        raise InputError(f'{files.where}: "{factor.variable}" has {len(levels)} categories, more than 300; recode it.')
    wanted = np.arange(0 if every else 1, len(levels))
    made = [(c[:, None] == wanted).astype(float) for c in codes]
    for c, block in zip(codes, made, strict=True):
        block[c < 0] = np.nan
    return made


def _numbers(files: _Files, factor: Factor) -> list[F64]:
    """A factor as a number in each file; NaN where missing or not defined (the logarithm of zero)."""
    if factor.how in COMPARISONS:
        return _compared(files, factor)
    values = files.numbers(factor.variable)
    with np.errstate(all="ignore"):
        if factor.how == "log":
            values = [np.log(np.where(v > 0, v, np.nan)) for v in values]
        elif factor.how == "log1p":
            values = [np.log1p(np.where(v > -1, v, np.nan)) for v in values]
        elif factor.how == "sqrt":
            values = [np.sqrt(np.where(v >= 0, v, np.nan)) for v in values]
        elif factor.how == "**":
            values = [np.power(v, float(factor.value or 0.0)) for v in values]
    return [np.where(np.isfinite(v), v, np.nan) for v in values]


def _compared(files: _Files, factor: Factor) -> list[F64]:
    """1 where the comparison holds, 0 where not."""
    if isinstance(factor.value, str):
        codes, levels = files.codes(factor.variable)
        if factor.value not in levels:
            raise InputError(f'{files.where}: "{factor.variable}" has no such category as {factor} asks for.')
        values, value = [np.where(c < 0, np.nan, c) for c in codes], float(levels.index(factor.value))
    else:
        values, value = files.numbers(factor.variable), float(factor.value or 0.0)
    compare = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal, "==": np.equal,
               "!=": np.not_equal}[factor.how]  # fmt: skip
    return [np.where(np.isnan(v), np.nan, compare(v, value)) for v in values]


def _event(files: _Files, factor: Factor) -> list[F64]:
    """The response of a logistic regression: 0 or 1; of two categories the second is 1."""
    if factor.how in COMPARISONS:
        return _compared(files, factor)
    if factor.how not in ("as it is", "C"):
        raise InputError(f"{files.where}: a logistic regression needs a response of two values, not {factor}.")
    first = files.pairs[0]
    boolean = first.before.types[first.known(factor.variable, files.where)] == pl.Boolean
    codes, levels = files.codes(factor.variable)
    if len(levels) != 2 and not (boolean and len(levels) < 2):
        raise InputError(
            f'{files.where}: a logistic regression needs a response of two values, and "{factor.variable}" has '
            f"{len(levels)} in both files together. Write I({factor.variable} == ...) to make one (quote a category)."
        )
    return [np.where(c < 0, np.nan, c) for c in codes]
