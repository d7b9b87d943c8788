"""Uncertain numbers one by one: what is believed of each, where A or B asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.class_model import log_given_classes
from confide.attack.beliefs.classes import Classes
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.points import Merging
from confide.attack.beliefs.regressions import Fitted, NumberBelief
from confide.attack.beliefs.synthetic import BinnedBelief
from confide.attack.beliefs.uniform import uniform_belief
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Uncertain
from confide.attack.intruder import Uniform
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Likelihood

MANY = 100
"""Numbers with more values than this are integrated over; everything else is a class."""


@dataclass(frozen=True, eq=False)
class Apart:
    """Values of the reference that are not noisy, in classes by their labels: `value`, the `label` of each, and how
    many rows have both (`count`); `mine`: the K classes' labels."""

    value: F64
    label: I64
    count: F64
    mine: I64

    @classmethod
    def of(cls, value: F64, label: I64, weight: F64 | None, mine: I64) -> Apart:
        """From the rows of the reference; NaN lies in no interval."""
        some = Distinct.rows([label, value], len(value), weight)
        return cls(value[some.first], label[some.first], some.count.astype(float), mine)

    def log_share(self, low: float, high: float) -> F64:
        """log of the share of each class inside an interval, shape (K,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = self.count * ((self.value >= low) & (self.value <= high))
            shares = np.array([inside[self.label == k].sum() / self.count[self.label == k].sum() for k in self.mine])
            return np.where(np.isnan(shares), -np.inf, np.log(shares))


@dataclass(frozen=True, eq=False)
class NumberFit:
    """One uncertain number: `variable` is the one at `margin` among those of step `item`.

    `belief`: None where A and B do not ask; `binned`: the same for a synthetic one. Where labels of an unknown number
    are classes, `noisy` marks those in which it is a noisy one, shape (K,), `apart` has the values of the others, and
    `log_inside` is the log share of these in the interval that is known of it; else None. `log_there`: where missing
    values are exchanged like others, log Pr(there is a value) and log Pr(there is none), shape (2, cells, K).
    """

    variable: str
    item: int
    margin: int
    known: bool
    belief: NumberBelief | None = None
    binned: BinnedBelief | None = None
    noisy: Bools | None = None
    apart: Apart | None = None
    log_inside: F64 | None = None
    log_there: F64 | None = None

    def within(self, limits: tuple[float, float]) -> NumberFit:
        """The same where the number is known to lie in an interval."""
        belief = None if self.belief is None else self.belief.within(limits)
        return replace(self, belief=belief, log_inside=None if self.apart is None else self.apart.log_share(*limits))

    def log_state(self, cell: I64, missing: Bools) -> F64 | float:
        """log Pr(missing or not, as given), shape (n, K); 0 where that is certain."""
        return 0.0 if self.log_there is None else self.log_there[missing.astype(np.int64), cell]


@dataclass(frozen=True, eq=False)
class Reference:
    """The file that beliefs are fitted on: its rows as each step met them, their cells, classes and weights, and which
    of them are held out where a model is chosen."""

    case: Case
    records: Records
    met: Sequence[Records]
    cells: Cells
    cell: I64
    classes: Classes
    of: I64
    weight: F64 | None
    held: Held
    limits: Mapping[str, tuple[float, float]]


def is_number(u: Uncertain, case: Case) -> bool:
    """Whether a step's variable is integrated over."""
    if u.like.integrates:
        return True
    column = u.met(case.original.select(u.variables).take(np.arange(min(1, case.original.n))))
    many = [v for v in u.variables if column[v].kind == "numeric"]
    if not many or len(u.variables) > 1:
        return False
    return len(np.unique(u.met(case.original)[many[0]].values)) > MANY


