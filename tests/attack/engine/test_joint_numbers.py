"""Several known uncertain numbers together: part A against plain sums over everything that is believed in."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import confide as cf
from confide.attack.beliefs.joint_numbers import known_together
from confide.attack.engine.boxes import Boxes
from confide.attack.engine.joint_sums import log_joint, noise_correlation
from confide.attack.engine.record_side import log_number
from tests.helpers.scenes import scenes


def two_numbers(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    income = np.round(np.exp(3 + 0.3 * group + 0.5 * rng.standard_normal(n)), 1)
    income = np.where(rng.random(n) < 0.2, np.round(income), income)
    income[rng.random(n) < 0.15] = 0
    tax = np.round(0.3 * np.maximum(income - 10, 0) * np.exp(0.1 * rng.standard_normal(n)), 2)
    rent = np.round(0.2 * income + rng.gamma(2, 3, n), 1)
    names = np.array(["x", "y", "z"])[group]
    return pl.DataFrame({"group": names, "income": income, "tax": tax, "rent": rent})


def masses(belief, cell: int) -> np.ndarray:
    """Pr(g given cell, k), shape (G, K), straight from the definition."""
    out = np.zeros((belief.nodes.shape[1], belief.mu.shape[3]))
    for g, k in np.ndindex(*out.shape):
        p = belief.pattern[g]
        gap = belief.scores[:, g] - belief.mu[p, :, cell, k]
        out[g, k] = np.exp(belief.log_n[g] + belief.log_share[p, cell, k] - 0.5 * gap @ belief.precision[p] @ gap)
    return out


def normal_chance(like, y, blur, j) -> float:
    sd = like.sd_at(np.array([y]))[0] * np.hypot(1, blur)
    area = norm.cdf((like.high[j] - y) / sd) - norm.cdf((like.low[j] - y) / sd)
    return area / np.exp(like.log_allowed(np.array([y]))[0])


def window_chance(like, y, blur, j) -> float:
    low, high, inside = like.ranks(np.array([y]))
    t = like.blurred({"low": low, "high": high, "inside": inside}, np.array([blur]))
    z = {name: column[[j]] for name, column in like.record.items()}
    return float(np.exp(like.log(t, z))[0])


def near_chance(values, s, z, others) -> float:
    """The kernel between scores, times the share of rows with the value, over the sum of all."""
    at = np.round(s * 16 / values.width) * values.width / 16
    gaps = (values.middle - at) / values.width
    kernel = np.where(np.abs(gaps) <= 6, values.share * np.exp(-0.5 * gaps**2), 0.0)
    mine = np.flatnonzero(values.values == z)[0]
    share = (values.share[mine] - values.one * others) / values.share[mine]
    return float(kernel[mine] * max(share, 0.0) / kernel.sum())


def plain_m(scene, j: int) -> np.ndarray:
    """The joint sum of record j, shape (K,), over every combination."""
    numbers = scene.numbers
    asked = known_together([n.known for n in numbers], [n.like_a for n in numbers])
    moved = [bool(numbers[i].like_a.moved(scene.rows[[j]])[0]) for i in asked]
    found = tuple(i for i, m in zip(asked, moved, strict=True) if m)
    which = [numbers[i] for i in found]
    if len(which) < 2:
        none = np.zeros(scene.classes.size)
        return np.exp(sum((log_number(scene, n, np.array([j]), for_a=True)[0] for n in which), none))
    belief, row, cell = scene.fit.believed.joint[found], scene.rows[j], scene.cell_r[j]

    def chance(n, y, blur) -> float:
        return (normal_chance if hasattr(n.like_a, "sd") else window_chance)(n.like_a, y, blur, row)

    if belief.near is None:
        each = [np.prod([chance(n, y[g], belief.blur[g]) for n, y in zip(which, belief.nodes, strict=True)])
                for g in range(belief.nodes.shape[1])]  # fmt: skip
        return np.array(each) @ masses(belief, cell)
    total = np.zeros(scene.classes.size)
    several = sum(v is not None for v in belief.values) > 1
    for kept in product([False, True], repeat=len(which)):
        if any(k and v is None for k, v in zip(kept, belief.values, strict=True)):
            continue
        factor, dims = 1.0, []
        for i, (n, v) in enumerate(zip(which, belief.values, strict=True)):
            if v is not None:
                same, diff = np.exp(n.like_a.log_same[row]), np.exp(n.like_a.log_diff[row])
                factor *= same - diff if kept[i] else diff
            if v is None or kept[i]:
                dims.append(i)
        total += factor * part(scene, which, belief, dims, j, chance, several)
    return total


def part(scene, which, belief, dims, j, chance, several) -> np.ndarray:
    cell = scene.cell_r[j]
    z = {i: scene.released[which[i].variable].values[j] for i in dims}
    if not dims:
        return np.ones(scene.classes.size)
    if len(dims) == 1 and belief.values[dims[0]] is None:
        return np.exp(log_number(scene, which[dims[0]], np.array([j]), for_a=True)[0])
    if len(dims) == 1:
        return np.exp(which[dims[0]].belief.log_point(np.array([z[dims[0]]]), np.array([cell]))[0])
    out = np.zeros(scene.classes.size)
    for b, near in ((belief, False), (belief.near, True)):
        each = np.ones(b.nodes.shape[1])
        for g, i in product(range(len(each)), dims):
            if belief.values[i] is None:
                each[g] *= chance(which[i], b.nodes[i, g], b.blur[g])
            elif near:
                each[g] *= near_chance(belief.values[i], b.scores[i, g], z[i], several)
            else:
                each[g] *= b.nodes[i, g] == z[i]
        out += np.where(each > 0, each, 0.0) @ np.nan_to_num(masses(b, cell))
    return out


NOISE = [cf.Noise("income", sd=3.0, bounds=(0, None)), cf.Noise("tax", sd=1.0)]
PLANS = {
    "noise": NOISE,
    "noise that leaves zeros": [cf.Noise("income", sd=3.0, bounds=(0, None), keep_zeros=True), NOISE[1]],
    "rank swaps": [cf.RankSwap("income", window=6), cf.RankSwap("tax", window=9)],
    "rank exchanges": [cf.RankSwap(["income", "tax"], window=7, exchange=True, keep_zeros=False)],
    "noise and rank swap": [NOISE[0], cf.RankSwap("tax", window=6)],
    "swaps": [cf.Swap("income", rate=0.4), cf.Swap("tax", rate=0.5)],
    "noise and swap": [NOISE[0], cf.Swap("tax", rate=0.4)],
    "three": [NOISE[0], cf.Swap("tax", rate=0.4), cf.RankSwap("rent", window=8)],
    "swaps beside a class": [cf.Swap("income", rate=0.4), cf.Swap("tax", rate=0.5), cf.Swap("group", rate=0.3)],
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "three" else n for n in PLANS])
def test_part_a_is_the_sum_over_all_combinations(name: str) -> None:
    file = two_numbers(240, 3)
    release = cf.Plan(PLANS[name]).protect(file, seed=1)
    knows = ["group", "income", "tax", *(["rent"] if name == "three" else [])]
    scene = next(scenes(cf.Intruder(knows=knows).attack(release)))[1]
    numbers = scene.numbers
    asked = known_together([n.known for n in numbers], [n.like_a for n in numbers])
    assert np.array_equal(noise_correlation(scene, [numbers[i] for i in asked]), np.eye(len(asked)))
    assert scene.fit.believed.joint
    rows = np.arange(0, len(scene.rows), 23)
    fast = log_joint(scene, asked, rows, single=log_number)
    slow = np.log([plain_m(scene, int(j)) for j in rows])
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_beliefs_sum_to_one_in_every_cell() -> None:
    release = cf.Plan(PLANS["noise and swap"]).protect(two_numbers(240, 3), seed=1)
    scene = next(scenes(cf.Intruder(knows=["group", "income", "tax"]).attack(release)))[1]
    (belief,) = scene.fit.believed.joint.values()
    for cell in range(belief.mu.shape[2]):
        both = np.nan_to_num(masses(belief, cell)).sum(axis=0) + masses(belief.near, cell).sum(axis=0)
        np.testing.assert_allclose(both, 1.0, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
def test_boxes_hold_the_points_in_them(n: int) -> None:
    rng = np.random.default_rng(n)
    order, second = rng.permutation(n), rng.permutation(n)
    first = np.argsort(order)
    ends = [np.sort(rng.integers(0, n + 1, (2, 30)), axis=0) for _ in range(2)]
    boxes = Boxes.of(order, second)
    box, level, start, stop = boxes.ranges((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]))
    points, owner = boxes.points(level, start, stop), np.repeat(box, stop - start)
    for i in range(30):
        inside = (
            (first >= ends[0][0, i]) & (first < ends[0][1, i]) & (second >= ends[1][0, i]) & (second < ends[1][1, i])
        )
        assert sorted(points[owner == i]) == np.flatnonzero(inside).tolist()


@pytest.mark.parametrize("knows", [["income", "tax"], ["group", "income", "tax"]])
@pytest.mark.parametrize("name", ["rank swaps", "noise and rank swap", "rank exchanges"])
def test_targets_meet_all_records_that_they_can_have_become(name: str, knows: list[str]) -> None:
    """Against the formula for one target, over its whole block."""
    release = cf.Plan(PLANS[name]).protect(two_numbers(120, 5), seed=2)
    attack = cf.Intruder(knows=knows).attack(release)
    for i in range(0, 120, 9):
        found = attack.posterior(i)
        unit, own = attack.units.row(i, named=True), found.filter(pl.col("row") == attack.own_rows[i])["p"][0]
        assert (unit["p_max"], unit["p_true"]) == pytest.approx((found["p"].max(), own), abs=1e-12)
        assert unit["as_likely"] == ((found["p"] >= own * (1 - 1e-9)).sum() - 1)
