"""A tree over the values of a variable: which groups each value belongs to, up to one root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import I64, Column
from confide.frames.hierarchies.hierarchy import Hierarchy

MOST = 1000
"""Values that a tree is for; more are numbers, which have an order."""


@dataclass(frozen=True, eq=False)
class ValueTree:
    """`parents`: by height, for each node below it the node above; the first from the values that occur, in order,
    the last to the root. `height`: H, how many steps from a value to the root."""

    parents: tuple[I64, ...]

    @property
    def height(self) -> int:
        """Steps from a value to the root."""
        return len(self.parents)

    @classmethod
    def of(cls, groups: Mapping[str, Sequence[str]], column: Column) -> ValueTree:
        """The tree over the values that a column has."""
        values = column.values[~column.missing]
        known = [_text(v if column.kind == "numeric" else column.levels[int(v)]) for v in np.unique(values)]
        lost = sum(name not in groups for name in known)
        if lost:
            raise InputError(
                f'TCloseness: hierarchy has no groups for {lost:,} of {len(known):,} values of "{column.name}"; state '
                "the groups of every value."
            )
        paths = [[name, *groups[name], ""] for name in known]
        return cls(tuple(_links(paths, k) for k in range(len(paths[0]) - 1)))


def _text(value: object) -> str:
    """A value as text; whole numbers without a point, however they are stored.

    >>> _text(2.0), _text(2), _text("2.0"), _text(2.5)
    ('2', '2', '2.0', '2.5')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _links(paths: Sequence[Sequence[str]], k: int) -> I64:
    """From the nodes of one height, in the order in which they first come, to those of the next."""
    below = list(dict.fromkeys(path[k] for path in paths))
    above = list(dict.fromkeys(path[k + 1] for path in paths))
    up = {path[k]: path[k + 1] for path in paths}
    return np.array([above.index(up[node]) for node in below], dtype=np.int64)


def checked_tree(given: object) -> dict[str, tuple[str, ...]]:
    """Groups by value, all of one length, and nested: what is in one group stays together further up.

    Of a `Hierarchy` its table; a last group that holds everything is the root, which is there anyway.

    >>> checked_tree(Hierarchy(table={"flu": ["lungs", "all"], "ulcer": ["stomach", "all"]}))
    {'flu': ('lungs',), 'ulcer': ('stomach',)}
    """
    if isinstance(given, Hierarchy):
        if given.table is None:
            raise InputError("TCloseness: hierarchy is stated as a table of values and their groups, not by a rule.")
        inner = len(given.levels) - 1 - given.leaves_out
        given = {_text(v): tuple(str(g) for g in groups[:inner]) for v, groups in given.table.items()}
    if not isinstance(given, Mapping) or not given:
        raise InputError('TCloseness: hierarchy is a table by value, such as {"flu": ["lungs"], "ulcer": ["stomach"]}.')
    if len(given) > MOST:
        raise InputError(f'TCloseness: hierarchy is for {MOST:,} values at most; numbers have an order, "ordered".')
    made = {_text(v): (g,) if isinstance(g, str) else tuple(g) for v, g in given.items()}
    if not all(isinstance(g, str) and g for groups in made.values() for g in groups):
        raise InputError("TCloseness: hierarchy: groups are named by text that is not empty.")
    lengths = {len(groups) for groups in made.values()}
    if len(lengths) > 1:
        raise InputError(
            f"TCloseness: hierarchy: every value has as many groups, but there are {min(lengths)} to {max(lengths)}; "
            "repeat a group's name where a level adds nothing."
        )
    for k in range(next(iter(lengths)) - 1):
        above: dict[str, str] = {}
        for groups in made.values():
            if above.setdefault(groups[k], groups[k + 1]) != groups[k + 1]:
                raise InputError(
                    f'TCloseness: hierarchy is not nested: the group "{groups[k]}" belongs to "{above[groups[k]]}" and '
                    f'to "{groups[k + 1]}"; give each group one group above it.'
                )
    return made
