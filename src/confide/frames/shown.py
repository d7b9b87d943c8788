"""What a `Data` shows of itself: its codebook, and what a bare frame would lack."""

from __future__ import annotations

from html import escape

import polars as pl

from confide.core.visible import visible
from confide.frames.columns import kind_of
from confide.frames.schema import Missing, Schema

_WIDE = 60
"""Characters of a text that a printout shows."""


def codebook(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """One row per variable: its label, its kind, its values in words, the codes that mean missing."""
    rows = []
    for s in frame:
        said = schema.variable(s.name)
        codes = schema.missing_codes(s.name, s)
        labelled = bool(set(said.value_labels) - set(codes))
        words = "; ".join(f"{code} {label}" for code, label in said.value_labels.items())
        missing = ", ".join(map(_code, said.missing))
        rows.append((s.name, said.label or "", kind_of(s, labelled), words, missing))
    names = ["variable", "label", "kind", "values", "missing"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _code(missing: Missing) -> str:
    return f"{missing[0]:g} to {missing[1]:g}" if isinstance(missing, tuple) else str(missing)


def left_behind(schema: Schema) -> str:
    """What a bare frame lacks, in a sentence; empty where it is nothing."""
    said = schema.variables.values()
    labels, values = sum(bool(v.label) for v in said), sum(bool(v.value_labels) for v in said)
    coded = ", ".join(f'"{v.name}"' for v in said if v.missing)
    parts = [
        f"labels of {_many(labels)}" if labels else "",
        f"value labels of {_many(values)}" if values else "",
        f"user-missing codes of {coded}, from then on values like any other" if coded else "",
    ]
    found = "; ".join(p for p in parts if p)
    return f"to_polars leaves behind: {found}. To put it back: cf.Data(frame, data.schema)." if found else ""


def shown(frame: pl.DataFrame, schema: Schema) -> str:
    """The codebook as text, without a value of the data."""
    with pl.Config(tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, fmt_str_lengths=_WIDE):
        return f"{_title(frame, schema)}\n{codebook(frame, schema)}"


def shown_html(frame: pl.DataFrame, schema: Schema) -> str:
    """The first records as polars shows them, and the codebook below."""
    book = codebook(frame, schema)
    head = "".join(f"<th>{name}</th>" for name in book.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(visible(t))}</td>" for t in row) + "</tr>" for row in book.rows())
    table = f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f"<p>{escape(_title(frame, schema))}</p>{frame._repr_html_()}{table}"


def _title(frame: pl.DataFrame, schema: Schema) -> str:
    label = f' "{schema.file_label}"' if schema.file_label else ""
    coded = sum(bool(v.missing) for v in schema.variables.values())
    codes = f"; user-missing codes in {coded}" if coded else ""
    return visible(f"Data{label}: {frame.height:,} rows, {_many(frame.width)}{codes}")


def _many(n: int) -> str:
    return f"{n} variable{'s' * (n != 1)}"
