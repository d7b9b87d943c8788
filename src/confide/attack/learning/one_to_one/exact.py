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
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from confide.attack.engine.blocks import starts
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64

STATES = 2**15
"""States that a component may have: 15 targets that all differ."""
WORK = 2e9
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
    def least(self) -> int:
        """The fewest pairs that a matching can have."""
        return max(-self.base, 0)

    @property
    def work(self) -> float:
        """Sums that the marginals take; infinite where they cannot be had this way."""
        t, r = int(self.n.sum()), int(self.m.sum())
        if self.states > STATES or min(t, r) * np.log(max(t, r, 2)) > LARGEST:
            return np.inf
        sizes = np.ones(1)
        for k in self.n:
            sizes = np.convolve(sizes, np.ones(int(k) + 1))
        upto = np.concatenate([[0.0], np.cumsum(sizes)])
        j = np.arange(1, r + 1)
        low, high = np.clip(self.least - (r - j), 0, t + 1), np.minimum(j, t) + 1
        return 3.0 * len(self.n) * float(np.maximum(upto[high] - upto[low], 0.0).sum())

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


def effort(n: I64, m: I64, base: int) -> float:
    """Sums that marginals of so many targets and records of each type take, by the better side."""
    none = Component(np.zeros((len(n), len(m))), n, m, base, np.zeros(len(n)), np.zeros(len(m)))
    return min(none.work, none.turned.work)


def variance(component: Component, right: F64, nudge: float = 0.05) -> float:
    r"""The variance of :math:`\sum_i q_{i,s(i)}` over matchings s: the second derivative of log Z in
    :math:`\lambda`, where R is multiplied by :math:`e^{\lambda q}`. `right`: q, (A, B)."""
    c, q = (component.turned, right.T) if component.turned.work < component.work else (component, right)
    totals = [_exact(replace(c, log_r=c.log_r + k * nudge * q), alone=True).log_total for k in (-1, 0, 1)]
    return max((totals[0] + totals[2] - 2 * totals[1]) / nudge**2, 0.0)


def alike(log_r: float, n: int, m: int, base: int) -> float:
    """The same probability where all targets are of one type, and all records: the mean number of pairs over n m."""
    s = np.arange(min(n, m) + 1.0)
    rest = base + s
    log_w = gammaln(n + 1) - gammaln(n - s + 1) + gammaln(m + 1) - gammaln(m - s + 1) - gammaln(s + 1) + s * log_r
    log_w = np.where(rest >= 0, log_w - gammaln(np.maximum(rest, 0.0) + 1), -np.inf)
    w = np.exp(log_w - log_w.max())
    return float((w @ s) / w.sum() / (n * m))


