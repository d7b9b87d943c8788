"""A plan met with data: every step fitted, every variable's way through the plan known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from confide.core.errors import InputError, Problems, raise_all
from confide.core.random.draws import Draws, PerUnit
from confide.core.random.origin import Origin
from confide.frames.columns import I64, Column, Kind, Records
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.fitted import Fitted, View
from confide.protect.seam.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Way:
    """One variable's way: coarsenings before its random step, the step's position (or None), coarsenings after."""

    before: Chain = field(default_factory=Chain)
    random: int | None = None
    after: Chain = field(default_factory=Chain)


@dataclass(frozen=True, eq=False)
class Compiled:
    """`steps`: the plan's parts in order; `fitted`: what each learnt (None for one that only coarsens).

    `nobody`: why released rows belong to nobody, empty where they have owners. `memory`: by position, what somebody
    last believed a step to be, the file it was fitted to, and the result.
    """

    steps: tuple[Mechanism, ...]
    ways: Mapping[str, Way]
    fitted: tuple[Any, ...]
    nobody: str = ""
    memory: dict[int, tuple[Mechanism, Records, Any]] = field(default_factory=dict)

    def way(self, variable: str) -> Way:
        return self.ways.get(variable, Way())

    def view(self, released: Records) -> View:
        """What evidence may read."""
        return View(
            released,
            {v: w.before for v, w in self.ways.items() if w.before.steps},
            {v: w.after for v, w in self.ways.items() if w.after.steps},
            self.sorts,
        )

    @cached_property
    def sorts(self) -> dict[str, str]:
        """What became of each altered variable: altered from its own value, or synthetic."""
        out: dict[str, str] = {}
        for i, step in enumerate(self.steps):
            mine = [v for v in step.variables if self.way(v).random == i]
            out |= dict.fromkeys(mine, step.sort(out))
        return out

    def lean(self) -> Compiled:
        """The same without what only making a release needs."""
        return replace(self, fitted=tuple(f if f is None else f.lean() for f in self.fitted), memory={})

    def released_form(self, column: Column) -> Column:
        """A true column as it would look released if its random step did nothing."""
        way = self.way(column.name)
        return way.after.image(way.before.image(column))


def check_steps(steps: Sequence[Mechanism]) -> list[str]:
    """What is wrong with the order and the combination of steps, in sentences."""
    problems: list[str] = []
    random_at: dict[str, int] = {}
    for i, step in enumerate(steps):
        for v in step.variables:
            if step.role == "random":
                if v in random_at:
                    problems.append(
                        f'"{v}" is altered at random twice, by {_named(steps[random_at[v]])} and {_named(step)}: the '
                        "second would hide what the first did from any honest risk measure. Keep one of them."
                    )
                random_at.setdefault(v, i)
        problems += step.beside(steps)
        for v in step.needs:
            later = [s for s in steps[i + 1 :] if v in s.variables]
            if later and step.role == "random":
                problems.append(
                    f'{_named(step)} reads "{v}", which {_named(later[0])} changes afterwards, so what it read would '
                    f"not be in the release. Move {_named(later[0])} before it."
                )
    return problems


def _named(step: Mechanism) -> str:
    return f"{type(step).__name__}({', '.join(step.variables)})"


def unlike(step: Mechanism, fitted: object, wanted: type) -> str:
    return (
        f'{type(step).__name__}: a step of role "{step.role}" must give, by fit, what extends the class '
        f"{wanted.__name__} of confide.extend; {type(fitted).__name__} does not."
    )


def wanted_kinds(steps: Sequence[Mechanism], named: Mapping[str, Kind]) -> tuple[dict[str, Kind], list[str]]:
    """The kind in which each variable enters the plan: named by the user, or required by its first step."""
    kinds: dict[str, Kind] = dict(named)
    problems = []
    for step in steps:
        for v, kind in step.kinds().items():
            if v in named and named[v] != kind and all(v not in s.variables for s in steps[: steps.index(step)]):
                problems.append(f'{_named(step)} needs "{v}" to be {kind}, but the plan names it {named[v]}.')
            kinds.setdefault(v, kind)
    return kinds, problems


class Images:
    """What coarsenings make of columns, each made once while a plan is carried out."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], tuple[Coarsening, Column, Column]] = {}

    def of(self, coarsening: Coarsening, column: Column) -> Column:
        """The image of this very column."""
        key = id(coarsening), id(column)  # both are held here, so that nothing else can have their identity
        if key not in self._made:
            self._made[key] = coarsening, column, coarsening.image(column)
        return self._made[key][2]


