"""Any text in names and data is drawn, spelt out or refused; none ends the process or commands a terminal."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confide as cf
from confide import show
from confide.cli.main import main as cli
from confide.core.errors import InputError
from confide.core.visible import HIDDEN, visible
from confide.show.charts.drawable import OF_OBJECTS, drawable, drawn_text
from confide.show.charts.plan_charts import targets_chart
from tests.helpers.places import HELPERS


@pytest.mark.slow
def test_a_study_of_hostile_names_is_reported_whole(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(HELPERS / "hostile_study.py"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.stdout == "whole\n", run.stderr[-2000:]
    for name in ("report.html", "outside/report.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
        assert set(HIDDEN.findall(own)) == {"\n"}
        assert "</script><b>" not in own
        assert "p&lt;U+0001&gt;" in own
        assert "p&lt;U+0002&gt;" in own
    written = [p.relative_to(tmp_path) for p in tmp_path.rglob("*")]
    assert all(re.fullmatch(r"[a-zA-Z0-9./_-]+", str(p)) for p in written)
    printed = (tmp_path / "printed.txt").read_text()
    assert set(HIDDEN.findall(printed)) == {"\n"}
    assert "p<U+0001> " in printed
    for picture in (tmp_path / "out" / "charts").glob("*.svg"):
        assert not set(HIDDEN.findall(picture.read_text())) - set("\n\t\u2060")


def test_every_public_chart_ends_where_texts_are_made_drawable() -> None:
    seen = 0
    for module in pkgutil.walk_packages(show.__path__, "confide.show."):
        found = importlib.import_module(module.name)
        for name, make in inspect.getmembers(found, inspect.isfunction):
            own = make.__module__ == found.__name__ and not name.startswith("_")
            if own and re.search(r"_(chart|map|sliders)$", name) and "to_dict" in (make.__doc__ or ""):
                seen += 1
                assert re.search(r"return (styled|finished)\(", inspect.getsource(make)), name
    assert seen > 15


@given(st.text(), st.text())
def test_visible_text_hides_nothing_and_is_stable(a: str, b: str) -> None:
    assert not HIDDEN.search(visible(a))
    assert visible(visible(a)) == visible(a)
    visible(a).encode()
    assert HIDDEN.sub("\n", visible(a, keep="\n")).count("\n") == a.count("\n")
    if a != b and "<U+" not in a + b:
        assert visible(a) != visible(b)


@pytest.mark.parametrize("name", ["a\x00", "a\x01", "a\x0b", "a\x1f", "a\uffff", "a\u2028", "a\ud800", *OF_OBJECTS])
def test_a_category_of_any_name_is_drawable(name: str) -> None:
    assert drawn_text(drawn_text(name)) == drawn_text(name) != name
    if name.isprintable() or "\ud800" not in name:
        frame = pl.DataFrame(
            {"plan": [name, "q"] * 2, "bin": [name, name, "b", "b"], "targets": [5.0] * 4, "shown": "5"}
        )
        chart = targets_chart(frame, title=name)
        assert drawable(chart) is chart
        spec = json.dumps(chart.to_dict())
        assert json.dumps(name) not in spec
        assert json.dumps(drawn_text(name)) in spec


def test_a_chart_that_needs_nothing_is_left_alone() -> None:
    import altair as alt

    chart = alt.Chart(pl.DataFrame({"x": ["a"], "y": [1]})).mark_bar().encode(x=alt.X("x:N", sort=["a"]), y="y:Q")
    assert drawable(chart) is chart


@pytest.mark.parametrize("where", ["plans", "intruders", "title", "label"])
def test_half_a_character_in_a_name_is_refused(where: str) -> None:
    bad, plan, who = "a\ud800", cf.Plan([cf.Swap("race", rate=0.1)]), cf.Intruder(knows=["sex"])
    stated = {"plans": {"p": plan}, "intruders": {"i": who}, "title": "", "label": ""}
    stated[where] = {bad: next(iter(stated[where].values()))} if where in ("plans", "intruders") else bad
    with pytest.raises(InputError, match=rf"{where}.*lone surrogate"):
        cf.Study(cf.demo("heads").head(50), **stated)


def test_errors_command_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        cf.Plan([cf.Swap("\x1b[2Jrace", rate=0.1)]).protect(cf.demo("heads").head(50), seed=1)
    assert "\x1b" not in str(caught.value)
    assert "<U+001B>[2Jrace" in str(caught.value)
    missing = tmp_path / "no\x1b[2J.toml"
    assert cli(["study", str(missing), "--out", str(tmp_path / "out\x07")]) == 2
    said = capsys.readouterr().err
    assert "no<U+001B>[2J.toml" in said
    assert not set(HIDDEN.findall(said)) - {"\n"}


def test_results_are_there_though_a_report_fails(tmp_path: Path) -> None:
    heads, who = cf.demo("heads").head(100), {"near": cf.Intruder(knows=["sex", "race"])}
    result = cf.Study(
        heads, {"swap": cf.Plan([cf.Swap("race", rate=0.3)])}, who, ["hellinger"], repeats=1, seed=1
    ).run()
    with pytest.raises(InputError, match="does not exist"):
        result.report(tmp_path / "nowhere" / "report.html")
    assert result.frame.height == 2
    assert list(tmp_path.iterdir()) == []
