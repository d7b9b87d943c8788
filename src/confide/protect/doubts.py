"""Arithmetic that a plan does on what looks like codes, where nobody named the kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confide.protect.release import Release
    from confide.protect.seam.mechanism import Mechanism


def doubts(release: Release) -> Iterator[str]:
    """A sentence for each variable, at the first step that takes it as a number."""
    if release.plan is None:
        return
    seen = set(release.plan.named_kinds)
    for step in release.plan.parts:
        for v in _numbers(release, step):
            if v not in seen and (asked := release.before.doubt(v)):
                yield f"{type(step).__name__} takes a number. {asked}"
            seen.add(v)


def _numbers(release: Release, step: Mechanism) -> list[str]:
    """Variables that a step computes with: those it needs as numbers, and predictors that are taken as such."""
    groups = {v for part in ("within", "keys") for v in getattr(step, part, None) or ()}
    numbers = [v for v, kind in step.kinds().items() if kind == "numeric"]
    read = [v for v in step.needs if v not in groups and v in release.before.types]
    return [*numbers, *(v for v in read if release.before.column(v, release.kinds.get(v)).kind == "numeric")]
