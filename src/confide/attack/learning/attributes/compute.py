"""From what is asked to one row per person: guesses, what they lose, and what they would lose without the release."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from confide.attack.engine.membership import weight_scale, weight_sum
from confide.attack.engine.prepare import Prepared, prepare
from confide.attack.intruder import Unsure
from confide.attack.learning.attributes.absence import Without
from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.bin_medians import bin_medians
from confide.attack.learning.attributes.law import Law
from confide.attack.learning.attributes.losses import TIE, Absolute, Guessed, Loss, ZeroOne
from confide.attack.learning.attributes.people import Believed, People
from confide.attack.learning.attributes.predictive import ENTRIES, Reading
from confide.attack.learning.attributes.row_sums import sums_upto
from confide.attack.learning.attributes.said import Said
from confide.attack.learning.attributes.set_medians import Read
from confide.attack.learning.attributes.support import MOST_NODES, Support
from confide.attack.learning.attributes.weights import alike, pieces
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, encode_column
from confide.frames.distinct import Distinct

COLUMNS = (
    "guess", "loss", "expected_loss", "loss_margin", "loss_relations", "loss_without_person", "p_true_value",
    "p_missing", "below", "upto", "expected_relations", "met", "p_relations", "p_margin", "p_without_person",
)  # fmt: skip
MUCH = 0.06
"""Where one record weighs more, leaving it out is no near-tie: what few others say is followed."""
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
        _own_weights(asked),
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
    reading = replace(reading, people=reading.people.with_beliefs())
    n = len(reading.people)
    out = {name: np.full(n, np.nan) for name in COLUMNS}
    out["met"][:] = 0.0
    _baselines(reading, loss, out)
    for piece in () if ready is None else pieces(ready):
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


def _targets(targets: I64, wanted: I64) -> I64:
    order = np.argsort(targets, kind="stable")
    return np.asarray(order[np.searchsorted(targets[order], wanted)])


def _baselines(reading: Reading, loss: Loss, out: dict[str, F64]) -> None:
    """Losses by the margin, and by what relations teach; those of whom the same is believed once."""
    people, nodes = reading.people, reading.nodes
    everybody = np.arange(len(people))
    place, inside = people.places(everybody, nodes)
    left = people.left_node(everybody, nodes)
    ways = {
        "margin": ([left], people.margins),
        "relations": ([left, *(c.values for c in people.known.values())], people.believed),
    }
    for name, (keys, law) in ways.items():
        alike = Distinct.rows(keys, len(people))
        order = np.argsort(alike.of, kind="stable")
        step = max(ENTRIES // (len(nodes.values) + 1), 1)
        for a in range(0, len(alike), step):
            first = alike.first[a : a + step]
            believed = law(first, nodes)
            units = order[slice(*np.searchsorted(alike.of[order], [a, a + len(first)]))]
            of = alike.of[units] - a
            guessed, lost = _believed_guesses(loss, reading, first, believed, name)
            out[f"loss_{name}"][units] = _true(loss, reading, units, lost.take(of), place[units])
            p = believed.at_places(of, np.maximum(place[units], 0), nodes)
            out[f"p_{name}"][units] = np.where(place[units] >= 0, p * inside[units], 0.0)
            if name == "relations":
                out["expected_relations"][units] = guessed.expected[of]


def _believed_guesses(
    loss: Loss, reading: Reading, units: I64, believed: Believed, name: str
) -> tuple[Guessed, Guessed]:
    """Guesses by beliefs, and those that do not know on which side a person is missing."""
    nodes = reading.nodes
    if isinstance(loss, Absolute):
        found = Guessed(*bin_medians(believed, nodes, TIE))
        return found, found
    p = believed.on(nodes)
    found = _guess(loss, reading, nodes.values, p)
    return found, _guess_near(loss, reading, units, nodes.values, p, name) if loss.tips else found


def _fill(reading: Reading, loss: Loss, law: Law, out: dict[str, F64], met: float) -> None:
    """The columns of some people; `met`: whether a record can be theirs, or only beliefs speak."""
    units = law.who
    if not len(units):
        return
    found = _guess(loss, reading, law.values, law.p).take(law.of)
    out["guess"][units], out["expected_loss"][units] = found.guess, found.expected
    if met == BELIEVED and loss.tips:  # what relations lose
        found = _guess_near(loss, reading, units, law.values, law.p, "relations")
    out["loss"][units] = _true(loss, reading, units, found, law.place)
    other = found
    if law.without is not None:
        other = _without(loss, reading, law)
    elif law.at is not None and law.share is not None:
        other = _less(loss, reading, law)
    out["loss_without_person"][units] = _true(loss, reading, units, other, law.place)
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
    told = people.told[units] & ~people.missing[units]
    own = found.p / np.maximum(1 - found.missing, 1e-300)
    losses = [_true(loss, reading, units, Guessed(g, found.expected), place) for g in (found.guess, found.other)]
    columns = {
        "guess": found.guess, "expected_loss": found.expected, "loss": losses[0], "loss_without_person": losses[1],
        "p_missing": found.missing, "met": np.full(len(units), MET), "p_true_value": found.p * inside,
        "p_without_person": found.p_other * inside, "below": np.where(told, found.below, np.nan),
        "upto": np.where(told, found.below + own, np.nan),
    }  # fmt: skip
    for name, values in columns.items():
        out[name][units] = values


def _guess_near(loss: Loss, reading: Reading, units: I64, values: F64, p: F64, name: str) -> Guessed:
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
    return _guess(loss, reading, values, p / p.sum(axis=1, keepdims=True), np.where(near <= MUCH, near, 0.0))


def _without(loss: Loss, reading: Reading, law: Law) -> Guessed:
    """Guesses without the own record: tied where it could tip them, and by beliefs alone where no record is left."""
    assert law.without is not None
    found = _guess(loss, reading, law.values, law.without)
    if not loss.tips or law.worth is None:
        return found
    near = np.where(law.worth <= MUCH, law.worth, 0.0)
    out = _guess(loss, reading, law.values, law.without, near)
    alone = np.flatnonzero(np.isnan(law.worth))
    if len(alone):
        believed = _guess_near(loss, reading, law.who[alone], law.values, law.without[alone], "relations")
        out.guess[alone] = believed.guess
        if out.tied is not None and believed.tied is not None:
            out.tied[alone] = believed.tied
    return out


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


def _less(loss: Loss, reading: Reading, law: Law) -> Guessed:
    """Guesses by laws that have lost the own record."""
    assert law.at is not None
    assert law.share is not None
    near = law.share / np.maximum(1 - law.share, 1e-300)
    near = np.where(near <= MUCH, near, 0.0)
    if _counts_missing(loss, reading):
        return loss.less(_with_missing(reading, law.values), law.p, law.of, law.at, law.share, near)
    there = np.maximum(1 - law.p[:, -1], 1e-300)
    gone = law.at == len(law.values)
    p, share = law.p[:, :-1] / there[:, None], np.where(gone, 0.0, law.share / there[law.of])
    found = loss.less(law.values, p, law.of, np.where(gone, 0, law.at), share, near)
    nobody = np.where(gone, there[law.of], there[law.of] - law.share) <= 1e-12
    return Guessed(np.where(nobody, np.nan, found.guess), found.expected, found.tied)


def _counts_missing(loss: Loss, reading: Reading) -> bool:
    """Whether missing is a value like others: under 0/1 loss, and of categories."""
    return isinstance(loss, ZeroOne) or (not reading.support.numeric and not loss.numbers)


def _with_missing(reading: Reading, values: F64) -> F64:
    return np.append(values, np.nan if reading.support.numeric else float(reading.support.bins))


def _guess(loss: Loss, reading: Reading, values: F64, p: F64, near: F64 | None = None) -> Guessed:
    """The best guess; missing is a value under 0/1 loss, else the guess is on the rest. `near`: what ties."""
    if _counts_missing(loss, reading):
        values = _with_missing(reading, values)
        return loss.best(values, p) if near is None else loss.best_near(values, p, near)
    there = 1 - p[:, -1:]
    some = p[:, :-1] if (there == 1).all() else p[:, :-1] / np.maximum(there, 1e-300)
    found = loss.best(values, some) if near is None else loss.best_near(values, some, near)
    nobody = there[:, 0] <= 1e-12
    return Guessed(np.where(nobody, np.nan, found.guess), np.where(nobody, np.nan, found.expected), found.tied)


def _true(loss: Loss, reading: Reading, units: I64, found: Guessed, place: I64) -> F64:
    """What guesses lose; nothing is said of people without a truth, nor of missing values by losses of numbers."""
    people = reading.people
    y = people.y[units]
    plain = _counts_missing(loss, reading)
    if not reading.support.numeric:
        y = np.where(y < 0, float(reading.support.bins), y)
    said = people.told[units] & (True if plain else ~people.missing[units])
    lost = loss.true(found, np.where(said, np.nan_to_num(y), 0.0), place)
    return np.where(said, lost, np.nan)
