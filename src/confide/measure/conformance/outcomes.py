"""All that a true value may be released as: its probabilities by the evidence, its frequencies by `apply`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from confide.core.random.draws import Stream
from confide.frames.columns import F64, I64, Bools, Records, rounded
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Fitted, View
from confide.protect.seam.likelihood import take
from confide.protect.shared.category_codes import group_codes, joint_codes

ROWS, POINTS, BINS, FEWEST, EVEN = 6, 20_001, 10, 5.0, 1e-3
"""True records that are looked at, points of a grid of numbers, bins of outcomes, least expected count of a bin; by
how much a sum over a grid may miss 1."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Of one true record: `total`, the sum of probabilities over `whole` outcomes or over those that a release holds.

    `observed`, `expected`: counts of draws by bins of outcomes; the last bin holds what is not among them.
    """

    total: float
    whole: bool
    observed: F64
    expected: F64

    @property
    def off(self) -> float:
        """By how much probabilities and the share of draws that the release does not hold miss 1."""
        return self.total + float(self.observed[-1] / self.observed.sum()) - 1

    @property
    def sums(self) -> bool:
        """Whether that is no more than chance allows: nothing for all outcomes, little for those not drawn."""
        n, rest = float(self.observed.sum()), float(self.observed[-1] / self.observed.sum())
        chance = 0.0 if self.whole else 3 / n + 5 * float(np.sqrt(rest * (1 - rest) / n))
        return abs(self.off) < EVEN + chance and self.total < 1 + EVEN

    @property
    def chi_square(self) -> tuple[float, int]:
        """Pearson's statistic over bins of enough expected draws, the others put to the largest, and its freedom."""
        largest = int(self.expected.argmax())
        into = np.where(self.expected < FEWEST, largest, np.arange(len(self.expected)))
        observed, expected = (np.bincount(into, weights=w) for w in (self.observed, self.expected))
        used = expected > 0
        impossible = float(observed[~used].sum() + self.observed[self.expected <= 1e-12].sum())
        statistic = float(((observed - expected)[used] ** 2 / expected[used]).sum())
        return statistic + (np.inf if impossible else 0.0), int(used.sum()) - 1


def outcomes(fitted: Fitted, view: View, original: Records, link: I64, v: str, draws: int, seed: int) -> list[Outcomes]:
    """For a few true records of one variable, spread over its altered values."""
    evidence = fitted.evidence(view, (v,))
    assert evidence.likelihood is not None
    rows = _picked(original[v].values, evidence.likelihood.altered(evidence.likelihood.target(original)))
    drawn = np.array([_drawn(fitted, original, v, rows, np.random.default_rng((seed, m))) for m in range(draws)])
    numeric = original[v].kind == "numeric"
    there = drawn[~np.isnan(drawn)]  # what is hidden is no number, and no new one
    fresh = numeric and not bool(np.isin(there, original[v].values[~original[v].missing]).all())
    of_row = np.zeros(original.n, dtype=np.int64)
    of_row[link] = np.arange(len(link))
    made = []
    for row, z in zip(rows, drawn.T, strict=True):
        like = view.released.take(np.array([of_row[row]]))
        values, p = (_on_grid if fresh else _in_file)(fitted, view, original, int(row), like, v, z)
        made.append(_binned(values, p, z, fresh))
    return made


def joint_outcomes(
    fitted: Fitted, view: View, original: Records, names: tuple[str, ...], draws: int, seed: int
) -> list[Outcomes]:
    """The same for variables of which one hangs on another: for a few true records, combinations in the release."""
    evidence = fitted.evidence(view, names)
    assert evidence.likelihood is not None
    code, of, size = joint_codes(view.released, names, lambda _: Chain())
    first = np.zeros(size, dtype=np.int64)
    first[code] = np.arange(len(code))
    altered = evidence.likelihood.altered(evidence.likelihood.target(original))
    tried = _picked(group_codes(original, names), altered, 40 * ROWS)
    p = [_probability(evidence, original, int(row), first) for row in tried]
    open_ones = np.argsort([float(each.max(initial=0.0)) for each in p], kind="stable")[:ROWS]  # outcomes least certain
    rows, drawn = tried[open_ones], []
    for m in range(draws):
        made = fitted.apply(original, original, Stream(np.random.default_rng((seed, m)))).columns
        drawn.append(of(original.replaced(made).take(rows)))
    each = np.array(drawn, dtype=float)
    values = np.arange(size, dtype=float)
    return [_binned(values, p[i], z, False) for i, z in zip(open_ones, each.T, strict=True)]


