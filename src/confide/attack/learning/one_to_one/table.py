"""From types back to people: one row per target, and what comes of each way to declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.blocks import starts
from confide.attack.engine.prepare import Prepared
from confide.attack.learning.one_to_one.marginals import Posterior
from confide.attack.learning.one_to_one.sampled import TRUSTED
from confide.attack.learning.one_to_one.types import Types
from confide.attack.results.units import right_matches
from confide.attack.targets import UNKNOWN
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

TIES = 1e-9
"""Marginals that differ by less than this share of themselves are equal."""
STATUS = ("exact", "sampled", "contradiction", "no candidate")


@dataclass(frozen=True, eq=False)
class ByType:
    """What every type of targets has: its largest marginal `top`; `left`: the probability of candidates that were not
    kept; by edge `p`, `error`, and `share`, how probably it is the one that is picked as the likeliest.

    Where marginals were sampled, one half of the chains picks and the other says how probable that is, both ways: the
    largest of several numbers with errors is too large.
    """

    top: F64
    left: F64
    p: F64
    error: F64
    share: F64


def make_table(attack: Attack, ready: Prepared, found: Posterior, seed: int) -> dict[str, Any]:
    """The fields of a result."""
    parts, types = found.parts, found.parts.types
    of = types.of_target
    there = np.flatnonzero(of >= 0)
    p_max = attack.units["p_max"].to_numpy()
    mine = _by_type(found, p_max, attack.units["p_absent"].fill_null(0.0).to_numpy())
    edge = np.full(len(of), -1, dtype=np.int64)
    row = np.full(len(of), -1, dtype=np.int64)
    edge[there], row[there] = _rows_of(types, found, of[there], seed)
    graph, placed = parts.best.graph, edge >= 0
    a, e = np.maximum(of, 0), np.maximum(edge, 0)
    component = np.where(of >= 0, parts.of_a[a], -1)
    status = np.where(of < 0, 3, np.where(found.exact[component], 0, np.where(parts.possible[component], 1, 2)))
    with np.errstate(invalid="ignore", over="ignore"):  # of targets without a record, which count nowhere
        alone = p_max * np.exp(graph.log_r[e] - graph.top[a]) if len(graph.col) else np.zeros(len(of))
    hits = _hits(attack, ready, types, found, mine)
    sure = types.people is None
    absent = np.where(of >= 0, found.absent[a], np.nan if sure else 1.0)
    frame = pl.DataFrame({
        "target": np.arange(len(of)), "row": row, "p": np.where(placed, mine.p[e] if len(mine.p) else 0.0, np.nan),
        "p_error": np.where(placed, mine.error[e] if len(mine.p) else 0.0, np.nan),
        "p_independent": np.where(placed, alone, np.nan),
        "alike": np.where(placed, types.capacity[graph.col[e]] if len(graph.col) else 0, 0),
        "p_max": np.where(of >= 0, mine.top[a], np.nan), "p_absent": absent,
        **hits, "status": pl.Series(STATUS).gather(status),
    })  # fmt: skip
    frame = frame.with_columns(pl.col(pl.Float64).fill_nan(None), row=pl.when(pl.col("row") >= 0).then(pl.col("row")))
    return {
        "frame": frame, "attack": attack, "gap": parts.best.gap, "largest": int(parts.targets.max(initial=0)),
        "whole": bool(graph.whole.all()), "left": float(mine.left.max(initial=0.0)),
        "r_hat": _largest(found.r_hat), "unsettled": _unsettled(found), "sweeps": found.sweeps,
        "unplaced": int(parts.best.away.sum()) if sure else 0, "claims": _claims(found, mine), "components": len(parts),
    }  # fmt: skip


def _largest(r_hat: F64) -> float | None:
    there = r_hat[~np.isnan(r_hat)]
    return float(there.max()) if len(there) else None


def _unsettled(found: Posterior) -> int:
    """Targets of components whose chains do not agree."""
    apart = np.isfinite(found.r_hat) & ~(found.r_hat <= TRUSTED) | np.isinf(found.r_hat)
    return int(found.parts.targets[apart].sum())


def _by_type(found: Posterior, p_max: F64, p_absent: F64) -> ByType:
    """Marginals by type. Where candidates were left out, they keep what the independent attack gives them."""
    types, graph = found.parts.types, found.parts.best.graph
    n = len(types.supply)
    first = np.zeros(n, dtype=np.int64)
    there = np.flatnonzero(types.of_target >= 0)
    first[types.of_target[there]] = there
    kept = np.bincount(
        graph.row, weights=types.capacity[graph.col] * np.exp(graph.log_r - graph.top[graph.row]), minlength=n
    )
    left = np.where(graph.whole, 0.0, np.clip(1 - kept * p_max[first] - p_absent[first], 0.0, 1.0))
    left[left < TIES] = 0.0
    scale = (1 - left)[graph.row]
    top, share = np.zeros(n), np.zeros(len(graph.col))
    for pick, say in ((0, 1), (1, 0)):
        mine = _picked(found.halves[pick], graph.row, types.capacity[graph.col], n)
        share += mine / 2
        weight = mine * types.capacity[graph.col] * found.halves[say] * scale
        top += np.bincount(graph.row, weights=np.nan_to_num(weight), minlength=n) / 2
    top = np.where(np.isnan(found.absent), np.nan, top)
    return ByType(top, left, found.p * scale, found.error * scale, share)


def _picked(p: F64, row: I64, capacity: I64, n: int) -> F64:
    """How probably one record of an edge is picked, if one of a type's likeliest records is."""
    top = np.full(n, -np.inf)
    np.fmax.at(top, row, p)
    with np.errstate(invalid="ignore"):
        likeliest = (p >= top[row] * (1 - TIES)) & (p > 0)
    tied = np.bincount(row, weights=capacity * likeliest, minlength=n)
    return np.asarray(likeliest / np.maximum(tied, 1)[row])


