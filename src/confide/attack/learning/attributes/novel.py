r"""What a record says where nobody else has a value that could have become it: one point, from the method alone.

Beliefs count only the others. Where none of them fits a record, its owner's value is new to the guesser, who has the
record and the method: an altered record is taken at its word, a coarsened one at the middle of the interval that it
says, or, where that has one end only, at this end. A category that others do not have is said only where it is shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.learning.attributes.said import Said
from confide.attack.learning.attributes.support import Support
from confide.frames.columns import F64, I64, Bools, Column, codes_in

if TYPE_CHECKING:
    from confide.attack.learning.attributes.law import Law

FAR = 4.5
"""In log likelihood, how far below the likeliest value others are out of reach: three standard deviations."""
LEAST = 1e-12
"""Share of all weights below which no record is left."""


def middle(low: F64, high: F64) -> F64:
    """Of intervals [low, high); the end of those that have one; NaN for the whole line."""
    both = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore", over="ignore"):
        inner = np.where(high <= np.nextafter(low, np.inf), low, low + 0.5 * (high - low))
    one = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, np.nan))
    return np.where(both, inner, one)


def point_of_sets(said: Said, rows: I64, sets: I64) -> F64:
    """The point of each set of values that rows of the release say; NaN where there is none."""
    assert said.z is not None
    first = rows[np.unique(sets, return_index=True)[1]]
    return np.where(said.z.missing[first], np.nan, _points(said)[said.shown[first]])


def _points(said: Said) -> F64:
    """The point of every set that the release says, by its code; made once."""
    if "points" not in said.kept:
        assert said.z is not None
        assert said.chain is not None
        codes, first = np.unique(said.shown, return_index=True)
        shown, column = said.z.take(first), said.case.original[said.variable]
        numeric = column.kind == "numeric"
        found = middle(*said.chain.cells(shown)) if numeric else _same_category(said, column, shown)
        points = np.full(int(codes.max(initial=-1)) + 2, np.nan)  # missing, -1, is the last
        points[codes] = np.where(shown.missing, np.nan, found)
        said.kept["points"] = points
    return np.asarray(said.kept["points"])


def _same_category(said: Said, column: Column, shown: Column) -> F64:
    """Codes of categories that are shown as they are."""
    assert said.chain is not None
    code = codes_in(shown, column)
    there = (code >= 0) & ~shown.missing
    image = codes_in(said.chain.image(column.with_values(np.where(there, code, 0))), shown)
    return np.where(there & (image == codes_in(shown, shown)), code, np.nan)


def alone_in(code: I64, count: F64, own: I64, many: int) -> Bools:
    """Whether nobody but the person (whose node is `own`, -1: none) has a value of each of many sets, (n, many)."""
    people = np.bincount(code[:-1][code[:-1] >= 0], weights=count[code[:-1] >= 0], minlength=many)
    mine = np.where(own >= 0, code[np.maximum(own, 0)], -1)
    return np.asarray((people == 0) | ((people <= 1) & (mine[:, None] == np.arange(many))))


def points_of_records(said: Said, support: Support, rows: I64) -> F64:
    """What each altered record shows, as a value; NaN where it is none."""
    assert said.z is not None
    column, shown = said.case.original[said.variable], said.z.take(rows)
    if said.z.kind != column.kind:
        return np.full(len(rows), np.nan)
    point = shown.values.astype(float) if support.numeric else codes_in(shown, column).astype(float)
    return np.where(shown.missing | (False if support.numeric else point < 0), np.nan, point)


def with_points(law: Law, y: F64, point: F64, told: F64, own: tuple[I64, F64], total: F64, left: F64) -> Law:
    """The law with points beside it: `told` (rows, C), the part of each; `own`: whose own record says one of them (-1:
    none), of which weight; `total`, `left`: all weights, and those without the own record."""
    used = np.flatnonzero(told.any(axis=0))
    if not len(used):
        return law
    assert law.without is not None
    values = np.unique(np.concatenate([law.values, point[used]]))
    old = np.append(np.searchsorted(values, law.values), len(values))
    new = np.searchsorted(values, point[used])
    p, rest = (np.zeros((len(x), len(values) + 1)) for x in (law.p, law.without))
    p[:, old] = law.p
    for c, at in zip(used, new, strict=True):
        p[:, at] += told[:, c]
    more = told[law.of] * total[:, None]
    here = np.flatnonzero(own[0] >= 0)
    more[here, own[0][here]] -= own[1][here]
    fine = left > LEAST * total
    more = np.maximum(np.where(fine[:, None], more / np.where(fine, left, 1.0)[:, None], 0.0), 0.0)
    rest[:, old] = law.without * (1 - np.minimum(more.sum(axis=1), 1.0))[:, None]
    for c, at in zip(used, new, strict=True):
        rest[:, at] += more[:, c]
    found = np.minimum(np.searchsorted(values, np.nan_to_num(y)), len(values) - 1)
    exact = (law.place < 0) & (values[found] == y)
    place = np.where(exact, found, np.where(law.place >= 0, old[law.place], -1))
    return replace(law, values=values, p=p, place=place, inside=np.where(exact, 1.0, law.inside), without=rest)
