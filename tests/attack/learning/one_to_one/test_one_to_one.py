"""Everybody matched at once, from the release on: beside all matchings one by one, and what must never change it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.one_to_one import candidates, nearby
from tests.helpers.matchings import brute

HEADS = cf.demo("heads")
KEYS = ["sex", "race", "marital", "age"]


def noisy(n: int, sd: float, seed: int, people: int | None = None) -> cf.Attack:
    """Standard normal values with noise; everybody is a target."""
    y = np.random.default_rng(seed).normal(size=n)
    frame = pl.DataFrame({"y": y})
    release = cf.Plan([cf.Noise("y", sd=sd)], numeric=["y"]).protect(frame, seed=seed)
    who = "certain" if people is None else cf.Unsure(total=people, model="proportional")
    return cf.Intruder(knows=["y"], membership=who).attack(release)


def weights(attack: cf.Attack) -> Any:
    """R of all pairs from the posteriors one by one."""
    n, r = attack.units.height, attack.release.frame.height
    out = np.zeros((n, r))
    for i in range(n):
        found = attack.posterior(i)
        out[i, found["row"].to_numpy()] = found["p"].to_numpy()
        absent = attack.units["p_absent"][i]
        if absent:
            out[i] *= attack.absent_weight(i) / absent
    return out


@pytest.mark.parametrize("people", [None, 6, 25])
def test_as_all_matchings_one_by_one(people: int | None) -> None:
    attack = noisy(6, 0.5, 3, people)
    matched = attack.one_to_one()
    p, _ = brute(weights(attack), people)
    placed = matched.frame.drop_nulls("row")
    mine = p[placed["target"].to_numpy(), placed["row"].to_numpy()]
    assert placed["p"].to_numpy() == pytest.approx(mine, abs=1e-9)
    assert matched.frame["p_max"].to_numpy() == pytest.approx(p.max(axis=1), abs=1e-9)
    assert matched.frame["p_absent"].to_numpy() == pytest.approx(1 - p.sum(axis=1), abs=1e-9)
    assert placed["row"].n_unique() == placed.height
    alone = weights(attack)
    alone /= alone.sum(axis=1, keepdims=True) + (0 if people is None else people - 6)
    chosen = alone[placed["target"].to_numpy(), placed["row"].to_numpy()]
    assert placed["p_independent"].to_numpy() == pytest.approx(chosen, abs=1e-9)


def test_an_unaltered_file_gives_its_distinct_cells_and_every_unique() -> None:
    heads = HEADS.head(2_000)
    release = cf.Plan([], identifiers=["id"]).protect(heads, seed=1)
    attack = cf.Intruder(knows=KEYS).attack(release)
    matched = attack.one_to_one()
    size = heads.group_by(KEYS).len()["len"]
    for column in ("hit_independent", "hit_map", "hit_marginal", "p", "p_max"):
        assert matched.frame[column].sum() == pytest.approx(len(size))
    unique = attack.units["candidates"] == 1
    assert unique.sum() == (size == 1).sum() > 100
    assert matched.frame.filter(unique)["hit_map"].to_list() == [1.0] * int(unique.sum())
    rows = matched.frame.filter(unique)["row"].to_numpy()
    assert (release.link[rows] == attack.truth[unique.to_numpy()]).all()
    assert matched.summary().frame["z"].to_list() == [0.0, 0.0, 0.0]
    assert matched.frame["row"].n_unique() == 2_000
    drawn = (release.link[matched.frame["row"].to_numpy()] == attack.truth).sum()
    assert abs(drawn - len(size)) < 5 * np.sqrt(len(size))  # rows are drawn among those alike, whatever the truth


def some(n: int = 250, seed: int = 1) -> cf.Release:
    plan = cf.Plan(
        [cf.Recode("age", width=10), cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=2_000)], identifiers=["id"]
    )
    return plan.protect(HEADS.head(n).select("id", "sex", "race", "age", "hh_income"), seed=seed)


WHO = cf.Intruder(knows=["sex", "race", "age", "hh_income"])


def test_the_order_of_rows_changes_nothing() -> None:
    release = some()
    order = np.random.default_rng(0).permutation(release.frame.height)
    turned = cf.Release.adopt(release.original, release.frame[order], release.plan, release.link[order])
    first, second = (WHO.attack(r).one_to_one(sweeps=200) for r in (release, turned))
    same = ["p", "p_max", "p_error", "p_independent", "hit_map", "hit_marginal", "status"]
    assert first.summary().frame["right"].to_list() == pytest.approx(second.summary().frame["right"].to_list())
    for column in same:
        assert first.frame[column].to_list() == pytest.approx(second.frame[column].to_list(), nan_ok=True)
    back = second.frame["row"].to_numpy()
    mine = first.frame.filter(pl.col("alike") == 1)
    assert (order[back[mine["target"].to_numpy()]] == mine["row"].to_numpy()).all()


def test_the_truth_permuted_among_those_alike_changes_nothing() -> None:
    heads = HEADS.head(400).select("id", "sex", "race")
    release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(heads, seed=1)
    link = release.link.copy()
    alike = release.frame.select(pl.struct("sex", "race").rank("dense")).to_series().to_numpy()
    original = heads.select(pl.struct("sex", "race").rank("dense")).to_series().to_numpy()
    both = alike * 1000 + original[link]
    rng = np.random.default_rng(0)
    for code in np.unique(both):
        at = np.flatnonzero(both == code)
        link[at] = link[rng.permutation(at)]
    other = cf.Release.adopt(heads, release.frame, release.plan, link)
    first, second = (cf.Intruder(knows=["sex", "race"]).attack(r).one_to_one(sweeps=100) for r in (release, other))
    assert first.summary().frame.drop("way").equals(second.summary().frame.drop("way"))
    assert first.frame.drop("row").equals(second.frame.drop("row"))


def test_no_evidence_gives_one_over_the_number_of_people() -> None:
    frame = pl.DataFrame({"y": np.arange(8.0)})
    release = cf.Plan([cf.Noise("y", sd=1e9)], numeric=["y"]).protect(frame, seed=1)
    who = cf.Intruder(knows=["y"], membership=cf.Unsure(total=40, model="proportional"))
    matched = who.attack(release).one_to_one()
    assert matched.frame["p_max"].to_numpy() == pytest.approx(np.full(8, 1 / 40), rel=1e-4)
    assert matched.frame["p_absent"].to_numpy() == pytest.approx(np.full(8, 32 / 40), rel=1e-4)


def test_among_many_people_targets_do_not_matter_to_each_other() -> None:
    attack = noisy(8, 0.3, 1, 1_000_000)
    matched = attack.one_to_one()
    assert matched.frame["p_max"].to_numpy() == pytest.approx(attack.units["p_max"].to_numpy(), rel=1e-3)
    assert matched.frame["row"].null_count() == 8  # each is likelier somebody else


@pytest.mark.slow
@pytest.mark.parametrize(("sd", "table"), [(0.1, (6.97, 7.67, 7.65, 7.59)), (0.3, (4.35, 4.83, 4.91, 4.97))])
def test_ten_normal_values_with_noise(sd: float, table: tuple[float, ...]) -> None:
    """Right one by one, by the best assignment, by marginals, and what these claim; means over files."""
    rows = []
    for seed in range(90):
        found = noisy(10, sd, seed + 1).one_to_one().summary().frame
        rows.append([*found["right"], found["claimed"][2], found["claimed"][0]])
    mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
    # The intruder here estimates the distribution of y from ten values; the table knows it.
    assert (np.abs(mean[:4] - table) < 4 * error[:4] + 0.25).all()
    assert mean[1] > mean[0] + 0.2
    assert mean[2] > mean[0] + 0.2


def test_large_blocks_give_what_small_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likeliest candidates, proved by prices, beside every pair."""
    attack = noisy(120, 0.002, 5)
    every = attack.one_to_one(sweeps=400)
    monkeypatch.setattr(candidates, "SMALL", 0)
    monkeypatch.setattr(candidates, "FIRST", 1)
    few = attack.one_to_one(sweeps=400)
    assert every.gap == few.gap == 0
    assert every.frame["row"].equals(few.frame["row"])
    exact = (every.frame["status"] == "exact") & (few.frame["status"] == "exact")
    assert exact.sum() > 60
    for column in ("p", "p_max", "hit_marginal"):
        ours, theirs = (x.frame.filter(exact)[column].to_numpy() for x in (every, few))
        assert ours == pytest.approx(theirs, abs=1e-6)