def _picked(values: F64 | I64, altered: Bools, many: int = ROWS) -> I64:
    """A few of the altered rows, spread over their values."""
    rows = np.flatnonzero(altered)
    _, first = np.unique(values[rows], return_index=True)
    rows = rows[first]
    return rows[np.unique(np.linspace(0, len(rows) - 1, many).round().astype(np.int64))] if len(rows) else rows


def _drawn(fitted: Fitted, original: Records, v: str, rows: I64, rng: np.random.Generator) -> F64:
    made = {c.name: c for c in fitted.apply(original, original, Stream(rng)).columns}
    return np.asarray(made.get(v, original[v]).values[rows], dtype=float)


def _in_file(fitted: Fitted, view: View, original: Records, row: int, like: Records, v: str, _: F64) -> tuple[F64, F64]:
    """Values of the release, of records that agree with this one in all other variables of the step."""
    same = np.ones(view.released.n, dtype=bool)
    for name, column in view.released.items():
        if name != v and name not in view.known:
            same &= (column.values == like[name].values[0]) | (column.missing & like[name].missing[0])
    rows = np.flatnonzero(same)
    values, first = np.unique(view.released[v].values[rows].astype(float), return_index=True)
    return values, _probability(fitted.evidence(view, (v,)), original, row, rows[first])


def _on_grid(fitted: Fitted, view: View, original: Records, row: int, like: Records, v: str, z: F64) -> tuple[F64, F64]:
    """A grid of numbers around those drawn, each with the probability of all that it stands for."""
    column, step = view.released[v], view.released[v].step
    pad = 3 * float(np.ptp(z)) + step
    if step and np.allclose(rounded(z, step), z, rtol=0, atol=1e-3 * step):
        first, last = np.floor((z.min() - pad) / step), np.ceil((z.max() + pad) / step)
        stride = max(int((last - first) // POINTS), 1)
        values, weight = np.arange(first, last + 1, stride) * step, float(stride)
    else:
        values, weight = np.linspace(z.min() - pad, z.max() + pad, POINTS), 0.0
    every = like.take(np.zeros(len(values), dtype=np.int64)).replaced([column.with_values(values)])
    with np.errstate(all="ignore"):  # of numbers that the method never makes
        evidence = fitted.evidence(replace(view, released=every), (v,))
        assert evidence.likelihood is not None
        p = np.nan_to_num(_probability(evidence, original, row, np.arange(len(values))))
        return values, p * (weight or np.gradient(evidence.likelihood.on(values)))


def _probability(evidence: Evidence, original: Records, row: int, records: I64) -> F64:
    """Pr(z given y) of released records for one true one; 0 where a certain label differs."""
    like, mine = evidence.likelihood, original.take(np.full(len(records), row))
    assert like is not None
    p = np.exp(like.log(like.target(mine), take(like.record, records)))
    for label in evidence.labels.values():
        p = np.where(label.of(mine) == label.released[records], p, 0.0)
    return np.asarray(p)


def _binned(values: F64, p: F64, z: F64, grid: bool) -> Outcomes:
    """Outcomes in bins of about equal probability; the last bin holds what is not among the values."""
    total = float(p.sum())
    place = np.floor((np.cumsum(p) - 0.5 * p) / max(total, 1e-300) * BINS).clip(0, BINS - 1).astype(np.int64)
    at = np.clip(np.searchsorted(values, z), 0, len(values) - 1)
    if grid:
        nearer = np.maximum(at - 1, 0)
        at = np.where(np.abs(values[nearer] - z) < np.abs(values[at] - z), nearer, at)
    met = np.isclose(values[at], z, equal_nan=True) if not grid else np.ones(len(z), dtype=bool)
    observed = np.bincount(np.where(met, place[at], BINS), minlength=BINS + 1)
    expected = np.append(np.bincount(place, weights=p, minlength=BINS), max(1 - total, 0.0)) * len(z)
    return Outcomes(total, grid, observed.astype(float), expected)
