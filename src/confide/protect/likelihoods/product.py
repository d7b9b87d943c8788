"""Likelihoods that multiply: of several variables of one step, or of several copies of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.window import Window
from confide.protect.seam.likelihood import Columns, Likelihood, Scale


@dataclass(frozen=True, eq=False)
class Product(Likelihood):
    """The product of likelihoods that read columns of their own."""

    each: tuple[Likelihood, ...]

    @property
    def scale(self) -> Scale | None:
        return None

    @property
    def record(self) -> Columns:
        return {f"{i} {name}": part for i, like in enumerate(self.each) for name, part in like.record.items()}

    def target(self, records: Records) -> Columns:
        return {f"{i} {name}": part for i, like in enumerate(self.each) for name, part in like.target(records).items()}

    def log(self, t: Columns, z: Columns) -> F64:
        parts = [like.log(own(t, i), own(z, i)) for i, like in enumerate(self.each)]
        return np.asarray(np.sum(parts, axis=0))

    def altered(self, t: Columns) -> Bools:
        return np.asarray(np.any([like.altered(own(t, i)) for i, like in enumerate(self.each)], axis=0))


@dataclass(frozen=True, eq=False)
class Several(Product):
    """One likelihood a variable, in the order of the evidence's variables; what was done to them was independent."""

    integrates: ClassVar[bool] = True

    def margins(self) -> list[Likelihood]:
        return list(self.each)

    def restricted(self, index: Sequence[int]) -> Several:
        """The product over some of them."""
        return Several(tuple(self.each[i] for i in index))


@dataclass(frozen=True, eq=False)
class RepeatedNormal(Product):
    """The same number with independent noise in several copies; belief need only look near the copies' mean."""

    each: tuple[Normal, ...]

    @property
    def record(self) -> Columns:
        return {**super().record, "inside": self.each[0].inside}

    @property
    def scale(self) -> Scale:
        return _narrowed(self.each[0].scale, len(self.each))

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:
        """Which of true values in rising order can matter for each record: positions from, up to (not included)."""
        y, many = t["0 y"], len(self.each)
        middle = np.mean([0.5 * (z[f"{i} low"] + z[f"{i} high"]) for i in range(many)], axis=0)
        half = np.max([0.5 * (z[f"{i} high"] - z[f"{i} low"]) for i in range(many)], axis=0)
        at = np.clip(np.searchsorted(y, middle), 0, len(y) - 1)
        gap = np.minimum(np.abs(y[at] - middle), np.abs(y[np.maximum(at - 1, 0)] - middle))
        reach = gap + half + (10.0 + blur) * float(self.each[0].sd_at(y).max())
        reach = np.where(np.isfinite(reach), reach, np.inf)
        low = np.searchsorted(y, np.where(np.isfinite(middle), middle, 0.0) - reach, side="left")
        return low, np.searchsorted(y, np.where(np.isfinite(middle), middle, 0.0) + reach, side="right")


@dataclass(frozen=True, eq=False)
class RepeatedWindow(Product):
    """The same number moved by ranks in several copies; what is left alone is left alone in all of them."""

    each: tuple[Window, ...]

    @property
    def record(self) -> Columns:
        return {**super().record, "inside": self.each[0].inside}

    @property
    def scale(self) -> Scale:
        return _narrowed(self.each[0].scale, len(self.each))

    def blurred(self, t: Columns, by: F64) -> Columns:
        parts = [self.each[0].blurred(own(t, i), by) for i in range(len(self.each))]
        return {f"{i} {name}": column for i, part in enumerate(parts) for name, column in part.items()}

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:
        """Which of true values in rising order can have led to all copies of each record."""
        ends = [self.each[0].band(own(t, i), own(z, i), blur) for i in range(len(self.each))]
        low = np.max([a for a, _ in ends], axis=0)
        return low, np.maximum(np.min([b for _, b in ends], axis=0), low)


def _narrowed(scale: Scale, copies: int) -> Scale:
    """The scale of a number that several copies show, each with noise of its own."""
    return Scale(scale.of, scale.sd / np.sqrt(copies))


def repeated(likes: Sequence[Any]) -> Likelihood:
    """The likelihood of what several copies say together."""
    first = likes[0]
    if len(first.margins()) > 1:
        return RepeatedSeveral(tuple(likes))
    if isinstance(first, Normal):
        return RepeatedNormal(tuple(likes))
    if isinstance(first, Window):
        return RepeatedWindow(tuple(likes))
    return Product(tuple(likes))


@dataclass(frozen=True, eq=False)
class RepeatedSeveral(Product):
    """Several variables of one step, in several copies."""

    integrates: ClassVar[bool] = True

    def margins(self) -> list[Likelihood]:
        return [repeated(each) for each in zip(*(like.margins() for like in self.each), strict=True)]

    def restricted(self, index: Sequence[int]) -> Likelihood:
        return repeated([like.restricted(index) for like in self.each])

    def correlation(self) -> F64:
        return self.each[0].correlation()


def own(columns: Columns, i: int) -> dict[str, Any]:
    """The columns of the i-th likelihood."""
    mark = f"{i} "
    return {name[len(mark) :]: part for name, part in columns.items() if name.startswith(mark)}
