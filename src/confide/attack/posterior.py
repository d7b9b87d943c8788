r"""The formula. For a target t and a released record j of its block,

.. math:: w_j(t) = \frac{\sum_{k \in S_t} e_k(t)\, L_{kj}}{m_j} \prod_v f_v(z_{jv} \mid t_v)

where k runs over joint categories (classes) of the uncertain variables, :math:`L_{kj}` is the likelihood of record
j's categories and unknown numbers in class k, :math:`e_k(t)` the belief in class k given all that is known of the
target, :math:`f_v` the likelihood of a known noisy number, and :math:`m_j` the same sum without the target
(1 / A in print). Where every class is known the sum has one term and e is 1.

`Scene` holds these arrays for one pattern of knowledge; `Scene.log_weights` is the formula for one target, plainly;
the compiled kernels do the same for all targets at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr

from confide.attack import kernels
from confide.attack.beliefs import Cells, NumberBelief, log_class_probabilities, uniform_belief
from confide.attack.classes import Classes
from confide.attack.grouping import Distinct, blocks, starts
from confide.attack.intruder import Uniform
from confide.attack.joint import log_joint
from confide.attack.knowledge import Case, Knowledge, Uncertain
from confide.errors import InputError
from confide.frames.columns import F64, I64, Bools, Column, Records, codes_in
from confide.protect.evidence import Columns, Likelihood, Match, Normal, take

CHUNK = 2_000_000
"""Numbers in the largest temporary of a chunk of records times classes."""


@dataclass(frozen=True, eq=False)
class Number:
    """One uncertain number: which step, its likelihoods, and what is believed of it (None where A and B do not ask)."""

    variable: str
    known: bool
    like: Likelihood
    like_a: Likelihood | None
    item: int
    belief: NumberBelief | None
    region: int | None
    target: Columns | None


class Scene:
    """One pattern of knowledge: blocks, classes, beliefs, and log m of every released record."""

    def __init__(
        self, case: Case, knowledge: Knowledge, targets: Records, intervals: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        self.case, self.knowledge, self.targets = case, knowledge, targets
        self.intervals = {v: p for v, p in (intervals or {}).items() if v not in knowledge.limits}
        self.rows = np.flatnonzero(knowledge.eligible)
        self.released = case.released.take(self.rows)
        labels_r = [c.released[self.rows] for c in knowledge.certain]
        labels_t = [c.of(targets) for c in knowledge.certain]
        self.block_r, self.block_t, self.n_blocks = blocks(labels_r, labels_t, len(self.rows), targets.n)
        self.uncertain = knowledge.uncertain
        self.records = [take(u.like.record, self.rows) for u in self.uncertain]
        self.records_a = [None if u.like_a is None else take(u.like_a.record, self.rows) for u in self.uncertain]
        self.known_t = [u.like.target(u.met(targets)) if all(u.known) else None for u in self.uncertain]
        self.helped = bool(knowledge.helpers)
        self._believe()
        self.log_m = self._log_m()

    # -- beliefs --------------------------------------------------------------------------------------------

    def _believe(self) -> None:
        """Classes, cells and beliefs, as far as A and B ask for them."""
        self.numeric = [self._is_number(u) for u in self.uncertain]
        self.needs_belief = bool(self.uncertain) and (
            any(u.like_a is not None or not all(u.known) or bool(u.mistakes) for u in self.uncertain)
        )
        self.mixture = self.helped or any(not all(u.known) or bool(u.mistakes) for u in self.uncertain)
        self.numbers: list[Number] = []
        if not self.needs_belief:
            self.classes = Classes.none()
            self.numbers = self._numbers(None, None, None)
            return
        reference, certain_codes = self._reference()
        met = [u.met(reference) if self.case.intruder.beliefs != "released" else reference for u in self.uncertain]
        self.classes = Classes.build(self.uncertain, self.numeric, met, reference.n, self._region_codes(met))
        helpers = [self._helper(v, reference) for v in self.knowledge.helpers]
        sizes = [c.size for c in self.knowledge.certain]
        targets = [c.of(self.targets) for c in self.knowledge.certain]
        released = [c.released[self.rows] for c in self.knowledge.certain]
        n = (reference.n, len(self.rows), self.targets.n)
        self.cells = Cells.build(certain_codes, released, targets, sizes, *n)
        self.log_pi = self._class_log(self.cells)
        self.cells_r = self.cells
        self.log_pi_r = self.log_pi
        if self.helped:
            nobody = [np.full(self.targets.n, -1, dtype=np.int64) for _ in helpers]
            self.cells_r = Cells.build(
                [*certain_codes, *(h[0] for h in helpers)], [*released, *(h[1] for h in helpers)],
                [*targets, *nobody], [*sizes, *(h[2] for h in helpers)], *n,
            )  # fmt: skip
            self.log_pi_r = self._class_log(self.cells_r)
        self.numbers = self._numbers(self.cells_r, met, reference)
        self.numbers_t = self._numbers(self.cells, met, reference) if self.helped else self.numbers

    def _is_number(self, u: Uncertain) -> bool:
        """Numbers with too many values for classes are integrated over; everything else is a class."""
        if isinstance(u.like, Normal) or hasattr(u.like, "margins"):
            return True
        column = u.met(self.case.original.select(u.variables).take(np.arange(min(1, self.case.original.n))))
        many = [v for v in u.variables if column[v].kind == "numeric"]
        if not many or len(u.variables) > 1:
            return False
        y = u.met(self.case.original)[many[0]].values
        return len(np.unique(y)) > 100

    def _reference(self) -> tuple[Records, list[I64]]:
        """The file on which beliefs are fitted, and its certain labels."""
        if self.case.intruder.beliefs == "released":
            for u in self.uncertain:
                for v in u.variables:
                    if u.met(self.case.original)[v].kind != self.case.released[v].kind:
                        raise InputError(f'beliefs="released" cannot be fitted: "{v}" is coarsened after it was perturbed.')
            return self.case.released, [c.released for c in self.knowledge.certain]
        return self.case.original, [c.of(self.case.original) for c in self.knowledge.certain]

    def _region_codes(self, met: Sequence[Records]) -> list[dict[str, I64]]:
        """Labels of unknown noisy numbers (zero, inside, above): they are classes, since nobody knows them."""
        out = []
        for u, records in zip(self.uncertain, met, strict=True):
            if self.case.intruder.beliefs == "released":
                out.append({v: lab.released for v, lab in u.regions.items()})
            else:
                out.append({v: lab.of(records) for v, lab in u.regions.items()})
        return out

    def _helper(self, v: str, reference: Records) -> tuple[I64, I64, int]:
        """A released, unaltered, unknown variable as a predictor: codes of reference rows and of records."""
        z = self.case.released[v]
        chain = self.case.compiled.way(v).after
        ref = reference[v] if self.case.intruder.beliefs == "released" else chain.image(reference[v])
        size = len(z.levels) if z.kind == "categorical" else len(np.unique(z.values[~z.missing]))
        return codes_in(ref, z), codes_in(z, z)[self.rows], size

    def _class_log(self, cells: Cells) -> F64:
        k = self.classes.size
        if isinstance(self.case.intruder.beliefs, Uniform):
            return np.full((cells.design.shape[0], k), -np.log(k))
        return log_class_probabilities(cells, self.classes.of_reference, k)

    def _numbers(self, cells: Cells | None, met: Sequence[Records] | None, reference: Records | None) -> list[Number]:
        out = []
        for i, u in enumerate(self.uncertain):
            if not self.numeric[i]:
                continue
            margins = u.like.margins() if hasattr(u.like, "margins") else [u.like]
            margins_a = [None] * len(margins)
            if u.like_a is not None:
                margins_a = u.like_a.margins() if hasattr(u.like_a, "margins") else [u.like_a]
            for v, known, like, like_a in zip(u.variables, u.known, margins, margins_a, strict=True):
                belief = None
                if cells is not None and met is not None and (like_a is not None or not known):
                    belief = self._number_belief(cells, met[i], v, like if like_a is None else like_a)
                target = like.target(u.met(self.targets)) if known else None
                out.append(Number(v, known, like, like_a, i, belief, self.classes.region_of(v), target))
        return out

    def _number_belief(self, cells: Cells, met: Records, v: str, like: Likelihood) -> NumberBelief:
        sd = like.sd if isinstance(like, Normal) else 0.0
        finest = sd / 16 if sd else 1e-300
        beliefs = self.case.intruder.beliefs
        if isinstance(beliefs, Uniform):
            low, high = beliefs.ranges.get(v, (np.nanmin(met[v].values), np.nanmax(met[v].values)))
            return uniform_belief(float(low), float(high), cells.design.shape[0], self.classes.size, sd / 4 or (high - low) / 4000)
        altered = like.record["inside"] if beliefs == "released" and isinstance(like, Normal) else like.altered(like.target(met))
        rows = np.flatnonzero(altered & ~met[v].missing)
        if not len(rows):
            raise InputError(f'Nothing is known about "{v}": no reference record has a value that the plan alters.')
        return NumberBelief.fit(cells, self.classes.of_reference, self.classes.size, met[v].values[rows], rows, finest)

    # -- A and the record side ---------------------------------------------------------------------------------

    def log_classes(self, rows: I64, for_a: bool) -> F64:
        """log L_kj of the class variables, shape (rows, K); region labels that contradict the record are -inf."""
        k = self.classes.size
        out = np.zeros((len(rows), k))
        for i, u in enumerate(self.uncertain):
            like = u.like_a if for_a else u.like
            record = self.records_a[i] if for_a else self.records[i]
            if like is None or record is None:
                continue
            if not self.numeric[i] and (for_a or not u.direct):
                t = self.classes.target(like, i)
                z = take(record, np.repeat(rows, k))
                out += like.log(take(t, np.tile(np.arange(k), len(rows))), z).reshape(len(rows), k)
            for v, label in u.regions.items():
                out += np.where(self.classes.regions[v] == label.released[self.rows][rows][:, None], 0.0, -np.inf)
        return out

    def log_number(self, number: Number, rows: I64, for_a: bool, limit: tuple[float, float] | None = None) -> F64:
        """log of the integral over beliefs of Pr(z_j given y), shape (rows, K), 0 where the record is not noisy."""
        like = number.like_a if for_a else number.like
        assert like is not None
        belief = number.belief
        assert belief is not None
        cell, k = self.cells_r.of_records[rows], self.classes.size
        out = np.zeros((len(rows), k))
        if isinstance(like, Normal):
            inside = like.inside[self.rows][rows]
            picked = np.flatnonzero(inside)
            order = picked[np.argsort(cell[picked], kind="stable")]
            nodes, edges = belief.nodes, belief.node_edges
            allowed = like.log_allowed(nodes)
            if limit is not None:
                allowed = np.where((nodes >= limit[0]) & (nodes <= limit[1]), allowed, np.inf)
            part = np.empty((len(order), k))
            low, high = like.low[self.rows][rows], like.high[self.rows][rows]
            kernels.log_node_sums(order, low, high, like.sd, nodes, allowed, edges, belief.mu, belief.tau, cell, part)
            out[order] = part
        elif isinstance(like, Match):
            z = self.released[number.variable].values[rows]
            point = belief.log_point(z, cell)
            if limit is not None:
                point = np.where(((z >= limit[0]) & (z <= limit[1]))[:, None], point, -np.inf)
            same, diff = like.log_same[self.rows][rows][:, None], like.log_diff[self.rows][rows][:, None]
            with np.errstate(divide="ignore"):
                out = np.logaddexp(same + point, diff + np.log1p(-np.exp(np.minimum(point, -1e-300))))
        else:
            raise InputError(f'Nothing is believed about the number "{number.variable}": its step offers no way to average over it.')
        if number.region is not None:  # only classes in which the number is a noisy one
            out = np.where(self._noisy_classes(number), out, 0.0)
        return out

    def _noisy_classes(self, number: Number) -> Bools:
        """Classes in which an unknown number is a noisy one, shape (K,)."""
        return np.asarray(self.classes.regions[number.variable] == self._noisy_label(number))

    def _noisy_label(self, number: Number) -> int:
        """The label of a noisy record of this variable."""
        label = self.uncertain[number.item].regions[number.variable]
        like = number.like
        assert isinstance(like, Normal)
        inside = label.released[like.inside]
        return int(inside[0]) if len(inside) else -1

    def _log_m(self) -> F64:
        """log m_j = -log A_j of every eligible record: one joint sum over exactly the variables of C and B."""
        r = len(self.rows)
        if all(u.like_a is None for u in self.uncertain):
            return np.zeros(r)
        keys: list[Any] = [self.cells_r.of_records]
        for u, record in zip(self.uncertain, self.records_a, strict=True):
            if record is not None:
                keys += list(record.values())
            keys += [lab.released[self.rows] for lab in u.regions.values()]
        distinct = Distinct.rows(keys, r)
        out = np.empty(len(distinct))
        step = max(CHUNK // max(self.classes.size, 1), 1)
        for at in range(0, len(distinct), step):
            rows = distinct.first[at : at + step]
            joint = self.log_pi_r[self.cells_r.of_records[rows]] + self.log_classes(rows, for_a=True)
            asked = [n for n in self.numbers if n.like_a is not None]
            together = [n for n in asked if n.known and isinstance(n.like_a, Normal)]
            if len(together) > 1:
                joint += log_joint(self, together, rows)
            for n in asked:
                if len(together) < 2 or n not in together:
                    joint += self.log_number(n, rows, for_a=True)
            out[at : at + step] = logsumexp(joint, axis=1)
        return out[distinct.of]

    # -- the target side ---------------------------------------------------------------------------------------

    def log_belief(self, t: I64) -> F64:
        """log e_k(t): belief in each class given all that is known of targets t, shape (len(t), K).

        With helpers the class probabilities belong to the records instead, and only consistency is left here.
        """
        out = self.log_agree(t)
        if self.helped:
            return out
        cell = self.cells.of_targets[t]
        out = out + self.log_pi[cell] + self._log_numbers(t, cell, self.numbers) + self._log_limits(cell)
        total = logsumexp(out, axis=1, keepdims=True)
        return np.where(np.isfinite(total), out - np.where(np.isfinite(total), total, 0.0), -np.inf)

    def log_normaliser(self, t: I64) -> F64:
        """log Pr(known uncertain values of t given its labels), needed with helpers beside absence, shape (len(t),)."""
        if not self.helped:
            return np.zeros(len(t))
        cell = self.cells.of_targets[t]
        joint = self.log_agree(t) + self.log_pi[cell] + self._log_numbers(t, cell, self.numbers_t)
        return np.asarray(logsumexp(joint, axis=1))

    def _log_numbers(self, t: I64, cell: I64, numbers: Sequence[Number]) -> F64:
        """log density of the known numbers in each class, shape (len(t), K)."""
        out = np.zeros((len(t), self.classes.size))
        for n in numbers:
            if not n.known or n.belief is None or n.target is None:
                continue
            y = self._met_value(n, t)
            altered = n.like.altered(n.target)[t]
            for k in range(self.classes.size):
                out[:, k] += np.where(altered, n.belief.log_density(y, cell, k), 0.0)
        return out

    def _met_value(self, n: Number, t: I64) -> F64:
        column: Column = self.uncertain[n.item].met(self.targets)[n.variable]
        return np.asarray(column.values[t], dtype=float)

    def _log_limits(self, cell: I64) -> F64:
        """log Pr(interval given cell, class) for variables known as intervals, shape (len(cell), K)."""
        out = np.zeros((len(cell), self.classes.size))
        for v, (low, high) in self.knowledge.limits.items():
            if v in self.classes.codes:
                out += np.where(self.classes.inside(v, low, high), 0.0, -np.inf)
            for n in self.numbers:
                if n.variable == v:
                    out += self._log_interval(n, cell, low, high)
        return out

    def _log_interval(self, n: Number, cell: I64, low: float, high: float) -> F64:
        """The same for one unknown number: belief mass inside the interval; by frequency where it is not noisy."""
        out = self._log_mass(n, cell, low, high)
        if n.region is None:
            return out
        region = self.classes.regions[n.variable]
        noisy = self._noisy_classes(n)
        label, met = self._reference_regions(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            for k in np.flatnonzero(~noisy):
                mine = met[label == region[k]]
                out[:, k] = np.log(np.mean((mine >= low) & (mine <= high))) if len(mine) else -np.inf
        return out

    def _reference_regions(self, n: Number) -> tuple[I64, F64]:
        u = self.uncertain[n.item]
        if self.case.intruder.beliefs == "released":
            return u.regions[n.variable].released, self.case.released[n.variable].values
        met = u.met(self.case.original)
        return u.regions[n.variable].of(met), met[n.variable].values

    def _log_mass(self, n: Number, cell: I64, low: float, high: float) -> F64:
        """log of the belief's mass on nodes in [low, high], shape (len(cell), K)."""
        belief = n.belief
        assert belief is not None
        nodes, edges = (belief.nodes, belief.node_edges) if isinstance(n.like, Normal) else (belief.values, belief.edges)
        at = np.flatnonzero((nodes >= low) & (nodes <= high))
        if not len(at):
            return np.full((len(cell), self.classes.size), -np.inf)
        a = (edges[at[0]] - belief.mu[cell]) / belief.tau
        b = (edges[at[-1] + 1] - belief.mu[cell]) / belief.tau
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.where(a + b > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))))

    def log_agree(self, t: I64) -> F64:
        """log Pr(known categories of targets t given the class), 0 throughout where no class allows them, (len(t), K)."""
        out = np.zeros((len(t), self.classes.size))
        for i, u in enumerate(self.uncertain):
            if not self.numeric[i] and not u.direct:
                out = out + self.classes.log_agree(u, self.targets, t)
        out[~np.isfinite(out).any(axis=1)] = 0.0
        return out

    # -- the formula for one target ----------------------------------------------------------------------------

    def log_weights(self, i: int) -> tuple[I64, dict[str, F64]]:
        """Candidates of target i (positions in `self.rows`) and the logs of C (by variable), B and A."""
        rows = self.members(int(self.block_t[i]))
        parts: dict[str, F64] = {}
        if not len(rows):
            return rows, parts
        if self.knowledge.nearest:
            parts["nearest"] = self._log_nearest(i, rows)
        if self.mixture:
            parts["unavailable"] = self._log_mixture(i, rows)
        parts |= self._log_known(i, rows)
        if any(u.like_a is not None for u in self.uncertain):
            parts["others"] = -self.log_m[rows]
        return rows, parts

    def members(self, block: int) -> I64:
        """Positions of a block's records, in file order."""
        if block < 0:
            return np.zeros(0, dtype=np.int64)
        order, offsets = self._by_block
        return order[offsets[block] : offsets[block + 1]]

    @cached_property
    def _by_block(self) -> tuple[I64, I64]:
        order = np.argsort(self.block_r, kind="stable").astype(np.int64)
        return order, starts(self.block_r[order], self.n_blocks)

    def _log_known(self, i: int, rows: I64) -> dict[str, F64]:
        """log C by variable, for what multiplies in by itself rather than through the classes."""
        parts: dict[str, F64] = {}
        for at, (u, t, z) in enumerate(zip(self.uncertain, self.known_t, self.records, strict=True)):
            if self.numeric[at] and not all(u.known):
                for n in self.numbers:
                    if n.item == at and n.known and n.target is not None:
                        own = take(n.like.record, self.rows[rows])
                        parts[n.variable] = n.like.log(take(n.target, np.full(len(rows), i)), own)
            elif t is not None and (self.numeric[at] or u.direct or not self.mixture):
                parts[" + ".join(u.variables)] = u.like.log(take(t, np.full(len(rows), i)), take(z, rows))
        return parts

    def _log_mixture(self, i: int, rows: I64) -> F64:
        """log sum_k e_k(t) L_kj (times Pr(k, known numbers given record j's cell) with helpers)."""
        t = np.array([i])
        joint = self.log_belief(t) + self.log_unknown(rows)
        if self.helped:
            cell = self.cells_r.of_records[rows]
            joint = joint + self.log_pi_r[cell]
            joint = joint + self._log_numbers(np.full(len(rows), i), cell, self.numbers)
        out = logsumexp(joint, axis=1)
        return np.asarray(out - self.log_normaliser(t)[0])

    def log_unknown(self, rows: I64) -> F64:
        """log L_kj with the integrals over unknown numbers, shape (rows, K)."""
        out = self.log_classes(rows, for_a=False)
        for n in self.numbers:
            if not n.known:
                limit = self.knowledge.limits.get(n.variable)
                part = self.log_number(n, rows, for_a=False, limit=limit)
                if limit is not None:  # the restricted belief sums to one
                    mass = self._log_mass(n, self.cells_r.of_records[rows], *limit)
                    mass = np.where(np.isfinite(mass), mass, 0.0)
                    part = part - (mass if n.region is None else np.where(self._noisy_classes(n), mass, 0.0))
                out = out + part
        return out

    def _log_nearest(self, i: int, rows: I64) -> F64:
        """0 for the nearest records in standardised distance, -inf for others: a naive intruder's choice."""
        distance = np.zeros(len(rows))
        for v in self.knowledge.nearest:
            z = self.released[v].values
            scale = float(np.nanstd(self.case.released[v].values)) or 1.0
            gap = np.abs(z[rows] - self.targets[v].values[i]) / scale
            distance += np.where(np.isnan(gap), np.inf, gap) ** 2
        near = np.sqrt(distance)
        best = near.min()
        return np.where(near <= best * (1 + 1e-9), 0.0, -np.inf) if np.isfinite(best) else np.full(len(rows), -np.inf)
