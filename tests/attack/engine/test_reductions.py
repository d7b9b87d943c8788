"""Where the formula must fall back on something that can be worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf

few = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
KNOWS = ["a", "b", "x"]


@st.composite
def files(draw):
    row = st.tuples(st.sampled_from("pqr"), st.sampled_from("uv"), st.one_of(st.just(0), st.integers(1, 25)))
    rows = [("p", "u", 3), ("q", "v", 0), ("r", "u", 9), ("p", "v", 14), *draw(st.lists(row, min_size=1, max_size=36))]
    return pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "x": pl.Int64}, orient="row")


def attacked(y, steps, knows=KNOWS, seed=5, **options):
    release = cf.Plan(steps, numeric=["x"]).protect(y, seed=seed)
    return cf.Intruder(knows=knows, **options).attack(release)


def posteriors(attack):
    """Every target's posterior by original row, so that releases shuffled differently can be compared."""
    out = []
    for i in range(attack.units.height):
        p = attack.posterior(i)
        rows = attack.release.link[p["row"].to_numpy()]
        out.append(dict(zip(rows.tolist(), p["p"].to_list(), strict=True)))
    return out


def same(one, two, tolerance=1e-9):
    for a, b in zip(posteriors(one), posteriors(two), strict=True):
        for row in a.keys() | b.keys():
            assert abs(a.get(row, 0.0) - b.get(row, 0.0)) <= tolerance
    for name in ("p_true", "p_max"):
        np.testing.assert_allclose(one.units[name].to_numpy(), two.units[name].to_numpy(), atol=tolerance, rtol=0)


@few
@given(y=files())
def test_nothing_altered_is_one_in_n_t(y):
    attack = attacked(y, [])
    size = Counter(y.select(KNOWS).iter_rows())
    n_t = np.array([size[row] for row in y.select(KNOWS).iter_rows()])
    assert attack.units["candidates"].to_list() == n_t.tolist()
    np.testing.assert_allclose(attack.units["p_true"], 1 / n_t, rtol=1e-12)
    np.testing.assert_allclose(attack.units["p_max"], 1 / n_t, rtol=1e-12)
    assert attack.units["hit"].all()
    assert (attack.units["rank"] == 1).all()
    assert attack.units["as_likely"].to_list() == (n_t - 1).tolist()


@few
@given(y=files())
def test_the_check_without_a_computer(y):
    summary = attacked(y, []).summary()
    cells = Counter(y.select(KNOWS).iter_rows())
    assert summary.expected_matches == pytest.approx(len(cells), abs=1e-9)
    assert summary.unique_matches == sum(n == 1 for n in cells.values())
    assert summary.over_threshold == sum(n for n in cells.values() if n <= 4)
    assert summary.unique_declared == summary.unique_matches


def test_cells_of_exactly_five_are_not_over_a_fifth():
    y = pl.DataFrame({"a": ["p"] * 5 + ["q"] * 4, "b": ["u"] * 9, "x": [1] * 9})
    swap = cf.Swap("b", rate=0.5)  # everybody has the same b, so nothing is learnt, but the log-space path is taken
    for steps in ([], [swap]):
        assert attacked(y, steps).summary().over_threshold == 4


@few
@given(y=files())
def test_swap_of_nobody_is_no_swap(y):
    same(attacked(y, [cf.Swap("a", rate=0.0)]), attacked(y, []))
    same(attacked(y, [cf.Swap("a", rate=0.0)], unavailable="exact", others="exact"), attacked(y, []))


@few
@given(y=files())
def test_pram_by_the_identity_is_no_pram(y):
    levels = sorted(set(y["a"]))
    same(attacked(y, [cf.Pram("a", matrix=np.eye(len(levels)), levels=levels)]), attacked(y, []))
    same(attacked(y, [cf.Pram("a", retention=1.0)]), attacked(y, []))


@few
@given(y=files())
def test_pram_that_forgets_everything_is_not_knowing(y):
    same(attacked(y, [cf.Pram("a", retention=0.0)]), attacked(y, [], ["b", "x"]))


@few
@given(y=files())
def test_tiny_noise_is_no_noise(y):
    same(attacked(y, [cf.Noise("x", sd=1e-3)]), attacked(y, []))
    same(attacked(y, [cf.Noise("x", sd=1e-3, bounds=(0, 30), keep_zeros=True)]), attacked(y, []))


@few
@given(y=files())
def test_tiny_noise_on_an_unknown_variable_tells_nothing(y):
    same(attacked(y, [cf.Noise("x", sd=1e-3)], ["a", "b"]), attacked(y, [], ["a", "b"]), 1e-9)


@few
@given(y=files())
def test_huge_noise_is_not_knowing(y):
    same(attacked(y, [cf.Noise("x", sd=1e7)]), attacked(y, [], ["a", "b"]), 1e-3)


