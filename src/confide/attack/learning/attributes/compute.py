"""From what is asked to one row per person: guesses, what they lose, and what they would lose without the release."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from confide.attack.engine.membership import weight_scale, weight_sum
from confide.attack.engine.prepare import Prepared, prepare
from confide.attack.intruder import Unsure
from confide.attack.learning.attributes.absence import Without
from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.baselines import baselines
from confide.attack.learning.attributes.guessing import guess_less, guess_near, guess_of, guess_without, true_loss
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.loss import Guessed, Loss
from confide.attack.learning.attributes.loss_values import Absolute
from confide.attack.learning.attributes.people import People
from confide.attack.learning.attributes.predictive import ENTRIES, Reading
from confide.attack.learning.attributes.row_sums import sums_upto
from confide.attack.learning.attributes.said import Said
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.support import MOST_BINS, MOST_NODES, Support
from confide.attack.learning.attributes.weights import EQUAL, alike, pieces
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, encode_column

COLUMNS = (
    "guess", "loss", "expected_loss", "loss_margin", "loss_relations", "loss_without_person", "p_true_value",
    "p_missing", "below", "upto", "expected_relations", "met", "p_relations", "p_margin", "p_without_person",
)  # fmt: skip
MET, BELIEVED = 1.0, 2.0
"""Who has a record that can be theirs, and of whom only beliefs speak."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was computed, by unit of `reading.people`: arrays by name (`COLUMNS`). `below`, `upto`: the predictive
    distribution below the true value and up to it."""

    reading: Reading
    columns: dict[str, F64]

    def by_person(self, name: str) -> F64:
        return np.asarray(self.columns[name][self.reading.people.of])


def read(asked: Asked, smoothing: float | None) -> tuple[Reading, Prepared | None]:
    """The people and values, and the attack up to its loops where records say anything."""
    v, also = asked.variable, tuple(asked.given[2])
    seen = (v,) if v in asked.release.public_variables else ()
    targets, truth, _ = asked.given
    ready = prepare(asked.intruder, asked.release, targets, truth, also, seen=seen)
    said = Said.of(ready.case, v, ready.others)
    support = Support.of(asked.column)
    relations, saw = asked.relations(support, smoothing)
    target = alike(ready)[slice(None) if ready.who.of is None else ready.who.of]
    own = ready.files.released.place(asked.own)
    people = People.gathered(
        support, relations, target, np.maximum(own, -1), asked.y, asked.told, saw, asked.known_as_seen(),
        _own_weights(asked), asked.rows,
    )  # fmt: skip
    apart = said.apart(support.values) if said.speaks and not said.atoms else None
    exact = said.like is not None and said.like.scale is None
    nodes = support.nodes(apart, len(support.values) if exact else MOST_NODES, said.like is not None)
    if said.how == "coarsened" and apart is not None:  # what a node is shown as says what its values say
        first = np.searchsorted(nodes.of, np.arange(len(nodes.values)))
        fits = said.apart(nodes.values) == apart[first]
        nodes = replace(nodes, values=np.where(fits, nodes.values, support.values[first]))
    reading = Reading(said, support, people, nodes, _gone(asked))
    return reading, ready if said.speaks else None


def _own_weights(asked: Asked) -> F64:
    who = asked.intruder.membership
    if not isinstance(who, Unsure) or who.weights is None:
        return np.zeros(asked.n)
    weights = encode_column(asked.release.frame.get_column(who.weights), "numeric").values
    return np.where(asked.own >= 0, weights[np.maximum(asked.own, 0)] * weight_scale(who, asked.release), 0.0)


def _gone(asked: Asked) -> Without:
    who = asked.intruder.membership
    if isinstance(who, Unsure) and who.population is None:
        many = asked.release.frame.height
        if who.weights is None:
            return Without("total", float(who.total or 0.0), many)
        sample = many < asked.release.original.height
        return Without("weights", weight_sum(who.weights, asked.release.original) if sample else 0.0, many)
    return Without("certain" if who == "certain" else "stays")


def compute(asked: Asked, loss: Loss, smoothing: float | None) -> Learnt:
    """Everything, block after block."""
    with one_blas_thread():
        return _compute(asked, loss, smoothing)


def _compute(asked: Asked, loss: Loss, smoothing: float | None) -> Learnt:
    reading, ready = read(asked, smoothing)
    reading = replace(reading, people=reading.people.with_beliefs(reading.nodes), everybody=True)
    n = len(reading.people)
    out = {name: np.full(n, np.nan) for name in COLUMNS}
    out["met"][:] = 0.0
    baselines(reading, loss, out)
    for piece in () if ready is None else pieces(ready, equal=_together(reading, loss)):
        rest = None
        if isinstance(loss, Absolute):
            units, found, rest = reading.medians(piece)
            _fill_read(reading, loss, units, found, out)
        for law in reading.laws(piece, rest):
            fine = piece.total[_targets(piece.targets, reading.people.target[law.who])] > 0
            _fill(reading, loss, law.only(np.flatnonzero(fine)), out, MET)
    left = np.flatnonzero(out["met"] == 0)
    step = max(ENTRIES // (len(reading.nodes.values) + 1), 1)
    for a in range(0, len(left), step):  # whoever meets no record is guessed by what is believed
        law = reading.beliefs(left[a : a + step])
        _fill(reading, loss, law, out, BELIEVED)
    return Learnt(reading, out)


def _together(reading: Reading, loss: Loss) -> float:
    """Records times targets that are read together where all records of a block weigh the same: all of them, where
    there are few values, or none is written out for."""
    if reading.support.numeric:
        read = isinstance(loss, Absolute) and reading.said.atoms and reading.gone.kind == "certain"
        return np.inf if read else EQUAL
    return np.inf if reading.support.bins <= MOST_BINS else EQUAL


def _targets(targets: I64, wanted: I64) -> I64:
    order = np.argsort(targets, kind="stable")
    return np.asarray(order[np.searchsorted(targets[order], wanted)])


def _fill(reading: Reading, loss: Loss, law: Law, out: dict[str, F64], met: float) -> None:
    """The columns of some people; `met`: whether a record can be theirs, or only beliefs speak."""
    units = law.who
    if not len(units):
        return
    found = guess_of(loss, reading, law.values, law.p).take(law.of)
    out["guess"][units], out["expected_loss"][units] = found.guess, found.expected
    if met == BELIEVED and loss.tips:  # what relations lose
        found = guess_near(loss, reading, units, law.values, law.p, "relations")
    out["loss"][units] = true_loss(loss, reading, units, found, law.place)
    other = found
    if law.without is not None:
        other = guess_without(loss, reading, law)
    elif law.at is not None and law.share is not None:
        other = guess_less(loss, reading, law)
    out["loss_without_person"][units] = true_loss(loss, reading, units, other, law.place)
    out["p_missing"][units] = law.p[law.of, -1]
    out["met"][units] = met
    there, at = law.place >= 0, np.maximum(law.place, 0)
    p = np.where(there, law.p[law.of, at] * law.inside, 0.0)
    out["p_true_value"][units] = p
    out["p_without_person"][units] = p
    if law.without is not None:
        out["p_without_person"][units] = np.where(there, law.without[np.arange(len(units)), at] * law.inside, 0.0)
    elif law.at is not None and law.share is not None:
        out["p_without_person"][units] = np.where(there, (p - law.share * (law.at == at)) / (1 - law.share), 0.0)
    _pit(reading, law, out)


def _fill_read(reading: Reading, loss: Loss, units: I64, found: Read, out: dict[str, F64]) -> None:
    """The columns of people of whom medians were read."""
    people = reading.people
    place, inside = people.places(units, reading.nodes)
    inside = np.ones(len(units)) if reading.said.atoms else inside  # a value is itself there, and no node
    told = people.told[units] & ~people.missing[units]
    own = found.p / np.maximum(1 - found.missing, 1e-300)
    losses = [true_loss(loss, reading, units, Guessed(g, found.expected), place) for g in (found.guess, found.other)]
    columns = {
        "guess": found.guess, "expected_loss": found.expected, "loss": losses[0], "loss_without_person": losses[1],
        "p_missing": found.missing, "met": np.full(len(units), MET), "p_true_value": found.p * inside,
        "p_without_person": found.p_other * inside, "below": np.where(told, found.below, np.nan),
        "upto": np.where(told, found.below + own, np.nan),
    }  # fmt: skip
    for name, values in columns.items():
        out[name][units] = values


def _pit(reading: Reading, law: Law, out: dict[str, F64]) -> None:
    """The distribution below each true value and up to it: of numbers that are there, of categories in their order."""
    people, units = reading.people, law.who
    p, rows = law.p, law.of
    there = np.ones(len(p))
    if reading.support.numeric:
        p, there = law.p[:, :-1], np.maximum(1 - law.p[:, -1], 1e-300)
    y = np.where(people.missing[units], 0.0, people.y[units])
    at = np.where(law.place >= 0, law.place, np.searchsorted(law.values, y))
    at = np.minimum(at, p.shape[1])
    exact = (law.place >= 0) & (law.place < p.shape[1])
    told = people.told[units] & ~(people.missing[units] & reading.support.numeric)
    below = sums_upto(p, rows, at) / there[rows]
    own = np.where(exact, law.p[rows, np.minimum(at, law.p.shape[1] - 1)] / there[rows], 0.0)
    out["below"][units], out["upto"][units] = np.where(told, below, np.nan), np.where(told, below + own, np.nan)
