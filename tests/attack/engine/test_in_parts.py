"""What is worked on in parts of cells, classes, targets and records comes to what the whole comes to."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import confide as cf
from confide.attack.beliefs import shares
from confide.attack.beliefs.class_logs import ClassLogs, class_logs
from confide.attack.beliefs.class_model import log_given_classes
from confide.attack.beliefs.synthetic import PENALTY, BinnedBelief, log_values
from tests.attack.beliefs.test_class_model import file, joint
from tests.helpers.held_out import held
from tests.helpers.panels import panel

KNOWS = ["sex", "race", "marital", "age", "wage_income"]
SYNTHETIC = {
    "a hot deck of three": [cf.HotDeck(["age", "wage_income", "property_value"], within=["tenure", "marital"])],
    "trees": [cf.CartSynthesis(v, given=["tenure"], leaf=50) for v in ("sex", "race", "age", "wage_income")],
    "categories swapped": [cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)],
}


def attacked(steps: list[cf.Mechanism]) -> pl.DataFrame:
    heads = cf.demo("heads").head(900)
    release = cf.Plan(steps, identifiers=["id"]).protect(heads, seed=1)
    units = cf.Intruder.at("exact", knows=KNOWS).attack(release, threads=1, progress=False).units
    return units.select("p_true", "p_max", "n_max")


@pytest.mark.parametrize("plan", SYNTHETIC)
def test_parts_of_classes_targets_and_cells_change_nothing(plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = attacked(SYNTHETIC[plan])
    monkeypatch.setattr("confide.attack.beliefs.class_logs.DENSE", 0)
    monkeypatch.setattr("confide.attack.engine.ranges.TARGETS", 2_000)
    monkeypatch.setattr("confide.attack.engine.ranges.RECORDS", 0)
    monkeypatch.setattr("confide.attack.engine.synthetic_shares.ROOM", 700)
    parts = attacked(SYNTHETIC[plan])
    for column in whole.columns:
        assert np.allclose(parts[column], whole[column], rtol=1e-9, atol=1e-12)


def test_joint_categories_that_are_asked_for_are_those_of_all() -> None:
    cells, cell, digits, of, sizes = file(500, (2, 3, 4))
    whole = joint(cells, cell, digits, of, sizes)
    given = cells.design, cells.patterns, cell, of, digits, sizes, held(cell, of)
    lazily = _lazily(given)
    rng = np.random.default_rng(1)
    for _ in range(20):
        some = rng.integers(0, len(cells), 7)
        classes = np.unique(rng.integers(0, digits.shape[1], 5))
        assert np.allclose(lazily.some(some, classes), whole[np.ix_(some, classes)], atol=1e-13)
    assert np.allclose(lazily[np.arange(len(cells))], whole, atol=1e-13)
    assert np.allclose(np.asarray(lazily), whole, atol=1e-13)


def _lazily(given: tuple[object, ...]) -> ClassLogs:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("confide.attack.beliefs.class_logs.DENSE", 0)
        found = class_logs(*given)  # type: ignore[arg-type]
    assert isinstance(found, ClassLogs)
    return found


@pytest.mark.parametrize("k", [1, 4])
def test_shares_of_bins_are_those_of_the_regression(k: int) -> None:
    cells, cell, _, of, _ = file(400, (4,))
    rng = np.random.default_rng(2)
    classes = of % k
    y = np.where(rng.random(400) < 0.3, 0.0, np.round(rng.normal(classes, 1), 2))
    belief, (_, score) = BinnedBelief.fit(cells.design, cell, classes, k, y, np.arange(400))
    bins = belief.of(y)
    log_p = log_given_classes(cells.design, cell, classes, k, bins, belief.bins, PENALTY)
    p = np.exp(log_p)
    u = ndtri(np.clip(np.cumsum(p, axis=2) - 0.5 * p, 1e-6, 1 - 1e-6))
    found, scores = belief.at(y, cell, classes)
    assert np.allclose(found, log_p[cell, classes, bins], atol=1e-11)
    assert np.allclose(scores, u[cell, classes, bins], atol=1e-9)
    assert np.array_equal(score, scores)
    several = np.where(np.arange(400) % 5 == 0, np.nan, y)
    r = np.array([[1.0, 0.4], [0.4, 1.0]])
    asked = rng.random((400, k)) < 0.5
    got = log_values([(belief, y), (belief, several)], cell, r, asked)
    excess, half = np.linalg.inv(r) - np.eye(2), 0.5 * np.log(np.linalg.det(r))
    for i, j in zip(*np.nonzero(asked), strict=True):
        a, s = log_p[cell[i], j, bins[i]], u[cell[i], j, bins[i]]
        both = 2 * a - 0.5 * s * s * excess.sum() - half
        assert got[i, j] == pytest.approx(a if np.isnan(several[i]) else both, abs=1e-8)
    assert not got[~asked].any()


def test_shares_of_a_block_are_those_of_its_cells() -> None:
    rng = np.random.default_rng(3)
    of_cells, of_classes = rng.random((6, 40)), rng.random((3, 6))
    lo, hi = np.array([0, 0, 0, 15, 15]), np.array([15, 15, 15, 40, 40])
    k, bins = np.array([1, 1, 2, 0, 0]), np.array([0, 4, 5, 2, 3])
    size = hi - lo
    place = np.cumsum(size) - size
    p, middle = np.empty((2, int(size.sum())))
    shares.of_blocks(of_cells, of_classes, lo, hi, k, bins, place, np.empty(25), p, middle)
    for i in range(5):
        each = of_cells[:, lo[i] : hi[i]] * of_classes[k[i]][:, None]
        each /= each.sum(axis=0)
        mine = slice(place[i], place[i] + size[i])
        assert np.allclose(p[mine], each[bins[i]], atol=1e-14)
        assert np.allclose(middle[mine], each[: bins[i]].sum(axis=0) + 0.5 * each[bins[i]], atol=1e-14)


@pytest.mark.parametrize("level", ["informed", "exact", "naive"])
def test_blocks_of_units_together_are_those_one_by_one(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = panel(60, 3, change=0.2, seed=5, ragged=True).select("household", "region", "sex", "job")
    plan = cf.Plan([cf.Pram("job", retention=0.7)], categorical=["region", "sex", "job"], unit="household")
    release = plan.protect(data, seed=2)
    who = cf.Intruder.at(level, knows=["region", "sex", "job"])
    whole = who.attack(release, threads=1, progress=False).units
    monkeypatch.setattr("confide.attack.engine.unit_sums.PAIRS", 1)
    single = who.attack(release, threads=1, progress=False).units
    for column in ("p_true", "p_max", "n_max", "candidates", "hit"):
        assert np.allclose(single[column], whole[column], atol=1e-11)
