"""Charts whose texts can be drawn: a renderer must never meet a character, or a name, that it fails on."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.core.visible import visible

OF_OBJECTS = frozenset(
    (
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    )
)  # fmt: skip
"""Names that every object of JavaScript knows; Vega takes a category of such a name for what the name means there."""

SAME_LOOK = "\u2060"
"""Takes no room and has no form. In any other place `visible` spells it out."""


def drawn_text(text: str) -> str:
    """A text as a chart can hold it.

    >>> drawn_text("a\\x0bb"), drawn_text("constructor") == "constructor"
    ('a<U+000B>b', False)
    """
    if text.removesuffix(SAME_LOOK) in OF_OBJECTS:
        return text if text.endswith(SAME_LOOK) else text + SAME_LOOK
    return visible(text)


def drawable(chart: Any) -> Any:
    """The same chart, or part of one, with every text (data, titles, order of categories) as a chart can hold it.

    >>> import altair as alt
    >>> bars = alt.Chart(pl.DataFrame({"x": ["a\\x01"], "y": [1]})).mark_bar().encode(x="x:N", y="y:Q")
    >>> drawable(bars).data["x"].to_list(), drawable(bars.properties(title="b\\n")).title
    (['a<U+0001>'], 'b<U+000A>')
    """
    import altair as alt

    if isinstance(chart, str):
        return drawn_text(chart)
    if isinstance(chart, pl.DataFrame):
        return _frame(chart)
    if isinstance(chart, dict):
        return _if_changed(chart, {drawn_text(k): drawable(v) for k, v in chart.items()})
    if isinstance(chart, (list, tuple)):
        new = [drawable(v) for v in chart]
        return chart if all(a is b for a, b in zip(chart, new, strict=True)) else type(chart)(new)
    return _object(chart) if isinstance(chart, alt.SchemaBase) else chart


def _if_changed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return old if list(old) == list(new) and all(old[k] is new[k] for k in old) else new


def _object(part: Any) -> Any:
    """An object of altair; a copy where anything in it changes."""
    args, named = drawable(part._args), drawable(part._kwds)
    if args is part._args and named is part._kwds:
        return part
    copy = part.copy(deep=False)
    object.__setattr__(copy, "_args", args)  # a plain assignment would make it a part of the chart
    object.__setattr__(copy, "_kwds", named)
    return copy


def _frame(data: pl.DataFrame) -> pl.DataFrame:
    texts = [c for c, kind in data.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    changes = {c: found for c in texts if (found := _changes(data[c]))}
    names = {c: drawn_text(c) for c in data.columns if drawn_text(c) != c}
    if not changes and not names:
        return data
    return data.with_columns(pl.col(c).cast(pl.String).replace(found) for c, found in changes.items()).rename(names)


def _changes(values: pl.Series) -> dict[str, str]:
    return {t: drawn_text(t) for t in values.cast(pl.String).unique().drop_nulls() if drawn_text(t) != t}
