"""Pr(joint category given cell): what it must satisfy, and the numbers it gives, by other means."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from confide.attack.beliefs import multinomial, own_records
from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.class_factors import indicators
from confide.attack.beliefs.class_model import log_class_probabilities, log_joint_probabilities
from confide.attack.beliefs.classes import MOST, _joint
from tests.helpers.held_out import held


def file(n=600, sizes=(2, 3, 4), seed=0):
    """Two predictors, and variables that depend on them and on each other."""
    rng = np.random.default_rng(seed)
    x = [rng.integers(0, 2, n), rng.integers(0, 5, n)]
    parts = []
    for size in sizes:
        eta = rng.normal(size=(2, size))[x[0]] + rng.normal(size=(5, size))[x[1]]
        for before in parts:
            eta = eta + rng.normal(size=(before.max() + 1, size))[before]
        parts.append(np.argmax(eta + rng.gumbel(size=eta.shape), axis=1))
    cells, (cell,) = Cells.fit([x], [2, 5], [n])
    digits, of = _joint(parts, sizes)
    return cells, cell, digits, of, sizes


def joint(cells, cell, digits, of, sizes, weight=None):
    kept = held(cell, of, weight=weight)
    return log_joint_probabilities(cells.design, cells.patterns, cell, of, digits, sizes, kept, weight)


def test_probabilities_of_all_joint_categories_sum_to_one_in_every_cell():
    log_p = joint(*file())
    assert np.allclose(np.exp(log_p).sum(axis=1), 1, atol=1e-12)
    assert np.isfinite(log_p).all()


def test_a_fit_is_where_the_loss_is_least():
    cells, cell, _, of, _ = file(200, (3,))
    counts = np.zeros((len(cells), 3))
    np.add.at(counts, (cell, of), 1)
    x = np.hstack([np.ones((len(cells), 1)), cells.design.toarray()])

    def loss(flat):
        b = flat.reshape(x.shape[1], 3)
        eta = x @ b
        return -(counts * (eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))).sum() + (b[1:] ** 2).sum() * 2.0 / 2

    slow = minimize(loss, np.zeros(x.shape[1] * 3), method="BFGS", options={"gtol": 1e-7})
    b = multinomial.fit_coefficients(cells.design, counts, 2.0)
    assert loss(b.ravel()) == pytest.approx(slow.fun, rel=1e-7)
    eta = x @ slow.x.reshape(x.shape[1], 3)
    by_hand = eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))
    assert np.allclose(multinomial.log_probabilities(cells.design, b), by_hand, atol=1e-4)


def test_the_joint_probability_is_a_product_of_one_regression_per_variable():
    cells, cell, digits, of, sizes = file()
    log_p = joint(cells, cell, digits, of, sizes)
    first = np.zeros((len(cells), 2))
    np.add.at(first, (np.arange(len(cells))[:, None], digits[0][None, :]), np.exp(log_p))
    counts = np.zeros((len(cells), 2))
    np.add.at(counts, (cell, digits[0][of]), 1)
    out = np.zeros((len(cells), 2))
    np.add.at(out, (cell, digits[0][of]), held(cell, of).rows)
    designs = [sp.csr_matrix((len(cells), 0)), cells.design, _paired(cells)]
    found = multinomial.coefficients(designs, counts, np.rint(out))
    b, penalty = found[:-1], float(found[-1, 0])
    design = next(d for d in designs if d.shape[1] + 1 == len(b))
    eta = b[0] + design @ b[1:] - own_records.own_weight(design, counts, b, penalty).toarray()
    assert np.allclose(first, np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True), atol=1e-9)


def test_what_a_record_adds_to_its_own_category_is_about_what_leaving_it_out_takes_away():
    """One record less, by a fit without it: the linear predictor of its own category falls by the stated weight."""
    cells, cell, _, of, _ = file(500, (4,))
    counts = np.zeros((len(cells), 4))
    np.add.at(counts, (cell, of), 1)
    b = multinomial.fit_coefficients(cells.design, counts, 3.0)
    own = own_records.own_weight(cells.design, counts, b, 3.0).toarray()
    for c, k in ((0, 0), (3, 1), (7, 2)):
        less = counts.copy()
        less[c, k] -= 1
        without = multinomial.fit_coefficients(cells.design, less, 3.0)
        fell = (cells.design[[c]] @ (b[1:] - without[1:]))[0]
        assert own[c, k] == pytest.approx(fell[k] - fell.mean(), rel=0.6)
        assert own[c, k] > 0


def _paired(cells):
    both, of = np.unique(cells.patterns, axis=1, return_inverse=True)
    return sp.hstack([cells.design, indicators(of.reshape(-1), both.shape[1])]).tocsr()


def test_neither_the_order_of_rows_nor_their_merging_matters():
    cells, cell, digits, of, sizes = file()
    whole = joint(cells, cell, digits, of, sizes)
    order = np.random.default_rng(1).permutation(len(cell))
    assert np.array_equal(whole, joint(cells, cell[order], digits, of[order], sizes))
    pair, count = np.unique(cell * digits.shape[1] + of, return_counts=True)
    c, k = np.divmod(pair, digits.shape[1])
    assert np.array_equal(whole, joint(cells, c, digits, k, sizes, count.astype(float)))


def test_how_codes_are_numbered_does_not_matter():
    """Categories, cells and columns numbered otherwise: the same probabilities."""
    rng = np.random.default_rng(3)
    n, y, x = 900, rng.integers(0, 5, 900), [rng.integers(0, 3, 900), rng.integers(0, 4, 900)]
    kept = held(x[0] * 4 + x[1], y)
    found = []
    for to_x, to_y in ((np.arange(4), np.arange(5)), (np.array([2, 0, 1, 3]), np.array([3, 1, 4, 0, 2]))):
        codes = [to_x[x[0]], to_x[x[1]]]
        cells, (cell,) = Cells.fit([codes], [4, 4], [n])
        log_p = log_joint_probabilities(cells.design, cells.patterns, cell, to_y[y], np.arange(5)[None], (5,), kept)
        found.append(log_p[cell][:, to_y])
    assert np.allclose(*found, rtol=0, atol=1e-13)


def test_a_record_hardly_raises_the_probability_of_its_own_category():
    """With one record more of a joint category that nobody has, that category stays rare in its cell."""
    cells, cell, digits, of, sizes = file(2000, (4, 6, 15))
    rare = int(np.argmin(np.bincount(of, minlength=digits.shape[1])))
    before = np.exp(joint(cells, cell, digits, of, sizes))[0, rare]
    after = np.exp(joint(cells, np.append(cell, 0), digits, np.append(of, rare), sizes))[0, rare]
    own = 1 / (np.sum(cell == 0) + 1)
    assert after - before < 0.2 * own


def test_with_nothing_to_go_by_one_variable_has_the_shares_of_the_file():
    classes = np.repeat([0, 1, 2], [70, 29, 1])
    nowhere = np.zeros(100, dtype=np.int64)
    log_p = log_class_probabilities(sp.csr_matrix(np.ones((1, 1))), nowhere, classes, 3, held(nowhere, classes))
    assert np.allclose(np.exp(log_p), [[0.7, 0.29, 0.01]], atol=1e-12)


def test_joint_categories_are_all_that_could_be_or_those_that_occur():
    digits, of = _joint([np.array([0, 1, 1]), np.array([2, 0, 1])], [2, 3])
    assert digits.shape == (2, 6)
    assert digits[:, of].tolist() == [[0, 1, 1], [2, 0, 1]]
    many = [np.arange(100) % 90, np.arange(100) % 80]
    digits, of = _joint(many, [90, 80])
    assert digits.shape[1] == 100 < MOST < 90 * 80
    assert np.array_equal(digits[:, of], many)


def test_where_there_are_very_many_patterns_a_part_is_fitted_and_shares_are_kept(monkeypatch):
    cells, cell, _, of, _ = file(4000, (6,))
    counts = np.zeros((len(cells), 6))
    np.add.at(counts, (cell, of), 1)
    out = np.random.default_rng(0).binomial(counts.astype(int), 1 / 3).astype(float)
    whole = multinomial.log_probabilities(cells.design, multinomial.coefficients([cells.design], counts, out)[:-1])
    monkeypatch.setattr(multinomial, "FITTED", 6 * 8)
    part = multinomial.log_probabilities(cells.design, multinomial.coefficients([cells.design], counts, out)[:-1])
    expected = counts.sum(axis=1) @ np.exp(part)
    assert np.allclose(expected, counts.sum(axis=0), rtol=0.01)
    assert not np.array_equal(part, whole)


def test_the_records_that_are_judged_first_have_their_share_of_those_held_out(monkeypatch):
    """Each record a pattern of its own: penalties are judged on the first patterns, which the order must not favour."""
    n = 9000
    rng = np.random.default_rng(5)
    x = [rng.integers(0, 40, n), rng.integers(0, 40, n), np.arange(n) % 90]
    y = (rng.random(n) < np.where(x[0] < 20, 0.9, 0.1)).astype(np.int64)
    seen = []
    chosen = multinomial._chosen

    def watched(designs, counts, held, copies):
        many = multinomial.judged(counts.shape[1])
        seen.append((held[:many].sum() / counts[:many].sum(), len(counts) > many))
        return chosen(designs, counts, held, copies)

    monkeypatch.setattr(multinomial, "_chosen", watched)
    monkeypatch.setattr(multinomial, "TRIED", 6000)
    cells, (cell,) = Cells.fit([x], [40, 40, 90], [n])
    log_p = log_class_probabilities(cells.design, cell, y, 2, held(cell, y))
    assert [part for _, part in seen] == [True]
    assert seen[0][0] == pytest.approx(1 / 3, abs=0.03)
    assert np.exp(log_p[cell, 1])[x[0] < 20].mean() > 0.85
