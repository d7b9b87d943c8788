r"""Marginals of one component by sums over what is taken: exact, and of positive terms only.

A matching s has weight :math:`g(|s|) \prod_{i} R_{i,s(i)}`, where, for T of N people beside r records,
:math:`g(s) = (N-T)_{r-s} / (N)_r`. Records come one after another; a state S says how many targets of each type have
one. With the duals of the best assignment, :math:`R'_{ab} = R_{ab} e^{u_a - p_b} \le 1`, and 1 where the best matching
goes, so that nothing becomes too small:

.. math:: F_j(S) = e^{-p_b} F_{j-1}(S) + \sum_a R'_{ab}\, (n_a - S_a + 1)\, F_{j-1}(S - e_a)

and the same backwards from :math:`g(|S|)\, e^{\sum_a (n_a - S_a) u_a}`. For one target of type a and one record of b,

.. math:: \Pr(s(i) = j) = \frac{1}{n_a Z} \sum_S F_{j-1}(S)\, R'_{ab}\, (n_a - S_a)\, G_j(S + e_a) .

Where all targets differ a state is a subset, so that 15 of them take :math:`O(2^{15} \cdot 15\, r)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64

STATES = 2**15
"""States that a component may have: 15 targets that all differ."""
WORK = 4e9
"""Sums in one component; a billion take about a second."""
LARGEST = 600.0
"""Logarithm of the number of matchings, beyond which it would not be a floating-point number."""


@dataclass(frozen=True, eq=False)
class Component:
    """Types of targets and of records that belong together.

    `log_r`: (A, B), -inf where no target of the type can own such a record; `n`: (A,), `m`: (B,) how many there are of
    each; `base`: N - T - r, where r also counts records that are nobody's candidates. Duals `u`, `price` as in
    `Assignment`.
    """

    log_r: F64
    n: I64
    m: I64
    base: int
    u: F64
    price: F64

    @property
    def turned(self) -> Component:
        """The same with records in the place of targets: the weight of a matching does not depend on who asks."""
        return Component(self.log_r.T, self.m, self.n, self.base, -self.price, -self.u)

    @property
    def states(self) -> float:
        return float(np.prod(self.n + 1.0))

    @property
    def work(self) -> float:
        """Sums that the marginals take; infinite where they cannot be had this way."""
        t, r = int(self.n.sum()), int(self.m.sum())
        if self.states > STATES or min(t, r) * np.log(max(t, r, 2)) > LARGEST:
            return np.inf
        return 3.0 * self.states * len(self.n) * r

    def log_sizes(self) -> F64:
        """log g(s) for s = 0..T, up to a constant; -inf where more than N - T people would be needed for records."""
        rest = self.base + np.arange(self.n.sum() + 1.0)
        return np.where(rest >= 0, -gammaln(np.maximum(rest, 0.0) + 1), -np.inf)


@dataclass(frozen=True, eq=False)
class Marginals:
    """`p`: (A, B) for one target and one record of each type; `log_total`: of all matchings' weights."""

    p: F64
    log_total: float


def exact(component: Component) -> Marginals:
    """Marginals of a component, by its side with fewer states."""
    turned = component.turned
    if turned.work < component.work:
        found = _exact(turned)
        return Marginals(np.ascontiguousarray(found.p.T), found.log_total)
    return _exact(component)


def effort(n: I64, m: I64) -> float:
    """Sums that marginals of so many targets and records of each type take, by the better side."""
    none = Component(np.zeros((len(n), len(m))), n, m, 0, np.zeros(len(n)), np.zeros(len(m)))
    return min(none.work, none.turned.work)


def variance(component: Component, right: F64, nudge: float = 0.05) -> float:
    r"""The variance of :math:`\sum_i q_{i,s(i)}` over matchings s: the second derivative of log Z in
    :math:`\lambda`, where R is multiplied by :math:`e^{\lambda q}`. `right`: q, (A, B)."""
    totals = [exact(replace(component, log_r=component.log_r + k * nudge * right)).log_total for k in (-1, 0, 1)]
    return max((totals[0] + totals[2] - 2 * totals[1]) / nudge**2, 0.0)


