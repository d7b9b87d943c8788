"""The compiled loop of linkability: rows that are near a target by both of its parts."""

from __future__ import annotations

from confide.attack.learning.adopted.search import apart
from confide.core.run.compile import unfused


@unfused
def common_rows(ptr, begins, ends, a, left, inner, of, right, inner_2, limits_2, out):  # type: ignore[no-untyped-def]
    """out[t]: rows near by both parts, by whether they are strictly nearer than the k-th: both, left, right, neither.

    Stretches are of the left tree; `of`: the point in the right tree of each position in the left; `left`, `right`:
    points, targets and how distances are measured; `left` begins with where the rows of each point begin.
    """
    first, points, targets, categories, unit, power = left
    points_2, targets_2, categories_2, unit_2, power_2 = right
    for s in range(len(ptr) - 1):
        t = a + s
        for i in range(ptr[s], ptr[s + 1]):
            point = _place(first, begins[i])
            for position in range(begins[i], ends[i]):
                while first[point + 1] <= position:
                    point += 1
                far = apart(points_2, of[position], targets_2[t], categories_2, unit_2, power_2)
                if far > limits_2[t]:
                    continue
                sure = apart(points, point, targets[t], categories, unit, power) <= inner[t]
                kind = (0 if sure else 2) if far <= inner_2[t] else (1 if sure else 3)
                out[t, kind] += 1


@unfused(inner=True)
def _place(first, position):  # type: ignore[no-untyped-def]
    """The point that holds a position."""
    low, high = 0, len(first) - 1
    while high - low > 1:
        half = (low + high) // 2
        if first[half] <= position:
            low = half
        else:
            high = half
    return low
