r"""Individual risk by Benedetti and Franconi: E(1/F | f) where F given f is negative binomial.

A cell has f records whose weights sum to :math:`\hat F`; :math:`p = f / \hat F`, :math:`q = 1 - p`, and
:math:`P(F = h \mid f) = \binom{h-1}{f-1} p^f q^{h-f}`, so that

.. math:: E(1/F \mid f) = \frac{p^f}{f}\, {}_2F_1(f, f; f+1; q) = \frac{p}{f}\, {}_2F_1(1, 1; f+1; q) = p\, I_f,
    \qquad I_f = \int_0^1 \frac{u^{f-1}}{p + q u}\, du.

The first form alternates hugely when summed as printed. Here it is either the recurrence :math:`I_1 = -\log(p) / q`,
:math:`I_{k+1} = (1/k - p I_k)/q`, which shrinks errors by p/q each step and is used for p below 1/2 and few records, or
the series :math:`t_{k+1} = t_k\, q (k+1)/(f+1+k)` of positive terms, which is short for p of 1/2 or more and for many
records.
"""

from __future__ import annotations

import math

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64

MANY = 40
"""From so many records on the series is short, whatever p is."""


def mean_inverse(f: F64, people: F64) -> F64:
    """E(1/F | f) of cells with f records that stand for so many people; 1/f where these are no more than the records.

    >>> f, p = np.array([1.0, 2.0, 3.0, 20.0]), np.array([0.1, 0.1, 0.1, 0.9])
    >>> mean_inverse(f, f / p).round(6)
    array([0.255843, 0.082684, 0.046368, 0.045216])
    """
    out = np.empty(len(f))
    _fill(f, people, out)
    return out


@compiled
def _fill(f, people, out):  # type: ignore[no-untyped-def]
    for i in range(len(f)):
        size = f[i]
        p = size / people[i]
        if p >= 1.0:
            out[i] = 1.0 / size
        elif p < 0.5 and size < MANY:
            q = 1.0 - p
            integral = -math.log(p) / q
            for k in range(1, int(size)):
                integral = (1.0 / k - p * integral) / q
            out[i] = p * integral
        else:
            q = 1.0 - p
            term, total, j = 1.0, 1.0, 0.0
            while term > 1e-17 * total:
                term *= q * (j + 1.0) / (size + 1.0 + j)
                total += term
                j += 1.0
            out[i] = p / size * total
