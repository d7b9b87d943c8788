"""The population that a file was drawn from: a file of people, one row each or counted, or only its size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.checks import finite
from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import F64
from confide.frames.encoded import Encoded


@dataclass(frozen=True, eq=False)
class People:
    """A file of the population with the keys; `count`: the column that says how many people a row stands for, None for
    one each."""

    frame: pl.DataFrame
    count: str | None

    @property
    def total(self) -> float:
        """How many people there are."""
        return float(self.frame.height if self.count is None else self.frame[self.count].sum())

    def uniques(self, keys: Iterable[str]) -> int:
        """People who are alone in the population.

        >>> People(pl.DataFrame({"sex": ["f", "m", "m"], "n": [1, 1, 1]}), "n").uniques(["sex"])
        1
        """
        size = pl.len() if self.count is None else pl.col(self.count).sum()
        return int((self.frame.group_by(list(keys)).agg(people=size)["people"] == 1).sum())


def population_of(
    file: Encoded, population: Any, count: str | None, keys: Iterable[str], weights: F64 | None
) -> tuple[People | None, float | None]:
    """A file of the population, and its size: stated, counted or by the weights."""
    n = file.rows
    number = isinstance(population, (int, float, np.number)) and not isinstance(population, bool)
    if count is not None and (population is None or number):
        raise InputError("count names a column of the file of the population: give population=file as well.")
    if population is None:
        return None, None if weights is None else file.total(weights)
    if number:
        total = finite(float(population), "population")
        if 0 < total < 1:
            raise InputError("population is a number of people, not a share: divide the rows by the share.")
        if total < n:
            raise InputError(f"population: {total:,.0f} people are fewer than the {n:,} rows of the file.")
        return None, total
    frame = Encoded.of(population, "population").frame
    lost = [v for v in keys if v not in frame.columns]
    if lost:
        raise InputError(
            f"population: the file of the population has no {', '.join(lost)}; it needs all keys, or leave it out."
        )
    people = People(_counted(frame, count), count)
    if people.total < n:
        raise InputError(
            f"population: a file of {people.total:,.0f} people cannot hold the {n:,} rows of this one. If its rows "
            'stand for several people each, name the column that counts them: count="n".'
        )
    return people, people.total


def _counted(frame: pl.DataFrame, count: str | None) -> pl.DataFrame:
    """The rows that stand for somebody."""
    if count is None:
        return frame
    if count not in frame.columns:
        raise InputError(f'count: the population has no column "{count}".{did_you_mean(count, frame.columns)}')
    s = frame[count]
    if not s.dtype.is_numeric() or s.null_count() or (s < 0).any() or (s != s.round(0)).any():
        raise InputError(f'count: "{count}" says how many people a row stands for: whole numbers from 0, none missing.')
    return frame.filter(s > 0)
