"""All targets of a scene at once: equal targets and equal records are computed once, blocks in compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.attack.engine import kernels
from confide.attack.engine.grouping import Distinct, starts
from confide.attack.engine.plain_loops import MIXED, plain_loops, plainly
from confide.attack.engine.record_side import log_unknown
from confide.attack.engine.room import room, spread_room, tops
from confide.attack.engine.scene import Scene
from confide.attack.engine.spreads import MOST_NODES, known_spreads, spread_arrays
from confide.attack.engine.target_side import log_belief, log_limits, log_normaliser, no_class_fits
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.table import Table
from confide.protect.likelihoods.window import Window
from confide.protect.shared.category_codes import level_codes

PIECE = 512
"""Distinct targets in one piece of work."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Per target: log of the sum of its weights relative to the largest, log of the largest, how many share it.

    `log_top`: log of the sum of the largest weights, as many as were asked for, relative to the largest. Of the true
    record: its log weight (-inf where it is no candidate), how many lie strictly above it and how many
    others are at least as likely. `pairs`: pairs in all blocks, and pairs visited after equal ones were merged and
    hopeless ones skipped.
    """

    log_sum: F64
    log_max: F64
    n_max: F64
    log_top: F64
    log_true: F64
    above: F64
    likely: F64
    pairs: tuple[float, float]


def compute(scene: Scene, true_row: I64, threads: int, done: Callable[[int], None], top: int = 0) -> Outcome:
    """Summaries of every target's posterior. `true_row`: position of its record among all released rows, -1: none.

    `top`: how many of the largest weights to add up (0: none; the sum is then meaningless).
    """
    return Run(scene, true_row, top).outcome(threads, done)


class Run:
    def __init__(self, scene: Scene, true_row: I64, top: int) -> None:
        self.scene, self.top = scene, top
        self.spreads = known_spreads(scene)
        self.direct = scene.mixture and any(u.direct and not scene.numeric[i] for i, u in enumerate(scene.uncertain))
        self._merge_records()
        self._merge_targets()
        self._place_truth(true_row)

    # -- merging ---------------------------------------------------------------------------------------------

    def _merge_records(self) -> None:
        s = self.scene
        keys: list[NDArray[Any]] = [s.block_r]
        first: list[NDArray[Any]] = [known.like.z[s.rows] for known in self.spreads]
        first += [u.like.low[s.rows] for u in s.uncertain if isinstance(u.like, (Normal, Window)) and all(u.known)]
        keys += first[:1]
        for u, record, record_a in zip(s.uncertain, s.records, s.records_a, strict=True):
            keys += list(record.values())
            if record_a is not None and u.like_a is not u.like:
                keys += list(record_a.values())
            keys += [label.released[s.rows] for label in u.regions.values()]
            keys += [] if u.log_own is None else [u.log_own[s.rows]]
        keys += [s.released[v].values for v in s.knowledge.nearest]
        if s.needs_belief:
            keys.append(s.cells_r.of_records)
        self.records = Distinct.rows(keys, len(s.rows))
        self.block_r = s.block_r[self.records.first]
        self.offsets = starts(self.block_r, s.n_blocks)

    def _merge_targets(self) -> None:
        s = self.scene
        met = np.flatnonzero(s.block_t >= 0)
        keys: list[NDArray[Any]] = [s.block_t[met]]
        late: list[NDArray[Any]] = []
        for i, (u, t) in enumerate(zip(s.uncertain, s.known_t, strict=True)):
            if t is not None and not s.numeric[i]:
                keys += [v[met] for v in t.values()]
            if s.mixture and not s.numeric[i]:
                values = u.met(s.targets)
                for v, known in zip(u.variables, u.known, strict=True):
                    if known and v in s.classes.columns:
                        keys.append(level_codes(values[v], s.classes.columns[v])[0][met])
        late += [v[met] for n in s.numbers if n.target is not None for v in n.target.values()]
        late += [s.targets[v].values[met] for v in s.knowledge.nearest]
        if s.needs_belief:
            keys.append(s.cells.of_targets[met])
        # Targets of one block and class lie together, inside a class by their numbers.
        classes = Distinct.rows(keys, len(met))
        both = Distinct.rows([classes.of, *late], len(met))
        self.met = met
        self.targets = both
        self.first = met[both.first]
        self.block_t = s.block_t[self.first]
        self.class_t = classes.of[both.first]
        # `combine` sorts by block first, so class numbers rise with blocks.

    def _place_truth(self, true_row: I64) -> None:
        """Pairs (distinct target, distinct true record), so that equal ones are ranked once."""
        s = self.scene
        place = np.full(s.case.released.n, -1, dtype=np.int64)
        place[s.rows] = self.records.of
        own = np.where(true_row[self.met] >= 0, place[np.maximum(true_row[self.met], 0)], -1)
        same_block = (own >= 0) & (self.block_r[np.maximum(own, 0)] == s.block_t[self.met])
        own = np.where(same_block, own, -1)
        width = len(self.records) + 1
        pair, of = np.unique(self.targets.of * width + own + 1, return_inverse=True)
        self.true_start = starts(pair // width, len(self.targets))
        self.true_at = (pair % width - 1).astype(np.int64)
        self.true_of = of

    # -- computing -------------------------------------------------------------------------------------------

    def outcome(self, threads: int, done: Callable[[int], None]) -> Outcome:
        n = len(self.targets)
        self.out = np.full((n, 4), -np.inf)
        self.out[:, 2] = 0.0
        self.truth = np.zeros((len(self.true_at), 3))
        self.truth[:, 0] = -np.inf
        self.visited = 0.0
        share = len(self.met) / max(n, 1)
        told = [0.0, 0.0]

        def advance(k: int) -> None:
            told[0] += k * share
            whole = int(told[0]) - int(told[1])
            told[1] += whole
            done(whole)

        self._dispatch(threads, advance)
        done(self.scene.targets.n - int(told[1]))
        return self._spread_out()

    def _dispatch(self, threads: int, advance: Callable[[int], None]) -> None:
        s = self.scene
        pieces = [(a, min(a + PIECE, len(self.targets))) for a in range(0, len(self.targets), PIECE)]
        if s.knowledge.nearest and not s.uncertain:
            work = self._nearest()
        elif not self._compiled():
            work = plain_loops(self)
        elif s.mixture:
            self._mixture(threads, advance)
            return
        else:
            work = self._direct()
        run_pieces(work, pieces, threads, advance)

    def _compiled(self) -> bool:
        """Whether compiled loops understand every likelihood in play."""
        s = self.scene
        if s.knowledge.nearest or self.direct:
            return False
        for i, u in enumerate(s.uncertain):
            spread = [known.like for known in self.spreads if known.item == i]
            if spread:
                if max(like.p.shape[1] for like in spread) > MOST_NODES:
                    return False
                continue
            known_number = s.numeric[i] and any(u.known)
            if known_number and (not isinstance(u.like, Normal) or s.helped or not self._noisy_by_block(u.like)[1]):
                return False
            if not s.numeric[i] and not s.mixture and not isinstance(u.like, (Match, Table)):
                return False
        return True

    def _noisy_by_block(self, like: Normal) -> tuple[Bools, bool]:
        """Whether each block's records are noisy, and whether that is the same for all records of every block."""
        inside = like.inside[self.scene.rows][self.records.first]
        total = np.bincount(self.block_r, weights=inside, minlength=self.scene.n_blocks)
        size = np.bincount(self.block_r, minlength=self.scene.n_blocks)
        return total > 0, bool(np.all((total == 0) | (total == size)))

    def _nearest(self) -> Callable[[int, int], None]:
        s = self.scene
        names = s.knowledge.nearest
        y = np.stack([s.targets[v].values[self.first] for v in names], axis=1)
        z = np.stack([s.released[v].values[self.records.first] for v in names])
        scale = np.array([float(np.nanstd(s.case.released[v].values)) or 1.0 for v in names])

        def work(first: int, last: int) -> None:
            kernels.attack_nearest(
                first, last, self.block_t, self.offsets, self.records.count, y, z, scale,
                self.true_start, self.true_at, tops(self.top), self.out, self.truth,
                room(2, self.block_t[first:last], self.offsets),
            )  # fmt: skip
            self.visited += self._pairs(first, last)

        return work

    def _pairs(self, first: int, last: int) -> float:
        blocks = self.block_t[first:last]
        return float((self.offsets[blocks + 1] - self.offsets[blocks]).sum())

    def _known_numbers(self) -> tuple[F64, F64, Bools, F64, F64, F64, list[Normal]]:
        """Known noisy numbers: y, minus log allowed, noisy by block, cells and sd."""
        s = self.scene
        likes, y, t_log = [], [], []
        for n in s.numbers:
            if n.known and isinstance(n.like, Normal) and n.target is not None:
                likes.append(n.like)
                y.append(np.where(n.target["inside"], n.target["y"], 0.0)[self.first])
                t_log.append(-n.target["log_allowed"][self.first])
        d = len(likes)
        rows = s.rows[self.records.first]
        low = np.array([like.low[rows] for like in likes]).reshape(d, len(rows))
        high = np.array([like.high[rows] for like in likes]).reshape(d, len(rows))
        noisy = (
            np.stack([self._noisy_by_block(like)[0] for like in likes], axis=1)
            if d
            else np.zeros((s.n_blocks, 0), dtype=bool)
        )
        shape = (len(self.first), d)
        known = np.array(y).T.reshape(shape)
        sd = np.ones(shape)
        for v, like in enumerate(likes):
            spread = like.sd_at(known[:, v])
            sd[:, v] = np.where(spread > 0, spread, 1.0)  # a target that is not noisy has no use for it
        return known, np.array(t_log).T.reshape(shape), noisy, low, high, sd, likes

    def _direct(self) -> Callable[[int, int], None]:
        """Every class is known: matches, tables and densities multiply."""
        s = self.scene
        fixed = self._lookups()
        y, t_log, noisy, low, high, sd, likes = self._known_numbers()
        errors = spread_arrays(self.spreads, self.first, s.rows[self.records.first])
        log_m = s.log_m[self.records.first]
        y, t_log, low, high = (np.ascontiguousarray(a) for a in (y, t_log, low, high))
        even, half = np.zeros(len(likes), dtype=bool), 0.0
        for v, like in enumerate(likes):
            inside = like.inside[s.rows][self.records.first]
            width = (high[v] - low[v])[inside]
            even[v] = len(width) > 0 and np.all(np.isfinite(width)) and np.ptp(width) <= 1e-9 * (width.max() + 1e-300)
            if v == 0 and even[v]:
                half = 0.5 * float(width.max())

        def work(first: int, last: int) -> None:
            blocks = self.block_t[first:last]
            if not likes and not self.spreads:
                kernels.attack_plain(
                    first, last, self.block_t, self.offsets, self.records.count, log_m, *fixed,
                    self.true_start, self.true_at, tops(self.top), self.out, self.truth, room(2, blocks, self.offsets),
                )  # fmt: skip
                self.visited += self._pairs(first, last)
                return
            visited = np.zeros(1)
            if self.spreads:
                kernels.attack_spread(
                    first, last, self.block_t, self.class_t, self.offsets, self.records.count, log_m, *fixed,
                    y, t_log, noisy, low, high, sd, errors.x, errors.add, *errors.records, errors.nodes, *errors.bounds,
                    self.true_start, self.true_at, tops(self.top), self.out, self.truth,
                    *spread_room(blocks, self.offsets), visited,
                )  # fmt: skip
                self.visited += float(visited[0])
                return
            kernels.attack_noisy(
                first, last, self.block_t, self.class_t, self.offsets, self.records.count, log_m, *fixed,
                y, t_log, noisy, low, high, sd, even, half,
                self.true_start, self.true_at, tops(self.top), self.out, self.truth, room(4, blocks, self.offsets),
                visited,
            )  # fmt: skip
            self.visited += float(visited[0])

        return work

    def _lookups(self) -> tuple[Any, ...]:
        """Arrays of all matches and tables, in the kernels' layout."""
        s, n, r = self.scene, len(self.first), len(self.records)
        t_code, code, same, diff = [], [], [], []
        t_row, column, flat, begin, width = [], [], [np.zeros(0)], [], []
        for i, u in enumerate(s.uncertain):
            t, z = s.known_t[i], s.records[i]
            if s.numeric[i] or t is None:
                continue
            if isinstance(u.like, Match):
                t_code.append(t["code"][self.first])
                code.append(z["code"][self.records.first])
                same.append(z["same"][self.records.first])
                diff.append(z["diff"][self.records.first])
            elif isinstance(u.like, Table):
                t_row.append(t["row"][self.first])
                column.append(z["column"][self.records.first])
                begin.append(sum(len(f) for f in flat))
                width.append(u.like.log_p.shape[1])
                flat.append(u.like.log_p.ravel())

        def stacked(parts: list[Any], kind: Any, size: int) -> NDArray[Any]:
            return np.ascontiguousarray(np.array(parts, dtype=kind).reshape(len(parts), size))

        return (
            np.ascontiguousarray(stacked(t_code, np.int64, n).T), stacked(code, np.int64, r),
            stacked(same, np.float64, r), stacked(diff, np.float64, r),
            np.ascontiguousarray(stacked(t_row, np.int64, n).T), stacked(column, np.int64, r),
            np.concatenate(flat), np.array(begin, dtype=np.int64), np.array(width, dtype=np.int64),
        )  # fmt: skip

    def _mixture(self, threads: int, advance: Callable[[int], None]) -> None:
        """Unknown classes are averaged over, a range of blocks at a time."""
        s = self.scene
        y, t_log, noisy, low, high, sd, _ = self._known_numbers()
        errors = spread_arrays(self.spreads, self.first, s.rows[self.records.first])
        most = max(MIXED // max(s.classes.size, 1), 1)
        edges = [0]
        while edges[-1] < s.n_blocks:
            upto = int(np.searchsorted(self.offsets, self.offsets[edges[-1]] + most, side="right")) - 1
            edges.append(min(max(upto, edges[-1] + 1), s.n_blocks))
        for b0, b1 in pairwise(edges):
            r0, r1 = int(self.offsets[b0]), int(self.offsets[b1])
            t0, t1 = (int(x) for x in np.searchsorted(self.block_t, [b0, b1]))
            if t0 == t1:
                continue
            w, shift = self._weights_of(r0, r1, b0, b1)
            e = np.exp(log_belief(s, self.first[t0:t1]))
            back = log_normaliser(s, self.first[t0:t1])
            at, k_list = np.nonzero(e > 0)
            k_start, k_weight = starts(at, t1 - t0), e[at, k_list]
            offsets, blocks, true_at = self.offsets[b0 : b1 + 1] - r0, self.block_t[t0:t1] - b0, self.true_at
            lo, hi = self.true_start[t0], self.true_start[t1]
            own = np.where(true_at[lo:hi] >= 0, true_at[lo:hi] - r0, -1)
            args = (
                blocks, offsets, self.records.count[r0:r1], w, k_start, k_list.astype(np.int64), k_weight,
                np.ascontiguousarray(y[t0:t1]), np.ascontiguousarray(t_log[t0:t1]), noisy[b0:b1],
                np.ascontiguousarray(low[:, r0:r1]), np.ascontiguousarray(high[:, r0:r1]),
                np.ascontiguousarray(sd[t0:t1]),
                np.ascontiguousarray(errors.x[t0:t1]), np.ascontiguousarray(errors.add[t0:t1]),
                *(np.ascontiguousarray(a[..., r0:r1]) for a in errors.records), errors.nodes,
                self.true_start[t0 : t1 + 1] - lo, own,
            )  # fmt: skip

            results = self.out[t0:t1], self.truth[lo:hi]

            def work(first: int, last: int, args: tuple[Any, ...] = args, results: tuple[F64, F64] = results) -> None:
                space = room(3, args[0][first:last], args[1])
                kernels.attack_mixture(first, last, *args, tops(self.top), *results, space)

            pieces = [(a, min(a + PIECE, t1 - t0)) for a in range(0, t1 - t0, PIECE)]
            run_pieces(work, pieces, threads, advance)
            add = shift[blocks] - back
            self.out[t0:t1, 1] += add
            self.truth[lo:hi, 0] += np.repeat(add, np.diff(self.true_start[t0 : t1 + 1]))
            self.visited += self._pairs(t0, t1)
            for t in t0 + np.flatnonzero(no_class_fits(s, self.first[t0:t1])):
                plainly(self, int(t), int(t) + 1)

    def _weights_of(self, r0: int, r1: int, b0: int, b1: int) -> tuple[F64, F64]:
        """exp(log w_kj - shift of the block), shape (K, records), and the shifts."""
        s = self.scene
        rows = self.records.first[r0:r1]
        log_w = log_unknown(s, rows) - s.log_m[rows][:, None]
        if s.helped:
            cell = s.cells_r.of_records[rows]
            log_w = log_w + s.log_pi_r[cell] + log_limits(s, cell, s.numbers)
        block = self.block_r[r0:r1] - b0
        shift = np.full(b1 - b0, -np.inf)
        np.maximum.at(shift, block, log_w.max(axis=1))
        shift = np.where(np.isfinite(shift), shift, 0.0)
        return np.ascontiguousarray(np.exp(log_w - shift[block][:, None]).T), shift

    def _spread_out(self) -> Outcome:
        """From distinct targets and records back to every target."""
        s, n = self.scene, self.scene.targets.n
        cols = [np.full(n, -np.inf), np.full(n, -np.inf), np.zeros(n), np.full(n, -np.inf)]
        own = [np.full(n, -np.inf), np.zeros(n), np.zeros(n)]
        for i, column in enumerate(cols):
            column[self.met] = self.out[self.targets.of, i]
        for i, column in enumerate(own):
            column[self.met] = self.truth[self.true_of, i]
        sizes = np.bincount(s.block_r, minlength=s.n_blocks) if len(s.block_r) else np.zeros(1)
        total = float(sizes[s.block_t[self.met]].sum()) if len(self.met) else 0.0
        log_sum, log_max, n_max, log_top = cols
        return Outcome(log_sum, log_max, n_max, log_top, own[0], own[1], own[2], (total, self.visited))
