r"""What the known values of somebody who is not in the file would look like: the density of x given "absent".

The file's values z say how values are distributed among people; a new person's z has the predictive distribution,
normal (variance taken as known), Student t (variance learnt) or the file's own, and x then carries bias and noise:

.. math:: f(x \mid \mathrm{absent}) = \int f(x \mid z)\, p(z \mid z_1, \ldots, z_n)\, dz

For one variable the integral runs over stretches that widen geometrically away from x, so that a narrow error and a
wide population are met alike; for several variables together over points of a Sobol net, deterministically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaincinv, gammaln, logsumexp, ndtri

from confide.core.checks import finite, positive
from confide.core.errors import InputError
from confide.frames.columns import F64
from confide.protect.likelihoods.spread import LOG_2PI
from confide.protect.methods.measurement_error.variances import Gamma, Variances

GRID = 257
"""Points at which the density is computed exactly; other values are interpolated by a cubic spline of its log."""
FINE = 12.0
"""Grid points on one standard deviation of the error, for averages over the file."""
NET = 4096
"""Points of the Sobol net for several variables together."""


@dataclass(frozen=True)
class Conjugate:
    """What an intruder knew of a variable's mean and spread before seeing the file, in units of records.

    `mean` counts as much as `worth` records, `sd` as much as `sd_worth` records; the file is added to that.

    >>> import confide as cf
    >>> cf.Conjugate(mean=48, worth=10, sd=11, sd_worth=10).mean
    48
    """

    mean: float
    worth: float
    sd: float
    sd_worth: float

    def __post_init__(self) -> None:
        finite(self.mean, "Conjugate: mean")
        for name in ("worth", "sd", "sd_worth"):
            positive(getattr(self, name), f"Conjugate: {name}")


@dataclass(frozen=True, eq=False)
class Predictive:
    """A location-scale distribution of one new person's value: Student t with `df`, normal where that is infinite."""

    mean: float
    scale: float
    df: float

    @classmethod
    def of(cls, values: F64, form: str | Conjugate, variable: str) -> Predictive:
        n = len(values)
        centre, square = float(values.mean()), float(((values - values.mean()) ** 2).sum())
        if isinstance(form, Conjugate):
            worth, df = form.worth + n, form.sd_worth + n
            mean = (form.worth * form.mean + n * centre) / worth
            square += form.sd_worth * form.sd**2 + form.worth * n / worth * (centre - form.mean) ** 2
            return cls(mean, float(np.sqrt(square / df * (1 + 1 / worth))), df)
        if n < 3:
            raise InputError(f'"{variable}": {n} values say too little about people who are not in the file.')
        scale = float(np.sqrt(square / (n - 1) * (1 + 1 / n)))
        return cls(centre, scale, np.inf if form == "normal" else n - 1.0)

    def log_density(self, z: F64) -> F64:
        u = (z - self.mean) / self.scale
        if np.isinf(self.df):
            return np.asarray(-0.5 * u * u - 0.5 * LOG_2PI - np.log(self.scale))
        half = 0.5 * (self.df + 1)
        const = gammaln(half) - gammaln(0.5 * self.df) - 0.5 * np.log(np.pi * self.df) - np.log(self.scale)
        return np.asarray(const - half * np.log1p(u * u / self.df))

    def log_absent(self, x: F64, error: Variances) -> F64:
        """log f(x given absent) of each value."""
        if len(x) > GRID:
            u = np.arcsinh((x - self.mean) / self.scale)
            low, high = float(u.min()), float(u.max())
            if high > low:
                grid = np.linspace(low, high, GRID)
                exact = self._integrated(self.mean + self.scale * np.sinh(grid), error)
                return np.asarray(CubicSpline(grid, exact)(u))
        return self._integrated(x, error)

    def _integrated(self, x: F64, error: Variances) -> F64:
        step = max(4_000_000 // (len(error.p) * 600), 1)
        return np.concatenate([self._stretches(x[i : i + step], error) for i in range(0, len(x), step)] or [x])

    def _stretches(self, x: F64, error: Variances) -> F64:
        """The integral over z for a few x: Gauss-Legendre rules between geometrically spaced limits around both."""
        width = np.sqrt(error.mean_at(x))
        width = np.where(width > 0, width, 1e-6 * self.scale)
        far = 0.5 * 2.0 ** np.arange(6 if self.df > 200 else 8 if self.df > 30 else 16)
        reach = (self.scale * far[-1] + np.abs(x - self.mean)) / width
        around = 0.5 * 2.0 ** np.arange(int(np.ceil(np.log2(reach.max()))) + 2)
        cuts = np.concatenate([
            x[:, None] + width[:, None] * np.concatenate([-around[::-1], [0.0], around]),
            np.tile(self.mean + self.scale * np.concatenate([-far[::-1], [0.0], far]), (len(x), 1)),
        ], axis=1)  # fmt: skip
        ends = self.mean + self.scale * far[-1] * np.array([-1.0, 1.0])
        low, high = np.minimum(ends[0], x - 16 * width), np.maximum(ends[1], x + 16 * width)
        cuts = np.sort(np.clip(cuts, low[:, None], high[:, None]), axis=1)
        node, weight = np.polynomial.legendre.leggauss(8)
        half = 0.5 * np.diff(cuts, axis=1)
        z = (cuts[:, :-1, None] + half[:, :, None] * (1 + node)).reshape(len(x), -1)
        with np.errstate(divide="ignore"):
            log_w = np.log((half[:, :, None] * weight).reshape(len(x), -1)) + self.log_density(z)
        v = error.noise + z[:, :, None] ** 2 * error.bias
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = error.p / np.sqrt(v) * np.exp(-0.5 * (x[:, None] - z)[:, :, None] ** 2 / v)
            log_f = np.log(np.where(v > 0, inner, 0.0).sum(axis=2)) - 0.5 * LOG_2PI
        return np.asarray(logsumexp(log_w + log_f, axis=1))


@dataclass(frozen=True, eq=False)
class FilePredictive:
    """A new person's value is one of the file's: for skewed variables, of which no normal curve is true."""

    values: F64

    def log_absent(self, x: F64, error: Variances) -> F64:
        """log f(x given absent): a mean over the file, on a grid finer than the error can resolve, interpolated.

        For somebody far from every value the same sum is made as over the records, with their own nodes: there the two
        must not differ even where both are imprecise.
        """
        scale = _Steady.of(error, self.values)
        distinct, times = np.unique(self.values, return_counts=True)
        log_times = np.log(times / len(self.values))
        at, u = scale.there(distinct), scale.there(x)
        after = np.clip(np.searchsorted(at, u), 1, max(len(at) - 1, 1))
        gap = np.minimum(np.abs(u - at[after - 1]), np.abs(u - at[np.minimum(after, len(at) - 1)]))
        far = gap > 3.0
        out = np.empty(len(x))
        if far.any():
            out[far] = _averaged(x[far], distinct, log_times, error, scale, np.inf)
        if not far.all():
            out[~far] = self._near(x[~far], error.roughly(), scale)
        return out

    def _near(self, x: F64, error: Variances, scale: _Steady) -> F64:
        """The same among the file's values, of which those that the error cannot tell apart are merged."""
        code = np.floor(scale.there(self.values) * FINE)
        _, where, count = np.unique(code, return_inverse=True, return_counts=True)
        nodes = np.bincount(where, weights=self.values) / count
        log_share = np.log(count / len(self.values))
        # Beyond so many units the density is below 1e-16 of its peak, as long as the bias is small.
        reach = 12.0 if scale.slope < 0.06 else np.inf
        u = scale.there(x)
        size = int(np.ceil(np.ptp(u) * FINE)) + 2
        if size >= len(x) or size < 8:
            return _averaged(x, nodes, log_share, error, scale, reach)
        grid = np.linspace(u.min(), u.max(), size)
        used = np.unique(np.clip(np.searchsorted(grid, u)[:, None] + np.arange(-6, 6), 0, size - 1))
        value = np.full(size, np.nan)
        value[used] = _averaged(scale.back(grid[used]), nodes, log_share, error, scale, reach)
        return np.asarray(CubicSpline(grid[used], value[used])(u))


@dataclass(frozen=True)
class _Steady:
    """A scale on which the error spreads by about 1 everywhere."""

    noise: float
    slope: float

    @classmethod
    def of(cls, error: Variances, values: F64) -> _Steady:
        noise, slope = (float(np.sqrt(error.p @ part)) for part in (error.noise, error.bias))
        return cls(max(noise, 1e-2 * slope * float(np.median(np.abs(values))), 1e-300), slope)

    def there(self, x: F64) -> F64:
        return np.asarray(np.arcsinh(x * self.slope / self.noise) / self.slope if self.slope else x / self.noise)

    def back(self, u: F64) -> F64:
        return np.asarray(np.sinh(u * self.slope) * self.noise / self.slope if self.slope else u * self.noise)


def _averaged(x: F64, nodes: F64, log_share: F64, error: Variances, scale: _Steady, reach: float) -> F64:
    """log of the mean density around nodes of the file (rising), as far as `reach` units on the steady scale."""
    variance, p = error.rules(nodes)
    with np.errstate(divide="ignore"):  # a node without weight
        coef = np.log(p / np.sqrt(2 * np.pi * variance))
    at, out = scale.there(nodes), np.empty(len(x))
    order = np.argsort(x)
    wide = min(len(nodes), int(4 * reach * FINE)) if np.isfinite(reach) else len(nodes)
    step = max(2_000_000 // (wide * p.shape[1]), 1)
    for i in range(0, len(x), step):
        some = order[i : i + step]
        near = scale.there(x[some])
        a, b = np.searchsorted(at, [near.min() - reach, near.max() + reach])
        a, b = max(int(a) - 1, 0), min(int(b) + 1, len(nodes))
        gap = (x[some][:, None] - nodes[a:b]) ** 2
        part = coef[a:b] - 0.5 * gap[:, :, None] / variance[a:b]
        out[some] = logsumexp(part + log_share[a:b, None], axis=(1, 2))
    return out


@dataclass(frozen=True, eq=False)
class JointPredictive:
    """The same for several variables together: multivariate Student t, since means and covariances are learnt."""

    mean: F64
    scale: F64
    df: float

    @classmethod
    def of(cls, values: F64) -> JointPredictive:
        """`values`: (d, n) of the file."""
        d, n = values.shape
        if n < d + 3:
            raise InputError(f"{n} records are too few to learn how {d} variables go together.")
        mean = values.mean(axis=1)
        square = (values - mean[:, None]) @ (values - mean[:, None]).T
        if np.linalg.cond(square / np.sqrt(np.outer(np.diag(square), np.diag(square)))) > 1e10:
            raise InputError('absent="joint": one of the variables follows from the others; leave it out.')
        return cls(mean, square * (n + 1) / (n * (n - d)), float(n - d))

    def log_absent(self, x: F64, errors: Sequence[Variances]) -> F64:
        r"""log f(x given absent), x of shape (d, m).

        Given the factors theta and the noise variances, x is multivariate normal; a Sobol net of those and of the t's
        own scale is averaged over.
        """
        from scipy.stats import qmc

        d = len(x)
        net = np.clip(qmc.Sobol(3 * d + 1, scramble=False).random(NET) + 0.5 / NET, 1e-12, 1 - 1e-12)
        noise, theta = np.empty((NET, d)), np.empty((NET, d))
        for i, error in enumerate(errors):
            noise[:, i], bias = _placed(error, net[:, 3 * i], net[:, 3 * i + 1])
            theta[:, i] = 1 + np.sqrt(bias) * ndtri(net[:, 3 * i + 2])
        shrink = self.df / (2 * gammaincinv(self.df / 2, net[:, -1]))
        cover = theta[:, :, None] * self.scale * theta[:, None, :] * shrink[:, None, None]
        cover[:, np.arange(d), np.arange(d)] += noise
        root = np.linalg.cholesky(cover)
        inverse = np.linalg.inv(root)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) + 0.5 * d * LOG_2PI + np.log(NET)
        out = np.empty(x.shape[1])
        step = max(4_000_000 // (NET * d), 1)
        for i in range(0, len(out), step):
            gap = x[:, i : i + step].T[:, None, :] - theta * self.mean
            u = np.einsum("kab,mkb->mka", inverse, gap)
            out[i : i + step] = logsumexp(-0.5 * (u * u).sum(axis=2) - log_det, axis=1)
        return out


def _placed(error: Variances, u: F64, v: F64) -> tuple[F64, F64]:
    """Noise and bias variances at given ranks of their beliefs."""
    if isinstance(error.source, tuple):
        noise, bias = (
            gammaincinv(given.shape, rank) / given.rate if isinstance(given, Gamma)
            else np.full(len(rank), float(given or 0.0))
            for given, rank in zip(error.source, (u, v), strict=True)
        )  # fmt: skip
        return noise, bias
    at = np.minimum(np.searchsorted(np.cumsum(error.p), u), len(error.p) - 1)
    return error.noise[at], error.bias[at]
