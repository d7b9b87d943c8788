r"""A noisy number of which the intruder's own value may be off: what that says of the true one, and so of the record's.

The target's true value y is not known; the intruder has x = y + error. With what is believed of y given the target's
cell and class,

.. math:: \Pr(z_j \mid x, c) = \sum_g e_g(x, c) \Pr(z_j \mid y_g), \qquad e_g \propto \Pr(y_g \mid c)\, N(x;\ y_g, e^2)

Where known and released values are few enough, that is a table. Else, for noise of one size, normal curves multiply:
with :math:`\hat y = (x s^2 + z e^2)/(s^2 + e^2)` and :math:`\rho^2 = s^2 e^2/(s^2 + e^2)`

.. math:: \Pr(z \mid x, c) = \frac{N(z;\ x, s^2 + e^2)}{\Pr(x \mid c)}\, h_c(\hat y), \qquad
    h_c(\hat y) = \sum_g \frac{\Pr(y_g \mid c)}{\mathrm{allowed}(y_g)} N(\hat y;\ y_g, \rho^2)

and log h is tabulated in steps of a quarter of :math:`\rho`, from 0 in both directions, and interpolated by cubics, to
about 1e-4. Which of both it is depends on the two files alone, so that any part of them gets the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.engine.fit import Fit
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain, step_evidence
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.spread import LOG_2PI
from confide.protect.likelihoods.table import Table
from confide.protect.seam.likelihood import Columns, Likelihood, Scale, take

LARGEST, WORK = 4_000_000, 20_000_000_000
"""Entries of the largest table, and products of believed values with them."""
PER_RHO = 4
"""Steps of a tabulated curve on its narrowest spread."""
TOGETHER = 2_000_000
"""Pairs of a known and a believed value in one go."""


def with_mistaken_noise(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> Fit:  # noqa: ARG001
    """The same with steps of noisy numbers that the intruder may have wrong, given what is believed of them."""
    if not fitted.needs_belief:
        return fitted
    believed = [(i, n) for i, n in enumerate(fitted.believed.numbers_t) if n.belief is not None]
    steps = [(i, knowledge.uncertain[n.item]) for i, n in believed]
    more = [MistakenNoise.of(case, knowledge, fitted, i, u) for i, u in steps if u.off is not None]
    return replace(fitted, numeric=(*fitted.numeric, *(False for _ in more)), more=(*fitted.more, *more))


@dataclass(frozen=True, eq=False)
class MistakenNoise:
    """Of the `number`-th believed in: whether it is a table, and the mean square of the width of released cells."""

    number: int
    table: bool
    width2: float

    @classmethod
    def of(cls, case: Case, knowledge: Knowledge, fitted: Fit, number: int, u: Uncertain) -> MistakenNoise:
        """By the different values that both files have."""
        (v,) = u.variables
        seen = case.view().counted((v,))
        whole = replace(case, released=seen.records, count=seen.count, tables={})
        at = case.compiled.way(v).random
        assert at is not None
        like = step_evidence(whole, at, case.intruder.levels[0], whole.view(fitted.knows), (v,)).likelihood
        assert isinstance(like, Normal)
        known = [c.of(case.original) for c in knowledge.certain]
        known += [
            c.values for i, step in enumerate(knowledge.uncertain) if not fitted.numeric[i] and not step.direct
            for c in step.met(case.original.select(step.variables_known)).values()
        ]  # fmt: skip
        rows = len(Distinct.rows([*known, u.met(case.original.select([v]))[v].values], case.original.n))
        size = rows * len(Distinct.rows([like.low, like.high, like.inside], seen.records.n))
        belief = fitted.believed.numbers_t[number].belief
        assert belief is not None
        table = size <= LARGEST and size * len(belief.nodes.values) <= WORK
        if not table and like.slope:
            raise InputError(
                f'errors: "{v}" has noise that grows with the value, and too many values for mistakes '
                "about it; round it, or leave it out of errors."
            )
        wide = (like.high - like.low)[like.inside]
        return cls(number, table, float(np.average(wide**2, weights=seen.counts[like.inside])) if len(wide) else 0.0)

    def log_absent(self, knowledge: Knowledge, targets: Records) -> float:  # noqa: ARG002
        """See `More`: nothing of its own."""
        return 0.0

    def joined(self, case: Case, knowledge: Knowledge, fit: Fit, targets: Records) -> Knowledge:
        """See `More`."""
        n = fit.believed.numbers_t[self.number]
        u = knowledge.uncertain[n.item]
        assert u.off is not None
        assert n.belief is not None
        cell = fit.believed.cells.place([c.of(targets) for c in knowledge.certain], targets.n)
        about = _About.of(fit, n.belief, u, targets, cell, knowledge)
        like = about.table(case.released.n) if self.table else about.curves(self.width2)
        steps = list(knowledge.uncertain)
        steps[n.item] = replace(u, like=_Flat(u.off.like, case.released.n))
        more = Uncertain((u.variables[0],), (True,), like, None, u.met, direct=True)
        return replace(knowledge, uncertain=(*steps, more))


@dataclass(frozen=True, eq=False)
class _Flat(Likelihood):
    """In the place of a likelihood that another step speaks of; which values are altered it still says."""

    like: Normal
    n: int

    integrates: ClassVar[bool] = True
    scale: ClassVar[Scale | None] = None

    @property
    def record(self) -> Columns:
        return {"inside": self.like.inside}

    def target(self, records: Records) -> Columns:
        return self.like.target(records)

    def log(self, t: Columns, z: Columns) -> F64:  # noqa: ARG002 - nothing depends on the record
        return np.zeros(len(t["y"]))

    def altered(self, t: Columns) -> Bools:
        return self.like.altered(t)


@dataclass(frozen=True, eq=False)
class _About:
    """`x`: known values of the targets whose own is altered, NaN for others; `curve`: which belief each has, a row of
    `weight` (curves, G) over the nodes. `like`: of the noise; `sd`: of the mistake."""

    x: F64
    curve: I64
    nodes: F64
    weight: F64
    like: Normal
    sd: float

    @classmethod
    def of(
        cls, fitted: Fit, belief: NumberBelief, u: Uncertain, targets: Records, cell: I64, knowledge: Knowledge
    ) -> _About:
        """Beliefs by cell and by what is known of classes."""
        assert u.off is not None
        met = u.met(targets)
        inside = u.off.inside(targets)
        agree = np.zeros((targets.n, fitted.believed.classes.size))
        for i, step in enumerate(knowledge.uncertain):
            if not fitted.numeric[i] and not step.direct:
                agree += fitted.believed.classes.log_agree(step, targets, np.arange(targets.n))
        alike = Distinct.rows([cell, *agree.T], targets.n)
        nodes = belief.nodes.values
        weight, every = np.empty((len(alike), len(nodes))), np.arange(len(nodes))
        for c, t in enumerate(alike.first):
            log_k = agree[t] + fitted.believed.log_pi[cell[t]]
            log_k = fitted.believed.log_pi[cell[t]] if not np.isfinite(log_k).any() else log_k
            p = belief.law.mass(belief.nodes, every, np.full(len(every), cell[t])) @ np.exp(log_k - logsumexp(log_k))
            weight[c] = p / p.sum()
        x = np.where(inside, met[u.variables[0]].values, np.nan)
        return cls(x, alike.of, nodes, weight, u.off.like, u.off.sd)

    def table(self, n: int) -> Table:
        """One row for all targets that are alike, one column for all of n records."""
        like, there = self.like, ~np.isnan(self.x)
        rows = Distinct.rows([self.curve, np.where(there, self.x, np.inf)], len(self.x))
        return self._table(rows, Distinct.rows([like.low, like.high, like.inside], n))

    def _log_error(self, x: F64, curve: I64) -> F64:
        """log of belief times density of the mistake, shape (n, G)."""
        with np.errstate(divide="ignore"):
            log_p = np.log(self.weight[curve])
        gap = (x[:, None] - self.nodes) / self.sd
        return np.asarray(log_p - 0.5 * gap * gap - 0.5 * LOG_2PI - np.log(self.sd))

    def _table(self, rows: Distinct, columns: Distinct) -> Table:
        z = take(self.like.record, columns.first)
        g, j = np.meshgrid(np.arange(len(self.nodes)), np.arange(len(columns)), indexing="ij")
        t = _nodes(self.like, self.nodes)
        log_l = self.like.log(take(t, g.ravel()), take(z, j.ravel())).reshape(g.shape)
        top = np.where(np.isfinite(log_l.max(axis=0)), log_l.max(axis=0), 0.0)
        seen, out = np.exp(log_l - top), np.zeros((len(rows), len(columns)))
        most = max(TOGETHER // len(self.nodes), 1)
        altered = ~np.isnan(self.x[rows.first])
        picked = np.flatnonzero(altered)
        for i in range(0, len(picked), most):
            some = picked[i : i + most]
            log_e = self._log_error(self.x[rows.first[some]], self.curve[rows.first[some]])
            with np.errstate(divide="ignore"):
                out[some] = np.log(np.exp(log_e - logsumexp(log_e, axis=1, keepdims=True)) @ seen) + top
        out[:, ~z["inside"]] = np.where(altered, -np.inf, 0.0)[:, None]
        return Table(columns.of, out, lambda _: rows.of)

    def curves(self, width2: float) -> Curves:
        """By normal curves; `width2`: of released cells."""
        like = self.like
        s2, e2 = like.sd**2 + width2 / 12, self.sd**2
        rho = np.sqrt(s2 * e2 / (s2 + e2))
        middle = np.where(like.inside, 0.5 * (like.low + like.high), 0.0)
        ends = np.concatenate([self.nodes[[0, -1]], self.x[~np.isnan(self.x)], middle[like.inside]])
        step = rho / PER_RHO
        grid = np.arange(np.floor(ends.min() / step) - 2, np.ceil(ends.max() / step) + 3) * step
        table = _log_curves(grid, self.nodes, self.weight * np.exp(-like.log_allowed(self.nodes)), rho)
        log_x = np.zeros(len(self.x))
        there = np.flatnonzero(~np.isnan(self.x))
        for i in range(0, len(there), max(TOGETHER // len(self.nodes), 1)):
            some = there[i : i + max(TOGETHER // len(self.nodes), 1)]
            log_x[some] = logsumexp(self._log_error(self.x[some], self.curve[some]), axis=1)
        log_width = np.log(np.where(like.high > like.low, like.high - like.low, 1.0))
        return Curves(middle, log_width, like.inside, self.x, self.curve, log_x, table, grid[0], step, s2, e2)


def _nodes(like: Normal, values: F64) -> Columns:
    """Believed values in the form in which the likelihood takes true ones."""
    return {"y": like.on(values), "log_allowed": like.log_allowed(values), "inside": np.ones(len(values), dtype=bool)}


def _log_curves(grid: F64, nodes: F64, weight: F64, rho: float) -> F64:
    """log h on the grid, shape (curves, grid); where nothing believed is near, by the nearest alone."""
    out = np.empty((len(weight), len(grid)))
    reach, most = 38 * rho, max(TOGETHER // len(nodes), 1)
    for i in range(0, len(grid), most):
        part = grid[i : i + most]
        a, b = np.searchsorted(nodes, [part[0] - reach, part[-1] + reach])
        gap = (part[:, None] - nodes[a:b]) / rho
        total = np.exp(-0.5 * gap * gap) @ weight[:, a:b].T
        with np.errstate(divide="ignore"):
            found = np.log(total)
        for g in np.flatnonzero(total.min(axis=1) < 1e-280):
            with np.errstate(divide="ignore"):
                found[g] = logsumexp(np.log(weight) - 0.5 * ((part[g] - nodes) / rho) ** 2, axis=1)
        out[:, i : i + most] = found.T
    return np.asarray(out - 0.5 * LOG_2PI - np.log(rho))


@dataclass(frozen=True, eq=False)
class Curves(Likelihood):
    """Pr(z given x) by normal curves that multiply. `table`: (curves, grid) log h from `low` in steps of `step`."""

    z: F64
    log_width: F64
    inside: Bools
    x: F64
    curve: I64
    log_x: F64
    table: F64
    low: float
    step: float
    s2: float
    e2: float

    scale: ClassVar[Scale | None] = None

    @property
    def record(self) -> Columns:
        return {"z": self.z, "width": self.log_width, "inside": self.inside}

    def target(self, records: Records) -> Columns:  # noqa: ARG002 - made for these targets
        return {"x": np.nan_to_num(self.x), "curve": self.curve, "log_x": self.log_x, "inside": ~np.isnan(self.x)}

    def log(self, t: Columns, z: Columns) -> F64:
        total = self.s2 + self.e2
        gap = t["x"] - z["z"]
        found = z["width"] - 0.5 * gap * gap / total - 0.5 * (LOG_2PI + np.log(total)) - t["log_x"]
        found = found + self._h((t["x"] * self.s2 + z["z"] * self.e2) / total, t["curve"])
        return np.where(t["inside"] & z["inside"], found, np.where(t["inside"] | z["inside"], -np.inf, 0.0))

    def _h(self, y: F64, curve: I64) -> F64:
        """log h by cubics through four points of the table."""
        place = (y - self.low) / self.step
        at = np.clip(place.astype(np.int64), 1, self.table.shape[1] - 3)
        u, flat = place - at, self.table.ravel()
        begin = curve * self.table.shape[1] + at
        a, b, c, d = (flat[begin + i] for i in (-1, 0, 1, 2))
        return np.asarray(b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a))))

    def altered(self, t: Columns) -> Bools:
        return np.asarray(t["inside"])

    @property
    def reach(self) -> float:
        """How much farther than the nearest record another may lie to matter."""
        return 12.0 * float(np.sqrt(self.s2 + self.e2))
