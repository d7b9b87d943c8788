"""Utility of a release of a scan: measures that compare several variables, from what can be added up over parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.scale.engine import COUNT
from confide.core.scale.rows_alike import RowsAlike, TooMany, canonical
from confide.frames.columns import F64
from confide.frames.encoded import Encoded
from confide.frames.scan.scan import Scan
from confide.frames.types.exact import to_floats
from confide.measure.utility.items import mean_loss
from confide.measure.utility.measure import Found, Measure, Stated
from confide.measure.utility.moments import OfNumbers
from confide.measure.utility.pair import Pair
from confide.measure.utility.scanned import WEIGHT, Margins, of_margins

MOST = 2_000_000
"""Different joint rows of some variables that are held of each file."""


def of_scan(measure: Measure, margins: Margins) -> Found:
    """A measure of the release of a scan; refused where only all records tell."""
    if isinstance(measure, Stated) and measure.by_variable:
        return of_margins(measure, margins)
    found: Callable[[Any, Margins], Found] | None = None
    if isinstance(measure, Stated):
        found = {"pairs": _of_pairs, "products": _of_products, "rows": _of_rows}.get(measure.jointly)
    if found is None:
        raise InputError(
            f"{type(measure).__name__} compares all records at once, which is not done for a scan. Of a scan, take "
            "means, variances, total_variation, hellinger (also pairs=True), covariances, correlations, eigenvalues, "
            "ci_overlap, coefficient_difference; or compare a part that fits into memory (cf.read)."
        )
    return found(measure, margins)


def _of_pairs(measure: Any, margins: Margins) -> Found:
    """Two variables at a time, by their joint values."""
    where = type(measure).__name__
    items = margins.chosen(measure.variables, "category", where)
    if len(items.names) < 2:
        raise InputError(f"{where}: pairs=True needs two or more variables that vary in the original.")
    losses, lost = dict[str, float](), list[str]()
    for u, v in combinations(items.names, 2):
        word = f"{u} with {v}"
        if u in items.lost or v in items.lost:
            losses[word] = measure.worst
            lost.append(word)
        else:
            losses[word] = replace(measure, variables=(u, v)).of([_joint(margins, (u, v), where)]).value
    return mean_loss("pair", losses, measure.worst, items, lost)


def _of_rows(measure: Any, margins: Margins) -> Found:
    """By the different rows of all variables that it reads, each as many records as there are."""
    return measure.of([_joint(margins, measure.reads_jointly, type(measure).__name__, weights_apart=True)])  # type: ignore[no-any-return]


def _joint(margins: Margins, names: Sequence[str], where: str, weights_apart: bool = False) -> Pair:
    """Different joint rows of both files. The weight of each is the sum of its records'; or, apart, one of what makes
    rows different, beside how many records there are."""
    release, weight = margins.release, margins.weight
    lost = [v for v in names if v not in release.original.types]
    if lost:
        raise InputError(f'{where}: there is no column "{lost[0]}" in the original.')
    files = []
    for data, schema in ((release.original, release.original.schema), (release.released, None)):
        there = [v for v in names if v in data.types]
        added = [] if weight is None or weights_apart else [weight]
        table = _counted(data, [*there, *([weight] if weight is not None and weights_apart else [])], added, where)
        if weights_apart:
            files.append(Encoded(table.drop(COUNT), schema, count=table[COUNT].to_numpy()))
            continue
        total = table[COUNT if weight is None else f"{COUNT} {weight}"].alias(WEIGHT)
        files.append(Encoded(table.select(there).with_columns(total), schema))
    kinds = margins.stated_kinds
    coarse: dict[str, Any] = {}
    for v in names:
        coarse |= margins.coarse_of(v, files[0])
    before, after = files
    held = weight if weights_apart else WEIGHT
    return Pair(before, after, held, None, kinds, coarse, items=tuple(names)).checked()


def _counted(data: Scan, names: Sequence[str], added: Sequence[str], where: str) -> pl.DataFrame:
    alike = RowsAlike(names, added, MOST)
    try:
        for _, batch in data.batches(dict.fromkeys([*names, *added])):
            alike.add(batch)
    except TooMany:
        raise InputError(
            f"{where}: {', '.join(names)} have more than {MOST:,} different joint values, too many to be compared in a "
            "scan. Name fewer variables, or such as many people share; or compare a part of the file (cf.read)."
        ) from None
    return alike.table


def _of_products(measure: OfNumbers, margins: Margins) -> Found:
    """By sums of products, over records with a value in all variables: two passes over each file."""
    where = type(measure).__name__
    items = measure.enough(margins.chosen(measure.variables, "number", where), measure.least)
    first = _Products(margins, items.names, 0).found()
    if first is None:
        raise InputError(f"{where}: no record has a value in all {len(items.names)} variables; name fewer.")
    scale = np.sqrt(np.diag(first))
    if not (scale > 0).all():
        raise InputError(f"{where}: among records without missing values, a variable has one value only.")
    kept = np.array([v in items.kept for v in items.names])
    after = np.zeros((len(kept), len(kept)))
    second = _Products(margins, items.kept, 1).found()
    if second is None:
        items = replace(items, lost=dict.fromkeys(items.names, "no record has all variables") | {**items.lost})
    else:
        after[np.ix_(kept, kept)] = second / np.outer(scale[kept], scale[kept])
    return measure.of_matrices(items, first / np.outer(scale, scale), after)


class _Products:
    """Covariances of numbers in the original (0) or the release (1)."""

    def __init__(self, margins: Margins, names: Sequence[str], file: int) -> None:
        self.margins, self.names, self.file = margins, list(names), file
        self.data = margins.release.released if file else margins.release.original
        self.tables = {v: self._table(v) for v in names}

    def _table(self, v: str) -> pl.DataFrame | None:
        """What values stand for that are no numbers, or not all of them."""
        pair = self.margins.pair(v)
        if not pair.column(v).special and not (self.file and v in pair.coarse):
            return None
        values = pair.file(self.file).frame.select(v)
        return values.with_columns(pl.Series("number", pair.numbers(v, self.file)))

    def found(self) -> F64 | None:
        """Shape (p, p); None where no record has all variables."""
        total, sums = 0.0, np.zeros(len(self.names))
        for x, w in self._batches():
            total, sums = total + float(w.sum()), sums + w @ x
        if not total:
            return None
        centre, products = sums / total, np.zeros((len(sums), len(sums)))
        for x, w in self._batches():
            products += ((x - centre) * w[:, None]).T @ (x - centre)
        return products / total

    def _batches(self) -> Iterator[tuple[F64, F64]]:
        weight = self.margins.weight
        for _, batch in self.data.batches(dict.fromkeys([*self.names, *([weight] if weight else [])])):
            w = np.ones(batch.height) if weight is None else batch[weight].cast(pl.Float64).to_numpy()
            columns = [self._numbers(batch, v) for v in self.names]
            x = np.stack(columns, axis=1) if columns else np.zeros((batch.height, 0))
            there = ~np.isnan(x).any(axis=1) & (w > 0)
            yield x[there], w[there]

    def _numbers(self, batch: pl.DataFrame, v: str) -> F64:
        table = self.tables[v]
        if table is None:
            return to_floats(batch.get_column(v))[0]
        met = canonical(batch.select(v)).join(table, on=v, how="left", nulls_equal=True, maintain_order="left")
        return met["number"].fill_null(np.nan).to_numpy()
