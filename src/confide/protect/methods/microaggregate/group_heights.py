"""Compiled loops of the model of groups: its heights for pairs of a person's values and a released mean."""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled
from confide.protect.methods.microaggregate.group_means import SAME

STEPS = 4
"""Entries of a table of heights for each unit of the logarithm: all knots are among them."""


@compiled(inner=True)
def _height(table, lowest, a):  # type: ignore[no-untyped-def]
    """A table's value at a, linear between entries and constant beyond the ends."""
    place, end = (a - lowest) * STEPS, len(table) - 1
    if not place > 0:
        return table[0]
    if place >= end:
        return table[end]
    at = np.uint64(place)  # never counts from the end
    return table[at] + (place - at) * (table[at + 1] - table[at])


@compiled(inner=True)
def _log_height(y, z, near, around, spacing, whole, many, h_near, h_here, h_there, flags):  # type: ignore[no-untyped-def]
    """The model's h for one pair; distances relative to others are given as logarithms (base 2)."""
    q = len(y)
    square, total = 0.0, 0.0
    for v in range(q):
        gap = abs(y[v] - z[v])
        square += gap * gap
        if (whole >> v) & 1:
            total += flags[3 + v] if gap <= SAME else flags[3 + q + v]
    if square > SAME * SAME:
        d = 0.5 * np.log2(square)
        total += h_near[-1] if near == -np.inf else _height(h_near, 0.0, d - near)
        total += _height(h_here, -8.0, d - around) + _height(h_there, -8.0, d - spacing)
        total += flags[2] * many
    else:
        total += flags[0] + flags[1] * many
    return total


@compiled
def log_heights(y, z, near, around, spacing, whole, many, h_near, h_here, h_there, flags, out):  # type: ignore[no-untyped-def]
    """The model's h for aligned pairs."""
    for i in range(len(out)):
        out[i] = _log_height(
            y[i], z[i], near[i], around[i], spacing[i], whole[i], many[i], h_near, h_here, h_there, flags
        )


@compiled(inner=True)
def _gap(y, z, i, j, whole, flags):  # type: ignore[no-untyped-def]
    """The squared distance of a pair, and what whole numbers say of it."""
    q = y.shape[1]
    square, total = 0.0, 0.0
    for v in range(q):
        gap = abs(y[i, v] - z[j, v])
        square += gap * gap
        if (whole >> v) & 1:
            total += flags[3 + v] if gap <= SAME else flags[3 + q + v]
    return square, total


@compiled
def distances(y, z, out):  # type: ignore[no-untyped-def]
    """Of every pair of numbers; 0 for those that are the same."""
    for i in range(len(y)):
        row = out[i]
        for j in range(len(z)):
            gap = abs(y[i] - z[j])
            row[j] = gap if gap > SAME else 0.0


@compiled
def heights_of_rows(near, around, absent, spacing, flat, alike, h_near, h_here, h_there, out):  # type: ignore[no-untyped-def]
    """The model's h of every pair, from logarithms of distances, which are written over; `flat`, `alike`: what each
    record adds, and all that it says of a person who has its value."""
    end = (len(h_near) - 1) / STEPS
    for i in range(len(out)):
        row, mine, here = out[i], near[i], around[i]
        for j in range(len(row)):
            d = row[j]
            if d == -np.inf:
                row[j] = alike[j] - absent[i]
                continue
            beside = h_near[len(h_near) - 1] if not d - mine < end else _height(h_near, 0.0, d - mine)
            found = beside + _height(h_here, -8.0, d - here) + _height(h_there, -8.0, d - spacing[j])
            row[j] = found + flat[j] - absent[i]


@compiled
def log_heights_of_every(  # type: ignore[no-untyped-def]
    y, z, near, around, spacing, whole, many, h_near, h_here, h_there, flags, out
):
    """The same for every pair. Beyond the last knots of all three tables no logarithm is asked for."""
    ends, same = (h_near[len(h_near) - 1], h_here[len(h_here) - 1] + h_there[len(h_there) - 1]), SAME * SAME
    last = (len(h_near) - 1) / STEPS, (len(h_here) - 1) / STEPS - 8.0, (len(h_there) - 1) / STEPS - 8.0
    far = np.empty(len(z))
    for j in range(len(z)):
        far[j] = np.exp2(2.0 * (spacing[j] + last[2]))
    for i in range(len(y)):
        beyond = np.exp2(2.0 * (max(near[i] + last[0], around[i] + last[1])))
        for j in range(len(z)):
            square, total = _gap(y, z, i, j, whole[j], flags)
            if square > beyond and square > far[j] and square > same:
                out[i, j] = total + ends[0] + ends[1] + flags[2] * many[j]
            elif square > same:
                d = 0.5 * np.log2(square)
                total += ends[0] if near[i] == -np.inf else _height(h_near, 0.0, d - near[i])
                total += _height(h_here, -8.0, d - around[i]) + _height(h_there, -8.0, d - spacing[j])
                out[i, j] = total + flags[2] * many[j]
            else:
                out[i, j] = total + flags[0] + flags[1] * many[j]
