"""Mistakes in the intruder's own values: a wrong category, a number that is off.

A mistake blurs the target's side. For a variable released as it is, the evidence becomes Pr(x given z), which needs no
part A; beside absence the engine divides it by Pr(x given what is certain). For a perturbed category the belief about
the true one is updated by the mistaken one; for a noisy number the spreads add.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from confide.core.checks import finite, fraction, positive
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column, Records, codes_in
from confide.frames.tally import Tally
from confide.protect.likelihoods.normal import Normal, as_they_are
from confide.protect.likelihoods.table import Table
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.fitted import Fitted, View
from confide.protect.seam.likelihood import Likelihood, take
from confide.protect.seam.mechanism import Mechanism

LARGEST = 5_000_000
"""Entries of the largest table of mistakes kept in memory."""


def mistake_matrix(error: Any, column: Column, count: F64 | None = None) -> F64:
    """Pr(intruder's category x given the true one y): rows y, columns x, over the column's code list; `count`: how many
    rows of the file have each of the column's values (None: one)."""
    k = len(column.levels)
    if k * k > 5 * LARGEST:
        raise InputError(
            f'errors: "{column.name}" has {k:,} categories, too many for mistakes between all of them; leave it out of '
            "errors, or recode it."
        )
    if isinstance(error, Mechanism):
        file = Records([column], count=count)
        fitted = error.fit(file, file, {})
        every = Records([column.with_values(np.arange(k))])
        if isinstance(fitted, Fitted) and (like := fitted.evidence(View(every, {}, {}), (column.name,)).likelihood):
            t, z = like.target(every), like.record
            return np.stack([np.exp(like.log(take(t, np.full(k, y)), z)) for y in range(k)])
    if isinstance(error, (int, float)) and not isinstance(error, bool):
        if error > 1 and column.dtype.is_numeric():
            raise InputError(
                f'errors: "{column.name}" counts as categories here ({column.why}), so a mistake is a probability of '
                "another category. To give a standard deviation, name it in numeric= of the plan."
            )
        wrong = fraction(float(error), f'errors: "{column.name}"')
        return (1 - wrong) * np.eye(k) + wrong * (1 - np.eye(k)) / max(k - 1, 1)
    raise InputError(
        f'errors: "{column.name}" is categorical: give the probability of a mistake, or a step with a matrix.'
    )


def mistaken_value(file: Tally, released: Column, codes: Column, chain: Chain, error: Any) -> Likelihood:
    """log Pr(x given z) for a variable that is kept, recoded or topcoded. `file`: its values in the original; `codes`:
    its codebook in the release."""
    (original,) = file.records.values()
    image = codes_in(chain.image(original), codes)
    if original.kind == "numeric":
        sd = positive(finite(error, f'errors: "{original.name}"'), f'errors: "{original.name}"')
        if not chain.steps:
            return Normal(
                released.values, released.values, released.usable, sd,
                lambda r: (r[original.name].values, r[original.name].usable), lambda x: np.zeros(len(x)),
            )  # fmt: skip
        weight, rows = _banded(original, file.counts, image, _size(codes), sd)
    else:
        p_x = mistake_matrix(error, original, file.count)
        weight, rows = _crossed(original, file.counts, image, _size(codes), p_x)
    return _table(weight, table_columns(released, codes), rows)


def _size(codebook: Column) -> int:
    return len(codebook.levels) if codebook.kind == "categorical" else len(codebook)


def table_columns(column: Column, codebook: Column) -> I64:
    """Columns of a table of mistakes, of values in their released form: released values, then missing, then values
    that no released record has."""
    size, codes = _size(codebook), codes_in(column, codebook)
    return np.where(column.missing, size, np.where(codes < 0, size + 1, codes))


def _columns(image: I64, size: int) -> I64:
    """The same of codes of values that are there."""
    return np.where(image < 0, size + 1, image)


Rows = Callable[[Records], I64]


def _crossed(original: Column, count: F64, image: I64, size: int, p_x: F64) -> tuple[F64, Rows]:
    """Categories: Pr(x given z) = sum over y that become z of Pr(y given z) Pr(x given y)."""
    present, joint = ~original.missing, np.zeros((len(original.levels), size + 2))
    np.add.at(joint, (original.values[present], _columns(image[present], size)), count[present])

    def rows(r: Records) -> I64:
        column = r[original.name]
        return np.where(column.missing, len(joint), codes_in(column, original))

    return p_x.T @ joint, rows


def _banded(original: Column, count: F64, image: I64, size: int, sd: float) -> tuple[F64, Rows]:
    """Numbers released in bands: Pr(x given band), on a grid of x as fine as the variable itself."""
    present, step = original.usable, original.step or sd / 50
    usable = original.values[present]
    low, high = usable.min() - 6 * sd, usable.max() + 6 * sd
    grid = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    if len(grid) * (size + 1) > LARGEST:
        grid = np.linspace(low, high, max(LARGEST // (size + 1), 2))
    values, at = np.unique(original.values[present], return_inverse=True)
    joint = np.zeros((len(values), size + 2))
    np.add.at(joint, (at, _columns(image[present], size)), count[present])
    blur = np.exp(-0.5 * ((grid[:, None] - values) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))

    def rows(r: Records) -> I64:
        x = r[original.name].values
        near = np.clip(np.searchsorted(grid, x), 1, len(grid) - 1)
        near = np.where(x - grid[near - 1] <= grid[near] - x, near - 1, near)
        return np.where(r[original.name].usable, near, len(grid)).astype(np.int64)

    return blur @ joint, rows


def _table(weight: F64, column: I64, rows: Rows) -> Table:
    """Turn joint weights (x, z) into log Pr(x given z); a last row for what cannot be mistaken (missing, codes)."""
    total = weight.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(np.nan_to_num(weight / total))
    return Table(column, np.concatenate([log_p, np.where(total > 0, -np.inf, 0.0)]), rows)


def wider(like: Normal, error: Any, variable: str) -> Normal:
    """Noise seen by somebody whose own value is off as well: both spreads together."""
    sd = positive(finite(error, f'errors: "{variable}"'), f'errors: "{variable}"')
    if like.transform is not as_they_are:
        raise InputError(
            f'errors: mistakes about "{variable}" are understood for noise that is added, not for one that multiplies.'
        )
    return replace(like, sd=float(np.hypot(like.sd, sd)))
