"""The first stage: the files of one attack as arrays, rows that are alike counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column, Records, alike
from confide.frames.distinct import Distinct
from confide.frames.tally import Tally
from confide.protect.compiled import Compiled
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.fitted import Fitted, Sampler, View
from confide.protect.seam.learning import drawn

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Case:
    """`released` and `original` hold the same variables: all rows, distinct ones, or (of the release) those of a part.

    `count`, `original_count`: how many rows each row stands for, None for one. `tables`: what was counted in the whole
    release, `values`: in the original, of variables whose truth may differ from what is known or released. `blind`: the
    plan is not known, so every value may have been altered. `unit`: which rows of the file that beliefs are fitted on
    are of one unit, None where each is one; `grouped`: whether units are asked about. `seen`: unknown variables that
    count in any case, at whatever level others do: what is guessed next. `remembered`: what was made of the whole
    release once; `sampler`: what finds records of it, None where `released` are all of them, row by row. `room`: bytes
    that fitting beliefs may take, None where nobody says.
    """

    intruder: Intruder
    compiled: Compiled
    original: Records
    released: Records
    believed: Mapping[int, Fitted]
    blind: bool = False
    count: F64 | None = None
    original_count: F64 | None = None
    tables: dict[tuple[str, ...], Tally] = field(default_factory=dict)
    unit: UnitRows | None = None
    grouped: bool = False
    seen: tuple[str, ...] = ()
    values: dict[str, Tally] = field(default_factory=dict)
    remembered: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    sampler: Sampler | None = None
    room: int | None = None

    def __repr__(self) -> str:
        return (
            f"Case: {self.original.n:,} original and {self.released.n:,} released rows, {len(self.released)} variables"
        )

    def held(self, records: Records, weight: F64 | None) -> Held:
        """Which of the rows that beliefs are fitted on are held out when models are chosen, by what `records` has of
        them; whole units, where these have several rows. `weight`: how many rows each stands for."""
        return Held.of(records, weight) if self.unit is None else self.unit.held(records)

    def altered(self, v: str) -> bool:
        """Whether a released value may differ at random from the true one."""
        return self.blind or self.compiled.way(v).random is not None

    def only_modelled(self, v: str) -> bool:
        """Whether the plan says how the truth differs from a value that it releases as it is."""
        at = self.compiled.way(v).random
        return at is not None and self.compiled.fitted[at].models_truth

    @property
    def told_missing(self) -> frozenset[str]:
        """Variables of which missing is a value: it is said to be known, and what altered them can read it."""
        c, b, a = self.intruder.levels
        level = "exact" if "exact" in (c, b, a) else c
        deaf = {
            v
            for i, step in enumerate(self.compiled.steps)
            if (fitted := self.compiled.fitted[i]) is not None and not fitted.reads_missing(level)
            for v in step.variables
        }
        return frozenset(self.intruder.told_missing) - deaf

    def view(self, known: tuple[str, ...] = ()) -> View:
        """What evidence may read, for targets of whom these variables are known."""
        return replace(
            self.compiled.view(self.released), known=frozenset(known), guesses=self.intruder.guesses,
            as_printed=self.intruder.as_printed, count=self.count, tables=self.tables,
            told_missing=frozenset(self.intruder.told_missing), remembered=self.remembered, sampler=self.sampler,
        )  # fmt: skip

    def codebook(self, v: str) -> Column:
        """The distinct released values of a variable: what codes refer to, in every part of the release."""
        if self.released[v].kind == "categorical":
            return self.released[v].codebook()
        return self.view().counted((v,)).records[v].codebook()

    def originals(self, v: str) -> Tally:
        """The distinct values that a variable has in the original file, each with how many rows have it."""
        if v not in self.values:
            mine = self.original.select([v])
            found = Distinct.rows([mine[v].values], mine.n, self.original_count)
            self.values[v] = Tally(Records([mine[v].take(found.first)], count=found.count), found.count)
        return self.values[v]


def needs_whole(case: Case) -> str:
    """Why evidence must see all rows of the release; empty where counts of it, and some of its rows, are enough."""
    return why_together(case.intruder, case.compiled, case.believed)


def why_together(intruder: Intruder, compiled: Compiled, believed: Mapping[int, Fitted]) -> str:
    """The same of a plan, before rows are read; `believed`: steps as an "average" intruder imagines them."""
    for i, level in levels_asked(intruder, compiled):
        fitted = believed.get(i, compiled.fitted[i]) if level == "average" else compiled.fitted[i]
        used = "exact" if "exact" in intruder.levels and level != "ignore" else level
        if fitted is not None and (why := fitted.whole_file(used, intruder.guesses)):
            return f"{type(compiled.steps[i]).__name__} {why}"
    return ""


def levels_asked(intruder: Intruder, compiled: Compiled) -> Iterator[tuple[int, str]]:
    """Steps that alter at random, with each level at which they may be asked: of unknown variables that count in any
    case as "sdl" where others are left out. A naive intruder asks none."""
    c, b, a = intruder.levels
    if c != "naive":
        levels = dict.fromkeys((c, "sdl" if b == "ignore" else b, a))
        yield from ((i, level) for i, s in enumerate(compiled.steps) if s.role == "random" for level in levels)


def spread_of(case: Case, v: str) -> float:
    """Standard deviation of a released number in the whole file, 1 where it has none."""
    view = case.view()

    def spread() -> float:
        file = view.counted((v,))
        usable = file.records[v].usable
        values, count = file.records[v].values[usable], file.counts[usable]
        if not len(values):
            return 1.0
        mean = (count * values).sum() / count.sum()
        return float(np.sqrt((count * (values - mean) ** 2).sum() / count.sum())) or 1.0

    found: float = view.once(("spread", v), spread)
    return found


def set_aside(case: Case) -> Case:
    """The setting without rows: what evidence for any part of the release is made from."""
    compiled = replace(
        case.compiled, fitted=tuple(None if f is None else f.lean() for f in case.compiled.fitted), memory={}
    )
    nobody, one = np.zeros(0, dtype=np.int64), np.arange(min(1, case.original.n))
    tables = {names: Tally(tally.records, tally.count) for names, tally in case.tables.items()}
    values = {v: case.originals(v) for v in case.original if v in case.intruder.errors or case.only_modelled(v)}
    return replace(
        case, compiled=compiled, original=case.original.take(one), released=case.released.take(nobody),
        unit=None if case.unit is None else case.unit.lean(),
        believed={i: f.lean() for i, f in case.believed.items()}, count=None, original_count=None, tables=tables,
        values=values, sampler=_not_here,
    )  # fmt: skip


def _not_here(names: Sequence[str], many: int, stream: str) -> Records:  # noqa: ARG001 - as `Sampler` has it
    raise RuntimeError("A part of a file was asked for records of all of it; ask for them within View.once.")


@dataclass(frozen=True, eq=False)
class Merged:
    """A case on distinct rows, and where the rows of both files are among them."""

    case: Case
    original: Tally
    released: Tally


def several_numbers(case: Case) -> bool:
    """Whether several altered numbers are known, and anything is believed of them: beliefs in their combinations are
    fitted row by row."""
    if case.intruder.levels[0] == "naive":
        return False
    return sum(case.altered(v) and case.original[v].kind == "numeric" for v in case.intruder.knows) > 1


def merged(case: Case, may: bool = True) -> Merged:
    """Rows of both files that are alike, counted once, where one may and evidence can be had from counts; else all.

    One may not where there are other copies, whose rows would have to be alike too.
    """
    if not may or several_numbers(case) or needs_whole(case):
        return Merged(case, Tally(case.original), Tally(case.released))
    original, released = Tally.merged(case.original), Tally.merged(case.released)
    fewer = replace(
        case, original=original.records, original_count=original.count, released=released.records, count=released.count,
        sampler=Sampled(case.released, partial(drawn, case.released.n)),
    )  # fmt: skip
    return Merged(fewer, original, released)


def in_play(
    intruder: Intruder, compiled: Compiled, public: Sequence[str], seen: Sequence[str] = (), unit: str | None = None
) -> list[str]:
    """The variables, of those that both files have, which an attack reads; never the one that numbers units."""
    needed = [*intruder.knows, *intruder.between, *seen]
    needed += [v for v, w in compiled.ways.items() if w.random is not None]
    needed += [v for step in compiled.steps if step.role == "random" for v in step.needs]
    if "exact" in intruder.levels:
        needed += [v for v in public if v != unit]
    return [v for v in dict.fromkeys(needed) if v in public]


def make_case(
    intruder: Intruder, release: Release, seen: tuple[str, ...] = (), count: F64 | None = None,
    places: Callable[[int, str], I64] | None = None,
) -> Case:  # fmt: skip
    """Original and released files as arrays, with the steps an "average" intruder believes in; `count`: how many rows
    of the release each of its rows stands for (None: one), `places`: where `Sampled` finds them."""
    compiled = release.compiled or Compiled((), {}, ())
    kept = [v for v in release.public_variables if v in release.original.columns]
    names = in_play(intruder, compiled, kept, seen, unit_of(intruder, release))
    lost = [v for v in (*intruder.knows, *intruder.between) if v not in names]
    if lost:
        raise InputError(f'The original file has no column "{lost[0]}", so nobody can be said to know it.')
    original, released = release.encoded(names, numeric=intruder.between)
    believed = believed_steps(intruder, compiled, original, released, count, places)
    sampler = None if places is None else Sampled(released, places)
    return Case(
        intruder, compiled, original, released, believed, blind=release.plan is None, seen=seen, sampler=sampler
    )


@dataclass(frozen=True, eq=False)
class Sampled:
    """Records of the whole release by their places among these; `places`: of so many, by a step's key."""

    records: Records
    places: Callable[[int, str], I64]

    def __call__(self, names: Sequence[str], many: int, stream: str) -> Records:
        """See `View.sampled`."""
        found = self.records.select(names).take(self.places(many, stream))
        return Records(found.values(), n=found.n)


