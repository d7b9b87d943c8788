r"""Population uniques by the shifted negative binomial model (Chen and Keller-McNulty), SNB.

Sizes of the population's K cells are 1 plus a negative binomial number, with parameters :math:`\alpha` and
:math:`\beta`; a fraction :math:`\pi` is sampled. With :math:`d = (1-\pi)(1-\beta)`

.. math:: E\, n_1 = K \pi \beta^\alpha (1-d)^{-\alpha-1} (1 - d + \alpha d), \qquad
    E\, n_2 = K \frac{\pi^2}{2} \beta^\alpha (1-d)^{-\alpha-2} \alpha (1-\beta) (2 - (1-\alpha) d),

both set to what the sample shows; uniques are :math:`K \beta^\alpha`. K is estimated by Haas and Stokes' change of
Shlosser's estimator,

.. math:: K = u + n_1 s^2 \frac{\sum i \pi^2 (1-\pi^2)^{i-1} n_i}{\sum (1-\pi)^i ((1+\pi)^i - 1) n_i}, \quad
    s = \frac{\sum (1-\pi)^i n_i}{\sum i \pi (1-\pi)^{i-1} n_i}.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, root
from scipy.special import expit

from confide.measure.risk.population.cells import Cells

GRID = np.linspace(-25.0, 12.0, 371)
"""Logits of beta between which a change of sign is looked for."""


def shifted_binomial(cells: Cells) -> float | None:
    """Expected uniques of the population; None where no parameters give the sample's uniques and doubles."""
    n1, n2, pi = cells.having(1), cells.having(2), cells.fraction
    if not n1 or not n2:
        return None
    number = cells_of_population(cells)

    def more(at: float) -> float:
        beta = float(expit(at))
        return _log_uniques(number, pi, _alpha(beta, pi, n1, n2), beta) - float(np.log(n1))

    values = np.array([more(at) for at in GRID])
    crosses = np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))
    if not len(crosses):
        return None
    at = crosses[0]
    beta = float(expit(brentq(more, GRID[at], GRID[at + 1], xtol=1e-13)))
    return float(number * beta ** _alpha(beta, pi, n1, n2))


def cells_of_population(cells: Cells, as_arx: bool = False) -> float:
    """K. `as_arx`: with the bracket misplaced as in ARX, where 1 is subtracted once per size."""
    (size, number), pi = cells.sizes, cells.fraction
    s = (number @ (1 - pi) ** size) / (number @ (size * pi * (1 - pi) ** (size - 1)))
    above = number @ (size * pi**2 * (1 - pi**2) ** (size - 1))
    below = number @ ((1 - pi) ** size * ((1 + pi) ** size - 1))
    if as_arx:
        below = (number * (1 - pi**2) ** size - 1).sum()
    return float(len(cells.f) + cells.having(1) * s**2 * above / below)


def shifted_binomial_as_arx(cells: Cells) -> float | None:
    """The same as ARX computes it: K with its bracket misplaced, and E n_2 multiplied by (1-d)^(alpha+2), where it must
    be divided. Often no parameters solve these equations: None.
    """
    n1, n2, pi = cells.having(1), cells.having(2), cells.fraction
    if not n1 or not n2:
        return None
    number = cells_of_population(cells, as_arx=True)

    def equations(at: tuple[float, float]) -> list[float]:
        alpha, beta = float(np.exp(min(at[0], 20.0))), float(expit(at[1]))
        rest = 1 - (1 - pi) * (1 - beta)
        doubles = number * pi**2 / 2 * alpha * (1 - beta) * (2 - (1 - alpha) * (1 - rest))
        second = np.log(doubles) + alpha * np.log(beta) + (alpha + 2) * np.log(rest)
        return [_log_uniques(number, pi, alpha, beta) - np.log(n1), float(second) - np.log(n2)]

    with np.errstate(all="ignore"):
        tries = (root(equations, [a, b]) for a in (-3.0, -1.0, 0.5, 2.0) for b in (-5.0, -2.0, 0.0, 2.0))
        found = next((t.x for t in tries if t.success and np.abs(t.fun).max() < 1e-8), None)
    return None if found is None else float(number * expit(found[1]) ** np.exp(found[0]))


def _alpha(beta: float, pi: float, n1: int, n2: int) -> float:
    """The one alpha above 0 for which E n_2 / E n_1 is n_2 / n_1: the root of a quadratic."""
    d, c = (1 - pi) * (1 - beta), 2 * n2 / (pi * n1)
    a, b, rest = (1 - beta) * d, (1 - beta) * (2 - d) - c * (1 - d) * d, c * (1 - d) ** 2
    wide = np.sqrt(b * b + 4 * a * rest)
    return float((wide - b) / (2 * a) if b < 0 else 2 * rest / (b + wide))


def _log_uniques(number: float, pi: float, alpha: float, beta: float) -> float:
    """log of E n_1."""
    rest = 1 - (1 - pi) * (1 - beta)
    more = np.log(rest + alpha * (1 - rest)) - (alpha + 1) * np.log(rest)
    return float(np.log(number * pi) + alpha * np.log(beta) + more)
