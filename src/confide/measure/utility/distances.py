"""Distances between distributions of one variable or of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array, eye_array

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, I64, Column, codes_in
from confide.measure.utility.coarse import Coarse
from confide.measure.utility.items import items_of, mean_loss
from confide.measure.utility.measure import Found, Stated, named
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import quantiles


@dataclass(frozen=True, eq=False)
class Codes:
    """A variable as cells 0 to `size` - 1; the last cell holds missing values and answer codes.

    `before`: the cell of each original record. `after`: that of each released one, or, where the plan merged
    categories, a row of `parts`, shape (released categories, `size`): how a category is shared out among cells.
    """

    before: I64
    after: I64
    size: int
    parts: F64 | None = None

    def shares(self, file: int, w: F64) -> F64:
        """The share of the weight in each cell of the original (0) or the release (1), shape (size,)."""
        if file == 0 or self.parts is None:
            return shares(self.after if file else self.before, w, self.size)
        return np.asarray(shares(self.after, w, len(self.parts)) @ self.parts)


def cells(pair: Pair, variable: str, bins: int, where: str) -> Codes:
    """The cells of a variable: categories of the original, or for a number intervals between its quantiles."""
    if pair.kind(variable) == "numeric":
        ends = edges(pair, variable, bins)
        before, after = (within(pair.numbers(variable, file), ends) for file in (0, 1))
        return Codes(before, after, len(ends) + 2)
    y, z = pair.column(variable), pair.alike(variable, where)[1]
    coarse = pair.coarse.get(variable)
    return _categories(y, z) if coarse is None else _merged(y, z, coarse)


def _merged(y: Column, z: Column, coarse: Coarse) -> Codes:
    """Cells are the original's categories, then those of the release that none of them becomes."""
    split = coarse.shared_out(z.levels)
    new = np.flatnonzero(~split.any(axis=1))
    known, size = split.shape[1], split.shape[1] + len(new) + 1
    parts = np.zeros((len(split) + 1, size))
    parts[:-1, :known] = split
    parts[new, known + np.arange(len(new))] = 1.0
    parts[-1, -1] = 1.0
    codes = codes_in(y, coarse.column)
    return Codes(np.where(codes < 0, size - 1, codes), np.where(z.values < 0, len(split), z.values), size, parts)


def edges(pair: Pair, variable: str, bins: int) -> F64:
    """Ends of intervals between quantiles of the original."""

    def found() -> F64:
        x = pair.numbers(variable, 0)
        none = bool(np.isnan(x).all())
        return np.zeros(0) if none else np.unique(quantiles(x, pair.weights(0), np.arange(1, bins) / bins))

    return pair.remembered(0, ("edges", variable, bins), found)


def within(x: F64, ends: F64) -> I64:
    """The interval that each number lies in; the last is for missing ones."""
    return np.where(np.isnan(x), len(ends) + 1, np.searchsorted(ends, x, side="left")).astype(np.int64)


def _categories(y: Column, z: Column) -> Codes:
    levels = tuple(dict.fromkeys((*y.levels, *z.levels)))
    together = Column(y.name, "categorical", np.zeros(0, dtype=np.int64), y.dtype, levels)
    both = [codes_in(c, together) for c in (y, z)]
    size = len(levels) + 1
    return Codes(np.where(both[0] < 0, size - 1, both[0]), np.where(both[1] < 0, size - 1, both[1]), size)


def shares(codes: I64, w: F64, size: int) -> F64:
    """The share of the weight in each cell, shape (size,)."""
    found = np.bincount(codes, weights=w, minlength=size)
    return np.asarray(found / found.sum())


@dataclass(frozen=True)
class _Distance(Stated):
    """What distances of distributions share."""

    variables: str | Sequence[str] | None = None
    pairs: bool = False
    bins: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        where = type(self).__name__
        object.__setattr__(self, "variables", named(self.variables, where))
        if not isinstance(self.pairs, bool):
            raise InputError(f"{where}: pairs is true (pairs of variables) or false (one variable at a time).")
        check_bins(self.bins, where)

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.label or self.key + ("_pairs" if self.pairs else "")

    @property
    def by_variable(self) -> str:
        return "" if self.pairs else "category"

    @property
    def jointly(self) -> str:
        return "pairs" if self.pairs else ""

    @property
    def range(self) -> tuple[float, float]:
        """Between equal distributions and those that share no value."""
        return 0.0, 1.0

    def of(self, pairs: Sequence[Pair]) -> Found:
        items = items_of(pairs, self.variables, "category", type(self).__name__)
        if self.pairs and len(items.names) < 2:
            raise InputError(
                f"{type(self).__name__}: pairs=True needs two or more variables that vary in the original."
            )
        every = [self._one(pair, items.kept) for pair in pairs]
        losses = {k: float(np.mean([each[k] for each in every])) for k in every[0]}
        if not self.pairs:
            return items.averaged(losses, self.worst)
        words = [f"{u} with {v}" for u, v in combinations(items.names, 2)]
        whole = {word: losses.get(word, self.worst) for word in words}
        return mean_loss("pair", whole, self.worst, items, [word for word in words if word not in losses])

    def _one(self, pair: Pair, names: Sequence[str]) -> dict[str, float]:
        w, w_new = pair.weights(0), pair.weights(1)
        codes = {v: cells(pair, v, self.bins, type(self).__name__) for v in names}
        if not self.pairs:
            return {v: self.distance(c.shares(0, w), c.shares(1, w_new)) for v, c in codes.items()}
        return {
            f"{u} with {v}": self.distance(*_crossed(codes[u], codes[v], w, w_new)) for u, v in combinations(names, 2)
        }

    @staticmethod
    def distance(p: F64, q: F64) -> float:
        """Between two distributions over the same cells."""
        raise NotImplementedError


