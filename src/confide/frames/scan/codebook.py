"""What all parts of a file share: the distinct values of its variables, with how many rows have each.

Counts of parts add up, so that any cut of a file gives the same codebook. With it a batch is encoded as the whole file
would be: in the same kinds, categories and precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from confide.core.errors import InputError, raise_all
from confide.frames.columns import I64, Column, Kind, Margins, Records, as_levels, encode_column, inferred, readable
from confide.frames.scan.scan import BATCH, Scan
from confide.frames.scan.tallies import Tallies
from confide.frames.schema import Schema
from confide.frames.types.exact import to_floats

Counted = Callable[[Scan, list[str], Tallies], Tallies]
"""A pass over some variables of a scan, made elsewhere."""


@dataclass(frozen=True, eq=False)
class Codebook:
    """`columns`: each variable with its distinct values as rows, the missing one last; `counts`: how many rows of the
    file have each of them (of a number of which only some values were kept, none); `rows`: of the file.

    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> book = Codebook.from_tallies(Tallies(["sex"]), Schema(), {})
    Traceback (most recent call last):
    confide.InputError: The file has no rows.
    """

    columns: Mapping[str, Column]
    counts: Mapping[str, I64] = field(repr=False)
    rows: int

    @classmethod
    def of(
        cls, scan: Scan, names: Iterable[str], kinds: Mapping[str, Kind] | None = None, rows: int = BATCH,
        most: int | None = None, counted: Counted | None = None,
    ) -> Codebook:  # fmt: skip
        """Of some variables of a file, by one pass over them. `most`: of a number with more distinct values than these,
        only so many are kept, uncounted: enough to encode any batch. `counted`: makes that pass, where it is not made
        here."""
        wanted, kinds = list(dict.fromkeys(names)), kinds or {}
        brief = [] if most is None else [v for v in wanted if _brief(scan, v, kinds.get(v))]
        tallies = Tallies(wanted, brief, most)
        tallies = tallies.over(scan.batches(wanted, rows)) if counted is None else counted(scan, wanted, tallies)
        if tallies.blurred(kinds):  # numbers that float64 does not hold are categories: all of them count
            return cls.of(scan, wanted, kinds, rows, counted=counted)
        return cls.from_tallies(tallies, scan.schema, kinds, wanted)

    @classmethod
    def from_tallies(
        cls, tallies: Tallies, schema: Schema, kinds: Mapping[str, Kind], names: Iterable[str] = ()
    ) -> Codebook:  # fmt: skip
        """From counts of all parts. `kinds`: those that are named; others are inferred as from the whole file."""
        if not tallies.rows:
            raise InputError("The file has no rows.")
        columns, counts, problems = dict[str, Column](), dict[str, I64](), list[str]()
        for v in names:
            try:
                found, facts = tallies.found(v), tallies.facts.get(v)
                columns[v], counts[v] = _column(found, v, schema, kinds.get(v), tallies.rows)
                if facts is not None:
                    columns[v], counts[v] = facts.settled(columns[v]), counts[v][:0]
            except InputError as e:
                problems += e.problems
        raise_all(problems)
        return cls(columns, counts, tallies.rows)

    def encode(self, batch: pl.DataFrame, first: int, names: Iterable[str] | None = None) -> Records:
        """A batch whose first row has this number, in the codes of the whole file."""
        wanted = list(self.columns if names is None else names)
        numbers = np.arange(first, first + batch.height, dtype=np.int64)
        made = (placed(batch.get_column(v), self.columns[v]) for v in wanted)
        return Records(made, n=batch.height, rows=numbers, file=self.rows)

    def margins(self) -> Margins:
        """All variables, each by itself."""
        return Margins(self.columns.values(), {v: n.astype(float) for v, n in self.counts.items()}, self.rows)


def _column(found: pl.DataFrame, v: str, schema: Schema, asked: Kind | None, rows: int) -> tuple[Column, I64]:
    s, n = readable(found, v), found.get_column("n")
    special: tuple[float, ...] = ()
    labelled = False
    if v in schema.variables:
        codes = schema.missing_codes(v, s)
        labelled = bool(set(schema.variables[v].value_labels) - set(codes))
        special = tuple(float(c) for c in codes if isinstance(c, (int, float)))
    kind, why = (asked, "named") if asked else inferred(s, labelled, rows)
    column = encode_column(s, kind, special=special if kind == "numeric" else ())
    order = np.argsort(np.where(column.missing, np.inf, column.values), kind="stable")
    return replace(column.take(order), why=why), n.to_numpy().astype(np.int64)[order]


def _brief(scan: Scan, v: str, asked: Kind | None) -> bool:
    """Whether a variable is a number if it has many values, whatever these are."""
    dtype, said = scan.types[v], scan.schema.variables.get(v)
    number = dtype.is_numeric() or dtype.is_temporal()
    return number and asked != "categorical" and not (said is not None and (said.value_labels or said.missing))


def placed(s: pl.Series, model: Column) -> Column:
    """A batch of a variable in the form of the whole file."""
    if model.kind == "numeric":
        return model.with_values(to_floats(s)[0])
    if isinstance(s.dtype, pl.Enum):
        return model.with_values(s.to_physical().cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64))
    plain = as_levels(s)
    levels = pl.Series("v", list(model.levels), dtype=plain.dtype)
    table = pl.DataFrame({"v": levels, "code": np.arange(len(levels), dtype=np.int64)})
    codes = pl.DataFrame({"v": plain}).join(table, on="v", how="left", maintain_order="left")["code"]
    return model.with_values(codes.fill_null(-1).to_numpy().astype(np.int64))
