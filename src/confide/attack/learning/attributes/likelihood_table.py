"""Likelihoods of true values and records as a table, made in place: nothing else as large is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Bools

STEP = 8
"""Nodes of a part of a bin: sums before each part are kept, so that a value is found without looking at all."""


@dataclass(frozen=True, eq=False)
class Table:
    """`turned`: likelihoods of nodes, missing last, and records (columns), relative to each record's largest; `few`:
    records in whose reach one person is, `near` (few, nodes): and what is in it."""

    turned: F64
    few: I64
    near: Bools
    nodes: Nodes

    @classmethod
    def of(cls, logs: F64, nodes: Nodes) -> Table:
        """From logs, (nodes and missing, records), which are written over."""
        records = logs.shape[1]
        reach, people = np.full(records, -np.inf), np.zeros(records)
        _reach(logs, nodes.count, FAR, reach, people)
        few = np.flatnonzero(people == 1)
        mine = logs[:-1, few].T
        near = np.isfinite(mine) & (mine >= (reach[few] - FAR)[:, None])
        top = np.maximum(reach, logs[-1])
        np.subtract(logs, np.where(np.isfinite(top), top, 0.0), out=logs)
        np.exp(logs, out=logs)
        return cls(logs, few, near, nodes)

    def only(self, records: I64) -> Table:
        """Of some of the records."""
        back = np.full(self.turned.shape[1], -1)
        back[records] = np.arange(len(records))
        mine = np.flatnonzero(back[self.few] >= 0)
        found = Table(np.take(self.turned, records, axis=1), back[self.few[mine]], self.near[mine], self.nodes)
        for name in ("sums", "upto"):  # had of all, they need not be made again
            found.__dict__[name] = np.take(getattr(self, name), records, axis=1)
        return found

    @cached_property
    def bins(self) -> F64:
        """Averages over bins, missing last, shape (bins + 1, records)."""
        return self.sums[: len(self.sums) // 2 + 1]

    @cached_property
    def sums(self) -> F64:
        """These, and under them those of likelihoods times values: a belief in bins times these is the same belief on
        nodes times likelihoods, and times values too."""
        many = int(self.nodes.bin.max(initial=-1)) + 1
        out = np.zeros((2 * many + 1, self.turned.shape[1]))
        _in_bins(self.turned, self.nodes.bin, self.nodes.share, self.nodes.values, out)
        return out

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
    def upto(self) -> F64:
        """Sums of shares times likelihoods within the bin before each part, and under them those times values, shape
        (2 parts, records)."""
        begin, first = self.parts
        out = np.zeros((2 * len(begin), self.turned.shape[1]))
        _before(self.turned, self.nodes.share, self.nodes.values, begin, first, out)
        return out

    @cached_property
    def some(self) -> F64:
        """Likelihoods of records (rows) and nodes that are possible, and missing."""
        return np.ascontiguousarray(self.turned[self.possible].T)

    @cached_property
    def possible(self) -> Bools:
        """Nodes that some record allows, and missing."""
        return np.append(self.turned[:-1].any(axis=1), True)


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
def _in_bins(turned, bins, share, values, out):  # type: ignore[no-untyped-def]
    many = len(out) // 2  # and missing
    for v in range(len(bins)):
        part, times, like = out[bins[v]], out[many + 1 + bins[v]], turned[v]
        for j in range(turned.shape[1]):
            part[j] += like[j] * share[v]
            times[j] += like[j] * (share[v] * values[v])
    for j in range(turned.shape[1]):
        out[many, j] = turned[len(bins), j]


@compiled
def _before(turned, share, values, begin, first, out):  # type: ignore[no-untyped-def]
    many, records = len(begin), turned.shape[1]
    for b in range(len(first) - 1):
        for k in range(first[b] + 1, first[b + 1]):
            for j in range(records):
                out[k, j], out[many + k, j] = out[k - 1, j], out[many + k - 1, j]
            for v in range(begin[k - 1], begin[k]):
                for j in range(records):
                    out[k, j] += share[v] * turned[v, j]
                    out[many + k, j] += share[v] * values[v] * turned[v, j]
