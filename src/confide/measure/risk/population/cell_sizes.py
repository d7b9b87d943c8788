r"""Population uniques from the sizes of sample cells alone: Pitman, Ewens and Zayatz.

Notation: n records in u cells, :math:`n_i` cells of i records, N people, :math:`(x)_k = x (x+1) \dots (x+k-1)`.

Pitman's model has the likelihood

.. math:: \prod_{0<i<u} (\theta + i\alpha) \,/\, (\theta+1)_{n-1} \prod_{\text{cells}} (1-\alpha)_{f-1},
    \qquad 0 \le \alpha < 1,\ \theta > -\alpha,

and expects :math:`N (\theta+\alpha)_{N-1} / (\theta+1)_{N-1}` uniques in the population. Ewens' is the case
:math:`\alpha = 0`, where :math:`u = \theta(\psi(\theta+n) - \psi(\theta))` and the uniques are
:math:`\theta N / (\theta + N - 1)`. Zayatz takes the population's cells to be as large, in proportion, as the sample's:
:math:`P(F=1 \mid f=1) = n_1 h(1) / \sum_i n_i h(i)`, h(i) the hypergeometric chance that one of i people is sampled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, psi

from confide.frames.columns import F64, I64
from confide.measure.risk.population.cells import Cells

WIDE = 30.0
"""The logit of alpha is kept within plus and minus this, and log(theta + alpha) below twice as much."""
TIGHT = {"gtol": 1e-10, "maxiter": 500}


def pitman(cells: Cells) -> float:
    """Expected uniques of the population under Pitman's model, by maximum likelihood."""
    theta, alpha = pitman_parameters(*cells.sizes)
    return float(cells.total * np.exp(_rising(theta + alpha, cells.total - 1) - _rising(theta + 1, cells.total - 1)))


def pitman_as_arx(cells: Cells) -> float:
    """The same with the approximation that ARX prints, N^alpha for the ratio of gamma functions."""
    theta, alpha = pitman_parameters(*cells.sizes)
    return float(np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * np.log(cells.total)))


def pitman_parameters(size: F64, cells: I64) -> tuple[float, float]:
    """theta and alpha of largest likelihood, in log(theta + alpha) and logit(alpha)."""
    n, u = float(size @ cells), int(cells.sum())
    loss = _pitman_loss(size, cells, n, u)
    start = float(np.log(u / max(np.log(n), 1.0)))
    with np.errstate(over="ignore"):
        tries = [minimize(loss, [start, at], jac=True, method="BFGS", options=TIGHT) for at in (0.0, -3.0)]
    best = min(tries, key=lambda found: float(found.fun))
    both, alpha = _inside(best.x)
    return both - alpha, alpha


def _pitman_loss(size: F64, cells: I64, n: float, u: int) -> Callable[[F64], tuple[float, F64]]:
    """Minus the log likelihood per record, and its slopes."""
    i = np.arange(1, u, dtype=float)

    def loss(at: F64) -> tuple[float, F64]:
        both, alpha = _inside(at)
        theta = both - alpha
        step = both + (i - 1) * alpha  # theta + i alpha, never below zero by rounding
        log = float(np.log(step).sum()) - _rising(theta + 1, n - 1)
        log += float(cells @ (gammaln(size - alpha) - gammaln(1 - alpha)))
        by_theta = float((1 / step).sum()) - float(psi(theta + n) - psi(theta + 1))
        by_alpha = float((i / step).sum()) - float(cells @ (psi(size - alpha) - psi(1 - alpha)))
        return -log / n, np.array([by_theta * both, (by_alpha - by_theta) * alpha * (1 - alpha)]) / -n

    return loss


def _inside(at: F64) -> tuple[float, float]:
    """theta + alpha and alpha, kept away from where nothing changes any more."""
    return float(np.exp(np.clip(at[0], -WIDE, 2 * WIDE))), float(expit(np.clip(at[1], -WIDE, WIDE)))


def ewens(cells: Cells) -> float:
    """Expected uniques of the population under Ewens' model."""
    n, u = cells.n, len(cells.f)
    if u == 1:
        return 0.0

    def more(log: float) -> float:
        theta = np.exp(log)
        return float(theta * (psi(theta + n) - psi(theta)) - u)

    theta = float(np.exp(brentq(more, -40.0, 2 * np.log(n) + 2, xtol=1e-13)))
    return theta * cells.total / (theta + cells.total - 1)


def zayatz(cells: Cells) -> float:
    """Sample uniques that are unique in the population, by Zayatz' rule.

    >>> keys = [np.array([0, 1, 2, 2, 3, 3, 3])]
    >>> round(zayatz(Cells.of(keys, np.full(7, 3.0))), 4)
    0.827
    """
    size, number = cells.sizes
    n, total = cells.n, cells.total
    with np.errstate(invalid="ignore"):
        log = np.log(size) + _choose(total - size, n - 1) - _choose(total, n)
    chance = np.where(size <= total - n + 1, np.exp(log), 0.0)
    uniques = float(number[0]) if size[0] == 1 else 0.0
    return uniques * uniques * float(chance[0]) / float(number @ chance) if uniques else 0.0


def _rising(x: float, k: float) -> float:
    """log of (x)_k."""
    return float(gammaln(x + k) - gammaln(x))


def _choose(n: F64 | float, k: float) -> F64:
    """log of a binomial coefficient."""
    return np.asarray(gammaln(np.asarray(n) + 1) - gammaln(k + 1) - gammaln(np.asarray(n) - k + 1))
