"""The loops of a digest, for files of many rows; `digest.py` has the same in NumPy, for few.

Notation
--------
x : 64 bits that stand for a value; total : sums over columns of mixed bits, one row per lane, shape (2, n)
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled


@compiled(inner=True)
def _mix(x):  # type: ignore[no-untyped-def]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def add_whole(x, total, first, second):  # type: ignore[no-untyped-def]
    """Add a column of whole numbers, none missing, in the form of 64 bits."""
    for i in range(len(x)):
        bits = _mix(x[i])
        total[0, i] += _mix(bits + first)
        total[1, i] += _mix(bits + second)


@compiled
def add_real(x, total, first, second, missing):  # type: ignore[no-untyped-def]
    """Add a column of real numbers; `missing`: what stands for NaN. Whole ones count as whole numbers."""
    bits = x.view(np.uint64)
    for i in range(len(x)):
        y = x[i]
        if y != y:
            stands = missing
        elif abs(y) < 2.0**63 and y == np.floor(y):
            stands = _mix(np.uint64(np.int64(y)))
        else:
            stands = _mix(bits[i] ^ np.uint64(0xF10A7))
        total[0, i] += _mix(stands + first)
        total[1, i] += _mix(stands + second)


@compiled
def add_bits(x, y, total, first, second):  # type: ignore[no-untyped-def]
    """Add a column by what stands for its values in either lane."""
    for i in range(len(x)):
        total[0, i] += _mix(x[i] + first)
        total[1, i] += _mix(y[i] + second)


@compiled
def add_codes(codes, table, total):  # type: ignore[no-untyped-def]
    """Add a column of categories; `table`: what is added for each, shape (categories, 2)."""
    for i in range(len(codes)):
        total[0, i] += table[codes[i], 0]
        total[1, i] += table[codes[i], 1]


@compiled
def summed(total, row, first):  # type: ignore[no-untyped-def]
    """The hash of each row with its number, added up; `row`: the number of the first, mixed with a constant."""
    s = np.uint64(0)
    for i in range(len(total)):
        s += _mix(total[i] + _mix(first + np.uint64(row + i)))
    return s
