"""Likelihoods of true values and records as a table, made in place: nothing else as large is written.

Records are in rising order of what they show, so that those to whom a true value says anything follow one another: its
window. What lies outside of it is below `LEAST` times the record's largest likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.support import Nodes
from confide.attack.learning.attributes.table_rows import bin_windows, cut_columns, in_windows, part_sums, whole_windows
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Bools

STEP = 8
"""Nodes of a part of a bin: sums before each part are kept, so that a value is found without looking at all."""
LEAST = 1e-20
"""Of a record's largest likelihood: below it medians do without."""
CHUNKS, CHUNK, WORTH = 4, 64, 0.8
"""Parts of the records whose windows are looked at in products of matrices, records of a part at least, and the share
of all products that may be left for it."""
AT_ONCE = 64
"""Rows of logs that are made likelihoods of together."""


@dataclass(frozen=True, eq=False)
class Table:
    """`turned`: likelihoods of nodes, missing last, and records (columns), relative to each record's largest; `few`:
    records in whose reach one person is, `near` (few, nodes): what is in it. `narrow`: the window of each row; None:
    all records."""

    turned: F64
    few: I64
    near: Bools
    nodes: Nodes
    narrow: I64 | None = None

    @classmethod
    def of(cls, logs: F64, nodes: Nodes, least: float = 0.0) -> Table:
        """From logs, (nodes and missing, records), which are written over; what is outside of windows is 0."""
        records = logs.shape[1]
        reach, people = np.full(records, -np.inf), np.zeros(records)
        _reach(logs, nodes.count, FAR, reach, people)
        few = np.flatnonzero(people == 1)
        mine = logs[:-1, few].T
        near = np.isfinite(mine) & (mine >= (reach[few] - FAR)[:, None])
        top = np.maximum(reach, logs[-1])
        top = np.where(np.isfinite(top), top, 0.0)
        if least > 0:
            return cls(logs, few, near, nodes, in_windows(logs, top, least))
        for a in range(0, len(logs), AT_ONCE):
            part = logs[a : a + AT_ONCE]
            np.subtract(part, top, out=part)
            np.exp(part, out=part)
        return cls(logs, few, near, nodes)

    def only(self, records: I64, room: dict[str, F64]) -> Table:
        """Of some of the records; what was made in the same `room` before is written over."""
        back = np.full(self.turned.shape[1], -1)
        back[records] = np.arange(len(records))
        mine = np.flatnonzero(back[self.few] >= 0)
        made = {}
        for name, table in {"turned": self.turned, "sums": self.sums, "upto": self.upto[0]}.items():
            made[name] = in_room(room, name, (len(table), len(records)))
            cut_columns(table, records, made[name])
        found = Table(made["turned"], back[self.few[mine]], self.near[mine], self.nodes)
        upto = made["upto"], whole_windows(len(made["upto"]), len(records))
        found.__dict__.update(sums=made["sums"], upto=upto, parts=self.parts)  # had of all, they need not be made again
        return found

    @cached_property
    def rows(self) -> tuple[F64, I64]:
        """Likelihoods, and the window of each row."""
        return self.turned, whole_windows(*self.turned.shape) if self.narrow is None else self.narrow

    @cached_property
    def bins(self) -> F64:
        """Averages over bins, missing last, shape (bins + 1, records)."""
        return np.ascontiguousarray(self.sums[::2])

    @cached_property
    def by_record(self) -> F64:
        """The same by record, shape (records, bins + 1)."""
        return np.ascontiguousarray(self.bins.T)

    @cached_property
    def sums(self) -> F64:
        """These, each with that of likelihoods times values under it, shape (2 bins + 1, records): a belief in bins
        times these is the same belief on nodes times likelihoods, and times values too."""
        many = int(self.nodes.bin.max(initial=-1)) + 1
        out = np.zeros((2 * many + 1, self.turned.shape[1]))
        _in_bins(*self.rows, self.nodes.bin, self.nodes.share, self.nodes.values, out)
        return out

    @cached_property
    def chunks(self) -> list[tuple[int, int, int, int]]:
        """Records from one to another, and the bins, missing last, that say anything of them."""
        records = self.turned.shape[1]
        many = int(self.nodes.bin.max(initial=-1)) + 1
        if self.narrow is None:
            return [(0, records, 0, many + 1)]
        low, high = bin_windows(self.narrow, np.append(self.nodes.bin, many), many + 1)
        edges = np.linspace(0, records, max(min(CHUNKS, records // CHUNK), 1) + 1).astype(np.int64).tolist()
        out = []
        for a, b in pairwise(edges):
            mine = np.flatnonzero((low < b) & (high > a))
            out.append((a, b, int(mine[0]), int(mine[-1]) + 1) if len(mine) else (a, b, 0, 0))
        asked = sum((b - a) * (last - first) for a, b, first, last in out)
        return out if asked < WORTH * records * (many + 1) else [(0, records, 0, many + 1)]

    @cached_property
    def parts(self) -> tuple[I64, I64]:
        """Parts of bins: the node with which each begins, and the first part of each bin, and of the next."""
        many = int(self.nodes.bin.max(initial=-1)) + 1
        start = np.searchsorted(self.nodes.bin, np.arange(many + 1))
        count = -(-np.diff(start) // STEP)
        first = np.concatenate([[0], np.cumsum(count)])
        inside = np.arange(first[-1]) - np.repeat(first[:-1], count)
        return np.repeat(start[:-1], count) + STEP * inside, first

    @cached_property
    def upto(self) -> tuple[F64, I64]:
        """Sums of shares times likelihoods within the bin before each part, and under them those times values, shape
        (2 parts, records), and the window of each row."""
        return part_sums(*self.rows, self.nodes.share, self.nodes.values, *self.parts)

    @cached_property
    def some(self) -> F64:
        """Likelihoods of nodes that are possible, and missing."""
        return self.turned if self.possible.all() else self.turned[self.possible]

    @cached_property
    def possible(self) -> Bools:
        """Nodes that some record allows, and missing."""
        return np.append(self.turned[:-1].any(axis=1), True)

    def believed(self, bins: F64, out: F64) -> None:
        """Beliefs in bins (n, bins + 1) times likelihoods, into `out` (n, records)."""
        for a, b, first, last in self.chunks:
            np.matmul(bins[:, first:last], self.bins[first:last, a:b], out=out[:, a:b])

    def summed(self, m: F64) -> F64:
        """Weights of records (n, records) times `sums`, shape (n, 2 bins + 1)."""
        if len(self.chunks) == 1:
            return np.asarray(m @ self.sums.T)
        out = np.zeros((len(m), len(self.sums)))
        for a, b, first, last in self.chunks:
            out[:, 2 * first : 2 * last] += m[:, a:b] @ self.sums[2 * first : 2 * last, a:b].T
        return out


def in_room(room: dict[str, F64], name: str, shape: tuple[int, int]) -> F64:
    """A part of the room of that name: new memory would take longer than what is written to it."""
    size = shape[0] * shape[1]
    if name not in room or len(room[name]) < size:
        room[name] = np.empty(size)
    return room[name][:size].reshape(shape)


@compiled
def _reach(logs, count, far, reach, people):  # type: ignore[no-untyped-def]
    """The largest log of each record among nodes, and how many people are no further than `far` below it."""
    for v in range(len(logs) - 1):
        for j in range(len(reach)):
            reach[j] = max(reach[j], logs[v, j])
    for v in range(len(logs) - 1):
        for j in range(len(reach)):
            if logs[v, j] >= reach[j] - far and logs[v, j] > -np.inf:
                people[j] += count[v]


@compiled
def _in_bins(turned, window, bins, share, values, out):  # type: ignore[no-untyped-def]
    for v in range(len(bins)):
        a, b = window[v, 0], window[v, 1]
        part, times, like = out[2 * bins[v], a:b], out[2 * bins[v] + 1, a:b], turned[v, a:b]
        for j in range(len(like)):
            part[j] += like[j] * share[v]
            times[j] += like[j] * (share[v] * values[v])
    for j in range(turned.shape[1]):
        out[len(out) - 1, j] = turned[len(bins), j]
