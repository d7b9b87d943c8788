"""Distances, entropy and propensity: independent computations, ranges, and invariances."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import confide as cf
from confide.core.errors import InputError
from confide.measure.utility.distances import Hellinger, TotalVariation
from confide.measure.utility.entropy import Entropy
from confide.measure.utility.propensity import Propensity
from confide.measure.utility.run import utility

some = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def file(n=600, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    return pl.DataFrame(
        {
            "x": rng.normal(50, 9, n).round(1),
            "k": np.where(rng.random(n) < 0.4, 0, rng.integers(1, 100, n)),
            "g": g,
            "h": rng.choice(["p", "q"], n),
            "w": rng.integers(1, 4, n),
        }
    )


def shares(values, weights, known):
    return np.array([weights[values == v].sum() for v in known]) / weights.sum()


@pytest.mark.parametrize("weight", [None, "w"])
def test_distances_of_categories(weight):
    y, z = file(), file(500, 1).with_columns(pl.col("g").replace("c", "d"))
    w, v = (f[weight].to_numpy() if weight else np.ones(f.height) for f in (y, z))
    p, q = (shares(f["g"].to_numpy(), u, list("abcd")) for f, u in ((y, w), (z, v)))
    assert TotalVariation("g")(y, z, weight=weight) == pytest.approx(np.abs(p - q).sum() / 2)
    assert Hellinger("g")(y, z, weight=weight) == pytest.approx(np.sqrt(1 - np.sqrt(p * q).sum()))
    h = [stats.entropy(s) for s in (p, q)]
    assert Entropy("g")(y, z, weight=weight) == pytest.approx(abs(h[0] - h[1]) / np.log(3))


def test_distances_of_numbers_use_quantiles_of_the_original():
    y, z = file(), file(500, 1).with_columns(pl.col("x") + 2)
    edges = np.unique(np.quantile(y["x"].to_numpy(), np.arange(1, 10) / 10, method="inverted_cdf"))
    p, q = (np.bincount(np.searchsorted(edges, f["x"].to_numpy()), minlength=10) / f.height for f in (y, z))
    assert TotalVariation("x", bins=10)(y, z) == pytest.approx(np.abs(p - q).sum() / 2)
    assert TotalVariation(["x", "g"], bins=10)(y, z) == pytest.approx(
        (np.abs(p - q).sum() / 2 + TotalVariation("g")(y, z)) / 2
    )


def test_pairs_see_what_marginals_do_not():
    y = file()
    z = y.with_columns(pl.col("g").shuffle(seed=1))
    assert TotalVariation(["g", "h"])(y, z) == 0
    table = [np.array([[(f["g"] == a).to_numpy() & (f["h"] == b).to_numpy() for a in "abc"] for b in "pq"]).sum(axis=2)
             for f in (y, z)]  # fmt: skip
    p, q = (t / 600 for t in table)
    assert TotalVariation(["g", "h"], pairs=True)(y, z) == pytest.approx(np.abs(p - q).sum() / 2)
    assert Hellinger(["g", "h"], pairs=True)(y, z) == pytest.approx(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2))


ALL = [TotalVariation(), TotalVariation(pairs=True), Hellinger(), Hellinger(pairs=True), Entropy(), Propensity(),
       Propensity(ratio=False), Propensity(ratio=False, model="cart", leaf=0.05), Propensity(model="cart", leaf=0.05)]  # fmt: skip


@pytest.mark.parametrize("measure", ALL, ids=lambda m: m.name)
def test_identical_files_row_order_and_repeated_rows(measure):
    y, z = file(), file(500, 1).with_columns(pl.col("x") + 1)
    assert measure(y, y) == pytest.approx(measure.best, abs=1e-12)
    assert measure(y, y[::-1], weight="w") == pytest.approx(measure.best, abs=1e-12)
    assert measure(y[::-1], z.sample(fraction=1, shuffle=True, seed=1)) == pytest.approx(measure(y, z), rel=1e-6)
    scaled = [f.with_columns(pl.col("w") * 0.01) for f in (y, z)]
    assert measure(*scaled, weight="w") == pytest.approx(measure(y, z, weight="w"), rel=1e-6)
    if not getattr(measure, "ratio", False):  # an expectation knows that repeated rows are no new people
        rows = [np.repeat(np.arange(f.height), f["w"].to_numpy()) for f in (y, z)]
        repeated = measure(y[rows[0]].drop("w"), z[rows[1]].drop("w"))
        assert measure(y, z, weight="w") == pytest.approx(repeated, rel=1e-6)


@pytest.mark.slow
@some
@given(st.integers(0, 10_000), st.integers(3, 60), st.booleans())
def test_ranges(seed, n, gaps):
    rng = np.random.default_rng(seed)
    y, z = (
        pl.DataFrame(
            {
                "x": rng.choice([0.0, 1.5, 1e6, np.nan if gaps else 2], n),
                "g": pl.Series(rng.choice(["a", "b", None], n).tolist(), dtype=pl.String),
            }
        )
        for _ in range(2)
    )
    assume(y["x"].n_unique() > 1 < y["g"].n_unique())  # else there is no pair
    for m in ALL:
        found = m(y, z)
        assert m.range[0] <= found <= m.range[1]


def test_missing_values_are_a_cell():
    y = file()
    z = y.with_columns(pl.when(pl.int_range(600) < 60).then(None).otherwise(pl.col(v)).alias(v) for v in ("x", "g"))
    assert TotalVariation("x")(y, z) == pytest.approx(0.1)
    assert TotalVariation("g")(y, z) == pytest.approx(0.1)


def test_recoded_variables_count_by_what_an_analyst_can_do_with_them():
    plan = cf.Plan([cf.Recode("k", width=10), cf.Recode("g", mapping={"a": "ab", "b": "ab"})], weight="w")
    y = file()
    release = plan.protect(y, seed=1)
    w = y["w"].to_numpy()
    p = shares(y["g"].to_numpy(), w, list("abc"))
    q = np.array([p[:2].sum() / 2, p[:2].sum() / 2, p[2]])
    middles = y.with_columns((pl.col("k") // 10 * 10 + 4.5).alias("k"))
    for measure, of_g in ((TotalVariation, np.abs(p - q).sum() / 2), (Hellinger, np.sqrt(1 - np.sqrt(p * q).sum()))):
        assert utility(release, [measure("g")])["value"].item() == pytest.approx(of_g)
        wanted = measure("k")(y, middles, weight="w")
        assert utility(release, [measure("k")])["value"].item() == pytest.approx(wanted) != 0
    assert (utility(release, [Propensity(), Propensity(model="cart", label="tree")])["value"] > 0.5).all()
    loss = utility(release, [Entropy("g")], weighted=False)["value"].item()
    p = [(y["g"] == v).mean() for v in "abc"]
    assert loss == pytest.approx((stats.entropy(p) - stats.entropy([p[0] + p[1], p[2]])) / np.log(3))
    assert TotalVariation("k")(y, release.data) == 1  # without the plan nobody knows what the words stand for


def test_merged_categories_of_pairs_are_shared_out_in_small_and_in_large_tables():
    y = file()
    many = y.with_columns(
        pl.int_range(600).cast(pl.String).alias("name"), (pl.int_range(600) * 7).cast(pl.String).alias("n")
    )
    plan = cf.Plan([cf.Recode("g", mapping={"a": "ab", "b": "ab"}), cf.Recode("h", mapping={"p": "x", "q": "y"})])
    release = plan.protect(y, seed=1)
    p = np.array([[((y["g"] == a) & (y["h"] == b)).mean() for b in "pq"] for a in "abc"])
    q = np.stack([(p[0] + p[1]) / 2, (p[0] + p[1]) / 2, p[2]])
    found = utility(release, [TotalVariation(["g", "h"], pairs=True)])["value"].item()
    assert found == pytest.approx(np.abs(p - q).sum() / 2)
    merged = cf.Plan([cf.Recode("name", mapping={"1": "one or two", "2": "one or two"})]).protect(many, seed=1)
    large = utility(merged, [TotalVariation(["name", "n", "g"], pairs=True)])["value"].item()
    assert large == pytest.approx(2 / 3 / 600 / 3 * 1.5, abs=2 / 600)


def stacked_logit(y, z, columns):
    x = sm.add_constant(columns)
    target = np.repeat([0.0, 1.0], [y.height, z.height])
    return sm.Logit(target, x).fit(disp=0).predict(), target.mean(), x.shape[1]


@pytest.mark.parametrize("rows", [600, 300])
def test_pmse_against_statsmodels(rows):
    y, z = file(), file(rows, 1).with_columns(pl.col("x") + 1)
    z = z.with_columns(pl.col("x").clip(y["x"].min(), y["x"].max()))
    both = pl.concat([y, z])
    x, q = both["x"].to_numpy(), (both["h"] == "q").to_numpy().astype(float)
    p, c, k = stacked_logit(y, z, np.stack([x, q, x * q], axis=1))
    pmse = np.mean((p - c) ** 2)
    assert Propensity(["x", "h"], ratio=False)(y, z) == pytest.approx(pmse, rel=1e-5)
    assert Propensity(["x", "h"])(y, z) == pytest.approx(pmse / ((k - 1) * c * (1 - c) / len(x)), rel=1e-5)
    printed = (k - 1) * c * (1 - c) ** 2 / len(x)  # Snoke and others
    assert Propensity(["x", "h"], null="synthesis")(y, z) == pytest.approx(pmse / printed, rel=1e-5)
    p, c, k = stacked_logit(y, z, np.stack([x, q], axis=1))
    found = Propensity(["x", "h"], ratio=False, interactions=False)(y, z)
    assert found == pytest.approx(np.mean((p - c) ** 2), rel=1e-5)


def test_numbers_beyond_the_original_are_certain_and_the_others_are_fitted_without_them():
    y, z = file(), file(600, 1).with_columns(pl.col("x") + 5)
    beyond = ((z["x"] > y["x"].max()) | (z["x"] < y["x"].min())).to_numpy()
    assert 3 < beyond.sum() < 300
    inside = z.filter(~beyond)
    both = pl.concat([y, inside])
    x, q = both["x"].to_numpy(), (both["h"] == "q").to_numpy().astype(float)
    p, _, k = stacked_logit(y, inside, np.stack([x, q, x * q], axis=1))
    pmse = (((p - 0.5) ** 2).sum() + 0.25 * beyond.sum()) / 1200
    assert Propensity(["x", "h"], ratio=False)(y, z) == pytest.approx(pmse, rel=1e-4)
    assert Propensity(["x", "h"])(y, z) == pytest.approx(pmse / (k * 0.25 / 1200), rel=1e-4)  # one more column


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", ["logistic", "cart"])
def test_the_ratio_of_random_halves_is_near_one(model, weight):
    found = []
    for seed in range(30):
        y = file(800, seed)
        measure = Propensity(["x", "k", "g", "h"], model=model, leaf=0.02)
        found.append(measure(y[:400], y[400:], weight=weight))
    error = np.std(found, ddof=1) / np.sqrt(30)
    assert abs(np.mean(found) - 1) < max(3 * error, 0.08)


def test_the_ratio_of_a_release_drawn_from_the_original_is_as_printed():
    """A bootstrap of the original is drawn from a right model of it: Snoke's expectation, half that of two samples."""
    found = []
    for seed in range(40):
        y = file(800, seed)
        z = y[np.random.default_rng(seed).integers(0, 800, 800)]
        found.append(Propensity(["x", "g", "h"], null="synthesis")(y, z))
    assert np.mean(found) == pytest.approx(1, abs=0.2)


