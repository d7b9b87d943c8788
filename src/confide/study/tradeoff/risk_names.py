"""Names of risks: which count people, which are shares of them, which are about what would be learnt, or the file."""

from __future__ import annotations

from collections.abc import Iterable

from confide.core.registry import known

SHARE = "_share"
LEARNT, HARM = "learnt_", "harm_"
"""Before the name of a variable: the share of people of whom it would be learnt, and the harm by it."""


def about_learning(risk: str) -> bool:
    """Whether a risk is about what would be learnt of a variable.

    >>> about_learning("learnt_income"), about_learning("harm_income"), about_learning("found")
    (True, True, False)
    """
    return risk.startswith((LEARNT, HARM))


def about_file(risk: str) -> bool:
    """Whether a risk is one of the released file itself, the same for every intruder: its name begins as a customary
    risk is called.

    >>> about_file("k_anonymity"), about_file("k_anonymity_small_share"), about_file("found")
    (True, True, False)
    """
    return any(risk == name or risk.startswith(f"{name}_") for name in known("risk"))


def apart(risk: str) -> bool:
    """Whether a risk is no number or share of the targets of an intruder: what would be learnt, or of the file."""
    return about_learning(risk) or about_file(risk)


def is_share(risk: str) -> bool:
    """Whether a risk is a share of people, from 0 to 1.

    >>> is_share("found_share"), is_share("learnt_income"), is_share("found"), is_share("harm_fair_share")
    (True, True, False, False)
    """
    return risk.startswith(LEARNT) or (risk.endswith(SHARE) and not risk.startswith(HARM))


def counted(risk: str) -> str:
    """The risk that counts the people of which this one is the share; others stay as they are.

    >>> counted("found_share"), counted("learnt_fair_share")
    ('found', 'learnt_fair_share')
    """
    return risk if apart(risk) else risk.removesuffix(SHARE)


def shared(risk: str) -> str:
    """The share that goes with a number of people; what is a share, or no number of people, stays as it is."""
    return risk if is_share(risk) or about_learning(risk) else f"{risk}{SHARE}"


def own_risks(names: Iterable[str]) -> list[str]:
    """Those of some names that a study adds to its risks: what would be learnt, and customary risks of the file."""
    return [n for n in names if apart(n)]
