"""What attacks on releases with hidden values claim is what they find, and hiding does not tell whose values it hid."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf

KEYS = ["sex", "age", "area"]


def people(n: int, seed: int) -> pl.DataFrame:
    """Ages 18 to 89, areas and sexes of unequal size, and whether somebody is retired, which hangs on age."""
    g = np.random.default_rng(seed)
    age = np.clip(np.round(g.gamma(6, 8, n)), 18, 89).astype(int)
    return pl.DataFrame({
        "id": np.arange(n), "sex": g.choice(["f", "m"], n), "age": age,
        "area": g.choice([*"abcde"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "retired": np.where(g.uniform(size=n) < 1 / (1 + np.exp(-(age - 62) / 3)), "yes", "no"),
    })  # fmt: skip


def found(attack: cf.Attack) -> tuple[float, float]:
    """Matches claimed and right ones."""
    u = attack.units
    right = (u["hit"].cast(pl.Float64) / u["n_max"].clip(lower_bound=1)).fill_null(0.0)
    return float(u["p_max"].sum()), float(right.sum())


def jobs(seed: int) -> pl.DataFrame:
    g = np.random.default_rng(seed)
    weight = np.round(g.gamma(2, 20, 181) + 2, 2)
    return pl.DataFrame({"job": ["a"] * 100 + ["b"] * 80 + ["c"], "weight": weight})


def test_weights_of_rows_with_hidden_values_do_not_tell_who_lent_them() -> None:
    """The heaviest of three hidden rows is the rare person in one of three files, not in all."""
    hits = 0
    for seed in range(60):
        plan = cf.Plan([cf.LocalSuppression("job", k=3, weight="weight")], weight="weight")
        release = plan.protect(jobs(seed), seed=seed)
        hidden = release.data.with_row_index().filter(pl.col("job").is_null()).sort("weight")
        assert hidden.height == 3
        hits += release.link[hidden["index"][-1]] == 180
    assert 8 <= hits <= 32  # binomial(60, 1/3) has mean 20, sd 3.7


def test_who_is_asked_for_does_not_tell_who_lent_a_row() -> None:
    """Lenders have high risks as often as other people."""
    high = 0
    for seed in range(60):
        data = jobs(seed)
        risk = (data["weight"] > data["weight"].median()).cast(float).to_list()
        risk[180] = 1.0
        release = cf.Plan([cf.LocalSuppression("job", k=3, risk=risk, above=0.5)]).protect(data, seed=seed)
        hidden = np.flatnonzero(release.data["job"].is_null().to_numpy())
        high += sum(risk[release.link[j]] for j in hidden if release.link[j] != 180)
    assert 40 <= high <= 80  # of 120 lenders half; none before


def test_a_register_counts_people_with_the_same_keys() -> None:
    """Whoever has a register knows how many people have the target's keys: p = n_yz / (N_y n_z)."""
    claimed, right, top = 0.0, 0.0, 0.0
    for seed in range(10):
        everybody = people(1_200, seed)
        at = np.sort(np.random.default_rng(seed).choice(1_200, 300, replace=False))
        truth = np.full(1_200, -1)
        truth[at] = np.arange(300)
        release = cf.Plan([cf.LocalSuppression(KEYS, k=3)], identifiers=["id"]).protect(everybody[at], seed=seed)
        who = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=everybody))
        attack = who.attack(release, targets=everybody, truth=truth)
        c, r = found(attack)
        claimed, right, top = claimed + c, right + r, max(top, float(attack.units["p_max"].max()))
        assert attack.units["p_absent"].sum() == pytest.approx(900, abs=1e-3)
    assert claimed == pytest.approx(right, rel=1e-6)
    assert top == pytest.approx(1 / 3)


def test_register_by_hand() -> None:
    """Six people of the file, c and one b hidden; of the register's four b two are in the file, of two c one."""
    file = pl.DataFrame({"v": [*"aaabbc"]})
    shown = pl.DataFrame({"v": [*"aaab", None, None]})
    release = cf.Release.adopt(file, shown, cf.Plan([cf.LocalSuppression("v", k=2)]), link=range(6))
    register = pl.DataFrame({"v": [*"aaabbbbccd"]})
    who = cf.Intruder(knows=["v"], membership=cf.Unsure(population=register))
    got = who.attack(release, targets=register, truth=[0, 1, 2, 3, 4, -1, -1, 5, -1, -1]).units
    right = [1 / 3] * 3 + [1 / 4] * 4 + [1 / 4] * 2 + [0.0]
    np.testing.assert_allclose(got["p_max"].to_numpy(), right, atol=1e-8)


@pytest.mark.parametrize("coarser", [cf.Topcode("age", at=70), cf.Recode("age", width=10)])
def test_level_exact_claims_what_it_finds(coarser: cf.Plan) -> None:
    claimed, right = 0.0, 0.0
    for seed in range(10):
        release = cf.Plan([coarser, cf.LocalSuppression(KEYS, k=3)], identifiers=["id"]).protect(
            people(400, seed), seed=seed
        )
        attack = cf.Intruder.at("exact", knows=KEYS).attack(release)
        assert attack.units["p_max"].max() <= 1 / 3 + 1e-12
        c, r = found(attack)
        claimed, right = claimed + c, right + r
    assert claimed == pytest.approx(right, rel=1e-9)


def test_coarsened_and_then_hidden_is_attacked_at_every_level() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.LocalSuppression(KEYS, k=3)], identifiers=["id"])
    release = plan.protect(people(400, 1), seed=1)
    got = {lev: found(cf.Intruder.at(lev, knows=KEYS).attack(release)) for lev in ("average", "informed", "naive")}
    assert got["naive"][1] <= got["average"][1] <= got["informed"][1] + 1e-9
    assert got["average"][0] == pytest.approx(got["average"][1], rel=0.15)
