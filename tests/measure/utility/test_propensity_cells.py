"""Propensity scores by cell of categories are those of all rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from confide.measure.utility.pair import Pair
from confide.measure.utility.propensity_cart import mse
from confide.measure.utility.propensity_cells import CellTerms, by_cell
from confide.measure.utility.propensity_logistic import Terms, logistic_scores, terms
from confide.measure.utility.stacked import Stacked


def stacked(variables: list[str], rows: int = 900, gaps: bool = False) -> Stacked:
    """Two files that differ."""
    frames = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        g = rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
        x = rng.normal(seed * 0.3, 1, rows)
        frame = pl.DataFrame({"g": g, "h": rng.choice(["u", "v"], rows), "x": x, "y": x + rng.normal(0, 1, rows),
                              "one": np.ones(rows), "w": rng.uniform(0.5, 2, rows)})  # fmt: skip
        if gaps:
            lost = pl.int_range(rows) % 7 == seed
            frame = frame.with_columns(pl.when(lost).then(None).otherwise(pl.col(v)).alias(v) for v in ("g", "x"))
        frames.append(frame)
    return Stacked.of(Pair.of_frames(*frames, weight="w"), variables, "test")


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("interactions", [True, False])
@pytest.mark.parametrize("variables", [["g"], ["x"], ["g", "h"], ["x", "y"], ["g", "x"], ["g", "h", "x", "y", "one"]])
def test_scores_by_cell_are_those_of_all_rows(variables, interactions, gaps):
    rows = stacked(variables, gaps=gaps)
    t, ordered = by_cell(rows, interactions)
    assert isinstance(t, CellTerms)
    slow = terms(rows, interactions)
    assert (t.width, t.without) == (slow.width, slow.without)
    found, wanted = logistic_scores(t, ordered.y, ordered.w), logistic_scores(slow, rows.y, rows.w)
    assert found.columns == wanted.columns
    assert found.expected == pytest.approx(wanted.expected, rel=1e-11)
    assert mse(found.p, ordered.y, ordered.w) == pytest.approx(mse(wanted.p, rows.y, rows.w), rel=1e-10)


def test_products_of_a_matrix_by_cell_are_those_by_hand():
    rows = stacked(["g", "h", "x", "y"], gaps=True)
    t, ordered = by_cell(rows, True)
    assert isinstance(t, CellTerms)
    x = np.concatenate([block for _, block in terms(ordered, True).blocks()], axis=1)
    assert np.allclose(t.gram(ordered.w), (x * ordered.w) @ x.T, rtol=1e-11)
    b, r = np.linspace(-1, 1, t.width), np.sin(np.arange(len(ordered.y)))
    eta, gradient = t.scored(b, lambda part, _: r[part])
    assert np.allclose(eta, b @ x, rtol=1e-11)
    assert np.allclose(gradient, x @ r, rtol=1e-10)


def test_many_cells_or_numbers_go_row_by_row():
    assert isinstance(by_cell(stacked(["g", "h", "x"], rows=8), True)[0], Terms)
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"x{i}": rng.normal(size=50) for i in range(5)})
    assert isinstance(by_cell(Stacked.of(Pair.of_frames(frame, frame), frame.columns, "test"), True)[0], Terms)