def test_files_that_share_nothing_are_told_apart():
    y = file()
    z = y.with_columns(pl.lit("new").alias("g"))
    for model in ("logistic", "cart"):
        assert Propensity("g", model=model, ratio=False)(y, z) == pytest.approx(0.25, rel=1e-3)


def test_too_many_categories_are_left_out_or_refused():
    y = file().with_columns(pl.int_range(600).cast(pl.String).alias("name"))
    found = utility(cf.Release.adopt(y, y), ["propensity"])
    assert "too many categories: name" in found["detail"].item()
    with pytest.raises(InputError, match="more than 200 categories"):
        Propensity("name")(y, y)


def test_sentences():
    for call, words in [
        (lambda: TotalVariation(bins=1), "bins"),
        (lambda: TotalVariation(pairs=1), "pairs is true"),
        (lambda: TotalVariation("g", pairs=True)(file(), file()), "two or more"),
        (lambda: Propensity(model="forest"), "logistic"),
        (lambda: Propensity(null="none"), "sample"),
        (lambda: Propensity(leaf=5), "fraction"),
        (lambda: Propensity(permutations=0), "permutations"),
        (lambda: Propensity(ratio=1), "true or false"),
        (lambda: Hellinger("other")(file(), pl.DataFrame({"other": [1]})), 'no column "other"'),
        (lambda: Hellinger()(file(), file()[:0]), "at least one row"),
    ]:
        with pytest.raises(InputError, match=words):
            call()


