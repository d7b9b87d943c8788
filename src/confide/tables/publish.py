"""Carry a scheme out on a table, or on one table per area."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.core.random.draws import Counter, Draws
from confide.tables.axes import Margins
from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.numbers import ByArea, Numbers, origin_of
from confide.tables.published import Published
from confide.tables.schemes.cellkey.keys import UNITS
from confide.tables.schemes.exact import Exact
from confide.tables.schemes.scheme import CellScheme, Floats, Scheme, TableScheme
from confide.tables.table import Table

TOTALS = ("separate", "summed")


def publish(
    table: Table, scheme: Scheme | None, margins: Margins, cells: bool, totals: str, seed: int | None, vault: Any
) -> Published:
    """One table; see `Table.publish`."""
    scheme = checked_scheme(scheme)
    layout = table.axes.layout(margins, cells)
    check_totals(totals, scheme, cells)
    origin = origin_of(scheme, table.axes, table.structural, layout, totals, seed, vault, keyed=table.keys is not None)
    counts, free = table.counts.ravel(), ~table.structural.ravel()
    numbers = None if origin is None else ByArea(origin, table.axes, ("",), counts[None])
    if isinstance(scheme, TableScheme):
        done = scheme.settle(layout, counts, free, area_draws(numbers, 0))
        return Published(
            table, layout, done.values, done.shown, done.lower, done.upper, scheme, True, done.audit, origin
        )
    keys = table.keys.reshape(1, -1) if table.keys is not None else None
    values, lower, upper = by_cells(scheme, layout, counts[None], keys, totals, numbers, free)
    shown = np.ones(layout.quantities, bool)
    return Published(table, layout, values[0], shown, lower[0], upper[0], scheme, scheme.sharp, origin=origin)


def by_cells(
    scheme: CellScheme,
    layout: Layout,
    counts: Ints,
    keys: Floats | None,
    totals: str,
    numbers: Numbers | None,
    free: Bools,
) -> tuple[Ints, Ints, Ints]:
    """Values and intervals (areas x Q) of tables of counts (areas x m). `free` is False at structural zeros; `numbers`
    is None where nothing is drawn."""
    values = scheme.apply(layout.sums(counts), _draws(scheme, layout, counts, keys, numbers))
    lower, upper = scheme.interval(values)
    impossible = layout.sums(free.astype(np.int64)) == 0
    lower, upper = np.where(impossible, 0, lower), np.where(impossible, 0, upper)
    if totals == "summed":
        own = layout.slices[0]
        values, lower = layout.sums(values[:, own]), layout.sums(lower[:, own])  # what the cells say already
        upper = np.minimum(layout.sums(np.minimum(upper[:, own], UNBOUNDED // layout.cells)), UNBOUNDED)
    return values, lower, upper


def _draws(scheme: CellScheme, layout: Layout, counts: Ints, keys: Floats | None, numbers: Numbers | None) -> Floats:
    """One number in [0, 1) a quantity. Keyed schemes: a margin's key is the fractional part of its cells' sum."""
    if not scheme.random:
        return np.zeros((len(counts), layout.quantities))
    if scheme.keyed and keys is not None:
        whole = np.round(keys * UNITS).astype(np.int64)
    else:
        assert numbers is not None
        if not scheme.keyed:
            return numbers.uniform(layout.quantities)
        whole = numbers.cell_keys()
    whole = np.where(counts > 0, whole, 0)  # nobody's key is 0
    return np.asarray((layout.sums(whole) % UNITS) / UNITS, dtype=np.float64)


def area_draws(numbers: Numbers | None, k: int) -> Draws:
    """Draws for a scheme that sees the whole table of an area; for one that should draw nothing, ones of its own."""
    return Counter(secrets.token_bytes(16)) if numbers is None else numbers.of_area(k)


def checked_scheme(scheme: Any) -> Scheme:
    """A scheme, Exact() by default."""
    if scheme is None:
        return Exact()
    if isinstance(scheme, type) or not isinstance(scheme, (CellScheme, TableScheme)):
        raise InputError(
            "The scheme is one of Exact(), RoundCells(5), ControlledRounding(5), SmallCounts(3), "
            "ControlledSmallCounts(3), Suppress(below=5), CellKey.of(largest=2, variance=1), "
            f"not {scheme.__name__ if isinstance(scheme, type) else type(scheme).__name__}."
        )
    return scheme


def check_totals(totals: Any, scheme: Scheme, cells: bool) -> None:
    """Summed totals need published cells, each by itself."""
    if not isinstance(cells, (bool, np.bool_)):
        raise InputError("cells is True, or False to publish margins only.")
    if totals not in TOTALS:
        raise InputError('totals is "separate" (each margin goes through the scheme) or "summed" (sums of cells).')
    if totals == "summed" and not cells:
        raise InputError('totals="summed" adds up published cells, but cells=False publishes none.')
    if totals == "summed" and isinstance(scheme, TableScheme):
        raise InputError(f'{type(scheme).__name__} decides cells and margins together; leave totals at "separate".')
