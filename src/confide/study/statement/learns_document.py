"""What must not be learnt, in study files: `[[learn]]` tables, or names of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from confide.core.documents.hints import kind_of
from confide.core.documents.plain import Reader, Writer
from confide.core.documents.schema import JsonSchema, Schemas, closed, either
from confide.study.statement.learns import Learns, as_learns

TEXT, NUMBER = {"type": "string", "minLength": 1}, {"type": "number"}


def stated_learns(reader: Reader, given: Any) -> list[Learns]:
    """The statements of a document; problems are in the reader.

    >>> reader = Reader()
    >>> stated_learns(reader, ["tenure", {"variable": "hh_income", "loss": {"within": 0.2}}])
    [Learns(variable='tenure', loss=None, gain=None, costs={}), Learns(variable='hh_income', loss=Within(share=0.2, floor=0.0), gain=None, costs={})]
    """  # noqa: E501
    each = [given] if isinstance(given, (str, Mapping)) else given
    if not isinstance(each, Sequence):
        reader.blame(
            "learn", f'lists variables, as learn = ["hh_income"] or in [[learn]] tables, not {kind_of(given)}.'
        )
        return []
    found = [_one(reader, one, f"learn[{i}]") for i, one in enumerate(each)]
    made = [one for one in found if one is not None]
    for v, many in Counter(one.variable for one in made).items():
        if many > 1:
            reader.blame("learn", f'"{v}" is listed {many} times; keep one.')
    return made


def _one(reader: Reader, given: Any, where: str) -> Learns | None:
    if isinstance(given, str):
        return reader.build(Learns, {"variable": given}, where)
    if not isinstance(given, Mapping):
        reader.blame(where, f"must be the name of a variable or a table, not {kind_of(given)}.")
        return None
    return reader.build(Learns, _spelled_out(given), where)


def _spelled_out(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """`loss = {within = 0.1}` is short for `loss = {within = {share = 0.1}}`."""
    loss = table.get("loss")
    share = loss.get("within") if isinstance(loss, Mapping) and len(loss) == 1 else None
    return table if share is None or isinstance(share, Mapping) else {**table, "loss": {"within": {"share": share}}}


def learns_tables(learns: Sequence[Any]) -> list[dict[str, Any]]:
    """Statements as `[[learn]]` tables."""
    return [Writer().table(as_learns(one)) for one in learns]


def learns_schema(schemas: Schemas) -> JsonSchema:
    """What a study file may hold of them."""
    table = schemas.table(Learns, {}, subject=False)
    short = closed({"within": NUMBER}, ["within"])
    table["properties"]["loss"] = either(table["properties"]["loss"], short)
    one = either(TEXT, table)
    return either(one, {"type": "array", "items": one})
