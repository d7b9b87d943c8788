"""Means of groups as a release shows them: which are distinct, how many rows carry each, how they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from confide.frames.columns import F64, I64, Bools, Records, precision

AROUND = 4
"""The spacing of means around a point is measured by so many of the nearest."""
SAME, DIGITS = 1e-8, 9
"""A value and a mean that differ by less, in units of the file's spread, are the same; means are rounded to digits."""


def group_means(values: F64, group: I64) -> F64:
    """Means of groups, for each record (n,); the value itself where the group is -1, and where members are equal.

    >>> import numpy as np
    >>> group_means(np.array([1.0, 2.0, 5.0, 0.1, 0.1, 0.1]), np.array([0, 0, -1, 1, 1, 1]))
    array([1.5, 1.5, 5. , 0.1, 0.1, 0.1])
    """
    mine = group >= 0
    _, first, code = np.unique(group[mine], return_index=True, return_inverse=True)
    base = values[mine][first][code]
    mean = np.bincount(code, weights=values[mine] - base) / np.bincount(code)
    out = values.copy()
    out[mine] = base + mean[code]
    return out


@dataclass(frozen=True, eq=False)
class Means:
    """The m distinct means of q variables in a release.

    `of`: each row's mean, shape (r,). `values`: in units of the file's spread, NaN where nothing was averaged, shape
    (m, q). `count`: rows that carry it. `spacing`: root mean square distance of the means around it. `whole`: where it
    is a value of the file's precision, shape (m, q). `many`: more rows than a group has. `scope`: means that may be
    confused with it have the same one.
    """

    of: I64
    values: F64
    count: F64
    spacing: F64
    whole: Bools
    many: Bools
    scope: I64

    @classmethod
    def of_rows(cls, rows: F64, index: list[int], stratum: I64, scope: I64, unit: F64, k: int) -> Means:
        """From rows of all averaged variables (r, p); `index`: those in question. `unit`: precisions, shape (q,)."""
        rows = np.round(rows, DIGITS)  # the last bits of a mean depend on the order of the sum
        keys = np.column_stack([scope, stratum, np.where(np.isnan(rows), np.inf, rows)])
        _, first, of, count = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
        every, values = rows[first], rows[first][:, index]
        steps = values / np.where(unit > 0, unit, 1.0)
        whole = (unit > 0) & (np.abs(steps - np.round(steps)) <= 1e-6)
        spacing = _spacing(every, values, np.column_stack([stratum[first], ~np.isnan(every)]))
        return cls(
            of.reshape(-1), values, count.astype(float), spacing, whole, count >= 2 * k, _scopes(scope[first], values)
        )

    def scopes(self, known: I64, y: F64) -> I64:
        """The scope of people with values y, who share what is `known` (a code, as `of_rows` was given) with it."""
        found = _scopes(known, y)
        return np.where((known >= 0) & np.isin(found, self.scope), found, -1)

    @cached_property
    def points(self) -> F64:
        """Values with 0 where nothing was averaged; those of one scope have that in the same places."""
        return np.nan_to_num(self.values)

    def around(self, y: F64, among: I64) -> tuple[F64, F64]:
        """Of people with values y the distance of the nearest mean, and of the AROUND-th, among those given."""
        distinct = np.unique(self.points[among], axis=0)
        found = cKDTree(distinct).query(np.nan_to_num(y), k=list({1: 0, min(AROUND, len(distinct)): 0}))[0]
        near, far = found[:, 0], found[:, -1]
        return np.where(near > SAME, near, 0.0), np.where(far > SAME, far, 1.0)


def _scopes(known: I64, values: F64) -> I64:
    """One code for what is known and for the variables in which there is a value."""
    return np.asarray(known * 2 ** values.shape[1] + ~np.isnan(values) @ (2 ** np.arange(values.shape[1])))


