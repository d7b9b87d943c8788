"""Names of risks: which count people, which are shares of them, and which are about what would be learnt."""

from __future__ import annotations

from collections.abc import Iterable

SHARE = "_share"
LEARNT, HARM = "learnt_", "harm_"
"""Before the name of a variable: the share of people of whom it would be learnt, and the harm by it."""


def about_learning(risk: str) -> bool:
    """Whether a risk is about what would be learnt of a variable.

    >>> about_learning("learnt_income"), about_learning("harm_income"), about_learning("found")
    (True, True, False)
    """
    return risk.startswith((LEARNT, HARM))


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
    return risk if about_learning(risk) else risk.removesuffix(SHARE)


def shared(risk: str) -> str:
    """The share that goes with a number of people; what is a share, or no number of people, stays as it is."""
    return risk if is_share(risk) or about_learning(risk) else f"{risk}{SHARE}"


def learning_risks(names: Iterable[str]) -> list[str]:
    """Those of some names that are about what would be learnt."""
    return [n for n in names if about_learning(n)]
