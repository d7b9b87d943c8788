"""Rows of a table of likelihoods, and the windows of records of whom each says anything.

A window is a pair: the first record, and the one after the last.
"""

from __future__ import annotations

import numpy as np

from confide.attack.engine.kernels.arithmetic import fast_exp
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64


def in_windows(logs: F64, top: F64, least: float) -> I64:
    """Likelihoods relative to each record's largest (`top`), from logs, which are written over: those of the first
    record in each row that has more than `least`, to the last one; the others are 0. Gives the windows, (rows, 2)."""
    window = np.zeros((len(logs), 2), dtype=np.int64)
    _in_windows(logs, top, np.log(least), window)
    return window


def whole_windows(rows: int, records: int) -> I64:
    """Windows with all records."""
    return np.tile([0, records], (rows, 1))


def bin_windows(window: I64, of: I64, many: int) -> tuple[I64, I64]:
    """Windows of rows taken together by group; (0, 0) for those that are empty."""
    start, end = np.full(many, np.iinfo(np.int64).max), np.zeros(many, dtype=np.int64)
    some = np.flatnonzero(window[:, 1] > window[:, 0])
    np.minimum.at(start, of[some], window[some, 0])
    np.maximum.at(end, of[some], window[some, 1])
    return np.where(end > 0, start, 0), end


def part_sums(turned: F64, window: I64, share: F64, values: F64, begin: I64, first: I64) -> tuple[F64, I64]:
    """Sums of shares times likelihoods within a bin before each of its parts, and under them those times values, shape
    (2 parts, records), and their windows; `begin`: the node with which each part begins, `first`: the first part of
    each bin."""
    out, found = np.zeros((2 * len(begin), turned.shape[1])), np.zeros((2 * len(begin), 2), dtype=np.int64)
    _before(turned, window, share, values, begin, first, out, found)
    return out, found


@compiled
def cut_columns(table, columns, out):  # type: ignore[no-untyped-def]
    """Some columns of a table."""
    for v in range(len(table)):
        row, mine = table[v], out[v]
        for j in range(len(columns)):
            mine[j] = row[columns[j]]


@compiled
def _in_windows(logs, top, least, window):  # type: ignore[no-untyped-def]
    for v in range(len(logs)):
        row, a, b = logs[v], 0, logs.shape[1]
        while a < b and not row[a] - top[a] > least:
            row[a] = 0.0
            a += 1
        while b > a and not row[b - 1] - top[b - 1] > least:
            row[b - 1] = 0.0
            b -= 1
        mine, most = row[a:b], top[a:b]
        for j in range(len(mine)):
            x = mine[j] - most[j]
            mine[j] = fast_exp(x) if x > -700.0 else 0.0
        window[v, 0], window[v, 1] = a, b


@compiled
def _before(turned, window, share, values, begin, first, out, found):  # type: ignore[no-untyped-def]
    many = len(begin)
    for part in range(len(first) - 1):
        start, end = turned.shape[1], 0
        for k in range(first[part] + 1, first[part + 1]):
            if end > start:
                out[k, start:end], out[many + k, start:end] = out[k - 1, start:end], out[many + k - 1, start:end]
            for v in range(begin[k - 1], begin[k]):
                a, b = window[v, 0], window[v, 1]
                if b > a:
                    start, end = min(start, a), max(end, b)
                like, mine, times = turned[v, a:b], out[k, a:b], out[many + k, a:b]
                for j in range(len(like)):
                    mine[j] += share[v] * like[j]
                    times[j] += share[v] * values[v] * like[j]
            if end > start:
                found[k, 0], found[k, 1], found[many + k, 0], found[many + k, 1] = start, end, start, end
