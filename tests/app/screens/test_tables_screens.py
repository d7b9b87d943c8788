"""The way of tables: which table, which way to publish it, and its release."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

import confide as cf
from confide.app import counted
from confide.app.render import page_html
from confide.app.screens import SCREENS
from confide.app.script import script_of
from tests.helpers.counting_desk import Counting, counts, people


@pytest.fixture
def desk(tmp_path: Path) -> Counting:
    return Counting(tmp_path, people()).by("band", "work")


def chosen(desk: Counting) -> Counting:
    """As far as the release: the table, the comparison, the choice."""
    desk.change("table", "continue")
    desk.change("schemes", "rule", "known=5&limit=0.3")
    desk.view("schemes")
    assert desk.change("schemes", "continue") == "publish"
    return desk


def test_few_valued_variables_that_can_be_known_are_proposed(tmp_path: Path) -> None:
    desk = Counting(tmp_path, people())
    found = desk.view("table")
    assert found["table"] | {"ways": 0} == {
        "holds": "records", "count": "", "area": "ward", "margins": "total", "known": 20, "limit": 0.05, "hide": False,
        "ways": 0, "choice": "", "key": ["id"], "by": ["sex", "band"],
    }  # fmt: skip


def test_small_counts_are_counted_and_no_cell_is_named(desk: Counting) -> None:
    found = desk.view("table")["found"]
    true = people().group_by("ward", "band", "work").len()["len"]
    assert [dict(found["bands"])[k] for k in "12"] == [(true == 1).sum(), (true == 2).sum()]
    assert found["people"] == 400
    assert sum(n for _, n in found["bands"]) == found["cells"]
    assert "ill" not in re.sub(r"<[^>]*>", " ", desk.html("table")).split()


def test_variables_come_and_go_and_an_area_is_no_variable(desk: Counting) -> None:
    desk.change("table", "save", "add=sex")
    assert desk.table["by"] == ["band", "work", "sex"]
    desk.change("table", "save", "remove=1")
    assert desk.table["by"] == ["band", "sex"]
    desk.change("table", "save", "area=sex&margins=all")
    assert (desk.table["by"], desk.table["area"], desk.table["margins"]) == (["band"], "sex", "all")
    assert "no variable" in desk.refused("table", "save", "area=nowhere")[""]
    desk.change("table", "save", "remove=0")
    assert "at least one variable" in desk.view("table")["lack"]
    assert "at least one variable" in desk.refused("table", "continue")[""]


def test_counts_are_recognised_and_give_the_same_table(tmp_path: Path, desk: Counting) -> None:
    (tmp_path / "other").mkdir()
    other = Counting(tmp_path / "other", counts())
    found = other.view("table")
    assert [found["table"][k] for k in ("holds", "count", "area", "by")] == [
        "counts",
        "count",
        "ward",
        ["band", "work"],
    ]
    assert desk.view("table")["found"] == found["found"]
    assert other.refused("table", "save", "holds=nothing")
    other.change("table", "save", "count=")
    assert "which column" in other.view("table")["lack"]


def test_the_comparison_is_that_of_compare_schemes_and_the_script_gives_it(desk: Counting) -> None:
    desk.change("table", "continue")
    desk.view("schemes")
    page = desk.page()
    rows = page.ask("schemes", counted.schemes_given(page.state.table), lane="long").result["rows"]
    text = script_of(page.state, "").python
    space: dict[str, object] = {}
    exec(compile(text, "script.py", "exec"), space)
    frame = space["compared"].frame.select([*rows[0]])  # type: ignore[attr-defined]
    assert frame.to_dicts() == rows
    assert len(rows) == 8


def test_the_least_error_within_the_limit_is_chosen_and_hiding_asks_for_leave(desk: Counting) -> None:
    desk.change("table", "continue")
    desk.change("schemes", "rule", "known=5&limit=1")
    assert desk.view("schemes")["choice"] == "as it is"
    desk.change("schemes", "rule", "known=5&limit=0.3&hide=yes")
    found = desk.view("schemes")
    within = [r for r in found["lines"] if r["kind"] in ("chosen", "within")]
    assert found["choice"] == within[0]["name"]
    assert within[0]["error"] == min(r["error"] for r in within)
    desk.change("schemes", "rule", "known=5&limit=0.3")
    line = next(r for r in desk.view("schemes")["lines"] if r["name"] == "below 3 hidden")
    assert line["hidden"] > 0
    assert line["kind"] in ("hides", "above")
    for wrong in ("known=x&limit=0.3", "known=5&limit=2", "known=5&limit=nan", "known=-1&limit=0.1"):
        assert set(desk.refused("schemes", "rule", wrong)) <= {"known", "limit"}


def test_where_no_way_keeps_the_limit_the_nearest_is_named(desk: Counting) -> None:
    desk.change("table", "continue")
    desk.change("schemes", "rule", "known=60&limit=0.000001")
    for name in ("random rounding to 5", "random rounding to 3", "rounded to 5", "cell key, up to 2"):
        desk.change("schemes", "remove", f"name={quote(name)}")
    found = desk.view("schemes")
    assert found["choice"] == ""
    assert found["best"] is None
    least = min(r["worst"] for r in desk_rows(desk) if r["hidden"] == 0)
    assert found["nearest"]["worst"] == least
    assert "No way keeps the limit" in desk.html("schemes")
    assert "No way keeps the limit" in desk.refused("schemes", "continue")[""]
    desk.change("schemes", "choose", f"name={quote('rounded to 3')}")
    assert desk.view("schemes")["by_hand"]
    assert desk.view("schemes")["choice"] == "rounded to 3"
    assert desk.change("schemes", "continue") == "publish"


def desk_rows(desk: Counting) -> list[dict[str, float]]:
    page = desk.page()
    rows: list[dict[str, float]] = page.ask("schemes", counted.schemes_given(page.state.table)).result["rows"]
    return rows


def test_ways_are_added_by_their_settings_and_removed(desk: Counting) -> None:
    desk.change("table", "continue")
    desk.change("schemes", "add", "scheme=controlled&base=3&steps=0")
    desk.change("schemes", "add", "scheme=suppress&below=4&zeros=show&width=1&marks=same")
    names = [r["name"] for r in desk.view("schemes")["lines"]]
    assert "rounded to 3, adds up" in names
    assert "below 4 hidden, zeros shown, one mark" in names
    for form, field in (
        ("scheme=round&base=x&how=random&ties=up", "base"), ("scheme=round&base=1&how=random&ties=up", "base"),
        ("scheme=none", "scheme"), ("scheme=controlled&base=3&steps=0", "scheme"),
        ("scheme=round&base=3&how=sideways&ties=up", "how"),
    ):  # fmt: skip
        assert field in desk.refused("schemes", "add", form)
    desk.change("schemes", "remove", f"name={quote('rounded to 3, adds up')}")
    assert "rounded to 3, adds up" not in [r["name"] for r in desk.view("schemes")["lines"]]
    assert "stays" in desk.refused("schemes", "remove", f"name={quote('as it is')}")[""]


def test_a_way_that_cannot_be_published_says_why_and_the_others_stay(tmp_path: Path) -> None:
    desk = Counting(tmp_path, people(30)).by("band", area="")
    desk.change("table", "continue")
    desk.change("schemes", "rule", "known=400&limit=0.5")
    found = desk.view("schemes")
    assert {r["kind"] for r in found["lines"]} == {"cannot"}
    assert found["choice"] == ""
    assert all(r["said"] for r in found["lines"])
    assert found["lines"][0]["said"] in unescape(desk.html("schemes"))
    assert "Nothing is chosen yet" in desk.html("publish")


def test_nothing_is_written_before_the_decision_is_complete(desk: Counting) -> None:
    chosen(desk).view("publish")
    said = desk.refused("publish", "write", "reason=&by=&date=&public=/etc/x&private=inside/none")
    assert {"reason", "by", "date", "public", "private"} <= set(said)
    whole = "reason=r&by=b&date=d&format=csv&accept=yes"
    assert set(desk.refused("publish", "write", f"{whole}&public=out&private=out")) == {"private"}
    (desk.root / "there").mkdir()
    (desk.root / "there" / "x").write_text("x")
    assert "replaced" in desk.refused("publish", "write", f"{whole}&public=there&private=p")["public"]
    assert "each other" in desk.refused("publish", "write", f"{whole}&public=there/in&private=there/in")["private"]
    (desk.root / "link").symlink_to("/tmp")
    for odd in ("link/out", "../out", "..", "a%00b", "~root/x"):
        assert "public" in desk.refused("publish", "write", f"{whole}&public={odd}&private=p")
    assert "format" in desk.refused("publish", "write", f"{whole}&public=out&private=p&format=exe")
    desk.work()
    assert sorted(p.name for p in desk.root.iterdir()) == ["link", "there", "wards.csv"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("way", ["", "cell key, up to 2"])
def test_the_release_is_written_whole_and_its_script_makes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, way: str
) -> None:
    desk = Counting(tmp_path, people()).by("band", "work")
    desk.change("table", "continue")
    if way:
        desk.change("schemes", "choose", f"name={quote(way)}")
    chosen(desk).view("publish")
    desk.change("publish", "write", f"reason=r&by=b&date=d&format={form}&accept=yes&public=out&private=kept")
    desk.work()
    found = desk.view("publish")
    assert found["files"]["files"]["public"] == [f"wards.{form}"]
    public, kept = desk.root / "out", desk.root / "kept"
    assert sorted(p.name for p in public.iterdir()) == [f"wards.{form}"]
    assert sorted(p.name for p in kept.iterdir()) == ["compared.csv", "decision.json", "script.py"]
    assert kept.stat().st_mode & 0o077 == 0
    decision = json.loads((kept / "decision.json").read_text())
    assert (decision["reason"], decision["checks"]["worst"]) == ("r", found["found"]["worst"])
    written = cf.read(public / f"wards.{form}")
    script = (kept / "script.py").read_text()
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "script.py", "exec"), {})
    assert cf.read(tmp_path / f"wards-published.{form}").equals(written)
    assert sorted(p.name for p in desk.root.iterdir()) == ["kept", "out", "wards.csv"]


def test_a_failed_check_needs_leave(desk: Counting) -> None:
    desk.change("table", "continue")
    desk.change("schemes", "choose", f"name={quote('as it is')}")
    chosen(desk)
    assert desk.view("publish")["failing"]
    form = "reason=r&by=b&date=d&format=csv&public=out&private=kept"
    assert set(desk.refused("publish", "write", form)) == {"accept"}
    desk.change("publish", "write", f"{form}&accept=yes")
    desk.work()
    assert json.loads((desk.root / "kept" / "decision.json").read_text())["accept"] is True


def test_names_that_are_markup_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd, place = '<script>alert(1)</script>"', "ward's \\ <b>"
    data = people().rename({"band": odd, "ward": place})
    desk = Counting(tmp_path, data, "<i>.parquet").by(odd, "work", area=place)
    assert (desk.table["by"], desk.table["area"]) == ([odd, "work"], place)
    chosen(desk)
    for screen in ("table", "schemes", "publish"):
        html = desk.html(screen)
        assert "<script>alert" not in html
        assert '<b>"' not in html
        assert "&lt;script&gt;" in html
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    exec(compile(script_of(desk.page().state, "").python, "s.py", "exec"), space)
    assert isinstance(space["tables"], cf.Tables)


def test_pages_show_no_true_count_of_a_cell(desk: Counting) -> None:
    chosen(desk)
    text = " ".join(desk.html(s) for s in ("table", "schemes", "publish"))
    for level in ("young", "home"):
        assert level not in re.sub(r"<[^>]*>", " ", text)
    assert "seed=" not in text


def test_a_comparison_that_is_on_its_way_shows_what_is_there(desk: Counting) -> None:
    desk.change("table", "continue")
    first = SCREENS["schemes"].view(desk.page())
    assert first["waiting"] == ("found",)
    assert first["lines"] == []
    job = first["job"]
    job.preview = {"rows": [{"scheme": "as it is", "sap": 1.0, "worst": 1.0, "distortion": 0.0, "hidden": 0.0,
                             "additive": True}]}  # fmt: skip
    half = SCREENS["schemes"].view(desk.page())
    assert [r["name"] for r in half["lines"]] == ["as it is"]
    assert half["choice"] == ""
    assert "so far: 1 of 8" in page_html(desk.page(), SCREENS["schemes"])
