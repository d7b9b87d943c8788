"""`confide sap`: what it prints, what it writes, how it fails."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.cli.main import main

COUNTS = "sex,age,count\nm,young,2\nm,old,1\nf,young,3\nf,old,7\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "public").mkdir()
    (tmp_path / "counts.csv").write_text(COUNTS)
    people = ["sex,age"] + ["m,young"] * 2 + ["m,old"] + ["f,young"] * 3 + ["f,old"] * 7
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n")
    (tmp_path / "known.csv").write_text("sex,age\nm,old\nm,\n")
    return tmp_path


def run(line: str) -> int:
    return main(line.split())


def rows(capsys: pytest.CaptureFixture[str], line: str) -> list[dict[str, object]]:
    assert run(f"{line} --json") == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    assert isinstance(found, list)
    return found


def test_the_line_of_the_manual(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sap counts.csv --round 5 --margins total --known 0:13") == 0
    said = capsys.readouterr().out
    assert "Table of 13 people: sex (2) x age (2)" in said
    assert "Knowing 2 people in 1 cell empties 1 cell. It cannot be done with fewer." in said
    told = rows(capsys, "sap counts.csv --round 5 --margins total --known 0:13")
    table = cf.Table.from_counts(pl.read_csv(here / "counts.csv"))
    expected = cf.sap(table.publish(cf.RoundCells(5), margins="total"), known=range(14))
    assert [r["sap"] for r in told] == expected["sap"].to_list()


@pytest.mark.slow
def test_records_and_counts_are_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    options = "--controlled 3 --margins all --known 1,5 --seed 4"
    assert rows(capsys, f"sap counts.csv {options}") == rows(capsys, f"sap people.csv --records {options}")


@pytest.mark.parametrize(
    ("option", "scheme"),
    [
        ("--exact", cf.Exact()),
        ("--round 3", cf.RoundCells(3)),
        ("--round 4 --ties even", cf.RoundCells(4, ties="even")),
        ("--round 3 --random", cf.RoundCells(3, how="random")),
        ("--controlled 3", cf.ControlledRounding(3)),
        ("--small 3", cf.SmallCounts(3)),
        ("--suppress 3", cf.Suppress(below=3)),
        ("--cell-key 1 0.5", cf.CellKey.of(1, 0.5)),
    ],
)
def test_every_scheme(here: Path, capsys: pytest.CaptureFixture[str], option: str, scheme: object) -> None:
    table = cf.Table.from_counts(pl.read_csv(here / "counts.csv"))
    expected = cf.sap(table.publish(scheme, margins="total", seed=7), known=range(5))  # type: ignore[arg-type]
    told = rows(capsys, f"sap counts.csv {option} --margins total --known 0:4 --seed 7")
    assert [(r["n"], r["sap"]) for r in told] == expected.select("n", "sap").rows()


def test_margins_by_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = cf.Table.from_counts(pl.read_csv(here / "counts.csv"))
    published = table.publish(margins=[["sex"], ["age"], []], cells=False)
    told = rows(capsys, "sap counts.csv --margins sex;age;total --margins-only --known 0:13 --fractions")
    assert [r["fraction"] for r in told] == cf.sap(published, range(14), fractions=True)["fraction"].to_list()


def test_summed_margins_tell_nothing_more(capsys: pytest.CaptureFixture[str]) -> None:
    summed = rows(capsys, "sap counts.csv --round 3 --margins all --summed --fractions")
    cells = rows(capsys, "sap counts.csv --round 3 --fractions")
    assert [r["fraction"] for r in summed] == [r["fraction"] for r in cells]


def test_areas_in_bands(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sap counts.csv --area sex --round 3 --known 0:3 --out risk.csv --chart bands.svg") == 0
    assert "areas by the probability" in capsys.readouterr().out
    written = pl.read_csv(here / "risk.csv")
    assert written.height == 8
    assert written["area"].to_list() == ["f"] * 4 + ["m"] * 4
    assert stat.S_IMODE((here / "risk.csv").stat().st_mode) == 0o600
    assert "<svg" in (here / "bands.svg").read_text()


def test_people_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    told = rows(capsys, "sap counts.csv --people known.csv --margins all")
    assert [(r["n"], r["sap"]) for r in told] == [(2, 1.0)]  # the one old man is among them


def test_nothing_at_risk(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sap counts.csv --controlled 5 --known 0:3") == 0
    assert "No number of known people up to this recovers a zero." in capsys.readouterr().out


def test_files_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "risk.csv").write_text("mine")
    assert run("sap counts.csv --out risk.csv") == 2
    assert "--force" in capsys.readouterr().err
    assert run("sap counts.csv --out counts.csv --force") == 2
    assert "named twice" in capsys.readouterr().err
    assert run("sap counts.csv --out risk.csv --force") == 0
    assert pl.read_csv(here / "risk.csv").height == 14


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sap counts.csv --known 0:24", "fewer people than that"),
        ("sap counts.csv --known five", "--known is a number of people"),
        ("sap counts.csv --known 5:1", "--known is a number of people"),
        ("sap counts.csv --round 1", "Exact()"),
        ("sap counts.csv --round 0", "at least 2"),
        ("sap counts.csv --round 3 --small 3", "not allowed with"),
        ("sap counts.csv --random", "--round BASE"),
        ("sap counts.csv --count people", "--count COLUMN"),
        ("sap counts.csv --margins region", 'no variable "region"'),
        ("sap counts.csv --by sex,region", 'no column "region"'),
        ("sap counts.csv --area ward", 'no column "ward"'),
        ("sap counts.csv --cell-key 1.5 1", "whole number"),
        ("sap counts.csv --margins-only", "Nothing is published"),
        ("sap counts.csv --summed --margins-only --margins all", "cells=False"),
        ("sap nothing.csv", "nothing.csv"),
        ("sap counts.csv --chart picture.pdf", ".png"),
        ("sap counts.csv --small 3 --vault known.csv", "is a file; give the name of a folder"),
        (
            "sap counts.csv --small 3 --vault v --published t.csv",
            "--vault must be a folder outside that of --published",
        ),
        ("sap counts.csv --small 3 --vault public --published public/t.csv", "--vault must be a folder outside"),
        ("sap counts.csv --cell-key 1 0.5 --key sex", "--key names what identifies a person"),
        ("sap people.csv --records --small 3 --key sex", "--key names what identifies a person"),
        ("sap people.csv --records --cell-key 1 0.5 --key id", 'no column "id" of identifiers'),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], line: str, says: str) -> None:
    assert run(line) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""


def test_the_published_table_is_written_for_the_public(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "sap counts.csv --round 3 --random --margins total --known 1 --seed 2 --published public/table.csv"
    assert run(line) == 0
    said = capsys.readouterr().out
    assert f"keyed by the secret in the vault {here / 'home' / 'confide' / 'vault'}." in said
    assert "draft" not in said
    written = pl.read_csv(here / "public" / "table.csv")
    assert written.columns == ["margin", "sex", "age", "published"]
    assert (written["published"] % 3 == 0).all()


def published(here: Path, options: str, data: str = "counts.csv") -> list[int]:
    assert run(f"sap {data} --known 1 --published public/table.csv --force {options}") == 0
    return pl.read_csv(here / "public" / "table.csv")["published"].to_list()


def test_what_is_published_comes_from_a_vault(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same again with the same vault; with a stated seed it is no draft, and 200 seeds do not make it."""
    wide = "area,count\n" + "".join(f"{k},{k % 7 + 1}\n" for k in range(60))
    (here / "wide.csv").write_text(wide)
    line = "--round 3 --random --seed 5"
    first = published(here, f"{line} --vault mine", "wide.csv")
    assert published(here, f"{line} --vault mine", "wide.csv") == first
    assert first not in (published(here, f"{line} --vault other", "wide.csv"), published(here, line, "wide.csv"))
    assert published(here, "--round 3 --random --vault mine", "wide.csv") != first
    assert "draft" not in capsys.readouterr().out
    table = cf.Table.from_counts(pl.read_csv(here / "wide.csv"))
    for seed in range(200):
        assert table.publish(cf.RoundCells(3, how="random"), seed=seed).values.tolist() != first


