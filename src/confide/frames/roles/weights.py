"""Weights of surveys and of bodies: which of the two a variable is, by its words, its values and what stands beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from confide.frames.roles.facts import Facts
from confide.frames.roles.guessed import Guessed
from confide.frames.roles.words import BODIES, BODY, PLAIN_WEIGHTS, SURVEYS, WEIGHTS, said

KILOGRAMS = ((2.0, 75.0), (45.0, 100.0), (60.0, 160.0))
"""Where the twentieth, the half and the nineteen twentieths of body weights in kilograms lie."""


def weight_of(f: Facts) -> Guessed | None:
    """A weight by its name or label; None for anything else."""
    word = said(f.name_words, WEIGHTS) or said(f.label_words, WEIGHTS)
    if not word or not f.number or f.kind != "numeric":
        return None
    if {*f.name_words, *f.label_words} & BODY:
        return Guessed(f, "sensitive", "A weight, but of a body.", True)
    if not f.positive or f.missing:
        return Guessed(f, "other", f'"{word}" in its name, but some values are missing, zero or negative.', True)
    where = "name" if said(f.name_words, frozenset([word])) else "label"
    return Guessed(f, "weight", f'Positive, with "{word}" in its {where}.')


def doubt_weights(found: Sequence[Guessed]) -> list[Guessed]:
    """Weights that may be those of bodies: beside a measure of a body they are not used, and by their values alone they
    are doubtful."""
    body = next((w for g in found if (w := said([*g.facts.name_words, *g.facts.label_words], BODIES))), "")
    return [_doubted(g, body) if g.role == "weight" and _plain(g.facts) else g for g in found]


def _plain(f: Facts) -> bool:
    """Whether a name that bodies have too is all that speaks for a survey."""
    words = {*f.name_words, *f.label_words}
    return bool(said(words & PLAIN_WEIGHTS, PLAIN_WEIGHTS)) and not words & SURVEYS


def _doubted(g: Guessed, body: str) -> Guessed:
    if body:
        why = f'{g.why[:-1]}, but "{body}" beside it: the weight of a body? State weight= if it is that of the survey.'
        return replace(g, role="other", why=why, doubtful=True)
    return replace(g, why=f"{g.why} Values as of bodies in kilograms.", doubtful=True) if kilograms(g.facts) else g


def kilograms(f: Facts) -> bool:
    """Whether numbers are spread as body weights in kilograms are: hardly any above twice the middle one."""
    if f.middle is None:
        return False
    inside = all(low <= x <= high for x, (low, high) in zip(f.middle, KILOGRAMS, strict=True))
    return inside and f.middle[2] < 2 * f.middle[1] and f.middle[0] > f.middle[1] / 2
