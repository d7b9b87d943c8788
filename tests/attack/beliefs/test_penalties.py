"""The amount of smoothing of large fits is sought from the middle on; trying all of them must not do better."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from confide.attack.beliefs import multinomial
from confide.attack.beliefs.class_factors import indicators

PATTERNS = 6_000


def tried(columns: int, strength: float, seed: int) -> tuple[list[sp.csr_matrix], np.ndarray, np.ndarray]:
    """Patterns of two predictors, one record each of two categories, of which every fifth is held out."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, columns, (2, PATTERNS))
    effect = strength * rng.normal(size=(2, columns))
    p = 1 / (1 + np.exp(-effect[0][codes[0]] - effect[1][codes[1]]))
    counts = np.eye(2)[(rng.random(PATTERNS) < p).astype(int)]
    designs = [
        sp.csr_matrix((PATTERNS, 0)),
        *(sp.hstack([indicators(c, columns) for c in codes[:m]]).tocsr() for m in (1, 2)),
    ]
    return designs, counts, counts * (np.arange(PATTERNS) % 5 == 0)[:, None]


@pytest.mark.parametrize(
    ("columns", "strength", "least", "most"), [(400, 0.05, 100, 300), (200, 0.6, 3, 30), (40, 3.0, 1, 1)]
)
def test_no_other_penalty_or_design_is_better(columns: int, strength: float, least: float, most: float) -> None:
    designs, counts, held = tried(columns, strength, 3)
    design, penalty, b = multinomial._chosen(designs, counts, held, 1.0)
    every = {
        (d.shape[1], p): float((held * multinomial.log_probabilities(d, fit)).sum())
        for d in designs
        for p in multinomial.PENALTIES
        for fit in [multinomial.fit_coefficients(d, counts - held, p)]
    }
    assert b is not None
    assert every[design.shape[1], penalty] > max(every.values()) - 0.1
    if design.shape[1]:
        assert least <= penalty <= most


def test_a_constant_comes_first_and_columns_rise() -> None:
    rng = np.random.default_rng(4)
    design = sp.random(40, 11, density=0.4, random_state=1).tocsr()[:, rng.permutation(11)]
    assert not design.has_sorted_indices
    found = multinomial.with_constant(design)
    np.testing.assert_array_equal(found.toarray(), np.hstack([np.ones((40, 1)), design.toarray()]))
    twin = sp.hstack([np.ones((40, 1)), design]).tocsr()  # the order of additions is that of SciPy's own
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(twin, name))
