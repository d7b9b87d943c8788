"""What the candidates' released values say of a target: the best guess under a loss, and how wrong it is.

With n values, each with probability 1/n: the mode under 0/1 loss (tied modes share the hit), the median under absolute
loss (the middle of the two middle ones), the mean under squared loss, and within a share a of the truth the middle of
the first stretch that lies in most of the intervals v - a|v| to v + a|v|.
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import unfused
from confide.frames.columns import F64

LOSSES = ("zero_one", "absolute", "squared", "within")
ZERO_ONE, ABSOLUTE, SQUARED, WITHIN = range(4)


@unfused
def judge(ptr, begins, ends, values, skip, mptr, members, truth, kind, share, n, guess, loss, expected, p_true):  # type: ignore[no-untyped-def]
    """For each target of a piece: gather its candidates' values, guess, and judge the guess for all its members.

    `values`: by position in the tree, NaN where missing; `skip`: a position that is left out, -1 for none; `mptr`,
    `members`: the people who share the target; written for each member: n, guess, loss, expected, p_true.
    """
    for t in range(len(ptr) - 1):
        size = 0
        for s in range(ptr[t], ptr[t + 1]):
            size += ends[s] - begins[s]
        held = np.empty(size)
        m = 0
        for s in range(ptr[t], ptr[t + 1]):
            for i in range(begins[s], ends[s]):
                if i != skip[t] and not np.isnan(values[i]):
                    held[m] = values[i]
                    m += 1
        held = np.sort(held[:m])
        if m == 0:
            for i in range(mptr[t], mptr[t + 1]):
                n[members[i]] = 0
            continue
        best, most, ties = best_guess(held, kind, share)
        for i in range(mptr[t], mptr[t + 1]):
            who = members[i]
            n[who], guess[who], expected[who] = m, best, most
            if kind == ZERO_ONE:
                same = np.searchsorted(held, truth[who], side="right") - np.searchsorted(held, truth[who])
                p_true[who] = same / m
                loss[who] = 1.0 - (1.0 / ties if same >= (1.0 - most) * m - 0.5 else 0.0)
            else:
                loss[who] = how_wrong(best, truth[who], kind, share)
                if kind == WITHIN:
                    right = 0.0
                    for v in held:
                        right += 1.0 - how_wrong(v, truth[who], kind, share)
                    p_true[who] = right / m


@unfused(inner=True)
def how_wrong(guess, truth, kind, share):  # type: ignore[no-untyped-def]
    """The loss of one guess; within a share it is 0 or 1, and both ends are right."""
    if kind == ABSOLUTE:
        return abs(guess - truth)
    if kind == SQUARED:
        return (guess - truth) ** 2
    return 0.0 if abs(guess - truth) <= share * abs(truth) * (1 + 1e-9) else 1.0


@unfused(inner=True)
def best_guess(held, kind, share):  # type: ignore[no-untyped-def]
    """The best guess of sorted values, its expected loss, and how many modes tie."""
    m = len(held)
    if kind == ABSOLUTE:
        best = (held[(m - 1) // 2] + held[m // 2]) / 2
        return best, np.abs(held - best).mean(), 1
    if kind == SQUARED:
        best = held.mean()
        return best, ((held - best) ** 2).mean(), 1
    if kind == WITHIN:
        return _widest_agreement(held, share)
    best, most, ties, run = held[0], 0, 0, 0
    for i in range(m):
        run = run + 1 if i and held[i] == held[i - 1] else 1
        if i + 1 == m or held[i + 1] != held[i]:
            if run > most:
                best, most, ties = held[i], run, 1
            elif run == most:
                ties += 1
    return best, 1.0 - most / m, ties


@unfused(inner=True)
def _widest_agreement(held, share):  # type: ignore[no-untyped-def]
    """The guess that is within a share of most values; ends of intervals rise with the values, so one sweep does."""
    m = len(held)
    best, most, closed = held[0], 0, 0
    for i in range(m):
        x = held[i] - share * abs(held[i])
        while held[closed] + share * abs(held[closed]) < x - 1e-12 * abs(x):
            closed += 1
        if i + 1 - closed > most:
            most = i + 1 - closed
            best = (x + held[closed] + share * abs(held[closed])) / 2
    return best, 1.0 - most / m, 1


def loss_number(loss: str) -> int:
    """A loss as the loops know it."""
    return LOSSES.index(loss)


def within_share(values: F64, truth: F64, share: float) -> F64:
    """1 where a value is within a share of the truth, both ends included: zero is met by zero alone.

    >>> within_share(np.array([0.0, 95, 111, -105]), np.array([0.0, 100, 100, -100]), 0.1).tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    return np.asarray(np.abs(values - truth) <= share * np.abs(truth) * (1 + 1e-9), dtype=np.float64)
