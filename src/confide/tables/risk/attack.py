"""The attack on a published table: what somebody who knows n people, or certain people, recovers of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.tables.layout import Bools, Ints
from confide.tables.published import Published
from confide.tables.risk.attack_result import TableAttack
from confide.tables.risk.coalition import left_over
from confide.tables.risk.targets import targets_of
from confide.tables.risk.who_is_known import People, group, is_frame, numbers
from confide.tables.solve.factoring_route import FlowRoute
from confide.tables.solve.programme_route import ProgrammeRoute
from confide.tables.solve.routes import BETWEEN, EXACT, LOWER, Effort, Found, NestedRoute, Route, nest_of

OPTIONS = ("targets", "aggregates", "depth", "fractions", "prove", "draws", "seed")


def effort_of(fractions: Any, prove: Any, draws: Any, seed: Any) -> Effort:
    """The options that say how hard to try, checked."""
    if not isinstance(fractions, (bool, np.bool_)):
        raise InputError("fractions is True or False.")
    if prove is not None and not isinstance(prove, (bool, np.bool_)):
        raise InputError("prove is True, False, or None to prove where it is needed.")
    wanted = None if prove is None else bool(prove)
    return Effort(draws=_positive(draws, "draws"), seed=_positive(seed, "seed", 0), prove=wanted)


def attack_table(
    published: Published,
    known: Any = None,
    *,
    targets: Any = None,
    aggregates: Any = None,
    depth: int | None = None,
    fractions: bool = False,
    prove: bool | None = None,
    draws: int = 2_000,
    seed: int = 0,
) -> TableAttack:
    """Attack one published table; see `confide.sap`."""
    table = published.table
    if not table.total:
        raise InputError("The table is empty: every count is 0, so there is nobody to know or to learn about.")
    target, sets = targets_of(table, targets, aggregates, depth)
    effort = effort_of(fractions, prove, draws, seed)
    route = _route(published, target, sets, effort)
    if is_frame(known):
        people = group(known, table)
        named = _by_group(published, people, target, sets, route)
        texts = pl.Series([str(int(v)) for v in named.frame["sap"]])
        return replace(named, frame=named.frame.with_columns(fraction=texts)) if fractions else named
    ns = numbers(known, table.total)
    found = _honest(route.risk(int(ns[-1]), fractions), published)
    frame = pl.DataFrame(
        {
            "n": ns,
            "sap": found.risk[ns],
            "standard_error": found.standard_error[ns],
            "lower": found.lower[ns],
            "upper": found.upper[ns],
            "status": [found.status[n] for n in ns],
        }
    )
    attack = TableAttack(published, frame, found.method, target, ns, None, route)
    if fractions:
        if found.fractions is None:
            raise InputError(
                "Exact fractions are not to be had for so many known people in this release: it was simulated. "
                "Ask for fewer people, or leave fractions out."
            )
        frame = frame.with_columns(fraction=pl.Series([str(found.fractions[n]) for n in ns]))
        attack = replace(attack, frame=frame)
    return attack


def _route(published: Published, target: Bools, sets: list[Ints] | None, effort: Effort) -> Route:
    if sets is None and published.layout.laminar:
        return NestedRoute(nest_of(published, target))
    groups = [np.array([i]) for i in np.flatnonzero(target)] if sets is None else sets
    if published.layout.families is not None:
        return FlowRoute(published, groups, effort)
    return ProgrammeRoute(published, groups, effort)


def _honest(found: Found, published: Published) -> Found:
    """Where a scheme cannot produce every count of its intervals, margins may tell more than intervals say."""
    only_cells = all(p.members.max(initial=0) <= 1 for p in published.layout.parts)
    if published.sharp or only_cells:
        return found
    status = [LOWER if s in (EXACT, BETWEEN) else s for s in found.status]
    return Found(
        found.risk, found.standard_error, found.lower, np.ones(len(status)), status, found.fractions, found.method
    )


def _by_group(
    published: Published, people: People, target: Bools, sets: list[Ints] | None, route: Route
) -> TableAttack:
    left, proven = left_over(published, people)
    groups = [np.array([i]) for i in np.flatnonzero(target)] if sets is None else sets
    hit = any(np.all(left[g] == 0) for g in groups)
    sure = hit or all(np.any((left[g] > 0) & proven[g]) for g in groups)
    value = float(hit)
    frame = pl.DataFrame(
        {
            "n": [people.size],
            "sap": [value],
            "standard_error": [0.0],
            "lower": [value],
            "upper": [value if sure else 1.0],
            "status": [EXACT if sure else "not proven"],
        }
    )
    return TableAttack(published, frame, "bounds of a named group", target, None, people, route)


def _positive(value: Any, what: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{what} is a whole number from {least} upwards.")
    return int(value)
