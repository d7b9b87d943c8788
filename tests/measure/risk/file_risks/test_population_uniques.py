"""Uniques of the population on the shipped householders, whose truth is known, and what is said where nothing is known."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.attack.population.loglinear import dense, expected
from confide.measure.risk.file_risks.population_uniques import UniquesResult
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.estimates import KNOWN, Sample, estimate

POPULATION = 1_016_437
A = ["sex", "race", "marital", "age"]
B = ["sex", "race", "marital", "educ", "age"]
KEYS = {"A": A, "B": B, "state": ["state", *A], "six": ["state", *B]}


@cache
def found(keys: str) -> UniquesResult:
    estimators = KNOWN if keys in "AB" else ("poisson", "dis")
    made = cf.measures.PopulationUniques(KEYS[keys], total=POPULATION, estimators=estimators).of(cf.demo("heads"))
    assert isinstance(made, UniquesResult)
    return made


@cache
def truth(keys: str) -> tuple[float, float, float, float]:
    """tau1, tau2, uniques of the population, DIS."""
    people = cf.demo("heads_population").group_by(KEYS[keys]).agg(pl.col("n_pop", "n_sample").sum())
    size, su = people["n_pop"].to_numpy(), people["n_sample"].to_numpy() == 1
    return (
        float((size[su] == 1).sum()),
        float((1 / size[su]).sum()),
        float((size == 1).sum()),
        su.sum() / size[su].sum(),
    )


def row(keys: str, estimator: str) -> dict[str, Any]:
    return found(keys).table.row(by_predicate=pl.col("estimator") == estimator, named=True)


TARGETS = [
    # keys, estimator, tau1, tau2, uniques, DIS
    ("A", "benedetti_franconi", 27.1, 85.2, 539, 0.0502), ("B", "benedetti_franconi", 262.0, 825.5, 5_221, 0.0502),
    ("A", "poisson_independence", 7.0, 43.4, None, None), ("B", "poisson_independence", 609.5, 1304.9, None, None),
    ("A", "poisson", 9.0, 53.0, None, None), ("B", "poisson", 393.2, 1107.6, None, None),
    ("A", "poisson_pairs", 8.0, 54.0, None, 0.0442), ("B", "poisson_pairs", 367.5, 1089.3, None, 0.0711),
    ("A", "pitman", 34.5, None, 687, None), ("B", "pitman", 822.5, None, 16_388, None),
    ("A", "ewens", 28.2, None, 562, None), ("B", "ewens", 210.7, None, 4_198, None),
    ("A", "zayatz", 31.8, None, 633, None), ("B", "zayatz", 1035.0, None, 20_620, None),
    ("A", "snb", 31.1, None, 620, None), ("B", "snb", 443.6, None, 8_839, None),
    ("A", "dis", None, None, None, 0.0458), ("B", "dis", None, None, None, 0.0721),
]  # fmt: skip


def test_the_truth_is_the_one_that_is_printed() -> None:
    assert truth("A") == pytest.approx((14, 57.6, 188, 0.0421), rel=2e-3)
    assert truth("B") == pytest.approx((380, 1105.2, 7_709, 0.0727), rel=2e-3)


@pytest.mark.parametrize(("keys", "estimator", "tau1", "tau2", "uniques", "dis"), TARGETS)
def test_targets(
    keys: str, estimator: str, tau1: float | None, tau2: float | None, uniques: float | None, dis: float | None
) -> None:
    mine = row(keys, estimator)
    for value, aim, places in ((mine["tau1"], tau1, 0.06), (mine["tau2"], tau2, 0.06), (mine["dis"], dis, 6e-5)):
        assert aim is None or value == pytest.approx(aim, abs=places)
    assert uniques is None or mine["uniques"] == pytest.approx(uniques, abs=0.6)


@pytest.mark.parametrize(
    ("keys", "estimator", "z"),
    [
        ("A", "poisson_independence", (8.3, 19.8)), ("A", "poisson", (-0.2, 0.1)), ("A", "poisson_pairs", (-0.1, -1.1)),
        ("B", "poisson_independence", (44, 58)), ("B", "poisson", (0.2, 0.1)), ("B", "poisson_pairs", (-1.1, -1.8)),
    ],
)  # fmt: skip
def test_the_criterion_refuses_independence_alone(keys: str, estimator: str, z: tuple[float, float]) -> None:
    mine = row(keys, estimator)
    assert (mine["z1"], mine["z2"]) == pytest.approx(z, abs=0.5 if z[1] > 50 else 0.06)
    assert ("too poor" in mine["note"]) == (estimator == "poisson_independence")


@pytest.mark.parametrize(("keys", "tau1", "tau2"), [("A", 1.0, 39.1), ("B", 85.5, 642.1)])
def test_all_triples_would_be_too_rich(keys: str, tau1: float, tau2: float) -> None:
    heads, names = cf.demo("heads"), KEYS[keys]
    codes = [np.unique(heads[v].to_physical().to_numpy(), return_inverse=True)[1] for v in names]
    sizes = tuple(int(c.max()) + 1 for c in codes)
    cell, count = np.unique(np.ravel_multi_index(codes, sizes), return_counts=True)
    triples: Any = list(combinations(range(len(names)), 3))
    mu = expected(dense(cell, count.astype(float), sizes), triples).ravel()[cell[count == 1]]
    x = mu * (POPULATION / len(heads) - 1)
    assert float(np.exp(-x).sum()) == pytest.approx(tau1, abs=0.06)
    assert float((-np.expm1(-x) / x).sum()) == pytest.approx(tau2, abs=0.06)


def test_the_search_is_named() -> None:
    assert dict(found("A").pairs)["poisson"] == (("marital", "age"), ("race", "marital"))
    assert "pairs: marital x age, race x marital. z1 = -0.2, z2 = 0.1: not refused" in " ".join(found("A").notes)


@pytest.mark.parametrize("keys", ["A", "B", "state"])
def test_intervals_hold_the_truth(keys: str) -> None:
    tau1, tau2, _, dis = truth(keys)
    mine = row(keys, "poisson")
    assert mine["tau1_low"] <= tau1 <= mine["tau1_high"]
    assert mine["tau2_low"] <= tau2 <= mine["tau2_high"]
    other = row(keys, "dis")
    assert other["dis_low"] <= dis <= other["dis_high"]


@pytest.mark.slow
def test_intervals_hold_the_truth_of_other_samples() -> None:
    people = cf.demo("heads_population").group_by(B, maintain_order=True).agg(pl.col("n_pop").sum())
    size, n, rng = people["n_pop"].to_numpy(), 51_016, np.random.default_rng(1)
    codes = [np.unique(people[v].to_physical().to_numpy(), return_inverse=True)[1] for v in B]
    inside = np.zeros(3)
    for _ in range(20):
        f = rng.multivariate_hypergeometric(size, n, method="marginals")
        on, su, w = f > 0, f == 1, POPULATION / n
        cells = Cells(f[on].astype(float), f[on] * w, f[on] * w * w, np.flatnonzero(on), np.repeat(0, n))
        mine = Sample(cells, [c[on] for c in codes], [False] * 4 + [True])
        model, dis = estimate("poisson", mine), estimate("dis", mine)
        aims = (size[su] == 1).sum(), (1 / size[su]).sum(), su.sum() / size[su].sum()
        for i, ((low, high), aim) in enumerate(
            zip((model.tau1_interval, model.tau2_interval, dis.dis_interval), aims, strict=True)
        ):
            assert low is not None
            assert high is not None
            inside[i] += low <= aim <= high
    assert (inside >= 17).all()


@pytest.mark.slow
def test_six_keys_in_bins_are_near_the_truth() -> None:
    tau1, tau2, _, _ = truth("six")
    mine = row("six", "poisson")
    assert mine["tau1"] == pytest.approx(tau1, rel=0.05)
    assert mine["tau2"] == pytest.approx(tau2, rel=0.03)
    assert mine["tau1_low"] is None  # what bins miss nothing tells
    assert "In bins" in " ".join(found("six").notes)
    assert "at most 320,000 cells" in " ".join(found("six").notes)


def test_per_record_estimates_are_calibrated() -> None:
    """Estimates under 0.1, to 0.3, to 0.6, above: what all pairs claim, and what is true."""
    risk = cf.measures.PopulationUniques(B, total=POPULATION, estimators="poisson_pairs").of(cf.demo("heads")).frame
    people = cf.demo("heads_population").group_by(B).agg(pl.col("n_pop").sum())
    true = cf.demo("heads").join(people, on=B, how="left", maintain_order="left")["n_pop"]
    one = risk.with_columns(true=1 / true).filter(pl.col("alike") == 1)
    place = np.digitize(one["risk"].to_numpy(), [0.1, 0.3, 0.6])
    np.testing.assert_allclose(np.bincount(place, one["risk"].to_numpy()), [123, 300, 349, 318], atol=1)
    np.testing.assert_allclose(np.bincount(place, one["true"].to_numpy()), [144, 327, 341, 293], atol=1)


def test_arx_variants() -> None:
    assert row("A", "pitman_as_arx")["uniques"] == pytest.approx(686.84, abs=0.05)
    assert row("A", "snb_as_arx")["tau1"] is None
    assert row("A", "snb_as_arx")["note"] == "no parameters solve its equations"
    assert "faults included" in " ".join(found("A").notes)


def test_what_is_printed() -> None:
    said = " ".join(repr(found("A")).split())
    for part in (
        "miss the population's uniques by factors of 2 to 4", "The estimates of tau1 differ by a factor of",
        "539 records are unique in the sample", "| dis | - | - | - | 0.0458 (0.0388 to 0.0528)",
        "Intervals of log-linear models allow for who happens to be drawn",
    ):  # fmt: skip
        assert part in said
    assert found("A").numbers[""] == pytest.approx(8.96, abs=0.01)
    assert found("A").numbers["dis"] == row("A", "dis")["dis"]


@pytest.mark.parametrize("estimators", ["dis", "snb", ["poisson", "dis"]])
def test_a_picture_whatever_is_known(estimators: Any) -> None:
    assert small(estimators=estimators).chart().to_dict()["$schema"]
    assert small(pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3}), estimators=estimators).chart().to_dict()["$schema"]


SMALL = pl.DataFrame({"a": [*"xxyyzzuvw", "x"], "b": [*"1122331234"]})


def small(data: pl.DataFrame = SMALL, **given: Any) -> UniquesResult:
    made = cf.measures.PopulationUniques(["a", "b"], **{"fraction": 0.1, "estimators": KNOWN, **given}).of(data)
    assert isinstance(made, UniquesResult)
    return made


@pytest.mark.parametrize("how", [{"fraction": 1.0}, {"fraction": None, "total": 10}])
def test_the_whole_population(how: dict[str, Any]) -> None:
    table, uniques = small(**how).table, 4
    rest = table.filter(pl.col("estimator") != "dis")
    assert rest.select("tau1", "tau2", "uniques", "dis").unique().rows() == [(uniques, uniques, uniques, 1.0)]
    assert table["dis"].to_list() == [1.0] * table.height


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.floats(1.5, 200.0))
def test_equal_weights_are_a_fraction_and_a_total(seed: int, w: float) -> None:
    rng = np.random.default_rng(seed)
    data = pl.DataFrame({"a": rng.geometric(0.4, 60), "b": rng.geometric(0.5, 60), "w": np.full(60, w)})
    usual = {"estimators": cf.measures.PopulationUniques("a", total=9).estimators}
    each = [{"fraction": None, "weight": "w"}, {"fraction": 1 / w}, {"fraction": None, "total": 60 * w}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = [small(data, **usual, **how).table.drop("note").to_numpy() for how in each]
    for other in tables[1:]:
        np.testing.assert_allclose(other[:, 1:].astype(float), tables[0][:, 1:].astype(float), rtol=1e-5, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(0.01, 1.0))
def test_any_file_gives_numbers_within_bounds_or_a_reason(seed: int, n: int, pi: float) -> None:
    rng = np.random.default_rng(seed)
    data = pl.DataFrame({"a": rng.geometric(rng.uniform(0.1, 1), n), "b": rng.integers(0, 3, n)})
    if data["a"].n_unique() == n > 9:
        return
    result = small(data, fraction=pi)
    uniques = data.is_unique().sum()
    for r in result.table.iter_rows(named=True):
        if r["estimator"] in ("dis", "benedetti_franconi") or r["estimator"].startswith("poisson"):
            assert all(r[v] is None or 0 <= r[v] <= uniques + 1e-9 for v in ("tau1", "tau2"))
        assert r["tau1"] is None or 0 <= r["tau1"] <= uniques + 1e-9
        assert r["dis"] is None or 0 < r["dis"] <= 1
        assert r["tau1"] is not None or r["estimator"] == "dis" or r["note"]
    risk = result.frame["risk"].to_numpy()
    assert ((risk > 0) & (risk <= 1 / result.frame["alike"].to_numpy() + 1e-9)).all()
    repr(result)


def test_all_unique_all_equal_and_no_doubles() -> None:
    unique = small(pl.DataFrame({"a": [*"abcde"], "b": [*"12345"]})).table
    by_sizes = unique.filter(pl.col("estimator").is_in(["pitman", "ewens", "zayatz", "snb"]))
    assert by_sizes["tau1"].null_count() == 4
    assert by_sizes["note"].unique().to_list() == ["all records are unique, so the sizes of cells say nothing"]
    dis = unique.row(by_predicate=pl.col("estimator") == "dis", named=True)
    assert (dis["dis"], dis["dis_low"]) == (1.0, None)
    assert "no doubles" in dis["note"]
    equal = small(pl.DataFrame({"a": ["x"] * 6, "b": ["1"] * 6}))
    assert equal.table["tau1"].drop_nulls().unique().to_list() == [0.0]
    assert equal.table["dis"].null_count() == equal.table.height
    none = small(pl.DataFrame({"a": [*"aaabcd"], "b": [*"111234"]})).table
    assert "needs uniques and doubles" in none.row(by_predicate=pl.col("estimator") == "snb", named=True)["note"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, r"by one of weight= .* none of them given"),
    ({"fraction": 0.1, "total": 99}, "fraction and total given"),
    ({"fraction": 5}, "for 5 percent write 0.05"),
    ({"fraction": 0.0}, "above 0"),
    ({"total": 9}, "cannot be below the 10 records"),
    ({"total": 0}, "must be above zero"),
    ({"total": 0.05}, "for records per person write fraction="),
    ({"fraction": 1_016_437}, "for a number of people write total="),
    ({"weight": "b"}, '"b" is given as a key and as the weight'),
    ({"weight": 0.05}, "weight is the name of the column"),
    ({"weight": "zero"}, r"2 of 10 weights in \"zero\" are zero or below"),
    ({"weight": "low"}, r"3 of 10 weights in \"low\" are below 1.*sum to the population"),
    ({"weight": "scaled"}, r"below 1.*scaled to mean 1"),
    ({"weight": "gone"}, r"1 of 10 weights in \"gone\" are missing"),
    ({"weight": "text"}, "numbers are needed"),
    ({"weight": "wight"}, 'no column "wight"'),
    ({"fraction": 0.1, "estimators": "pitmann"}, 'Did you mean "pitman"'),
    ({"fraction": 0.1, "estimators": []}, "estimators takes the name"),
    ({"fraction": "0.1"}, "fraction must be a number"),
]
WEIGHTS = SMALL.with_columns(
    zero=pl.Series([0.0, -1.0] + [5.0] * 8), low=pl.Series([0.5, 0.2, 0.9] + [30.0] * 7),
    scaled=pl.Series([0.5, 1.5] * 5), gone=pl.Series([None] + [5.0] * 9), text=pl.Series(["x"] * 10),
)  # fmt: skip


@pytest.mark.parametrize(("given", "said"), BAD)
def test_bad_input(given: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.measures.PopulationUniques(["a", "b"], **given).of(WEIGHTS)


def test_a_factor_is_said_only_between_numbers_that_are_something() -> None:
    heads = cf.demo("heads")
    few, more = (
        " ".join(cf.measures.PopulationUniques(keys, total=1_016_437).of(heads).notes)
        for keys in (["sex", "age"], ["sex", "marital", "age"])
    )
    assert "The estimates of tau1 lie between 0.0 and 1.0." in few
    assert "a factor of" not in few
    assert "The estimates of tau1 differ by a factor of 9.5." in more


def test_a_release_without_its_keys_or_weight() -> None:
    heads = cf.demo("heads").head(400)
    release = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"], drop=["race", "weight"]).protect(heads, seed=1)
    result = cf.measures.PopulationUniques(["sex", "race", "age"], total=8_000).of(release)
    assert "Not released" in " ".join(result.notes)
    alone = cf.measures.PopulationUniques("race", total=8_000).of(release)
    assert alone.table["tau1"].drop_nulls().unique().to_list() == [0.0]
    with pytest.raises(cf.InputError, match="is not in the released file; give fraction= or total="):
        cf.measures.PopulationUniques(["sex"], weight="weight").of(release)
