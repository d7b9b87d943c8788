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


def test_level_exact_says_what_it_does_not_use() -> None:
    release = cf.Plan([cf.LocalSuppression(KEYS, k=3)], identifiers=["id"]).protect(people(200, 1), seed=1)
    said = "what other released variables say of values that are hidden is not used"
    flat = {
        lev: " ".join(repr(cf.Intruder.at(lev, knows=KEYS).attack(release)).split()) for lev in ("exact", "informed")
    }
    assert said in flat["exact"]
    assert said not in flat["informed"]


def test_coarsened_and_then_hidden_is_attacked_at_every_level() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.LocalSuppression(KEYS, k=3)], identifiers=["id"])
    release = plan.protect(people(400, 1), seed=1)
    got = {lev: found(cf.Intruder.at(lev, knows=KEYS).attack(release)) for lev in ("average", "informed", "naive")}
    assert got["naive"][1] <= got["average"][1] <= got["informed"][1] + 1e-9
    assert got["average"][0] == pytest.approx(got["average"][1], rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["informed", "exact", "average"])
def test_an_interval_of_a_coarsened_key_is_understood(level: str) -> None:
    claimed, right = 0.0, 0.0
    plan = cf.Plan([cf.Recode("age", width=10), cf.LocalSuppression(KEYS, k=3)], identifiers=["id"])
    for seed in range(2):
        data = people(300, seed)
        below = np.random.default_rng(seed).integers(0, 9, 300)
        near = data.with_columns(low=pl.col("age") - below, high=pl.col("age") - below + 8)
        who = cf.Intruder.at(level, knows=["sex", "area"], between={"age": ("low", "high")})
        c, r = found(who.attack(plan.protect(data, seed=seed), targets=near))
        claimed, right = claimed + c, right + r
    assert claimed == pytest.approx(right, rel=0.08)


def test_a_naive_intruder_has_an_interval_of_a_coarsened_key_too() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.LocalSuppression(KEYS, k=3)], identifiers=["id"])
    near = people(300, 1).with_columns(low=pl.col("age") - 4, high=pl.col("age") + 4)
    who = cf.Intruder.at("naive", knows=["sex", "area"], between={"age": ("low", "high")})
    assert found(who.attack(plan.protect(people(300, 1), seed=1), targets=near))[1] > 0


def test_an_interval_among_too_many_values_is_refused_with_a_way_out() -> None:
    """At level exact nobody is told to ask at level exact."""
    data = people(1_500, 1).with_columns(
        low=pl.col("age") - 2, high=pl.col("age") + 2, day=pl.Series(range(1_500)) % 40
    )
    keys = [*KEYS, "day"]
    release = cf.Plan([cf.LocalSuppression(keys, k=2)], identifiers=["id"], drop=["low", "high"]).protect(data, seed=1)
    who = cf.Intruder.at("exact", knows=["sex", "area", "day"], between={"age": ("low", "high")})
    with pytest.raises(cf.InputError, match="give that value, or coarsen the variables"):
        who.attack(release, targets=data)


def test_rows_of_one_unit_do_not_count_as_several_people() -> None:
    once = people(60, 1).rename({"id": "person"})
    panel = pl.concat([once.with_columns(wave=pl.lit(w)) for w in range(3)])
    plan = cf.Plan([cf.LocalSuppression(KEYS, k=3)], unit="person")
    with pytest.raises(cf.InputError, match="the rows of a unit all have the same keys"):
        plan.protect(panel, seed=1)
    older = panel.with_columns(age=pl.col("age") + pl.when(pl.col("person") == 0).then(pl.col("wave")).otherwise(0))
    said = plan.protect(older, seed=1).cautions
    assert any("k counts rows, not units" in each for each in said)
    assert not any("k counts rows" in each for each in plan.protect(once, seed=1).cautions)


def test_a_variable_that_is_mostly_hidden_is_told() -> None:
    data = people(200, 1).with_columns(income=pl.Series(range(200)) // 2)
    release = cf.Plan([cf.LocalSuppression(["income", "sex"], k=3)], identifiers=["id"]).protect(data, seed=1)
    assert any(
        f'of "income" {release.details[0]["hidden"]["income"]} of 200 values are hidden' in c for c in release.cautions
    )
    assert 'of "income"' in repr(release)


def test_risks_are_as_many_as_records_of_the_file_also_after_a_sample() -> None:
    data = people(100, 1)
    for many in (99, 101, 300):
        step = cf.LocalSuppression(KEYS, k=3, risk=[0.9] * many, above=0.5)
        with pytest.raises(cf.InputError, match=f"risk has {many} numbers, but the file has 100 records"):
            cf.Plan([cf.Sample(0.5), step], identifiers=["id"]).protect(data, seed=1)


def test_a_k_beside_subsets_is_not_dropped_without_a_word() -> None:
    with pytest.raises(cf.InputError, match="k=5 would count for nothing"):
        cf.LocalSuppression(KEYS, k=5, subsets={2: 3})
