"""Work of the way of tables: what is counted, measured and written, called as a worker calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.app import ways
from confide.app.documents import DATA
from confide.app.work import publish, schemes, table
from confide.app.worker import Work
from tests.helpers.counting_desk import people

GIVEN = {"holds": "records", "by": ["band", "work"], "count": "", "area": "ward"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    cf.write(people(), tmp_path / "project" / DATA)
    return tmp_path / "project"


def work(folder: Path, told: list[Any] | None = None, **given: Any) -> Work:
    heard = [] if told is None else told
    return Work(folder, {**GIVEN, **given}, lambda *said: heard.append(said), lambda _: None)


def test_sizes_of_counts_are_counted_over_all_areas(folder: Path) -> None:
    found = table.run(work(folder))
    tables = cf.Tables.of(people(), ["band", "work"], "ward")
    flat = tables.counts.ravel()
    assert dict(found["bands"]) == {
        "0": (flat == 0).sum(), "1": (flat == 1).sum(), "2": (flat == 2).sum(), "3 or 4": ((flat > 2) & (flat < 5)).sum(),
        "5 to 9": ((flat > 4) & (flat < 10)).sum(), "10 and more": (flat > 9).sum(),
    }  # fmt: skip
    assert (found["areas"], found["cells"], found["fewest"]) == (6, 72, tables.totals.min())


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST", 70)
    with pytest.raises(cf.InputError, match="72 counts"):
        table.run(work(folder))


def test_ways_that_were_measured_are_kept_and_only_new_ones_cost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    given = {"margins": "total", "known": 4, "ways": ways.first_ways()[:3]}
    first = schemes.run(work(folder, **given))
    asked: list[str] = []
    real = cf.compare_schemes
    monkeypatch.setattr(cf, "compare_schemes", lambda t, c, **o: asked.extend(c) or real(t, c, **o))
    given["ways"] = [*ways.first_ways()[:3], {"scheme": "round", "base": 7}]
    again = schemes.run(work(folder, **given))
    assert asked == ["rounded to 7"]
    assert again["rows"][:3] == first["rows"]
    schemes.run(work(folder, **{**given, "known": 5, "ways": ways.first_ways()[:1]}))
    assert asked[1:] == ["as it is"]


def test_progress_names_the_way_that_is_measured(folder: Path) -> None:
    told: list[Any] = []
    schemes.run(work(folder, told, margins="none", known=4, ways=ways.first_ways()[:2]))
    assert told == [(0, 2, "as it is"), (1, 2, "small counts become 0 or 3"), (2, 2, "")]


@pytest.mark.parametrize("margins", ["none", "total", "all"])
@pytest.mark.parametrize("way", [*ways.first_ways(), {"scheme": "controlled", "base": 3}], ids=str)
def test_checks_say_of_a_release_what_a_comparison_of_it_says(folder: Path, margins: str, way: Any) -> None:
    """Risk of what is not random is the comparison's; what adds up and is hidden can be counted on any draw."""
    given = {"margins": margins, "known": 4, "way": way, "key": ["id"]}
    found = publish.run(work(folder, **given))
    tables = cf.Tables.of(people(), ["band", "work"], "ward")
    row = cf.compare_schemes(tables, {"it": ways.candidate_of(way)}, known=4, margins=margins).frame.row(0, named=True)
    if not ways.scheme_of(way).random:
        assert (found["worst"], found["hidden"]) == (row["worst"], pytest.approx(row["hidden"]))
        assert found["mean"] == pytest.approx(row["sap"])
    if row["additive"] and way["scheme"] != "cell_key":
        assert found["additive"]
    assert found["additive"] == row["additive"] or margins != "none"
    assert publish.run(work(folder, **given)) == found
    if way["scheme"] == "exact":
        assert (found["exact"], found["error"]) == (found["small"], 0)
    if way["scheme"] == "controlled":
        assert found["additive"]
        assert found["largest"] <= 2


def write(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "public": str(tmp_path / "out"), "private": str(tmp_path / "kept"), "file": "t.csv", "script": "pass\n",
        "decision": {"reason": "r"}, "compared": [{"scheme": "as it is", "worst": 1.0}], **more,
    }  # fmt: skip


def test_only_published_counts_go_out(folder: Path, tmp_path: Path) -> None:
    way = {"scheme": "small", "base": 3, "totals": "summed"}
    publish.run(work(folder, margins="total", known=4, way=way, key=[], write=write(tmp_path)))
    out = pl.read_csv(tmp_path / "out" / "t.csv")
    assert out.columns == ["area", "margin", "band", "work", "published"]
    assert out.filter(pl.col("published").is_in([1, 2])).is_empty()
    assert json.loads((tmp_path / "kept" / "decision.json").read_text())["vault"] == str(folder / "vault")
    assert (folder / "vault").stat().st_mode & 0o077 == 0


def test_all_files_or_none(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"margins": "none", "known": 4, "way": {"scheme": "round", "base": 3}, "key": []}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(cf.InputError, match="already"):
        publish.run(work(folder, **given, write=write(tmp_path)))
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine.txt"]
    with pytest.raises(cf.InputError, match="Nothing was written"):
        publish.run(work(folder, **given, write=write(tmp_path, public=str(tmp_path / "no" / "out"))))
    monkeypatch.setattr(publish, "_private", _broken)
    with pytest.raises(RuntimeError):
        publish.run(work(folder, **given, write=write(tmp_path, public=str(tmp_path / "new"))))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "project"]


def _broken(*_: Any) -> list[str]:
    raise RuntimeError("the disk is gone")
