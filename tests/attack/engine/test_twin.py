"""The engine agrees with the slow twin to 1e-9, for every kind of plan and intruder."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers.scenes import scenes
from tests.helpers.twin import compare

few = settings(
    max_examples=8, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.differing_executors],
)  # fmt: skip


def rows(missing=False):
    """Files of 5 to 40 rows: a (3 levels), b (2), c (4), x whole numbers with many zeros."""
    gap = [None] if missing else []
    row = st.tuples(
        st.sampled_from(["a0", "a1", "a2", *gap]), st.sampled_from(["b0", "b1", *gap]),
        st.sampled_from(["c0", "c1", "c2", "c3", *gap]), st.one_of(st.just(0), st.integers(1, 30), *map(st.just, gap)),
    )  # fmt: skip
    fixed = [("a0", "b0", "c0", 7), ("a1", "b1", "c1", 0), ("a2", "b0", "c2", 12), ("a0", "b1", "c3", 3)]
    return st.lists(row, min_size=1, max_size=36).map(lambda more: frame(fixed + more))


def frame(records):
    y = pl.DataFrame(records, schema={"a": pl.String, "b": pl.String, "c": pl.String, "x": pl.Int64}, orient="row")
    return y.with_columns(w=pl.Series(1.0 + np.arange(len(records)) % 3))


def attacked(y, steps, knows, seed=1, **options):
    release = cf.Plan(steps, numeric=["x", "w"]).protect(y, seed=seed)
    return cf.Intruder(knows=knows, **options).attack(release)


MATRIX = {
    "c0": {"c0": 0.7, "c1": 0.1, "c2": 0.1, "c3": 0.1},
    "c1": {"c1": 0.6, "c2": 0.4},
    "c2": {"c0": 0.3, "c2": 0.5, "c3": 0.2},
    "c3": {"c3": 1.0},
}

PLANS = {
    "nothing": [],
    "recode": [cf.Recode("x", width=5)],
    "topcode": [cf.Topcode("x", at=12)],
    "bottomcode": [cf.Bottomcode("x", at=6)],
    "round": [cf.Round("x", base=4)],
    "swap": [cf.Swap("a", rate=0.4)],
    "swap jointly": [cf.Swap(["a", "c"], rate=0.5)],
    "swap within": [cf.Swap("c", rate=0.6, within="b")],
    "swap twice": [cf.Swap("a", rate=0.3), cf.Swap("c", rate=0.5)],
    "swap a number": [cf.Swap("x", rate=0.5)],
    "swap, then recode": [cf.Swap("c", rate=0.5), cf.Recode("c", mapping={"c0": "low", "c1": "low"})],
    "pram by matrix": [cf.Pram("c", matrix=MATRIX)],
    "pram by retention": [cf.Pram("c", retention=0.6)],
    "pram, then recode": [cf.Pram("c", retention=0.6), cf.Recode("c", mapping={"c0": "low", "c1": "low"})],
    "noise": [cf.Noise("x", sd=4.0)],
    "noise, zeros kept": [cf.Noise("x", sd=3.0, keep_zeros=True)],
    "noise, relative": [cf.Noise("x", relative=0.5, keep_zeros=True)],
    "noise in bounds": [cf.Noise("x", sd=6.0, bounds=(0, 30))],
    "noise below topcode": [cf.Noise("x", sd=5.0, bounds=(0, 14), keep_zeros=True), cf.Topcode("x", at=14)],
    "noise across topcode": [cf.Noise("x", sd=5.0, sequential=True), cf.Topcode("x", at=14)],
    "noise, then round": [cf.Noise("x", sd=5.0, bounds=(0, 40)), cf.Round("x", base=5)],
    "noise, then recode": [cf.Noise("x", sd=5.0, bounds=(0, 39)), cf.Recode("x", width=5)],
    "topcode, then noise": [cf.Topcode("x", at=14), cf.Noise("x", sd=5.0)],
    "small noise": [cf.Noise("x", sd=0.4, keep_zeros=True)],
    "recode, swap": [cf.Recode("x", width=10), cf.Swap("x", rate=0.5)],
    "all three": [
        cf.Recode("c", mapping={"c0": "low", "c1": "low"}), cf.Swap("a", rate=0.4), cf.Noise("x", sd=4.0, keep_zeros=True),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
@few
@given(y=rows())
def test_everything_known(name, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c", "x"]))


RANDOM = [n for n in PLANS if n not in ("nothing", "recode", "topcode", "bottomcode", "round")]


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOM)
@few
@given(y=rows())
def test_perturbed_variables_not_known(name, y):
    compare(attacked(y, PLANS[name], ["b"]))


@pytest.mark.slow
@pytest.mark.parametrize("levels", [("sdl", "sdl", "sdl"), ("sdl", "ignore", "sdl"), ("sdl", "sdl", "ignore"),
                                    ("ignore", "sdl", "sdl"), ("sdl", "ignore", "ignore"), ("exact", "exact", "exact"),
                                    ("sdl", "exact", "exact"), ("naive", "ignore", "ignore")])  # fmt: skip
@pytest.mark.parametrize("knows", [("a", "b"), ("b", "x"), ("a", "x")])
@few
@given(y=rows())
def test_part_of_what_is_perturbed_is_known(levels, knows, y):
    c, b, a = levels
    compare(attacked(y, PLANS["all three"], knows, available=c, unavailable=b, others=a))


@few
@given(y=rows())
def test_half_of_a_joint_swap_is_known(y):
    compare(attacked(y, PLANS["swap jointly"], ["c", "b"]))
    compare(attacked(y, PLANS["swap jointly"], ["a", "b"], unavailable="ignore"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "recode", "swap", "swap within", "noise, zeros kept", "all three"])
@few
@given(y=rows())
def test_exact_with_kept_unknown_variables(name, y):
    compare(attacked(y, PLANS[name], ["a", "x"], unavailable="exact", others="exact"))


@few
@given(y=rows())
def test_groups_of_a_swap_not_known(y):
    compare(attacked(y, PLANS["swap within"], ["a", "c"]))
    compare(attacked(y, PLANS["swap within"], ["a", "c"], others="ignore"))


@pytest.mark.parametrize("name", ["swap", "pram by matrix", "noise", "all three"])
@few
@given(y=rows())
def test_a_left_out(name, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c", "x"], others="ignore"))


@pytest.mark.parametrize(
    "name", ["swap", "pram by matrix", "noise", "noise below topcode", "noise, then round", "all three"]
)
@few
@given(y=rows())
def test_naive(name, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c", "x"], available="naive"))


BELIEVES = {
    "swap": [cf.Swap("a", rate=0.8)],
    "swap within": [cf.Swap("c", rate=0.2)],
    "pram by matrix": [cf.Pram("c", retention=0.5)],
    "noise, zeros kept": [cf.Noise("x", sd=9.0, keep_zeros=True)],
    "all three": [cf.Swap("a", rate=0.1), cf.Noise("x", relative=0.7, keep_zeros=True)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BELIEVES)
@pytest.mark.parametrize("a", ["average", "sdl"])
@few
@given(y=rows())
def test_average_believes_in_another_plan(name, a, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c", "x"], available="average", others=a, believes=BELIEVES[name]))


@pytest.mark.parametrize("name", ["swap", "pram by matrix"])
@few
@given(y=rows())
def test_average_guesses(name, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c"], available="average", unavailable="average", others="average"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["nothing", "swap", "noise, zeros kept", "noise in bounds", "small noise", "all three"]
)
@pytest.mark.parametrize("membership", ["in_file", "total", "weights", "population"])
@few
@given(y=rows())
def test_membership(name, membership, y):
    who = {
        "in_file": "in_file", "total": cf.Unsure(total=150, model="proportional"),
        "weights": cf.Unsure(weights="w", model="proportional"),
        "population": cf.Unsure(population=pl.concat([y, y.head(3), y.tail(4)])),
    }[membership]  # fmt: skip
    compare(attacked(y, [*PLANS[name], cf.Sample(0.6)], ["a", "b", "x"], membership=who))


@pytest.mark.slow
@few
@given(y=rows())
def test_membership_with_counts_and_partial_knowledge(y):
    people = y.with_columns(count=pl.Series(np.arange(y.height) % 4 + 0.5))
    who = cf.Unsure(population=people, count="count")
    compare(attacked(y, PLANS["all three"], ["b", "x"], membership=who))
    compare(attacked(y, PLANS["all three"], ["a", "b"], membership="in_file", unavailable="exact", others="exact"))
    compare(
        attacked(y, PLANS["noise, zeros kept"], ["a", "x"], membership="in_file", unavailable="exact", others="exact")
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "recode", "swap", "swap within", "swap jointly", "pram by matrix",
                                  "pram by retention", "noise, zeros kept", "noise below topcode", "all three"])  # fmt: skip
@few
@given(y=rows(missing=True))
def test_missing_values(name, y):
    compare(attacked(y, PLANS[name], ["a", "b", "c", "x"]))
    compare(attacked(y, PLANS[name], ["a", "x"], membership="in_file"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "recode", "topcode", "round", "swap a number", "noise", "noise, zeros kept",
                                  "noise below topcode"])  # fmt: skip
@pytest.mark.parametrize("level", ["sdl", "exact"])
@few
@given(y=rows(), ends=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12)), min_size=40, max_size=40))
def test_intervals(name, level, y, ends):
    # An interval around each true value, open at one end for some.
    low = [None if i % 5 == 1 else max(x - d, -1) for i, (x, (_, d)) in enumerate(zip(y["x"], ends, strict=False))]
    high = [None if i % 5 == 2 else x + u for i, (x, (u, _)) in enumerate(zip(y["x"], ends, strict=False))]
    targets = y.select("a", "b").with_columns(lo=pl.Series(low, dtype=pl.Int64), hi=pl.Series(high, dtype=pl.Int64))
    release = cf.Plan(PLANS[name], numeric=["x", "w"]).protect(y, seed=3)
    who = cf.Intruder(knows=["a"], between={"x": ("lo", "hi")}, unavailable=level, others=level)
    truth = np.arange(y.height)
    compare(who.attack(release, targets, truth), targets, truth)


@pytest.mark.parametrize("membership", ["certain", "in_file"])
@few
@given(y=rows(missing=True), wrong=st.sampled_from([0.05, 0.3]))
def test_mistakes_about_a_kept_category(membership, y, wrong):
    steps = [cf.Swap("a", rate=0.4)]
    compare(attacked(y, [], ["b", "c"], errors={"c": wrong}, membership=membership))
    compare(attacked(y, steps, ["a", "b", "c"], errors={"c": wrong}, membership=membership))


@few
@given(y=rows(), x=st.lists(st.floats(0.001, 29.999), min_size=40, max_size=40))
def test_unrounded_numbers(y, x):
    y = y.with_columns(x=pl.Series(np.array(x[: y.height]) + np.pi / 1e5))
    compare(attacked(y, [cf.Noise("x", sd=4.0)], ["a", "x"]))
    compare(attacked(y, [cf.Noise("x", sd=4.0, bounds=(0, 30.5))], ["a", "x"]))
    compare(attacked(y, [cf.Noise("x", sd=4.0, bounds=(0, 30.5))], ["a", "x"], membership="in_file"))
    compare(attacked(y, [cf.Noise("x", sd=4.0), cf.Round("x", base=2)], ["a", "x"]))
    compare(attacked(y, [cf.Noise("x", sd=4.0), cf.Swap("a", rate=0.5)], ["x"]))


@few
@given(y=rows())
def test_beliefs_from_elsewhere(y):
    compare(attacked(y, PLANS["all three"], ["a", "b"], beliefs="released"))
    compare(attacked(y, PLANS["all three"], ["b", "x"], beliefs=cf.Uniform()))


@few
@given(y=rows(), outside=rows())
def test_targets_from_outside(y, outside):
    release = cf.Plan(PLANS["swap twice"], numeric=["x", "w"]).protect(y, seed=1)
    truth = np.full(outside.height, -1)
    for knows in (["a", "b", "c"], ["a", "b"], ["b"]):
        who = cf.Intruder(knows=knows, membership=cf.Unsure(total=500))
        compare(who.attack(release, outside, truth), outside, truth)


# -- larger files: windows, many distinct values -------------------------------------------------------------------


def large(n, seed, high):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "a": rng.choice(["a0", "a1", "a2"], n, p=[0.6, 0.3, 0.1]), "b": rng.choice(["b0", "b1"], n),
        "c": rng.choice(["c0", "c1", "c2", "c3"], n), "x": np.where(rng.random(n) < 0.2, 0, rng.integers(1, high, n)),
        "w": np.ones(n),
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("sd", [1.0, 4.0, 25.0, 300.0])
@pytest.mark.parametrize("membership", ["certain", "in_file"])
def test_windows(sd, membership):
    steps = [cf.Swap("a", rate=0.3), cf.Noise("x", sd=sd, keep_zeros=True)]
    compare(attacked(large(60, 1, 900), steps, ["a", "x"], membership=membership))


@pytest.mark.parametrize("membership", ["certain", "in_file"])
def test_noise_so_wide_that_a_quadratic_serves(membership):
    """Cells far narrower than the noise take a shorter formula; beside absence its constant matters."""
    steps = [cf.Noise("x", sd=3000.0, bounds=(0, 900)), cf.Sample(0.7)]
    compare(attacked(large(60, 5, 900), steps, ["a", "x"], membership=membership))


@pytest.mark.slow
@pytest.mark.parametrize("knows", [("a", "x"), ("a",)])
def test_a_swapped_number_with_many_values(knows):
    compare(attacked(large(140, 2, 4000), [cf.Swap("x", rate=0.4)], knows))


def test_recoded_targets_whose_own_values_are_whole():
    """Names of intervals follow the file's precision, not that of the few targets at hand."""
    y = pl.DataFrame({"x": [31.5, 42.0, 57.0, 33.0], "b": list("uvuv")})
    release = cf.Plan([cf.Recode("x", width=5)], numeric=["x"]).protect(y, seed=1)
    compare(cf.Intruder(knows=["x"]).attack(release, y[[1]], [1]), y[[1]], [1])
    people = pl.DataFrame({"x": [41.0, 44.0, 32.0]})
    compare(cf.Intruder(knows=["x"], membership=cf.Unsure(population=people)).attack(release))