def alike(log_r: float, n: int, m: int, base: int) -> float:
    """The same probability where all targets are of one type, and all records: the mean number of pairs over n m."""
    s = np.arange(min(n, m) + 1.0)
    rest = base + s
    log_w = gammaln(n + 1) - gammaln(n - s + 1) + gammaln(m + 1) - gammaln(m - s + 1) - gammaln(s + 1) + s * log_r
    log_w = np.where(rest >= 0, log_w - gammaln(np.maximum(rest, 0.0) + 1), -np.inf)
    w = np.exp(log_w - log_w.max())
    return float((w @ s) / w.sum() / (n * m))


def _exact(c: Component) -> Marginals:
    left, strides, end = _states(c)
    r = np.exp(np.where(np.isfinite(c.log_r), c.log_r + c.u[:, None] - c.price, -np.inf))
    skip, top = np.exp(-c.price), float(end.max(initial=-np.inf))
    if not np.isfinite(top):
        return Marginals(np.zeros_like(r), -np.inf)
    p, kept = np.zeros_like(r), int(np.ceil(np.sqrt(len(c.m))))
    many = len(end)
    room = np.zeros((-(-len(c.m) // kept) + 1, many)), np.zeros((kept + 1, many))
    total = sum_states(r, skip, c.m, left, strides, np.exp(end - top), p, *room)
    shift = top - float(c.n @ c.u) + float(c.m @ c.price)
    if total <= 0:
        return Marginals(p, -np.inf)
    return Marginals(p / total / c.n[:, None], float(np.log(total)) + shift)


def _states(c: Component) -> tuple[I64, I64, F64]:
    """What each state leaves of each type, how far apart neighbours are, and the log of its weight at the end."""
    sizes = c.n + 1
    strides = np.concatenate([[1], np.cumprod(sizes)[:-1]]).astype(np.int64)
    taken = (np.arange(int(np.prod(sizes)))[:, None] // strides) % sizes
    left = c.n - taken
    log_g = c.log_sizes()[taken.sum(axis=1)]
    with np.errstate(invalid="ignore"):
        end = np.where(np.isfinite(log_g), log_g + left @ c.u, -np.inf)
    return left.astype(np.int64), strides, end


@compiled(inner=True)
def one_more(r, skip, left, strides, f):  # type: ignore[no-untyped-def]
    """Weights of states after one more record of a type, in place. `r`: (A,) its weights."""
    for s in range(len(f) - 1, -1, -1):
        total = skip * f[s]
        for a in range(len(r)):
            before = s - strides[a]
            if before >= 0 and left[before, a] == left[s, a] + 1:
                total += r[a] * left[before, a] * f[before]
        f[s] = total


@compiled(inner=True)
def one_less(r, skip, left, strides, g):  # type: ignore[no-untyped-def]
    """The same backwards: weights of all that can follow a state."""
    for s in range(len(g)):
        total = skip * g[s]
        for a in range(len(r)):
            if left[s, a] > 0:
                total += r[a] * left[s, a] * g[s + strides[a]]
        g[s] = total


@compiled
def sum_states(r, skip, m, left, strides, end, p, checks, part):  # type: ignore[no-untyped-def]
    """The total, and in `p` (A, B) the sums of the marginals; `end` is changed.

    `checks`: states before every so many types of records, from which those before each type are had again in `part`.
    """
    types, kept = len(m), len(part) - 1
    f = part[kept]
    for s in range(len(f)):
        f[s] = 1.0 if s == 0 else 0.0
    for b in range(types):
        if b % kept == 0:
            checks[b // kept, :] = f
        for _ in range(m[b]):
            one_more(r[:, b], skip[b], left, strides, f)
    total = 0.0
    for s in range(len(f)):
        total += f[s] * end[s]
    for segment in range((types - 1) // kept, -1, -1):
        first = segment * kept
        last = min(first + kept, types)
        f[:] = checks[segment]
        for b in range(first, last):
            part[b - first, :] = f
            for _ in range(m[b]):
                one_more(r[:, b], skip[b], left, strides, f)
        for b in range(last - 1, first - 1, -1):
            for _ in range(m[b] - 1):
                one_less(r[:, b], skip[b], left, strides, end)
            before = part[b - first]
            for a in range(len(r)):
                if r[a, b] > 0.0:
                    found = 0.0
                    for s in range(len(f)):
                        if left[s, a] > 0:
                            found += before[s] * left[s, a] * end[s + strides[a]]
                    p[a, b] = r[a, b] * found
            one_less(r[:, b], skip[b], left, strides, end)
    return total