def _rows_of(types: Types, found: Posterior, of: I64, seed: int) -> tuple[I64, I64]:
    """A record for each target as the best assignment says, -1 for none; who gets which of those that are alike is
    drawn, whatever the truth."""
    draws = np.random.default_rng([seed, 1])
    graph, x = found.parts.best.graph, found.parts.best.x
    used = np.repeat(np.arange(len(x)), x)
    order = np.lexsort((draws.random(len(of)), of))
    begin = starts(of[order], len(types.supply))
    place = order[begin[graph.row[used]] + np.arange(len(used)) - np.searchsorted(graph.row[used], graph.row[used])]
    rows, ends = types.rows
    rows = rows[np.lexsort((draws.random(len(rows)), types.of_row[rows]))]
    by = np.argsort(graph.col[used], kind="stable")
    col = graph.col[used][by]
    mine = np.empty(len(used), dtype=np.int64)
    mine[by] = rows[ends[col] + np.arange(len(used)) - np.searchsorted(col, col)]
    edge, row = np.full(len(of), -1, dtype=np.int64), np.full(len(of), -1, dtype=np.int64)
    edge[place], row[place] = used, mine
    return edge, row


def _hits(attack: Attack, ready: Prepared, types: Types, found: Posterior, mine: ByType) -> dict[str, Any]:
    """Expected right matches of each target, by each way to declare; null where the truth is not known."""
    of, own = types.of_target, ready.own_row
    graph, x = found.parts.best.graph, found.parts.best.x
    ok = (of >= 0) & (own >= 0)
    b = np.where(ok, types.of_row[np.maximum(own, 0)], -1)
    ok &= b >= 0
    at = np.full(len(of), -1, dtype=np.int64)
    at[ok] = graph.place(of[ok], b[ok])
    ok, a, e = at >= 0, np.maximum(of, 0), np.maximum(at, 0)
    best, likely = np.zeros(len(of)), np.zeros(len(of))
    best[ok] = x[e[ok]] / (types.supply[a[ok]] * types.capacity[b[ok]])
    likely[ok] = mine.share[e[ok]]
    known = pl.Series(own != UNKNOWN)
    alone = right_matches(attack.units)
    columns = {"hit_independent": alone, "hit_map": pl.Series(best), "hit_marginal": pl.Series(likely)}
    return {k: pl.select(pl.when(known).then(v)).to_series() for k, v in columns.items()}


def _claims(found: Posterior, mine: ByType) -> dict[str, tuple[float, float]]:
    """What is claimed by the best assignment and by the largest marginals, and the variances of how many are right."""
    types, best = found.parts.types, found.parts.best
    row, col, n = best.graph.row, best.graph.col, len(types.supply)
    p = np.nan_to_num(mine.p)
    right = best.x / (types.supply[row] * types.capacity[col])
    mean = np.bincount(row, weights=types.capacity[col] * p * right, minlength=n)
    square = np.bincount(row, weights=types.capacity[col] * p * right**2, minlength=n)
    own = float((types.supply * np.maximum(square - mean**2, 0.0)).sum())
    top = np.nan_to_num(mine.top)
    square = np.bincount(row, weights=types.capacity[col] * p * mine.share**2, minlength=n)
    other = float((types.supply * np.maximum(square - top**2, 0.0)).sum())
    spread = float(np.nan_to_num(found.spread).sum())
    return {
        "map": (float((best.x * p).sum()), spread),
        "marginal": (float((types.supply * top).sum()), other * spread / own if own > 0 else other),
    }