def fit_numbers(
    steps: Sequence[Uncertain], numeric: Sequence[bool], about: Reference | None
) -> tuple[tuple[NumberFit, ...], list[Fitted | None], list[tuple[I64, F64]]]:
    """All uncertain numbers, with beliefs where there is a reference; the rows each was fitted on (None: none), and of
    synthetic ones the rows and their scores."""
    numbers: list[NumberFit] = []
    rows: list[Fitted | None] = []
    scores: list[tuple[I64, F64]] = []
    for i, u in enumerate(steps):
        if not numeric[i]:
            continue
        margins = u.like.margins()
        margins_a: Sequence[Any] = [None] * len(margins) if u.like_a is None else u.like_a.margins()
        for k, (v, known) in enumerate(zip(u.variables, u.known, strict=True)):
            number, fitted = NumberFit(v, i, k, known), None
            if about is not None and u.silent:
                if isinstance(about.case.intruder.beliefs, Uniform):
                    continue  # who believes nothing of a value learns nothing from it
                binned, score = _binned(about, i, v)
                number = NumberFit(v, i, k, known, binned=binned, log_there=_log_there(about, i, v, margins[k]))
                scores.append(score)
            elif about is not None and (margins_a[k] is not None or not known):
                asked: Likelihood = margins[k] if margins_a[k] is None else margins_a[k]
                belief, fitted = _belief(about, i, v, asked)
                number = NumberFit(
                    v, i, k, known, belief, None, *_regions(about, u, i, v, margins[k]), None,
                    _log_there(about, i, v, asked),
                )  # fmt: skip
            numbers.append(number)
            rows.append(fitted)
    return tuple(numbers), rows, scores


def _binned(about: Reference, i: int, v: str) -> tuple[BinnedBelief, tuple[I64, F64]]:
    column = about.met[i][v]
    rows = np.flatnonzero(~column.missing)
    weight = None if about.weight is None else about.weight[rows]
    return BinnedBelief.fit(
        about.cells.design, about.cell, about.of, about.classes.size, column.values[rows], rows, weight
    )


def _belief(about: Reference, i: int, v: str, like: Likelihood) -> tuple[NumberBelief, Fitted | None]:
    beliefs, met, k = about.case.intruder.beliefs, about.met[i], about.classes.size
    if isinstance(beliefs, Uniform):
        low, high = beliefs.ranges.get(v, (np.nanmin(met[v].values), np.nanmax(met[v].values)))
        steps = like.merging(float(low)) if isinstance(like, Normal) else None
        return uniform_belief(
            float(low), float(high), len(about.cells), k, Merging(steps, limits=about.limits.get(v))
        ), None
    if beliefs == "released" and "inside" in like.record:
        altered = like.moved(np.arange(met.n))
    else:
        t = like.target(met)
        if wrong := like.wrong_scale(met[v].values, t):
            raise InputError(f'"{v}": {wrong}.')
        altered = like.altered(t)
    rows = np.flatnonzero(altered & ~met[v].missing)
    if not len(rows):
        raise InputError(f'Nothing is known about "{v}": no reference record has a value that the plan alters.')
    y, logs = met[v].values[rows], about.case.intruder.as_printed
    if logs and y.min() <= 0:
        raise InputError(f'as_printed: "{v}" has zero or negative values among those altered, which have no logarithm.')
    how = Merging(like.merging(float(y.min())), like.runs)
    return NumberBelief.fit(about.cells.design, about.cell, about.of, k, y, rows, how, about.held, logs, about.weight)


def _log_there(about: Reference, i: int, v: str, like: Likelihood) -> F64 | None:
    """Who has no value, where a step exchanges missing values like others; None where missing is certain."""
    missing = about.met[i][v].missing
    if isinstance(about.case.intruder.beliefs, Uniform) or not missing.any():
        return None
    if "inside" in like.record or not like.altered(like.target(about.met[i]))[missing].any():
        return None
    k = about.classes.size
    own = about.cells.design, about.cell, about.of, k, missing.astype(np.int64)
    return np.ascontiguousarray(np.moveaxis(log_given_classes(*own, 2, about.held, about.weight), 2, 0))


def _regions(about: Reference, u: Uncertain, i: int, v: str, like: Likelihood) -> tuple[Bools | None, Apart | None]:
    """Of an unknown number whose labels are classes: in which it is noisy, and the values of the others, where an
    interval is known of it."""
    if v not in about.classes.regions:
        return None, None
    label, mine = u.regions[v], about.classes.regions[v]
    moved = label.released[like.moved(np.arange(len(label.released)))]
    noisy = mine == (int(moved[0]) if len(moved) else -1)
    if v not in about.limits:
        return noisy, None
    seen = about.case.intruder.beliefs == "released"
    own = label.released if seen else label.of(about.met[i])
    column = about.case.released[v] if seen else about.met[i][v]
    y = np.where(column.usable, column.values, np.nan) if column.kind == "numeric" else column.values
    rows = np.flatnonzero(np.isin(own, mine[~noisy]))
    return noisy, Apart.of(
        np.asarray(y[rows], dtype=float), own[rows], None if about.weight is None else about.weight[rows], mine
    )
