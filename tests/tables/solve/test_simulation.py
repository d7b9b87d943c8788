"""Simulated risks against exact ones, and what is said where a proof is lacking."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import ConfideError
from confide.tables.solve import programme_oracle
from confide.tables.solve.factoring_route import FlowRoute
from confide.tables.solve.programme import Answer, Programme
from confide.tables.solve.programme_route import ProgrammeRoute
from confide.tables.solve.routes import Effort
from confide.tables.solve.simulated import hitting_times, simulated
from tests.helpers import brute
from tests.helpers.small_tables import any_release, claims, few, releases

CENTRE = [[0, 2, 0], [2, 3, 1], [4, 3, 4]]
OVERLAPPING = [([0], 0, 1), ([0, 1, 2], 2, 2), ([0, 2, 3], 2, 2), ([0, 1, 3], 2, 2)]


def cells_of(published):
    return [np.array([i]) for i in range(published.layout.cells)]


def flow(published, targets=None, **effort):
    assert len(published.layout.families) == 2
    return FlowRoute(published, targets or cells_of(published), Effort(**effort))


def programmes(published, targets=None, **effort):
    return ProgrammeRoute(published, targets or cells_of(published), Effort(**effort))


def two_way(counts=CENTRE):
    return cf.Table(counts, names=["a", "b"]).publish(cf.RoundCells(3), margins="all")


def larger():
    rng = np.random.default_rng(1)
    return cf.Table(rng.poisson(3.0, (5, 5)) + 1, names=["a", "b"]).publish(cf.RoundCells(3), margins="all")


# Draws against exact risks


def close(found, exact, draws):
    """Within four standard errors, which come from the exact risk, and half a draw; just so where it is 0 or 1."""
    p = np.array([float(f) for f in exact])
    assert (np.abs(found - p) <= 4 * np.sqrt(p * (1 - p) / draws) + (p * (1 - p) > 0) * 0.5 / draws).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("release", [two_way, larger])
def test_simulated_risks_of_a_flow(release, seed):
    published, draws = release(), 1500
    most = min(published.table.total, 19)
    exact = flow(published).risk(most, True)
    assert set(exact.status) == {"exact"}
    found = flow(published, budget=0, draws=draws, seed=seed).risk(most, False)
    assert set(found.status) == {"estimate"}
    assert found.fractions is None
    assert f"{draws:,} draws" in found.method
    close(found.risk, exact.fractions, draws)
    assert (np.diff(found.risk) >= 0).all()
    assert (np.diff(found.lower) >= 0).all()
    assert (np.diff(found.upper) >= 0).all()
    assert ((found.lower <= found.risk) & (found.risk <= found.upper)).all()
    np.testing.assert_allclose(found.standard_error, np.sqrt(found.risk * (1 - found.risk) / draws), rtol=1e-12)


def test_simulated_risks_of_sums():
    published, draws = two_way(), 1500
    rows = [np.array(sorted(s)) for s in brute.margin((3, 3), (0,))]
    exact = flow(published, rows).risk(19, True)
    close(flow(published, rows, budget=0, draws=draws, seed=3).risk(19, False).risk, exact.fractions, draws)


def test_simulated_risks_of_programmes():
    counts = [[[2, 1], [0, 2]], [[1, 1], [2, 1]]]
    table = cf.Table(counts, names=["a", "b", "c"])
    published = table.publish(margins=[["a", "b"], ["a", "c"], ["b", "c"]], cells=False)
    exact = brute.sap(claims(published), np.array(counts))
    found = programmes(published, budget=0, draws=400, seed=1).risk(10, False)
    assert set(found.status) == {"estimate"}
    close(found.risk, exact, 400)


def test_simulated_risks_of_cells():
    published, draws = two_way(), 1500
    exact, status = flow(published).cell_risks(19)
    assert status == "exact"
    found, status = flow(published, budget=0, draws=draws, seed=4).cell_risks(19)
    assert status == "estimate"
    for cell in range(9):
        close(found[:, cell], exact[:, cell], draws)


def test_a_seed_repeats_a_simulation():
    first, again, other = (flow(two_way(), budget=0, draws=200, seed=s).risk(12, False).risk for s in (7, 7, 8))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_exact_as_far_as_the_budget_goes():
    """The first values are exact; what follows never falls below them."""
    published = larger()
    whole = flow(published).risk(20, True)
    seen = set()
    for budget in (0, 200, 1_000, 5_000, 2_000_000_000):
        found = flow(published, budget=budget, draws=300, seed=1).risk(20, False)
        exact = sum(s == "exact" for s in found.status)
        seen.add(exact)
        assert found.status == exact * ["exact"] + (21 - exact) * ["estimate"]
        assert found.risk[:exact].tolist() == whole.risk[:exact].tolist()
        assert (found.standard_error[:exact] == 0).all()
        assert (np.diff(found.risk) >= 0).all()
        assert ((found.lower <= found.risk) & (found.risk <= found.upper)).all()
    assert len(seen) >= 3
    assert {0, 21} <= seen


# Hitting times by the definition


@settings(few, max_examples=25)
@given(data=st.data())
def test_hitting_times_are_the_first_recovering_sample(data):
    published, counts, structural, *_ = data.draw(releases("conventional", ((2, 2), (2, 3))))
    assume(published.layout.families is not None)
    assume(structural is None)
    try:
        hit = brute.recovered(claims(published), counts).any(axis=1)
    except brute.TooLarge:
        assume(False)
    recovers = {tuple(s): bool(h) for s, h in zip(brute.samples(counts)[0].tolist(), hit, strict=True)}
    people, seed = int(counts.sum()), data.draw(st.integers(0, 999))
    most = data.draw(st.integers(0, people))
    route = FlowRoute(published, cells_of(published), Effort())
    found = hitting_times(route.oracle(route.targets, most), counts.ravel(), most, 20, np.random.default_rng(seed))
    if recovers[tuple(counts.size * [0])]:
        assert found.tolist() == 20 * [0]
        return
    owner = np.repeat(np.arange(counts.size), counts.ravel())
    rng = np.random.default_rng(seed)
    for time in found:
        order = owner[rng.choice(people, size=most, replace=False)]
        samples = [tuple(np.bincount(order[:n], minlength=counts.size).tolist()) for n in range(most + 1)]
        assert time == next((n for n, s in enumerate(samples) if recovers[s]), most + 1)


def tail(hits, draws, p):
    """P(X >= hits) for X binomial, in fractions."""
    p = Fraction(p)
    return float(sum(comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(hits, draws + 1)))


@pytest.mark.parametrize("draws", [1, 7, 40])
def test_intervals_of_clopper_and_pearson(draws):
    rng = np.random.default_rng(draws)
    times = rng.integers(1, 12, size=draws)
    found = simulated(times, 10)
    for n in range(11):
        hits = int((times <= n).sum())
        assert found.share[n] == hits / draws
        if hits:
            assert tail(hits, draws, float(found.lower[n])) == pytest.approx(0.025, rel=1e-9)
        else:
            assert found.lower[n] == 0
        if hits < draws:
            assert 1 - tail(hits + 1, draws, float(found.upper[n])) == pytest.approx(0.025, rel=1e-9)
        else:
            assert found.upper[n] == 1


# Programmes: what is said is so


def honest(found, exact):
    """Each status means what it says."""
    for n, truth in enumerate(exact):
        risk, lower, upper, status = found.risk[n], found.lower[n], found.upper[n], found.status[n]
        if status == "exact":
            assert risk == pytest.approx(float(truth), abs=1e-12)
            assert lower == risk == upper
            assert found.fractions is None or found.fractions[n] == truth
        elif status in ("lower bound", "between bounds"):
            assert lower <= float(truth) + 1e-12
            assert upper >= float(truth) - 1e-12
            assert risk == lower
            assert status == "between bounds" or upper >= 1
        else:
            assert status == "estimate"
            assert upper >= float(truth) - 1e-12


BUDGETS = [0, 2 * 10**6, 10**7, 10**8, 2 * 10**9]


@settings(few, max_examples=30)
@given(any_release(), st.sampled_from(BUDGETS), st.sampled_from([None, False]))
def test_bounds_hold_whatever_the_effort(release, budget, prove):
    counts, constraints = release
    published = cf.Published.of(cf.Table(counts), constraints)
    try:
        exact = brute.sap(constraints, counts)
    except brute.TooLarge:
        assume(False)
    honest(programmes(published, budget=budget, prove=prove, draws=20).risk(int(counts.sum()), False), exact)


@settings(few, max_examples=15)
@given(data=st.data(), budget=st.sampled_from(BUDGETS), prove=st.sampled_from([None, False]))
def test_bounds_hold_for_three_variables(data, budget, prove):
    kind = data.draw(st.sampled_from(["exact", "conventional", "random"]))
    published, counts, structural, *_ = data.draw(releases(kind, ((2, 2, 2),)))
    try:
        exact = brute.sap(claims(published), counts, structural)
    except brute.TooLarge:
        assume(False)
    free = [np.array([i]) for (i,) in brute.groups(counts, structural)]
    assume(free)
    honest(programmes(published, free, budget=budget, prove=prove, draws=20).risk(int(counts.sum()), False), exact)


def stopped(*_, **__):
    raise programme_oracle.NotProven("stopped")


@settings(few, max_examples=20)
@given(any_release())
def test_bounds_hold_where_no_proof_is_found(release):
    counts, constraints = release
    published = cf.Published.of(cf.Table(counts), constraints)
    try:
        exact = brute.sap(constraints, counts)
    except brute.TooLarge:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programme_oracle.UnitOracle, "_risen", stopped)
        honest(programmes(published).risk(int(counts.sum()), False), exact)


def no_answer(self, *_):
    return Answer("unproven", np.nan, np.inf, np.full(self.size, np.nan))


@pytest.mark.parametrize("options", [{}, {"prove": False}])
def test_no_zero_is_claimed_where_whole_numbers_were_not_tried(monkeypatch, options):
    """The release alone empties a cell, which takes whole numbers to see."""
    published = cf.Published.of(cf.Table([0, 1, 1, 1]), OVERLAPPING)
    monkeypatch.setattr(programme_oracle.UnitOracle, "_risen", stopped)
    frame = cf.sap(published, known=range(4), **options)
    assert frame["status"][0] != "exact"
    assert frame["upper"][0] == 1.0
    assert frame["sap"].to_list()[1:] == [1.0, 1.0, 1.0]


def test_no_risk_at_all_without_a_solver(monkeypatch):
    published = cf.Published.of(cf.Table([0, 1, 1, 1]), OVERLAPPING)
    monkeypatch.setattr(Programme, "maximise", no_answer)
    with pytest.raises(ConfideError):
        cf.sap(published, known=range(4))


def test_a_named_group_without_a_solver_is_not_proven(monkeypatch):
    table = cf.Table([[[2, 1], [1, 2]], [[1, 1], [2, 1]]], names=["a", "b", "c"])
    published = table.publish(margins=[["a", "b"], ["a", "c"], ["b", "c"]], cells=False)
    partly = {"a": ["0", "1"], "b": [None, "1"]}
    attack = published.attack(known=partly)
    assert attack.frame["status"].to_list() == ["exact"]
    answers = {True: no_answer, False: Programme.maximise}

    def maximise(self, objective):
        return answers[self._mixed](self, objective)

    monkeypatch.setattr(Programme, "maximise", maximise)
    frame = published.attack(known=partly).frame
    assert frame.select("sap", "lower", "upper", "status").rows() == [(0.0, 0.0, 1.0, "not proven")]


def test_fractions_are_refused_where_draws_were_needed(monkeypatch):
    monkeypatch.setattr(Effort, "__init__", _no_budget(Effort.__init__))
    with pytest.raises(cf.InputError, match="it was simulated"):
        cf.sap(two_way(), known=range(5), fractions=True)
    frame = cf.sap(two_way(), known=range(5), draws=50)
    assert frame["status"].to_list() == 5 * ["estimate"]


def _no_budget(plain):
    def init(self, **options):
        plain(self, **{**options, "budget": 0})

    return init
