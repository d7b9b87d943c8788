"""Files and frames: read and write them, accept pandas, polars and arrow, keep what a file says of itself."""

from confide.core.files.atomic import atomic_write
from confide.core.files.private import private_folder
from confide.frames.data import Data
from confide.frames.door import give_back, to_polars
from confide.frames.files import read, write
from confide.frames.schema import (
    Schema,
    VariableSchema,
    attach,
    schema,
    schema_from_dict,
    schema_to_dict,
)

__all__ = [
    "Data",
    "Schema",
    "VariableSchema",
    "atomic_write",
    "attach",
    "give_back",
    "private_folder",
    "read",
    "schema",
    "schema_from_dict",
    "schema_to_dict",
    "to_polars",
    "write",
]
