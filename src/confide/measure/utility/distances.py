"""Distances between distributions of one variable or of pairs, and the loss of entropy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, I64, Column, codes_in
from confide.measure.utility.measure import Found, Stated, described, named
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import quantiles


@dataclass(frozen=True, eq=False)
class Codes:
    """A variable as cells 0 to `size` - 1 in both files; the last cell holds missing values and answer codes."""

    before: I64
    after: I64
    size: int


def cells(pair: Pair, variable: str, bins: int, where: str) -> Codes:
    """The cells of a variable: categories, or for a number intervals between quantiles of the original."""
    y, z = pair.alike(variable, where)
    if y.kind == "categorical":
        return _categories(y, z)
    ends = edges(pair, variable, bins)
    before, after = (within(pair.numbers(variable, file), ends) for file in (0, 1))
    return Codes(before, after, len(ends) + 2)


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


def comparable(pair: Pair, variables: str | Sequence[str] | None, where: str) -> list[str]:
    """The variables named, or all that both files have."""
    names = [pair.known(v, where) for v in variables] if variables is not None else pair.shared
    if not names:
        raise InputError(f"{where}: the two files have no variable in common.")
    return names


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
    def range(self) -> tuple[float, float]:
        """Between equal distributions and those that share no value."""
        return 0.0, 1.0

    def of(self, pairs: Sequence[Pair]) -> Found:
        every = [self._one(pair) for pair in pairs]
        losses = np.mean([x for _, x in every], axis=0)
        return Found(float(losses.mean()), described("pair" if self.pairs else "variable", every[0][0], losses))

    def _one(self, pair: Pair) -> tuple[list[str], F64]:
        where = type(self).__name__
        names = comparable(pair, self.variables, where)
        w, w_new = pair.weights(0), pair.weights(1)
        codes = {v: cells(pair, v, self.bins, where) for v in names}
        if not self.pairs:
            return names, np.array(
                [self.distance(shares(c.before, w, c.size), shares(c.after, w_new, c.size)) for c in codes.values()]
            )
        if len(names) < 2:
            raise InputError(f"{where}: pairs=True needs two or more variables.")
        words, found = [], []
        for u, v in combinations(names, 2):
            a, b = codes[u], codes[v]
            before, after, size = _crossed(a, b)
            words.append(f"{u} with {v}")
            found.append(self.distance(shares(before, w, size), shares(after, w_new, size)))
        return words, np.array(found)

    @staticmethod
    def distance(p: F64, q: F64) -> float:
        """Between two distributions over the same cells."""
        raise NotImplementedError


def _crossed(a: Codes, b: Codes) -> tuple[I64, I64, int]:
    """Cells of two variables together, renumbered where they would be too many."""
    before, after, size = a.before * b.size + b.before, a.after * b.size + b.after, a.size * b.size
    if size <= 1_000_000:
        return before, after, size
    found, codes = np.unique(np.concatenate([before, after]), return_inverse=True)
    return codes[: len(before)], codes[len(before) :], len(found)


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
    (fewer where quantiles coincide); missing values are a cell. A variable that the plan recoded is recoded in the
    original too, so that broader categories alone are no distance: `Entropy` measures that loss. Lower is better,
    between 0 (best) and 1. Over copies it is averaged. No link is needed (Gibbs and Su 2002).

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

    in the cells of `TotalVariation`; rare cells count for more. Lower is better, between 0 (best) and 1. Over copies it
    is averaged. No link is needed (Gomatam, Karr and Sanil 2005).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(heads, seed=1)
    >>> cf.utility(release, [cf.Hellinger("age")])["value"].item()
    0.0
    """

    key: ClassVar[str] = "hellinger"

    @staticmethod
    def distance(p: F64, q: F64) -> float:
        """The root of half the squared differences of roots."""
        return min(1.0, float(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)))
