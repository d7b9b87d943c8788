"""What a record shows, as what it lets one expect of the value behind its label: see `behind_labels`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from confide.attack.beliefs import label_sums, pattern_sums
from confide.attack.beliefs.class_factors import indicators
from confide.attack.beliefs.held_out import U64
from confide.attack.beliefs.own_records import inverse_below
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import dense

FOLDS = 4
"""Parts that people are in; the number of the part stands for everybody where it is this."""
PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)
"""Ridge penalties that are tried, in units of one record."""
BETTER = 2.0
"""Nats, about, by which records left out must be expected better."""
COLUMNS = 400
"""Indicators in one regression; where there are more, the predictors that say most by themselves are taken."""
MANY, NEAR = 8, 6.0
"""Codes of a predictor above which neighbours are taken to be alike, and into how many lengths of likeness they fall.
"""
FEW = 8
"""Categories behind one label up to which each has an exponent of its own."""
SMALLEST = 0.03
"""Ratio of the share of a category that is expected to its share behind the label, at least."""
CHUNK = 400_000
"""Numbers in the largest temporary of patterns times values."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Patterns: `label` (G,) and `codes` (predictors, G), with a `key` (G,) that depends on what they hold, by which
    some are chosen. `at`, `value`, `part`, `count`: pattern, value and part of reference records and how many have
    these, (P,). `groups`: (variables, labels, K) the group of each variable in each joint value, -1 for none;
    `ordered`: which of the variables are numbers; `alike`: so many predictors, the first, are the same for all records
    that a target is compared with. `k`: values."""

    label: I64
    codes: I64
    key: U64
    at: I64
    value: I64
    part: I64
    count: F64
    groups: I64
    ordered: tuple[bool, ...]
    alike: int

    @property
    def k(self) -> int:
        return int(self.groups.shape[2])

    def share(self) -> F64:
        """Pr(y given c), shape (labels, K)."""
        shape = self.groups.shape[1:]
        n = np.bincount(self.label[self.at] * shape[1] + self.value, weights=self.count, minlength=shape[0] * shape[1])
        n = n.reshape(shape)
        return np.asarray(n / np.maximum(n.sum(axis=1, keepdims=True), 1e-300))

    def records(self, without: int) -> tuple[F64, F64]:
        """Counts of each pattern, and of each pattern and value, in all parts but one (or in all)."""
        mine = self.part != without
        shape = len(self.label), self.k
        n = np.bincount(
            self.at[mine] * shape[1] + self.value[mine], weights=self.count[mine], minlength=shape[0] * shape[1]
        )
        each = n.reshape(shape).astype(float)
        return each.sum(axis=1), each


@dataclass(frozen=True, eq=False)
class Functions:
    """`expected`, `spread`: (labels, K, R), phi_r(y) as a regression expects it and as a ratio is expanded in it (1/p
    times an indicator, for a category); `exponent`: (R,) which exponent goes with each; `weight`: (labels, R) by which
    squared errors become about nats; `fixed`: (R,) whether it also counts by itself, whatever is expected;
    `category`: (R,) whether it is of a category."""

    expected: F64
    spread: F64
    exponent: I64
    weight: F64
    fixed: Bools
    category: Bools

    @classmethod
    def of(cls, counted: Counted) -> Functions:
        share = counted.share()
        parts, at = [], 0
        for groups, ordered in zip(counted.groups, counted.ordered, strict=True):
            own = _of_number(groups, share) if ordered else _of_category(groups, share)
            many = own[0].shape[2]
            few = ordered or many <= FEW
            exponent = np.arange(many) if few else np.zeros(many, dtype=np.int64)
            parts.append((*own, at + exponent, np.full(many, few), np.full(many, not ordered)))
            at += int(exponent.max()) + 1
        expected, spread, weight, exponents, fixed, category = zip(*parts, strict=True)
        return cls(
            np.concatenate(expected, axis=2), np.concatenate(spread, axis=2), np.concatenate(exponents),
            np.concatenate(weight, axis=1), np.concatenate(fixed), np.concatenate(category),
        )  # fmt: skip

    @property
    def exponents(self) -> int:
        """How many there are for each part of what is expected."""
        return int(self.exponent.max()) + 1

    @property
    def places(self) -> I64:
        """Of functions that also count by themselves, the place of that among all that is fitted; -1 for others."""
        return np.where(self.fixed, 2 * self.exponents + np.cumsum(self.fixed) - 1, -1)

    @property
    def none(self) -> F64:
        """Zeros, one for all that is fitted: exponents of both parts, and functions that count by themselves."""
        return np.zeros(2 * self.exponents + int(self.fixed.sum()))

    def as_tilts(self, effect: F64, label: I64) -> F64:
        """Effects of single predictors on phi (patterns, predictors, R), as what it is multiplied by in an exponent: of
        a number itself; of a category that is expected p / q times as often, log(p / q), times the q that `spread`
        divides by: so the ratios of several predictors are multiplied, and none counts for more than it is."""
        inverse = np.where(self.category, self.weight[label], 0.0)[:, None, :]
        ratio = np.log(np.maximum(1 + effect * inverse, SMALLEST))
        return np.divide(ratio, inverse, out=effect.copy(), where=inverse > 0)


def _of_number(groups: I64, share: F64) -> tuple[F64, F64, F64]:
    """Rank and its square inside each label, made orthonormal."""
    labels, k = share.shape
    out = np.zeros((labels, k, 2))
    for c in range(labels):
        p, g = share[c], groups[c]
        mass = np.bincount(g[p > 0], weights=p[p > 0], minlength=1)
        x = (np.cumsum(mass) - 0.5 * mass)[np.maximum(g, 0)]
        first = x - p @ x
        first = first / np.sqrt(max(p @ first**2, 1e-12))
        second = first**2 - p @ first**2
        second = second - (p @ (second * first)) * first
        size = p @ second**2
        out[c, :, 0] = np.where(p > 0, first, 0.0)
        if size > 1e-6:
            out[c, :, 1] = np.where(p > 0, second / np.sqrt(size), 0.0)
    return out, out, np.ones((labels, 2))


def _of_category(groups: I64, share: F64) -> tuple[F64, F64, F64]:
    """Indicators of each category less its share, and divided by it."""
    many = int(groups.max(initial=0)) + 1
    one = (groups[:, :, None] == np.arange(many)) & (share > 0)[:, :, None]
    mass = np.einsum("ck,ckr->cr", share, one)
    inverse = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    return one - mass[:, None, :] * (share > 0)[:, :, None], one * inverse[:, None, :], inverse


@dataclass(frozen=True, eq=False)
class Stratum:
    """Patterns that share a regression, their indicators with the constant first, of which so many are of what all
    candidates have alike, the form of its ridge (columns, columns), and its penalty: infinite where nothing is expected
    better than by the mean."""

    patterns: I64
    x: sp.csr_matrix
    alike: int
    ridge: F64
    penalty: float

    @classmethod
    def of(cls, counted: Counted, functions: Functions, patterns: I64) -> Stratum:
        n, each = counted.records(FOLDS)
        seen = _mean(functions, counted.label, patterns, n, each)
        rows, weight = n[patterns], functions.weight[counted.label[patterns]]
        x, alike, ridge = _indicators(counted.codes[:, patterns], counted.alike, seen * np.sqrt(weight), rows)
        sums = Sums.of(x, rows, seen)
        # Of squared errors only what depends on the expectation counts, so that a pattern's mean is enough.
        best = (2 * BETTER, np.inf)
        for penalty in PENALTIES:
            first, rest, _ = cls(patterns, x, alike, ridge, penalty).expected(sums)
            found = first + rest
            gain = float((rows[:, None] * weight * (2 * found * seen - found**2)).sum())
            best = max(best, (gain, penalty), key=lambda b: b[0])
        return cls(patterns, x, alike, ridge, best[1])

    def sums(self, functions: Functions, label: I64, n: F64, each: F64) -> Sums:
        """What fits to some records need of them."""
        return Sums.of(self.x, n[self.patterns], _mean(functions, label, self.patterns, n, each))

    def expected(self, sums: Sums) -> tuple[F64, F64, F64]:
        """What is expected of each pattern's phi, one of its own records left out, shape (patterns, R): by what all
        candidates have alike, and by the rest. Then the first again with nobody left out: it is the same for all of
        them, and must not tell them apart by who is left out."""
        b, inverse = self._fitted(sums)
        first, rest = np.zeros((2, *sums.seen.shape))
        own = np.zeros((3, len(first)))
        label_sums.expected(*_places(self.x), self.alike, b, inverse, first, rest, own)
        own_first, own_rest, both = own
        off = _off(sums, own_first + own_rest + 2 * both, first + rest)
        return first - (own_first + both)[:, None] * off, rest - (own_rest + both)[:, None] * off, first

    def tilts(self, functions: Functions, label: I64, n: F64, each: F64) -> tuple[F64, F64, F64]:
        """The same as what phi is multiplied by in an exponent, predictor by predictor: see `Functions.as_tilts`."""
        sums = self.sums(functions, label, n, each)
        if not functions.category.any():
            return self.expected(sums)
        b, inverse = self._fitted(sums)
        every = pattern_sums.quadratic(*_places(self.x), inverse, np.arange(self.x.shape[0]))
        off = _off(sums, np.asarray(every), np.asarray(self.x @ b))
        at = self.x.indices.reshape(len(self.patterns), -1)
        many = int((at[0] < self.alike).sum())
        out = np.empty((3, len(self.patterns), b.shape[1]))
        step = max(CHUNK // (at.shape[1] * max(at.shape[1], b.shape[1])), 1)
        for a in range(0, len(at), step):
            mine, of = at[a : a + step], label[self.patterns[a : a + step]]
            own = inverse[mine[:, :, None], mine[:, None, :]].sum(axis=2)
            left = functions.as_tilts(b[mine] - own[:, :, None] * off[a : a + step, None], of)
            out[0, a : a + step], out[1, a : a + step] = left[:, :many].sum(axis=1), left[:, many:].sum(axis=1)
            out[2, a : a + step] = functions.as_tilts(b[mine[:, :many]], of).sum(axis=1)
        return out[0], out[1], out[2]

    def _fitted(self, sums: Sums) -> tuple[F64, F64]:
        """Coefficients (columns, R), and the inverse that they come from."""
        whole = sums.gram + self.penalty * self.ridge
        whole[0, 0] += 1e-6
        below = np.tril(inverse_below(whole))
        inverse = below + np.tril(below, -1).T
        return inverse @ sums.moment, inverse


@dataclass(frozen=True, eq=False)
class Sums:
    """Some records of a stratum's patterns: `rows` of each, what is `seen` of phi on average (patterns, R), and the
    products of their indicators with themselves (`gram`) and with that (`moment`), which no penalty changes."""

    rows: F64
    seen: F64
    gram: F64
    moment: F64

    @classmethod
    def of(cls, x: sp.csr_matrix, rows: F64, seen: F64) -> Sums:
        gram, moment = np.zeros((x.shape[1], x.shape[1])), np.zeros((x.shape[1], seen.shape[1]))
        label_sums.products(*_places(x), rows, seen, gram, moment)
        return cls(rows, seen, gram, moment)


def _off(sums: Sums, own: F64, found: F64) -> F64:
    """How far a pattern's mean is from what is expected with one of its records left out; 0 without records."""
    return np.where(sums.rows > 0, 1 / np.maximum(1 - own, 1e-3), 0.0)[:, None] * (sums.seen - found)


