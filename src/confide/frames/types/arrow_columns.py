"""arrow to polars and back, each column in its own type. Imported only when the caller's object is one of arrow's."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.core.scale.interrupted import check_interrupted


def from_arrow(table: Any, what: str = "data") -> pl.DataFrame:
    """A pyarrow table as polars; a column of a type that polars lacks is refused by its name.

    >>> import pyarrow as pa
    >>> from_arrow(pa.table({"a": [1, None]})).rows()
    [(1,), (None,)]
    """
    columns = zip(table.column_names, table.columns, strict=True)
    return pl.DataFrame([arrow_series(name, column, what) for name, column in columns])


def arrow_series(name: str, column: Any, what: str = "data") -> pl.Series:
    """A pyarrow array as one column, with every value as it is."""
    import pyarrow as pa

    kind = column.type
    refused = InputError(
        f'{what}: column "{name}" holds {kind} values of arrow, which cannot be used; cast it to another type first.'
    )
    try:
        if pa.types.is_decimal256(kind):  # polars panics over it
            column = column.cast(pa.decimal128(38, kind.scale))
        made = pl.from_arrow(column)
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError):
        raise refused from None
    except BaseException as e:
        if type(e).__name__ != "PanicException":  # polars' own, which is no Exception
            raise
        check_interrupted(e)
        raise refused from None
    assert isinstance(made, pl.Series)
    return made.alias(name)


def to_arrow(frame: pl.DataFrame, like: Any) -> Any:
    """A polars frame as a pyarrow table, each column in the type it has in `like` where that holds its values.

    Dictionaries stay as polars writes them.

    >>> import pyarrow as pa
    >>> small = pa.table({"a": pa.array(["x"], pa.string())})
    >>> to_arrow(from_arrow(small), small).schema.field("a").type
    DataType(string)
    """
    import pyarrow as pa

    table = frame.to_arrow()
    for i, name in enumerate(frame.columns):
        wanted = like.schema.field(name).type if name in like.column_names else table.schema.field(i).type
        if wanted != table.schema.field(i).type and not pa.types.is_dictionary(wanted):
            with suppress(Exception):  # arrow raises of many kinds where a value does not fit; the type then stays
                cast = table.column(i).cast(wanted)
                if arrow_series(name, cast).equals(frame[name], check_dtypes=True, null_equal=True):
                    table = table.set_column(i, name, cast)
    return table
