"""The schema: attached to one frame, selected, renamed, stored as JSON."""

from __future__ import annotations

import json
import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.core.errors import InputError
from confide.frames import Schema, VariableSchema, attach, schema, schema_from_dict, schema_to_dict

FULL = Schema(
    {
        "sex": VariableSchema("sex", "Sex", {1: "male", 2: "female"}, (9,), "nominal", "F1.0"),
        "code": VariableSchema("code", value_labels={"a": "first", "b": "second"}, missing=("x",)),
        "money": VariableSchema("money", "Income", {-1: "none", 2.5: "odd"}, ((-math.inf, -1), 99)),
    },
    file_label="A survey",
    notes=("one", "two"),
)


def test_a_schema_survives_json_with_the_types_of_its_codes() -> None:
    again = schema_from_dict(json.loads(json.dumps(schema_to_dict(FULL), allow_nan=False)))
    assert again == FULL
    assert [type(c) for c in again.variables["money"].value_labels] == [int, float]


def test_attached_to_this_frame_only() -> None:
    frame = pl.DataFrame({"sex": [1]})
    assert attach(frame, FULL) is frame
    assert schema(frame) == FULL
    assert schema(frame.clone()) == Schema()
    assert schema("not a frame") == Schema()


def test_in_pandas_it_lives_in_attrs_and_can_be_written() -> None:
    frame = attach(pd.DataFrame({"sex": [1]}), FULL)
    assert schema(frame) == FULL
    assert json.dumps(frame.attrs)


def test_an_arrow_table_cannot_hold_one() -> None:
    with pytest.raises(InputError, match="polars or a pandas DataFrame, not to Table"):
        attach(pa.table({"a": [1]}), FULL)


def test_select_and_rename() -> None:
    assert list(FULL.select(["money", "sex", "unknown"]).variables) == ["money", "sex"]
    assert FULL.select(["sex"]).notes == FULL.notes
    renamed = FULL.rename({"sex": "gender"})
    assert renamed.variable("gender").label == "Sex"
    assert renamed.variable("gender").name == "gender"
    assert renamed.variable("sex") == VariableSchema("sex")


@pytest.mark.parametrize(
    ("name", "values", "codes"),
    [
        ("sex", [1, 2, None], (9,)),
        ("money", [-7, -1, 0, 5, None, float("nan"), -7], (99, -7, -1)),
        ("money", pl.Series([-3.0, 10.0, None]), (99, -3.0)),
        ("code", ["a", "x"], ("x",)),
        ("absent", [1], ()),
    ],
)
def test_missing_codes_expand_ranges(name: str, values: list[object], codes: tuple[object, ...]) -> None:
    assert FULL.missing_codes(name, values) == codes


@pytest.mark.parametrize("stored", [{"variables": 3}, {"variables": [{}]}, {"variables": [{"missing": [[1]]}]}])
def test_what_is_not_a_stored_schema_is_refused(stored: dict[str, object]) -> None:
    with pytest.raises(InputError, match="not a stored schema"):
        schema_from_dict(stored)


def test_codes_are_found_in_columns_of_any_numeric_type() -> None:
    for dtype in (pl.UInt8, pl.Int64, pl.Float32, pl.Decimal(6, 1)):
        found = FULL.coded(pl.Series("money", [1, 99, None], dtype=dtype))
        assert found.to_list() == [False, True, False]
    assert FULL.coded(pl.Series("money", [-7.0, float("nan"), 98.0])).to_list() == [True, False, False]
    assert FULL.coded(pl.Series("code", ["x", "a", None])).to_list() == [True, False, False]
    assert not FULL.coded(pl.Series("money", ["99"])).any()
    assert not FULL.coded(pl.Series("money", ["99"], dtype=pl.Enum(["99"]))).any()


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(InputError, match=r'"labell" is not a part of a stored variable. Did you mean "label"'):
        schema_from_dict({"variables": [{"name": "a", "labell": "A"}]})
