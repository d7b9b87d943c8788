r"""From a polynomial in y to a probability: y^t becomes phi_n(t), the chance that t named people are all known.

Coefficients are whole numbers of either sign that nearly cancel, so they are never added up in floating point: exactly
as fractions, or in whole numbers of so many bits that every result a float can hold is right to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from confide.tables.schemes.scheme import Floats

TINY = 5e-324
"""The smallest positive float: stands for a probability that is smaller, but not 0."""
BELOW_ONE = 1 - 2.0**-53
BITS = 1_200
"""Beyond the smallest float, 2^-1074, by a wide margin."""


def expectation(poly: Sequence[Any], people: int, most: int) -> list[Fraction]:
    """The polynomial with y^t replaced by phi_n(t), for n = 0..most, as exact fractions."""
    return [expectation_at(poly, people, n) for n in range(most + 1)]


def expectation_at(poly: Sequence[Any], people: int, n: int) -> Fraction:
    """The same for one n: n (n-1) ... / N (N-1) ... over one denominator."""
    last = max((t for t in range(n + 1) if poly[t]), default=0)
    scale = 1
    for t in range(last):
        scale *= people - t
    below, above, total = scale, 1, 0
    for t in range(last + 1):
        if poly[t]:
            total += poly[t] * above * scale
        if t < last:
            above *= n - t
            scale //= people - t
    return Fraction(total) / below


def expectation_floats(poly: Sequence[int], people: int, most: int) -> Floats:
    """The same in floats, for probabilities that never fall with n; 0 and 1 only where they are exactly that."""
    terms = [(t, e) for t, e in enumerate(poly[: most + 1]) if e]
    out = np.zeros(most + 1)
    if not terms:
        return out
    size = sum(abs(e) for _, e in terms)
    bits = BITS + size.bit_length()
    one, error = 1 << bits, size * (most + 2)  # each step of phi loses less than one unit
    unsure = []
    for n in range(terms[0][0], most + 1):
        total = _fixed(terms, people, n, one)
        if total >= one - error:
            unsure.append(n)
        out[n] = max(total / one, TINY) if total > error else TINY
    out = np.minimum(out, BELOW_ONE)
    if unsure:
        out[_first_certain(poly, people, unsure[0], most) :] = 1.0
    return out


def _fixed(terms: Sequence[tuple[int, int]], people: int, n: int, one: int) -> int:
    phi, at, total = one, 0, 0
    for t, e in terms:
        if t > n:
            break
        while at < t and phi:
            phi = phi * (n - at) // (people - at)
            at += 1
        if not phi:
            break
        total += e * phi
    return total


def _first_certain(poly: Sequence[int], people: int, low: int, most: int) -> int:
    """The first n from `low` on with probability exactly 1, by halving; most + 1 where there is none."""
    high = most + 1
    while low < high:
        middle = (low + high) // 2
        if expectation_at(poly, people, middle) == 1:
            high = middle
        else:
            low = middle + 1
    return low


def as_float(value: Fraction) -> float:
    """A probability as a float that is 0 or 1 only if it is exactly that."""
    if 0 < value < 1:
        return min(max(float(value), TINY), BELOW_ONE)
    return float(value)
