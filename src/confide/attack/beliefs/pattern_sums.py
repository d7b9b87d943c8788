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
    u = np.empty(k, dtype=p.dtype)
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
def blocks(first, last, start, block, place, w, out):  # type: ignore[no-untyped-def]
    """Adds X' w_k X of categories first..last-1 to `out` (blocks, columns, columns, K), on and below the diagonal;
    columns are given by their `block` and their `place` in it, in rising order."""
    for g in range(len(w)):
        own = w[g]
        for a in range(start[g], start[g + 1]):
            for b in range(a, start[g] - 1, -1):
                if block[b] != block[a]:
                    break
                into = out[block[a], place[a], place[b]]
                for i in range(first, last):
                    into[i] += own[i]


@compiled
def crossed(k, start, at, others, beside, w, out):  # type: ignore[no-untyped-def]
    """Adds X' w_k Z to `out` (columns of x, columns of z): pattern g has the columns `at[start[g] : start[g + 1]]` of
    x and `beside[others[g] : others[g + 1]]` of z."""
    for g in range(len(w)):
        own = np.float32(w[g, k])
        for a in range(start[g], start[g + 1]):
            into = out[at[a]]
            for b in range(others[g], others[g + 1]):
                into[beside[b]] += own


@compiled
def curvatures(start, at, rows, p, q, out):  # type: ignore[no-untyped-def]
    """Adds X' Q n (diag p - p p') Q' X to `out` (columns m, columns m), on and below the diagonal, columns in rising
    order; `q`: `whole_newton.balanced_basis`, (m, K)."""
    m, k = q.shape
    w, mean = np.empty((m, m)), np.empty(m)
    for g in range(len(rows)):
        if rows[g] == 0.0:
            continue
        for i in range(m):
            mean[i] = 0.0
            for z in range(k):
                mean[i] += q[i, z] * p[g, z]
        for i in range(m):
            for j in range(i + 1):
                total = 0.0
                for z in range(j + 2):  # row j of q is 0 from there on
                    total += q[i, z] * q[j, z] * p[g, z]
                w[i, j] = rows[g] * (total - mean[i] * mean[j])
                w[j, i] = w[i, j]
        for a in range(start[g], start[g + 1]):
            for b in range(start[g], a + 1):
                for i in range(m):
                    into = out[at[a] * m + i]
                    for j in range(m):
                        into[at[b] * m + j] += w[i, j]


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
