"""Carry a scheme out on one table per area: for publication, or in a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.errors import ConfideError
from confide.core.random.origin import Origin
from confide.core.random.seeds import stated_seed
from confide.core.run.progress import Progress, checked_progress, progress_bar
from confide.core.run.threads import run_pieces, thread_count
from confide.tables.areas import Tables
from confide.tables.axes import Margins
from confide.tables.layout import Ints, Layout
from confide.tables.numbers import ByArea, Numbers, OneByOne, origin_of
from confide.tables.publish import area_draws, by_cells, check_totals, checked_scheme
from confide.tables.published_areas import PublishedTables
from confide.tables.schemes.scheme import Floats, Scheme, Settled, TableScheme

PIECE = 8
"""Areas that a thread takes at a time."""


def publish_areas(
    tables: Tables, scheme: Scheme | None, margins: Margins, cells: bool, totals: str, seed: int | None, vault: Any,
    progress: Progress,
) -> PublishedTables:  # fmt: skip
    """See `Tables.publish`."""
    checked_progress(progress)
    scheme = checked_scheme(scheme)
    layout = tables.axes.layout(margins, cells)
    check_totals(totals, scheme, cells)
    origin = origin_of(
        scheme, tables.axes, tables.structural, layout, totals, seed, vault, keyed=tables.keys is not None
    )
    numbers = None if origin is None else ByArea(origin, tables.axes, tables.areas, _flat(tables))
    keys = None if tables.keys is None else tables.keys.reshape(len(tables), -1)
    return _published(tables, scheme, layout, totals, numbers, keys, origin, progress)


def simulated(
    tables: Tables, scheme: Scheme, margins: Margins, cells: bool, totals: str, seed: int | None
) -> PublishedTables:
    """Drawn one number after another by a seed, cell keys too: for comparisons, quick, and never handed out."""
    layout = tables.axes.layout(margins, cells)
    check_totals(totals, scheme, cells)
    numbers = OneByOne(np.random.default_rng(stated_seed(seed)), len(tables), layout.cells)
    return _published(tables, scheme, layout, totals, numbers)


def _published(
    tables: Tables, scheme: Scheme, layout: Layout, totals: str, numbers: Numbers | None, keys: Floats | None = None,
    origin: Origin | None = None, progress: Progress = None,
) -> PublishedTables:  # fmt: skip
    flat, free = _flat(tables), ~tables.structural.ravel()
    if not isinstance(scheme, TableScheme):
        values, lower, upper = by_cells(scheme, layout, flat, keys, totals, numbers, free)
        shown = np.ones(values.shape, dtype=bool)
        return PublishedTables(tables, layout, values, shown, lower, upper, scheme, scheme.sharp, origin)
    settled = _settled(tables, scheme, layout, numbers, progress)
    values, shown, lower, upper = (
        np.stack([getattr(s, name) for s in settled]) for name in ("values", "shown", "lower", "upper")
    )
    return PublishedTables(tables, layout, values, shown, lower, upper, scheme, True, origin)


def _settled(
    tables: Tables, scheme: TableScheme, layout: Layout, numbers: Numbers | None, progress: Progress
) -> list[Settled]:
    """Each area's table, on threads where draws do not follow one another."""
    flat, free = _flat(tables), ~tables.structural.ravel()
    draws = [area_draws(numbers, k) for k in range(len(flat))]
    out: list[Any] = [None] * len(flat)

    def work(first: int, last: int) -> None:
        for k in range(first, last):
            try:
                out[k] = scheme.settle(layout, flat[k], free, draws[k])
            except ConfideError as e:
                raise type(e)(f'Area "{tables.areas[k]}": {e}') from None

    _ = layout.matrix, layout.single, layout.alone, layout.families  # computed once, before threads ask for them
    threads = 1 if isinstance(numbers, OneByOne) else thread_count(None)
    with progress_bar("publishing", len(flat), progress) as done:
        run_pieces(work, [(a, min(a + PIECE, len(flat))) for a in range(0, len(flat), PIECE)], threads, done)
    return out


def _flat(tables: Tables) -> Ints:
    return tables.counts.reshape(len(tables), -1)
