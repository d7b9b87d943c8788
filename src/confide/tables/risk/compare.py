"""Which scheme? Each candidate's risk against what it does to the counts: a small risk-utility map for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import ConfideError, InputError, raise_all
from confide.core.result import Result
from confide.tables.areas import Tables
from confide.tables.axes import Margins
from confide.tables.publish import checked_scheme
from confide.tables.publish_areas import simulated
from confide.tables.published import Published
from confide.tables.published_areas import PublishedTables
from confide.tables.risk.who_is_known import numbers
from confide.tables.schemes.scheme import Floats, Scheme
from confide.tables.solve.bounds import propagated
from confide.tables.table import Table

_OPTIONS = ("scheme", "margins", "cells", "totals")


@dataclass(frozen=True, eq=False, repr=False)
class SchemeComparison(Result):
    """Candidates side by side.

    `frame`, one row a candidate: scheme (its name), n, sap (mean over areas and repeats), standard_error (over
    repeats), worst (the area with the highest), at_risk (share of areas with SAP >= 0.1), distortion (mean absolute
    error of what is published; a hidden count is read as the middle of what can be stated of it), hidden (share of
    counts not shown), additive (whether published margins are the sums of published cells), frontier (no candidate
    has less risk and no more distortion).
    """

    frame: pl.DataFrame

    def best(self, max_sap: float) -> str:
        """The candidate with the least distortion among those with a risk of at most `max_sap`."""
        if isinstance(max_sap, bool) or not isinstance(max_sap, (int, float)) or not 0 <= max_sap <= 1:
            raise InputError("max_sap is a probability between 0 and 1; for 5 percent write 0.05.")
        good = self.frame.filter(pl.col("sap") <= max_sap).sort("distortion", "sap")
        if good.is_empty():
            nearest = self.frame.sort("sap")["scheme"][0]
            raise InputError(f'No candidate has a risk of at most {max_sap:g}; "{nearest}" comes nearest.')
        return str(good["scheme"][0])

    def summary(self) -> pl.DataFrame:
        """The candidates that none beats in both risk and distortion."""
        return self.frame.filter("frontier")

    def __repr__(self) -> str:
        return f"SchemeComparison of {self.frame.height} candidates at n = {self.frame['n'][0]}"


def compare_schemes(
    table: Table | Tables,
    candidates: Mapping[str, Scheme | Mapping[str, Any]],
    known: int = 5,
    *,
    margins: Margins = "none",
    repeats: int = 5,
    seed: int = 0,
    **options: Any,
) -> SchemeComparison:
    """Publish a table, or one table an area, by each candidate and compare risk with distortion.

    `candidates`: names with schemes, or with `{"scheme": ..., "margins": ..., "cells": ..., "totals": ...}` where they
    differ in more; `margins` is for those that name none. Random schemes are published `repeats` times with seeds of
    their own. `known`: the number of people an intruder knows; areas with fewer people count with all of them.

    >>> import confide as cf
    >>> table = cf.Table([[2, 1, 3], [0, 5, 1]])
    >>> compared = compare_schemes(table, {"as it is": cf.Exact(), "base 5": cf.RoundCells(5)}, known=2)
    >>> compared.frame.select("scheme", pl.col("sap").round(4), "distortion").rows()
    [('as it is', 1.0, 0.0), ('base 5', 0.0152, 1.0)]
    >>> compared.best(max_sap=0.1)
    'base 5'
    """
    if not isinstance(table, (Table, Tables)):
        raise InputError("compare_schemes takes a Table or Tables.")
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise InputError("repeats is a whole number from 1 upwards.")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError("seed is a whole number from 0 upwards; repeats use the numbers after it.")
    many = table if isinstance(table, Tables) else Tables._made(table.counts[None], table.axes, table.structural)
    ns = numbers(known, table.total if isinstance(table, Table) else None)
    if len(ns) != 1:
        raise InputError("known is one number of people here; compare again for another.")
    stated = _stated(candidates, margins)
    rows = [_row(many, name, what, int(ns[0]), int(repeats), seed, options) for name, what in stated.items()]
    frame = pl.DataFrame(rows)
    return SchemeComparison(frame.with_columns(frontier=pl.Series(_frontier(frame))))


def _stated(candidates: Any, margins: Margins) -> dict[str, dict[str, Any]]:
    if not isinstance(candidates, Mapping) or not candidates:
        raise InputError('candidates is a dict of names and schemes, as {"base 5": cf.RoundCells(5)}.')
    out, wrong = {}, []
    for name, what in candidates.items():
        given = dict(what) if isinstance(what, Mapping) else {"scheme": what}
        strange = [k for k in given if k not in _OPTIONS]
        if strange or "scheme" not in given:
            wrong.append(f'The candidate "{name}" is a scheme, or a dict with scheme, margins, cells, totals.')
            continue
        given["scheme"] = checked_scheme(given["scheme"])
        out[str(name)] = {"margins": margins, **given}
    raise_all(wrong)
    return out


def _row(
    tables: Tables, name: str, what: dict[str, Any], n: int, repeats: int, seed: int, options: dict[str, Any]
) -> dict[str, Any]:
    scheme = what["scheme"]
    cells, totals = what.get("cells", True), what.get("totals", "separate")
    means, worst, at_risk, errors, hidden, additive = [], [], [], [], [], True
    for r in range(repeats if scheme.random else 1):
        try:
            published = simulated(tables, scheme, what["margins"], cells, totals, seed + r)
        except ConfideError as e:
            raise InputError(f'The candidate "{name}" cannot be published: {e}') from None
        risk = published.attack(known=n, **options).frame["sap"].drop_nulls().to_numpy()
        means.append(risk.mean())
        worst.append(risk.max())
        at_risk.append((risk >= 0.1).mean())
        errors.append(np.abs(read(published) - published.layout.sums(_flat(tables))).mean())
        hidden.append(1 - published.shown.mean())
        additive = additive and is_additive(published)
    spread = float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0
    return {
        "scheme": name,
        "n": n,
        "sap": float(np.mean(means)),
        "standard_error": spread,
        "worst": float(np.max(worst)),
        "at_risk": float(np.mean(at_risk)),
        "distortion": float(np.mean(errors)),
        "hidden": float(np.mean(hidden)),
        "additive": additive,
    }


def _flat(tables: Tables) -> Any:
    return tables.counts.reshape(len(tables), -1)


def read(published: PublishedTables) -> Floats:
    """What an analyst would take each count to be: the published value, or the middle of what can be stated."""
    out = published.values.astype(np.float64)
    for a in np.flatnonzero(~published.shown.all(axis=1)):
        out[a] = _read_one(published.at(int(a)))
    return out


def _read_one(published: Published) -> Floats:
    lower, upper = propagated(published)
    people = published.table.total  # no count is larger; where nothing bounds it, that does
    low = published.layout.sums(lower)
    high = published.layout.sums(np.minimum(upper, people))
    low, high = np.maximum(low, published.lower), np.minimum(high, published.upper)
    return np.where(published.shown, published.values, (low + high) / 2)


def is_additive(published: PublishedTables) -> bool:
    """Whether shown margins are the sums of shown cells."""
    layout = published.layout
    own = next((s for p, s in zip(layout.parts, layout.slices, strict=True) if p.size == layout.cells), None)
    if own is None or not published.shown.all():
        return False
    return bool(np.array_equal(layout.sums(published.values[:, own]), published.values))


def _frontier(frame: pl.DataFrame) -> list[bool]:
    risk, loss = frame["sap"].to_numpy(), frame["distortion"].to_numpy()
    return [
        not bool(np.any((risk <= r) & (loss <= d) & ((risk < r) | (loss < d)))) for r, d in zip(risk, loss, strict=True)
    ]