def test_mistakes_about_a_category_that_was_not_released():
    y = pl.DataFrame({"c": ["p", "q", "r", None, "p", "q"], "b": list("uuuuuu")})
    release = cf.Release.adopt(y, y[[0, 1, 3]], cf.Plan([cf.Sample(0.5)]), link=[0, 1, 3])
    targets = pl.DataFrame({"c": ["r", "p"]})
    compare(cf.Intruder(knows=["c"], errors={"c": 0.1}).attack(release, targets, [2, 0]), targets, [2, 0])


@pytest.mark.slow
def test_an_interval_of_a_swapped_number_with_many_values():
    y = large(180, 3, 4000)
    targets = y.select("a").with_columns(lo=pl.lit(500), hi=pl.lit(1500)).head(20)
    release = cf.Plan([cf.Swap("x", rate=0.4)], numeric=["x"]).protect(y, seed=3)
    who = cf.Intruder(knows=["a"], between={"x": ("lo", "hi")})
    compare(who.attack(release, targets, np.arange(20)), targets, np.arange(20))


@pytest.mark.slow
@pytest.mark.parametrize("knows", [("a", "x"), ("a", "c", "x"), ("a",)])
def test_noisy_spikes(knows):
    """Zeros, and another common value, that are altered too."""
    y = large(110, 7, 60).with_columns(
        x=pl.when(pl.col("b") == "b0").then(pl.col("x")).otherwise(pl.col("x") // 30 * 25)
    )
    steps = [cf.Noise("x", sd=6.0, keep_zeros=False), cf.Swap("c", rate=0.4)]
    attack = attacked(y, steps, knows)
    compare(attack)
    ((_, scene),) = scenes(attack)
    assert scene.numbers[0].belief.law.log_spike.shape[2] == 3
    targets = y.select("a").with_columns(lo=pl.lit(0), hi=pl.lit(25)).head(9)
    release = cf.Plan(steps, numeric=["x", "w"]).protect(y, seed=3)
    who = cf.Intruder(knows=["a"], between={"x": ("lo", "hi")})
    compare(who.attack(release, targets, np.arange(9)), targets, np.arange(9))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"unavailable": "ignore"}, {"unavailable": "exact", "others": "exact"}])