def _remembered(compiled: Compiled, i: int, belief: Any, seen: Records, after: Mapping[str, Chain]) -> Fitted:
    """A believed step fitted to a release, once for many attacks."""
    read = seen.select((*belief.variables, *(v for v in belief.needs if v in seen)))
    last = compiled.memory.get(i)
    if last is None or last[0] != belief or not alike(last[1], read):
        last = compiled.memory[i] = (belief, read, belief.fit(seen, seen, after))
    found: Fitted = last[2]
    return found


def repeated(file: Records, names: Sequence[str], count: F64 | None) -> Records:
    """All rows of a file of distinct ones, in some variables, for a method to be fitted to; the file itself where each
    row stands for one."""
    if count is None:
        return file
    rows = np.repeat(np.arange(file.n), count.astype(np.int64))
    mine = file.select(v for v in dict.fromkeys(names) if v in file)
    return Records((c.take(rows) for c in mine.values()), n=len(rows))


def believed_steps(
    intruder: Intruder, compiled: Compiled, original: Records, released: Records, count: F64 | None = None,
    places: Callable[[int, str], I64] | None = None,
) -> dict[int, Fitted]:  # fmt: skip
    """Each random step as an "average" intruder imagines it, fitted to the release; `count`: how many rows each of its
    rows stands for (None: one), `places`: where those are among them that a step learns from."""
    if "average" not in intruder.levels:
        return {}
    stated = {v: step for step in intruder.believes for v in step.variables}
    out: dict[int, Fitted] = {}
    for i, step in enumerate(compiled.steps):
        if step.role != "random":
            continue
        mine = {id(stated[v]): stated[v] for v in step.variables if v in stated}
        if len(mine) > 1:
            raise InputError(
                f"believes: {', '.join(step.variables)} were altered by one step; believe in one step for them."
            )
        belief = (
            next(iter(mine.values())) if mine else step.guess(repeated(released, (*step.variables, *step.needs), count))
        )
        if set(belief.variables) != set(step.variables):
            raise InputError(
                f"believes: the step must cover exactly {', '.join(step.variables)}, which were altered together."
            )
        after = {v: compiled.way(v).after for v in step.variables}
        met = {v: compiled.way(v).before.image(original[v]) for v in released}
        visible = {v: released[v] if v in step.needs or released[v].kind == met[v].kind else met[v] for v in released}
        seen = Records([replace(c, special=met[c.name].special) for c in visible.values()], n=released.n)
        names = [v for v in dict.fromkeys((*belief.variables, *belief.needs)) if v in seen]
        if belief.learns_from is not None and places is not None:
            read = Sampled(seen, places)(names, belief.learns_from, belief.stream)
        else:
            read = repeated(seen, names, count)
        out[i] = _remembered(compiled, i, belief, read, after)
    unknown = [v for v in stated if compiled.way(v).random is None]
    if unknown:
        raise InputError(f'believes: the plan does not alter "{unknown[0]}" at random.')
    return out