def _exact(c: Component, alone: bool = False) -> Marginals:
    """`alone`: the total alone."""
    states, end = _states(c)
    r = np.exp(np.where(np.isfinite(c.log_r), c.log_r + c.u[:, None] - c.price, -np.inf))
    top = float(end.max(initial=-np.inf))
    p = np.zeros_like(r)
    if not np.isfinite(top):
        return Marginals(p, -np.inf)
    given = Given(r, np.exp(-c.price), c.m, c.least)
    kept = int(np.ceil(np.sqrt(len(c.m))))
    checks = np.zeros((-(-len(c.m) // kept) + 1, len(end)))
    end = np.exp(end - top)
    total, last = sum_forward(given, states, end, checks, kept)
    if total <= 0:
        return Marginals(p, -np.inf)
    if not alone:
        sum_back(given, states, end, p, checks, np.zeros((kept + 1, len(end))), last)
    shift = top - float(c.n @ c.u) + float(c.m @ c.price)
    return Marginals(p / total / c.n[:, None], float(np.log(total)) + shift)


class Given(NamedTuple):
    """`r`: (A, B) weights as they are summed; `skip`: (B,) of a record that nobody has; `m`: (B,) records of a type;
    `least`: the fewest pairs."""

    r: F64
    skip: F64
    m: I64
    least: int


class States(NamedTuple):
    """`left`: (states, A) what a state leaves of each type; `strides`: (A,) how far apart neighbours are; `order`:
    states
    by the number of targets that have a record, those with k from first[k] on."""

    left: I64
    strides: I64
    order: I64
    first: I64


def _states(c: Component) -> tuple[States, F64]:
    """All states, and the logs of their weights at the end."""
    sizes = c.n + 1
    strides = np.concatenate([[1], np.cumprod(sizes)[:-1]]).astype(np.int64)
    taken = (np.arange(int(np.prod(sizes)))[:, None] // strides) % sizes
    left, many = (c.n - taken).astype(np.int64), taken.sum(axis=1)
    order = np.argsort(many, kind="stable").astype(np.int64)
    log_g = c.log_sizes()[many]
    with np.errstate(invalid="ignore"):
        end = np.where(np.isfinite(log_g), log_g + left @ c.u, -np.inf)
    return States(left, strides, order, starts(many[order], int(c.n.sum()) + 1)), end


@compiled(inner=True)
def span(j, r, given, states):  # type: ignore[no-untyped-def]
    """Where the states begin and end that can be there after j of r records, if enough pairs are to come of it."""
    most = len(states.first) - 2
    low = given.least - (r - j)
    return states.first[low if low > 0 else 0], states.first[(j if j < most else most) + 1]


@compiled(inner=True)
def one_more(b, j, records, given, states, f):  # type: ignore[no-untyped-def]
    """Weights of states after record j, of type b, in place: larger states first."""
    lo, hi = span(j, records, given, states)
    for i in range(hi - 1, lo - 1, -1):
        s = states.order[i]
        total = given.skip[b] * f[s]
        for a in range(len(given.r)):
            before = s - states.strides[a]
            if before >= 0 and states.left[before, a] == states.left[s, a] + 1:
                total += given.r[a, b] * states.left[before, a] * f[before]
        f[s] = total


@compiled(inner=True)
def one_less(b, j, records, given, states, g):  # type: ignore[no-untyped-def]
    """The same backwards: weights of all that can follow a state before record j."""
    lo, hi = span(j - 1, records, given, states)
    for i in range(lo, hi):
        s = states.order[i]
        total = given.skip[b] * g[s]
        for a in range(len(given.r)):
            if states.left[s, a] > 0:
                total += given.r[a, b] * states.left[s, a] * g[s + states.strides[a]]
        g[s] = total


@compiled
def sum_forward(given, states, end, checks, kept):  # type: ignore[no-untyped-def]
    """The total weight, and the number of records; states before every so many types are kept in `checks`, the last row
    of which is worked in."""
    records = 0
    for b in range(len(given.m)):
        records += given.m[b]
    f = checks[len(checks) - 1]
    for s in range(len(f)):
        f[s] = 1.0 if s == 0 else 0.0
    j = 0
    for b in range(len(given.m)):
        if b % kept == 0:
            for s in range(len(f)):
                checks[b // kept, s] = f[s]
        for _ in range(given.m[b]):
            j += 1
            one_more(b, j, records, given, states, f)
    total = 0.0
    for s in range(len(f)):
        total += f[s] * end[s]
    return total, records


@compiled
def sum_back(given, states, end, p, checks, part, records):  # type: ignore[no-untyped-def]
    """In `p` (A, B) the sums of the marginals; `end` is changed. The states before each type are had again in
    `part`."""
    types, kept = len(given.m), len(part) - 1
    f = part[kept]
    after = records
    for segment in range((types - 1) // kept, -1, -1):
        first = segment * kept
        last = min(first + kept, types)
        j = after
        for b in range(first, last):
            j -= given.m[b]
        for s in range(len(f)):
            f[s] = checks[segment, s]
        for b in range(first, last):
            for s in range(len(f)):
                part[b - first, s] = f[s]
            for _ in range(given.m[b]):
                j += 1
                one_more(b, j, records, given, states, f)
        for b in range(last - 1, first - 1, -1):
            for _ in range(given.m[b] - 1):
                one_less(b, after, records, given, states, end)
                after -= 1
            lo, hi = span(after - 1, records, given, states)
            for a in range(len(given.r)):
                found = 0.0
                for i in range(lo, hi):
                    s = states.order[i]
                    if states.left[s, a] > 0:
                        found += part[b - first, s] * states.left[s, a] * end[s + states.strides[a]]
                p[a, b] = given.r[a, b] * found
            one_less(b, after, records, given, states, end)
            after -= 1
