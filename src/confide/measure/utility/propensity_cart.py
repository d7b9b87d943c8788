"""The propensity score by a classification tree, and what it gives where there is no difference."""

from __future__ import annotations

import numpy as np

from confide.core.random.seeds import stream
from confide.frames.columns import F64, I64
from confide.measure.utility.stacked import Stacked


def sorted_rows(stacked: Stacked) -> Stacked:
    """Rows in an order that depends on their content only, so that permutations do not depend on the file's order."""
    keys = [stacked.y, stacked.w, *(c for c, _ in stacked.codes.values()), *stacked.numbers.values()]
    return stacked.taken(np.lexsort(keys))


def cart_scores(stacked: Stacked, y: F64, leaf: float) -> F64:
    """The share of released weight in each row's leaf, shape (N,).

    Categories enter as their rank by the share of released rows, which finds the best split of two classes without
    trying all subsets (Breiman and others 1984, theorem 4.5), here ranked once, in the whole file.
    """
    from sklearn.tree import DecisionTreeClassifier

    columns = [np.where(np.isnan(x), _below(x), x) for x in stacked.numbers.values()]
    columns += [_ranked(codes, size, y, stacked.w) for codes, size in stacked.codes.values()]
    c = float(np.average(y, weights=stacked.w))
    if not columns:
        return np.full(len(y), c)
    x = np.stack(columns, axis=1)
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=leaf, random_state=0).fit(x, y, sample_weight=stacked.w)
    if len(tree.classes_) < 2:
        return np.full(len(y), c)
    return np.asarray(tree.predict_proba(x)[:, 1])


def _below(x: F64) -> float:
    """A number below all others, for missing values."""
    return float(np.nanmin(x) - 1 - abs(np.nanmin(x))) if not np.isnan(x).all() else 0.0


def _ranked(codes: I64, size: int, y: F64, w: F64) -> F64:
    total = np.bincount(codes, weights=w, minlength=size)
    share = np.bincount(codes, weights=w * y, minlength=size) / np.where(total > 0, total, 1.0)
    rank = np.empty(size)
    rank[np.lexsort([np.arange(size), np.round(share, 12)])] = np.arange(size)
    return np.asarray(rank[codes])


def permuted_mean(stacked: Stacked, leaf: float, permutations: int, seed: int) -> float:
    """The mean pMSE over random divisions of the rows into files of the same numbers of rows."""
    rng = stream(seed, "Propensity")
    released = np.arange(len(stacked.y)) < int(stacked.y.sum())
    found = []
    for _ in range(permutations):
        y = rng.permutation(released).astype(float)
        found.append(mse(cart_scores(stacked, y, leaf), y, stacked.w))
    return float(np.mean(found))


def mse(p: F64, y: F64, w: F64) -> float:
    """pMSE: the mean squared distance of propensity scores from the share of released weight."""
    c = float(np.average(y, weights=w))
    return float(np.average((p - c) ** 2, weights=w))
