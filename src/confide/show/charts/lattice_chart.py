"""A search over levels as a picture: each node by what it loses and what the condition limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.show.charts.drawing import COLOURS, MOST_ROWS, QUIET, aggregated
from confide.show.charts.plan_charts import FORMAT, finished

if TYPE_CHECKING:
    from confide.study.search.lattice.result import Generalised

WIDE, HEIGHT = 620, 340
KINDS = {"fails": QUIET, "meets": COLOURS[0], "minimal": COLOURS[2], "best": COLOURS[1]}
"""What a node is, and its colour."""


def lattice_chart(result: Generalised) -> Any:
    """Nodes that were visited: the goal across, what is limited upwards, the limit as a line."""
    name, limit = next(iter(result.limits.items()))
    goal = next(c for c in (result.goal, "entropy_lost") if c in result.frame.columns)
    kind = (
        pl.when("best").then(pl.lit("best")).when("minimal").then(pl.lit("minimal"))
        .when("meets").then(pl.lit("meets")).otherwise(pl.lit("fails"))
    )  # fmt: skip
    nodes = result.frame.filter(pl.col(goal).is_not_null()).with_columns(
        node=kind, words=_words(result.levels["variable"].to_list())
    )
    data = aggregated(
        _shown(nodes).select(pl.col(goal).alias("x"), pl.col(name).alias("y"), "node", "words"),
        ["x", "y", "node", "words"],
    )
    return finished(_layers(data, goal, name, limit), WIDE, HEIGHT, _title(result))


def _title(result: Generalised) -> str:
    coarser = [f"{r['variable']} {r['level']}" for r in result.levels.iter_rows(named=True) if r["number"]]
    return f"Best: {', '.join(coarser) or 'everything as it is'} ({result.visited:,} of {result.nodes:,} nodes visited)"


def _words(variables: Sequence[str]) -> pl.Expr:
    return pl.concat_str([pl.lit(f"{v} ") + pl.col(v).cast(pl.String) for v in variables], separator=", ")


def _shown(nodes: pl.DataFrame) -> pl.DataFrame:
    """All nodes, or as many as a picture carries: the best, the minimal ones, and the least losses."""
    if nodes.height <= MOST_ROWS:
        return nodes
    return nodes.sort(~pl.col("best"), ~pl.col("minimal"), maintain_order=True).head(MOST_ROWS)


def _layers(data: pl.DataFrame, goal: str, name: str, limit: float) -> list[Any]:
    import altair as alt

    x = alt.X("x:Q", title=goal, axis=alt.Axis(format=FORMAT))
    y = alt.Y("y:Q", title=f"{name} (dashed: the limit)", axis=alt.Axis(format=",.6~g", tickCount=6))
    there = [k for k in KINDS if k in set(data["node"])]
    colours = alt.Scale(domain=there, range=[KINDS[k] for k in there])
    colour = alt.Color("node:N", scale=colours, legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1))
    told = [
        alt.Tooltip("words:N", title="levels"),
        alt.Tooltip("x:Q", title=goal),
        alt.Tooltip("y:Q", title=name),
        "node:N",
    ]
    dots = alt.Chart(data).mark_point(filled=True, size=60, opacity=0.85).encode(x=x, y=y, color=colour, tooltip=told)
    line = alt.Chart(pl.DataFrame({"y": [float(limit)]})).mark_rule(strokeDash=[5, 4], color=QUIET).encode(y="y:Q")
    return [line, dots]