def test_many_rows_and_classes(options):
    steps = [cf.Swap(["a", "c"], rate=0.3), cf.Noise("x", sd=30.0, keep_zeros=True)]
    compare(attacked(large(50, 4, 300), steps, ["a", "b"], **options))
    compare(attacked(large(50, 4, 300), steps, ["c", "x"], **options))


@pytest.mark.parametrize("membership", ["certain", "unsure"])
@pytest.mark.parametrize("joint", [False, True])
def test_a_combination_that_nobody_in_the_file_has(membership: str, joint: bool) -> None:
    rng = np.random.default_rng(1)
    a = rng.choice(["p", "q"], 30)
    y = pl.DataFrame({"a": a, "b": np.where(a == "p", "u", "v"), "c": rng.choice(["x", "y", "z"], 30)})
    steps = [cf.Swap(["a", "b"], rate=0.2)] if joint else [cf.Swap("a", rate=0.2), cf.Swap("b", rate=0.2)]
    release = cf.Plan([*steps, cf.Swap("c", rate=0.2)]).protect(y, seed=1)
    targets = pl.DataFrame({"a": ["p", "p"], "b": ["v", "u"]})
    who = cf.Unsure(total=100) if membership == "unsure" else "certain"
    attack = cf.Intruder(knows=["a", "b"], membership=who).attack(release, targets=targets, truth=[-1, 3])
    compare(attack, targets=targets, truth=[-1, 3])
    without = cf.Intruder(knows=["a", "b"], membership=who, unavailable="ignore").attack(
        release, targets=targets, truth=[-1, 3]
    )
    # c is nearly independent of a and b here, so knowing of it changes little: the evidence must not vanish.
    assert attack.units["p_max"][0] == pytest.approx(without.units["p_max"][0], rel=0.5)
