"""What a plan states that few people have: a category that a recode merges away, a limit that is somebody's value.

What a plan states is public by choice, but a stranger who holds the release learns from such a word that somebody has
it. So it is named in nothing that goes outside, unless the released file itself shows it or the plan says that the
variable's codebook is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.documents.plain import LEFT_OUT
from confide.core.documents.settings import SUBJECT
from confide.frames.columns import F64, Bools, Records
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.protect.seam.mechanism import Mechanism

if TYPE_CHECKING:
    from confide.protect.release import Release
    from confide.protect.scanned.release import ScannedRelease

FEWEST = 10
"""A category of fewer people is not named."""


@dataclass(frozen=True, eq=False)
class Holders:
    """By category, or by number, how many people of the original have it; what is released is not among them, nor are
    names of columns, nor round numbers unless they are the least or the largest: nobody takes those for somebody's own.
    `categories` and `numbers` hold the step's variables together."""

    categories: Mapping[Any, int] = field(default_factory=dict)
    numbers: Mapping[float, int] = field(default_factory=dict)

    @classmethod
    def of(cls, release: Release | ScannedRelease, step: Mechanism, public: bool = True) -> Holders:
        """For the variables that a step alters or reads. `public`: the release goes out, so that what it shows is no
        secret; a candidate of a study need not."""
        assert release.plan is not None
        columns, released = _met(release)
        categories: dict[Any, int] = {}
        numbers: dict[float, int] = {}
        known = release.plan.open_codebooks(release.public_variables)
        for v in dict.fromkeys((*step.variables, *step.needs)):
            if v in known:
                continue
            told = public and released is not None and v in released.columns
            shown = set(released.get_column(v).unique().to_list()) if released is not None and told else set()
            column, count = columns[v], columns.count_of(v)
            if column.kind == "categorical":
                there = column.values >= 0
                many = np.bincount(column.values[there], None if count is None else count[there], len(column.levels))
                shown |= set(release.original.columns)
                _least(categories, {x: int(n) for x, n in zip(column.levels, many, strict=True) if x not in shown})
                continue
            held = None if count is None else count[column.usable]
            _least(numbers, {x: n for x, n in _numbers(column.values[column.usable], held).items() if x not in shown})
        return cls(categories, numbers)

    def fewest(self, value: Any, flat: bool = True) -> int | None:
        """The smallest number of people who have something that a value names; None where it names nobody's. `flat`:
        whether numbers may be codes, which those of a matrix are not."""
        if isinstance(value, np.ndarray):
            return self.fewest(value.tolist(), flat)
        if isinstance(value, Hierarchy):
            return self.fewest(value.stated, flat)
        if isinstance(value, Mapping):
            inner = (self.fewest(x, flat=False) for x in value.values())
            return _min((*(self.fewest([k]) for k in value), *inner))
        if isinstance(value, (list, tuple, set, frozenset)):
            nested = any(isinstance(x, (list, tuple)) for x in value)
            return _min(self._of(x, flat and not nested) if _plain(x) else self.fewest(x, False) for x in value)
        return self._of(value, flat=False) if _plain(value) else None

    def _of(self, value: Any, flat: bool) -> int | None:
        named = self.categories.get(value) if flat or isinstance(value, str) else None
        number = None if isinstance(value, (str, bool, np.bool_)) else self.numbers.get(float(value))
        return _min((named, number))


def _met(release: Release | ScannedRelease) -> tuple[Records, pl.DataFrame | None]:
    """The original as the plan reads it, and what is released; of a scan different values alone, and nothing."""
    from confide.protect.scanned.release import ScannedRelease

    if isinstance(release, ScannedRelease):
        return release.codebook.margins(), None
    assert release.plan is not None
    return release.plan.encode(release.before), release.frame


