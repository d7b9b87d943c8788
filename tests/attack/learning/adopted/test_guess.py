"""What is learnt: guesses, losses and baselines against plain loops; people held out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.adopted.losses import ABSOLUTE, SQUARED, WITHIN, ZERO_ONE
from confide.attack.learning.adopted.relations import PRIOR, by_cells, left_out, relate

HEADS = cf.demo("heads").drop("id")
FEW = HEADS.head(250)
KEYS = ["sex", "marital", "age"]


def rounded(file: pl.DataFrame) -> pl.DataFrame:
    """Ages in fives, as numbers."""
    return file.with_columns((pl.col("age") // 5) * 5)


def losses(values: list[float], weights: list[float], truth: float, loss: str, share: float = 0.1) -> list[float]:
    """Loss, expected loss and mass of the truth of the best guess among atoms, by trying all that could be best."""
    v, w = np.array(values), np.array(weights) / sum(weights)
    if loss == "zero_one":
        levels = np.unique(v)
        mass = np.array([w[v == x].sum() for x in levels])
        modes = levels[mass >= mass.max() - 1e-12]
        return [1 - (truth in modes) / len(modes), 1 - mass.max(), float(w[v == truth].sum())]
    if loss == "squared":
        mean = (w * v).sum()
        return [(mean - truth) ** 2, (w * (v - mean) ** 2).sum(), np.nan]
    order = np.argsort(v)
    if loss == "absolute":
        low, high = (v[order][np.searchsorted(np.cumsum(w[order]), q)] for q in (0.5 - 1e-12, 0.5 + 1e-12))
        guess = (low + high) / 2
        return [abs(guess - truth), (w * np.abs(v - guess)).sum(), np.nan]
    tries = np.concatenate([v - share * abs(v), v + share * abs(v)])
    inside = np.abs(tries[:, None] - v) <= share * np.abs(v) * (1 + 1e-9) + 1e-12
    return [np.nan, 1 - (inside @ w).max(), float(w[np.abs(v - truth) <= share * abs(truth) * (1 + 1e-9)].sum())]


@pytest.mark.parametrize("loss", ["zero_one", "absolute", "squared", "within"])
@pytest.mark.parametrize("statement", [cf.Radius(KEYS, share=0.1), cf.Nearest(KEYS)])
def test_guesses_are_those_of_a_plain_loop(statement: cf.Radius, loss: str) -> None:
    released = rounded(FEW)
    attack = statement.attack(cf.Release.adopt(FEW, released, link=np.arange(250)))
    frame = attack.guess("hh_income", loss, within=0.1 if loss == "within" else None).frame
    y, z = FEW["hh_income"].to_numpy().astype(float), released["hh_income"].to_numpy().astype(float)
    for t in range(0, 250, 7):
        rows = attack.posterior(t)["row"].to_numpy()
        if not len(rows):
            assert not frame["found"][t]
            assert frame["loss"][t] == frame["loss_relations"][t]
            continue
        expected = losses(z[rows].tolist(), [1.0] * len(rows), y[t], loss)
        if loss == "within":  # any guess in the best stretch is best: judge the one that was made
            expected[0] = float(abs(frame["guess"][t] - y[t]) > 0.1 * abs(y[t]) * (1 + 1e-9))
        np.testing.assert_allclose([frame["loss"][t], frame["expected_loss"][t]], expected[:2], atol=1e-9)
        if loss in ("zero_one", "within"):
            assert frame["p_true"][t] == pytest.approx(expected[2], abs=1e-9)


@pytest.mark.parametrize("statement", [cf.Radius(KEYS, share=0.1), cf.Nearest(KEYS)])
def test_without_the_own_row_is_an_attack_on_a_release_without_it(statement: cf.Radius) -> None:
    released = rounded(FEW)
    frame = statement.attack(cf.Release.adopt(FEW, released, link=np.arange(250))).guess("tenure").frame
    for t in range(0, 250, 19):
        rest = np.delete(np.arange(250), t)
        again = statement.attack(cf.Release.adopt(FEW, released[rest], link=rest), FEW[[t]], truth=[t])
        if again.units["candidates"][0]:
            spread = 1e-9 if isinstance(statement, cf.Radius) else 0.02  # one row less moves the standard deviations
            assert frame["loss_without_person"][t] == pytest.approx(again.guess("tenure").frame["loss"][0], abs=spread)


def test_relations_leave_the_person_out() -> None:
    rng = np.random.default_rng(4)
    cell, y = rng.integers(0, 4, 40), rng.integers(0, 3, 40)
    for t in range(40):
        rest = np.arange(40) != t
        here = rest & (cell == cell[t])
        margin = (y[rest] == y[t]).mean()
        expected = ((y[here] == y[t]).sum() + PRIOR * margin) / (here.sum() + PRIOR)
        assert left_out(cell, y)[t] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [ZERO_ONE, ABSOLUTE, SQUARED, WITHIN])
@pytest.mark.parametrize("inside", [True, False])
def test_baselines_are_those_of_atoms(kind: int, inside: bool) -> None:
    """A cell's others with weight 1 each, and the margin of the others with the weight of five records."""
    rng = np.random.default_rng(5)
    cell, y = rng.integers(0, 4, 60), np.round(rng.lognormal(3, 1, 60)) * rng.choice([-1, 1, 1], 60)
    y[rng.random(60) < 0.2] = 0
    found = by_cells(cell, y, cell, y, np.full(60, inside), kind, 0.1)
    name = ("zero_one", "absolute", "squared", "within")[kind]
    for t in range(60):
        rest = np.arange(60) != t if inside else np.full(60, True)
        here = rest & (cell == cell[t])
        values = [*y[here], *y[rest]]
        expected = losses(values, [1.0] * here.sum() + [PRIOR / rest.sum()] * rest.sum(), y[t], name)
        if kind == WITHIN:  # the best of the file's values, where brute force tries ends of intervals too
            assert found.expected[t] >= expected[1] - 1e-9
            assert found.expected[t] <= expected[1] + 0.12
            continue
        assert found.expected[t] == pytest.approx(expected[1], abs=1e-9)
        if kind != ABSOLUTE:  # a median between two atoms may be either
            assert found.loss[t] == pytest.approx(expected[0], abs=1e-9)


