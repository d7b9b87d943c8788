r"""Uniques of the population under a Poisson log-linear model of the cells (Skinner and Shlomo).

Population counts F are Poisson with mean :math:`\lambda`, a sample takes everybody with chance :math:`\pi`, so that
:math:`f \sim \mathrm{Poisson}(\mu)`, :math:`\mu = \pi\lambda`, and :math:`F - f \mid f \sim \mathrm{Poisson}(x)` with
:math:`x = (1-\pi)\lambda = \mu (w - 1)`, w people per record. :math:`\log\mu` is a sum of one term per key and one per
chosen pair of keys, fitted to the whole cross table, empty cells included. For a sample unique

.. math:: P(F = 1) = e^{-x}, \qquad E(1/F) = (1 - e^{-x})/x, \qquad
    E(1/F^2) = \frac{e^{-x}}{x} \int_0^x \frac{e^v - 1}{v}\, dv.

The table, the fit and the search for pairs are those of an intruder who is unsure of membership
(`confide.attack.population`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expi

from confide.attack.population.labels import Axes
from confide.attack.population.loglinear import Pair, dense, expected
from confide.attack.population.people import people_per_record
from confide.attack.population.search import LOW, Z1, Z2, choose, chosen_pairs, estimated_bias
from confide.core.run.memory import remembered
from confide.frames.columns import F64, I64
from confide.measure.risk.population.cells import Cells

SEARCH, INDEPENDENCE, PAIRS = "poisson", "poisson_independence", "poisson_pairs"
MODELS = {
    SEARCH: "pairs of keys chosen by Skinner and Shlomo's search",
    INDEPENDENCE: "no pair of keys",
    PAIRS: "all pairs of keys",
}
FAR = 500.0
"""Beyond this x exponentials overflow, and three terms of the asymptotic series are exact."""


@dataclass(frozen=True, eq=False)
class PoissonFit:
    """`x`: (d,) expected people of each cell who are not in the sample. `pairs`: of the model, by places of keys.

    `bias1`, `bias2`: Skinner and Shlomo's estimates of how far tau1 and tau2 are overstated, each with its standard
    deviation under the model. `binned`: keys that enter in bins, since the table would be too large; `table`: cells of
    the table that was fitted.
    """

    x: F64
    pairs: tuple[Pair, ...]
    bias1: tuple[float, float]
    bias2: tuple[float, float]
    binned: tuple[int, ...]
    table: int

    @property
    def z1(self) -> float:
        """The criterion for tau1, near 0 for a model that fits."""
        return self.bias1[0] / self.bias1[1] if self.bias1[1] > 0 else 0.0

    @property
    def z2(self) -> float:
        """The criterion for tau2."""
        return self.bias2[0] / self.bias2[1] if self.bias2[1] > 0 else 0.0

    @property
    def refused(self) -> str:
        """Why the criterion refuses the model; empty where it does not."""
        if self.z1 >= Z1 or self.z2 >= Z2:
            return "too poor: it misses relations between the keys"
        return "too rich: it follows the sample too closely" if min(self.z1, self.z2) <= LOW else ""


def fit_poisson(cells: Cells, codes: Sequence[I64], ordered: Sequence[bool], model: str = SEARCH) -> PoissonFit:
    """A model of cells with these codes, (d,) per key; `ordered`: where neighbouring codes are alike."""
    axes = Axes.of(codes, cells.f, ordered)
    table = axes.cell, cells.f, axes.sizes
    pairs = list(combinations(range(len(axes.sizes)), 2)) if model == PAIRS else []
    if model == SEARCH:
        pairs = chosen_pairs(remembered(choose, *table, cells.fraction))
    mu = expected(dense(*table), pairs)
    occupied, place = np.unique(axes.cell, return_inverse=True)
    first, second = estimated_bias(mu, occupied, np.bincount(place, cells.f).astype(float), cells.fraction)
    per = people_per_record(axes.cell, cells.f, cells.people, axes.sizes)
    x = mu.ravel()[axes.cell] * axes.share * np.maximum(per - 1, 0.0)
    named = tuple((axes.variables[a], axes.variables[b]) for a, b in pairs)
    return PoissonFit(x, named, first, second, axes.binned, int(np.prod(axes.sizes)))


def unique_inverse(x: F64) -> tuple[F64, F64]:
    """E(1/F) and E(1/F^2) of sample uniques.

    >>> [v.round(4).tolist() for v in unique_inverse(np.array([0.0, 1.8]))]
    [[1.0, 0.4637], [1.0, 0.2833]]
    """
    small, some = x < 0.5, np.clip(x, 0.5, FAR)
    first = np.where(x < 1e-8, 1 - x / 2, -np.expm1(-x) / np.maximum(x, 1e-300))
    second = np.exp(-some) * (expi(some) - np.euler_gamma - np.log(some)) / some
    term, total = np.exp(-x[small]), np.zeros(int(small.sum()))
    for k in range(1, 20):  # sum of e^-x x^k / k! / (k+1)^2
        total += term / k**2
        term = term * x[small] / k
    second[small] = total
    far = x > FAR
    second[far] = (1 + 1 / x[far] + 2 / x[far] ** 2) / x[far] ** 2
    return first, second
