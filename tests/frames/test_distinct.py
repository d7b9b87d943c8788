"""Codes and distinct rows are those of `np.unique`, whatever the size of numbers and codes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.frames.distinct import Distinct, by_code, dense

SPANS = st.sampled_from([1, 3, 300, 70_000, 2**20, 2**33, 2**47, 2**50, 2**61])


@st.composite
def whole(draw: st.DrawFn) -> np.ndarray:
    span, low = draw(SPANS), draw(st.sampled_from([0, -5, -(2**40)]))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    few = rng.integers(0, span, draw(st.integers(1, 40)))
    return np.asarray(rng.choice(few, draw(st.integers(1, 60))) + low)


@settings(deadline=None, max_examples=150)
@given(whole())
def test_codes_of_whole_numbers_keep_their_order(x: np.ndarray) -> None:
    for values in (x, np.where(np.arange(len(x)) % 7 == 3, np.nan, x.astype(float))):
        code, size = dense(values)
        assert (np.unique(code, return_inverse=True)[1] == np.unique(values, return_inverse=True)[1]).all()
        assert 0 <= code.min() <= code.max() < size


@settings(deadline=None, max_examples=150)
@given(whole())
def test_first_rows_and_places(x: np.ndarray) -> None:
    first, of = by_code(x)
    _, wanted, places = np.unique(x, return_index=True, return_inverse=True)
    assert (first == wanted).all()
    assert (of == places).all()
    both = Distinct.rows([x % 3, x], len(x))
    assert (x[both.first][both.of] == x).all()
    assert both.count.sum() == len(x)
