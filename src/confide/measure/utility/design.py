"""The matrices of a formula: responses and regressors of both files, with the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.measure.utility.formula import COMPARISONS, Factor, Formula, Term
from confide.measure.utility.formula_files import Files
from confide.measure.utility.pair import Pair


@dataclass(frozen=True, eq=False)
class Matrices:
    """`x`: shape (n, k), `y`: shape (n,), `w`: weights, of the records without missing values; `left_out`: how many
    others there were. `count`: records that each row stands for, shape (n,)."""

    x: F64
    y: F64
    w: F64
    left_out: int
    count: F64

    @property
    def records(self) -> int:
        """How many there are, used or left out; those without weight are none."""
        return self.left_out + int(self.count[self.w > 0].sum())


@dataclass(frozen=True, eq=False)
class Design:
    """`files`: the original, then each copy of the release, or none where the response is lost. `terms`: for each of
    the original's columns the term it belongs to. `stands`: the released column that stands for it, -1 where none does.
    `lost`: variables that the release has lost, and why."""

    files: tuple[Matrices, ...]
    terms: tuple[str, ...]
    intercept: bool
    stands: I64
    lost: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Block:
    """Columns of a factor or a term: of the original, then of the copies, shape (n, width); and for each of the
    original's the released one that stands for it, -1 where none does."""

    files: list[F64]
    stands: I64

    def times(self, other: Block) -> Block:
        """All products of a column with one of another block."""
        files = [(a[:, :, None] * b[:, None, :]).reshape(len(a), a.shape[1] * b.shape[1])
                 for a, b in zip(self.files, other.files, strict=True)]  # fmt: skip
        width = other.files[-1].shape[1]
        both = np.where(
            (self.stands[:, None] < 0) | (other.stands < 0), -1, self.stands[:, None] * width + other.stands
        )
        return Block(files, both.ravel())


def design(
    formula: Formula, pairs: Sequence[Pair], family: str, where: str, without: Mapping[str, str] | None = None
) -> Design:
    """Matrices of the original and of every copy; `without`: variables that count as lost, and why."""
    files = Files(pairs, where, without)
    response = formula.response
    gone = files.is_lost(response, family == "logistic")
    y = _event(files, response) if family == "logistic" else _numbers(files, response)
    parts: dict[tuple[Factor, bool], Block] = {}
    blocks = [_term(files, term, formula.terms, parts) for term in formula.terms]
    names = [[":".join(map(str, term)) or "intercept"] * b.files[0].shape[1]
             for term, b in zip(formula.terms, blocks, strict=True)]  # fmt: skip
    columns = [np.concatenate(each, axis=1) for each in zip(*(b.files for b in blocks), strict=True)]
    ends = np.cumsum([0, *(b.files[1].shape[1] for b in blocks)])
    stands = np.concatenate([np.where(b.stands < 0, -1, b.stands + at) for at, b in zip(ends, blocks, strict=False)])
    both = zip(columns[:1], y, files.weights(), strict=False) if gone else zip(columns, y, files.weights(), strict=True)
    made = [_rows(x, r, w, n) for (x, r, w), n in zip(both, files.counts(), strict=False)]
    if (usable := int(made[0].count.sum())) <= made[0].x.shape[1]:
        raise InputError(
            f"{where}: {usable} records of the original file can be used, too few for "
            f"{made[0].x.shape[1]} coefficients. Name fewer terms."
        )
    return Design(tuple(made), tuple(n for each in names for n in each), () in formula.terms, stands, files.lost)


def _rows(x: F64, y: F64, w: F64, count: F64) -> Matrices:
    """Records without missing values and with weight."""
    weighted = w > 0
    there = weighted & ~np.isnan(x).any(axis=1) & ~np.isnan(y)
    left_out = int(count[weighted].sum() - count[there].sum())
    if there.all():
        return Matrices(x, y, w, 0, count)
    return Matrices(x[there], y[there], w[there], left_out, count[there])


def _term(files: Files, term: Term, terms: Sequence[Term], parts: dict[tuple[Factor, bool], Block]) -> Block:
    """Columns of a term in each file: products of those of its factors.

    A categorical factor has one indicator a level but the first where the term without it is in the model too, else one
    for every level: the rule of R and of Chambers and Hastie (1992).
    """
    found = None if term else Block([np.ones((len(w), 1)) for w in files.weights()], np.zeros(1, dtype=np.int64))
    for factor in term:
        without = tuple(f for f in term if f != factor)
        key = (factor, files.is_categorical(factor) and without not in terms)
        if key not in parts:
            parts[key] = _factor(files, *key)
        found = parts[key] if found is None else found.times(parts[key])
    assert found is not None
    return found


def _factor(files: Files, factor: Factor, every: bool) -> Block:
    """Columns of a factor; none in the release where it is lost."""
    gone = files.is_lost(factor)
    if files.is_categorical(factor):
        found = _indicators(files, factor, every)
    else:
        found = Block([v[:, None] for v in _numbers(files, factor)], np.zeros(1, dtype=np.int64))
    if not gone:
        return found
    nothing = [np.zeros((len(w), 0)) for w in files.weights()[1:]]
    return Block([found.files[0], *nothing], np.full(found.files[0].shape[1], -1))


def _indicators(files: Files, factor: Factor, every: bool) -> Block:
    found = files.levels(factor.variable)
    if len(found.names) < 2 and not every:
        raise InputError(f'{files.where}: "{factor.variable}" has fewer than two categories; leave it out.')
    first = 0 if every else 1
    made = []
    for file, codes in enumerate(found.codes):
        block = (codes[:, None] == np.arange(first, found.many if file else len(found.names))).astype(float)
        block[codes < 0] = np.nan
        made.append(block)
    return Block(made, np.maximum(found.stands[first:] - first, -1))


def _numbers(files: Files, factor: Factor) -> list[F64]:
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


def _compared(files: Files, factor: Factor) -> list[F64]:
    """1 where the comparison holds, 0 where not."""
    if isinstance(factor.value, str):
        parts = files.in_category(factor.variable, factor.value)
        return parts if factor.how == "==" else [1 - x for x in parts]
    compare = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal, "==": np.equal,
               "!=": np.not_equal}[factor.how]  # fmt: skip
    value = float(factor.value or 0.0)
    return [np.where(np.isnan(v), np.nan, compare(v, value)) for v in files.numbers(factor.variable)]


def _event(files: Files, factor: Factor) -> list[F64]:
    """The response of a logistic regression: 0 or 1; of two categories the second is 1."""
    if factor.how in COMPARISONS:
        return _compared(files, factor)
    if factor.how not in ("as it is", "C"):
        raise InputError(f"{files.where}: a logistic regression needs a response of two values, not {factor}.")
    first = files.pairs[0]
    boolean = first.before.types[first.in_original(factor.variable, files.where)] == pl.Boolean
    found = files.levels(factor.variable)
    if len(found.names) != 2 and not (boolean and len(found.names) < 2):
        raise InputError(
            f'{files.where}: a logistic regression needs a response of two values, and "{factor.variable}" has '
            f"{len(found.names)} in the original. Write I({factor.variable} == ...) to make one (quote a category)."
        )
    event = [np.flatnonzero(found.stands == code) for code in range(found.many)]
    table = np.array([*(e[0] if len(e) == 1 else np.nan for e in event), np.nan])
    return [np.where(found.codes[0] < 0, np.nan, found.codes[0]), *(table[c] for c in found.codes[1:])]
