"""Slow twins of beliefs, from their formulas: nothing of the engine but which records are held out.

Values are Python values, a file is a list of rows; every design is written out as a dense matrix, every sum as a loop.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import minimize

PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)


def fitted(x, y, k, weight, penalty):
    """Coefficients (1 + columns, k), constants first, where the loss is least: minus the log-likelihood of codes y
    given rows of x, and half the penalty times the squared coefficients but the constants."""
    x = np.hstack([np.ones((len(x), 1)), x])
    one = np.eye(k)[y]

    def loss(flat):
        b = flat.reshape(x.shape[1], k)
        log_p = log_softmax(x @ b)
        value = -(weight * log_p[np.arange(len(y)), y]).sum() + 0.5 * penalty * (b[1:] ** 2).sum()
        slope = x.T @ (weight[:, None] * (np.exp(log_p) - one))
        slope[1:] += penalty * b[1:]
        return value, slope.ravel()

    start = np.zeros((x.shape[1], k))
    there = np.bincount(y, weights=weight, minlength=k) + 0.5
    start[0] = np.log(there / there.sum())
    options = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 40}
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(x.shape[1], k)


def log_softmax(eta):
    eta = eta - eta.max(axis=1, keepdims=True)
    return eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))


class ClassTwin:
    """Pr(values given labels) = prod_v Pr(value of v given labels and the variables before it), fewest categories first.

    `labels`, `values`: of the reference's rows, tuples; `held`: how much of each row is held out. `tried`: per variable
    the held-out log-likelihood of each design and penalty; `chosen`: the best. `only`: choices to take instead, as a
    design's place and a penalty.
    """

    def __init__(self, labels, values, held, only=None):
        self.labels, self.values, self.held = labels, values, np.asarray(held, dtype=float)
        self.categories = [sorted({row[v] for row in values}) for v in range(len(values[0]))]
        self.order = sorted(range(len(values[0])), key=lambda v: len(self.categories[v]))
        self.tried, self.chosen, self.b, self.terms, self.seen = [], [], [], [], []
        for at, v in enumerate(self.order):
            before = self.order[:at]
            y = np.array([self.categories[v].index(row[v]) for row in values])
            given = [self._given(c, row, before) for c, row in zip(labels, values, strict=True)]
            k, every = len(self.categories[v]), np.ones(len(y))
            terms = [sorted({t for g in given for t in self._terms(g, d)}) for d in self.designs(at)]
            found = {}
            for d, names in zip(self.designs(at), terms, strict=True):
                x = self._matrix(given, d, names)
                for p in () if only else PENALTIES[:1] if d is None else PENALTIES:
                    b = fitted(x, y, k, every - self.held, p)
                    log_p = log_softmax(np.hstack([np.ones((len(x), 1)), x]) @ b)
                    found[d, p] = float((self.held * log_p[np.arange(len(y)), y]).sum())
            self.tried.append(found)
            self.chosen.append((self.designs(at)[only[at][0]], only[at][1]) if only else max(found, key=found.get))
            d, p = self.chosen[-1]
            names = terms[self.designs(at).index(d)]
            self.terms.append(names)
            x = self._matrix(given, d, names)
            self.b.append(fitted(x, y, k, every, p))
            self.seen.append((given, y, np.hstack([np.ones((len(x), 1)), x]), p))

    def designs(self, at):
        """Which kinds of indicators the regression at this place may have, beside those of single variables; None for no
        indicator at all."""
        both = ("crossed",) if at else ()
        out = [None, (), both] if at else [None, ()]
        return [*out, (*both, "paired")] if len(self.labels[0]) > 1 else out

    def _given(self, labels, row, before):
        return [("label", i, c) for i, c in enumerate(labels)], [("before", v, row[v]) for v in before]

    def _terms(self, given, design):
        """Names of the indicators that are 1."""
        if design is None:
            return []
        certain, before = given
        out = [(t,) for t in (*certain, *before)]
        if "crossed" in design:
            out += list(itertools.product(certain, before))
        if "paired" in design:
            out += list(itertools.combinations(certain, 2))
        return out

    def _matrix(self, given, design, names):
        x = np.zeros((len(given), len(names)))
        for i, g in enumerate(given):
            for t in self._terms(g, design):
                if t in names:
                    x[i, names.index(t)] = 1.0
        return x

    def log_p(self, labels, row):
        """log Pr(values of a row given labels), missing indicators being those that no reference row has."""
        total = 0.0
        for at, v in enumerate(self.order):
            given = self._given(labels, row, self.order[:at])
            x = self._matrix([given], self.chosen[at][0], self.terms[at])
            x = np.hstack([np.ones((1, 1)), x])
            eta = (x @ self.b[at])[0] - self._own(at, given, x[0])
            total += eta[self.categories[v].index(row[v])] - math.log(np.exp(eta).sum())
        return total

    def _own(self, at, given, x):
        """What one record adds to the linear predictor of each category that somebody with the same predictors has."""
        others, y, rows, penalty = self.seen[at]
        p = np.exp(log_softmax(rows @ self.b[at]))
        mine = np.exp(log_softmax(x[None] @ self.b[at]))[0]
        out = np.zeros(p.shape[1])
        for k in {c for g, c in zip(others, y, strict=True) if g == given}:
            curvature = p[:, k] * (1 - p[:, k])
            h = rows.T @ (curvature[:, None] * rows) + penalty * np.diag([1e-8 / penalty, *np.ones(rows.shape[1] - 1)])
            out[k] = max(x @ np.linalg.solve(h, x) - 1 / curvature.sum(), 0.0) * (1 - mine[k])
        return out
