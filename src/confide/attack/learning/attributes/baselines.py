"""What guesses lose without the release: by the margin, and by what relations teach."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.bin_medians import bin_medians
from confide.attack.learning.attributes.guessing import guess_near, guess_of, true_loss
from confide.attack.learning.attributes.loss import TIE, Guessed, Loss
from confide.attack.learning.attributes.loss_values import Absolute
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.predictive import ENTRIES, Reading
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct


def baselines(reading: Reading, loss: Loss, out: dict[str, F64]) -> None:
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
            out[f"loss_{name}"][units] = true_loss(loss, reading, units, lost.take(of), place[units])
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
    found = guess_of(loss, reading, nodes.values, p)
    return found, guess_near(loss, reading, units, nodes.values, p, name) if loss.tips else found
