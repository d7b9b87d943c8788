"""Two files to compare: the original and what was released of it, each variable as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.frames import schema, to_polars
from confide.frames.columns import F64, I64, Column, Kind, type_name
from confide.frames.encoded import Encoded
from confide.protect.release import Release

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """The original (`before`, n rows) and the released file (`after`, r rows).

    `weight`: a column of both, or None. `link`: the original row of each released row, shape (r,), or None. `kinds`:
    kinds that a plan fixed. `images`: what the plan's recodings make of original columns, where it made categories.
    `reads`: the variables whose values a measure has asked for, so that an audit knows what its figure depends on;
    measures take values from the methods below, never from the frames. `unit`: a column of pseudonyms, which is not
    compared.
    """

    before: Encoded
    after: Encoded
    weight: str | None = None
    link: I64 | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    images: Mapping[str, Column] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    unit: str | None = None

    @classmethod
    def of_frames(cls, original: Any, released: Any, weight: str | None = None, link: Any = None) -> Pair:
        """Two frames of any kind."""
        y, z = to_polars(original, "original"), to_polars(released, "released")
        rows = None
        if link is not None:
            rows = np.asarray(link)
            inside = rows.shape == (z.height,) and np.issubdtype(rows.dtype, np.integer)
            if not inside or (len(rows) and (rows.min() < 0 or rows.max() >= y.height)):
                raise InputError(f"link must give one original row number for each of the {z.height} released rows.")
        return cls(Encoded(y, schema(y)), Encoded(z), weight, rows).checked()

    @classmethod
    def of_release(cls, release: Release, weight: str | None, beside: Pair | None = None) -> Pair:
        """A release beside its original; `beside` is the pair of another copy, whose original is the same."""
        plan, compiled = release.plan, release.compiled
        if beside is not None:
            return replace(beside, after=release.after, link=release.link, reads=set()).checked()
        images: dict[str, Column] = {}
        if plan is not None and compiled is not None:
            made = [
                compiled.released_form(column)
                for v, column in plan.encode(release.before).items()
                if v in compiled.ways
            ]
            images = {column.name: column for column in made if column.why == "recoded"}
        unit = None if plan is None else plan.unit
        return cls(release.before, release.after, weight, release.link, release.kinds, images, unit=unit).checked()

    @property
    def original(self) -> pl.DataFrame:
        """The original file."""
        return self.before.frame

    @property
    def released(self) -> pl.DataFrame:
        """The released file."""
        return self.after.frame

    def checked(self) -> Pair:
        """The same pair; refused where a file is empty or the weight cannot be used."""
        if not self.original.height or not self.released.height:
            raise InputError("Both files need at least one row to be compared.")
        if self.weight is not None:
            self.weights(0), self.weights(1)
        return self

    def file(self, file: int) -> Encoded:
        """The original (0) or the release (1)."""
        return self.before if file == 0 else self.after

    def weights(self, file: int) -> F64:
        """Weights of the original (0) or the release (1); ones where there is no weight."""
        held, weight = self.file(file), self.weight
        if weight is None:
            return np.ones(held.frame.height)
        what = ("original", "released")[file]
        return held.remembered(("weight", weight), [weight], lambda: _weights(held, weight, what))

    @property
    def shared(self) -> list[str]:
        """Variables of both files, but for the weight and for pseudonyms of units, in the order of the release."""
        before, after = self.before.types, self.after.types
        plain = [v for v in after if v in before and v not in (self.weight, self.unit)]
        return [v for v in plain if not any(t.is_nested() or t == pl.Binary for t in (before[v], after[v]))]

    def known(self, variable: str, where: str) -> str:
        """The name, if both files have it."""
        if variable not in self.before.types:
            hint = did_you_mean(variable, self.original.columns)
            raise InputError(f'{where}: there is no column "{variable}" in the original.{hint}')
        if variable not in self.after.types:
            raise InputError(
                f'{where}: "{variable}" is not released, so nothing can be compared. Leave it out of the measure.'
            )
        return variable

    def kind(self, variable: str) -> Kind:
        """Numeric or categorical, in the original."""
        return self._encoded(variable).kind

    def column(self, variable: str) -> Column:
        """The original column, of the kind that the plan, its labels or its values give it."""
        self.reads.add(variable)
        return self._encoded(variable)

    def series(self, variable: str, file: int) -> pl.Series:
        """A variable of the original (0) or the release (1) as it stands."""
        self.reads.add(variable)
        return self.file(file).frame.get_column(variable)

    def frame(self, file: int) -> pl.DataFrame:
        """The whole original (0) or release (1): whoever takes it may read all that both have."""
        self.reads.update(self.shared)
        return self.file(file).frame

    def _encoded(self, variable: str) -> Column:
        return self.before.column(variable, self.kinds.get(variable))

    def remembered(self, file: int, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What `make` gave for one file when it was first asked. It reads one variable, the second part of the key, and
        the weight, of that file alone."""
        variable = key[1]
        self.reads.add(variable)
        read = [variable] if self.weight is None else [variable, self.weight]
        return self.file(file).remembered((*key, *read, self._encoded(variable).special), read, make)

    def is_number(self, variable: str) -> bool:
        """Whether both files hold numbers."""
        types = (self.before.types[variable], self.after.types[variable])
        return all(t.is_numeric() or t.is_temporal() or t == pl.Boolean for t in types)

    def checked_number(self, variable: str, where: str) -> str:
        """The name, if both files hold numbers in it."""
        self.known(variable, where)
        if self.is_number(variable):
            return variable
        held = self.before.types[variable]
        if not held.is_numeric():
            raise InputError(f'{where}: "{variable}" holds {type_name(held)}, but numbers are needed there.')
        raise InputError(
            f'{where}: "{variable}" holds numbers in the original but is released as categories, so that it has no '
            "mean or variance any more. Measure it by total_variation, hellinger, entropy or propensity instead."
        )

    def numbers(self, variable: str, file: int) -> F64:
        """A numeric variable of the original (0) or the release (1); NaN where missing or an answer code."""
        self.reads.add(variable)
        special, held = self._encoded(variable).special, self.file(file)
        column = replace(held.column(variable, "numeric"), special=special)
        if not special:
            return column.values
        key = ("numbers", variable, special)
        return held.remembered(key, [variable], lambda: np.where(column.usable, column.values, np.nan))

    def alike(self, variable: str, where: str) -> tuple[Column, Column]:
        """Both columns in one form: a variable that the plan recoded is recoded in the original too."""
        self.known(variable, where)
        y = self.images.get(variable, self.column(variable))
        z = self.series(variable, 1)
        if y.kind == "numeric" and not self.is_number(variable):
            raise InputError(
                f'{where}: "{variable}" holds numbers in the original but {type_name(z.dtype)} in the release. Recode '
                "the original in the same way; for a release made by a plan, utility() does this automatically."
            )
        return y, self.after.like(variable, y)


def _weights(file: Encoded, weight: str, what: str) -> F64:
    if weight not in file.types:
        raise InputError(
            f'The {what} file has no weight "{weight}".{did_you_mean(weight, file.types)} '
            "Without weights: weighted=False of utility(), or weight=None of a measure."
        )
    held = file.types[weight]
    if not held.is_numeric():
        raise InputError(f'The weight "{weight}" holds {type_name(held)} in the {what} file, not numbers.')
    values: F64 = file.column(weight, "numeric").values
    bad = int((~(values >= 0)).sum())
    if bad:
        raise InputError(f'The weight "{weight}" is missing or negative in {bad:,} rows of the {what} file.')
    if not values.sum() > 0:
        raise InputError(f'The weight "{weight}" is zero in every row of the {what} file.')
    return values
