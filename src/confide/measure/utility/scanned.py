"""Utility of a release of a scan: measures of one variable at a time, from distinct values and their weights.

Weighted measures take a distinct value with the number of its records for a weight as they take the records themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import Kind, inferred
from confide.frames.encoded import Encoded
from confide.frames.scan.scan import Scan
from confide.measure.utility.coarse import Coarse
from confide.measure.utility.items import Items, items_of, varies
from confide.measure.utility.measure import Found, Measure, Stated
from confide.measure.utility.pair import Pair, Wanted
from confide.protect.scanned.release import ScannedRelease
from confide.protect.seam.coarsening import Chain

WEIGHT = "\x00weight"
"""The column that says how many records, or how much of their weight, a distinct value stands for."""
PENDING = 2_000_000


@dataclass(eq=False)
class Margins:
    """Variables of both files, one at a time. `weight`: the survey weight, None for none; `items`: what is compared."""

    release: ScannedRelease
    weight: str | None
    items: Wanted | None
    _held: dict[str, Pair] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The variables that are compared where a measure names none."""
        plan, types = self.release.plan, self.release.original.types
        aside = {*plan.identifiers, plan.weight, plan.unit, self.weight}
        wanted = types if self.items is None else [self.items] if isinstance(self.items, str) else self.items
        return [v for v in wanted if v not in aside and not (types[v].is_nested() or types[v] == pl.Binary)]

    def pair(self, v: str) -> Pair:
        """Both files' distinct values of a variable; the last ones are remembered."""
        if v not in self._held:
            self._held = dict(list(self._held.items())[-8:]) | {v: self._made(v)}
        return self._held[v]

    def chosen(self, named: Sequence[str] | None, use: Any, where: str) -> Items:
        """The variables that a measure compares, and which of them the release has lost; as `items_of` says it of files
        in memory."""
        lost: dict[str, str] = {}
        names, still = list[str](), list[str]()
        for v in self.names if named is None else named:
            if v not in self.release.original.types:
                raise InputError(f'{where}: there is no column "{v}" in the original.')
            pair = self.pair(v)
            if named is None and use == "number" and pair.kind(v) != "numeric":
                continue
            if named is None and not varies(pair, v, use):
                still.append(v)
                continue
            names.append(v)
            lost |= items_of([pair], (v,), use, where).lost
        if not names:
            raise InputError(f"{where}: there is no variable in the original that it can compare.")
        return Items(names, lost, [f"left out, one value only in the original: {', '.join(still)}"] if still else [])

    def _made(self, v: str) -> Pair:
        before = _distinct(self.release.original, v, self.weight)
        there = v in self.release.released.types
        after = _distinct(self.release.released, v, self.weight) if there else pl.DataFrame({WEIGHT: [1.0]})
        first = Encoded(before, self.release.original.schema.select([v]))
        kind = self._kind(v, first)
        coarse = self._coarse(v, first, kind)
        return Pair(first, Encoded(after), WEIGHT, None, {v: kind}, coarse, items=(v,)).checked()

    def _kind(self, v: str, file: Encoded) -> Kind:
        """As the whole file has it."""
        if isinstance(self.items, Mapping) and (stated := self.items.get(v)):
            return stated
        if v in self.release.codebook.columns:
            return self.release.codebook.columns[v].kind
        labels = file.schema.variable(v)
        codes = file.schema.missing_codes(v, file.frame.get_column(v))
        return inferred(
            file.frame.get_column(v), bool(set(labels.value_labels) - set(codes)), self.release.original.height
        )[0]

    @property
    def stated_kinds(self) -> dict[str, Kind]:
        """Kinds that are stated, and not read off the values."""
        if isinstance(self.items, Mapping):
            return {v: kind for v, kind in self.items.items() if kind}
        return self.release.kinds

    def coarse_of(self, v: str, file: Encoded) -> dict[str, Coarse]:
        """What released categories of a variable stand for, among the rows of a file of several."""
        return self._coarse(v, file, self._kind(v, file))

    def _coarse(self, v: str, file: Encoded, kind: Kind) -> dict[str, Coarse]:
        compiled, plan = self.release.compiled, self.release.plan
        if v not in compiled.ways:
            return {}
        column = file.column(v, plan.kinds.get(v, kind))
        image, way = compiled.released_form(column), compiled.ways[v]
        if image.why != "recoded":
            return {}
        steps = Chain((*way.before.steps, *way.after.steps))
        return {v: Coarse(file.column(v, kind), image, steps, column.step)}


def _distinct(data: Scan, v: str, weight: str | None) -> pl.DataFrame:
    """The distinct values of a variable, each with the sum of its records' weights."""
    held: list[pl.DataFrame] = []
    for _, batch in data.batches(dict.fromkeys([v] if weight is None else [v, weight])):
        w = pl.Series(WEIGHT, [1.0]).new_from_index(0, batch.height) if weight is None else _weights(batch, weight)
        s = batch.get_column(v)
        held.append(_added([pl.DataFrame([s.fill_nan(None) if s.dtype.is_float() else s, w])], v))
        if sum(f.height for f in held[1:]) > max(PENDING, held[0].height):
            held = [_added(held, v)]
    found = _added(held, v)
    if weight is not None and not found[WEIGHT].sum() > 0:
        raise InputError(f'The weight "{weight}" is zero in every row.')
    return found


def _added(parts: list[pl.DataFrame], v: str) -> pl.DataFrame:
    return pl.concat(parts).group_by(v, maintain_order=True).agg(pl.col(WEIGHT).sum())


def _weights(batch: pl.DataFrame, weight: str) -> pl.Series:
    w = batch.get_column(weight).cast(pl.Float64)
    bad = int((~(w >= 0)).fill_null(True).sum())
    if bad:
        raise InputError(f'The weight "{weight}" is missing or negative in some rows.')
    return w.alias(WEIGHT)


def of_margins(measure: Measure, margins: Margins) -> Found:
    """A measure that is a mean over variables, each compared by itself."""
    where = type(measure).__name__
    assert isinstance(measure, Stated)
    items = margins.chosen(vars(measure)["variables"], measure.by_variable, where)
    losses = {v: replace(measure, variables=(v,)).of([margins.pair(v)]).value for v in items.kept}  # type: ignore[call-arg]
    return items.averaged(losses, measure.worst)
