"""What an intruder knows: how many people, or which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.door import to_polars
from confide.tables.checks import text_column
from confide.tables.layout import Ints
from confide.tables.table import Table

USUAL = 20
MOST_KNOWN = 1_000_000


@dataclass(frozen=True, eq=False)
class People:
    """A named group. `counts` (m): those known in full, by cell; `parts`: (possible cells, how many) of others."""

    counts: Ints
    parts: tuple[tuple[Ints, int], ...]

    @property
    def size(self) -> int:
        return int(self.counts.sum()) + sum(k for _, k in self.parts)


def numbers(known: Any, people: int | None) -> Ints:
    """The values of n asked for, in order. `people`: no n may be larger; None: no limit (areas of many sizes)."""
    if known is None:
        return np.arange(min(USUAL, people if people is not None else USUAL) + 1)
    if isinstance(known, (bool, float, str)):
        raise InputError("known is a number of people, several (as range(25)), or a frame of the people known.")
    if isinstance(known, np.ndarray):
        known = known.ravel().tolist()
    values = [known] if isinstance(known, (int, np.integer)) else list(known) if isinstance(known, Iterable) else None
    if values is None or any(isinstance(v, bool) or not isinstance(v, (int, np.integer)) for v in values):
        raise InputError("known is a number of people, several (as range(25)), or a frame of the people known.")
    if not values:
        raise InputError("known is empty; say how many people are known, as range(25).")
    if min(values) < 0:
        raise InputError("Nobody can know fewer than 0 people.")
    if max(values) > MOST_KNOWN:
        raise InputError(f"known can be {MOST_KNOWN:,} people at most.")
    out = np.unique(np.array(values, dtype=np.int64))
    if people is not None and out[-1] > people:
        raise InputError(
            f"known goes up to {out[-1]:,}, but the table has fewer people than that; `table.total` says how many."
        )
    return out


def check_options(options: Iterable[str], known: Iterable[str]) -> None:
    """Options of an attack, spelt right."""
    wrong = [o for o in options if o not in known]
    raise_all(f'An attack on tables has no option "{o}".{did_you_mean(o, known)}' for o in wrong)


def is_frame(known: Any) -> bool:
    """Whether `known` names people instead of counting them."""
    return isinstance(known, (pl.DataFrame, pl.LazyFrame, Mapping)) or hasattr(known, "columns")


def group(known: Any, table: Table) -> People:
    """The people of a frame, one row each: columns are variables of the table; a missing value is not known."""
    frame = to_polars(known, "The frame of known people")
    strange = [c for c in frame.columns if c not in table.names]
    raise_all(
        f'The known people have a column "{c}", no variable of the table.{did_you_mean(c, table.names)}'
        for c in strange
    )
    if not frame.height:
        return People(np.zeros(table.counts.size, dtype=np.int64), ())
    codes = np.full((frame.height, len(table.names)), -1, dtype=np.int64)
    wrong = []
    for a, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        if name in frame.columns:
            place = {level: k for k, level in enumerate(levels)}
            texts = text_column(frame[name]).to_list()
            codes[:, a] = [-1 if t is None else place.get(t, -2) for t in texts]
            if np.any(codes[:, a] == -2):
                wrong.append(
                    f'{int((codes[:, a] == -2).sum())} known people have a value of "{name}" that is no level of it.'
                )
    raise_all(wrong)
    full = np.all(codes >= 0, axis=1)
    shape = table.counts.shape
    cells = np.ravel_multi_index(tuple(codes[full].T), shape) if full.any() else np.zeros(0, dtype=np.int64)
    counts = np.bincount(cells, minlength=table.counts.size).astype(np.int64)
    parts = []
    kinds, times = np.unique(codes[~full], axis=0, return_counts=True)
    index = np.indices(shape).reshape(len(shape), -1)
    for kind, k in zip(kinds, times, strict=True):
        fits = np.all((kind[:, None] < 0) | (index == kind[:, None]), axis=0) & ~table.structural.ravel()
        parts.append((np.flatnonzero(fits), int(k)))
    found = People(counts, tuple(parts))
    _check(found, table.counts.ravel())
    return found


def _check(people: People, counts: Ints) -> None:
    if np.any(people.counts > counts):
        raise InputError("More people are said to be known in a cell than the table has there.")
    if people.parts and not _fit(people, counts - people.counts):
        raise InputError("The people known in part do not fit into the table beside the others.")


def _fit(people: People, left: Ints) -> bool:
    """Whether people known in part can all be placed (a flow; its linear programme is whole)."""
    from scipy.sparse import lil_matrix

    from confide.tables.layout import UNBOUNDED
    from confide.tables.solve.programme import Programme

    sizes = [len(cells) for cells, _ in people.parts]
    matrix = lil_matrix((len(sizes) + len(left), sum(sizes)))
    at = 0
    for p, (cells, _) in enumerate(people.parts):
        matrix[p, at : at + len(cells)] = 1
        for k, cell in enumerate(cells):
            matrix[len(sizes) + cell, at + k] = 1
        at += len(cells)
    wanted = np.array([k for _, k in people.parts])
    programme = Programme(
        matrix.tocsr(),
        np.concatenate([wanted, np.zeros(len(left), dtype=np.int64)]),
        np.concatenate([wanted, left]),
        np.zeros(at, dtype=np.int64),
        np.full(at, UNBOUNDED),
    )
    return programme.maximise(np.zeros(at)).status == "optimal"
