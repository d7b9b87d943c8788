"""Categories in broader groups: by a table that names the group of each value, or by the first letters of a code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from confide.core.errors import InputError

Value = str | int | float | bool
"""A category, or a number that stands for one."""


def as_text(value: Any) -> str:
    """A value as a file would have it: whole numbers without a point, truth in small letters.

    >>> as_text(34.0), as_text("34"), as_text(True)
    ('34', '34', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Groups:
    """The group of each value: by `table`, or the first `letters` of a code. What neither knows stays as it is.

    `by_text`: the table may have the values as text where the column has numbers, as a file of levels has them.

    >>> Groups({"1": "a", "2": "a"}, by_text=True).of([1, 2, 3]), Groups(letters=2).of(["8131", "81", 8202])
    (['a', 'a', 3], ['81', '81', '82'])
    """

    table: Mapping[Any, Any] = field(default_factory=dict)
    letters: int | None = None
    by_text: bool = False

    @cached_property
    def _by_text(self) -> dict[str, Any]:
        return {as_text(k): v for k, v in self.table.items()} if self.by_text else {}

    def knows(self, value: Any) -> bool:
        """Whether a value has a group."""
        return self.letters is not None or value in self.table or as_text(value) in self._by_text

    def of(self, values: Sequence[Any]) -> list[Any]:
        """The group of each value."""
        if self.letters is not None:
            return [as_text(v)[: self.letters] for v in values]
        known = self._by_text
        return [self.table[v] if v in self.table else known.get(as_text(v), v) if known else v for v in values]

    def check(self, values: Sequence[Any], where: str) -> None:
        """Refused where values have no group; the sentence counts them and names none."""
        lost = sum(not self.knows(v) for v in values)
        if lost:
            raise InputError(
                f"{where}: {lost} of {len(values)} values of the column are not in the hierarchy. Add a row for each "
                "of them (mind the spelling, and codes with leading zeros), or make them missing."
            )
