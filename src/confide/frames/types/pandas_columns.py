"""pandas to polars and back, one column at a time, without pyarrow wherever numpy is enough.

Imported only when the caller's frame is a pandas frame.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.door import from_values
from confide.frames.types.arrow_columns import arrow_series

_SECONDS = {"s": "ms"}  # the one resolution of pandas that polars lacks


def from_pandas(frame: Any, what: str = "data") -> pl.DataFrame:
    """A pandas frame with unique text names as polars; the index is ignored, missing values become null.

    >>> import pandas as pd
    >>> from_pandas(pd.DataFrame({"a": [1.0, float("nan")], "s": ["x", None]})).rows()
    [(1.0, 'x'), (None, None)]
    """
    return pl.DataFrame([_from(name, frame[name], what) for name in frame.columns])


def to_pandas(frame: pl.DataFrame, like: Any = None) -> Any:
    """A polars frame as pandas: Enum to ordered Categorical, whole numbers with nulls to Int64.

    A column keeps the type that it has in `like`, where that holds its values.

    >>> to_pandas(pl.DataFrame({"a": [1, None], "b": [1.5, None]})).dtypes.astype(str).to_dict()
    {'a': 'Int64', 'b': 'float64'}
    """
    import pandas as pd

    index = pd.RangeIndex(frame.height)
    types = {} if like is None else dict(like.dtypes)
    return pd.DataFrame({s.name: _typed(pd.Series(_to(s), index=index), s, types) for s in frame}, index=index)


def _typed(made: Any, s: pl.Series, types: dict[Any, Any]) -> Any:
    """A pandas column in the type wanted, if its values are the same there; categories name only what occurs."""
    import pandas as pd

    wanted = types.get(s.name, made.dtype)
    if wanted == made.dtype or isinstance(wanted, pd.CategoricalDtype):
        return made
    with suppress(Exception):  # pandas raises of many kinds where a value does not fit; the type then stays
        listed = (
            pd.Series(s.to_list(), index=made.index, dtype=object) if pd.api.types.is_object_dtype(wanted) else made
        )
        cast = listed.astype(wanted)
        if _from(s.name, cast, "").equals(s, check_dtypes=True, null_equal=True):
            return cast
    return made


def _from(name: str, values: Any, what: str) -> pl.Series:
    import pandas as pd

    dtype = values.dtype
    if pd.api.types.is_complex_dtype(dtype):
        raise InputError(f'{what}: column "{name}" holds complex numbers; give their parts as two columns.')
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_category(name, values, what)
    if isinstance(dtype, pd.ArrowDtype):
        return arrow_series(name, values.array.__arrow_array__(), what)
    if isinstance(dtype, pd.SparseDtype):
        return _from(name, values.sparse.to_dense(), what)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return pl.Series(name, values.to_numpy(), nan_to_null=True)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        unit = np.datetime_data(dtype)[0]
        return pl.Series(name, values.to_numpy().astype(f"{dtype.kind}8[{_SECONDS.get(unit, unit)}]"))
    if isinstance(dtype, pd.DatetimeTZDtype):
        utc = values.dt.tz_convert("UTC").dt.tz_localize(None)
        try:
            return _from(name, utc, what).dt.replace_time_zone("UTC").dt.convert_time_zone(str(dtype.tz))
        except pl.exceptions.PolarsError:
            raise InputError(
                f'{what}: column "{name}" holds times in a zone without a name; convert them to UTC first.'
            ) from None
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return _from_nullable(name, values)
    listed = values.astype(object).where(values.notna(), None).tolist()
    if isinstance(dtype, pd.StringDtype):
        return pl.Series(name, listed, dtype=pl.String)
    return from_values(name, [_plain(v) for v in listed], what)


def _plain(value: Any) -> Any:
    """A numpy scalar inside an object column as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _from_category(name: str, values: Any, what: str) -> pl.Series:
    levels = values.cat.categories
    codes = np.asarray(values.cat.codes, dtype=np.int64)
    index = pl.Series(name, codes).replace(-1, None)
    named = _from("levels", levels.to_series().reset_index(drop=True), what)
    taken = named.gather(index).alias(name)
    return taken.cast(pl.Enum(named)) if named.dtype == pl.String else taken


def _from_nullable(name: str, values: Any) -> pl.Series:
    """Int64, boolean and their like, pandas' own or backed by arrow: numbers and a mask."""
    absent = values.isna().to_numpy(dtype=bool)
    kind = values.dtype.kind
    plain = getattr(values.dtype, "numpy_dtype", np.dtype(np.float64))
    filled = values.fillna(False if kind == "b" else 0).to_numpy(dtype=plain)
    made = pl.select(pl.when(pl.lit(pl.Series(absent))).then(None).otherwise(pl.lit(pl.Series(filled))).alias(name))
    return made.to_series().fill_nan(None) if plain.kind == "f" else made.to_series()


def _to(values: pl.Series) -> Any:
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pl.Enum):
        codes = values.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return pd.Categorical.from_codes(codes, categories=dtype.categories.to_list(), ordered=True)
    if dtype == pl.Categorical:
        return pd.Categorical(values.cast(pl.String).to_list())
    if str(dtype) in ("Int128", "UInt128"):
        return pd.Series(values.to_list(), dtype=object)
    if dtype.is_integer():
        return pd.array(values.to_list(), dtype=str(dtype)) if values.null_count() else values.to_numpy()
    if dtype == pl.Boolean:
        return pd.array(values.to_list(), dtype="boolean") if values.null_count() else values.to_numpy()
    if dtype.is_float():
        return values.to_numpy()
    if isinstance(dtype, pl.Datetime) and dtype.time_zone:
        naive = pd.Series(values.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy())
        return naive.dt.tz_localize("UTC").dt.tz_convert(dtype.time_zone)
    if dtype == pl.Date:
        return values.cast(pl.Datetime("ms")).to_numpy()
    if isinstance(dtype, (pl.Datetime, pl.Duration)):
        return values.to_numpy()
    if dtype == pl.Object:
        raise InputError(f'Column "{values.name}" holds Python objects and cannot be handed back to pandas.')
    return pd.Series(values.to_list(), dtype=object).infer_objects()
