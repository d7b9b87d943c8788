"""Compiled sums over patterns: what regressions of values behind labels, and their exponents, need.

Designs are indicators: pattern g has the columns `at[start[g] : start[g + 1]]`, and nothing else is read of them.

Notation
--------
g : pattern
y : value behind a label, K of them
r : function of the value, R of them
v : feature, something that an exponent goes with
"""

from __future__ import annotations

import math

import numpy as np

from confide.core.run.compile import compiled


@compiled
def means(patterns, label, n, each, expected, out):  # type: ignore[no-untyped-def]
    """The mean of phi_r over the records of patterns into `out` (patterns, R); `each`: (g, K) records."""
    for i in range(len(patterns)):
        g = patterns[i]
        own, row = expected[label[g]], out[i]
        for y in range(each.shape[1]):
            m = each[g, y]
            if m != 0.0:
                for r in range(len(row)):
                    row[r] += m * own[y, r]
        for r in range(len(row)):
            row[r] /= max(n[g], 1.0)


@compiled
def products(start, at, rows, seen, gram, moment):  # type: ignore[no-untyped-def]
    """Adds X' n X to `gram` (columns, columns) and X' n s to `moment` (columns, R), with s (g, R) what is seen."""
    for g in range(len(rows)):
        n = rows[g]
        if n == 0.0:
            continue
        for a in range(start[g], start[g + 1]):
            into, own = gram[at[a]], moment[at[a]]
            for b in range(start[g], start[g + 1]):
                into[at[b]] += n
            for r in range(len(own)):
                own[r] += n * seen[g, r]


@compiled
def expected(start, at, alike, b, inverse, first, rest, own):  # type: ignore[no-untyped-def]
    """X b of the columns before `alike` into `first` (g, R) and of the others into `rest`; into `own` (3, g) x' M x of
    those, of these, and once of what both share, with the symmetric M = `inverse`."""
    for g in range(len(start) - 1):
        for i in range(start[g], start[g + 1]):
            c = at[i]
            row, coefficients = inverse[c], b[c]
            early = c < alike
            into = first[g] if early else rest[g]
            for r in range(len(into)):
                into[r] += coefficients[r]
            own[0 if early else 1, g] += row[c]
            for j in range(start[g], i):
                if early:
                    own[0, g] += 2.0 * row[at[j]]
                elif at[j] < alike:
                    own[2, g] += row[at[j]]
                else:
                    own[1, g] += 2.0 * row[at[j]]


@compiled
def features(label, first, rest, exponent, place, spread, out):  # type: ignore[no-untyped-def]
    """Into `out` (g, V, K), zeros before: by exponent, the sums over its functions r of what is expected, `first`
    (g, R) and then `rest`, times the function of the value; and by itself each function that has a `place` (R,)."""
    many = exponent.max() + 1
    for g in range(len(label)):
        own, row = spread[label[g]], out[g]
        for r in range(len(exponent)):
            e, a, b, c = exponent[r], first[g, r], rest[g, r], place[r]
            for y in range(row.shape[1]):
                f = own[y, r]
                row[e, y] += a * f
                row[many + e, y] += b * f
                if c >= 0:
                    row[c, y] = f


@compiled
def logit(features, m, base, beta, slope, bent):  # type: ignore[no-untyped-def]
    """Of counts m (g, K) where log p = base + sum of beta times features (g, V, K), up to a constant: the log
    likelihood, with its slope added to `slope` (V,) and minus its second derivatives to `bent` (V, V)."""
    many, size = features.shape[1], features.shape[2]
    p, mean = np.empty(size), np.empty(many)
    value = 0.0
    for g in range(len(m)):
        own = features[g]
        for y in range(size):
            p[y] = base[g, y]
        for v in range(many):
            for y in range(size):
                p[y] += beta[v] * own[v, y]
        top = p[0]
        for y in range(1, size):
            top = p[y] if p[y] > top else top
        total, rows = 0.0, 0.0
        for y in range(size):
            n = m[g, y]
            if n != 0.0:
                value += n * (p[y] - top)
                rows += n
                for v in range(many):
                    slope[v] += n * own[v, y]
            p[y] = math.exp(p[y] - top)
            total += p[y]
        value -= rows * math.log(total)
        for y in range(size):
            p[y] *= rows / total
        for v in range(many):
            mean[v] = 0.0
            for y in range(size):
                mean[v] += p[y] * own[v, y]
            slope[v] -= mean[v]
            for u in range(v + 1):
                both = 0.0
                for y in range(size):
                    both += p[y] * own[v, y] * own[u, y]
                bent[v, u] += both - mean[v] * mean[u] / rows
    for v in range(many):
        for u in range(v):
            bent[u, v] = bent[v, u]
    return value


@compiled
def tilted(patterns, label, tilt, spread, base, out):  # type: ignore[no-untyped-def]
    """log of exp(base + sum over r of a pattern's tilts times functions of the value), normalised, into `out` (K, g)
    at the patterns' places."""
    size = base.shape[1]
    eta = np.empty(size)
    for i in range(len(patterns)):
        g = patterns[i]
        own, functions = base[label[g]], spread[label[g]]
        top = -np.inf
        for y in range(size):
            added = 0.0
            for r in range(tilt.shape[1]):
                added += tilt[i, r] * functions[y, r]
            eta[y] = own[y] + added
            top = eta[y] if eta[y] > top else top
        total = 0.0
        for y in range(size):
            total += math.exp(eta[y] - top)
        total = top + math.log(total)
        for y in range(size):
            out[y, g] = eta[y] - total
