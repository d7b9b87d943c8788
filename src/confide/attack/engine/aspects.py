"""What is known of people, as categories: of values that a record judges, and of values that the plan altered.

A number comes in bins. An aspect gives the targets' values, NaN where there is none to speak of, and log Pr(value given
category), 0 for all categories where there is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from confide.attack.beliefs.absence import Bins, Error
from confide.attack.beliefs.numbers import is_number
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Uncertain
from confide.attack.evidence.mistakes import table_columns
from confide.frames.columns import F64, I64, Column, Records
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.spread import Spread
from confide.protect.likelihoods.table import Table
from confide.protect.seam.likelihood import Likelihood
from confide.protect.shared.category_codes import level_codes

FINEST, FEWEST = 96, 7
"""Bins that one altered number is put into, and the least for each of several."""


@dataclass(frozen=True, eq=False)
class Aspect(ABC):
    """One variable of a step in play."""

    step: int
    variable: str

    @abstractmethod
    def values(self, u: Uncertain, targets: Records) -> F64:
        """The targets' values, shape (n,)."""

    @abstractmethod
    def log_known(self, u: Uncertain, values: F64) -> F64:
        """log Pr(value given category), shape (n, categories)."""


@dataclass(frozen=True, eq=False)
class JudgedNumber(Aspect):
    """A number that may be wrong, around the values of the file; the last category is for what is no number."""

    bins: Bins

    def values(self, u: Uncertain, targets: Records) -> F64:
        return _numbers(u.met(targets)[self.variable])

    def log_known(self, u: Uncertain, values: F64) -> F64:  # noqa: ARG002 - the bins know its error
        there = ~np.isnan(values)
        out = np.zeros((len(values), len(self.bins.starts) + 1))
        out[there, :-1], out[there, -1] = self.bins.log_known(values[there]), -np.inf
        return out


@dataclass(frozen=True, eq=False)
class JudgedCategory(Aspect):
    """A category, or a number released in bands, that may be wrong: a row of a table, whose last row is for what cannot
    be mistaken."""

    def values(self, u: Uncertain, targets: Records) -> F64:
        assert isinstance(u.like, Table)
        row = u.like.target(targets)["row"]
        return np.where((row < 0) | (row == len(u.like.log_p) - 1), np.nan, row)

    def log_known(self, u: Uncertain, values: F64) -> F64:
        assert isinstance(u.like, Table)
        there = ~np.isnan(values)
        out = np.zeros((len(values), u.like.log_p.shape[1]))
        out[there] = u.like.log_p[values[there].astype(np.int64)]
        return out


@dataclass(frozen=True, eq=False)
class KnownNumber(Aspect):
    """A known number that was altered: it lies in one fine bin, [ends[f], ends[f + 1]), the outermost of which hold all
    beyond. `log_share`: (fine bins, categories) the file's share of each in coarser ones."""

    ends: F64
    log_share: F64

    def values(self, u: Uncertain, targets: Records) -> F64:
        y = altered_numbers(u, self.variable, u.met(targets))
        bins = np.clip(np.searchsorted(self.ends, y, side="right") - 1, 0, len(self.ends) - 2)
        return np.where(np.isnan(y), np.nan, bins)

    def log_known(self, u: Uncertain, values: F64) -> F64:  # noqa: ARG002 - it is known
        there = ~np.isnan(values)
        out = np.zeros((len(values), self.log_share.shape[1]))
        out[there] = self.log_share[values[there].astype(np.int64)]
        return out


@dataclass(frozen=True, eq=False)
class KnownCategory(Aspect):
    """A known category that was altered, perhaps mistaken."""

    column: Column
    size: int

    def values(self, u: Uncertain, targets: Records) -> F64:
        codes = level_codes(u.met(targets.select(u.variables))[self.variable], self.column)[0]
        return np.where(codes < 0, np.nan, codes)

    def log_known(self, u: Uncertain, values: F64) -> F64:
        out = _one_of(values, self.size)
        if self.variable in u.mistakes:
            p = np.eye(self.size)
            p[:-1, :-1] = u.mistakes[self.variable]
            there = ~np.isnan(values)
            with np.errstate(divide="ignore"):
                out[there] = np.log(p.T)[values[there].astype(np.int64)]
        return out


