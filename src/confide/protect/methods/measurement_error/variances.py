r"""What is believed of an unknown error variance, and sums over it.

An error with noise variance :math:`\sigma^2` and bias variance :math:`\varphi` spreads a value z by the variance
:math:`v = \sigma^2 + z^2\varphi`. What matters of both beliefs is the distribution of v alone, and of that only a few
nodes: a Gauss rule for log v, made for each record. In log v the normal density is smooth to the end, so four to eight
nodes do where the product of two rules needs dozens.

Notation
--------
q : node of the joint belief in (noise variance, bias variance)
k : node of one record's own rule
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from scipy.special import gammaln

from confide.core.checks import finite, positive
from confide.core.errors import InputError
from confide.frames.columns import F64
from confide.protect.methods.measurement_error.rule_series import rules_by_series

RULES = (
    *((1, k) for k in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24)),
    (12, 6), (16, 8), (32, 8), (64, 8),
)  # fmt: skip
"""(Stretches, nodes in each) that a record's rule may have; the smallest that is accurate enough is taken."""
ACCURATE = 1e-10
"""Relative error allowed in a density up to `FAR` standard deviations away; `SLACK` times it up to `FARTHEST`."""
ROUGH = 1e-7
FAR, FARTHEST, SLACK = 6.0, 10.0, 1e4
NARROW = 20.0
"""Shapes from here on are served by a Gauss rule of the gamma weight itself, vaguer ones by steps in log v."""


