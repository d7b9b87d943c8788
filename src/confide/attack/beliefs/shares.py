"""Compiled loops: shares of bins that are products of what belongs to a cell and what belongs to a class.

Pr(b given c, k) is `of_cells[b, c]` times `of_classes[k, b]`, over the sum of these products; the middle of bin b is
the share of all bins before it and half of its own.
"""

from __future__ import annotations

from confide.core.run.compile import compiled


@compiled
def aligned(of_cells, of_classes, cell, k, bins, p, middle):  # type: ignore[no-untyped-def]
    """Shares and middles of bins, one for each cell and class given."""
    for i in range(len(cell)):
        below = total = 0.0
        c, own = cell[i], of_classes[k[i]]
        for b in range(len(own)):
            if b == bins[i]:
                below = total
            total += of_cells[b, c] * own[b]
        mine = of_cells[bins[i], c] * own[bins[i]]
        p[i], middle[i] = mine / total, (below + 0.5 * mine) / total


@compiled
def of_blocks(of_cells, of_classes, lo, hi, k, bins, place, total, p, middle):  # type: ignore[no-untyped-def]
    """Shares and middles of bins i in class k[i] for columns lo[i]..hi[i]-1 of `of_cells`, from place[i] on in `p` and
    `middle`. Bins of one range and class lie together, rising. `total`: room for as many numbers as columns."""
    first = 0
    while first < len(bins):
        last = first + 1
        while last < len(bins) and lo[last] == lo[first] and k[last] == k[first]:
            last += 1
        own, n, at = of_classes[k[first]], hi[first] - lo[first], first
        for j in range(n):
            total[j] = 0.0
        for b in range(len(own)):
            of, weight = of_cells[b, lo[first] : hi[first]], own[b]
            if at < last and bins[at] == b:
                mine, half = p[place[at] : place[at] + n], middle[place[at] : place[at] + n]
                for j in range(n):
                    mine[j] = of[j] * weight
                    half[j] = total[j] + 0.5 * mine[j]
                    total[j] += mine[j]
                at += 1
            else:
                for j in range(n):
                    total[j] += of[j] * weight
        for j in range(n):
            total[j] = 1.0 / total[j]
        for i in range(first, last):
            mine, half = p[place[i] : place[i] + n], middle[place[i] : place[i] + n]
            for j in range(n):
                mine[j] *= total[j]
                half[j] *= total[j]
        first = last
