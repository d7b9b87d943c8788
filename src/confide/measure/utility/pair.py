"""Two files to compare: the original and what was released of it, each variable as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.frames import schema, to_polars
from confide.frames.columns import F64, I64, Column, Kind, type_name
from confide.frames.encoded import Encoded
from confide.measure.utility.coarse import Coarse
from confide.protect.release import Release
from confide.protect.seam.coarsening import Chain

T = TypeVar("T")
Wanted = str | Sequence[str] | Mapping[str, Kind | None]
"""Names of variables, or kinds by name, None where the values decide."""


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """The original (`before`, n rows) and the released file (`after`, r rows).

    `weight`: a column of both, or None. `link`: the original row of each released row, shape (r,), or None. `kinds`:
    kinds that a plan fixed. `coarse`: what released categories stand for, where a plan's recodings made them.
    `reads`: the variables whose values a measure has asked for, so that an audit knows what its figure depends on;
    measures take values from the methods below, never from the frames. `unit`: a column of pseudonyms, which is not
    compared. `items`: the variables that are compared where a measure names none; None for all of the original.
    """

    before: Encoded
    after: Encoded
    weight: str | None = None
    link: I64 | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    unit: str | None = None
    items: tuple[str, ...] | None = None

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
    def of_release(
        cls, release: Release, weight: str | None, beside: Pair | None = None, items: Wanted | None = None
    ) -> Pair:
        """A release beside its original; `beside` is the pair of another copy, whose original is the same."""
        if beside is not None:
            return replace(beside, after=release.after, link=release.link, reads=set()).checked()
        plan, before = release.plan, release.before
        aside = () if plan is None else (*plan.identifiers, plan.weight, plan.unit)
        names = tuple(v for v in (before.types if items is None else items) if v not in aside)
        kinds: dict[str, Kind] = release.kinds
        if isinstance(items, Mapping):
            kinds = {v: kind for v, kind in items.items() if kind}
        unit = None if plan is None else plan.unit
        return cls(before, release.after, weight, release.link, kinds, _coarse(release, kinds), unit=unit,
                   items=names).checked()  # fmt: skip

    @property
    def images(self) -> dict[str, Column]:
        """What the plan's recodings make of original columns, where they make categories."""
        return {v: c.image for v, c in self.coarse.items()}

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

    @property
    def compared(self) -> list[str]:
        """Variables of the original to compare, whether or not they are released: never the weight, nor pseudonyms."""
        types = self.before.types
        known = [v for v in (types if self.items is None else self.items) if v in types]
        plain = [v for v in known if v not in (self.weight, self.unit)]
        return [v for v in plain if not (types[v].is_nested() or types[v] in (pl.Binary, pl.Object))]

    def in_original(self, variable: str, where: str) -> str:
        """The name, if the original has it."""
        if variable not in self.before.types:
            hint = did_you_mean(variable, self.original.columns)
            raise InputError(f'{where}: there is no column "{variable}" in the original.{hint}')
        return variable

    def known(self, variable: str, where: str) -> str:
        """The name, if both files have it."""
        if self.in_original(variable, where) not in self.after.types:
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
        return all(_holds_numbers(file.types[variable]) for file in (self.before, self.after))

    def holds_numbers(self, variable: str) -> bool:
        """Whether the original holds numbers."""
        return _holds_numbers(self.before.types[variable])

    def readable_number(self, variable: str) -> bool:
        """Whether the release holds numbers, or categories that a plan says stand for numbers."""
        return variable in self.coarse or _holds_numbers(self.after.types[variable])

    def original_number(self, variable: str, where: str) -> str:
        """The name, if the original holds numbers in it."""
        if not self.holds_numbers(self.in_original(variable, where)):
            held = type_name(self.before.types[variable])
            raise InputError(f'{where}: "{variable}" holds {held}, but numbers are needed there.')
        return variable

    def checked_number(self, variable: str, where: str) -> str:
        """The name, if numbers can be had from both files."""
        if not self.readable_number(self.known(self.original_number(variable, where), where)):
            raise InputError(f'{where}: "{variable}" is released as categories, and no plan says what they stand for.')
        return variable

    def numbers(self, variable: str, file: int) -> F64:
        """A numeric variable of the original (0) or the release (1); NaN where missing or an answer code.

        Released intervals are numbers by their middles, see `Coarse.numbers`.
        """
        self.reads.add(variable)
        special, held = self._encoded(variable).special, self.file(file)
        if file == 1 and variable in self.coarse:
            return held.remembered(("middles", variable), [variable], lambda: self._middles(variable))
        column = replace(held.column(variable, "numeric"), special=special)
        if not special:
            return column.values
        key = ("numbers", variable, special)
        return held.remembered(key, [variable], lambda: np.where(column.usable, column.values, np.nan))

    def _middles(self, variable: str) -> F64:
        coarse = self.coarse[variable]
        return coarse.numbers(self.after.like(variable, coarse.image))

    def alike(self, variable: str, where: str) -> tuple[Column, Column]:
        """Both columns in one form: a variable that the plan recoded is recoded in the original too."""
        self.known(variable, where)
        y = self.coarse[variable].image if variable in self.coarse else self.column(variable)
        z = self.series(variable, 1)
        if y.kind == "numeric" and not self.is_number(variable):
            raise InputError(
                f'{where}: "{variable}" holds numbers in the original but {type_name(z.dtype)} in the release. Recode '
                "the original in the same way; for a release made by a plan, utility() does this automatically."
            )
        return y, self.after.like(variable, y)


def _coarse(release: Release, kinds: Mapping[str, Kind]) -> dict[str, Coarse]:
    """The variables that the plan releases as categories by recoding them."""
    plan, compiled, before = release.plan, release.compiled, release.before
    found: dict[str, Coarse] = {}
    if plan is None or compiled is None:
        return found
    for v, column in plan.encode(before).items():
        image = compiled.released_form(column) if v in compiled.ways else column
        if image.why == "recoded":
            way = compiled.ways[v]
            steps = Chain((*way.before.steps, *way.after.steps))
            found[v] = Coarse(before.column(v, kinds.get(v)), image, steps, column.step)
    return found


def _holds_numbers(held: pl.DataType) -> bool:
    return held.is_numeric() or held.is_temporal() or held == pl.Boolean


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
