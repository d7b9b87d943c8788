r"""Posteriors of units that have several rows.

A target's known values t are those of one row of its unit; which one, nobody says. For unit u with rows
:math:`z_u`, any released row being as likely the target's as any other,

.. math:: w_u(t) = \sum_{j \in u} \frac{\Pr(z_u \mid y_j = t)}{\Pr(z_u)}
                 = \sum_{j \in u} w_j(t)\, \frac{\Pr(z_{u,-j} \mid y_j = t)}{\Pr(z_{u,-j} \mid z_j)}

over its rows in the target's block: :math:`w_j` is the weight of a single record, the second factor what the unit's
other rows add. Both of its parts come from one model of `homes`, so that units that are not the target's have ratios
that average 1. What other rows say of variables that are not known, or known as intervals or with mistakes, or altered
once per unit, is left aside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.kernel_plan import Units
from confide.attack.engine.kernels.arithmetic import TOLERANCE
from confide.attack.engine.loops import Outcome
from confide.attack.engine.other_rows import OtherRows
from confide.attack.engine.posterior import log_block, log_pairs, unknown_of
from confide.attack.engine.room import tops
from confide.attack.engine.scene import Scene
from confide.core.run.threads import one_blas_thread, run_pieces
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

PAIRS = 500_000
"""Pairs times classes that are worked on together."""
FEW = 16
"""People of whom the same is known whose units are looked for one by one; those of more are ranked together."""


@dataclass(frozen=True, eq=False)
class UnitPlan:
    """Distinct targets that have candidates, sorted by block (`first`: a row of each; `block`), whose own units are
    `own[start[i]:start[i + 1]]` (-1: none) in the order of `by_target`; the `unit` of each row of the case; and what
    rows of units say."""

    scene: Scene
    unit: I64
    says: Sequence[OtherRows]
    first: I64
    block: I64
    start: I64
    own: I64
    by_target: I64

    @classmethod
    def of(cls, scene: Scene, units: Units, unit: I64, says: Sequence[OtherRows]) -> UnitPlan:
        met = np.flatnonzero(scene.block_t[units.target] >= 0)
        rows = units.target[met]
        keys = [scene.block_t[rows], *(scene.targets[v].values[rows] for v in scene.targets)]
        found = Distinct.rows(keys, len(met))
        by_target = met[np.argsort(found.of, kind="stable")]
        start = np.concatenate([[0], np.cumsum(np.bincount(found.of, minlength=len(found)))])
        first = rows[found.first]
        own = units.own[by_target]
        return cls(scene, unit, says, first, scene.block_t[first], start, own, by_target)

    def pieces(self) -> list[tuple[int, int]]:
        """Ranges of distinct targets that are worked on together: of several blocks, unless distances are compared."""
        many = np.array([len(self.scene.members(int(b))) for b in self.block], dtype=np.float64)
        total = np.cumsum(many * self.scene.classes.size)
        part = (total // PAIRS).astype(np.int64)
        if self.scene.knowledge.nearest:
            part = part + (part[-1:].max(initial=0) + 1) * self.block
        edges = [*np.flatnonzero(np.diff(part, prepend=-1)).tolist(), len(part)]
        return [(a, b) for a, b in pairwise(edges) if a < b]


def log_unit_rows(scene: Scene, says: Sequence[OtherRows], t: I64, at: I64) -> dict[str, F64]:
    """The logs of all factors of rows (at: places in the scene), those of single records and of the other rows."""
    parts = log_block(scene, t, at, unknown_of(scene, at))
    if says:
        parts["other rows of the unit"] = np.sum([s.log(t, scene.rows[at]) for s in says], axis=0)
    return parts


def carry_out_units(
    scene: Scene, units: Units, unit: I64, says: Sequence[OtherRows], threads: int, done: Callable[[int], None],
    top: int = 0,
) -> tuple[Outcome, I64]:  # fmt: skip
    """As `carry_out`, of whole units: `units.own` are numbers of units, `unit` those of all rows of the case, `says`:
    what `other_rows` gave. Also how many units are candidates of each."""
    plan, n = UnitPlan.of(scene, units, unit, says), len(units.target)
    out, truth = np.full((n, 5), -np.inf), np.zeros((n, 3))
    out[:, [2, 4]], truth[:, 0] = 0.0, -np.inf
    pieces = plan.pieces()
    with one_blas_thread():
        run_pieces(partial(_weigh, plan, out, truth, top), pieces, threads, lambda _: None)
    done(n)
    pairs = float(sum(len(scene.members(int(block))) for block in plan.block))
    log_sum, log_max, n_max, log_top, candidates = out.T
    log_true, above, likely = truth.T
    found = Outcome(log_sum, log_max, n_max, log_top, log_true, above, likely, (pairs, pairs))
    return found, candidates.astype(np.int64)


def _weigh(plan: UnitPlan, out: F64, truth: F64, top: int, a: int, b: int) -> None:
    """Summaries of distinct targets a..b-1, written to the rows of `out` and `truth`."""
    blocks, of = np.unique(plan.block[a:b], return_inverse=True)
    each = [_block(plan, int(block)) for block in blocks]
    logs = _log_rows(plan, a, b, of, each)
    size = np.array([len(at) for at, _, _ in each])[of]
    first = np.cumsum(size) - size
    begin = np.concatenate([start + each[block][2] for start, block in zip(first, of, strict=True)])
    weights = _summed(logs[None], begin)[0]
    codes = np.concatenate([each[block][1] for block in of])
    many = np.array([len(units) for _, units, _ in each])[of]
    mine = slice(int(plan.start[a]), int(plan.start[b]))
    times = np.diff(plan.start[a : b + 1])
    few = np.repeat(times <= FEW, times)
    own = np.concatenate([[0], np.cumsum(np.where(times <= FEW, times, 0))])
    summary, who = np.empty((b - a, 4)), plan.by_target[mine]
    found, asked = truth[who], truth[who][few]
    room = np.empty(int(many.max())), np.empty(FEW, dtype=np.int64), np.empty_like(tops(top))
    ends = np.concatenate([[0], np.cumsum(many)])
    kernels.finish_each(weights, np.ones(len(codes)), codes, ends, own, plan.own[mine][few], *room, summary, asked)
    found[few] = asked
    for i in np.flatnonzero(times > FEW):
        at, here = slice(ends[i], ends[i + 1]), slice(*(plan.start[a + i : a + i + 2] - plan.start[a]))
        found[here] = _ranked(weights[at], codes[at], plan.own[mine][here], found[here])
    truth[who] = found
    out[who] = np.column_stack([summary, many])[np.repeat(np.arange(b - a), times)]


def _ranked(weights: F64, codes: I64, own: I64, truth: F64) -> F64:
    """What `kernels.finish` says of true records, of one target who is many people: weights are sorted once. `codes`:
    of all units of the block, rising; `truth`: as it is where there is none."""
    at = np.minimum(np.searchsorted(codes, own), len(codes) - 1)
    there = codes[at] == own
    mine, rising = weights[at[there]], np.sort(weights)
    above = len(weights) - np.searchsorted(rising, mine + TOLERANCE, side="right")
    level = len(weights) - np.searchsorted(rising, mine - TOLERANCE, side="left")
    out = truth.copy()
    out[there] = np.column_stack([mine, above, level - 1.0])
    return out


def _log_rows(plan: UnitPlan, a: int, b: int, of: I64, each: Sequence[tuple[I64, I64, I64]]) -> F64:
    """The logs of all factors of pairs of a target and a row of its block, target by target; `of`: the block of each
    target among `each`."""
    s, t = plan.scene, plan.first[a:b]
    if len(each) == 1:
        whole = np.zeros((len(t), len(each[0][0])))
        for part in log_unit_rows(s, plan.says, t, each[0][0]).values():
            whole += part
        return whole.ravel()
    rows = np.concatenate([at for at, _, _ in each])
    size = np.array([len(at) for at, _, _ in each])
    begin = np.cumsum(size) - size
    who = np.repeat(np.arange(len(t)), size[of])
    which = np.arange(len(who)) - np.repeat(np.cumsum(size[of]) - size[of] - begin[of], size[of])
    out = np.zeros(len(who))
    for part in log_pairs(s, t, rows, who, which, unknown_of(s, rows)).values():
        out += part
    if plan.says:
        edges = np.searchsorted(of, np.arange(len(each) + 1))  # targets are sorted by block
        at = 0
        for block, (rows, _, _) in enumerate(each):
            mine = t[edges[block] : edges[block + 1]]
            said = np.sum([x.log(mine, s.rows[rows]) for x in plan.says], axis=0).ravel()
            out[at : at + len(said)] += said
            at += len(said)
    return out


def _block(plan: UnitPlan, block: int) -> tuple[I64, I64, I64]:
    """The rows of a block, by unit; the units; and where each begins."""
    at = plan.scene.members(block)
    unit = plan.unit[plan.scene.rows[at]]
    order = np.argsort(unit, kind="stable")
    begin = np.flatnonzero(np.diff(unit[order], prepend=-1))
    return at[order], unit[order][begin], begin


def _summed(logs: F64, begin: I64) -> F64:
    """log of the sum over the rows of each unit, shape (targets, units)."""
    top = np.maximum.reduceat(logs, begin, axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    each = np.repeat(top, np.diff(np.append(begin, logs.shape[1])), axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.add.reduceat(np.exp(logs - each), begin, axis=1)) + top)
