"""Scene: one pattern of knowledge, with everything that does not depend on a single target worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.beliefs.classes import Classes
from confide.attack.beliefs.regressions import Cells, NumberBelief, log_class_probabilities, uniform_belief
from confide.attack.beliefs.synthetic import BinnedBelief
from confide.attack.engine.evidence import Case, Knowledge, Uncertain
from confide.attack.engine.grouping import blocks, starts
from confide.attack.engine.record_side import log_m
from confide.attack.intruder import Uniform
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Records, codes_in
from confide.protect.seam.evidence import Columns, Likelihood, Normal, take


@dataclass(frozen=True, eq=False)
class Number:
    """One uncertain number: which step, its likelihoods, and what is believed of it (None where A and B do not ask).

    `binned`: the same for a synthetic one.
    """

    variable: str
    known: bool
    like: Likelihood
    like_a: Likelihood | None
    item: int
    belief: NumberBelief | None
    region: int | None
    target: Columns | None
    binned: BinnedBelief | None = None


class Scene:
    """One pattern of knowledge: blocks, classes, beliefs, and log m of every released record."""

    def __init__(
        self,
        case: Case,
        knowledge: Knowledge,
        targets: Records,
        intervals: Mapping[str, tuple[float, float]] | None = None,
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
        self.remembered: dict[tuple[int, bytes], F64] = {}
        self._believe()
        found = log_m(self)
        self.log_m = np.where(np.isfinite(found), found, 0.0)  # nobody can have led to such a record: C is 0 for all
        for u in self.uncertain:
            if u.log_own is not None:
                self.log_m = self.log_m - u.log_own[self.rows]

    def _believe(self) -> None:
        """Classes, cells and beliefs, as far as A and B ask for them."""
        self.numeric = [self._is_number(u) for u in self.uncertain]
        self.needs_belief = bool(self.uncertain) and (
            any(u.like_a is not None or u.silent or not all(u.known) or bool(u.mistakes) for u in self.uncertain)
        )
        self.mixture = self.helped or any(not all(u.known) or bool(u.mistakes) for u in self.uncertain)
        self.parts_known = [self._part_known(i, u) for i, u in enumerate(self.uncertain)]
        self.numbers: list[Number] = []
        if not self.needs_belief:
            self.helped = self.mixture = False  # nothing uncertain to average over: nothing for helpers to sharpen
            self.classes = Classes.none()
            self.numbers = self._numbers(None, ())
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
        self.numbers = self._numbers(self.cells_r, met)
        self.numbers_t = self._numbers(self.cells, met) if self.helped else self.numbers

    def _is_number(self, u: Uncertain) -> bool:
        """Numbers with too many values for classes are integrated over; everything else is a class."""
        if u.like.integrates:
            return True
        column = u.met(self.case.original.select(u.variables).take(np.arange(min(1, self.case.original.n))))
        many = [v for v in u.variables if column[v].kind == "numeric"]
        if not many or len(u.variables) > 1:
            return False
        y = u.met(self.case.original)[many[0]].values
        return len(np.unique(y)) > 100

    def _part_known(self, i: int, u: Uncertain) -> tuple[Likelihood, Columns] | None:
        """The likelihood of the known ones among numbers altered together, where some are not known."""
        if not self.numeric[i] or all(u.known) or not any(u.known):
            return None
        part = u.like.restricted([k for k, known in enumerate(u.known) if known])
        return part, part.target(u.met(self.targets))

    def _reference(self) -> tuple[Records, list[I64]]:
        """The file on which beliefs are fitted, and its certain labels."""
        if self.case.intruder.beliefs == "released":
            for u in self.uncertain:
                for v in u.variables:
                    if u.met(self.case.original)[v].kind != self.case.released[v].kind:
                        raise InputError(
                            f'beliefs="released" cannot be fitted: "{v}" is coarsened after it was perturbed.'
                        )
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

    def _numbers(self, cells: Cells | None, met: Sequence[Records]) -> list[Number]:
        """Uncertain numbers, one by one, with what is believed of each where A or B asks."""
        out = []
        for i, u in enumerate(self.uncertain):
            if not self.numeric[i]:
                continue
            margins = u.like.margins()
            margins_a = [None] * len(margins) if u.like_a is None else u.like_a.margins()
            for v, known, like, like_a in zip(u.variables, u.known, margins, margins_a, strict=True):
                belief, binned = None, None
                if cells is not None and u.silent:
                    if isinstance(self.case.intruder.beliefs, Uniform):
                        continue  # who believes nothing of a value learns nothing from it
                    binned = self._binned(cells, met[i], v)
                elif cells is not None and (like_a is not None or not known):
                    belief = self._number_belief(cells, met[i], v, like if like_a is None else like_a)
                target = like.target(u.met(self.targets)) if known else None
                out.append(Number(v, known, like, like_a, i, belief, self.classes.region_of(v), target, binned))
        return out

    def _binned(self, cells: Cells, met: Records, v: str) -> BinnedBelief:
        rows = np.flatnonzero(~met[v].missing)
        return BinnedBelief.fit(cells, self.classes.of_reference, self.classes.size, met[v].values[rows], rows)

    def _number_belief(self, cells: Cells, met: Records, v: str, like: Likelihood) -> NumberBelief:
        beliefs = self.case.intruder.beliefs
        if isinstance(beliefs, Uniform):
            low, high = beliefs.ranges.get(v, (np.nanmin(met[v].values), np.nanmax(met[v].values)))
            sd = float(like.sd_at(np.array([low, high])).min()) if isinstance(like, Normal) else 0.0
            return uniform_belief(
                float(low), float(high), cells.design.shape[0], self.classes.size, sd / 4 or (high - low) / 4000
            )
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
        y, logs = met[v].values[rows], self.case.intruder.as_printed
        if logs and y.min() <= 0:
            raise InputError(
                f'as_printed: "{v}" has zero or negative values among those altered, which have no logarithm.'
            )
        steps = like.merging(float(y.min()))
        return NumberBelief.fit(cells, self.classes.of_reference, self.classes.size, y, rows, steps, logs)

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
