"""Marginals by sums beside all matchings one by one; the worked case of three targets."""

from __future__ import annotations

import numpy as np
import pytest

from confide.attack.learning.one_to_one.assign import assign
from confide.attack.learning.one_to_one.exact import Component, alike, effort, exact, variance
from tests.helpers.matchings import brute, matrix, problem, solved, weighed, weight_of

R = np.array([[6.0, 3, 1], [6, 1, 1], [1, 1, 2]])


def component(R, n=None, m=None, people=None, u=None, price=None) -> Component:
    n = np.ones(len(R), dtype=np.int64) if n is None else n
    m = np.ones(R.shape[1], dtype=np.int64) if m is None else m
    t, r = int(n.sum()), int(m.sum())
    with np.errstate(divide="ignore"):
        log_r = np.log(R)
    u, price = (np.zeros(k) if x is None else x for k, x in ((len(n), u), (len(m), price)))
    return Component(log_r, n, m, (max(t, r) if people is None else people) - t - r, u, price)


def test_three_targets_of_whom_two_want_the_first_record() -> None:
    found = exact(component(R))
    assert np.exp(found.log_total) == pytest.approx(64, abs=1e-12)
    assert 64 * found.p == pytest.approx(np.array([[18, 39, 7], [42, 13, 9], [4, 12, 48]]), abs=1e-10)
    assert found.p.max(axis=1).sum() == pytest.approx(129 / 64, abs=1e-12)
    alone = R / R.sum(axis=1, keepdims=True)
    assert alone.max(axis=1).sum() == pytest.approx(1.85)
    types, graph = problem(R)
    best = assign(types, graph, 1)
    assert sorted(zip(best.graph.row[best.x > 0], best.graph.col[best.x > 0], strict=True)) == [(0, 1), (1, 0), (2, 2)]
    assert weight_of(best, R, None) / 64 == pytest.approx(36 / 64)
    assert best.gap == 0


def test_three_targets_of_ten_people() -> None:
    found = exact(component(R / 2, people=10))
    assert found.p[0] == pytest.approx([0.215, 0.143, 0.045], abs=5e-4)
    assert 1 - found.p[0].sum() == pytest.approx(0.597, abs=5e-4)
    alone = R[0] / 2 / (R[0].sum() / 2 + 7)
    assert alone == pytest.approx([0.25, 0.125, 0.042], abs=5e-4)
    assert 1 - alone.sum() == pytest.approx(0.583, abs=5e-4)


SHAPES = [(1, 1), (1, 5), (5, 1), (3, 3), (4, 6), (6, 4), (6, 6)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["positive", "zeros", "equal rows", "strong"])
@pytest.mark.parametrize("extra", [None, 0, 1, 7])
def test_as_all_matchings_one_by_one(shape: tuple[int, int], kind: str, extra: int | None) -> None:
    if shape == (6, 6) and (extra or kind == "zeros"):
        shape = (5, 5)
    rng = np.random.default_rng([*shape, len(kind)])
    R = rng.gamma(1.0 if kind != "strong" else 0.05, size=shape) + 1e-12
    if kind == "zeros":
        R[rng.random(shape) < 0.3] = 0.0
        R[:, 0] += 0.1
    if kind == "equal rows":
        R[-1] = R[0]
        R[:, -1] = R[:, 0]
    people = None if extra is None else max(shape) + extra
    p, top = brute(R, people)
    duals = {"u": rng.normal(size=shape[0]), "price": rng.normal(size=shape[1])}
    assert exact(component(R, people=people, **duals)).p == pytest.approx(p, abs=1e-12)
    if top == 0 or not (R > 0).any(axis=1).all():
        return
    types, graph = problem(R, people=people)
    best = assign(types, graph, 1)
    assert weight_of(best, R, people) == pytest.approx(top, rel=1e-9)
    found = solved(R, people=people)
    assert matrix(found, shape) == pytest.approx(p, abs=1e-9)
    assert found.absent == pytest.approx(1 - p.sum(axis=1), abs=1e-9)
    assert found.exact.all()


