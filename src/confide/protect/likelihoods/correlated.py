"""The likelihood of correlated normal noise on two or more variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.spread import LOG_2PI
from confide.protect.seam.likelihood import Columns, Likelihood

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
NARROW = 0.05
"""A rounding cell narrower than this many standard deviations is density times width."""


@dataclass(frozen=True, eq=False)
class CorrelatedNormal(Likelihood):
    """Joint normal noise. Where only some of a record's values are noisy, the rest drop out of the joint density.

    `cells[i]`: (low, high) of variable i, shape (r,) each. `inside`: shape (d, r). `sd`: (d,). `rho`: (d, d).
    """

    variables: tuple[str, ...]
    cells: Sequence[tuple[F64, F64]]
    inside: Bools
    sd: F64
    rho: F64
    values: Sequence[Callable[[Records], tuple[F64, Bools]]]
    edges: Sequence[tuple[float, float]]

    integrates: ClassVar[bool] = True
    scale: ClassVar[None] = None

    def __post_init__(self) -> None:
        bounded = any(np.isfinite(e) for pair in self.edges for e in pair)
        if len(self.variables) > 2 and bounded:
            raise InputError("Correlated noise with bounds is understood for two variables known together, not more.")
        if len(self.variables) > 2 and any(
            np.nanmax(h - low, initial=0.0) > NARROW * s for (low, h), s in zip(self.cells, self.sd, strict=True)
        ):
            raise InputError("Correlated noise on three or more variables needs an sd well above their precision.")

    @property
    def record(self) -> Columns:
        out: dict[str, NDArray[Any]] = {}
        for i, (low, high) in enumerate(self.cells):
            out |= {f"low{i}": low, f"high{i}": high, f"inside{i}": self.inside[i]}
        return out

    def target(self, records: Records) -> Columns:
        out: dict[str, NDArray[Any]] = {}
        for i, of in enumerate(self.values):
            y, inside = of(records)
            out |= {f"y{i}": y, f"inside{i}": inside}
        return out | {"log_allowed": self._log_allowed_of(out)}

    def _log_allowed_of(self, t: Columns) -> F64:
        """log of what may be drawn around each true record, given which of its values are noisy, shape (n,)."""
        d = len(self.variables)
        noisy = np.stack([t[f"inside{i}"] for i in range(d)])
        allowed = np.zeros(noisy.shape[1])
        for p in np.unique(noisy.T, axis=0):
            which, rows = np.flatnonzero(p), np.all(noisy == p[:, None], axis=0)
            if len(which):
                allowed[rows] = self.log_allowed_jointly(which.tolist(), np.stack([t[f"y{i}"][rows] for i in which]))
        return allowed

    def altered(self, t: Columns) -> Bools:
        return np.asarray(np.logical_or.reduce([t[f"inside{i}"] for i in range(len(self.variables))]))

    def margins(self) -> list[Normal]:
        """Each variable's own likelihood, the others ignored (bounds of the others included only roughly)."""
        out = []
        for i, (low, high) in enumerate(self.cells):
            out.append(Normal(low, high, self.inside[i], float(self.sd[i]), self.values[i], self._alone(i)))
        return out

    def restricted(self, which: Sequence[int]) -> CorrelatedNormal | Normal:
        """The joint likelihood of some of the variables, the others ignored."""
        if len(which) == 1:
            return self.margins()[which[0]]
        pick = list(which)
        return CorrelatedNormal(
            tuple(self.variables[i] for i in pick), [self.cells[i] for i in pick], self.inside[pick], self.sd[pick],
            self.rho[np.ix_(pick, pick)], [self.values[i] for i in pick], [self.edges[i] for i in pick],
        )  # fmt: skip

    def correlation(self) -> F64:
        return self.rho

    def _alone(self, i: int) -> Callable[[F64], F64]:
        low, high = self.edges[i]
        return lambda y: np.log(ndtr((high - y) / self.sd[i]) - ndtr((low - y) / self.sd[i]))

    def log(self, t: Columns, z: Columns) -> F64:
        d = len(self.variables)
        n = len(t["y0"])
        noisy_t = np.stack([t[f"inside{i}"] for i in range(d)]).astype(bool)
        noisy_z = np.stack([z[f"inside{i}"] for i in range(d)]).astype(bool)
        out = np.where((noisy_t == noisy_z).all(axis=0), 0.0, -np.inf)
        pattern = (noisy_t & noisy_z).T @ (1 << np.arange(d))
        for p in np.unique(pattern):
            which = [i for i in range(d) if p >> i & 1]
            rows = (pattern == p) & np.isfinite(out)
            if which and rows.any():
                out[rows] = self._log_part(which, t, z, np.flatnonzero(rows))
        return out if n else np.zeros(0)

    def _log_part(self, which: list[int], t: Columns, z: Columns, rows: I64) -> F64:
        y = np.stack([t[f"y{i}"][rows] for i in which])
        low = np.stack([z[f"low{i}"][rows] for i in which])
        high = np.stack([z[f"high{i}"][rows] for i in which])
        sd, rho = self.sd[which][:, None], self.rho[np.ix_(which, which)]
        a, b = (low - y) / sd, (high - y) / sd
        wide = ((b - a) > NARROW).any(axis=0)
        out = _log_density(0.5 * (a + b), rho) + np.where(b > a, np.log(np.where(b > a, b - a, 1.0)), -np.log(sd)).sum(
            axis=0
        )
        if wide.any():
            out[wide] = _log_box(a[:, wide], b[:, wide], rho)
        return np.asarray(out - t["log_allowed"][rows])

    def log_allowed_jointly(self, which: Sequence[int], y: F64) -> F64:
        """log of what may be drawn around y (d, n) for the variables `which`, shape (n,)."""
        edges, sd = np.array([self.edges[i] for i in which]), self.sd[list(which)][:, None]
        return _log_box((edges[:, :1] - y) / sd, (edges[:, 1:] - y) / sd, self.rho[np.ix_(which, which)])


def _log_density(x: F64, rho: F64) -> F64:
    inverse = np.linalg.inv(rho)
    q = np.einsum("in,ij,jn->n", x, inverse, x)
    return np.asarray(-0.5 * q - 0.5 * np.linalg.slogdet(rho)[1] - 0.5 * len(rho) * LOG_2PI)


def _log_box(a: F64, b: F64, rho: F64) -> F64:
    """Log probability of a box under a standard normal with correlation rho, d = 1 or 2; 0 where unbounded."""
    if np.isinf(a).all() and np.isinf(b).all():
        return np.zeros(a.shape[1])
    if len(a) == 1:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(ndtr(b[0]) - ndtr(a[0])))
    r = rho[0, 1]
    low, high = np.clip(a[0], -9.0, 9.0), np.clip(b[0], -9.0, 9.0)
    u = 0.5 * (high - low)[:, None] * NODES + 0.5 * (high + low)[:, None]
    s = np.sqrt(1 - r * r)
    inner = ndtr((b[1][:, None] - r * u) / s) - ndtr((a[1][:, None] - r * u) / s)
    mass = (np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi) * inner) @ WEIGHTS * 0.5 * (high - low)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(mass))
