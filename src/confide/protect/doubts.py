"""Arithmetic that a plan does on what looks like codes, where nobody named the kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import polars as pl

from confide.frames.columns import Column, Kind, decode
from confide.frames.encoded import Encoded
from confide.frames.scan.codebook import Codebook
from confide.frames.schema import Schema

if TYPE_CHECKING:
    from confide.protect.plan import Plan
    from confide.protect.seam.mechanism import Mechanism


class Before(Protocol):
    """What is asked of the original file."""

    @property
    def types(self) -> Collection[str]: ...
    def column(self, name: str, kind: Kind | None = None) -> Column: ...
    def doubt(self, name: str) -> str: ...


class Made(Protocol):
    """A release, in memory or not."""

    @property
    def plan(self) -> Plan | None: ...
    @property
    def kinds(self) -> Mapping[str, Kind]: ...
    @property
    def before(self) -> Before: ...


@dataclass(frozen=True, eq=False)
class Distinct:
    """The original file of a scan, known by the distinct values of the variables in play."""

    codebook: Codebook
    schema: Schema

    @property
    def types(self) -> Collection[str]:
        """Variables in play."""
        return self.codebook.columns

    def column(self, name: str, kind: Kind | None = None) -> Column:  # noqa: ARG002 - as a file in memory has it
        """Its distinct values, in the kind that they have."""
        return self.codebook.columns[name]

    def doubt(self, name: str) -> str:
        """See `Encoded.doubt`."""
        column, many = self.codebook.columns[name], self.codebook.counts[name]
        if len(many) != len(column):
            return ""
        return Encoded(pl.DataFrame([decode(column)]), self.schema, count=many.astype(float)).doubt(name)


def doubts(release: Made) -> Iterator[str]:
    """A sentence for each variable, at the first step that takes it as a number."""
    if release.plan is None:
        return
    seen = set(release.plan.named_kinds)
    for step in release.plan.parts:
        for v in _numbers(release, step):
            if v not in seen and (asked := release.before.doubt(v)):
                yield f"{type(step).__name__} takes a number. {asked}"
            seen.add(v)


def _numbers(release: Made, step: Mechanism) -> list[str]:
    """Variables that a step computes with: those it needs as numbers, and predictors that are taken as such."""
    groups = {v for part in ("within", "keys") for v in getattr(step, part, None) or ()}
    numbers = [v for v, kind in step.kinds().items() if kind == "numeric"]
    read = [v for v in step.needs if v not in groups and v in release.before.types]
    return [*numbers, *(v for v in read if release.before.column(v, release.kinds.get(v)).kind == "numeric")]
