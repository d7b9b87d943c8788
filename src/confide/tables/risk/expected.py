"""The recovery probability expected of a scheme, over all that it might publish: what to compare schemes by."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.run.threads import thread_count
from confide.tables.areas import Tables
from confide.tables.axes import Margins
from confide.tables.layout import Bools, Ints, Layout
from confide.tables.publish import check_totals, checked_scheme
from confide.tables.publish_areas import simulated
from confide.tables.risk.areas_attack import attack_tables
from confide.tables.risk.attack import attack_table
from confide.tables.risk.targets import targets_of
from confide.tables.risk.who_is_known import is_frame, numbers
from confide.tables.schemes.scheme import CellScheme, Scheme
from confide.tables.solve.nested import Nest, nested_fractions, nested_risk
from confide.tables.solve.routes import ESTIMATE, EXACT
from confide.tables.table import Table


def expected_sap(
    table: Table,
    scheme: Scheme | None = None,
    margins: Margins = "none",
    known: Any = None,
    *,
    cells: bool = True,
    totals: str = "separate",
    fractions: bool = False,
    targets: Any = None,
    draws: int = 500,
    seed: int = 0,
) -> pl.DataFrame:
    """`sap` averaged over everything that the scheme might publish: n, sap, standard_error, status(, fraction).

    Exact where sums nest in one tree and each count is perturbed by itself; otherwise `draws` releases are made, each
    attacked exactly, and averaged. A scheme without randomness has one release.

    >>> import confide as cf
    >>> expected_sap(cf.Table([2, 1, 5, 2]), cf.RoundCells(3, how="random"), known=[2], fractions=True)["fraction"][0]
    '2/135'
    """
    scheme = checked_scheme(scheme)
    if not isinstance(table, Table):
        raise InputError("expected_sap takes one Table; for many areas average over them.")
    if is_frame(known):
        raise InputError("expected_sap takes numbers of known people, as range(25).")
    if not table.total:
        raise InputError("The table is empty: every count is 0, so there is nobody to know or to learn about.")
    check_totals(totals, scheme, cells)
    ns = numbers(known, table.total)
    if not scheme.random:
        published = table.publish(scheme, margins, cells=cells, totals=totals)
        frame = attack_table(published, ns, fractions=fractions, targets=targets).frame
        return frame.drop("lower", "upper")
    layout = table.axes.layout(margins, cells)
    target, _ = targets_of(table, targets, None, None)
    if isinstance(scheme, CellScheme) and layout.laminar and (not scheme.keyed or len(layout.parts) == 1):
        return _exact(_mixed(table, layout, scheme, totals, target), ns, fractions)
    if fractions:
        raise InputError("This expectation is simulated, so there are no exact fractions; leave fractions out.")
    return _simulated(table, scheme, margins, cells, totals, ns, targets, draws, seed)


def _exact(nest: Nest, ns: Ints, fractions: bool) -> pl.DataFrame:
    most = int(ns[-1])
    values = nested_fractions(nest, most) if fractions else None
    risk = nested_risk(nest, most) if values is None else np.array([float(v) for v in values])
    frame = pl.DataFrame({"n": ns, "sap": risk[ns]}).with_columns(standard_error=pl.lit(0.0), status=pl.lit(EXACT))
    return frame if values is None else frame.with_columns(fraction=pl.Series([str(values[n]) for n in ns]))


def _mixed(table: Table, layout: Layout, scheme: CellScheme, totals: str, target: Bools) -> Nest:
    """Each bound is tight with a probability, independently of the others."""
    assert layout.families is not None
    tree = layout.families[0]
    counts = table.counts.ravel()
    truth = layout.sums(counts)
    low, up = _tight(scheme, truth)
    if totals == "summed":
        low[layout.slices[0].stop :] = [Fraction(int(t == 0)) for t in truth[layout.slices[0].stop :]]
        up[layout.slices[0].stop :] = Fraction(0)
    free_low = np.array([Fraction(1)] * layout.cells, dtype=object)  # probability that no lower bound is tight
    free_up = free_low.copy()
    for q in np.flatnonzero(layout.single >= 0):
        free_low[layout.single[q]] *= 1 - low[q]
        free_up[layout.single[q]] *= 1 - up[q]
    free_low[counts == 0] = Fraction(0)  # no count is below 0
    free_up[table.structural.ravel()] = Fraction(0)
    return Nest(tree, counts, 1 - free_low, 1 - free_up, low[tree.quantity], up[tree.quantity], target)


def _tight(scheme: CellScheme, truth: Ints) -> tuple[Any, Any]:
    """The probability that the stated lower, and the upper bound is the true count."""
    values, at = np.unique(truth, return_inverse=True)
    low, up = [], []
    for count in values:
        outcomes = scheme.outcomes(int(count))
        lower, upper = scheme.interval(np.array(list(outcomes), dtype=np.int64))
        chances = [Fraction(p) for p in outcomes.values()]
        low.append(sum((p for p, v in zip(chances, lower, strict=True) if v == count), Fraction(0)))
        up.append(sum((p for p, v in zip(chances, upper, strict=True) if v == count), Fraction(0)))
    return np.array(low, dtype=object)[at], np.array(up, dtype=object)[at]


def _simulated(
    table: Table,
    scheme: Scheme,
    margins: Margins,
    cells: bool,
    totals: str,
    ns: Ints,
    targets: Any,
    draws: int,
    seed: int,
) -> pl.DataFrame:
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 2:
        raise InputError("draws is a whole number from 2 upwards.")
    many = Tables._made(np.broadcast_to(table.counts, (int(draws), *table.counts.shape)), table.axes, table.structural)
    published = simulated(many, scheme, margins, cells, totals, seed)
    found = attack_tables(published, ns, targets=targets, threads=thread_count(None), progress=False).frame
    grouped = found.group_by("n", maintain_order=True).agg(
        sap=pl.col("sap").mean(), standard_error=pl.col("sap").std() / pl.len().sqrt()
    )
    return grouped.with_columns(status=pl.lit(ESTIMATE))
