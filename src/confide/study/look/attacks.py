"""The attack of an intruder who knows the keys, on the file as it is: sure that a person is in it, and not sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder, Unsure
from confide.attack.results.attack import Attack
from confide.attack.scanned.as_it_is import attack_as_it_is
from confide.measure.risk.identification import Summary, summarise
from confide.protect.plan import Plan
from confide.study.look.asked import Asked

SURE, UNSURE = "sure", "unsure"
THRESHOLD = 0.2


@dataclass(frozen=True, eq=False)
class Attacked:
    """What an intruder finds. `membership`: "sure" or "unsure"; `by`: what says how many there are. `short`: rows
    with keys that fewer people of a file of the population have than rows, which cannot be."""

    membership: str
    by: str
    summary: Summary
    short: int = 0

    @property
    def found(self) -> float | None:
        """Right matches that count."""
        return self.summary.found

    def row(self) -> Mapping[str, Any]:
        """One row of a table."""
        s = self.summary
        return {
            "membership": self.membership, "by": self.by, "targets": s.targets, "found": s.found,
            "found_share": s.found_share, "over_threshold": s.over_threshold, "p_absent": s.p_absent,
        }  # fmt: skip


SCHEMA: dict[str, Any] = {
    "membership": pl.String, "by": pl.String, "targets": pl.Int64, "found": pl.Float64, "found_share": pl.Float64,
    "over_threshold": pl.Int64, "p_absent": pl.Float64,
}  # fmt: skip


def attacks(asked: Asked, threads: int | None = None) -> tuple[list[Attacked], Attack | None]:
    """Everybody is looked for among all rows: once by an intruder who is sure that they are there, once by one who is
    not, where something says how many people there are. Beside the results, the first attack itself; None of a scan,
    where people are known by what they have in common."""
    weight = [asked.weight] if asked.weight is not None and asked.people is None else []
    names = list(dict.fromkeys([*asked.keys, *weight]))
    plan = Plan([], categorical=[v for v in asked.keys if v not in weight and not _number(asked, v)])
    if asked.file.count is not None:
        return [_of_counts(asked, plan, *each, threads) for each in _intruders(asked)], None
    release = plan.protect(asked.file.frame.select(names), seed=1)
    out, made = [], []
    for membership, by, stated in _intruders(asked):
        found = Intruder(knows=asked.keys, membership=stated).attack(release, threads=threads, progress=False)
        out.append(Attacked(membership, by, found.summary(THRESHOLD), found.short))
        made.append(found)
    return out, made[0]


def _of_counts(
    asked: Asked, plan: Plan, membership: str, by: str, stated: str | Unsure, threads: int | None
) -> Attacked:
    found, short = attack_as_it_is(Intruder(knows=asked.keys, membership=stated), plan, asked.file, threads)
    return Attacked(membership, by, summarise(found, THRESHOLD), short)


def _number(asked: Asked, name: str) -> bool:
    """Whether a key is a quantity or a date, which can be put into ranges, and no code."""
    s = asked.file.frame.get_column(name)
    if s.dtype in (pl.Date, pl.Datetime):
        return True
    if not s.dtype.is_numeric() or asked.coded(name) or (s.dtype.is_float() and s.is_infinite().any()):
        return False
    return bool(asked.roles.row(name)["kind"] == "numeric")


def _intruders(asked: Asked) -> list[tuple[str, str, str | Unsure]]:
    how = unsure_of(asked)
    return [(SURE, "", "certain"), *([] if how is None else [(UNSURE, *how)])]


def unsure_of(asked: Asked) -> tuple[str, Unsure] | None:
    """An intruder's doubt whether a person is in the file, after what says how many there are; None without that."""
    if asked.people is not None:
        people = asked.people
        known = people.frame.select([*asked.keys, *([] if people.count is None else [people.count])])
        return "a file of the population", Unsure(population=known, count=people.count)
    if asked.weight is not None:
        return f'the weights in "{asked.weight}"', Unsure(weights=asked.weight)
    if asked.total is not None:
        return "the size of the population", Unsure(total=asked.total)
    return None
