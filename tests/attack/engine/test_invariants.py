"""What holds for every attack, whatever the data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf

few = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

STEPS = [cf.Swap(["a", "c"], rate=0.4), cf.Noise("x", sd=4.0, keep_zeros=True), cf.Recode("d", width=3)]
INTRUDERS = {
    "all known": {"knows": ["a", "b", "c", "d", "x"]},
    "some known": {"knows": ["a", "b"]},
    "number known": {"knows": ["c", "x"]},
    "exact": {"knows": ["a", "x"], "unavailable": "exact", "others": "exact"},
    "naive": {"knows": ["a", "b", "x"], "available": "naive"},
    "in file": {"knows": ["a", "x"], "membership": "in_file"},
    "unsure": {"knows": ["b", "d"], "membership": cf.Unsure(total=9000)},
    "mistaken": {"knows": ["a", "b", "x"], "errors": {"b": 0.1}},
}


@st.composite
def files(draw, missing=True):
    gap = [None] if missing else []
    row = st.tuples(
        st.sampled_from(["p", "q", "r", *gap]), st.sampled_from(["u", "v", *gap]), st.sampled_from(["c", "d", "e"]),
        st.integers(0, 9), st.one_of(st.just(0), st.integers(1, 25), *map(st.just, gap)),
    )  # fmt: skip
    rows = [("p", "u", "c", 1, 3), ("q", "v", "d", 5, 0), ("r", "u", "e", 8, 9), ("p", "v", "c", 2, 14)]
    rows += draw(st.lists(row, min_size=1, max_size=36))
    text, whole = pl.String, pl.Int64
    return pl.DataFrame(rows, schema={"a": text, "b": text, "c": text, "d": whole, "x": whole}, orient="row")


PLAN = cf.Plan(STEPS, numeric=["x", "d"])


def units(attack, targets=None):
    frame = attack.units.drop("target")
    return frame if targets is None else frame[targets]


def equal(one, two, tolerance=1e-9):
    """Two tables of targets agree: numbers to the tolerance, counts exactly."""
    assert one.columns == two.columns
    for name in one.columns:
        a, b = one[name], two[name]
        if a.dtype.is_float():
            assert a.is_null().to_list() == b.is_null().to_list()
            np.testing.assert_allclose(a.fill_null(0).to_numpy(), b.fill_null(0).to_numpy(), atol=tolerance, rtol=0)
        else:
            assert a.to_list() == b.to_list(), name


@pytest.mark.slow
@pytest.mark.parametrize("who", INTRUDERS)
@few
@given(y=files(), seed=st.integers(0, 99))
def test_probabilities_are_probabilities(who, y, seed):
    attack = cf.Intruder(**INTRUDERS[who]).attack(PLAN.protect(y, seed=seed))
    for row in attack.units.iter_rows(named=True):
        p = attack.posterior(row["target"])
        assert p.height == row["candidates"]
        assert p["p"].is_between(0, 1 + 1e-12).all()
        assert p["p"].is_sorted(descending=True)
        if row["status"] == "contradiction":
            assert row["p_absent"] is None
            assert row["n_max"] == 0
            continue
        assert p["p"].sum() + row["p_absent"] == pytest.approx(1, abs=1e-9)
        assert 0 <= row["p_absent"] <= 1
        if row["n_max"]:
            assert row["p_max"] == pytest.approx(p["p"].max(), abs=1e-12)
            assert row["n_max"] == (p["p"] >= row["p_max"] * (1 - 1e-9)).sum()
        if row["rank"] is not None:
            assert row["p_true"] <= row["p_max"] * (1 + 1e-12)
            assert row["hit"] == (row["rank"] == 1)
            assert row["rank"] - 1 <= row["as_likely"] <= row["candidates"] - 1
            if row["hit"]:
                assert row["as_likely"] == row["n_max"] - 1


@pytest.mark.slow
@pytest.mark.parametrize("who", INTRUDERS)
@few
@given(y=files(), order=st.randoms(use_true_random=False))
def test_order_of_the_original_never_matters(who, y, order):
    release = PLAN.protect(y, seed=1)
    new = list(range(y.height))
    order.shuffle(new)
    place = np.argsort(new)  # where each old row went
    moved = cf.Release.adopt(y[new], release.frame, PLAN, link=place[release.link])
    old = cf.Release.adopt(y, release.frame, PLAN, link=release.link)
    equal(units(cf.Intruder(**INTRUDERS[who]).attack(old), new), units(cf.Intruder(**INTRUDERS[who]).attack(moved)))


@pytest.mark.slow
@pytest.mark.parametrize("who", INTRUDERS)
@few
@given(y=files(), order=st.randoms(use_true_random=False))
def test_order_of_the_release_never_matters(who, y, order):
    release = PLAN.protect(y, seed=1)
    new = list(range(y.height))
    order.shuffle(new)
    moved = cf.Release.adopt(y, release.frame[new], PLAN, link=release.link[new])
    old = cf.Release.adopt(y, release.frame, PLAN, link=release.link)
    one, two = cf.Intruder(**INTRUDERS[who]).attack(old), cf.Intruder(**INTRUDERS[who]).attack(moved)
    equal(units(one), units(two))
    for i in range(min(y.height, 6)):
        a, b = one.posterior(i), two.posterior(i).with_columns(row=pl.Series(new).gather(two.posterior(i)["row"]))
        both = a.sort("row")["row"].to_list(), b.sort("row")["row"].to_list()
        assert both[0] == both[1]
        np.testing.assert_allclose(a.sort("row")["p"], b.sort("row")["p"], atol=1e-9)


@pytest.mark.slow
@settings(few, max_examples=5)  # each is sixteen attacks
@given(y=files())
def test_an_adopted_release_is_the_release(y):
    release = PLAN.protect(y, seed=1)
    again = cf.Release.adopt(y, release.frame, PLAN, link=release.link)
    for options in INTRUDERS.values():
        equal(units(cf.Intruder(**options).attack(release)), units(cf.Intruder(**options).attack(again)), 1e-12)


def large(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "a": rng.choice(list("pqr"), n), "b": rng.choice(list("uv"), n), "c": rng.choice(list("cde"), n),
        "d": rng.integers(0, 10, n), "x": np.where(rng.random(n) < 0.3, 0, rng.integers(1, 3000, n)),
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("who", INTRUDERS)
def test_threads_never_matter(who):
    release = PLAN.protect(large(2000, 1), seed=1)  # several pieces of work
    first, *others = (cf.Intruder(**INTRUDERS[who]).attack(release, threads=t).units for t in (1, 2, 8))
    for other in others:
        assert first.equals(other, null_equal=True)


@pytest.mark.slow
@pytest.mark.parametrize("who", INTRUDERS)
def test_equal_targets_and_records_are_merged_without_a_trace(who):
    y = large(60, 2)
    release = PLAN.protect(y, seed=1)
    attack = cf.Intruder(**INTRUDERS[who]).attack(release)
    twice = y.select(["a", "b", "c", "d", "x"])[[*range(60), *range(60)]]
    again = cf.Intruder(**INTRUDERS[who]).attack(release, twice, np.tile(np.arange(60), 2))
    equal(units(attack), units(again, list(range(60))), 1e-12)
    equal(units(attack), units(again, list(range(60, 120))), 1e-12)
    one = [
        cf.Intruder(**INTRUDERS[who]).attack(release, twice[[i]], np.array([i])).units.drop("target") for i in range(12)
    ]
    equal(units(attack, list(range(12))), pl.concat(one), 1e-9)


@few
@given(y=files(missing=False))
def test_a_file_twice_over_halves_every_probability(y):
    """Every record with a copy: two records share what one had. No random step, so that the twin file is exact."""
    plan = cf.Plan([cf.Recode("d", width=3), cf.Topcode("x", at=9)], numeric=["x", "d"])
    who = cf.Intruder(knows=["a", "b", "d", "x"])
    one = who.attack(plan.protect(y, seed=1)).units
    two = who.attack(plan.protect(pl.concat([y, y]), seed=1)).units
    np.testing.assert_allclose(one["p_true"] / 2, two["p_true"][: y.height], atol=1e-12)
    assert (2 * one["n_max"]).to_list() == two["n_max"][: y.height].to_list()


@few
@given(y=files(missing=False))
def test_what_depends_on_labels_alone_tells_nothing(y):
    """If y^U depends on the labels alone, B times A is A over Ap: unknown variables leave the posterior as it is."""
    # Every combination of a and x with every c, so that c is independent of both and a uniform belief is exact.
    y = pl.concat([y.unique("a", maintain_order=True).with_columns(c=pl.lit(v), b=pl.lit("u")) for v in "cde"])
    steps = [cf.Swap("a", rate=0.5), cf.Pram("c", retention=0.5)]
    release = cf.Plan(steps, numeric=["x", "d"]).protect(y, seed=2)
    beliefs = cf.Uniform()
    with_b = cf.Intruder(knows=["a", "b"], beliefs=beliefs).attack(release)
    without = cf.Intruder(knows=["a", "b"], beliefs=beliefs, unavailable="ignore").attack(release)
    equal(units(with_b), units(without))


@few
@given(y=files(missing=False))
def test_more_rows_of_the_same_target_share_a_posterior(y):
    """Targets that look alike get the same posterior, whoever they are."""
    attack = cf.Intruder(knows=["a", "x"]).attack(PLAN.protect(y, seed=3))
    seen: dict[tuple, pl.DataFrame] = {}
    for i, key in enumerate(y.select("a", "x").iter_rows()):
        p = attack.posterior(i)
        assert seen.setdefault(key, p).equals(p)
