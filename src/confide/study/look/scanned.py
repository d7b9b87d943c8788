"""A first look at a scan: the file is known by its different rows and how many there are of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.scale.engine import COUNT
from confide.core.scale.local import Local
from confide.core.scale.rows_alike import RowsAlike, TooMany
from confide.frames.encoded import Encoded
from confide.frames.roles.result import roles_of
from confide.frames.scan.scan import Scan
from confide.frames.scan.variables import Variables
from confide.study.look.asked import Asked, chosen, settled

BYTES = 200
"""What a different row takes, with all that is computed of it; more for each variable."""
FEWER = "Or name fewer keys, fewer sensitive variables or no weight (keys=[...], sensitive=(), guess=False)."
"""What to do where rows that are alike do not fit."""


def asked_of_scan(
    scan: Scan, engine: Local | None, *, keys: Any, sensitive: Any, weight: Any, unit: Any, population: Any, count: Any,
    guess: bool,
) -> Asked:  # fmt: skip
    """What a look at a scan goes on with; two passes over the file."""
    local = Local() if engine is None else engine
    if not isinstance(local, Local):
        raise InputError("look reads a scan on this machine: leave engine out, or give engine=cf.Local(...).")
    if unit is not None and len(unit):
        raise InputError(
            "unit: rows of one unit are not put together in a scan. Leave unit out, or look at a part of the file that "
            "fits into memory (cf.read)."
        )
    if not scan.height:
        raise InputError("The file has no rows: there is nobody to look at.")
    known = Variables.of(scan, local.batch)
    found = roles_of(known.facts(), known.rows)
    mine, private, heavy, _, _ = chosen(found, keys, sensitive, weight, (), population, guess)
    private = tuple(v for v in private if v not in (*mine, heavy))
    names = list(dict.fromkeys([*mine, *([] if heavy is None else [heavy])]))
    file, beside, lost = _counted(scan, local, names, [[*mine, v] for v in private] if mine else [])
    people, counts = _people(population, count, mine, local)
    asked = settled(
        file, found, keys=keys, sensitive=sensitive, weight=weight, unit=(), population=people, count=counts,
        guess=guess,
    )  # fmt: skip
    tallies = {v: known.values(v) for v in scan.types}
    doubts = (*known.scan.cautions, *asked.doubts, *lost, *_cut(known.cut, known.most))
    return replace(asked, tallies=tallies, beside=beside, doubts=doubts)


def _counted(
    scan: Scan, local: Local, names: Sequence[str], more: Sequence[Sequence[str]]
) -> tuple[Encoded, dict[str, Encoded], list[str]]:
    """The different rows of some variables, and of each further set of them, named by its last; and which of these have
    too many."""
    most = local.in_bytes // (BYTES + 40 * (len(names) + 1)) // (1 + len(more))
    first, others = RowsAlike(names, most=most), {m[-1]: RowsAlike(m, most=most) for m in more}
    lost = []
    for _, batch in scan.batches(dict.fromkeys([*names, *(m[-1] for m in more)]), local.batch):
        try:
            first.add(batch.select(names))
        except TooMany as e:
            raise e.told(scan.height, local.in_bytes, FEWER) from None
        for m in more:
            if (v := m[-1]) in others:
                try:
                    others[v].add(batch.select(m))
                except TooMany:
                    del others[v]
                    lost.append(
                        f'Not computed: what being alike tells of "{v}", whose combinations with the keys do not fit '
                        "into the memory that is allowed. Recode it, or allow more."
                    )
    return _encoded(scan, first), {v: _encoded(scan, alike) for v, alike in others.items()}, lost


def _encoded(scan: Scan, alike: RowsAlike) -> Encoded:
    table = alike.table
    return Encoded(table.drop(COUNT), scan.schema, count=table[COUNT].to_numpy())


def _people(population: Any, count: Any, keys: Sequence[str], local: Local) -> tuple[Any, Any]:
    """A population that is a scan, as its different rows with how many people have each."""
    if not isinstance(population, Scan):
        return population, count
    lost = [v for v in (*keys, *([] if count is None else [count])) if v not in population.types]
    if lost:
        raise InputError(
            f"population: the file of the population has no {', '.join(lost)}; it needs all keys, or leave it out."
        )
    alike = RowsAlike(keys, [] if count is None else [count], local.in_bytes // (BYTES + 40 * len(keys)))
    try:
        for _, batch in population.batches(dict.fromkeys([*keys, *([] if count is None else [count])]), local.batch):
            alike.add(batch)
    except TooMany as e:
        raise e.told(population.height, local.in_bytes, f"Of the population. {FEWER}") from None
    many = alike.table[COUNT if count is None else f"{COUNT} {count}"].to_numpy()
    return alike.table.select(*keys, pl.Series(COUNT, np.rint(many).astype(np.int64))), COUNT


def _cut(names: Sequence[str], most: int) -> list[str]:
    if not names:
        return []
    return [
        f"Variables with more than {most:,} values, of which so many were looked at: {', '.join(names[:12])}"
        f"{f' and {len(names) - 12} more' if len(names) > 12 else ''}."
    ]
