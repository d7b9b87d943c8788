"""N_t by a log-linear model, in plain loops straight from the formulas: every cell is visited, every pair is fitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Cell = tuple[int, ...]
Table = dict[Cell, float]


def margin(table: Table, keep: Sequence[int]) -> Table:
    out: Table = {}
    for cell, count in table.items():
        key = tuple(cell[v] for v in keep)
        out[key] = out.get(key, 0.0) + count
    return out


def fit(table: Table, pairs: Sequence[Cell], sweeps: int = 400) -> Table:
    """Iterative proportional fitting, long enough."""
    k = len(next(iter(table)))
    terms = [*((v,) for v in range(k)), *pairs]
    mu = dict.fromkeys(table, 1.0)
    for _ in range(sweeps):
        for term in terms:
            now, aim = margin(mu, term), margin(table, term)
            for cell in mu:
                key = tuple(cell[v] for v in term)
                mu[cell] *= aim[key] / now[key] if now[key] else 0.0
    return mu


def z_of(table: Table, mu: Table, fraction: float) -> tuple[float, float]:
    """Skinner and Shlomo's z for h = exp(-x) and (1 - exp(-x)) / x; derivatives with respect to lambda."""
    q, out = 1 - fraction, []
    for which in (1, 2):
        total = variance = 0.0
        for cell, f in table.items():
            m = mu[cell]
            if m == 0:
                continue
            x = q * m / fraction
            e = math.exp(-x)
            first, second = -q * e, q * q * e
            if which == 2:
                first, second = q * _series(x, 1), q * q * _series(x, 2)
            a1, a2 = -m * math.exp(-m) * first / fraction, m * math.exp(-m) * second / (2 * fraction**2)
            total += a1 * (f - m) + a2 * ((f - m) ** 2 - f)
            variance += a1 * a1 * m + 2 * a2 * a2 * m * m
        out.append(total / math.sqrt(variance))
    return out[0], out[1]


def _series(x: float, order: int) -> float:
    """Derivatives of (1 - exp(-x)) / x = integral of exp(-xu): (-u)^order under the integral, by Simpson's rule."""
    steps = 2000
    u = [i / steps for i in range(steps + 1)]
    y = [(-v) ** order * math.exp(-x * v) for v in u]
    return (y[0] + y[-1] + 4 * sum(y[1:-1:2]) + 2 * sum(y[2:-1:2])) / (3 * steps)


def search(table: Table, fraction: float) -> tuple[list[Cell], tuple[float, float]]:
    """The forward search with every candidate fitted."""
    k = len(next(iter(table)))
    chosen: list[Cell] = []
    z = z_of(table, fit(table, chosen), fraction)
    left = list(itertools.combinations(range(k), 2))
    while left and not (abs(z[0]) < 2 and abs(z[1]) < 1):
        found = {p: z_of(table, fit(table, [*chosen, p]), fraction) for p in left}
        best = min(left, key=lambda p: abs(found[p][1]))
        if abs(found[best][1]) >= abs(z[1]):
            break
        chosen, z = [*chosen, best], found[best]
        left.remove(best)
    return chosen, z


def variation(table: Table, mu: Table) -> float:
    phi = 0.0
    for _ in range(200):
        weight = {c: (1 + phi * m) ** -2 for c, m in mu.items()}
        above = sum(weight[c] * ((f - mu[c]) ** 2 - f) for c, f in table.items())
        phi = max(above / sum(weight[c] * m * m for c, m in mu.items()), 0.0)
    return phi


def allowance(table: Table, pairs: Sequence[Cell], cell: Cell) -> float:
    k = len(cell)
    used = [sum(v in p for p in pairs) for v in range(k)]
    out = sum(1 / margin(table, p)[tuple(cell[v] for v in p)] for p in pairs)
    return max(out - sum((used[v] - 1) / margin(table, (v,))[cell[v],] for v in range(k)), 0.0)


def people(table: Table, pairs: Sequence[Cell], per: float, behind: bool) -> Table:
    """N_t of occupied cells where each record stands for `per` people."""
    mu = fit(table, pairs)
    phi, out = variation(table, mu), {}
    for cell, f in table.items():
        if not f:
            continue
        v = phi + allowance(table, pairs, cell)
        x = mu[cell] * (per - 1) * (1 + v * f) / (1 + v * mu[cell])
        out[cell] = 1 / mean_inverse(f, x, mu[cell] * (per - 1) * v / (1 + v * mu[cell])) if behind else f + x
    return out


def mean_inverse(f: float, x: float, spread: float) -> float:
    """E(1 / F), F - f negative binomial, term by term."""
    size, total, k = x / spread, 0.0, 0
    log = -size * math.log1p(spread)
    while k < 50 + x + 60 * math.sqrt(x * (1 + spread)) + 60 * spread:
        total += math.exp(log) / (f + k)
        log += math.log((size + k) / (k + 1)) + math.log(spread / (1 + spread))
        k += 1
    return total
