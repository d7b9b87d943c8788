"""The variables of a table: their levels, groupings of levels, structural zeros; checked once, at the door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.tables.checks import text_of
from confide.tables.layout import Ints, Layout, Part

Groups = Mapping[str, Sequence[object]]
Hierarchies = Mapping[str, Mapping[str, Groups]]
Margins = str | Sequence[Sequence[str]]


RESERVED = frozenset(
    "cell count entry given lower margin n people proven published risk tag upper".split()  # noqa: SIM905
)


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a variable: its own levels, or a coarser grouping. `code`: the group of each level."""

    name: str
    levels: tuple[str, ...]
    code: Ints


@dataclass(frozen=True, eq=False)
class Axes:
    """Variables in order, each with its readings from fine to coarse; the first reading is the variable itself."""

    readings: tuple[tuple[Reading, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(r[0].name for r in self.readings)

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        return tuple(r[0].levels for r in self.readings)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(v) for v in self.levels)

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def find(self, name: str) -> tuple[int, Reading]:
        """The variable (by position) and the reading of this name."""
        for i, readings in enumerate(self.readings):
            for r in readings:
                if r.name == name:
                    return i, r
        known = [r.name for readings in self.readings for r in readings]
        raise InputError(f'The table has no variable "{name}".{did_you_mean(name, known)}')

    def part(self, names: Sequence[str]) -> Part:
        """The margin over some variables or groupings; () is the total."""
        chosen = self._chosen(names)
        entry = np.zeros(self.shape, dtype=np.int64)
        for axis, reading in enumerate(chosen):
            if reading is not None:
                along = [1] * len(self.shape)
                along[axis] = -1
                entry = entry * len(reading.levels) + reading.code.reshape(along)
        used = [r for r in chosen if r is not None]
        levels = tuple(r.levels for r in used)
        size = int(np.prod([len(v) for v in levels], dtype=np.int64))
        return Part(tuple(r.name for r in used), entry.ravel(), size, levels)

    def _chosen(self, names: Sequence[str]) -> list[Reading | None]:
        chosen: list[Reading | None] = [None] * len(self.readings)
        for name in names:
            i, reading = self.find(name)
            if chosen[i] is not None:
                raise InputError(
                    f'A margin names "{name}" and "{chosen[i].name}", two readings of one variable; '  # type: ignore[union-attr]
                    "list them as two margins."
                )
            chosen[i] = reading
        return chosen

    def layout(self, margins: Margins, cells: bool) -> Layout:
        """The parts that are published."""
        whole = self.names
        wanted = [tuple(m) for m in self._margins(margins)]
        ordered = {tuple(r.name for r in self._chosen(m) if r is not None): None for m in wanted}
        names = [n for n in ordered if n != whole]
        if cells or whole in ordered:
            names.insert(0, whole)
        if not names:
            raise InputError('Nothing is published: cells=False and no margins. Say margins="all" or list some.')
        return Layout(self.cells, tuple(self.part(n) for n in names))

    def _margins(self, margins: Margins) -> list[Sequence[str]]:
        if isinstance(margins, str):
            if margins == "none":
                return []
            if margins == "total":
                return [()]
            if margins == "all":
                choices = [[(r.name,) for r in readings] + [()] for readings in self.readings]
                return [m for m in (sum(c, ()) for c in product(*choices)) if m != self.names]
            raise InputError(
                f'margins must be "none", "total", "all" or a list of lists of variables, not "{margins}".'
                + (f' For the margin of "{margins}" write margins=[["{margins}"]].' if margins in self.names else "")
            )
        lists = (list, tuple, set, frozenset)
        if not isinstance(margins, lists) or not all(isinstance(m, lists) for m in margins):
            raise InputError(
                'margins is "none", "total", "all", or a list of lists of variables, as [["sex"], []]; [] is the total.'
            )
        return list(margins)


def axes_of(shape: Sequence[int], names: Any, levels: Any, hierarchies: Hierarchies | None) -> Axes:
    """Check what a user says of a table's variables, and fill in what was left out."""
    names = [f"v{i + 1}" for i in range(len(shape))] if names is None else _texts(names, "names")
    if len(names) != len(shape):
        raise InputError(f"The array has {len(shape)} dimensions, but there are {len(names)} names.")
    taken = [n for n in names if n in RESERVED]
    raise_all(f'A variable cannot be called "{n}", which is a column of the results; rename it.' for n in taken)
    twice = [n for n, k in Counter(names).items() if k > 1]
    raise_all(f'The name "{n}" is given to more than one variable.' for n in twice)
    if levels is None:
        levels = [[str(k) for k in range(size)] for size in shape]
    if isinstance(levels, (str, Mapping)) or not isinstance(levels, Iterable):
        raise InputError('levels is a list of lists, one per variable, as [["m", "f"], ["young", "old"]].')
    levels = list(levels)
    if any(isinstance(v, str) for v in levels):
        raise InputError('levels is a list of lists, one per variable, as [["m", "f"], ["young", "old"]].')
    if len(levels) != len(shape):
        raise InputError(f"The array has {len(shape)} dimensions, but there are levels for {len(levels)}.")
    levels = [_texts(v, f'levels of "{n}"') for n, v in zip(names, levels, strict=True)]
    wrong = []
    for n, v, size in zip(names, levels, shape, strict=True):
        if len(v) != size:
            wrong.append(f'"{n}" has {size} entries in the array, but {len(v)} levels are given.')
        elif len(set(v)) < len(v):
            wrong.append(f'Two levels of "{n}" have the same label.')
    raise_all(wrong)
    own = [Reading(n, tuple(v), np.arange(len(v))) for n, v in zip(names, levels, strict=True)]
    found = Axes(tuple((r, *_groupings(r, hierarchies or {})) for r in _known(own, hierarchies)))
    every = Counter(r.name for readings in found.readings for r in readings)
    raise_all(f'The name "{n}" stands for more than one variable or grouping.' for n, k in every.items() if k > 1)
    return found


def _known(own: list[Reading], hierarchies: Hierarchies | None) -> list[Reading]:
    names = [r.name for r in own]
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        raise InputError('hierarchies is a dict, as {"area": {"region": {"north": ["a", "b"], "south": ["c"]}}}.')
    lost = [h for h in hierarchies or {} if h not in names]
    raise_all(
        f'There is a hierarchy for "{h}", which is no variable of the table.{did_you_mean(h, names)}' for h in lost
    )
    return own


def _groupings(variable: Reading, hierarchies: Hierarchies) -> list[Reading]:
    found: list[Reading] = []
    stated = hierarchies.get(variable.name, {})
    if not isinstance(stated, Mapping):
        raise InputError(f'The hierarchy of "{variable.name}" is a dict of groupings, each a dict of lists.')
    for name, groups in stated.items():
        found.append(_grouping(variable, str(name), groups))
    found.sort(key=lambda r: -len(r.levels))
    for fine, coarse in pairwise(found):
        pairs = {(int(a), int(b)) for a, b in zip(fine.code, coarse.code, strict=True)}
        if len(pairs) > len(fine.levels):
            raise InputError(
                f'The groupings "{fine.name}" and "{coarse.name}" of "{variable.name}" overlap: a group of '
                f'"{fine.name}" lies in more than one of "{coarse.name}". Levels of a hierarchy must nest.'
            )
    return found


def _grouping(variable: Reading, name: str, groups: Groups) -> Reading:
    if not isinstance(groups, Mapping):
        raise InputError(f'The grouping "{name}" of "{variable.name}" is a dict of lists, as {{"north": ["a", "b"]}}.')
    code = np.full(len(variable.levels), -1, dtype=np.int64)
    place = {level: i for i, level in enumerate(variable.levels)}
    wrong = []
    for g, (group, members) in enumerate(groups.items()):
        if not members:
            wrong.append(f'The group "{group}" of "{name}" has no levels; leave it out.')
        for member in _texts(members or [], f'members of "{group}"'):
            at = place.get(member)
            if at is None:
                hint = did_you_mean(member, variable.levels)
                wrong.append(f'The group "{group}" of "{name}" lists "{member}", no level of "{variable.name}".{hint}')
            elif code[at] >= 0:
                wrong.append(f'The groups of "{name}" overlap: a level of "{variable.name}" is in more than one.')
            else:
                code[at] = g
    if not wrong and np.any(code < 0):
        count = int(np.sum(code < 0))
        wrong.append(f'{count} of the {len(code)} levels of "{variable.name}" are in no group of "{name}".')
    raise_all(wrong)
    return Reading(name, tuple(str(g) for g in groups), code)


def _texts(values: Any, what: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a list, not {type(values).__name__}.")
    return [text_of(v) for v in values]
