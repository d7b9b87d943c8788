"""A frame that must not be published says so itself, as long as it is the very frame that was made.

A `Data` passes the mark on to all that is made of it. On a bare frame it is lost by any operation that makes a new one:
a frame that somebody alters and writes by hand cannot be guarded.
"""

from __future__ import annotations

from copy import copy
from typing import TypeVar

import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pyarrow_table

from confide.frames.data import Data

Frame = TypeVar("Frame")

_ATTRIBUTE = "_confide_refusal"  # on a polars frame
_KEY = "confide_refusal"  # in the attrs of a pandas frame, and in the metadata of an arrow table


def withhold(frame: Frame, why: str) -> Frame:
    """The frame with a sentence that says why it must not be published; an arrow table or a `Data` is a new one."""
    if isinstance(frame, Data):
        made = copy(frame)
        object.__setattr__(made, "refusal", why)
        return made
    if isinstance(frame, pl.DataFrame):
        setattr(frame, _ATTRIBUTE, why)
    elif is_pandas_dataframe(frame):
        frame.attrs[_KEY] = why
    elif is_pyarrow_table(frame):
        marked: Frame = frame.replace_schema_metadata({**(frame.schema.metadata or {}), _KEY: why})
        return marked
    return frame


def why_withheld(frame: object) -> str:
    """Why a frame must not be published; empty where nothing is known against it.

    >>> why_withheld(withhold(pl.DataFrame({"a": [1]}), "It is a draft."))
    'It is a draft.'
    """
    if isinstance(frame, Data):
        return frame.refusal
    if is_pandas_dataframe(frame):
        return str(frame.attrs.get(_KEY, ""))
    if is_pyarrow_table(frame):
        return str((frame.schema.metadata or {}).get(_KEY.encode(), b"").decode())
    return str(getattr(frame, _ATTRIBUTE, "")) if isinstance(frame, pl.DataFrame) else ""
