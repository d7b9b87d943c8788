"""Compiled sums over patterns of predictors: what a multinomial regression needs of its design.

Designs are indicators: pattern g has the columns `at[start[g] : start[g + 1]]`, and nothing else is read of them.

Notation
--------
g : pattern
k : category
b_ck : coefficients, column by category
p_gk : probabilities
"""

from __future__ import annotations

import math

import numpy as np

from confide.core.run.compile import compiled, summing


@summing
def weighted(p, u):  # type: ignore[no-untyped-def]
    """The sum of p u."""
    out = np.float32(0.0)
    for i in range(len(p)):
        out += p[i] * u[i]
    return out


@summing
def total_of(p):  # type: ignore[no-untyped-def]
    """The sum of p."""
    out = 0.0
    for i in range(len(p)):
        out += p[i]
    return out


@compiled
def linear(first, last, start, at, b, out):  # type: ignore[no-untyped-def]
    """eta_gk - max_k eta_gk of patterns first..last-1 into `out` (g, K); and the sum of n_g max, given `out`'s rows."""
    k = b.shape[1]
    top = np.empty(last - first)
    for g in range(first, last):
        row = out[g]
        for i in range(k):
            row[i] = 0.0
        for j in range(start[g], start[g + 1]):
            own = b[at[j]]
            for i in range(k):
                row[i] += own[i]
        most = row[0]
        for i in range(1, k):
            most = row[i] if row[i] > most else most
        for i in range(k):
            row[i] -= most
        top[g - first] = most
    return top


@compiled
def normalised(first, last, start, at, rows, top, p, slope):  # type: ignore[no-untyped-def]
    """From exp(eta - max) to p; adds n_g p_gk to `slope` (columns, K); the sum of n_g log sum_k exp(eta_gk)."""
    k = p.shape[1]
    value = 0.0
    for g in range(first, last):
        row = p[g]
        total = total_of(row)
        value += rows[g] * (top[g - first] + math.log(total))
        for i in range(k):
            row[i] *= 1.0 / total
        n = rows[g]
        for j in range(start[g], start[g + 1]):
            into = slope[at[j]]
            for i in range(k):
                into[i] += n * row[i]
    return value


@compiled
def curved(first, last, start, at, rows, p, v, out):  # type: ignore[no-untyped-def]
    """Adds the second derivatives times v to `out` (columns, K): X' n (diag p - p p') X v."""
    k = p.shape[1]
    u = np.empty(k, dtype=np.float32)
    for g in range(first, last):
        for i in range(k):
            u[i] = 0.0
        for j in range(start[g], start[g + 1]):
            own = v[at[j]]
            for i in range(k):
                u[i] += own[i]
        row = p[g]
        mean = weighted(row, u)
        n = np.float32(rows[g])
        for i in range(k):
            u[i] = n * row[i] * (u[i] - mean)
        for j in range(start[g], start[g + 1]):
            into = out[at[j]]
            for i in range(k):
                into[i] += u[i]


@compiled
def blocks(first, last, start, block, place, rows, p, out):  # type: ignore[no-untyped-def]
    """Adds X' n p_k (1 - p_k) X of categories first..last-1 to `out` (blocks, columns, columns, K), on and below the
    diagonal; columns are given by their `block` and their `place` in it, in rising order."""
    many = last - first
    w = np.empty(many)
    for g in range(len(rows)):
        for i in range(many):
            w[i] = rows[g] * p[g, first + i] * (1.0 - p[g, first + i])
        for a in range(start[g], start[g + 1]):
            for b in range(a, start[g] - 1, -1):
                if block[b] != block[a]:
                    break
                into = out[block[a], place[a], place[b]]
                for i in range(many):
                    into[first + i] += w[i]


@compiled
def quadratic(start, at, held, seen):  # type: ignore[no-untyped-def]
    """x_g' M x_g of the patterns `seen`, of a symmetric matrix `held`."""
    out = np.zeros(len(seen))
    for i in range(len(seen)):
        first, last = start[seen[i]], start[seen[i] + 1]
        for a in range(first, last):
            row = held[at[a]]
            out[i] += row[at[a]]
            for b in range(first, a):
                out[i] += 2.0 * row[at[b]]
    return out


@summing
def dotted(row, x, n):  # type: ignore[no-untyped-def]
    """The sum of the first n products."""
    out = np.float32(0.0)
    for i in range(n):
        out += row[i] * x[i]
    return out


@compiled
def solved(first, last, at, held, out):  # type: ignore[no-untyped-def]
    """Solves L L' x = r for categories first..last-1, with r in and x out of `out` (K, columns) from column `at` on;
    `held`: (K, n, n), the L."""
    n = held.shape[1]
    for k in range(first, last):
        lower, x = held[k], out[k, at : at + n]
        for i in range(n):
            x[i] = (x[i] - dotted(lower[i], x, i)) / lower[i, i]
        for i in range(n - 1, -1, -1):
            x[i] /= lower[i, i]
            own, row = x[i], lower[i]
            for j in range(i):
                x[j] -= own * row[j]