@pytest.mark.parametrize("people", [None, 5, 8])
def test_types_stand_for_people_that_are_alike(people: int | None) -> None:
    rng = np.random.default_rng(3)
    few, n, m = rng.gamma(1.0, size=(2, 3)), np.array([2, 2]), np.array([2, 1, 2])
    p, _ = brute(np.repeat(np.repeat(few, n, axis=0), m, axis=1), people)
    merged = exact(component(few, n, m, people)).p
    assert np.repeat(np.repeat(merged, n, axis=0), m, axis=1) == pytest.approx(p, abs=1e-12)
    assert matrix(solved(few, n, m, people), few.shape) == pytest.approx(merged, abs=1e-12)


def test_all_alike_in_closed_form() -> None:
    for n, m, people in ((3, 3, None), (2, 4, None), (4, 2, None), (3, 3, 9), (4, 2, 4)):
        c = component(np.array([[0.7]]), np.array([n]), np.array([m]), people)
        assert alike(np.log(0.7), n, m, c.base) == pytest.approx(exact(c).p[0, 0], abs=1e-12)
    assert alike(3.0, 5_000, 5_000, -5_000) == pytest.approx(1 / 5_000)


def test_no_evidence_gives_one_over_the_number_of_people() -> None:
    found = exact(component(np.ones((3, 4)), people=11))
    assert found.p == pytest.approx(np.full((3, 4), 1 / 11), abs=1e-12)


def test_among_many_people_targets_do_not_matter_to_each_other() -> None:
    people = 10**9
    strong = R * people  # so that the evidence is as strong as the doubt
    found = exact(component(strong, people=people))
    alone = strong / (strong.sum(axis=1, keepdims=True) + people - 3)
    assert np.abs(found.p - alone).max() > 0.01  # the same three records: they still compete
    weak = exact(component(R, people=people))
    assert weak.p == pytest.approx(R / people, rel=1e-6)


def test_the_variance_of_how_many_are_right() -> None:
    right = np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 1]])
    weights = weighed(R)
    total = sum(weights.values())
    many = {s: sum(right[i, j] for i, j in enumerate(s)) for s in weights}
    mean = sum(w * many[s] for s, w in weights.items()) / total
    square = sum(w * many[s] ** 2 for s, w in weights.items()) / total
    assert variance(component(R), right, 1e-3) == pytest.approx(square - mean**2, rel=1e-4)
    assert variance(component(R), right) == pytest.approx(square - mean**2, rel=5e-3)


def test_fifteen_targets_and_many_records() -> None:
    rng = np.random.default_rng(0)
    R = rng.gamma(0.3, size=(15, 40)) + 1e-9
    found = exact(component(R))
    assert found.p.sum(axis=1) == pytest.approx(np.ones(15), abs=1e-10)
    assert (found.p.sum(axis=0) <= 1 + 1e-10).all()
    assert effort(np.ones(15, dtype=np.int64), np.ones(40, dtype=np.int64), -15) < 1e9
    assert effort(np.ones(16, dtype=np.int64), np.ones(40, dtype=np.int64), -16) == np.inf
    assert effort(np.full(3, 20), np.full(3, 20), -60) < 1e9


def test_weights_far_apart_lose_no_digits() -> None:
    log_r = np.array([[0.0, -900.0], [-5.0, -905.5]])
    two = np.ones(2, dtype=np.int64)
    c = Component(log_r, two, two, -2, *duals(log_r))
    first, second = log_r[0, 0] + log_r[1, 1], log_r[0, 1] + log_r[1, 0]
    assert exact(c).p[0, 0] == pytest.approx(1 / (1 + np.exp(second - first)), rel=1e-12)


def duals(log_r):
    with np.errstate(divide="ignore"):
        types, graph = problem(np.ones_like(log_r))
    best = assign(types, graph.__class__(graph.start, graph.col, log_r.ravel(), log_r.max(axis=1), graph.whole), 1)
    return best.u, best.price
