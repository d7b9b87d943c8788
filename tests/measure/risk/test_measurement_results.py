"""Ranks, declarations and exposure against direct computation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.measurement_twin import elite_like, error_step, mixed_file, posterior

# -- ranks and declarations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("membership", ["certain", "unsure", "in_file"])
@pytest.mark.parametrize("top", [1, 3, 10])
def test_the_rank_table(membership, top):
    file = mixed_file(60, 35)
    file = pl.concat([file, file.head(15), file.head(4)])
    plan = cf.Plan([cf.Sample(0.8), cf.Swap("race", rate=0.2), error_step("u", (cf.Gamma(20, 1), None))])
    release, targets = plan.protect(file, seed=2), cf.simulate_targets(file, plan, seed=9)
    who = cf.Unsure(total=300) if membership == "unsure" else membership
    attack = cf.Intruder(knows=["sex", "race", "u"], membership=who).attack(release, targets, truth=range(79))
    table = attack.ranks(top)
    beyond = f">{top}"
    assert table["rank"].to_list()[: top + 1] == [*map(str, range(1, top + 1)), beyond]
    assert table["targets"].sum() == 79
    units = attack.units
    sums = np.array([posterior(attack, i, release.frame.height) for i in range(79)])
    sums = np.sort(sums, axis=1)[:, ::-1][:, :top].sum(axis=1)
    for row in table.iter_rows(named=True):
        if row["rank"] == "none":
            mine = units["rank"].is_null().to_numpy()
        elif row["rank"] == beyond:
            mine = (units["rank"] > top).fill_null(False).to_numpy()
        else:
            mine = (units["rank"] == int(row["rank"])).fill_null(False).to_numpy()
        assert row["targets"] == mine.sum()
        if mine.any():
            assert row["p_top"] == pytest.approx(sums[mine].mean(), rel=1e-9)
            if row["rank"] != "none":
                p = units["p_true"].to_numpy()[mine]
                assert row["p_true"] == pytest.approx(p.mean(), rel=1e-12)
                if mine.sum() > 1:
                    assert row["p_true_sd"] == pytest.approx(p.std(ddof=1), rel=1e-6, abs=1e-12)
                    assert row["p_top_sd"] == pytest.approx(sums[mine].std(ddof=1), rel=1e-6, abs=1e-9)
    assert ("none" in table["rank"]) == bool(units["rank"].null_count())
    assert "none" in table["rank"]  # not released, all of them targets


@pytest.mark.parametrize("thresholds", [0.5, (0.1, 0.2, 0.5, 0.9), [0, 1]])
def test_declarations(thresholds):
    file = mixed_file(60, 36)
    file = pl.concat([file, file.head(10)])
    plan = cf.Plan([error_step("u", (cf.Gamma(20, 10), None)), error_step("v", (cf.Gamma(20, 10), None))])
    targets = cf.simulate_targets(file, plan, seed=9)
    attack = cf.Intruder(knows=["u", "v"], membership=cf.Unsure(total=140)).attack(
        plan.protect(file, seed=2), targets, truth=range(70)
    )
    table = attack.declare(thresholds)
    given_ = [thresholds] if isinstance(thresholds, float) else list(thresholds)
    assert table["threshold"].to_list() == given_
    for row, limit in zip(table.iter_rows(named=True), given_, strict=True):
        mine = attack.units.filter(pl.col("p_max") > limit)
        right = sum(h / n for h, n in mine.select("hit", "n_max").iter_rows())
        assert row["declared"] == mine.height
        assert row["claimed"] == pytest.approx(mine["p_max"].sum(), abs=1e-12)
        assert row["right"] == pytest.approx(right, abs=1e-12)
        assert row["wrong"] == pytest.approx(mine.height - right, abs=1e-12)
        counted = sum(h / n * (1 - a) for h, n, a in mine.select("hit", "n_max", "p_absent").iter_rows())
        assert row["found"] == pytest.approx(counted / 70, abs=1e-12)  # all targets are released
        assert row["share_right"] == (pytest.approx(right / mine.height) if mine.height else None)


# -- exposure ------------------------------------------------------------------------------------------------


def test_exposure_grows_with_what_is_known_and_what_is_released():
    file = elite_like(300, 37)
    plan = cf.Plan([cf.MeasurementError(["u", "v", "w"], noise_sd={"u": 1.0, "v": 0.5, "w": 0.3})])
    found = cf.exposure(file, plan, ["u", "v", "w"], shares=[1, 0.3], seed=1, repeats=2).frame
    assert found["known"].to_list() == [1, 2, 3, 1, 2, 3]
    assert found["share"].to_list() == [1.0] * 3 + [0.3] * 3
    assert found["knows"].to_list()[2] == "u, v, w"
    for share in (1.0, 0.3):
        part = found.filter(share=share)
        assert part["first"].is_sorted()
        assert part["p_true"].is_sorted()
        assert (part["first"] <= part["top"]).all()
    assert (found.filter(share=1.0)["p_absent"] == 0).all()
    assert (found.filter(share=0.3)["p_absent"] > 0.3).all()
    assert found.equals(cf.exposure(file, plan, ["u", "v", "w"], shares=[1, 0.3], seed=1, repeats=2).frame)
