"""Each method does what its evidence says: frequencies of many applications against the closed form, and exact rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers.columns import encode

few = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def evidence(release, step=0, about=None):
    """The evidence of one random step of a release, as an intruder gets it."""
    compiled = release.compiled
    names = compiled.steps[step].variables
    numeric = [v for v in names if compiled.released_form(release.plan.encode(release.original)[v]).kind == "numeric"]
    released = encode(
        release.frame, categorical=[v for v in release.frame.columns if v not in numeric], numeric=numeric
    )
    return compiled.fitted[step].evidence(compiled.view(released), about or names)


def matrix(release, values, v="c"):
    """Pr(z given y) from the evidence, for the values given."""
    like = evidence(release).likelihood
    t = like.target(encode(pl.DataFrame({v: values}), categorical=[v]))
    z = release.frame[v].to_list()
    out = np.zeros((len(values), len(values)))
    for a in range(len(values)):
        for b, value in enumerate(values):
            j = z.index(value)
            one = {k: x[[a]] for k, x in t.items()}
            out[a, b] = np.exp(like.log(one, {k: x[[j]] for k, x in like.record.items()})[0])
    return out


def transitions(plan, y, values, runs, v="c"):
    """Released against true category over many applications, as shares of each true category."""
    count = np.zeros((len(values), len(values)))
    for seed in range(runs):
        r = plan.protect(y, seed=seed)
        for a, b in zip(y[v].gather(r.link), r.frame[v], strict=True):
            count[values.index(a), values.index(b)] += 1
    return count / count.sum(axis=1, keepdims=True)


# -- swap ----------------------------------------------------------------------------------------------------------

SMALL = pl.DataFrame({"c": list("pppppqqqrr"), "g": list("uuuuuuvvvv")})


def by_hand(y, rate, values):
    n = len(y)
    pi = 2 * np.floor(rate * n / 2) / n
    return np.array([[(1 - pi) * (a == b) + pi * (y.count(b) - (a == b)) / (n - 1) for b in values] for a in values])


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9, 1.0])
def test_swap_frequencies_follow_the_closed_form(rate):
    plan = cf.Plan([cf.Swap("c", rate=rate)])
    wanted = by_hand(SMALL["c"].to_list(), rate, list("pqr"))
    np.testing.assert_allclose(matrix(plan.protect(SMALL, seed=0), list("pqr")), wanted, atol=1e-12)
    np.testing.assert_allclose(wanted.sum(axis=1), 1, atol=1e-12)
    # 1,000 runs of at least two records: standard error below 0.012.
    np.testing.assert_allclose(transitions(plan, SMALL, list("pqr"), 1000), wanted, atol=0.05)


@pytest.mark.slow
def test_swap_within_groups_follows_the_closed_form_of_each_group():
    plan = cf.Plan([cf.Swap("c", rate=0.7, within="g")])
    counts = {"u": Counter(), "v": Counter()}
    for seed in range(800):
        r = plan.protect(SMALL, seed=seed)
        rows = SMALL[r.link]
        for a, b, g in zip(rows["c"], r.frame["c"], rows["g"], strict=True):
            counts[g][a, b] += 1
    for g, count in counts.items():
        mine = SMALL.filter(pl.col("g") == g)["c"].to_list()
        values = sorted(set(mine))
        total = np.array([sum(count[a, b] for b in values) for a in values])
        found = np.array([[count[a, b] for b in values] for a in values]) / total[:, None]
        np.testing.assert_allclose(found, by_hand(mine, 0.7, values), atol=0.06)


def test_simulated_swap_matrices_converge_to_the_closed_form():
    y = pl.DataFrame({"c": list("pqr") * 20 + list("p") * 40})
    wanted = by_hand(y["c"].to_list(), 0.3, list("pqr"))
    loose = matrix(cf.Plan([cf.Swap("c", rate=0.3, simulate=50)]).protect(y, seed=1), list("pqr"))
    tight = matrix(cf.Plan([cf.Swap("c", rate=0.3, simulate=5000)]).protect(y, seed=1), list("pqr"))
    np.testing.assert_allclose(tight, wanted, atol=0.005)
    assert np.abs(tight - wanted).max() < np.abs(loose - wanted).max()


@st.composite
def categories(draw, missing=True):
    gap = [None] if missing else []
    rows = draw(
        st.lists(st.tuples(st.sampled_from(["p", "q", "r", *gap]), st.sampled_from("uvw")), min_size=4, max_size=40)
    )
    return pl.DataFrame([("p", "u"), *rows], schema={"c": pl.String, "g": pl.String}, orient="row").with_row_index("id")


@few
@given(y=categories(), rate=st.floats(0, 1), seed=st.integers(0, 999))
def test_swap_exchanges_inside_groups(y, rate, seed):
    r = cf.Plan([cf.Swap("c", rate=rate, within="g")]).protect(y, seed=seed)
    for g in y["g"].unique():
        before, after = (f.filter(pl.col("g") == g)["c"].to_list() for f in (y, r.frame))
        assert Counter(before) == Counter(after)
    assert r.frame.select("id", "g").equals(y[r.link].select("id", "g"))


@few
@given(y=categories(), rate=st.floats(0, 1), seed=st.integers(0, 999))
def test_swap_moves_no_more_than_its_rate(y, rate, seed):
    names = y.with_columns(c=pl.col("id").cast(pl.String))  # every value its own, so that moves are seen
    r = cf.Plan([cf.Swap("c", rate=rate)]).protect(names, seed=seed)
    moved = int((r.frame["c"] != names["c"].gather(r.link)).sum())
    assert moved == 2 * int(np.floor(rate * y.height / 2))


@few
@given(y=categories(), seed=st.integers(0, 999), forced=st.sets(st.integers(0, 4), min_size=1, max_size=2))
def test_forced_rows_are_among_the_swapped(y, seed, forced):
    names = y.with_columns(c=pl.col("id").cast(pl.String))
    for rate in (0.0, 0.6):
        r = cf.Plan([cf.Swap("c", rate=rate, force=sorted(forced))]).protect(names, seed=seed)
        moved = set(np.sort(r.link[(r.frame["c"] != names["c"].gather(r.link)).to_numpy()]).tolist())
        assert forced <= moved
        assert len(moved) == max(2 * int(np.floor(rate * y.height / 2)), len(forced) + len(forced) % 2)


@few
@given(
    seed=st.integers(0, 999),
    data=st.lists(st.tuples(st.sampled_from("kl"), st.sampled_from("uvw")), min_size=6, max_size=40),
)
def test_the_targeted_policy_exchanges_same_keys_across_areas(seed, data):
    y = pl.DataFrame([("k", "u"), ("k", "v"), *data], schema={"key": pl.String, "area": pl.String}, orient="row")
    y = y.with_columns(c=pl.arange(y.height).cast(pl.String))
    step = cf.Swap("c", rate=1.0, keys="key", within="area", candidates="unique")
    r = cf.Plan([step]).protect(y, seed=seed)
    size = Counter(zip(y["key"], y["area"], strict=True))
    for row, now in zip(r.link.tolist(), r.frame["c"], strict=True):
        partner = int(now)
        if partner == row:
            continue
        assert y["key"][row] == y["key"][partner]
        assert y["area"][row] != y["area"][partner]
        assert 1 in (size[y["key"][row], y["area"][row]], size[y["key"][partner], y["area"][partner]])


# -- PRAM ----------------------------------------------------------------------------------------------------------

P = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.0, 0.7]])


def test_pram_frequencies_are_its_matrix():
    y = pl.DataFrame({"c": list("pqr") * 4000})
    plan = cf.Plan([cf.Pram("c", matrix=P, levels=list("pqr"))])
    np.testing.assert_allclose(matrix(plan.protect(y, seed=1), list("pqr")), P, atol=1e-12)
    np.testing.assert_allclose(transitions(plan, y, list("pqr"), 2), P, atol=0.025)


@pytest.mark.slow
def test_invariant_pram_keeps_expected_counts():
    y = pl.DataFrame({"c": list("p") * 50 + list("q") * 30 + list("r") * 20})
    plan = cf.Plan([cf.Pram("c", retention=0.4)])
    p = matrix(plan.protect(y, seed=1), list("pqr"))
    share = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(p, 0.4 * np.eye(3) + 0.6 * share, atol=1e-12)
    np.testing.assert_allclose(share @ p, share, atol=1e-12)
    found = np.mean(
        [[plan.protect(y, seed=s).frame["c"].to_list().count(v) for v in "pqr"] for s in range(300)], axis=0
    )
    np.testing.assert_allclose(found, 100 * share, atol=1.5)


# -- noise ---------------------------------------------------------------------------------------------------------


@st.composite
def numbers(draw):
    values = draw(st.lists(st.one_of(st.none(), st.just(0), st.integers(1, 20)), min_size=3, max_size=40))
    return pl.DataFrame({"x": pl.Series([5, 0, None, 11, *values], dtype=pl.Int64)})


@few
@given(y=numbers(), seed=st.integers(0, 999), sd=st.sampled_from([0.3, 2.0, 50.0]))
def test_noise_keeps_its_promises(y, seed, sd):
    r = cf.Plan([cf.Noise("x", sd=sd, bounds=(0, 20), keep_zeros=True)]).protect(y, seed=seed)
    before, after = y["x"].gather(r.link), r.frame["x"]
    assert after.dtype == pl.Int64
    assert after.is_null().to_list() == before.is_null().to_list()
    assert (after.drop_nulls() == 0).to_list() == (before.drop_nulls() == 0).to_list()
    assert after.drop_nulls().is_between(0, 20).all()


@few
@given(y=numbers(), seed=st.integers(0, 999))
def test_noise_below_a_topcode_never_reaches_it(y, seed):
    steps = [cf.Noise("x", sd=4.0, bounds=(0, 8), keep_zeros=True), cf.Topcode("x", at=8)]
    r = cf.Plan(steps).protect(y, seed=seed)
    for before, after in zip(y["x"].gather(r.link), r.frame["x"], strict=True):
        assert (before is None) == (after is None)
        assert before is None or (before >= 8) == (after == 8)


NOISES = {
    "bounds": ([cf.Noise("x", sd=3.0, bounds=(0, 20))], range(21), range(21)),
    "zeros kept": ([cf.Noise("x", sd=3.0, bounds=(0, 20), keep_zeros=True)], range(1, 21), range(1, 21)),
    "topcode": ([cf.Noise("x", sd=3.0, bounds=(0, 8)), cf.Topcode("x", at=8)], range(8), range(8)),
    "round": ([cf.Noise("x", sd=3.0, bounds=(0, 20)), cf.Round("x", base=4)], range(21), range(0, 21, 4)),
    "across a topcode": ([cf.Noise("x", sd=3.0, sequential=True), cf.Topcode("x", at=12)], range(21), range(-40, 13)),
    "no bounds": ([cf.Noise("x", sd=3.0)], range(21), range(-40, 61)),
    "tiny": ([cf.Noise("x", sd=0.05, bounds=(0, 20))], range(21), range(21)),
    "huge": ([cf.Noise("x", sd=1e6, bounds=(0, 20))], range(21), range(21)),
}


@pytest.mark.parametrize("name", NOISES)
def test_probabilities_of_all_released_values_sum_to_one(name):
    steps, true, seen = NOISES[name]
    y = pl.DataFrame({"x": [*range(21)] * 2})
    release = cf.Plan(steps, numeric=["x"]).protect(y, seed=1)
    compiled = release.compiled
    every = encode(pl.DataFrame({"x": list(seen)}, schema={"x": pl.Int64}), numeric=["x"])
    like = compiled.fitted[0].evidence(compiled.view(every), ("x",)).likelihood
    t = like.target(encode(pl.DataFrame({"x": list(true)}), numeric=["x"]))
    for i, value in enumerate(true):
        one = {k: np.repeat(v[[i]], len(seen)) for k, v in t.items()}
        assert np.exp(like.log(one, like.record)).sum() == pytest.approx(1, abs=1e-9), value


@pytest.mark.parametrize("name", ["bounds", "zeros kept", "topcode", "round"])
def test_noise_frequencies_follow_the_closed_form(name):
    steps, true, seen = NOISES[name]
    value = 3
    y = pl.DataFrame({"x": [value] * 20_000 + [*range(21)]})
    release = cf.Plan(steps, numeric=["x"]).protect(y, seed=1)
    count = Counter(release.frame["x"].filter(pl.Series(release.link < 20_000)))
    every = encode(pl.DataFrame({"x": list(seen)}), numeric=["x"])
    like = release.compiled.fitted[0].evidence(release.compiled.view(every), ("x",)).likelihood
    t = like.target(encode(pl.DataFrame({"x": [value] * len(seen)}), numeric=["x"]))
    wanted = np.exp(like.log(t, like.record))
    np.testing.assert_allclose([count[z] / 20_000 for z in seen], wanted, atol=0.012)
    assert value in true


def test_unrounded_noise_integrates_to_one():
    y = pl.DataFrame({"x": np.linspace(0.1, 9.9, 50) + np.pi / 1e4})
    release = cf.Plan([cf.Noise("x", sd=2.0, bounds=(0, 10))]).protect(y, seed=1)
    grid = np.linspace(0, 10, 20_001)[:-1] + 0.00025 + 1e-7 * np.pi
    every = encode(pl.DataFrame({"x": grid}), numeric=["x"])
    like = release.compiled.fitted[0].evidence(release.compiled.view(every), ("x",)).likelihood
    for value in (0.1, 5.0, 9.9):
        t = like.target(encode(pl.DataFrame({"x": [value] * len(grid)}), numeric=["x"]))
        assert np.exp(like.log(t, like.record)).sum() * 0.0005 == pytest.approx(1, abs=1e-6)
    assert release.frame["x"].is_between(0, 10).all()


def test_correlated_noise_has_the_correlation_asked_for():
    rng = np.random.default_rng(1)
    y = pl.DataFrame({"x": rng.normal(0, 1000, 20_000).round(), "v": rng.normal(0, 1000, 20_000).round()})
    for rho in (-0.6, 0.3):
        r = cf.Plan([cf.Noise(["x", "v"], sd={"x": 50.0, "v": 80.0}, correlation=rho)]).protect(y, seed=2)
        noise = [(r.frame[v] - y[v].gather(r.link)).to_numpy() for v in ("x", "v")]
        assert np.corrcoef(noise)[0, 1] == pytest.approx(rho, abs=0.02)
        assert [n.std() for n in noise] == pytest.approx([50, 80], rel=0.03)
    data = y.with_columns(v=pl.col("x") * 0.5 + pl.col("v"))
    r = cf.Plan([cf.Noise(["x", "v"], relative=0.1, correlation="data")]).protect(data, seed=2)
    noise = [(r.frame[v] - data[v].gather(r.link)).to_numpy() for v in ("x", "v")]
    assert np.corrcoef(noise)[0, 1] == pytest.approx(np.corrcoef(data["x"], data["v"])[0, 1], abs=0.02)


def test_order_of_jointly_noisy_variables_never_matters():
    rng = np.random.default_rng(0)
    y = pl.DataFrame({"x": rng.integers(1, 1000, 60), "v": rng.integers(1, 50, 60)})
    sd = {"x": 100.0, "v": 3.0}
    plans = [cf.Plan([cf.Noise(w, sd=sd, correlation=0.5)], numeric=["x", "v"]) for w in (["x", "v"], ["v", "x"])]
    one = plans[0].protect(y, seed=1)
    two = cf.Release.adopt(y, one.frame, plans[1], link=one.link)
    for knows in (["x"], ["v"], ["x", "v"]):
        a, b = (cf.Intruder(knows=knows).attack(r).units["p_true"].to_numpy() for r in (one, two))
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_noise_at_a_bound_that_rounding_straddles():
    """Zeros at the lower bound are altered and stay candidates, though a later step rounds -1 to 0 as well."""
    y = pl.DataFrame({"x": [7, 0, 12, 3, 0]})
    r = cf.Plan([cf.Noise("x", sd=5.0, bounds=(0, 40)), cf.Round("x", base=5)], numeric=["x"]).protect(y, seed=1)
    assert cf.Intruder(knows=["x"]).attack(r).units["candidates"].to_list() == [5] * 5
    beyond = pl.DataFrame({"x": [7, -9, 12, 3, 0]})
    with pytest.raises(cf.InputError, match="beyond the bound"):
        cf.Plan([cf.Noise("x", sd=5.0, bounds=(0, 40)), cf.Round("x", base=5)], numeric=["x"]).protect(beyond, seed=1)
    high = pl.DataFrame({"x": [7, 3, 12, 17, 0]})  # 12 and 17 would show in categories of their own, unaltered
    with pytest.raises(cf.InputError, match="beyond the bound"):
        cf.Plan([cf.Noise("x", sd=5.0, bounds=(-10, 10)), cf.Recode("x", width=5)], numeric=["x"]).protect(high, seed=1)
    steps = [cf.Noise("x", sd=2.0, bounds=(0, 10)), cf.Topcode("x", at=10), cf.Round("x", base=5)]
    with pytest.raises(cf.InputError, match=r"a later step makes one value .* Round or recode before the noise"):
        cf.Plan(steps, numeric=["x"]).protect(high, seed=1)
    assert cf.Plan([steps[2], *steps[:2]], numeric=["x"]).protect(high, seed=1).frame["x"].max() == 10


# -- coarsenings -------------------------------------------------------------------------------------------------------

COARSE = [
    cf.Recode("x", width=7), cf.Recode("x", width=2.5, start=1), cf.Recode("x", breaks=[0, 10, 12.5]),
    cf.Recode("x", breaks=[3], labels=["low", "high"]), cf.Topcode("x", at=9), cf.Bottomcode("x", at=4), cf.Round("x", base=4),
    cf.Round("x", base=0.5),
]  # fmt: skip


@pytest.mark.parametrize("step", COARSE, ids=repr)
@few
@given(
    values=st.lists(
        st.one_of(st.none(), st.integers(-30, 60), st.integers(-300, 600).map(lambda i: i / 10)),
        min_size=1,
        max_size=30,
    )
)
def test_a_value_lies_in_the_cell_of_its_image(step, values):
    column = encode(pl.DataFrame({"x": pl.Series([2.0, *values], dtype=pl.Float64, strict=False)}), numeric=["x"])["x"]
    fitted = step.fit(None, {"x": column}, {})
    image = fitted.image(column)
    low, high = fitted.cells(image)
    present = ~column.missing
    assert (image.missing == column.missing).all()
    assert (low[present] <= column.values[present]).all()
    assert (column.values[present] < high[present]).all()


@pytest.mark.parametrize("step", COARSE[4:], ids=repr)
def test_coarsening_twice_is_coarsening_once(step):
    column = encode(pl.DataFrame({"x": np.arange(-20.0, 40.0)}), numeric=["x"])["x"]
    once = step.image(column)
    np.testing.assert_array_equal(step.image(once).values, once.values)


# -- seeds and frames ----------------------------------------------------------------------------------------------------

HEADS = cf.demo("heads").head(400)
STEPS = [
    cf.Swap("race", rate=0.3),
    cf.Noise("property_value", sd=5000.0, keep_zeros=True),
    cf.Pram("marital", retention=0.8),
]


def in_order(release):
    return release.frame[np.argsort(release.link)]


def test_adding_a_step_moves_no_other_draw_where_draws_are_shared():
    whole = in_order(cf.Plan(STEPS).protect(HEADS, seed=9, draws="shared"))
    for i, step in enumerate(STEPS):
        alone = in_order(cf.Plan([step]).protect(HEADS, seed=9, draws="shared"))
        assert alone[step.variables[0]].equals(whole[step.variables[0]])
        others = cf.Plan([s for k, s in enumerate(STEPS) if k != i])
        without = in_order(others.protect(HEADS, seed=9, draws="shared"))
        for other in (s for k, s in enumerate(STEPS) if k != i):
            assert without[other.variables[0]].equals(whole[other.variables[0]])


def test_same_seed_same_bytes():
    one, two, other = (cf.Plan(STEPS).protect(HEADS, seed=s) for s in (4, 4, 5))
    assert one.frame.write_csv() == two.frame.write_csv()
    assert (one.link == two.link).all()
    assert one.frame.write_csv() != other.frame.write_csv()


def test_pandas_in_pandas_out():
    one = cf.Plan(STEPS, identifiers=["id"]).protect(HEADS, seed=4)
    two = cf.Plan(STEPS, identifiers=["id"]).protect(HEADS.to_pandas(), seed=4)
    assert isinstance(two.data, pd.DataFrame)
    assert isinstance(one.data, pl.DataFrame)
    assert (one.link == two.link).all()
    for v in one.frame.columns:
        assert one.frame[v].to_list() == two.data[v].tolist()
