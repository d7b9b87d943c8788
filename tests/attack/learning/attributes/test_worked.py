"""The worked cases: best guesses, perturbed categories, what is learnt without identification, the tenure table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.attributes.absence import Without
from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.compute import read
from confide.attack.learning.attributes.loss_limits import Exceeds, Within
from confide.attack.learning.attributes.loss_values import Absolute, Own, Squared, ZeroOne
from confide.attack.learning.attributes.predictive import Reading
from confide.attack.learning.attributes.weights import Piece, pieces
from confide.frames.columns import F64, Records

VALUES, P = np.array([10.0, 20.0, 50.0]), np.array([[0.4, 0.5, 0.1]])
WHO = np.array([0])


def test_best_guesses() -> None:
    assert ZeroOne().best(VALUES, P).guess[0] == 20
    assert ZeroOne().best(VALUES, P).expected[0] == pytest.approx(0.5)
    assert Absolute().best(VALUES, P).guess[0] == 20
    assert Absolute().best(VALUES, P).expected[0] == pytest.approx(0.4 * 10 + 0.1 * 30)
    assert Squared().best(VALUES, P).guess[0] == pytest.approx(19)
    assert Squared().best(VALUES, P).expected[0] == pytest.approx(0.4 * 81 + 0.5 + 0.1 * 31**2)
    ten, half = Within(share=0.1).best(VALUES, P), Within(share=0.5).best(VALUES, P)
    assert 18 <= ten.guess[0] <= 22
    assert ten.expected[0] == pytest.approx(0.5)
    assert 10 <= half.guess[0] <= 15
    assert half.expected[0] == pytest.approx(0.1)
    over = Exceeds(limit=30, cost=1, gain=12).best(VALUES, P)
    assert over.guess[0] == 1  # 0.1 > 1 / 13
    assert over.expected[0] == pytest.approx(0.9 - 0.1 * 12)
    assert Exceeds(limit=30, cost=1, gain=9).best(VALUES, P).guess[0] == 0


def test_without_the_first_row() -> None:
    """(1/2, 1/3, 1/6) for (20, 20, 50): mean 25, squared loss 225 against 81."""
    mean = Squared().less(VALUES, P, WHO, WHO, np.array([0.4]))
    assert mean.guess[0] == pytest.approx(25)
    place = np.array([0])
    assert Squared().true(mean, np.array([10.0]), place)[0] == pytest.approx(225)
    assert Squared().true(Squared().best(VALUES, P), np.array([10.0]), place)[0] == pytest.approx(81)


@pytest.mark.parametrize(
    "loss", [ZeroOne(), Absolute(), Squared(), Within(share=0.3), Exceeds(limit=2, cost=1, gain=2)]
)
def test_a_share_less_is_the_law_without_it(loss: Any) -> None:
    rng = np.random.default_rng(2)
    values = np.sort(rng.choice(np.arange(-5.0, 12), 9, replace=False))
    p = rng.dirichlet(np.ones(9), 5)
    of, at = rng.integers(0, 5, 60), rng.integers(0, 9, 60)
    share = p[of, at] * rng.random(60)
    found = loss.less(values, p, of, at, share)
    rows = p[of].copy()
    rows[np.arange(60), at] -= share
    assert found.guess == pytest.approx(loss.best(values, rows / rows.sum(axis=1, keepdims=True)).guess)


@pytest.mark.parametrize("loss", [ZeroOne(), Absolute(), Squared(), Within(share=0.3, floor=1), Exceeds(2, 1.0, 2.0)])
def test_no_other_guess_loses_less(loss: Any) -> None:
    """Brute force over a fine grid of guesses, negative values and zero included."""
    rng = np.random.default_rng(7)
    values = np.array([-6.0, -1.0, 0.0, 2.0, 3.0, 8.0])
    p = rng.dirichlet(np.ones(6), 30)
    best = loss.best(values, p)
    grid = np.array([0.0, 1.0]) if isinstance(loss, Exceeds) else np.unique([*values, *np.arange(-9, 12, 0.125)])
    for i in range(30):

        def lost(g: float, i: int = i) -> float:
            guess = replace(
                best, guess=np.full(6, g), tied=None if best.tied is None else values[None, :] == np.full((6, 1), g)
            )
            return float(p[i] @ loss.true(guess, values, np.arange(6)))

        tried = values if isinstance(loss, ZeroOne) else grid
        least = min(lost(float(g)) for g in tried)
        assert best.expected[i] <= least + 1e-9
        assert best.expected[i] == pytest.approx(least, abs=0.01)
        assert lost(float(best.guess[i])) == pytest.approx(best.expected[i], abs=1e-9)


def test_ones_own_loss() -> None:
    own = Own(lambda g, y: np.abs(g - y), (15.0,))
    assert own.best(VALUES, P).guess[0] == 20
    assert own.best(VALUES, P).expected[0] == pytest.approx(7.0)


@dataclass(frozen=True, eq=False)
class Stated:
    """A belief as a page states it."""

    p: tuple[float, ...]

    def rows(self, known: Records, own: Any) -> F64:  # noqa: ARG002 - nothing is left out
        return np.repeat([[*self.p, 0.0]], known.n, axis=0)

    def margins(self, own: Any) -> F64:
        return np.repeat([[*self.p, 0.0]], len(own), axis=0)


def reading(file: pl.DataFrame, steps: list[Any], belief: tuple[float, ...]) -> tuple[Reading, Piece]:
    release = cf.Release.adopt(file, file, cf.Plan(steps), link=np.arange(file.height))
    attack = cf.Intruder(knows="key").attack(release)
    found, ready = read(Asked.of(attack.intruder, release, attack.given, "y"), None)
    assert ready is not None
    return replace(found, people=replace(found.people, relations=Stated(belief))), next(pieces(ready))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("w", "belief", "zero"), [((1.0, 1.0), (0.7, 0.3), 0.5694), ((0.2931, 0.7069), (0.4, 0.6), 0.2742)]
)
def test_perturbed_categories(w: tuple[float, float], belief: tuple[float, float], zero: float) -> None:
    """PRAM, candidates z = 0 and 1: g_1(0) = 0.9130, g_2(0) = 0.2258 for the first; both formulas for the second."""
    file = pl.DataFrame({"key": ["k"] * 2, "y": ["0", "1"]})
    found, piece = reading(file, [cf.Pram("y", matrix=[[0.9, 0.1], [0.2, 0.8]], levels=["0", "1"])], belief)
    law = next(found.laws(replace(piece, w=np.repeat([w], len(piece.w), axis=0), kind=np.arange(2))))
    assert law.p[law.of[0], 0] == pytest.approx(zero, abs=6e-5)
    if belief == (0.4, 0.6):  # p(k) is proportional to e_k S_k
        e, s = np.array(belief), np.array([[0.9, 0.1], [0.2, 0.8]]) @ [1 / 0.69, 1 / 0.31]
        assert (e * s / (e * s).sum())[0] == pytest.approx(zero, abs=6e-5)


@pytest.mark.parametrize(("many", "without"), [(5, 1.0), (1, 0.1)])
def test_without_identification(many: int, without: float) -> None:
    """All candidates say yes: five of them teach it without the own row, a sample unique does not."""
    file = pl.DataFrame({"key": ["k"] * many + ["l"] * 9, "y": ["yes"] * many + ["no"] * 9})
    found, piece = reading(file, [], (0.9, 0.1))
    unit = int(np.flatnonzero(found.people.y == 1)[0])
    law = next(law for law in found.laws(piece) if unit in law.who)
    i, yes = int(np.flatnonzero(law.who == unit)[0]), int(np.searchsorted(law.values, 1.0))
    p = law.p[law.of[i], yes]
    assert p == pytest.approx(1.0)
    if law.without is not None:
        assert law.without[i, yes] == pytest.approx(without)
    else:
        assert law.share is not None
        assert (p - law.share[i]) / (1 - law.share[i]) == pytest.approx(without)


def test_people_behind_a_total() -> None:
    """r = 100, N = 1,000, n_t = 5: 0.0248 each without the row, not 0.0200."""
    absent = Without("total", 1000.0, 100).absent(np.array([50.0]), np.array([5.0]), np.zeros(1))[0]
    assert 1 / (4 + absent) == pytest.approx(0.0248, abs=5e-5)
    assert 1 / (4 + Without("stays").absent(np.array([50.0]), np.array([5.0]), np.zeros(1))[0]) == pytest.approx(0.02)


TABLE = {
    ("sex", "race", "marital", "age"): (0.481, 0.450, 0.439, 0.339, 0.073),
    ("sex", "race", "marital", "age", "educ"): (0.584, 0.452, 0.419, 0.339, 0.164),
    ("sex", "race", "marital", "age", "state"): (0.709, 0.433, 0.381, 0.339, 0.248),
}


@pytest.mark.slow
@pytest.mark.parametrize("keys", TABLE)
def test_the_tenure_table(keys: tuple[str, ...]) -> None:
    """Mean Pr of the true value: own row in, own row out, relations, margin; and nats."""
    release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    found = cf.Intruder(knows=keys).attack(release).guess("tenure", smoothing=5)
    assert found.without_exact
    got = [
        found.frame["p_true_value"].mean(),
        *(found.rest[n].mean() for n in ("p_without_person", "p_relations", "p_margin")),
    ]
    assert [round(float(x), 3) for x in [*got, found.nats().mean()]] == pytest.approx(TABLE[keys], abs=1.1e-3)