def _spacing(every: F64, values: F64, kind: F64) -> F64:
    """Distances in the variables of `values` between means that are near in all variables, among those of one kind."""
    out = np.ones(len(every))
    code = np.unique(kind, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        if len(rows) < 2:
            continue
        points, mine = np.nan_to_num(every[rows]), np.nan_to_num(values[rows])
        near = cKDTree(points).query(points, k=min(AROUND, len(rows) - 1) + 1)[1][:, 1:]
        out[rows] = np.sqrt(((mine[near] - mine[:, None, :]) ** 2).sum(axis=2).mean(axis=1))
    return np.maximum(out, SAME)


@dataclass(frozen=True, eq=False)
class Shown:
    """A release made elsewhere, beside the file that was averaged: what can be told of it, with and without a link.

    Groups are not compared one by one, since of equally near records another program may take others. `where`: the
    step. `spread`: standard deviations of the released variables. `stratum`: of each released record, as far as it is
    released. `rows`: their rows in the file, None where unknown.
    """

    where: str
    k: int
    spread: Mapping[str, float]
    file: Records
    released: Records
    stratum: I64
    rows: I64 | None

    def unfit(self) -> list[str]:
        """What no groups of k give, in sentences; without a link and all records only sizes are known."""
        if self.rows is None:
            return self._few() + (self._unlike_all() if self.released.n == self.file.n else [])
        return self._strayed() or self._few() + self._off()

    @cached_property
    def true(self) -> Records | None:
        """The originals of the released records."""
        return None if self.rows is None else self.file.take(self.rows)

    @cached_property
    def code(self) -> I64:
        """One for the records that carry the same means; -1 for those without any."""
        there = self.released if self.true is None else self.true
        z = np.column_stack([np.where(there[v].usable, self.released[v].values, np.nan) / s for v, s in self._items])
        z = np.where(np.isnan(z), np.inf, np.round(z, DIGITS))
        code = np.unique(np.column_stack([self.stratum, z]), axis=0, return_inverse=True)[1].reshape(-1)
        return np.where(np.isinf(z).all(axis=1), -1, code)

    @property
    def _items(self) -> list[tuple[str, float]]:
        return list(self.spread.items())

    def _few(self) -> list[str]:
        mine = self.code[self.code >= 0]
        few = int((np.bincount(mine)[mine] < self.k).sum())
        many = f"{few} of {self.released.n} released records share their means with too few others"
        return [f"{self.where}: {many}; k = {self.k} or more have the same."] if few else []

    def _strayed(self) -> list[str]:
        """Missing values and answer codes that did not stay, and values that did not stay values."""
        assert self.true is not None
        problems = []
        for v in self.spread:
            z, y = self.released[v], self.true[v]
            stayed = (z.values == y.values) | (z.missing & y.missing)
            wrong = int(np.where(y.usable, z.missing, ~stayed).sum())
            if wrong:
                problems.append(
                    f'"{v}": {wrong} of {len(z)} released values are missing or answer codes where the original is '
                    f"not, or the other way round. {self.where} leaves these as they are."
                )
        return problems

    def _off(self) -> list[str]:
        """Where groups have the same mean, all their records together have it too."""
        assert self.true is not None
        code, problems = np.arange(self.released.n) if self.k == 1 else self.code, []
        for v, spread in self._items:
            mine = self.true[v].usable
            z, mean = self.released[v].values[mine], group_means(self.true[v].values[mine], code[mine])
            off = int((np.abs(z - mean) > tolerance(z, spread)).sum())
            if off:
                problems.append(
                    f'"{v}": {off} of {self.released.n} released values are not the mean of the original values of '
                    "the records that share them."
                )
        return problems

    def _unlike_all(self) -> list[str]:
        """Counts and averages of whole columns; a mean may happen to be an answer code."""
        problems = []
        for v, spread in self._items:
            z, y = self.released[v], self.file[v]
            if z.missing.sum() != y.missing.sum() or z.usable.sum() > y.usable.sum():
                problems.append(f'"{v}": other numbers of values are missing or answer codes than in the original.')
            elif z.usable.sum() == y.usable.sum() > 0:
                means, values = z.values[z.usable], y.values[y.usable]
                if abs(means.mean() - values.mean()) > tolerance(means, spread).mean():
                    problems.append(f'"{v}": the released values have another average than the original ones.')
        return problems


def tolerance(means: F64, spread: float) -> F64:
    """How far means written elsewhere may be from exact ones: half a unit of the last decimal shown, or 1e-6 of them.

    >>> import numpy as np
    >>> tolerance(np.array([20.25, 30.5]), spread=1.0).round(4)
    array([0.005, 0.005])
    """
    half = 0.5 * precision(means) * (1 + 1e-9)
    return np.maximum(half, np.maximum(1e-6 * np.abs(means), 1e-9 * spread))


def averaging(group: I64) -> sp.csr_array:
    """The matrix with 1/(size of the group) where two records are in one group; a record in none (-1) is left alone.

    >>> import numpy as np
    >>> averaging(np.array([0, 1, 0])).toarray()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    n = len(group)
    own = np.where(group >= 0, group, group.max(initial=-1) + 1 + np.arange(n))
    code = np.unique(own, return_inverse=True)[1]
    member = sp.csr_array((np.ones(n), (np.arange(n), code)), shape=(n, int(code.max()) + 1))
    share = sp.csr_array((1.0 / np.bincount(code)[code], (np.arange(n), code)), shape=member.shape)
    return sp.csr_array(share @ member.T)