def test_without_a_published_file_a_seed_makes_a_draft(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sap counts.csv --small 3 --known 1 --seed 2") == 0
    said = capsys.readouterr().out
    assert "by SmallCounts(base=3); a draft, not for publication" in said
    assert "--seed N makes the same one again, a draft" in said
    assert run("sap counts.csv --small 3 --known 1 --seed 2 --vault mine") == 0
    assert "draft" not in capsys.readouterr().out
    assert not (here / "home").exists()


def test_nothing_is_published_into_the_usual_vault(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published(here, "--small 3")
    assert run("sap counts.csv --small 3 --known 1 --published home/confide/vault/table.csv") == 2
    assert "--vault must be a folder outside that of --published" in capsys.readouterr().err


def test_a_scheme_that_draws_nothing_needs_no_vault(here: Path) -> None:
    published(here, "--round 3 --seed 1")
    assert not (here / "home").exists()


def test_the_same_people_have_the_same_noise(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = pl.DataFrame({"id": range(300), "sex": ["m", "f", "f"] * 100, "age": [k % 7 for k in range(300)]})
    people.write_csv(here / "many.csv")
    for key in ("--key id ", ""):
        line = f"--records --cell-key 3 2 {key}--by"
        one = published(here, f"{line} sex --margins total", "many.csv")
        two = published(here, f"{line} age,sex --margins sex;total", "many.csv")
        assert one == two[-3:]
        areas = published(here, f"{line} age --area sex --margins total", "many.csv")
        assert [areas[7], areas[15]] == one[:2]
    capsys.readouterr()
    assert run("sap many.csv --records --known 1 --by sex --cell-key 3 2 --key id --json") == 0
    assert json.loads(capsys.readouterr().out)["vault"] == str(here / "home" / "confide" / "vault")


def test_what_people_by_name_recover(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sap counts.csv --people known.csv") == 0
    said = capsys.readouterr().out
    assert "What they recover:" in said
    assert "cannot be done with fewer" not in said
    assert run("sap counts.csv --people known.csv --round 5") == 0
    assert "They recover no zero." in capsys.readouterr().out


@pytest.mark.parametrize(
    "line", ["--controlled 4 --ties even", "--round 3 --ties even", "--round 3 --marks same", "--round 3 --summed"]
)
def test_options_that_would_be_ignored(capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert run(f"sap counts.csv {line}") == 2
    assert "--" in capsys.readouterr().err
