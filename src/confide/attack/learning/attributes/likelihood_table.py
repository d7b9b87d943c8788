"""Likelihoods of true values and records as a table, made in place: nothing else as large is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.support import Nodes
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Bools


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
