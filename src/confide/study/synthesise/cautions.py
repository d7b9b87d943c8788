"""What limits a synthesis, in sentences that are printed with it."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.study.synthesise.asked import Asked
from confide.study.synthesise.measured import releases_in

FEW_ROWS = 200
"""Below so many rows trees learn single people."""
SHOWN = 4


def cautions_of(asked: Asked, rules: pl.DataFrame, copies: int | None, made: Release | Copies) -> list[str]:
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
            f"Values drawn are values that occur. The largest is one person's own and is repeated in {_listed(far)}: "
            "topcode such variables first, or draw them by quantile regression."
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
    """Numbers whose largest value one row has, and a synthetic row has it too."""
    out = []
    for v in asked.drawn:
        column = asked.records[v]
        values = column.values[column.usable] if column.kind == "numeric" and not column.dtype.is_temporal() else ()
        if len(values) and np.sum(values == np.max(values)) == 1:
            top = float(np.max(values))
            if any((r.frame.get_column(v).cast(pl.Float64) == top).any() for r in releases_in(made)):
                out.append(v)
    return out


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = len(names) - SHOWN * 2
    return ", ".join(names[: SHOWN * 2]) + (f" and {more:,} others" if more > 0 else "")