@dataclass(frozen=True)
class Gamma:
    """A gamma belief in a variance, by shape and rate: mean shape / rate, standard deviation sqrt(shape) / rate.

    >>> import confide as cf
    >>> cf.Gamma(400, 5000).mean
    0.08
    >>> cf.Gamma.around(0.08, ratio=20)
    Gamma(shape=400, rate=5000)
    >>> cf.Gamma(0, 5)
    Traceback (most recent call last):
    confide.InputError: Gamma: shape must be above zero, not 0.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        shape, rate = positive(self.shape, "Gamma: shape"), positive(self.rate, "Gamma: rate")
        if shape <= 0.5:
            raise InputError(
                f"Gamma: with a shape of {shape:g} the variance is so likely to be nearly zero that two equal values "
                "would be proof. Give a shape above 0.5."
            )
        if not 1e-100 <= shape / rate <= 1e100:
            raise InputError("Gamma: the mean, shape / rate, must lie between 1e-100 and 1e100.")
        object.__setattr__(self, "shape", int(shape) if shape == int(shape) else shape)
        object.__setattr__(self, "rate", int(rate) if rate == int(rate) else rate)

    @classmethod
    def around(cls, mean: float, ratio: float = 20.0) -> Gamma:
        """The gamma with this mean, and a standard deviation `ratio` times smaller."""
        mean, ratio = positive(mean, "Gamma: mean"), positive(ratio, "Gamma: ratio")
        return cls(ratio**2, ratio**2 / mean)

    @property
    def mean(self) -> float:
        return self.shape / self.rate

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.shape)) / self.rate

    def nodes(self) -> tuple[F64, F64]:
        """Variances and their probabilities, which stand for the whole distribution in sums of densities."""
        if self.shape >= NARROW:
            x, p = gauss_gamma(self.shape, 24)
        else:
            x, p = _log_steps(self.shape)
        return x / self.rate, p


@dataclass(frozen=True)
class Learnt:
    """What somebody believes of both variances after seeing verified records: points and their probabilities.

    `noise`, `bias`: variances; `weight`: probabilities, as many. Made by `MeasurementError.learn`.

    >>> Learnt(noise=(1.0, 4.0), bias=(0.0, 0.01), weight=(0.5, 0.5)).means
    (2.5, 0.005)
    """

    noise: tuple[float, ...]
    bias: tuple[float, ...]
    weight: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("noise", "bias", "weight"):
            object.__setattr__(self, name, tuple(float(finite(x, f"Learnt: {name}")) for x in getattr(self, name)))
        if not len(self.noise) == len(self.bias) == len(self.weight) or not self.noise:
            raise InputError("Learnt: noise, bias and weight must have the same length, at least 1.")
        if min(*self.noise, *self.bias, *self.weight) < 0 or not sum(self.weight) > 0:
            raise InputError("Learnt: variances and weights must not be negative, nor all weights zero.")
        if any(a + b == 0 for a, b in zip(self.noise, self.bias, strict=True)):
            raise InputError("Learnt: noise and bias variance must not both be zero.")

    @property
    def means(self) -> tuple[float, float]:
        """Mean noise variance and mean bias variance."""
        w = np.array(self.weight) / sum(self.weight)
        return float(w @ np.array(self.noise)), float(w @ np.array(self.bias))


@dataclass(frozen=True, eq=False)
class Variances:
    """A joint belief in (noise variance, bias variance) as points: `noise`, `bias`, `p`, each of shape (Q,)."""

    noise: F64
    bias: F64
    p: F64
    source: tuple[Any, Any] | Learnt
    accurate: float = ACCURATE

    @classmethod
    def of(
        cls, noise: float | Gamma | None, bias: float | Gamma | None, learnt: Learnt | None = None,
        accurate: float = ACCURATE,
    ) -> Variances:  # fmt: skip
        if learnt is not None:
            p = np.array(learnt.weight) / sum(learnt.weight)
            return cls(np.array(learnt.noise), np.array(learnt.bias), p, learnt, accurate)
        (a, p_a), (b, p_b) = (_points(given, accurate) for given in (noise, bias))
        p = (p_a[:, None] * p_b).ravel()
        return cls(np.repeat(a, len(b)), np.tile(b, len(a)), p, (noise, bias), accurate)

    def roughly(self) -> Variances:
        """The same belief on fewer points, for what need not be known to ten digits."""
        if isinstance(self.source, Learnt):
            return self
        return Variances.of(*self.source, accurate=ROUGH)

    def at(self, z: F64) -> F64:
        """The variance around each value at each point, shape (len(z), Q)."""
        return np.asarray(self.noise + z[:, None] ** 2 * self.bias)

    def mean_at(self, z: F64) -> F64:
        """The mean variance around each value."""
        return np.asarray(self.p @ self.noise + z**2 * (self.p @ self.bias))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[F64, F64]:
        """n draws of noise variance and bias variance."""
        if isinstance(self.source, Learnt):
            at = rng.choice(len(self.p), size=n, p=self.p)
            return self.noise[at], self.bias[at]
        noise, bias = (_drawn(given, n, rng) for given in self.source)
        return noise, bias

    def rules(self, z: F64) -> tuple[F64, F64]:
        """Variances and probabilities for each value, shapes (len(z), K): Gauss rules of log v.

        K is the smallest number that is accurate for the hardest of these values; where none is, all Q points.
        """
        form = self._form_needed(z)
        if form is None:
            v = self.at(z)
            return v, np.broadcast_to(self.p, v.shape).copy()
        mean = float(self.p @ self.noise), float(self.p @ self.bias)
        found = rules_by_series(z, *mean, lambda some: self._rule(some, form)) if form[0] == 1 else None
        if found is not None:
            return found
        step = max(2_000_000 // len(self.p), 1)
        parts = [self._rule(z[i : i + step], form) for i in range(0, max(len(z), 1), step)]
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def _rule(self, z: F64, form: tuple[int, int]) -> tuple[F64, F64]:
        s, w = gauss_rules(np.log(self.at(z)), np.broadcast_to(self.p, (len(z), len(self.p))), *form)
        return np.exp(s), w

    def _form_needed(self, z: F64) -> tuple[int, int] | None:
        """The smallest accurate rule, judged on values spread over all those given; None where none will do."""
        if not len(z):
            return RULES[0]
        sample = np.unique(np.quantile(np.abs(z), np.linspace(0, 1, 9)))
        steps = np.linspace(0.0, FARTHEST, 41)
        allowed = self.accurate * np.where(steps <= FAR, 1.0, SLACK)[:, None]
        far = steps[:, None, None] * np.sqrt(self.mean_at(sample))[:, None]
        v = self.at(sample)
        exact = _densities(far, v, np.broadcast_to(self.p, v.shape))
        for form in RULES:
            if form[0] * form[1] >= len(self.p):
                return None
            if np.all(np.abs(_densities(far, *self._rule(sample, form)) / exact - 1) <= allowed):
                return form
        return None


def _densities(d: F64, v: F64, p: F64) -> F64:
    """Sums of normal densities at distances d, shape (distances, values)."""
    return np.asarray((p / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * d * d / v)).sum(axis=-1))


def _points(given: float | Gamma | None, accurate: float) -> tuple[F64, F64]:
    """One variance as points with probabilities, as few as serve."""
    if given is None:
        return np.zeros(1), np.ones(1)
    if not isinstance(given, Gamma):
        return np.array([float(given)]), np.ones(1)
    x, p = given.nodes()
    alone = Variances(x, np.zeros(len(x)), p, (given, None), accurate)
    v, w = alone.rules(np.zeros(1))
    return v[0], w[0]


def _drawn(given: float | Gamma | None, n: int, rng: np.random.Generator) -> F64:
    if isinstance(given, Gamma):
        return rng.gamma(given.shape, 1 / given.rate, size=n)
    return np.full(n, 0.0 if given is None else float(given))


def gauss_gamma(shape: float, n: int) -> tuple[F64, F64]:
    """Nodes and probabilities of the Gauss rule for a gamma weight of rate 1 (Golub and Welsch, 1969).

    The eigenvectors give probabilities directly, so a large shape cannot overflow.

    >>> x, p = gauss_gamma(400.0, 8)
    >>> round(float(p @ x), 9), round(float(p @ x**2), 6)
    (400.0, 160400.0)
    """
    i = np.arange(n, dtype=float)
    x, vectors = np.linalg.eigh(_tridiagonal((2 * i + shape)[None], np.sqrt(i[1:] * (i[1:] + shape - 1))[None])[0])
    return x, vectors[0] ** 2


def _log_steps(shape: float, step: float = 0.3) -> tuple[F64, F64]:
    """Equal steps in log v: the trapezoid rule, whose error falls exponentially with the step (3e-14 here)."""
    low = -32.0 / (shape - 0.5)
    s = np.arange(np.log(shape + 12 * np.sqrt(shape) + 40), low, -min(step, 0.35 / np.sqrt(shape)))[::-1]
    p = np.exp(shape * s - np.exp(s) - gammaln(shape))
    keep = p * np.exp(-0.5 * s) > 1e-18 * np.max(p * np.exp(-0.5 * s))
    return np.exp(s[keep]), p[keep] / p[keep].sum()


def gauss_rules(s: F64, p: F64, stretches: int, k: int) -> tuple[F64, F64]:
    """Gauss rules of m discrete distributions with probabilities p on points s, shapes (m, Q).

    The points are cut into so many stretches in rising order, each with a rule of k nodes: shapes (m, stretches * k).
    """
    m, size = s.shape
    if stretches > 1:
        order = np.argsort(s, axis=1)
        s, p = np.take_along_axis(s, order, axis=1), np.take_along_axis(p, order, axis=1)
        short = -size % stretches  # the last stretch is filled up with points of no weight
        s = np.concatenate([s, np.repeat(s[:, -1:], short, axis=1)], axis=1).reshape(m * stretches, -1)
        p = np.concatenate([p, np.zeros((m, short))], axis=1).reshape(m * stretches, -1)
    mass = p.sum(axis=1)
    nodes, weights = _lanczos(s, p / np.where(mass > 0, mass, 1.0)[:, None], k)
    return nodes.reshape(m, -1), (weights * mass[:, None]).reshape(m, -1)


def _lanczos(s: F64, p: F64, k: int) -> tuple[F64, F64]:
    """k-node Gauss rules, all rows at once, with full reorthogonalisation; nodes are eigenvalues."""
    centre = (s * p).sum(axis=1)
    scale = np.sqrt(np.maximum(((s - centre[:, None]) ** 2 * p).sum(axis=1), 1e-300))
    x = (s - centre[:, None]) / scale[:, None]
    basis = [np.sqrt(p)]
    alpha, beta = np.zeros((len(s), k)), np.zeros((len(s), k - 1))
    for i in range(k):
        u = x * basis[-1]
        alpha[:, i] = (u * basis[-1]).sum(axis=1)
        if i == k - 1:
            break
        for b in basis:
            u = u - (u * b).sum(axis=1, keepdims=True) * b
        beta[:, i] = np.sqrt((u * u).sum(axis=1))
        flat = beta[:, i] < 1e-13  # fewer distinct points than nodes: the rest get no weight
        beta[flat, i] = 0.0
        basis.append(np.where(flat[:, None], 0.0, u / np.where(flat, 1.0, beta[:, i])[:, None]))
    nodes, vectors = np.linalg.eigh(_tridiagonal(alpha, beta))
    return centre[:, None] + scale[:, None] * nodes, vectors[:, 0, :] ** 2


def _tridiagonal(diagonal: F64, beside: F64) -> F64:
    """Symmetric tridiagonal matrices, shape (m, k, k)."""
    m, k = diagonal.shape
    out = np.zeros((m, k, k))
    i = np.arange(k)
    out[:, i, i] = diagonal
    out[:, i[1:], i[:-1]] = out[:, i[:-1], i[1:]] = beside
    return out


class Guess(TypedDict):
    """What `prior_from_range` gives, ready to be passed on to `MeasurementError`."""

    noise_variance: Gamma
    bias_variance: Gamma


def prior_from_range(
    values: Any, theta: Sequence[float] = (0.75, 1.25), ratio: float = 20.0, as_printed: bool = False
) -> Guess:
    """Beliefs in both variances from ranges, as Fienberg, Makov and Sanil (1997) guessed theirs.

    A range is taken as six standard deviations: that of the released `values` for the noise, that of the factor
    `theta` for the bias; each variance gets a gamma with that mean, `ratio` times its standard deviation. In print the
    guess for theta's standard deviation was used as a *variance*; `as_printed` does the same (their Table 4.2).

    >>> import confide as cf
    >>> cf.prior_from_range([20.0, 84.0])
    {'noise_variance': Gamma(shape=400, rate=3.515625), 'bias_variance': Gamma(shape=400, rate=57600)}
    >>> round(cf.prior_from_range([20.0, 84.0], as_printed=True)["bias_variance"].rate)
    4800
    """
    low, high = _range_of(values)
    try:
        a, b = (finite(x, "prior_from_range: theta") for x in theta)
    except (TypeError, ValueError):
        raise InputError("prior_from_range: theta is a pair (lowest, highest), such as (0.75, 1.25).") from None
    if not 0 <= a < b:
        raise InputError("prior_from_range: theta is a pair (lowest, highest) of positive factors around 1.")
    if b > 10:
        raise InputError(f"prior_from_range: theta holds factors around 1; for {b:g} percent write {b / 100:g}.")
    spread = (b - a) / 6
    return {
        "noise_variance": Gamma.around(((high - low) / 6) ** 2, ratio),
        "bias_variance": Gamma.around(spread if as_printed else spread**2, ratio),
    }


def _range_of(values: Any) -> tuple[float, float]:
    try:
        numbers = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        if numbers.ndim != 1 or numbers.dtype.kind in "OUSb":
            raise TypeError
        numbers = numbers.astype(float)
    except (TypeError, ValueError):
        raise InputError("prior_from_range takes one column of numbers, such as data['age'].") from None
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or np.ptp(numbers) == 0:
        what = "are all the same" if len(numbers) else "are all missing"
        raise InputError(f"prior_from_range: the values {what}, so they have no range.")
    return float(numbers.min()), float(numbers.max())