def _places(x: sp.csr_matrix) -> tuple[I64, I64]:
    """Where rows of indicators begin, and their columns."""
    return x.indptr.astype(np.int64), x.indices.astype(np.int64)


def _mean(functions: Functions, label: I64, patterns: I64, n: F64, each: F64) -> F64:
    """The mean of phi over the records of each pattern, shape (patterns, R)."""
    out = np.zeros((len(patterns), len(functions.exponent)))
    label_sums.means(patterns, label, n, each, functions.expected, out)
    return out


def _indicators(codes: I64, alike: int, seen: F64, rows: F64) -> tuple[sp.csr_matrix, int, F64]:
    """The constant, and indicators of all predictors, or of those that by themselves say most of what is seen; how
    many columns are of the constant and the first predictors, so many of them; and the form of the ridge."""
    each = [(i < alike, *dense(c)) for i, c in enumerate(codes)]
    each = [(first, c, size) for first, c, size in each if size > 1]
    if sum(size for *_, size in each) > COLUMNS:
        said = [_said(c, size, seen, rows) for _, c, size in each]
        order = [i for i in np.argsort([-s for s in said], kind="stable") if said[i] > 0]
        room = np.cumsum([each[i][2] for i in order])
        each = [each[i] for i in sorted(order[: max(int(np.searchsorted(room, COLUMNS, side="right")), 1)])]
    blocks = [sp.csr_matrix(np.ones((codes.shape[1], 1))), *(indicators(c, size) for _, c, size in each)]
    ridge = block_diag(np.zeros((1, 1)), *(smoothing(size) for *_, size in each))
    return sp.hstack(blocks).tocsr().sorted_indices(), 1 + sum(size for first, _, size in each if first), ridge


def smoothing(size: int) -> F64:
    """The form of the ridge on the effects of one predictor's codes, shape (codes, codes): the inverse of what they are
    taken to vary by. Of few codes each varies alone. Where there are many, of which each has few records, codes that
    lie together (ages, incomes in bins) also vary together, so that effects shrink to those beside them and not to 0:
    the smooth course of an effect is hardly shrunk.

    >>> smoothing(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if size <= MANY:
        return np.eye(size)
    far = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.asarray(np.linalg.inv(np.eye(size) + np.exp(-far * NEAR / size)))


def _said(codes: I64, size: int, seen: F64, rows: F64) -> float:
    """Squares between the codes of one predictor, less what chance gives."""
    n = np.bincount(codes, weights=rows, minlength=size)
    total = np.stack([np.bincount(codes, weights=rows * s, minlength=size) for s in seen.T])
    between = float((total**2 / np.maximum(n, 1)).sum())
    return between - (size - 1) * float((rows[:, None] * seen**2).sum()) / max(float(n.sum()), 1.0)