@few
@given(y=files())
def test_huge_noise_that_keeps_zeros_is_knowing_zeros(y):
    zeros = y.with_columns(x=(pl.col("x") > 0).cast(pl.Int64))
    same(attacked(y, [cf.Noise("x", sd=1e7, keep_zeros=True)]), attacked(zeros, []), 1e-3)


@pytest.mark.slow
@few
@given(y=files())
def test_one_class_is_not_knowing(y):
    same(attacked(y, [cf.Recode("x", width=1000)]), attacked(y, [], ["a", "b"]))
    same(attacked(y, [cf.Topcode("x", at=-1)]), attacked(y, [], ["a", "b"]))
    same(attacked(y, [cf.Round("x", base=1000)]), attacked(y, [], ["a", "b"]))
    one = {"p": "all", "q": "all", "r": "all"}
    same(attacked(y, [cf.Recode("a", mapping=one)]), attacked(y, [], ["b", "x"]))


@few
@given(y=files())
def test_coarsening_that_changes_nothing(y):
    same(attacked(y, [cf.Recode("x", width=1), cf.Recode("a", mapping={"p": "P"})]), attacked(y, []))
    same(attacked(y, [cf.Topcode("x", at=25), cf.Round("x", base=1)]), attacked(y, []))


@few
@given(y=files())
def test_a_single_swapped_class_tells_nothing(y):
    one = y.with_columns(a=pl.lit("p"))
    same(attacked(one, [cf.Swap("a", rate=0.5)]), attacked(one, [], ["b", "x"]))


@few
@given(y=files())
def test_groups_of_one_are_not_swapped(y):
    alone = y.with_columns(b=pl.Series([f"g{i}" for i in range(y.height)]))
    same(attacked(alone, [cf.Swap("a", rate=1.0, within="b")], ["a", "x"]), attacked(alone, [], ["a", "x"]))


@few
@given(y=files())
def test_everything_ignored_is_one_in_n_t(y):
    steps = [cf.Swap("a", rate=0.5), cf.Noise("x", sd=5.0)]
    same(
        attacked(y, steps, available="ignore", unavailable="ignore", others="ignore"),
        attacked(y, steps, ["b"], unavailable="ignore"),
    )


@pytest.mark.slow
@few
@given(y=files())
def test_whole_file_released_leaves_nobody_absent(y):
    steps = [cf.Swap("a", rate=0.5), cf.Noise("x", sd=5.0, keep_zeros=True)]
    surveyed, certain = attacked(y, steps, membership="in_file"), attacked(y, steps)
    assert (surveyed.units["p_absent"] == 0).all()
    same(surveyed, certain)


@few
@given(y=files(), total=st.integers(50, 5000))
def test_absence_without_evidence_is_the_share_not_released(y, total):
    attack = attacked(y, [], membership=cf.Unsure(total=total, model="proportional"))
    np.testing.assert_allclose(attack.units["p_absent"], 1 - y.height / total, atol=1e-12)
    np.testing.assert_allclose(
        attack.units["p_true"], y.height / total / attack.units["candidates"].to_numpy(), atol=1e-12
    )


@pytest.mark.slow
@few
@given(y=files())
def test_no_mistake_is_no_mistake(y):
    same(attacked(y, [], errors={"a": 0.0}), attacked(y, []))
    steps = [cf.Swap("a", rate=0.5)]
    same(attacked(y, steps, errors={"a": 0.0}), attacked(y, steps))


@pytest.mark.slow
@few
@given(y=files())
def test_an_interval_of_one_point_is_a_value(y):
    targets = y.with_columns(lo="x", hi="x")
    for steps in ([], [cf.Topcode("x", at=9)], [cf.Swap("x", rate=0.5)]):
        release = cf.Plan(steps, numeric=["x"]).protect(y, seed=5)
        who = cf.Intruder(knows=["a", "b"], between={"x": ("lo", "hi")})
        same(who.attack(release, targets, np.arange(y.height)), cf.Intruder(knows=KNOWS).attack(release))


@pytest.mark.slow
@few
@given(y=files())
def test_an_interval_without_ends_is_not_knowing(y):
    targets = y.with_columns(lo=pl.lit(None, dtype=pl.Int64), hi=pl.lit(None, dtype=pl.Int64))
    for steps in ([], [cf.Topcode("x", at=9)], [cf.Noise("x", sd=4.0, keep_zeros=True)]):
        release = cf.Plan(steps, numeric=["x"]).protect(y, seed=5)
        who = cf.Intruder(knows=["a", "b"], between={"x": ("lo", "hi")})
        same(who.attack(release, targets, np.arange(y.height)), cf.Intruder(knows=["a", "b"]).attack(release))