LOOPS: dict[str, tuple[list[Any], cf.Intruder]] = {
    "plain": ([cf.Swap("race", rate=0.3)], cf.Intruder(knows=["sex", "race"])),
    "noisy": ([cf.Noise("hh_income", sd=3_000)], cf.Intruder(knows=["sex", "hh_income"])),
    "mixture": (
        [cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], cf.Intruder(knows=["sex", "race", "age"]),
    ),
    "any": ([cf.RankSwap("hh_income", window=8)], cf.Intruder(knows=["sex", "hh_income"])),
    "helped": (
        [cf.Noise("hh_income", sd=3_000)], cf.Intruder.at("exact", knows=["sex", "hh_income"]),
    ),
    "spread": (
        [cf.MeasurementError("hh_income", noise_variance=cf.Gamma(2_000**2, 3))], cf.Intruder(knows=["sex", "hh_income"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS)
def test_every_loop_gathers_the_largest_weights(loop: str) -> None:
    """Candidates by the loops of the attack beside every pair by the formula, with and without prices."""
    from confide.attack.engine.prepare import prepare
    from confide.attack.learning.one_to_one.types import types_of

    steps, who = LOOPS[loop]
    columns = ["id", "sex", "race", "marital", "age", "hh_income"]
    release = cf.Plan(steps, identifiers=["id"]).protect(HEADS.select(columns).head(300), seed=1)
    types = types_of(prepare(who, release, None, None))
    (source,) = types.sources
    plan = source.plan
    assert plan.loop == loop
    wanted = np.arange(len(plan.targets))
    target, record, log_w = candidates.every_pair(plan, wanted, 1)
    for price in (None, np.random.default_rng(0).gamma(1.0, size=len(plan.records))):
        row, at, found, peak = candidates.gather(plan, wanted, 5, price, 2)
        shown = log_w - (0.0 if price is None else price[record])
        for t in range(0, len(wanted), 7):
            mine = target == t
            best = np.sort(shown[mine & np.isfinite(shown)])[::-1][:5]
            ours = np.sort(found[row == t])[::-1]
            close = best > best.max(initial=-np.inf) - 25  # loops skip what is far below
            assert ours[: close.sum()] == pytest.approx(best[close], abs=1e-6)
            assert peak[t] == pytest.approx(best[0], abs=1e-6)
            pairs = dict(zip(record[mine].tolist(), shown[mine], strict=True))
            assert found[row == t] == pytest.approx([pairs[k] for k in at[row == t].tolist()], abs=1e-6)


def test_targets_of_whom_different_variables_are_known() -> None:
    """A target whose value is not known has candidates in several blocks: all are one problem."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "y": [0.0, 1.0, 0.0, 1.0]})
    release = cf.Plan([cf.Noise("y", sd=0.4)], numeric=["y"]).protect(frame, seed=2)
    targets = pl.DataFrame({"a": ["x", None, "y", None], "y": [0.0, 1.0, 0.0, 1.0]})
    who = cf.Intruder(knows=["a", "y"], knows_missing=False)
    attack = who.attack(release, targets, [0, 1, 2, 3])
    p, _ = brute(weights(attack))
    matched = attack.one_to_one()
    assert matched.frame["p_max"].to_numpy() == pytest.approx(p.max(axis=1), abs=1e-9)
    assert matched.components == 1
    unsure = cf.Intruder(knows=["a", "y"], knows_missing=False, membership="in_file")
    with pytest.raises(cf.InputError, match="blocks that overlap"):
        unsure.attack(release, targets, [0, 1, 2, 3]).one_to_one()


def test_people_of_the_file_who_may_not_be_released() -> None:
    plan = cf.Plan([cf.Sample(fraction=0.5), cf.Noise("y", sd=0.3)], numeric=["y"])
    frame = pl.DataFrame({"y": np.random.default_rng(4).normal(size=6)})
    attack = cf.Intruder(knows=["y"], membership="in_file").attack(plan.protect(frame, seed=1))
    p, _ = brute(weights(attack), 6)
    matched = attack.one_to_one()
    assert matched.frame["p_absent"].to_numpy() == pytest.approx(1 - p.sum(axis=1), abs=1e-9)
    assert matched.frame["row"].drop_nulls().n_unique() == attack.release.frame.height


def test_linked_copies_are_matched_together() -> None:
    frame = pl.DataFrame({"y": np.random.default_rng(4).normal(size=6)})
    plan = cf.Plan([cf.Noise("y", sd=0.5)], numeric=["y"])
    attack = cf.Intruder(knows=["y"]).attack(plan.protect(frame, seed=1, copies=3, linked=True))
    assert isinstance(attack, cf.Attack)
    p, _ = brute(weights(attack))
    assert attack.one_to_one().frame["p_max"].to_numpy() == pytest.approx(p.max(axis=1), abs=1e-9)
    apart = cf.Intruder(knows=["y"]).attack(plan.protect(frame, seed=1, copies=3, linked=False))
    with pytest.raises(AttributeError, match=r"attacks\[0\].one_to_one"):
        apart.one_to_one()  # type: ignore[union-attr]


@pytest.mark.slow
def test_calibrated_on_householders() -> None:
    release = some(700)
    matched = WHO.attack(release).one_to_one()
    ways = matched.summary().frame
    assert (ways["z"].abs() < 4).all()
    assert ways["right"][1] > ways["right"][0]
    assert "proved" in str(matched)
    assert matched.r_hat is None or matched.r_hat >= 1
    assert matched.frame.filter(status="exact")["p_error"].max() == 0


def test_more_targets_than_records_is_said() -> None:
    release = cf.Plan([cf.Sample(fraction=0.5)], identifiers=["id"]).protect(HEADS.head(60), seed=1)
    targets = HEADS.head(60).select("id", "sex")
    matched = cf.Intruder(knows=["sex"]).attack(release, targets).one_to_one()
    assert matched.unplaced == 60 - release.frame.height
    assert f"{matched.unplaced} targets find no record left" in str(matched)
    assert matched.frame["row"].null_count() == matched.unplaced


def test_the_truth_may_be_unknown() -> None:
    release = some(100)
    adopted = cf.Release.adopt(release.original, release.frame, release.plan)
    matched = WHO.attack(adopted).one_to_one(sweeps=100)
    assert matched.frame["hit_map"].null_count() == 100
    assert "unknown" in str(matched)
    assert matched.summary().frame["z"].null_count() == 3


def test_what_cannot_be_matched_is_said() -> None:
    release = some(60)
    attack = WHO.attack(release)
    with pytest.raises(cf.InputError, match="sweeps is a whole number from 100 upwards"):
        attack.one_to_one(sweeps=10)
    with pytest.raises(cf.InputError, match="seed is a whole number"):
        attack.one_to_one(seed=-1)
    with pytest.raises(cf.InputError, match="nearest number for the only one"):
        cf.Intruder.at("naive", knows=["hh_income"]).attack(release).one_to_one()
    twice = HEADS.head(3)[[0, 1, 1]]
    with pytest.raises(cf.InputError, match="1 of 3 targets are the same person"):
        WHO.attack(release, twice).one_to_one()
    people = cf.Intruder(knows=["sex", "race"], unit="age").attack(release)
    with pytest.raises(cf.InputError, match='several rows are of one "age"'):
        people.one_to_one()


def test_nobody_is_matched_with_nothing() -> None:
    release = some(40)
    nobody = HEADS.head(0).select("sex", "race", "age", "hh_income")
    matched = WHO.attack(release, nobody, []).one_to_one()
    assert matched.frame.height == 0
    assert "0 targets" in str(matched)


def test_pairs_that_are_hopeless_are_left_out_and_no_others() -> None:
    assert np.exp(-nearby.FAR) < 2e-10
