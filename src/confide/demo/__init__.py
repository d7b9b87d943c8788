"""Shipped data to try things on: householders and persons of 2024, voters of 1996 (all public domain), a simulated
survey, and counts of the residents of wards in 2011 (Open Government Licence v3.0, see `demo`).
"""

from __future__ import annotations

import io
import sys
from importlib.resources import files
from types import ModuleType

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.demo.codebook import FILES, Variable
from confide.frames.schema import Schema, VariableSchema, attach

__all__ = ["codebook", "demo"]


def demo(name: str = "heads") -> pl.DataFrame:
    """A shipped data set: "heads", "heads_population", "persons", "wards", "elites" or "anes1996".

    - "heads": 51,016 householders of the American Community Survey 2024.
    - "heads_population": for each cell of six keys, the householders in the frame of 1,016,437 that "heads" was
      drawn from, and in the sample.
    - "persons": 8,233 people of 15 and over in 4,226 households of Rhode Island, American Community Survey 2024: a file
      with households, weights and money.
    - "wards": usual residents by sex and single year of age, 16 to 84, in 123 wards of West Yorkshire, 2011 Census.
      Contains National Statistics data (c) Crown copyright and database right 2012, Open Government Licence v3.0.
    - "elites": 662 simulated rows, a surrogate of the survey of elites in Fienberg, Makov and Sanil (1997), which
      is not public. `attitude` is what their intruder wants to learn.
    - "anes1996": 944 voters of the American National Election Study 1996.

    Categories are Enums with every label of the code list in the order of the codes; whole numbers are Int64. The
    attached schema keeps labels and the codes of the source.

    >>> heads = demo("heads")
    >>> heads.shape, heads["sex"].dtype.categories.to_list()
    ((51016, 15), ['male', 'female'])
    >>> demo("elites").columns
    ['age', 'civil', 'can_us', 'income', 'attitude']
    """
    file, variables = _entry(name)
    raw = pl.read_parquet(io.BytesIO((files("confide.demo") / "data" / file).read_bytes()))
    frame = pl.DataFrame([_readable(raw[v.name], v) for v in variables])
    return attach(frame, Schema({v.name: _described(v) for v in variables}))


def codebook(name: str = "heads") -> pl.DataFrame:
    """What a shipped data set holds, one row per variable: its label, its kind, its values in words.

    Names are those of `demo`. Labels of simulated variables say "surrogate".

    >>> codebook("heads").row(1)
    ('sex', 'sex of the householder', 'categorical', '1 male; 2 female')
    >>> codebook("elites").row(0)
    ('age', 'age (surrogate)', 'numeric', 'simulated: years plus noise')
    """
    _, variables = _entry(name)
    return pl.DataFrame(
        [(v.name, v.label, v.kind, v.describe()) for v in variables],
        schema=["variable", "label", "kind", "values"],
        orient="row",
    )


class _Room(ModuleType):
    """`cf.demo("heads")` also works once `import confide.demo` put this module in the function's place."""

    def __call__(self, name: str = "heads") -> pl.DataFrame:
        return demo(name)


sys.modules[__name__].__class__ = _Room


def _entry(name: str) -> tuple[str, tuple[Variable, ...]]:
    if name not in FILES:
        known = ", ".join(f'"{n}"' for n in FILES)
        hint = did_you_mean(name, FILES)
        near = hint if "Did you mean" in hint else ""
        raise InputError(f'There is no demo data named "{name}"; there are {known}.{near}')
    return FILES[name]


def _readable(values: pl.Series, variable: Variable) -> pl.Series:
    if variable.codes:
        labels = list(variable.codes.values())
        return values.replace_strict(list(variable.codes), labels, return_dtype=pl.Enum(labels))
    return values.cast(pl.Int64) if values.dtype.is_integer() else values


def _described(variable: Variable) -> VariableSchema:
    measure = "nominal" if variable.kind in ("categorical", "identifier") else "scale"
    labels: dict[int | float | str, str] = dict(variable.codes.items())
    return VariableSchema(variable.name, variable.label, labels, measure=measure)
