"""What limits a synthesis, in sentences that are printed with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.protect.shared.rules import Sum
from confide.study.synthesise.asked import Asked
from confide.study.synthesise.measured import releases_in

FEW_ROWS = 200
"""Below so many rows trees learn single people."""
SHOWN = 4


def cautions_of(
    asked: Asked, sums: Sequence[Sum], rules: pl.DataFrame, copies: int | None, made: Release | Copies
) -> list[str]:  # fmt: skip
    """All that should be known of a synthesis beside its numbers."""
    out = []
    if asked.rows < FEW_ROWS:
        out.append(f"The file has {asked.rows:,} rows: trees with so few learn single people, and utility is unsure.")
    if asked.kept:
        out.append(f"Kept as they are, and known to whoever knows them: {_listed(asked.kept)}.")
    if asked.weight in asked.drawn:
        out.append(f'The weight "{asked.weight}" is drawn like any variable; weighted totals follow the drawn weights.')
    if not asked.keys:
        out.append('No key is known, so nobody was looked for: say keys=["sex", "age"] for an attack.')
    elif "keys" in asked.guessed:
        out.append(f"Keys were guessed ({_listed(asked.keys)}): state keys= if others may be known.")
    broken = rules.filter(pl.col("broken") > 0)
    out += [f"In {r['broken']:,} synthetic rows a rule is broken: {r['rule']}." for r in broken[:SHOWN].to_dicts()]
    loose = rules.filter((pl.col("kept_by") == "") & (pl.col("broken") == 0))
    if loose.height:
        out.append(f"{loose.height:,} rules hold in these rows, but no draw keeps them: another draw may break them.")
    if far := _extremes(asked, made):
        out.append(
            f"Values drawn are values that occur. The smallest or largest is one person's own and is repeated in "
            f"{_listed(far)}: topcode or bottomcode such variables first, or draw them by quantile regression."
        )
    if rare := _rare(asked, made):
        out.append(
            f"A category that one person alone has is repeated in {_listed(rare)}: recode such categories first."
        )
    if wide := [s.total for s in sums if _leaves(asked, made, s.total)]:
        out.append(
            f"Made again from drawn parts, some totals are smaller or larger than any in the file: {_listed(wide)}."
        )
    if copies is None:
        out.append(
            "Intervals that are computed from one synthetic file as though it were real are too short: for analysts "
            "who need them make several copies, and combine."
        )
    out.append(
        "The intruder reasons from how rows were drawn. That a tree repeats what few people have is not seen by that, "
        "but by the people who are repeated."
    )
    return [*out, *dict.fromkeys(said for r in releases_in(made) for said in r.cautions)]


def _extremes(asked: Asked, made: Release | Copies) -> list[str]:
    """Numbers and dates whose smallest or largest value one row has, and a synthetic row has it too."""
    out = []
    for v in asked.drawn:
        if asked.records[v].kind != "numeric":
            continue
        mine = _ordered(asked, asked.file.frame, v)
        ends = {x for x in (mine.min(), mine.max()) if x is not None and (mine == x).sum() == 1}
        if ends and any(_ordered(asked, r.frame, v).is_in(list(ends)).any() for r in releases_in(made)):
            out.append(v)
    return out


def _rare(asked: Asked, made: Release | Copies) -> list[str]:
    """Categories that one row has, and a synthetic row has them too."""
    out = []
    for v in asked.drawn:
        column = asked.records[v]
        if column.kind == "numeric":
            continue
        counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
        alone = {str(x) for x, many in zip(column.levels, counts, strict=True) if many == 1}
        if alone and any(alone & {*map(str, r.frame.get_column(v).unique())} for r in releases_in(made)):
            out.append(v)
    return out


def _leaves(asked: Asked, made: Release | Copies, v: str) -> bool:
    """Whether a number leaves the range that it has in the file."""
    mine = _ordered(asked, asked.file.frame, v)
    low, high = mine.min(), mine.max()
    each = [_ordered(asked, r.frame, v) for r in releases_in(made)]
    return any(bool(((z < low) | (z > high)).any()) for z in each)


def _ordered(asked: Asked, frame: pl.DataFrame, v: str) -> pl.Series:
    """Numbers, and dates as numbers, without gaps and answer codes."""
    s = frame.get_column(v).to_physical().cast(pl.Float64).fill_nan(None).drop_nulls()
    return s.filter(~s.is_in(list(asked.records[v].special)))


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = len(names) - SHOWN * 2
    return ", ".join(names[: SHOWN * 2]) + (f" and {more:,} others" if more > 0 else "")