def hidden_some(y: pl.DataFrame, rows: np.ndarray) -> pl.DataFrame:
    return y.with_columns(g=pl.when(pl.Series(rows)).then(None).otherwise(pl.col("g")))


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["own", "largest"]), st.booleans())
@some
def test_whatever_is_hidden_entropy_lost_never_falls(seed: int, gaps: bool, scale: str, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    g = rng.choice([*"abcde", *([None] if gaps else [])], size=60)
    y = pl.DataFrame({"g": pl.Series(list(g), dtype=pl.String)})
    z = y.with_columns(pl.col("g").replace({"a": "b", "c": "d"})) if coarse else y
    order, last = rng.permutation(60), -1e-12
    for many in range(61):
        loss = Entropy("g", scale=scale)(y, hidden_some(z, np.isin(np.arange(60), order[:many])))
        assert loss >= last - 1e-12
        last = loss
    assert last == 1


@given(st.integers(0, 10_000), st.integers(1, 40))
@some
def test_entropy_told_beside_hidden_values_is_that_of_those_shown(seed: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    y = pl.DataFrame({"g": rng.choice([*"abc"], size=60)})
    z = hidden_some(y, np.arange(60) < many)
    p, q = (np.array(f["g"].drop_nulls().value_counts()["count"], dtype=float) for f in (y, z))
    told = (1 - many / 60) * stats.entropy(q / q.sum())
    expected = (stats.entropy(p / 60) - told) / stats.entropy(p / 60)
    assert Entropy("g", scale="own")(y, z) == pytest.approx(expected if len(q) > 1 else 1, abs=1e-9)


def test_missing_values_of_the_original_count_as_before() -> None:
    rng = np.random.default_rng(3)
    y = pl.DataFrame({"g": pl.Series(list(rng.choice([*"abc", None], size=400)), dtype=pl.String)})
    z = y.with_columns(pl.col("g").replace({"b": "c"}))
    shares = [np.array(f["g"].value_counts()["count"], dtype=float) / 400 for f in (y, z)]
    h = [stats.entropy(s) for s in shares]
    assert Entropy("g")(y, z) == pytest.approx((h[0] - h[1]) / np.log(4), abs=1e-12)
    made = cf.Plan([cf.Sample(0.5)]).protect(y, seed=1)
    q = np.array(made.data["g"].value_counts()["count"], dtype=float) / 200
    expected = abs(stats.entropy(q) - h[0]) / np.log(4)
    assert utility(made, [Entropy("g")])["value"].item() == pytest.approx(expected, abs=1e-12)