def test_relations_take_what_helps_and_leave_what_does_not() -> None:
    rng = np.random.default_rng(6)
    file = pl.DataFrame({"a": rng.integers(0, 3, 800), "noise": rng.integers(0, 9, 800)})
    release = cf.Release.adopt(file, file)
    known, _ = release.encoded(["a", "noise"], categorical=["a", "noise"])
    y = (known["a"].values + (rng.random(800) < 0.2)).astype(float)
    assert relate(known, y, ["a", "noise"]).names == ("a",)
    assert relate(known, rng.integers(0, 2, 800).astype(float), ["a", "noise"]).names == ()


def test_a_query_that_finds_nothing_is_a_guess_by_relations() -> None:
    y = HEADS.head(500)
    z = y.with_columns(pl.col("age") + 1_000)
    learnt = cf.Radius(["age"], share=0.1).attack(cf.Release.adopt(y, z)).guess("tenure")
    assert not learnt.frame["found"].any()
    assert learnt.frame["loss"].to_list() == learnt.frame["loss_relations"].to_list()
    assert "500 people (100.0%) have no candidate: guessed by relations." in repr(learnt)


def test_a_release_of_other_people_shows_no_excess() -> None:
    """The release is independent of both groups, so what is learnt of them differs by noise alone."""
    mixed = HEADS[np.random.default_rng(7).permutation(HEADS.height)]
    people, others, release = mixed[:4_000], mixed[4_000:8_000], mixed[8_000:12_000]
    for statement in (cf.Nearest(KEYS), cf.Radius(KEYS, share=0.1)):
        attack = statement.attack(cf.Release.adopt(people, release))
        for variable in ("tenure", "hh_income"):
            found = attack.guess(variable, held_out=others).excess
            assert found is not None
            middle, low, high = found
            assert abs(middle) < 2 * (high - low) / 2  # within four standard errors
    one = cf.Nearest(KEYS).attack(cf.Release.adopt(people, people)).guess("tenure", held_out=others)
    assert one.excess is not None
    assert one.excess[1] > 0.01


def test_the_attribute_permuted_adds_nothing() -> None:
    file = HEADS.head(3_000)
    z = file.with_columns(pl.col("tenure").shuffle(seed=1))
    learnt = cf.Nearest([*KEYS, "hh_income"]).attack(cf.Release.adopt(file, z)).guess("tenure")
    shares = file["tenure"].value_counts()["count"].to_numpy() / 3_000
    assert learnt.frame["p_true"].mean() == pytest.approx((shares**2).sum(), abs=0.03)


def test_missing_values_of_the_variable() -> None:
    y = pl.DataFrame({"k": ["a", "a", "b", "b"], "x": [1.5, None, 7.5, 8.5], "c": ["u", None, "v", "v"]})
    attack = cf.Nearest("k").attack(cf.Release.adopt(y, y))
    numbers = attack.guess("x", "absolute")
    assert numbers.left_out == 1
    assert numbers.frame["guess"].to_list() == [1.5, 8.0, 8.0]
    categories = attack.guess("c")
    assert categories.left_out == 0
    assert categories.frame["loss"].to_list() == [0.5, 0.5, 0.0, 0.0]


def test_threads_change_nothing() -> None:
    release = cf.Release.adopt(HEADS.head(2_500), rounded(HEADS.head(2_500)), link=np.arange(2_500))
    one, two = (cf.Radius(KEYS).attack(release, threads=t).guess("hh_income").frame for t in (1, 2))
    assert one.equals(two)
