"""Best guesses under a loss, and what they lose: missing values, near-ties, and laws without the own record."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.loss import Guessed, Loss
from confide.attack.learning.attributes.loss_values import ZeroOne
from confide.attack.learning.attributes.predictive import Reading
from confide.frames.columns import F64, I64

MUCH = 0.06
"""Where one record weighs more, leaving it out is no near-tie: what few others say is followed."""


def guess_of(loss: Loss, reading: Reading, values: F64, p: F64, near: F64 | None = None) -> Guessed:
    """The best guess; missing is a value under 0/1 loss, else the guess is on the rest. `near`: what ties."""
    if _counts_missing(loss, reading):
        values = _with_missing(reading, values)
        return loss.best(values, p) if near is None else loss.best_near(values, p, near)
    there = 1 - p[:, -1:]
    some = p[:, :-1] if (there == 1).all() else p[:, :-1] / np.maximum(there, 1e-300)
    found = loss.best(values, some) if near is None else loss.best_near(values, some, near)
    nobody = there[:, 0] <= 1e-12
    return Guessed(np.where(nobody, np.nan, found.guess), np.where(nobody, np.nan, found.expected), found.tied)


def guess_near(loss: Loss, reading: Reading, units: I64, values: F64, p: F64, name: str) -> Guessed:
    """Guesses that do not know on which side a person is missing: the own row is put back into the margin, where it is
    one of all; in a cell of others values are tied that one record could tip, unless one is much of the cell."""
    people = reading.people
    known = None if name == "margin" else people.known.take(units)
    near, back = people.relations.worth(known, people.left[units])
    p, at = p.copy(), people.left_node(units, reading.nodes)
    gone = at == len(reading.nodes.values)
    node = reading.nodes.values[np.where(gone, 0, at)]
    at = np.where(gone, len(values), np.searchsorted(values, node))
    there = gone | (np.append(values, np.nan)[at] == node)
    mine = np.flatnonzero((people.left[units] >= 0) & there)
    p[mine, at[mine]] += back[mine]
    return guess_of(loss, reading, values, p / p.sum(axis=1, keepdims=True), np.where(near <= MUCH, near, 0.0))


def guess_without(loss: Loss, reading: Reading, law: Law) -> Guessed:
    """Guesses without the own record: tied where it could tip them, and by beliefs alone where no record is left."""
    assert law.without is not None
    found = guess_of(loss, reading, law.values, law.without)
    if not loss.tips or law.worth is None:
        return found
    near = np.where(law.worth <= MUCH, law.worth, 0.0)
    out = guess_of(loss, reading, law.values, law.without, near)
    alone = np.flatnonzero(np.isnan(law.worth))
    if len(alone):
        believed = guess_near(loss, reading, law.who[alone], law.values, law.without[alone], "relations")
        out.guess[alone] = believed.guess
        if out.tied is not None and believed.tied is not None:
            out.tied[alone] = believed.tied
    return out


def guess_less(loss: Loss, reading: Reading, law: Law) -> Guessed:
    """Guesses by laws that have lost the own record."""
    assert law.at is not None
    assert law.share is not None
    near = law.share / np.maximum(1 - law.share, 1e-300)
    near = np.where(near <= MUCH, near, 0.0)
    if _counts_missing(loss, reading):
        return loss.less(_with_missing(reading, law.values), law.p, law.of, law.at, law.share, near)
    there = np.maximum(1 - law.p[:, -1], 1e-300)
    gone = law.at == len(law.values)
    p = law.p[:, :-1] if (there == 1).all() else law.p[:, :-1] / there[:, None]
    share = np.where(gone, 0.0, law.share / there[law.of])
    found = loss.less(law.values, p, law.of, np.where(gone, 0, law.at), share, near)
    nobody = np.where(gone, there[law.of], there[law.of] - law.share) <= 1e-12
    return Guessed(np.where(nobody, np.nan, found.guess), found.expected, found.tied)


def true_loss(loss: Loss, reading: Reading, units: I64, found: Guessed, place: I64) -> F64:
    """What guesses lose; nothing is said of people without a truth, nor of missing values by losses of numbers."""
    people = reading.people
    y = people.y[units]
    plain = _counts_missing(loss, reading)
    if not reading.support.numeric:
        y = np.where(y < 0, float(reading.support.bins), y)
    said = people.told[units] & (True if plain else ~people.missing[units])
    lost = loss.true(found, np.where(said, np.nan_to_num(y), 0.0), place)
    return np.where(said, lost, np.nan)


def _counts_missing(loss: Loss, reading: Reading) -> bool:
    """Whether missing is a value like others: under 0/1 loss, and of categories."""
    return isinstance(loss, ZeroOne) or (not reading.support.numeric and not loss.numbers)


def _with_missing(reading: Reading, values: F64) -> F64:
    return np.append(values, np.nan if reading.support.numeric else float(reading.support.bins))
