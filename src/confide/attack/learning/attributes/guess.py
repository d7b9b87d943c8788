"""`attack.guess(...)`: from what a user states to a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.compute import MET, Learnt, compute
from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.loss_limits import Exceeds
from confide.attack.learning.attributes.losses import Stated, loss_of
from confide.attack.learning.attributes.result import Guess, Guesses
from confide.attack.learning.attributes.without import how_exact, left_out_releases
from confide.core.checks import finite, names_of
from confide.core.errors import InputError
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

WAYS = ("record", "releases")
"""How a release without a person is had: by leaving out the record, or by releases each without a tenth of the
people."""


def guess(
    attack: Attack, variables: str | Sequence[str], loss: Stated, grid: Sequence[float], smoothing: float | None,
    without: str,
) -> Guess | Guesses:  # fmt: skip
    """One result per variable."""
    names = names_of(variables, "guess")
    if without not in WAYS:
        raise InputError(f"without is one of {', '.join(WAYS)}.")
    if smoothing is not None and finite(smoothing, "smoothing") <= 0:
        raise InputError("smoothing is how many records' worth of the margin is added to each cell, above zero.")
    if attack.release.link is None and attack.given[0] is None:
        raise InputError(
            "guess: it is not known which released row is whose, so that nobody's gain can be told; give link= to "
            "Release.adopt, or targets= with their own values to attack."
        )
    found = [_one(attack, v, loss, grid, smoothing, without) for v in names]
    return found[0] if isinstance(variables, str) else Guesses(tuple(found))


def _one(attack: Attack, v: str, stated: Stated, grid: Sequence[float], smoothing: float | None, without: str) -> Guess:
    asked = Asked.of(attack.intruder, attack.release, attack.given, v)
    numeric = asked.column.kind == "numeric"
    loss = loss_of(stated, grid, numeric, v, asked.column.levels)
    if isinstance(loss, Exceeds):
        there = asked.column.values[~asked.column.missing]
        loss.check(float(there.min()), float(there.max()))
    learnt = compute(asked, loss, smoothing)
    exact, words = how_exact(asked, learnt)
    columns = {name: learnt.by_person(name) for name in learnt.columns}
    if without == "releases":
        columns["loss_without_person"], words = left_out_releases(asked, loss, smoothing)
        exact = True
    frame = _frame(asked, loss, learnt, columns, attack.units["status"])
    rest = {
        n: columns[n] for n in ("below", "upto", "expected_relations", "p_without_person", "p_relations", "p_margin")
    }
    return Guess(attack, v, loss, frame, learnt.reading.said.how, exact, words, smoothing, rest)


def _frame(asked: Asked, loss: Loss, learnt: Learnt, columns: dict[str, F64], status: pl.Series) -> pl.DataFrame:
    """One row per target. What has no truth, and missing values under a loss of numbers, have no loss."""

    def number(name: str) -> pl.Series:
        return pl.Series(name, columns[name]).fill_nan(None)

    told = asked.told
    gone = learnt.reading.people.missing[learnt.reading.people.of]
    plain = np.isnan(columns["loss"])
    words = status.set((status == "ok") & pl.Series(columns["met"] != MET), "relations alone")
    words = words.set(pl.Series(plain & gone), "own value missing").set(pl.Series(~told), "no truth")
    p = pl.Series("p_true_value", columns["p_true_value"])
    return pl.DataFrame([
        pl.Series("target", np.arange(asked.n)), shown(learnt, loss, columns["guess"]),
        *(number(n) for n in ("loss", "expected_loss", "loss_margin", "loss_relations", "loss_without_person")),
        p.set(pl.Series(~told), None), number("p_missing"), words.alias("status"),
    ])  # fmt: skip


def shown(learnt: Learnt, loss: Loss, guesses: F64) -> pl.Series:
    """Guesses as values of the variable's own kind, or whether they declare; null for missing."""
    support = learnt.reading.support
    if isinstance(loss, Exceeds):
        return pl.Series("guess", guesses > 0).set(pl.Series(np.isnan(guesses)), None)
    if support.numeric:
        return pl.Series("guess", guesses).fill_nan(None)
    levels = pl.Series("guess", [str(x) for x in support.column.levels], dtype=pl.String)
    codes = pl.Series(np.where(np.isnan(guesses), -1, guesses).astype(np.int64))
    return levels.gather(codes.set((codes < 0) | (codes >= len(levels)), None)).alias("guess")
