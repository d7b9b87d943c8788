r"""Data intrusion simulation (Skinner and Elliot): the chance that a match with a sample unique is right.

.. math:: \theta = \frac{n_1}{\sum_{SU} F}, \qquad \hat\theta = \frac{n_1}{n_1 + D}, \quad
    D = \sum_{\text{doubles}} (w_1 - 1 + w_2 - 1),

the sum over cells of two records; for one fraction :math:`\pi` for everybody this is
:math:`\pi n_1 / (\pi n_1 + 2 (1 - \pi) n_2)`. If everybody is sampled or not by a draw of its own with chance 1/w, D
estimates the people who share a sample unique's cell without being in the sample, and with a = w - 1

.. math:: V = \sum_{\text{doubles}} \left[(a_1 + a_2)^2 + a_1 + a_2\right]
    + \sum_{\text{triples}} 2 (a_1 a_2 + a_2 a_3 + a_3 a_1)

estimates the variance of the difference, so that :math:`\hat\theta - \theta` has the standard error
:math:`\theta^2 \sqrt V / n_1`; for one fraction, :math:`V = 2(1-\pi)/\pi^2 [(2-\pi) n_2 + 3(1-\pi) n_3]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.measure.risk.population.cells import Cells

NO_DOUBLES = "the sample has no doubles, which tell how many people share a cell: 1 is no finding"
"""Why a chance of 1 is not one."""


@dataclass(frozen=True)
class Intrusion:
    """`theta`: the chance, None where no record is unique; `standard_error`: of its difference from the truth."""

    theta: float | None
    standard_error: float | None
    note: str = ""


def intrusion(cells: Cells) -> Intrusion:
    """The chance that a match with a sample unique is right, by the doubles of the sample.

    >>> keys = [np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 6])]
    >>> found = intrusion(Cells.of(keys, np.full(10, 10.0)))
    >>> round(found.theta, 4), round(found.standard_error, 4)
    (0.069, 0.0381)
    """
    uniques = int(cells.unique.sum())
    if not uniques:
        return Intrusion(None, None, "no record is unique in the sample")
    if cells.whole:
        return Intrusion(1.0, 0.0, "the sample is the population")
    two, three = cells.f == 2, cells.f == 3
    more = cells.people[two] - 2
    beyond = float(more.sum())
    theta = uniques / (uniques + beyond)
    # (a1 + a2 + a3)^2 less the squares is twice the sum over pairs; a sum of (w - 1)^2 is that of w^2 - 2w + 1.
    triples = (cells.people[three] - 3) ** 2 - (cells.squares[three] - 2 * cells.people[three] + 3)
    variance = float((more * more + more).sum() + triples.sum())
    note = "" if two.any() else NO_DOUBLES
    return Intrusion(theta, theta**2 / uniques * float(np.sqrt(max(variance, 0.0))), note)