def quoted(release: Release | ScannedRelease, public: bool = True) -> Iterator[tuple[int, str, int]]:
    """For each field of a step that names what few people have: the step's place, the field, how many people. `public`:
    what the release shows is no secret, since it goes out (of a scan that is not looked up, and all is named).

    >>> import confide as cf, polars as pl
    >>> towns = pl.DataFrame({"town": ["Far"] + ["Near"] * 30})
    >>> release = cf.Plan([cf.Recode("town", mapping={"Far": "Near"})]).protect(towns, seed=1)
    >>> list(quoted(release))
    [(0, 'mapping', 1)]
    """
    if release.plan is None:
        return
    for place, step in enumerate(release.plan.steps):
        holders = Holders.of(release, step, public)
        for f in fields(step):  # type: ignore[arg-type]
            many = None if f.name in SUBJECT else holders.fewest(getattr(step, f.name))
            if many is not None:
                yield place, f.name, many


@dataclass(frozen=True, eq=False)
class Trimmer:
    """Leaves out of a public statement what fewer than `fewest` people have, and says so."""

    release: Release
    fewest: int = FEWEST

    def __call__(self, statement: Any, name: str, value: Any, path: str, withheld: list[str]) -> Any:
        """The value as it may be told; `LEFT_OUT` where nothing of it may."""
        if self.release.plan is None or name in SUBJECT or not isinstance(statement, Mechanism):
            return value
        holders = Holders.of(self.release, statement)
        if _is_matrix(value) and any(self._few(n) for n in holders.categories.values()):
            withheld.append(f"{path}: its size would tell of what fewer than {self.fewest} people have")
            return LEFT_OUT
        if not self._few(holders.fewest(value)):
            return value
        withheld.append(f"{path}: what fewer than {self.fewest} people have is not named")
        return self._told(holders, value)

    def _few(self, many: int | None) -> bool:
        return many is not None and many < self.fewest

    def _told(self, holders: Holders, value: Any) -> Any:
        if isinstance(value, Mapping):
            kept = {k: v for k, v in value.items() if not self._few(holders.fewest([k]))}
            told = {k: self._told(holders, v) if self._few(holders.fewest(v, False)) else v for k, v in kept.items()}
            return {k: v for k, v in told.items() if v is not LEFT_OUT} or LEFT_OUT
        if isinstance(value, (list, tuple)) and not any(isinstance(v, (int, float)) for v in value):
            return [f"(fewer than {self.fewest} people)" if self._few(holders.fewest([v])) else v for v in value]
        return LEFT_OUT


def _numbers(x: F64, count: F64 | None = None) -> dict[float, int]:
    """How many have each number; of round ones only the least and the largest. `count`: people behind each (None: one).

    >>> _numbers(np.array([20.0, 25.0, 64_362.9, 64_362.9, 70_000.0]))
    {20.0: 1, 64362.9: 2, 70000.0: 1}
    """
    there = np.isfinite(x)
    values, of = np.unique(x[there], return_inverse=True)
    if not len(values):
        return {}
    many = np.bincount(of, None if count is None else count[there]).astype(np.int64)
    keep = ~_round(values)
    keep[[0, -1]] = True
    return dict(zip(values[keep].tolist(), many[keep].tolist(), strict=True))


def _round(values: F64) -> Bools:
    """Whether numbers have no more than two digits that are not 0."""
    place = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(values), 1e-300))) - 1)
    return np.asarray(np.abs(values / place - np.round(values / place)) < 1e-9)


def _is_matrix(value: Any) -> bool:
    """Rows by position, one for each category."""
    return getattr(value, "ndim", 0) == 2 or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, (list, tuple)) for v in value)
    )


def _plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, np.integer, np.floating, np.bool_))


def _least(into: dict[Any, int], found: Mapping[Any, int]) -> None:
    for x, n in found.items():
        into[x] = min(n, into.get(x, n))


def _min(found: Any) -> int | None:
    known = [n for n in found if n is not None]
    return min(known) if known else None