def _crossed(a: Codes, b: Codes, w: F64, w_new: F64) -> tuple[F64, F64]:
    """Shares of both files in the cells of two variables together; only in cells that occur where they are many."""
    many = [c.size if c.parts is None else len(c.parts) for c in (a, b)]
    if max(a.size * b.size, many[0] * many[1]) > 1_000_000:
        return _crossed_sparsely(a, b, w, w_new)
    before = shares(a.before * b.size + b.before, w, a.size * b.size)
    after = shares(a.after * many[1] + b.after, w_new, many[0] * many[1]).reshape(many)
    after = after if a.parts is None else a.parts.T @ after
    return before, np.ravel(after if b.parts is None else after @ b.parts)


def _crossed_sparsely(a: Codes, b: Codes, w: F64, w_new: F64) -> tuple[F64, F64]:
    def table(x: I64, y: I64, weights: F64, shape: tuple[int, int]) -> csr_array:
        return csr_array((weights / weights.sum(), (x, y)), shape=shape)

    left, right = (csr_array(c.parts) if c.parts is not None else eye_array(c.size, format="csr") for c in (a, b))
    before = table(a.before, b.before, w, (a.size, b.size)).tocoo()
    released = table(a.after, b.after, w_new, (left.shape[0], right.shape[0]))
    after = (left.T @ released @ right).tocoo()
    keys = [t.row.astype(np.int64) * b.size + t.col for t in (before, after)]
    found, codes = np.unique(np.concatenate(keys), return_inverse=True)
    parts = (codes[: len(keys[0])], before.data), (codes[len(keys[0]) :], after.data)
    p, q = (np.asarray(np.bincount(at, weights=x, minlength=len(found)), dtype=float) for at, x in parts)
    return p, q


def check_bins(bins: int, where: str) -> None:
    """A number of intervals."""
    if isinstance(bins, bool) or not isinstance(bins, int) or not 2 <= bins <= 1000:
        raise InputError(f"{where}: bins is how many intervals a number is cut into, a whole number from 2 to 1000.")


@registered
@dataclass(frozen=True)
class TotalVariation(_Distance):
    r"""Total variation distance of distributions, averaged over variables or, with ``pairs=True``, over pairs of them.

    .. math:: \frac12 \sum_c |p'_c - p_c|

    with shares p of the original and p' of the release in cell c: the share of people who would have to be moved. A
    categorical variable's cells are its categories; a number's are `bins` intervals between quantiles of the original
    (fewer where quantiles coincide); missing values are a cell. Categories that a plan merged are shared out equally
    among those that they may stand for; intervals count by their middles. Lower is better, between 0 (best) and 1,
    which a lost variable counts. Over copies it is averaged. No link is needed (Gibbs and Su 2002).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(heads, seed=1)
    >>> cf.TotalVariation("race")(heads, release.data)
    0.0
    >>> cf.TotalVariation(["race", "state"], pairs=True)(heads, release.data) > 0
    True
    """

    key: ClassVar[str] = "total_variation"

    @staticmethod
    def distance(p: F64, q: F64) -> float:
        """Half the sum of absolute differences."""
        return min(1.0, float(np.abs(p - q).sum() / 2))


@registered
@dataclass(frozen=True)
class Hellinger(_Distance):
    r"""Hellinger distance of distributions, averaged over variables or, with ``pairs=True``, over pairs of them.

    .. math:: \sqrt{\tfrac12 \sum_c (\sqrt{p'_c} - \sqrt{p_c})^2}

    in the cells of `TotalVariation`; rare cells count for more. Lower is better, between 0 (best) and 1, which a lost
    variable counts. Over copies it is averaged. No link is needed (Gomatam, Karr and Sanil 2005).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(heads, seed=1)
    >>> 0 < cf.utility(release, [cf.Hellinger("age")])["value"].item() < 1
    True
    """

    key: ClassVar[str] = "hellinger"

    @staticmethod
    def distance(p: F64, q: F64) -> float:
        """The root of half the squared differences of roots."""
        return min(1.0, float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)))
