"""Compiled arithmetic: a fast exp, normal areas, sums and counts that use the whole width of the processor."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from confide.attack.engine.kernels.tails import erfc
from confide.core.run.compile import compiled, summing

TOLERANCE = 1e-9
"""Relative difference below which two probabilities count as equal."""


@intrinsic
def _as_float(typingctx: Any, bits: Any) -> Any:  # noqa: ARG001
    """Read 64 bits as a double."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def _as_bits(typingctx: Any, number: Any) -> Any:  # noqa: ARG001
    """Read a double as 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@numba.njit(nogil=True, inline="always")
def fast_exp(x: float) -> float:
    """exp(x) for x <= 700 by range reduction and a polynomial, in a form the compiler can vectorise.

    Relative error below 1e-15 (tested); arguments below -700 give a number below 1e-303 instead of 0.
    """
    x = x if x > -700.0 else -700.0
    # Adding 1.5 * 2^52 rounds to a whole number, whose bits then stand in the mantissa.
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = (_as_bits(shifted) + np.int64(1023)) << np.int64(52)  # type: ignore[call-arg]
    return p * _as_float(bits)


@compiled(inner=True)
def scaled_exp(values, counts, top, out):  # type: ignore[no-untyped-def]
    """out = counts * exp(values - top)."""
    for j in range(len(values)):
        out[j] = counts[j] * fast_exp(values[j] - top)


@summing
def total_of(values):  # type: ignore[no-untyped-def]
    """The sum."""
    total = 0.0
    for j in range(len(values)):
        total += values[j]
    return total


@summing
def count_from(values, counts, limit):  # type: ignore[no-untyped-def]
    """How many lie at or above a limit."""
    total = 0.0
    for j in range(len(values)):
        total += counts[j] if values[j] >= limit else 0.0
    return total


@summing
def count_around(values, counts, limit):  # type: ignore[no-untyped-def]
    """How many lie above a value and how many at or above it, within the tolerance for ties."""
    above = 0.0
    level = 0.0
    up = limit + TOLERANCE
    down = limit - TOLERANCE
    for j in range(len(values)):
        above += counts[j] if values[j] > up else 0.0
        level += counts[j] if values[j] >= down else 0.0
    return above, level


@compiled(inner=True)
def largest(values):  # type: ignore[no-untyped-def]
    """The largest value, -inf for none; four at a time."""
    n = len(values)
    even = n - (n & 3)
    a = b = c = d = -np.inf
    for j in range(0, even, 4):
        a = values[j] if values[j] > a else a
        b = values[j + 1] if values[j + 1] > b else b
        c = values[j + 2] if values[j + 2] > c else c
        d = values[j + 3] if values[j + 3] > d else d
    a = b if b > a else a
    c = d if d > c else c
    a = c if c > a else a
    for j in range(even, n):
        a = values[j] if values[j] > a else a
    return a


@compiled(inner=True)
def log_ndtr(x):  # type: ignore[no-untyped-def]
    """log of the normal distribution function, accurate in the lower tail."""
    if x > -10.0:
        return math.log(0.5 * erfc(-x * 0.7071067811865476))
    # Continued fraction of the Mills ratio, bottom up.
    f = 0.0
    for k in range(40, 0, -1):
        f = k / (-x + f)
    return -0.5 * x * x - 0.9189385332046727 - math.log(-x + f)


@compiled(inner=True)
def log_cell(low, high, mean, sd):  # type: ignore[no-untyped-def]
    """log of the normal area between low and high, log density where they coincide; as `protect.evidence.log_cell`.

    A narrow cell is density times width times sinh(u)/u with u = x h / 2, corrected for its curvature: right for any x.
    """
    h = (high - low) / sd
    if h == 0.0:
        x = (low - mean) / sd
        return -0.5 * x * x - 0.9189385332046727 - math.log(sd)
    if h < 0.02:
        x = (0.5 * (low + high) - mean) / sd
        u = abs(0.5 * x * h)
        if u < 1e-2:
            bend = u * u / 6.0 - u * u * u * u / 180.0
            spread = h * h / 12.0 + h * h * u * u / 90.0
        else:
            tail = math.exp(-2.0 * u)
            bend = u + math.log1p(-tail) - math.log(2.0 * u)
            spread = 0.25 * h * h * (1.0 - 2.0 / u * ((1.0 + tail) / (1.0 - tail) - 1.0 / u))
        return -0.5 * x * x - 0.9189385332046727 + math.log(h) + bend - 0.5 * spread
    a, b = (low - mean) / sd, (high - mean) / sd
    if a + b > 0:
        a, b = -b, -a
    if b > -8.0:
        return math.log(0.5 * (erfc(-b * 0.7071067811865476) - erfc(-a * 0.7071067811865476)))
    lower, upper = log_ndtr(a), log_ndtr(b)
    return upper + math.log1p(-math.exp(lower - upper))


@compiled(inner=True)
def window(z, lo, hi, t, radius):  # type: ignore[no-untyped-def]
    """Positions in the sorted z[lo:hi] within radius of t."""
    a, b = lo, hi
    while a < b:
        m = (a + b) >> 1
        if z[m] < t - radius:
            a = m + 1
        else:
            b = m
    first = a
    b = hi
    while a < b:
        m = (a + b) >> 1
        if z[m] <= t + radius:
            a = m + 1
        else:
            b = m
    return first, a
