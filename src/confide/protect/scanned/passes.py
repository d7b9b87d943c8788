"""The passes over a scan in which the steps of a plan become what can be done to any batch by itself.

A step is carried out in up to three stages: it learns (from counts, or from some records), it gathers (records that are
chosen or sorted), and then does to each batch what it would do to the whole file. A step waits for those before it that
change what it reads; all that need not wait look at the file in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.random.draws import Draws, PerUnit, UnitsOfRows
from confide.core.random.origin import Origin
from confide.core.scale.remembered import Remembered
from confide.frames.columns import Column, Margins, Records
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import Scan
from confide.protect.compiled import Compiled, Way, fit_coarsenings, fitted_coarsening, unlike
from confide.protect.scanned.steps import Coarsened, Extremes, JointCounts, SomeRecords, counted_apart
from confide.protect.scanned.units import Heads
from confide.protect.seam.coarsening import Coarsening
from confide.protect.seam.fitted import Fitted
from confide.protect.seam.gathering import ByRow, Gathering
from confide.protect.seam.mechanism import Mechanism


@dataclass(eq=False)
class Stage:
    """Where one step stands. `looks`: what it sees in the next pass; `made`: what it does to a batch, once known, and
    `plain`: to original values that no random step altered (a coarsening alone)."""

    at: int
    step: Mechanism
    draws: Draws
    fitted: Fitted | None = None
    looks: Any = None
    made: ByRow | None = None
    plain: Coarsened | None = None
    left: int | None = None

    @property
    def reads(self) -> set[str]:
        return {*self.step.variables, *self.step.needs}

    def carry(self, base: Records, current: Records) -> tuple[Records, Records]:
        """Both files after the step."""
        assert self.made is not None
        applied = self.made.apply(base, current, self.draws)
        current = current.replaced(applied.columns)
        if self.plain is not None:
            base = base.replaced([self.plain.image(base[self.step.variables[0]])])
        if applied.rows is not None:
            return base.take(applied.rows), current.take(applied.rows)
        return base, current


@dataclass(frozen=True, eq=False)
class Look:
    """One pass over the file: `stages` that look at it, and those that change what these see; `names`: of the variables
    that all of them read; `units`: of all rows of the file, where steps ask for them."""

    codebook: Codebook
    names: tuple[str, ...]
    stages: tuple[Stage, ...]
    units: UnitsOfRows | None = None

    def at(self, first: int, batch: pl.DataFrame) -> Iterator[tuple[int, Any]]:
        """What each step that looks takes from a batch, with its number."""
        base = current = encoded(self.codebook, batch, first, self.names, self.units)
        for stage in self.stages:
            if stage.made is None:
                yield stage.at, stage.looks.picked(base, current)
            else:
                base, current = stage.carry(base, current)


def encoded(
    codebook: Codebook, batch: pl.DataFrame, first: int, names: Sequence[str], units: UnitsOfRows | None
) -> Records:  # fmt: skip
    """A batch in the codes of the file, with the units of its rows."""
    made = codebook.encode(batch, first, names)
    return made if units is None else Records(made.values(), made.n, made.rows, units[made.rows], made.file)


class Passes:
    """A plan on its way over a scan. `read`: is called before each pass with what it is for, and gives what hears of
    rows that were read."""

    def __init__(
        self, steps: Sequence[Mechanism], data: Scan, codebook: Codebook, origin: Origin, rows: int,
        read: Callable[[str], Callable[[int], None]], units: UnitsOfRows | None = None,
    ) -> None:  # fmt: skip
        self.data, self.codebook, self.rows, self.read, self.units = data, codebook, rows, read, units
        self.ways: dict[str, Way] = fit_coarsenings(steps, codebook.margins())
        self.stages: list[Stage] = []
        seen: dict[str, int] = {}
        for i, step in enumerate(steps):
            occurrence = seen.get(step.stream, 0)
            if step.role != "coarsen":
                seen[step.stream] = occurrence + 1
            draws: Draws = origin.draws(step.stream, occurrence)
            self.stages.append(Stage(i, step, PerUnit(draws, units) if step.per_unit and units is not None else draws))
        self._settle_coarsenings(steps)

    def _settle_coarsenings(self, steps: Sequence[Mechanism]) -> None:
        """What deterministic steps make of batches; those that meet altered numbers must see them first."""
        forms: dict[str, Column] = dict(self.codebook.columns)
        self.met: list[dict[str, Column]] = []
        altered: set[str] = set()
        for stage in self.stages:
            self.met.append({v: forms[v] for v in stage.reads if v not in altered})
            if stage.step.role != "coarsen":
                altered |= set(stage.step.variables)
                continue
            (v,) = stage.step.variables
            coarsening: Coarsening = fitted_coarsening(self.ways[v], steps, stage.at, v)
            image = coarsening.image(forms[v])
            stage.plain = Coarsened(coarsening, image)
            if v in altered and forms[v].kind == "numeric" and image.kind == "categorical":
                stage.looks = Extremes(coarsening, forms[v])
            else:
                stage.made = stage.plain
            forms[v] = image

    def run(self, kept: Remembered | None = None) -> Compiled:
        """Carry all stages out, up to the last pass. `kept`: what passes showed before a process was killed."""
        number = count()
        while any(s.made is None for s in self.stages):
            looking = [s for s in self.stages if s.made is None and self._free(s) and self._looks(s)]
            if looking:
                self._looked(looking, f"pass-{next(number)}", kept)
            for stage in looking:
                self._seen(stage)
        fitted = tuple(s.fitted for s in self.stages)
        return Compiled(tuple(s.step for s in self.stages), self.ways, fitted)

    def _free(self, stage: Stage) -> bool:
        """Whether all is known of the steps before it that change what it reads."""
        before = self.stages[: stage.at]
        return all(s.made is not None or not (s.step.selects or stage.reads & set(s.step.variables)) for s in before)

    def _left(self, stage: Stage) -> int:
        """How many records there are where a step stands."""
        return self.left(stage.at)

    def left(self, before: int) -> int:
        """How many records there are after so many steps."""
        found = [s.left for s in self.stages[:before] if s.left is not None]
        return found[-1] if found else self.data.height

    def _looks(self, stage: Stage) -> bool:
        """Whether a step must see the file again; what it needs of counts that are known, it learns at once."""
        if stage.looks is not None:
            return True
        step, n = stage.step, self._left(stage)
        if step.per_unit and step.by_heads:
            stage.looks = Heads(step, self.data.height)
            return True
        if step.learns_from is not None:
            stage.looks = SomeRecords(step, step.learns_from, n)
            return True
        if (known := self._known(stage)) is not None:
            self._learn(stage, known, known)
            return stage.made is None
        stage.looks = JointCounts(step.tallied)
        return True

    def _known(self, stage: Stage) -> Margins | None:
        """What the first pass says of all that a step learns from; None where it says too little."""
        names, met = stage.step.tallied, self.met[stage.at]
        n = self._left(stage)
        if not names:
            return Margins([], {}, n)
        if n != self.data.height or not all(v in met for v in names) or not (stage.step.margins or len(names) == 1):
            return None
        return counted_apart([met[v] for v in names], [self.codebook.counts[v] for v in names], n)

    def _fitted(self, stage: Stage, original: Records, current: Records) -> Fitted:
        after = {v: self.ways[v].after for v in stage.step.variables if self.ways[v].random == stage.at}
        found = stage.step.fit(original, current, after)
        if not isinstance(found, Fitted):
            raise InputError(unlike(stage.step, found, Fitted))
        return found

    def _learn(self, stage: Stage, original: Records, current: Records) -> None:
        stage.fitted = self._fitted(stage, original, current)
        stage.looks = stage.fitted.gathering(stage.draws, self._left(stage))
        if stage.looks is None:
            stage.made = stage.fitted

    def _seen(self, stage: Stage) -> None:
        looks, stage.looks = stage.looks, None
        if isinstance(looks, Gathering):
            stage.made, stage.left = looks.done(), looks.left
        elif isinstance(looks, Heads):
            heads = looks.found()
            stage.fitted = self._fitted(stage, heads, heads)
            stage.made, stage.left = looks.applied(stage.fitted, heads, stage.draws)
        elif isinstance(looks, SomeRecords):
            self._learn(stage, *looks.found())
        else:
            found = looks.found()
            self._learn(stage, found, found)

    def _looked(self, looking: Sequence[Stage], name: str, kept: Remembered | None) -> None:
        """Let some steps look at the file, or give them what they saw before. What was learnt goes along, since what is
        gathered may refer to it."""
        held = None if kept is None else kept.get(name)
        if held is None:
            self._pass(looking)
            if kept is not None:
                kept.put(name, [(s.fitted, s.looks) for s in looking])
            return
        for stage, (fitted, looks) in zip(looking, held, strict=True):
            stage.fitted, stage.looks = fitted, looks
        self.read("")(self.data.height)

    def _pass(self, looking: Sequence[Stage]) -> None:
        """Let some steps look at the file, as those before them have made it."""
        look = self._look(looking)
        for first, batch in self._batches(look.names, "looking at " + ", ".join(s.step.where for s in looking)):
            for at, picked in look.at(first, batch):
                self.stages[at].looks.add(picked)

    def _look(self, looking: Sequence[Stage]) -> Look:
        """What a pass for some steps asks for."""
        wanted: set[str] = set()
        there: list[Stage] = []
        for stage in reversed(self.stages[: looking[-1].at + 1]):
            change = stage.made is not None and (stage.step.selects or wanted & set(stage.step.variables))
            if stage in looking or change:
                there.insert(0, stage)
                wanted |= stage.reads
        return Look(self.codebook, tuple(v for v in self.codebook.columns if v in wanted), tuple(there), self.units)

    def _batches(self, names: Sequence[str], what: str) -> Iterator[tuple[int, pl.DataFrame]]:
        if names:
            yield from self.data.batches(names, self.rows, self.read(what))
            return
        for first in range(0, self.data.height, self.rows):  # numbers of rows are all that is looked at
            yield first, pl.DataFrame({"": np.empty(min(self.rows, self.data.height - first), dtype=np.int8)})

    def batches(
        self, columns: Sequence[str], what: str, since: int = 0
    ) -> Iterator[tuple[int, pl.DataFrame, Records]]:  # fmt: skip
        """The last pass: the number of each batch's first row, the batch, and its records after all steps; from the row
        `since` on."""
        names = list(self.codebook.columns)
        wanted = list(dict.fromkeys((*columns, *names)))
        for first, batch in self.data.batches(wanted, self.rows, self.read(what), since):
            base = current = encoded(self.codebook, batch, first, names, self.units)
            for stage in self.stages:
                base, current = stage.carry(base, current)
            yield first, batch, current

    @property
    def models(self) -> dict[str, Column]:
        """Each altered variable in its last form: type and categories of the whole release."""
        out: dict[str, Column] = {}
        for stage in self.stages:
            for v in stage.step.variables:
                out.setdefault(v, self.codebook.columns[v])
            if isinstance(stage.made, Coarsened):
                out[stage.step.variables[0]] = stage.made.model
        return out
