"""MDAV straight from the definition: every distance, every time."""

import numpy as np


def plain_mdav(x, k):
    """Each record's group. Sums are kept up record by record and distances added up variable by variable, as the fast
    one does, so that rounding is the same."""
    n, p = x.shape
    left, group, total, made = np.arange(n), np.full(n, -1), np.zeros(p), 0
    for row in x:
        total = total + row

    def square(c):
        out = np.zeros(len(left))
        for v in range(p):
            out += (x[left, v] - c[v]) ** 2
        return out

    while len(left) >= 2 * k:
        c = total / len(left)
        for _ in range(2 if len(left) >= 3 * k else 1):
            c = x[left[np.argmax(square(c))]]  # the first of equals is the lowest row
            near = left[np.argsort(square(c), kind="stable")[:k]]
            group[near] = made
            made += 1
            for i in near:
                total = total - x[i]
            left = np.setdiff1d(left, near)
    group[left] = made
    return group
