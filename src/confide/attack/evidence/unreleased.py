"""What somebody knows that the release does not show: it is no evidence, and the attack goes on with the rest."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from confide.attack.intruder import Intruder
from confide.core.errors import did_you_mean

if TYPE_CHECKING:
    from confide.protect.release import Release


def unreleased(intruder: Intruder, release: Release) -> tuple[str, ...]:
    """Known variables that the original file has and the release has not."""
    return tuple(v for v in (*intruder.knows, *intruder.between) if v not in release.public_variables)


def unusable(intruder: Intruder, release: Release) -> list[str]:
    """What cannot be meant: names that no file has, identifiers, columns that seem to be released by another name."""
    identifiers = () if release.plan is None else release.plan.identifiers
    strange = [c for c in release.public_variables if c not in release.original.columns]
    problems = []
    for v in unreleased(intruder, release):
        alike = difflib.get_close_matches(v.lower(), [c.lower() for c in strange], n=1)
        if v not in release.original.columns:
            problems.append(f'knows: there is no column "{v}".{did_you_mean(v, release.original.columns)}')
        elif v in identifiers:
            problems.append(f'knows: "{v}" is an identifier, which is not released; leave it out of knows.')
        elif alike:
            name = next(c for c in strange if c.lower() == alike[0])
            problems.append(
                f'knows: "{v}" is not released, but "{name}" is, which the original does not have. If they are the '
                "same variable, give both one name."
            )
    return problems


def as_shown(intruder: Intruder, release: Release) -> Intruder:
    """The intruder with what the release can be compared with; the very same where all of it is released.

    Somebody of whom nothing is left to compare takes every record for as likely as any other.
    """
    lost = unreleased(intruder, release)
    if not lost:
        return intruder
    told = intruder.knows_missing
    left = replace(
        intruder, knows=tuple(v for v in intruder.knows if v not in lost),
        between={v: pair for v, pair in intruder.between.items() if v not in lost},
        errors={v: e for v, e in intruder.errors.items() if v not in lost},
        knows_missing=told if isinstance(told, bool) else tuple(v for v in told if v not in lost),
    )  # fmt: skip
    if left.knows or left.between:
        return left
    return replace(left, available="ignore", unavailable="ignore", others="ignore")
