"""Guessed roles as a result: one row per variable, with the reason, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.core.result import Result
from confide.core.visible import visible
from confide.frames.door import to_polars
from confide.frames.roles.facts import Facts, facts_of
from confide.frames.roles.guess import ROLES, chosen_keys, guesses
from confide.frames.schema import schema

SCHEMA: dict[str, Any] = {
    "variable": pl.String, "label": pl.String, "kind": pl.String, "role": pl.String, "used": pl.Boolean,
    "doubtful": pl.Boolean, "why": pl.String, "values": pl.Int64, "missing": pl.Int64, "known": pl.Boolean,
    "judged": pl.Boolean,
}  # fmt: skip
PLAIN = {
    "identifier": "names or numbers people", "unit": "rows of one unit", "weight": "survey weight",
    "geography": "can be known: a place", "key": "can be known", "sensitive": "private", "other": "nothing special",
}  # fmt: skip
"""The roles in plain words."""


@dataclass(frozen=True, eq=False, repr=False)
class Roles(Result):
    """`frame`: one row per variable: its role, why it was guessed, whether somebody should confirm it (`doubtful`).

    A role is "identifier" (names or numbers people, never released), "key" (can be known by a neighbour, an employer
    or a register), "geography" (a key that is a place), "sensitive" (what an intruder would like to learn), "weight",
    "unit" (which rows are of one household or firm) or "other". `used`: whether `cf.look` goes on with it; of many
    keys those are used that are known most often. `values`: how many different ones; `missing`: rows without one.
    `known`: not taken as a key, but others may know it; `judged`: False where neither name nor label nor values tell
    what a variable is, so that somebody has to.
    """

    frame: pl.DataFrame
    rows: int

    @property
    def keys(self) -> tuple[str, ...]:
        """Variables that can be known, places among them: those that `cf.look` uses."""
        return tuple(self.frame.filter(pl.col("role").is_in(["key", "geography"]) & pl.col("used"))["variable"])

    @property
    def could_be_keys(self) -> tuple[str, ...]:
        """Variables that others may know too, and that are not used: further keys, and doubtful ones."""
        more = (pl.col("role") == "other") & pl.col("known") & (pl.col("values") > 1)
        left = pl.col("role").is_in(["key", "geography"]) & ~pl.col("used")
        return tuple(self.frame.filter(more | left)["variable"])

    @property
    def not_judged(self) -> tuple[str, ...]:
        """Variables of which neither name nor label nor values tell what they are."""
        return tuple(self.frame.filter(~pl.col("judged"))["variable"])

    @property
    def geography(self) -> tuple[str, ...]:
        """Keys that are places."""
        return self.of("geography")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """What an intruder would like to learn."""
        return self.of("sensitive")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """What names or numbers people."""
        return self.of("identifier")

    @property
    def weight(self) -> str | None:
        """The survey weight; None where there is none."""
        return next(iter(self.of("weight")), None)

    @property
    def unit(self) -> str | None:
        """What says which rows are of one unit; None where rows are units."""
        return next(iter(self.of("unit")), None)

    def row(self, variable: str) -> dict[str, str | int | bool]:
        """What was guessed of one variable."""
        return self.frame.row(by_predicate=pl.col("variable") == variable, named=True)

    def of(self, role: str) -> tuple[str, ...]:
        """All variables of a role."""
        return tuple(self.frame.filter(role=role)["variable"])

    def summary(self) -> pl.DataFrame:
        """Variable, role, whether it is doubtful, and why."""
        return self.frame.select("variable", "role", "doubtful", "why")

    def __repr__(self) -> str:
        doubtful = int(self.frame["doubtful"].sum())
        ask = f"; {doubtful} to confirm (?)" if doubtful else ""
        ask += f"; {len(self.not_judged):,} not judged" if self.not_judged else ""
        head = f"Roles of {self.frame.height:,} variables, guessed from names, labels and values{ask}"
        order = {role: k for k, role in enumerate(ROLES)}
        rows = sorted(self.frame.iter_rows(named=True), key=lambda r: order[r["role"]])
        wide = max((len(visible(r["variable"])) for r in rows), default=0)
        lines = [
            f"{visible(r['variable']).ljust(wide)}  {r['role'].ljust(10)} {'?' if r['doubtful'] else ' '} {r['why']}"
            + ("" if r["used"] or r["role"] == "other" else " Not used: enough keys without it.")
            for r in rows
        ]
        return "\n".join([head, *lines])


def roles(data: Any) -> Roles:
    """Guess what each variable of a file is: identifier, key, sensitive, weight, unit, geography or nothing special.

    Names are read first, then labels, then kinds and values: how many there are, whether any two rows share one. It is
    a proposal: each has its reason, and those marked `doubtful` need somebody who knows the file.

    >>> import confide as cf
    >>> found = cf.roles(cf.demo("heads"))
    >>> found.keys, found.weight
    (('sex', 'race', 'marital', 'educ', 'age', 'state', 'hispanic'), 'weight')
    >>> found.sensitive, found.identifiers
    (('wage_income', 'other_income', 'property_value', 'hh_income'), ('id',))
    """
    frame = to_polars(data)
    return roles_of(facts_of(frame, schema(data)), frame.height)


def roles_of(facts: Sequence[Facts], height: int) -> Roles:
    """The same, from facts of each variable of a file with so many rows."""
    found = guesses(facts)
    keys = set(chosen_keys(found))
    rows = [
        (g.facts.name, g.facts.label, g.facts.kind, g.role, _used(g.role, g.facts.name in keys), g.doubtful, g.why,
         g.facts.distinct, g.facts.missing, g.known, g.judged)
        for g in found
    ]  # fmt: skip
    return Roles(pl.DataFrame(rows, schema=SCHEMA, orient="row"), height)


def _used(role: str, key: bool) -> bool:
    return key if role in ("key", "geography") else role != "other"
