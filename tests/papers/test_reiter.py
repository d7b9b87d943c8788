"""Reiter (2005) on the shipped householders: Tables 3 to 6 in shape, and every number that needs no CPS file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from papers.reiter import paper as reiter
from papers.reiter.setup import (
    BOTH,
    CUTPOINTS,
    KEYS,
    MONEY,
    NO_SDL,
    NOISE_SD,
    PERTURBED,
    RECODE,
    SWAP,
    TOPCODE,
    TOPCODED,
    Experiment,
)
from tests.helpers.places import DOCS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def done() -> Experiment:
    return reiter.experiment(progress=False)


@pytest.fixture(scope="module")
def risks(done: Experiment) -> dict[tuple[str, bool], dict[str, float]]:
    frame = reiter.table6(done)
    return {(r["strategy"], r["money_known"]): r for r in frame.iter_rows(named=True)}


@pytest.fixture(scope="module")
def table3(done: Experiment) -> pl.DataFrame:
    return reiter.table3(done)


def own(frame: pl.DataFrame, unit: str, strategy: str) -> dict[str, float]:
    return frame.filter(pl.col("unit") == unit, pl.col("strategy") == strategy).row(0, named=True)


def released(done: Experiment, strategy: str, unit: str) -> dict[str, object]:
    release = done.releases[strategy]
    at = int(np.flatnonzero(release.link == done.people[unit])[0])
    return release.frame.row(at, named=True)


# What was set up


def test_the_parameters_are_those_of_the_paper_in_terms_of_this_file(done: Experiment) -> None:
    values = done.heads[MONEY]
    owners = values.filter(values > 0)
    assert round(0.10 * owners.std()) == NOISE_SD
    covered = [int((values >= w).sum()) for w in CUTPOINTS]
    paper = [28, 253, 1100, 3448]
    assert all(0.8 < c / p < 1.2 for c, p in zip(covered, paper, strict=True))
    assert (owners >= TOPCODE).mean() == pytest.approx(3448 / 33_076, rel=0.02)


def test_the_four_people_are_who_the_paper_says(done: Experiment) -> None:
    heads = done.heads
    everyman, unique, big_i, big_p = (heads.row(done.people[u], named=True) for u in done.people)
    assert (everyman["race"], everyman["marital"]) == ("White", "married, spouse present")
    for v in ("age", MONEY, "hh_income"):
        assert abs((heads[v] < everyman[v]).mean() - 0.5) < 0.05
    alone = heads.filter(pl.all_horizontal(pl.col(v) == unique[v] for v in KEYS))
    assert alone.height == 1
    assert [unique[v] for v in KEYS] == ["female", "Native or other", "spouse absent", 39]
    assert big_i["hh_income"] == heads["hh_income"].max()
    assert big_p[MONEY] == heads[MONEY].max()


def test_the_seed_alters_whom_table_2_shows_as_altered(done: Experiment) -> None:
    for unit, row in done.people.items():
        before, after = done.heads.row(row, named=True), released(done, SWAP, unit)
        assert before["race"] == after["race"]
        assert (before["marital"] == after["marital"]) == (unit in ("Everyman", "Big I"))


def test_the_page_shows_table_6(risks: dict[tuple[str, bool], dict[str, float]]) -> None:
    page = (DOCS / "explanation/papers/reiter.md").read_text(encoding="utf-8")
    measures = ("over_threshold", "expected_matches", "unique_matches")
    for strategy in (NO_SDL, RECODE, SWAP, BOTH, PERTURBED, TOPCODED):
        (row,) = re.findall(rf"^\| {re.escape(strategy)} \|(.*\(.*)\|$", page, re.MULTILINE)
        shown = [float(cell.partition("(")[0].replace(",", "")) for cell in row.split("|")]
        now = [risks[strategy, money][measure] for measure in measures for money in (False, True)]
        assert shown == pytest.approx(now, rel=0.01, abs=1), strategy


# Numbers that follow from the file alone


@pytest.mark.parametrize("money", [False, True])
@pytest.mark.parametrize("strategy", [NO_SDL, RECODE])
def test_without_random_steps_table_6_is_a_count_of_cells(
    done: Experiment, risks: dict[tuple[str, bool], dict[str, float]], strategy: str, money: bool
) -> None:
    keys = [*KEYS, MONEY] if money else list(KEYS)
    file = done.heads if strategy == NO_SDL else done.heads.with_columns(pl.col("age") // 5)
    cells = file.group_by(keys).len()["len"]
    row = risks[strategy, money]
    assert row["expected_matches"] == pytest.approx(cells.len(), abs=1e-6)
    assert row["unique_matches"] == (cells == 1).sum()
    assert row["over_threshold"] == cells.filter(cells <= 4).sum()


def test_table_3_without_protection_is_one_over_the_cell_and_over_its_weights(
    done: Experiment, table3: pl.DataFrame
) -> None:
    for unit, row in done.people.items():
        me = done.heads.row(row, named=True)
        cell = done.heads.filter(pl.all_horizontal(pl.col(v) == me[v] for v in KEYS))
        certain, unsure = table3.filter(unit=unit, strategy=NO_SDL).sort("membership").iter_rows(named=True)
        assert certain["p_true"] == pytest.approx(1 / cell.height, rel=1e-12)
        assert certain["as_likely"] == cell.height - 1
        assert unsure["p_true"] == pytest.approx(1 / cell["weight"].sum(), rel=1e-9)


def test_who_is_unsure_gives_far_less_than_who_is_certain(table3: pl.DataFrame) -> None:
    both = table3.pivot("membership", index=["unit", "strategy"], values="p_true")
    certain, unsure = both["knows target in file"], both["unsure target in file"]
    assert (unsure < certain / 500).all()


def test_the_papers_example_of_how_common_a_released_race_is() -> None:
    """Section 4.2.1: the chance of a released black is (.82)(.05) + (.12)(.75) + (.01)(.10) + (.05)(.10)."""
    races, share = ["white", "black", "native", "asian"], [8200, 1200, 100, 500]
    file = pl.DataFrame({"race": pl.Series(np.repeat(races, share), dtype=pl.Enum(races))})
    black = np.array([0.05, 0.75, 0.10, 0.10])
    matrix = np.column_stack([1 - black, black, np.zeros(4), np.zeros(4)])
    release = cf.Plan([cf.Pram("race", matrix=matrix)]).protect(file, seed=1)
    attack = cf.Intruder(knows=["race"]).attack(release, targets=pl.DataFrame({"race": ["black"]}), truth=[8200])
    p = attack.posterior(0).join(release.frame.with_row_index("row").cast({"row": pl.Int64}), on="row")
    each = {race: p.filter(pl.col("race") == race)["p"][0] for race in ("black", "white")}
    common = 0.82 * 0.05 + 0.12 * 0.75 + 0.01 * 0.10 + 0.05 * 0.10
    assert each["black"] / each["white"] == pytest.approx((0.75 / common) / (0.25 / (1 - common)), rel=1e-3)


# Findings


def test_recoding_protects_more_than_swapping(risks: dict[tuple[str, bool], dict[str, float]]) -> None:
    assert risks[RECODE, False]["expected_matches"] < risks[SWAP, False]["expected_matches"] / 2
    assert risks[BOTH, False]["expected_matches"] < risks[RECODE, False]["expected_matches"]


def test_knowing_the_money_variable_multiplies_risk(risks: dict[tuple[str, bool], dict[str, float]]) -> None:
    for strategy in (NO_SDL, RECODE, SWAP, BOTH, PERTURBED, TOPCODED):
        known, not_known = risks[strategy, True], risks[strategy, False]
        assert known["expected_matches"] > 3 * not_known["expected_matches"]
        assert known["unique_matches"] > 10 * not_known["unique_matches"]


def test_swapping_adds_little_once_the_money_variable_is_known(
    risks: dict[tuple[str, bool], dict[str, float]],
) -> None:
    assert risks[SWAP, True]["expected_matches"] > 0.8 * risks[NO_SDL, True]["expected_matches"]
    assert risks[BOTH, True]["expected_matches"] > 0.7 * risks[RECODE, True]["expected_matches"]


def test_noise_helps_most_and_a_topcode_further(risks: dict[tuple[str, bool], dict[str, float]]) -> None:
    chain = [risks[s, True] for s in (BOTH, PERTURBED, TOPCODED)]
    for measure in ("expected_matches", "unique_matches", "over_threshold"):
        plain, noisy, topcoded = (r[measure] for r in chain)
        assert noisy < plain / 3
        assert topcoded < 0.8 * noisy


def test_who_does_not_know_the_money_variable_ignores_what_was_done_to_it(done: Experiment) -> None:
    same = ["p_max", "n_max", "hit", "as_likely"]
    plain = done.targets[BOTH, False].select(same)
    for strategy in (PERTURBED, TOPCODED):
        assert np.allclose(plain["p_max"], done.targets[strategy, False]["p_max"], rtol=1e-9)
        assert plain["hit"].equals(done.targets[strategy, False]["hit"])


def test_a_swap_sends_uniques_match_elsewhere(done: Experiment, table3: pl.DataFrame) -> None:
    certain = table3.filter(membership="knows target in file")
    assert own(certain, "Unique", NO_SDL)["p_true"] == 1
    for strategy in (SWAP, BOTH):
        hers = own(certain, "Unique", strategy)
        assert hers["p_true"] < 0.05
        assert hers["rank"] > 1
    assert not done.targets[SWAP, False]["hit"][done.people["Unique"]]


def test_everyman_and_big_i_gain_nothing_from_swaps_that_leave_them_alone(table3: pl.DataFrame) -> None:
    certain = table3.filter(membership="knows target in file")
    for unit in ("Everyman", "Big I"):
        before, after = own(certain, unit, NO_SDL), own(certain, unit, SWAP)
        assert after["p_true"] == pytest.approx(before["p_true"], rel=0.4)


def test_noise_does_not_hide_an_outlier_and_a_topcode_does(done: Experiment) -> None:
    table4 = reiter.table4(done)
    assert own(table4, "Big P", PERTURBED)["p_true"] > 0.99
    assert own(table4, "Big P", TOPCODED)["p_true"] < 0.05
    assert own(table4, "Everyman", PERTURBED)["p_true"] < own(table4, "Everyman", BOTH)["p_true"] / 10
    zero = [own(table4, "Unique", s)["p_true"] for s in (BOTH, PERTURBED)]
    assert zero[1] == pytest.approx(zero[0], rel=0.25)  # her zero is not perturbed


def test_table_5_falls_with_the_cutpoint(done: Experiment) -> None:
    table5 = reiter.table5(done)
    p = table5["p_true"].to_numpy()
    assert (np.diff(p) < 0).all()
    assert p[-1] < 0.05
    assert table5["rank"][-1] > 1  # his released marital status is not his own: others come first


def test_the_naive_intruder_gains_on_unaltered_records_and_loses_the_altered(done: Experiment) -> None:
    release = done.releases[SWAP]
    naive = cf.Intruder(knows=KEYS, available="naive").attack(release, progress=False).units
    informed = done.targets[SWAP, False]
    people = done.people
    assert naive["p_true"][people["Unique"]] == naive["p_true"][people["Big P"]] == 0
    place = np.argsort(release.link)
    z = release.frame[place]
    kept = pl.Series((z["race"] == done.heads["race"]) & (z["marital"] == done.heads["marital"]))
    assert (naive["p_true"].filter(~kept) == 0).all()
    rare = kept & (naive["n_max"] == 1)
    assert rare.sum() > 100
    assert (naive["p_true"].filter(rare) == 1).all()
    assert informed["p_true"].filter(rare).mean() < 0.9
    assert informed["hit"].filter(rare).mean() > 0.9


def test_informed_probabilities_are_right_and_without_a_too_modest(done: Experiment) -> None:
    for strategy in (SWAP, BOTH, PERTURBED, TOPCODED):
        for money in (False, True):
            assert abs(cf.calibrate(done.targets[strategy, money]).z) < 4, (strategy, money)
    without = replace(reiter.informed(money=False), others="ignore")
    attack = without.attack(done.releases[BOTH], progress=False)
    assert attack.summary().claimed_matches < 0.5 * attack.summary().expected_matches


# The demonstration itself


def test_the_demo_writes_its_files_whole_and_refuses_to_replace_them(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    result = reiter.run_demo(out, progress=False, heads=cf.demo("heads").head(400))
    assert sorted(p.name for p in out.iterdir()) == sorted(f.name for f in result.files)
    written = pl.read_csv(out / "table6.csv")
    assert written.height == 12
    assert (out / "calibration.png").read_bytes().startswith(b"\x89PNG")
    picture = (out / "expected_matches.svg").read_text()
    for value in result.table6["expected_matches"]:
        assert f">{value:,.0f}<" in picture
    assert "Table 6" in result.text
    assert (out / "summary.txt").read_text() == result.text + "\n"
    json.dumps(result.to_dict())
    with pytest.raises(cf.InputError, match=r"holds table6.csv, .* overwrite=True"):
        reiter.run_demo(out)


def test_pictures_hold_no_record() -> None:
    from confide.show.charts.charts import strategies_chart

    frame = pl.DataFrame({"strategy": ["none"] * 600, "knows": "age", "expected_matches": 1.0})
    with pytest.raises(cf.InputError, match="never records"):
        strategies_chart(frame)
