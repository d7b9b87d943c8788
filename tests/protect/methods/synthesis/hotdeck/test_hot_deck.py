"""HotDeck: whose values are taken."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf


def file(n=600, seed=0):
    rng = np.random.default_rng(seed)
    cell = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    m1 = rng.normal(100, 20, n).round()
    m2 = (m1 * 2 + rng.normal(0, 30, n)).round()
    v = (1000 * (cell == "a") + 10 * m1 + rng.normal(0, 40, n)).round().astype(int)
    w = np.where(rng.random(n) < 0.3, 0, v // 2)
    kind = rng.choice(["red", "blue"], n)
    return pl.DataFrame({"cell": cell, "m1": m1, "m2": m2, "v": v, "w": w, "kind": kind})


DRAW = [  # few quantiles: fitting takes most of the time, and what is tested is the hot deck
    cf.QuantileRegression("m1", given="cell", quantiles=19), cf.QuantileRegression("m2", given=["cell", "m1"], quantiles=19)
]  # fmt: skip


def released(y, *steps, seed=1, **options):
    release = cf.Plan(list(steps), **options).protect(y, seed=seed, draws="shared")
    return release.data[np.argsort(release.link)]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(n=st.integers(30, 150), seed=st.integers(0, 20))
def test_values_come_whole_from_one_record_of_the_cell(n, seed):
    y = file(n, seed)
    z = released(y, *DRAW, cf.HotDeck(["v", "w", "kind"], match=["m1", "m2"], within="cell"), seed=seed)
    taken = set(zip(*(z[c].to_list() for c in ("cell", "v", "w", "kind")), strict=True))
    assert taken <= set(zip(*(y[c].to_list() for c in ("cell", "v", "w", "kind")), strict=True))


def test_the_donor_is_the_nearest_in_mahalanobis_distance():
    y = file(200)
    z = released(y, *DRAW, cf.HotDeck("v", match=["m1", "m2"], within="cell"))
    points = y.select("m1", "m2").to_numpy()
    inverse = np.linalg.inv(np.cov(points.T))
    for row in z.iter_rows(named=True):
        pool = y.filter(pl.col("cell") == row["cell"])
        gap = pool.select("m1", "m2").to_numpy() - [row["m1"], row["m2"]]
        distance = np.einsum("ij,jk,ik->i", gap, inverse, gap)
        near = pool["v"].to_numpy()[distance <= distance.min() * (1 + 1e-9) + 1e-12]
        assert row["v"] in near


def test_a_window_moves_values_by_ranks():
    y = file(500)
    step = {"match": ["m1", "m2"], "within": "cell"}
    still, moved = (released(y, *DRAW, cf.HotDeck("w", **step, window=w))["w"].to_numpy() for w in (0, 10))
    assert ((still == 0) == (moved == 0)).all()  # zeros stay
    every = np.sort(y["w"].filter(y["w"] > 0).to_numpy())
    low, high = (np.searchsorted(every, v[still > 0]) for v in (still, moved))
    low_end, high_end = (np.searchsorted(every, v[still > 0], side="right") - 1 for v in (still, moved))
    assert np.maximum(low - high_end, high - low_end).max() <= 10  # ties hold several ranks
    assert (still != moved).mean() > 0.3
    assert set(moved) <= set(y["w"].to_list())


def test_ties_are_broken_at_random():
    y = pl.DataFrame({"m": [1.0] * 40 + [2.0] * 40, "g": ["x"] * 80, "v": range(80)})
    z = released(y, cf.HotDeck("v", match="m", within="g"), numeric=["m", "v"])
    assert (z["v"].to_numpy()[:40] < 40).all()
    assert len(set(z["v"].to_list()[:40])) > 20  # not always the same donor


def test_a_cell_with_one_donor_repeats_it_unless_more_are_asked_for():
    y = file(300).with_columns(cell=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit("rare")).otherwise("cell"))
    step = {"match": ["m1", "m2"], "within": "cell"}
    z = released(y, *DRAW, cf.HotDeck("v", **step))
    assert z["v"][5] == y["v"][5]
    with pytest.raises(cf.InputError, match="1 of 300 records are in cells of cell with fewer than 2 original records"):
        released(y, *DRAW, cf.HotDeck("v", **step, donors=2))
    z = released(y, *DRAW, cf.HotDeck("v", **step, donors=2, coarser=[[]]))
    assert z["v"].is_in(y["v"].to_list()).all()


def test_a_cell_without_donors():
    rng = np.random.default_rng(1)
    y = file(200).with_columns(area=pl.Series(rng.choice([f"area {i}" for i in range(90)], 200)))
    swap = cf.Swap("area", rate=1.0)  # combinations of cell and area that the file does not have
    with pytest.raises(cf.InputError, match=r"Name coarser cells: coarser=\[...\]"):
        released(y, swap, cf.HotDeck("v", match="m1", within=["cell", "area"]))
    z = released(y, swap, cf.HotDeck("v", match="m1", within=["cell", "area"], coarser=["cell"]))
    by_cell = {c: set(y.filter(pl.col("cell") == c)["v"].to_list()) for c in ("a", "b", "c")}
    assert all(v in by_cell[c] for c, v in zip(z["cell"], z["v"], strict=True))


@pytest.mark.parametrize(
    "change",
    [
        {"m2": 2 * pl.col("m1")},  # singular
        {"m2": pl.lit(3.0)},  # constant
        {"m1": pl.lit(1.0), "m2": pl.lit(3.0)},  # nothing varies: any donor of the cell
        {"m2": pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("m2")},  # missing
    ],
)
def test_distances_that_do_not_exist(change):
    y = file(200).with_columns(**change)
    z = released(y, cf.HotDeck("v", match=["m1", "m2", "kind"], within="cell"), numeric=["m1", "m2"])
    pairs = set(zip(y["cell"].to_list(), y["v"].to_list(), strict=True))
    assert set(zip(z["cell"].to_list(), z["v"].to_list(), strict=True)) <= pairs


def test_a_category_with_one_record_a_level_finds_that_record():
    y = file(60).with_columns(name=pl.Series([f"n{i}" for i in range(60)]))
    z = released(y, cf.HotDeck("v", match="name", within="cell"))
    assert z["v"].equals(y["v"])


MISTAKES = {
    "too many levels": (
        lambda: released(
            file(900).with_columns(name=pl.Series([f"n{i}" for i in range(900)])), cf.HotDeck("v", match="name")
        ),
        "belong in within",
    ),
    "donors of the whole file": (
        lambda: released(file(50), cf.HotDeck("v", match="m1", donors=51)),
        "the whole file has 50 records",
    ),
    "nothing to find donors by": (lambda: cf.HotDeck("v"), "needs match"),
    "both": (lambda: cf.HotDeck("v", match=["v"]), "cannot be both taken from donors and used to find them"),
    "window": (lambda: cf.HotDeck("v", match="m1", window=0.1), "not a share"),
    "donors": (lambda: cf.HotDeck("v", match="m1", donors=0), "from 1 upwards"),
    "coarser": (lambda: cf.HotDeck("v", match="m1", within="cell", coarser=["sex"]), '"sex" is not there'),
    "coarser is no list": (lambda: cf.HotDeck("v", match="m1", within="cell", coarser=5), "coarser is a list"),
    "missing": (
        lambda: released(file(50).with_columns(v=pl.lit(None, pl.Int64)), cf.HotDeck("v", match="m1")),
        "missing in every record",
    ),
    "read before it is made": (
        lambda: cf.Plan([cf.HotDeck("v", match="m1"), cf.QuantileRegression("m1", given="cell")]),
        "changes afterwards",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()