def _one_of(values: F64, size: int) -> F64:
    there = ~np.isnan(values)
    out = np.where(there[:, None], -np.inf, np.zeros((len(values), size)))
    out[there, values[there].astype(np.int64)] = 0.0
    return out


def judged(
    case: Case, i: int, u: Uncertain, v: str, reference: Records, weight: F64 | None, most: int
) -> tuple[Aspect, I64, int]:
    """A value that a record judges, the category of each reference row, and how many categories there are."""
    if isinstance(u.like, Table):
        seen = case.intruder.beliefs == "released"
        own = reference[v] if seen else case.compiled.way(v).after.image(reference[v])
        return JudgedCategory(i, v), table_columns(own, case.codebook(v)), int(u.like.log_p.shape[1])
    error = _error(u, v)
    if error is None:
        return _known_number(i, u, v, reference, weight, most, most)
    bins, codes = _binned(_numbers(reference[v]), weight, most, error)
    return JudgedNumber(i, v, bins), codes, len(bins.starts) + 1


def known(
    case: Case, i: int, u: Uncertain, v: str, reference: Records, weight: F64 | None, most: int, finest: int
) -> tuple[Aspect, I64, int]:
    """The same of a known value that was altered. `finest`: bins of a number, which are put together to the `most`."""
    met = reference if case.intruder.beliefs == "released" else u.met(reference)
    if is_number(u, case):
        return _known_number(i, u, v, met, weight, most, finest)
    codes, size = level_codes(met[v], met[v])
    return KnownCategory(i, v, met[v].codebook(), size), codes, size


def fine_bins(numbers: int) -> int:
    """Bins that each of several altered numbers is put into, so that their combinations stay few."""
    return max(int(FINEST ** (1 / max(numbers, 1))), FEWEST)


def _known_number(
    i: int, u: Uncertain, v: str, met: Records, weight: F64 | None, most: int, finest: int
) -> tuple[Aspect, I64, int]:
    y = altered_numbers(u, v, met)
    fine, own = _binned(y, weight, finest, Error(0.0))
    coarse, codes = _binned(y, weight, min(most, finest), Error(0.0))
    f, c = len(fine.starts), len(coarse.starts)
    count = np.bincount(own * (c + 1) + codes, weights=weight, minlength=(f + 1) * (c + 1)).reshape(f + 1, c + 1)[:f]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_share = np.log(np.nan_to_num(count / count.sum(axis=0)))
    return KnownNumber(i, v, np.append(fine.values[fine.starts], np.inf), log_share), codes, c + 1


def altered_numbers(u: Uncertain, v: str, met: Records) -> F64:
    """Values of a number that the step alters, NaN elsewhere."""
    margin = _margin(u, v)
    if margin is not None:
        margin = margin.among_present()  # what absence needs takes long, and does not say what is altered
    altered = np.ones(met.n, dtype=bool) if margin is None else margin.altered(margin.target(met))
    return np.where(altered & met[v].usable, met[v].values, np.nan)


def _margin(u: Uncertain, v: str) -> Likelihood | None:
    """The likelihood of one variable, None where a step has one of all together."""
    margins = u.like.margins()
    return margins[u.variables.index(v)] if len(margins) == len(u.variables) else None


def _binned(y: F64, weight: F64 | None, most: int, error: Error) -> tuple[Bins, I64]:
    """Bins of what is there, and the bin of each; the last one is for what is not."""
    there = ~np.isnan(y)
    bins, of = Bins.of(y[there], None if weight is None else weight[there], most, error)
    codes = np.full(len(y), len(bins.starts))
    codes[there] = of
    return bins, codes


def _error(u: Uncertain, v: str) -> Error | None:
    """How far known values of a number lie from the file's; None where a method has no word for that."""
    like = _margin(u, v)
    if isinstance(like, Spread):
        return Error(*like.mean_variance())
    return Error(like.sd**2) if isinstance(like, Normal) else None


def _numbers(column: Column) -> F64:
    return np.where(column.usable, column.values, np.nan)
