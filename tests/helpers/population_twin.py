"""Risks in the population, straight from their formulas: sums, products and quadrature in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad


def individual(f: int, p: float) -> float:
    """p I_f by quadrature, I_f the integral of u^(f-1) / (p + qu), in parts that grow from 0."""
    ends = [0.0, *np.logspace(-9, 0, 40)]

    def inner(u: float) -> float:
        return float(u ** (f - 1) / (p + (1 - p) * u))

    return p * sum(quad(inner, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(ends))


def inverse_moments(x: float) -> tuple[float, float]:
    """E(1/F) and E(1/F^2) of F = 1 + Poisson(x), term by term."""
    first = second = 0.0
    log = -x
    for k in range(int(x + 60 * math.sqrt(x) + 80)):
        first, second = first + math.exp(log) / (k + 1), second + math.exp(log) / (k + 1) ** 2
        log += math.log(x / (k + 1)) if x else -math.inf
    return first, second


def pitman_log(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """The log likelihood of Pitman's model as a sum of logarithms."""
    n, u = sum(sizes), len(sizes)
    log = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(math.log(theta + i) for i in range(1, n))
    return log + sum(math.log(j - alpha) for f in sizes for j in range(1, f))


def pitman_uniques(total: int, theta: float, alpha: float) -> float:
    """N times a product of N - 1 ratios."""
    return total * math.prod((theta + alpha + i) / (theta + 1 + i) for i in range(total - 1))


def zayatz(sizes: Sequence[int], total: int) -> float:
    """tau1 by exact binomial coefficients."""
    n, count = sum(sizes), Counter(sizes)
    h = {i: i * math.comb(total - i, n - 1) / math.comb(total, n) if total - i >= n - 1 else 0.0 for i in count}
    return count[1] ** 2 * h[1] / sum(count[i] * h[i] for i in count)


def shifted(pi: float, alpha: float, beta: float) -> tuple[float, float]:
    """E n_1 and E n_2 per cell of the population, summed over sizes of shifted negative binomial cells."""
    one = two = 0.0
    log = alpha * math.log(beta)
    for g in range(4000):
        size = g + 1
        one += math.exp(log) * size * pi * (1 - pi) ** (size - 1)
        two += math.exp(log) * size * (size - 1) / 2 * pi**2 * (1 - pi) ** (size - 2) if size > 1 else 0.0
        log += math.log((alpha + g) / (g + 1) * (1 - beta))
    return one, two


def minimal_by_size(rows: Sequence[Sequence[Any]], missing: Any = None) -> list[list[int]]:
    """How many minimal unique sets of each size each row has; sets with a `missing` value are nobody's."""
    width = len(rows[0])

    def unique(r: int, s: Sequence[int]) -> bool:
        there = [row for row in rows if missing is None or all(row[v] != missing for v in s)]
        if missing is not None and any(rows[r][v] == missing for v in s):
            return False
        return sum(all(row[v] == rows[r][v] for v in s) for row in there) == 1

    out = []
    for r in range(len(rows)):
        found: list[tuple[int, ...]] = []
        for size in range(1, width + 1):
            new = [s for s in combinations(range(width), size) if not any(set(f) < set(s) for f in found)]
            found += [s for s in new if unique(r, s)]
        out.append([sum(len(s) == size for s in found) for size in range(1, width + 1)])
    return out


def intrusion_error(pi: Sequence[float], draws: int, seed: int) -> tuple[float, float]:
    """Mean and variance of D less the people who share a sample unique's cell, for one cell of people who are drawn
    with these chances: what DIS rests on, by simulation."""
    rng = np.random.default_rng(seed)
    chance = np.asarray(pi)
    drawn = rng.random((draws, len(chance))) < chance
    size = drawn.sum(axis=1)
    doubles = np.where(size == 2, (drawn * (1 / chance - 1)).sum(axis=1), 0.0)
    truth = np.where(size == 1, len(chance) - 1.0, 0.0)
    return float((doubles - truth).mean()), float((doubles - truth).var())
