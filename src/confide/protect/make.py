"""Make a release: settle where its draws come from, carry the steps out, shuffle, leave out what is not released."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.random.digest import Digest
from confide.core.random.draws import Draws
from confide.core.random.origin import Origin, opened
from confide.core.random.seeds import checked_seed, stated_seed
from confide.frames.columns import I64, Column, Kind, Records, decode
from confide.frames.encoded import Encoded, Seeds, narrow
from confide.frames.units import unit_numbers
from confide.protect.canonical import canonical, holds_functions, reading
from confide.protect.compiled import Compiled, of_copy, run
from confide.protect.copies import Copies
from confide.protect.release import Release

if TYPE_CHECKING:
    from confide.protect.plan import Plan

DRAWS = ("own", "shared")


def origin_of(
    plan: Plan, file: Encoded, seed: int | None, vault: Any, draws: str, copies: tuple[int, bool] | None
) -> Origin:
    """Where the draws of a release come from. `copies`: how many, and whether their rows are in one order."""
    return keyed_origin(plan, lambda: described(plan, file, copies), seed, vault, draws)


def keyed_origin(
    plan: Plan, what: Callable[[], tuple[str, ...]], seed: int | None, vault: Any, draws: str
) -> Origin:  # fmt: skip
    """The same for a file that is described otherwise; `what` says it, if draws hang on it."""
    if draws not in DRAWS:
        raise InputError('draws is "own", or "shared" for comparisons of plans that are never published.')
    if draws == "shared":
        if vault is not None:
            raise InputError('draws="shared" is for comparisons only and takes no vault: leave one of them out.')
        return Origin.shared(checked_seed(seed))
    held = opened(vault)
    told = what()
    if held is not None and holds_functions(plan):
        told = (*told, secrets.token_hex(16))  # what a function does cannot be told: no two releases may share draws
    return Origin.of(told, stated_seed(seed), held)


def described(plan: Plan, file: Encoded, copies: tuple[int, bool] | None) -> tuple[str, ...]:
    """What the draws of a release belong to: no other file, plan or number of copies has the same."""
    digest = file.remembered("digest", file.frame.columns, lambda: Digest.of(file.frame).hex())
    return described_as(plan, digest, plan.encode(file), copies)


def described_as(plan: Plan, digest: str, read: Records, copies: tuple[int, bool] | None) -> tuple[str, ...]:
    """The same, of a file with this digest, whose variables in play the plan reads so."""
    how = "one" if copies is None else f"{copies[0]} copies, linked: {copies[1]}"
    return "release", digest, canonical(plan), reading(plan.parts, read), how


def make(plan: Plan, file: Encoded, origin: Origin, like: Any, copies: tuple[int, bool] | None) -> Release | Copies:
    """One release, or several copies."""
    if copies is None:
        return _release(plan, file, origin, like)
    many, linked = copies
    made = [_release(plan, file, origin, like, (i, many, linked)) for i in range(many)]
    return Copies(tuple(made), linked)


def _release(
    plan: Plan, file: Encoded, origin: Origin, like: Any, copy: tuple[int, int, bool] | None = None
) -> Release:
    """`copy` says which of how many, and whether their rows are in one order."""
    number, frame = None if copy is None else copy[0], file.frame
    compiled, current, rows = run(plan.parts, plan.encode(file), origin, number)
    order = _shuffled(rows, origin, None if copy is None or copy[2] else number)
    _check_owned(plan, compiled, frame, current)
    touched = {v: decode(current[v]) for v in compiled.ways}
    gone = {*plan.identifiers, *plan.drop}
    if plan.unit is not None and plan.unit not in gone:
        key = of_copy("unit", None if copy is None or copy[2] else number)
        touched[plan.unit] = pseudonyms(frame.get_column(plan.unit), rows, origin.draws(key))
    public = [
        touched.get(v, frame.get_column(v) if len(rows) == frame.height else frame.get_column(v).gather(rows))
        for v in frame.columns
        if v not in gone
    ]
    if not public:
        raise InputError("Nothing would be released: every column is an identifier or dropped.")
    index = pl.Series(order).cast(pl.get_index_type())  # once: each column would make its own of plain numbers
    released = pl.DataFrame(public).rechunk()[index]
    link = None if compiled.nobody else rows[order]
    seeds = _seeds(file, {v: current[v] for v in compiled.ways}, order, link, plan.unit)
    return Release.made(plan, compiled, file, released, link, origin, like=like, copy=copy, seeds=seeds)


def pseudonyms(unit: pl.Series, rows: I64, draws: Draws) -> pl.Series:
    """A random number from 1 upwards for the unit of each row that is released; `rows`: their original rows."""
    numbers = unit_numbers(unit)[rows]
    released, of = np.unique(numbers, return_inverse=True)
    name = np.empty(len(released), dtype=np.int64)
    name[draws.order(released)] = np.arange(1, len(released) + 1)
    return pl.Series(unit.name, name[of])


def _seeds(file: Encoded, made: Mapping[str, Column], order: I64, link: I64 | None, unit: str | None = None) -> Seeds:
    """Arrays that the released file was made of: categories that steps made, and values that they left alone."""
    touched, held = {*made, unit}, {v: narrow(c.take(order)) for v, c in made.items() if c.kind == "categorical"}

    def seed(name: str, kind: Kind) -> Column | None:
        if name in touched:
            return held.get(name) if kind == "categorical" else None
        return None if link is None else file.column(name, kind).take(link)

    return seed


def _shuffled(rows: I64, origin: Origin, copy: int | None) -> I64:
    """A random order of the released rows, from draws of its own; rows of nobody are counted."""
    owned = bool((rows >= 0).all())
    return origin.draws(of_copy("shuffle", copy)).order(rows if owned else np.arange(len(rows)))


def _check_owned(plan: Plan, compiled: Compiled, frame: pl.DataFrame, current: Records) -> None:
    """Rows that belong to nobody have no value of a variable that was not made with them."""
    gone = {*plan.identifiers, *plan.drop}
    left = [v for v in frame.columns if v not in gone and v not in current] if compiled.nobody else []
    if left:
        raise InputError(
            f"{compiled.nobody} So such rows have no value of {', '.join(left)}: mask every variable that is "
            "released, or add the others to drop."
        )
