"""Fienberg, Makov and Sanil (1997) on the surrogate of their survey and on voters: the pattern of Tables 4.2 to 4.6."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.show.charts.drawing import save_chart
from confide.show.charts.rank_charts import exposure_chart, rank_chart
from papers.fienberg import paper as fienberg
from papers.fienberg.tables import COUNTS, NOISE, PAIRS, RATES, relative_noise
from tests.helpers.places import DOCS

slow = pytest.mark.slow
SMALL, MIDDLE, STATED = (f"bias, variance {phi}" for phi in ("0.0009", "0.03", "0.1732"))


@pytest.fixture(scope="module")
def done() -> fienberg.Experiment:
    return fienberg.experiment(repeats=3, progress=False)


@pytest.fixture(scope="module")
def found(done: fienberg.Experiment) -> dict[str, dict[str, float]]:
    return by_scenario(done)


def by_scenario(experiment: fienberg.Experiment) -> dict[str, dict[str, float]]:
    return {r["scenario"]: r for r in fienberg.summary(experiment).iter_rows(named=True)}


def check_pattern(found: dict[str, dict[str, float]], n: int) -> None:
    """What print finds, and what each reading of its bias does."""
    none = found["no error"]["first"]
    assert none > n / 4
    assert found["no error"]["within_ten"] >= 0.95 * n
    assert found["noise"]["first"] < none / 5
    assert found["noise"]["beyond_ten"] > n / 2
    assert found[SMALL]["first"] > 0.85 * none
    assert found[SMALL]["within_ten"] > 0.9 * n
    assert found[MIDDLE]["first"] < 0.45 * none
    assert found[STATED]["first"] < 0.15 * none
    for bias in (SMALL, MIDDLE, STATED):
        assert found[f"noise and {bias}"]["first"] < none / 5
    assert found[f"noise and {SMALL}"]["first"] == pytest.approx(found["noise"]["first"], abs=8)


# What is printed


def test_printed_tables_count_everybody() -> None:
    assert {sum(counts) for counts in COUNTS.values()} == {662}
    assert fienberg.printed("4.4").row(-1) == (">10", 448)


def test_table_42_follows_from_the_ranges_of_the_surrogate() -> None:
    table = fienberg.table42(fienberg.file_of())
    for r in table.iter_rows(named=True):
        assert r["noise_rate"] == pytest.approx(400 / (r["range"] / 6) ** 2, rel=1e-9)
        # Rates go with the square of ranges, which the surrogate meets within 7 percent.
        assert r["noise_rate"] == pytest.approx(r["printed_rate"], rel=0.16)
        assert r["bias_rate"] == pytest.approx(5000, rel=0.05)
        assert r["squared_bias_rate"] == pytest.approx(400 / (0.5 / 6) ** 2)
    assert table["variable"].to_list() == list(RATES)


def test_the_printed_pairs_speak_for_a_bias_variance_of_003() -> None:
    log_l = dict(fienberg.bias_in_print().iter_rows())
    assert log_l[0.03] > -1
    assert log_l[0.1732] < -5
    assert log_l[0.0009] < -30
    x, z = PAIRS["age"]
    step = cf.MeasurementError("age", noise_variance=NOISE["age"], bias_variance=cf.Gamma(1, 10)).learn(z, x)
    assert 0.02 < step.learnt["age"].means[1] < 0.15


def test_voters_have_noise_of_the_same_relative_size() -> None:
    file, sd, share = fienberg.file_of("anes1996"), fienberg.noise_of("anes1996"), relative_noise()
    for v, like in (("age", "age"), ("income", "income"), ("self_lr", "civil"), ("party_id", "can_us")):
        assert sd[v] / np.ptp(file[v].to_numpy()) == pytest.approx(share[like])
    assert file["party_id"].min() == 1


# Findings


@slow
def test_the_pattern_of_print(found: dict[str, dict[str, float]]) -> None:
    check_pattern(found, 662)
    assert found["no error"]["first_sd"] == 0
    assert all(0 < found[s]["first_sd"] < 40 for s in found if s != "no error")


@slow
def test_small_bias_gives_the_printed_bias_table_and_the_stated_one_cannot(
    found: dict[str, dict[str, float]],
) -> None:
    kept = {s: found[s]["first"] / found["no error"]["first"] for s in (SMALL, MIDDLE, STATED)}
    in_print = COUNTS["4.5"][0] / COUNTS["4.3"][0]
    assert abs(kept[SMALL] - in_print) < 0.12
    assert in_print - kept[MIDDLE] > 0.4
    assert in_print - kept[STATED] > 0.7
    assert found[STATED]["beyond_ten"] > 20 * COUNTS["4.5"][-1]


@slow
def test_rank_tables_are_those_of_the_attacks(done: fienberg.Experiment) -> None:
    tables = fienberg.tables(done)
    assert list(tables) == list(fienberg.SCENARIOS)
    for table in tables.values():
        assert table["targets"].sum() == pytest.approx(662)
    file = done.file
    release = fienberg.intruder_plan(file).protect(file, seed=1)
    ranks = cf.Intruder(knows=file.columns).attack(release, file, truth=range(662)).ranks(top=10)
    none = tables["no error"]
    assert none["targets"].to_list() == ranks["targets"].to_list()
    for column in ("p_true", "p_true_sd", "p_top", "p_top_sd"):
        assert np.allclose(none[column].to_numpy(), ranks[column].to_numpy(), rtol=1e-9, equal_nan=True)
    # Table 4.3: small probabilities, that fall with the rank; ten records hold little of the whole.
    assert 0.005 < none["p_true"][0] < 0.03
    assert none["p_true"][0] > none["p_true"][2] > none["p_true"][8]
    assert 0.05 < none["p_top"][0] < 0.2


def test_read_as_a_standard_deviation_the_prior_ranks_nearly_all_first() -> None:
    other = fienberg.experiment(repeats=1, as_printed=False, scenarios=["no error", SMALL], progress=False)
    found = by_scenario(other)
    assert found["no error"]["first"] >= 0.98 * 662
    assert found[SMALL]["first"] > 0.8 * 662 > 1.5 * COUNTS["4.5"][0]


@slow
def test_voters_show_the_same_pattern() -> None:
    found = by_scenario(fienberg.experiment("anes1996", repeats=2, progress=False))
    check_pattern(found, 944)
    assert all(r["printed_first"] is None for r in found.values())


def test_the_intruder_who_knows_the_error_is_right_as_often_as_it_claims() -> None:
    file = fienberg.file_of()
    plan, units = fienberg.known_error(file), []
    for seed in range(6):
        truth = cf.simulate_targets(file, plan, seed=seed)
        attack = cf.Intruder(knows=file.columns).attack(plan.protect(file, seed=seed), truth, truth=range(662))
        units.append(attack.units)
    assert abs(cf.calibrate(units).z) < 3.5


def test_a_smaller_release_hides_who_is_left_out_and_not_who_is_in_it() -> None:
    file = fienberg.file_of()
    seen = cf.exposure(file, fienberg.known_error(file), file.columns, shares=[1, 0.2], seed=1, progress=False).frame
    whole, part = (seen.filter(pl.col("share") == s) for s in (1.0, 0.2))
    assert (np.diff(whole["expected"]) > 0).all()
    assert (part["first"] > whole["first"]).all()
    assert part["expected"][-1] < 0.6 * whole["expected"][-1]


@slow
def test_the_page_shows_the_first_ranks(found: dict[str, dict[str, float]]) -> None:
    page = (DOCS / "explanation/papers/fienberg.md").read_text(encoding="utf-8")
    for scenario, r in found.items():
        shown = re.findall(rf"^{re.escape(scenario)} +(\d+) \({r['printed_first']}\)", page, re.MULTILINE)
        assert float(shown[0]) == pytest.approx(r["first"], rel=0.06, abs=6), scenario


# Charts


def rank_tables() -> dict[str, pl.DataFrame]:
    ranks = [*map(str, range(1, 11)), ">10"]
    return {
        "no error": pl.DataFrame({"rank": ranks, "targets": np.arange(701, 712)}),
        "noise": pl.DataFrame({"rank": ranks, "targets": np.arange(1801, 1812) + 0.2}),
    }


def svg(chart: object, tmp_path: Path) -> str:
    """The picture as text: an error inside the chart would leave it empty."""
    return save_chart(chart, tmp_path / "chart.svg", overwrite=True).read_text()


def test_the_rank_chart_holds_every_number(tmp_path: Path) -> None:
    tables = rank_tables()
    picture = svg(rank_chart(tables, {"no error": fienberg.printed("4.3")}, title="Who is where"), tmp_path)
    for table in tables.values():
        for value in table["targets"]:
            assert f">{value:,.0f}<" in picture
    for value in COUNTS["4.3"]:
        assert f">{value}<" in picture
    for label in ("no error", "noise", "here", "in print", "Who is where", "&gt;10"):
        assert f">{label}<" in picture, label
    alone = svg(rank_chart({"noise": tables["noise"]}), tmp_path)
    assert ">1,801<" in alone
    assert ">in print<" not in alone


def test_the_rank_chart_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(cf.InputError, match="no rank table"):
        rank_chart({})
    with pytest.raises(cf.InputError, match='"bias", which is not among the tables'):
        rank_chart(rank_tables(), {"bias": fienberg.printed("4.5")})
    with pytest.raises(cf.InputError, match='needs a column "targets"'):
        rank_chart({"noise": pl.DataFrame({"rank": ["1"]})})


def exposed() -> pl.DataFrame:
    rows = [(s, k, ", ".join("abc"[:k]), 0.2 * k, 91.0 * k / s) for s in (1.0, 0.125) for k in (1, 2, 3)]
    return pl.DataFrame(rows, schema=["share", "known", "knows", "first", "expected"], orient="row")


def test_the_exposure_chart_holds_shares_names_and_ends(tmp_path: Path) -> None:
    picture = svg(exposure_chart(exposed()), tmp_path)
    for label in ("100%", "12.5%", "a", "+ b", "+ c", "60%", "273", "2,184", "Share released"):
        assert f">{label}<" in picture, label
    assert "Fewer released" not in picture  # these numbers say otherwise
    fewer = exposed().with_columns(
        expected=91 * pl.col("known") * pl.col("share"), first=0.1 * pl.col("known") / pl.col("share") ** 0.3
    )
    picture = svg(exposure_chart(fewer), tmp_path)
    assert "Fewer released" in picture
    one = svg(exposure_chart(exposed().filter(pl.col("share") == 1)), tmp_path)
    assert "The more is known" in one
    with pytest.raises(cf.InputError, match='needs a column "knows"'):
        exposure_chart(exposed().drop("knows"))


def test_an_exposure_draws_itself() -> None:
    chart = cf.Exposure(exposed()).plot()
    assert len(chart.to_dict()["hconcat"]) == 2


# The demonstration itself


@slow
def test_main_writes_its_files_whole_and_refuses_to_replace_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    assert fienberg.main([str(out), "--repeats", "1"]) == 0
    printed = capsys.readouterr()
    assert "no error                            230 (319)" in printed.out
    assert printed.err == ""  # no bar where there is no terminal
    assert sorted(p.name for p in out.iterdir()) == sorted(fienberg.FILES)
    assert pl.read_csv(out / "summary.csv").height == 3 * len(fienberg.SCENARIOS)
    assert pl.read_csv(out / "ranks.csv").height == 3 * 11 * len(fienberg.SCENARIOS)
    assert pl.read_csv(out / "table42.csv").height == 4
    for name in ("ranks.png", "ranks_anes1996.png", "exposure.png"):
        picture = (out / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 20_000
    assert (out / "summary.txt").read_text() in printed.out
    assert fienberg.main([str(out)]) == 2
    assert "holds table42.csv, ranks.csv" in capsys.readouterr().err


def test_mistakes_are_met_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(cf.InputError, match='"elites" or "anes1996"'):
        fienberg.experiment("elite")
    with pytest.raises(cf.InputError, match='no scenario "nosie"'):
        fienberg.experiment(scenarios=["nosie"])
    with pytest.raises(cf.InputError, match="repeats must be a whole number"):
        fienberg.experiment(repeats=0)
    (tmp_path / "file").touch()
    assert fienberg.main([str(tmp_path / "file")]) == 2
    assert "give the name of a folder" in capsys.readouterr().err
