"""Carry a scheme out on one table per area: for publication, or in a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.errors import ConfideError
from confide.core.random.origin import Origin
from confide.core.random.seeds import stated_seed
from confide.core.run.progress import Progress, checked_progress, progress_bar
from confide.tables.areas import Tables
from confide.tables.axes import Margins
from confide.tables.layout import Ints, Layout
from confide.tables.numbers import ByArea, Numbers, OneByOne, origin_of
from confide.tables.publish import area_draws, by_cells, check_totals, checked_scheme
from confide.tables.published_areas import PublishedTables
from confide.tables.schemes.scheme import Floats, Scheme, TableScheme


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
    settled = []
    with progress_bar("publishing", len(tables), progress) as done:
        for k, counts in enumerate(flat):
            try:
                settled.append(scheme.settle(layout, counts, free, area_draws(numbers, k)))
            except ConfideError as e:
                raise type(e)(f'Area "{tables.areas[k]}": {e}') from None
            done(1)
    values, shown, lower, upper = (
        np.stack([getattr(s, name) for s in settled]) for name in ("values", "shown", "lower", "upper")
    )
    return PublishedTables(tables, layout, values, shown, lower, upper, scheme, True, origin)


def _flat(tables: Tables) -> Ints:
    return tables.counts.reshape(len(tables), -1)
