"""The predictive distribution of one person."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.prepare import Prepared
from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.compute import read
from confide.attack.learning.attributes.predictive import Reading
from confide.attack.learning.attributes.weights import pieces
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.attack.learning.attributes.result import Guess


_LAST: weakref.WeakKeyDictionary[Guess, tuple[Reading, Prepared | None]] = weakref.WeakKeyDictionary()
"""What the last question prepared, for the next one about the same guesses."""


def _read(guess: Guess) -> tuple[Reading, Prepared | None]:
    found = _LAST.get(guess)
    if found is None:
        _LAST.clear()
        attack = guess.attack
        asked = Asked.of(attack.intruder, attack.release, attack.given, guess.variable)
        found = _LAST[guess] = read(asked, guess.smoothing)
    return found


def predictive(guess: Guess, target: int) -> pl.DataFrame:
    """Values and probabilities, in rising order of values, null for missing; what has none is left out."""
    attack = guess.attack
    n = attack.units.height
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
        raise InputError(f"target is a position from 0 to {n - 1}.")
    reading, ready = _read(guess)
    unit = int(reading.people.of[target])
    wanted = int(reading.people.target[unit])
    law, row = reading.beliefs(np.array([unit])), 0
    for piece in () if ready is None else pieces(ready, only=wanted):
        if wanted in piece.targets and piece.total[int(np.flatnonzero(piece.targets == wanted)[0])] > 0:
            for found in reading.laws(piece, only=np.array([unit])):
                law, row = found, int(np.flatnonzero(found.who == unit)[0])
    p, support = law.p[law.of[row]], reading.support
    some = np.flatnonzero(p > 0)
    if support.numeric:
        value = pl.Series("value", np.append(law.values, np.nan)[some]).fill_nan(None)
    else:
        names = [str(x) for x in support.column.levels]
        codes = np.append(law.values, -1).astype(np.int64)[some]
        value = pl.Series("value", [names[c] if 0 <= c < len(names) else None for c in codes], dtype=pl.String)
    return pl.DataFrame([value, pl.Series("p", p[some])])
