"""From what steps made of batches to public columns: what is spilt, and what is released once all of it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import I64, Column, Records, decode
from confide.frames.scan.scan import Scan
from confide.frames.schema import Schema
from confide.frames.types.returning import Returning
from confide.protect.codebook import schema_of_occurring
from confide.protect.compiled import Compiled
from confide.protect.scanned.units import Pseudonyms, SomeUnits
from confide.protect.seam.gathering import narrow_codes

if TYPE_CHECKING:
    from confide.protect.plan import Plan
    from confide.protect.scanned.survey import Survey


Seen = tuple[dict[str, Returning], dict[str, set[int]], dict[str, pl.Series], I64 | None]
"""What released rows show: the range of numbers, categories that occur, values that labels are of, and units."""


class Public:
    """The columns of a release. Altered ones are spilt as arrays, since their types hang on all values."""

    def __init__(self, plan: Plan, data: Scan, found: Survey, models: Mapping[str, Column]) -> None:
        self.plan, self.schema, self.survey = plan, data.schema, found
        self.names = [v for v in data.columns if v not in plan.gone]
        self.pseudonyms = Pseudonyms(data.height) if plan.unit in self.names else None
        self.models = {v: models[v] for v in self.names if v in models}
        self.types = {v: pl.Int64() if v == plan.unit else data.types[v] for v in self.names}
        self.back = {v: Returning(v, m.dtype) for v, m in self.models.items() if m.kind == "numeric"}
        self.categories: dict[str, set[int]] = {v: set() for v in self.names if isinstance(self._type(v), pl.Enum)}
        described = [v for v, s in data.schema.variables.items() if v in self.names and (s.value_labels or s.missing)]
        described = [v for v in described if v != plan.unit]
        self.values: dict[str, pl.Series] = {v: pl.Series(v, [], dtype=self._type(v)) for v in described}
        nested = [v for v in self.names if self.types[v].is_nested() and "Enum" in str(self.types[v])]
        if nested:
            raise InputError(
                f'Column "{nested[0]}" holds lists or structures of categories, which are not for files that are read '
                "in parts; cast them to text, or add it to drop."
            )

    def _type(self, v: str) -> pl.DataType:
        return self.models[v].dtype if v in self.models else self.types[v]

    def spilt(self, first: int, batch: pl.DataFrame, current: Records) -> pl.DataFrame:
        """A batch of released rows, to be put aside; `see` is to hear of them."""
        at = current.rows - first
        whole = len(at) == batch.height
        made = []
        for v in self.names:
            if v in self.models:
                made.append(pl.Series(v, narrow_codes(current[v].values, len(self.models[v].levels))))
            elif self.pseudonyms is not None and v == self.plan.unit:
                assert current.units is not None, "the numbers of units are needed for pseudonyms"
                made.append(pl.Series(v, current.units))
            else:
                s = batch.get_column(v)
                made.append(s if whole else s.gather(at))
        return pl.DataFrame(made)

    def see(self, frame: pl.DataFrame) -> None:
        """What released rows show: categories, the range of numbers, units."""
        for v, back in self.back.items():
            back.see(frame.get_column(v).to_numpy())
        if self.pseudonyms is not None and self.plan.unit is not None:
            self.pseudonyms.see(frame.get_column(self.plan.unit).to_numpy())
        for v, seen in self.categories.items():
            codes = frame.get_column(v).to_physical() if v not in self.models else frame.get_column(v)
            seen.update(int(c) for c in codes.drop_nulls().unique().to_list() if c >= 0)
        for v, held in self.values.items():
            series = self._plain(frame.get_column(v)).cast(held.dtype, strict=False)
            self.values[v] = pl.concat([held, series.unique()]).unique()

    def anew(self) -> Public:
        """The same before anything was seen."""
        made = copy(self)
        made.back = {v: Returning(v, m.dtype) for v, m in self.models.items() if v in self.back}
        made.categories = {v: set() for v in self.categories}
        made.values = {v: s.clear() for v, s in self.values.items()}
        made.pseudonyms = None if self.pseudonyms is None else SomeUnits()
        return made

    @property
    def seen(self) -> Seen:
        """What released rows have shown."""
        return self.back, self.categories, self.values, None if self.pseudonyms is None else self.pseudonyms.seen()

    def merge(self, seen: Seen) -> None:
        """What others were shown."""
        back, categories, values, units = seen
        for v, more in back.items():
            self.back[v].merge(more)
        for v, some in categories.items():
            self.categories[v] |= some
        for v, found in values.items():
            self.values[v] = pl.concat([self.values[v], found]).unique()
        if self.pseudonyms is not None and units is not None:
            self.pseudonyms.see(units)

    def _plain(self, s: pl.Series) -> pl.Series:
        """A spilt column as values, in the type that it was altered in."""
        if s.name not in self.models:
            return s
        model = self.models[s.name]
        if model.kind == "categorical":
            return decode(model.with_values(s.to_numpy().astype(np.int64)))
        return pl.Series(s.name, s.to_numpy())

    def released(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Spilt rows as they are released."""
        return pl.DataFrame([self._released(frame.get_column(v)) for v in self.names])

    def _released(self, s: pl.Series) -> pl.Series:
        v = s.name
        if self.pseudonyms is not None and v == self.plan.unit:
            return pl.Series(v, self.pseudonyms.of(s.to_numpy()))
        s = self.back[v].made(s.to_numpy()) if v in self.back else self._plain(s)
        if isinstance(s.dtype, pl.Categorical):
            return s.cast(pl.String).cast(s.dtype)  # no list of categories that others have
        if v not in self.categories or v in self.open:
            return s
        every = self._type(v).categories.to_list()  # type: ignore[attr-defined]
        kept = [every[c] for c in sorted(self.categories[v])]
        return s.cast(pl.Enum(sorted(kept) if v in self.survey.follows else kept))

    @property
    def open(self) -> tuple[str, ...]:
        """Variables whose categories anybody may know."""
        return self.plan.open_codebooks(self.names)

    def described(self, compiled: Compiled, types: Mapping[str, pl.DataType]) -> Schema:
        """What may be said of released variables: no notes, nothing of what is left out, no labels that are old."""
        kept = self.schema.select(self.names)
        variables = dict(kept.variables)
        if self.plan.unit in variables:
            variables[self.plan.unit] = replace(variables[self.plan.unit], value_labels={}, missing=())
        for v in compiled.ways:
            if v in variables and compiled.released_form(self.survey.codebook.columns[v]).why == "recoded":
                variables[v] = replace(variables[v], value_labels={}, missing=())
        held = replace(kept, variables=variables, file_label=None, notes=())
        for v in held.variables:
            seen = _as(self.values.get(v), v, types[v]).to_frame()
            variables |= schema_of_occurring(held.select([v]), seen, self.open).variables
        return replace(held, variables={v: variables[v] for v in held.variables})


def _as(found: pl.Series | None, name: str, dtype: pl.DataType) -> pl.Series:
    return pl.Series(name, [], dtype=dtype) if found is None else found.cast(dtype, strict=False)


def check_names(names: Sequence[str]) -> None:
    """Refuse a release without a column."""
    if not names:
        raise InputError("Nothing would be released: every column is an identifier or dropped.")
