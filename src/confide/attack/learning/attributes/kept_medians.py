r"""Medians where a record shows its owner's value, without writing laws out for all values.

A law is a weight at the value of every record. Records are sorted by what they show once, so that one pass over those
of a target gives the sums up to each,

.. math:: F_k = \sum_{j \le k} w_j,

and medians, the true value and what lies below it are found in them. Without the own record of weight m all sums from
its value on are less by m; where no other record is left, what is believed is the law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.attack.learning.attributes.bin_medians import bin_medians
from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.loss import TIE
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.weights import EqualPiece, Piece
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import dense

if TYPE_CHECKING:
    from confide.attack.learning.attributes.predictive import Reading


def kept_medians(reading: Reading, piece: Piece, units: I64, of: I64) -> tuple[I64, Read]:
    """Places of units for whom all is certain, and what is read of them; `of`: each one's target in the piece."""
    people, total = reading.people, piece.total[of]
    own = people.place_of_own(units, piece.rows)
    mine, after = piece.weight_of(of, own), reading.gone.weight(people, piece, units, of)
    some = np.flatnonzero((piece.absent[of] <= 0) & (after <= 0) & (total > 0))
    units, of, own, mine, total = units[some], of[some], own[some], mine[some], total[some]
    shown = _shown(reading)[piece.rows]
    first, last, order = _sorted_records(reading, piece)
    by_target = np.argsort(of, kind="stable")
    out = np.full((7, len(units)), np.nan)
    said = np.where(own >= 0, shown[np.maximum(own, 0)], np.nan)
    _read_kept(
        piece.w, piece.kind[order], piece.count[order], shown[order], first, last, of, by_target,
        said, mine / total, people.y[units], people.told[units], np.maximum(piece.total, 1e-300), TIE, out,
    )  # fmt: skip
    found = Read(*out)
    _by_beliefs(reading, units, np.flatnonzero(mine >= (1 - LEAST) * total), found)
    return some, found


def _shown(reading: Reading) -> F64:
    """What every record of the release shows, NaN for missing."""
    z = reading.said.z
    assert z is not None
    return np.where(z.missing, np.nan, z.values.astype(float))


def _sorted_records(reading: Reading, piece: Piece) -> tuple[I64, I64, I64]:
    """Records sorted by what they show, missing last, those of each block together where all weigh the same; and for
    each target the first of its own and the one after the last."""
    kept = reading.said.kept
    if "rank" not in kept:
        kept["rank"] = dense(_shown(reading))
    rank, size = kept["rank"]
    key = rank[piece.rows]
    if isinstance(piece, EqualPiece):
        order = np.argsort(piece.of * size + key)
        start = np.searchsorted(piece.of[order], np.arange(int(piece.of.max(initial=-1)) + 2))
        return start[piece.block], start[piece.block + 1], order
    many = len(piece.targets)
    return np.zeros(many, dtype=np.int64), np.full(many, len(key)), np.argsort(key)


def _by_beliefs(reading: Reading, units: I64, alone: I64, found: Read) -> None:
    """Without the own record where no other is left: what is believed, at places `alone` of the units."""
    r, who = reading, units[alone]
    if not len(who):
        return
    believed = r.people.believed(who, r.nodes)
    found.other[alone] = bin_medians(believed, r.nodes, TIE)[0]
    place = r.people.places(who, r.nodes)[0]
    every = np.append(r.nodes.values, np.nan)
    exact: Bools = (every[place] == r.people.y[who]) | (place == len(r.nodes.values))
    p = believed.at_places(np.arange(len(who)), np.maximum(place, 0), r.nodes)
    found.p_other[alone] = np.where((place >= 0) & exact, p, 0.0)


@compiled(inner=True)
def _first_from(value, many, y):  # type: ignore[no-untyped-def]
    """The first of the first rising values that is not below y."""
    a, b = 0, many
    while a < b:
        mid = (a + b) >> 1
        if value[mid] < y:
            a = mid + 1
        else:
            b = mid
    return a


@compiled(inner=True)
def _reaches(upto, many, half, at, lost):  # type: ignore[no-untyped-def]
    """The first place up to which there is `half`, if all sums from one place on have `lost` that."""
    under = _first_from(upto, many, half)
    if under >= at:
        under = max(at, _first_from(upto, many, half + lost))
    return min(under, many - 1)


@compiled(inner=True)
def _at_truth(part, upto, value, many, y, mine, own, there, out):  # type: ignore[no-untyped-def]
    """What lies at the true value, the same without the own record, and what lies below it, of those that are there."""
    at, here = _first_from(value, many, y), 0.0
    below = upto[at - 1] if at > 0 else 0.0
    end = at
    while end < many and value[end] == y:
        here += part[end]
        end += 1
    out[0], out[2] = here, below / max(there, 1e-300)
    if end > at and mine < 1.0:
        out[1] = max(here - (mine if own == y else 0.0), 0.0) / (1.0 - mine)


@compiled
def _read_kept(  # type: ignore[no-untyped-def]
    w, kind, count, shown, first, last, of, by_target, own, mine, y, told, total, tie, out
):
    part, upto, truth = np.empty(len(shown)), np.empty(len(shown)), np.empty(3)
    t, many, gone, there, guess, expected = -1, 0, 0.0, 1.0, np.nan, np.nan
    value = shown
    for u in by_target:
        if of[u] != t:
            t = of[u]
            value = shown[first[t] : last[t]]
            many, gone, below, weighted = 0, 0.0, 0.0, 0.0
            for j in range(first[t], last[t]):
                here = w[t, kind[j]] * count[j] / total[t]
                if np.isnan(shown[j]):  # these are last
                    gone += here
                    continue
                below += here
                weighted += here * shown[j]
                part[many], upto[many] = here, below
                many += 1
            there, guess, expected = 1.0 - gone, np.nan, np.nan
            if there > 1e-12:
                low = _reaches(upto, many, (0.5 - tie) * there, many, 0.0)
                high = _reaches(upto, many, (0.5 + tie) * there, many, 0.0)
                guess = 0.5 * (value[low] + value[high])
                held = 0.0
                for j in range(low + 1):
                    held += part[j] * value[j]
                expected = max((guess * (2 * upto[low] - below) + weighted - 2 * held) / there, 0.0)
        missed = np.isnan(own[u])
        lost = 0.0 if missed else mine[u]
        out[0, u], out[1, u], out[6, u] = guess, expected, gone
        if there - lost > 1e-12:
            at = many if missed else _first_from(value, many, own[u])
            low = _reaches(upto, many, (0.5 - tie) * (there - lost), at, lost)
            high = _reaches(upto, many, (0.5 + tie) * (there - lost), at, lost)
            out[2, u] = 0.5 * (value[low] + value[high])
        truth[:] = 0.0
        if told[u] and np.isnan(y[u]):
            truth[0] = gone
            truth[1] = max(gone - (mine[u] if missed else 0.0), 0.0) / (1.0 - mine[u]) if mine[u] < 1.0 else 0.0
        elif told[u]:
            _at_truth(part, upto, value, many, y[u], mine[u], own[u], there, truth)
        out[3, u], out[4, u], out[5, u] = truth[0], truth[1], truth[2]