def fit_coarsenings(
    steps: Sequence[Mechanism], original: Records, images: Images | None = None
) -> dict[str, Way]:  # fmt: skip
    """Every variable's way, its coarsenings fitted on the values as they come; `images` keeps what those became."""
    images = images or Images()
    ways: dict[str, Way] = {}
    problems: list[str] = []
    for v in dict.fromkeys(v for s in steps for v in s.variables):
        column = original[v]
        before: list[Coarsening] = []
        after: list[Coarsening] = []
        at: int | None = None
        for i, step in enumerate(steps):
            if v not in step.variables:
                continue
            kind = step.kinds().get(v)
            if kind is not None and column.kind != kind:
                problems.append(
                    f'{_named(step)} needs "{v}" to be {kind}, but it is {column.kind} at that point'
                    + (" (an earlier step made categories)." if before or after else ".")
                )
                break
            if step.role == "random":
                at = i
                continue
            try:
                fitted = step.fit(original, original.replaced([column]), {})
                if not isinstance(fitted, Coarsening):
                    raise InputError(unlike(step, fitted, Coarsening))
                column = images.of(fitted, column)
            except InputError as e:
                problems.extend(e.problems)
                break
            (before if at is None else after).append(fitted)
        if at is None:
            before, after = [], before
        ways[v] = Way(Chain(tuple(before)), at, Chain(tuple(after)))
    raise_all(problems)
    return ways


def _all_told(steps: Sequence[Mechanism], original: Records, images: Images) -> dict[str, Way]:
    """Every variable's way; where a coarsening is wrong, what is wrong with other variables' steps is told with it."""
    problems, ways = Problems(), {}
    with problems:
        ways = fit_coarsenings(steps, original, images)
    if problems.found:
        coarser = {v for s in steps if s.role == "coarsen" for v in s.variables}
        for step in steps:
            if step.role != "coarsen" and not coarser & {*step.variables, *step.needs}:
                with problems:
                    step.fit(original, original, dict.fromkeys(step.variables, Chain()))
        problems.tell()
    return ways


def run(
    steps: Sequence[Mechanism], original: Records, origin: Origin | None, copy: int | None = None
) -> tuple[Compiled, Records, I64]:
    """Fit and apply every step in order. With origin None (a release made elsewhere) nothing random is drawn.

    A step is fitted on original values, in the form that coarsenings before it have given them. Each of several copies
    has draws of its own, but all select the same rows. Returns the compiled plan, the records after all steps, and the
    original row of each.
    """
    images = Images()
    ways = _all_told(steps, original, images)
    current, base = original, original
    fitted: list[Any] = []
    seen: dict[str, int] = {}
    nobody, problems = "", Problems()
    for i, step in enumerate(steps):
        lost = [v for v in (*step.variables, *step.needs) if v not in current]
        if lost:
            raise InputError(f'{_named(step)} comes too late for "{lost[0]}". {nobody}')
        if step.role == "coarsen":
            fitted.append(None)
            (v,) = step.variables
            coarsening = fitted_coarsening(ways[v], steps, i, v)
            current = current.replaced([images.of(coarsening, current[v])])
            base = base.replaced([images.of(coarsening, base[v])])
            continue
        after = {v: ways[v].after for v in step.variables if ways[v].random == i}
        part, before = None, len(problems.found)
        with problems:
            part = step.fit(base, current, after)
        if len(problems.found) > before:  # steps that follow may be wrong too, and are told of together
            continue
        if not isinstance(part, Fitted):
            raise InputError(unlike(step, part, Fitted))
        fitted.append(part)
        nobody = nobody or part.nobody
        occurrence = seen.get(step.stream, 0)
        seen[step.stream] = occurrence + 1
        if origin is None or problems.found:
            continue
        key = step.stream if step.role == "select" else of_copy(step.stream, copy)
        drawn: Draws = origin.draws(key, occurrence)
        if step.per_unit and original.units is not None:
            drawn = PerUnit(drawn, original.units)
        made = part.apply(base, current, drawn)
        if made.nobody:
            assert made.rows is not None
            nobody, current = made.nobody, Records(made.columns, n=len(made.rows), rows=made.rows)
            continue
        current = current.replaced(made.columns)
        if made.rows is not None:
            current, base = current.take(made.rows), base.take(made.rows)
    problems.tell()
    return Compiled(tuple(steps), ways, tuple(fitted), nobody), current, current.rows


def fitted_coarsening(way: Way, steps: Sequence[Mechanism], i: int, variable: str) -> Coarsening:
    """The fitted coarsening that stands for step i of the plan."""
    mine = [k for k, s in enumerate(steps) if variable in s.variables and s.role == "coarsen"]
    chain = (*way.before.steps, *way.after.steps)
    return chain[mine.index(i)]


def of_copy(key: str, copy: int | None) -> str:
    """The key of a stream, for one of several copies."""
    return key if copy is None else f"copy {copy}|{key}"
