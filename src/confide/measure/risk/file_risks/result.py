"""What a customary risk found in a file: its numbers, one row per record, sentences, and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import wrap

import polars as pl

from confide.core.result import Result

WIDTH = 100
BARS = {"what": pl.String, "value": pl.Float64}


def bars(values: Mapping[str, float]) -> pl.DataFrame:
    """A picture's bars: what each stands for, and how long it is."""
    return pl.DataFrame({"what": list(values), "value": [float(v) for v in values.values()]}, schema=BARS)


@dataclass(frozen=True, eq=False, repr=False)
class FileRiskResult(Result):
    """A customary risk of one file.

    `frame`: private, one row per record (or class, or unit): `row` is its position in the file. `numbers`: by part, ""
    the first; `words`: the same parts in words. `title`: what was computed on what. `notes`: the rule for missing
    values, and every doubt, in sentences. `bars`: what the picture shows, with its `axis`. `table`: what else a
    printout shows, if anything.

    >>> import confide as cf
    >>> found = cf.measures.KAnonymity(["sex", "age"], k=3).of(cf.demo("heads"))
    >>> found.numbers[""], found.frame.columns
    (6.0, ['row', 'alike', 'below'])
    """

    title: str
    frame: pl.DataFrame
    numbers: Mapping[str, float | None]
    words: Mapping[str, str]
    notes: tuple[str, ...]
    bars: pl.DataFrame
    axis: str
    table: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def value(self) -> float | None:
        """The first number: how many people, or what the words say."""
        return self.numbers[""]

    def summary(self) -> pl.DataFrame:
        """One row per number: what it says, and its value (null where it cannot be computed)."""
        rows = [(said, self.numbers[part]) for part, said in self.words.items()]
        return pl.DataFrame(rows, schema={"what": pl.String, "value": pl.Float64}, orient="row")

    def __repr__(self) -> str:
        wide = max(len(said) for said in self.words.values())
        lines = [f"{said:<{wide}}  {_number(part, self.numbers[part])}" for part, said in self.words.items()]
        with pl.Config(tbl_rows=25, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, ascii_tables=True):
            more = ["", str(self.table)] if self.table.width else []
        said = [line for note in self.notes for line in wrap(note, WIDTH)]
        return "\n".join([self.title, "", *lines, *more, *(["", *said] if said else [])])

    def _repr_html_(self) -> str:
        """The summary as a table, and every sentence of the printout."""
        from html import escape

        return super()._repr_html_() + "".join(f"<p>{escape(note)}</p>" for note in self.notes)


def _number(part: str, value: float | None) -> str:
    if value is None:
        return "not known"
    if part.endswith("share"):
        return f"{100 * value:.3g}%"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1_000 else f"{value:,.4g}"
