"""A guessed role of one variable, with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from confide.frames.roles.facts import Facts


@dataclass(frozen=True)
class Guessed:
    """A role, the reason in a few words, whether it needs somebody who confirms it, and what kind of key it is.

    `known`: whether others may know it though it is not taken as a key. `judged`: False where neither name nor label
    nor values tell anything, so that nothing is said of it.
    """

    facts: Facts
    role: str
    why: str
    doubtful: bool = False
    group: str = ""
    known: bool = False
    judged: bool = True
