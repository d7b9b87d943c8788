"""Pictures for a board: what they say, that nothing is cut or covered, and that they stand alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.show.charts.board_charts import Row, bars_picture, calibration_picture, percent, shares_picture
from confide.show.charts.decision_map import CHOSEN, Dot, Scene, decision_map
from confide.show.charts.drawing import save_chart
from confide.show.charts.near_labels import Label, place_labels
from confide.show.charts.svg import Picture, text, wrapped

FULL = Scene((-0.05, 1.05), (-0.05, 1.05), [(0.0, ["0%", "0"]), (1.0, ["50%", "500"])], [(1.0, ["1"])], "found", "kept")
LONG = "Age recode + RM swap + P perturbed/topcoded and a good deal more of it"


def dot(plan: str, x: float, y: float, **more: object) -> Dot:
    return Dot(plan, x, y, (x, x, y, y), plan, "7", **more)  # type: ignore[arg-type]


def circles(picture: Picture, radius: float) -> list[tuple[float, float]]:
    found = re.findall(rf'<circle cx="([\d.]+)" cy="([\d.]+)" r="{radius:g}"', "".join(picture.parts))
    return [(float(x), float(y)) for x, y in found]


@pytest.mark.parametrize("narrow", [False, True])
def test_the_limit_is_a_line_with_words_and_what_is_beyond_is_shaded(narrow: bool) -> None:
    scene = Scene(*vars(FULL).values())  # type: ignore[arg-type]
    scene = Scene(scene.across, scene.up, scene.x_ticks, scene.y_ticks, "found", "kept", 0.5, "limit: 10%")
    dots = [dot("a", 0.4, 0.9, chosen=True, front=True), dot("b", 0.9, 1.0, front=True)]
    picture = decision_map(dots, scene, "Two plans.", narrow).picture
    drawn = "".join(picture.parts)
    (x, width) = (float(v) for v in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*f-shade', drawn)[0])
    line = float(re.findall(r'<path d="M([\d.]+) [\d.]+L[^>]*s-warn dash', drawn)[0])
    assert line == x
    assert "limit: 10%" in picture.words()
    [(chosen, _)] = circles(picture, CHOSEN)
    [(other, _)] = circles(picture, 5)
    assert chosen < x < other < x + width
    assert decision_map(dots, FULL, "Two plans.", narrow).picture.words().count("limit: 10%") == 0


def test_a_plan_out_of_sight_is_not_drawn_and_a_weak_one_is_hollow() -> None:
    near = Scene((0.0, 0.3), (0.5, 1.0), [], [], "found", "kept")
    drawn = decision_map([dot("a", 0.1, 0.9, weak=True), dot("far", 0.9, 1.0)], near, "One of two.")
    assert drawn.picture.words().count("a") == 1
    assert "far" not in drawn.picture.words()
    assert "f-none s-strong" in "".join(drawn.picture.parts)


def test_names_are_never_cut_and_crowded_plans_get_numbers() -> None:
    crowd = [Dot(f"{LONG} {k}", 0.5 + k / 500, 0.5, (0.5, 0.5, 0.5, 0.5), f"{LONG} {k}", str(k)) for k in range(9)]
    drawn = decision_map(crowd, FULL, "A crowd.")
    said = " ".join(drawn.picture.words())
    assert "…" not in said
    for plan in {d.plan for d in crowd} - set(drawn.numbered):
        assert plan in said
    assert len(drawn.numbered) > 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.text("abc ", min_size=1, max_size=30)), max_size=12))
def test_no_name_covers_another_or_leaves_the_drawing(points: list[tuple[float, float, str]]) -> None:
    room = (50.0, 40.0, 560.0, 370.0)
    labels = [Label((50 + 510 * x, 40 + 330 * y), words.strip() or "x", "1") for x, y, words in points]
    found = place_labels(labels, room, [])
    assert len(found) == len(labels)
    boxes = [one.box for one in found if one is not None]
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert left >= room[0]
        assert top >= room[1]
        assert right <= room[2]
        assert bottom <= room[3]
        assert not any(left < c and a < right and top < d and b < bottom for a, b, c, d in boxes[:k])


def test_bars_have_names_shares_and_the_share_before() -> None:
    rows = [Row("a name that is longer than the room beside a bar", 0.2, 0.9, "20% (4 of 20)", "20%", strong=True),
            Row("b", None, None, "unknown", "unknown")]  # fmt: skip
    wide, narrow = (bars_picture(rows, "Two groups.", n) for n in (False, True))
    assert {"20% (4 of 20)", "unknown"} <= set(wide.words())
    assert {"20%", "unknown"} <= set(narrow.words())
    assert "".join(wide.words()).replace(" ", "").startswith("anamethatislongerthantheroombesideabar")
    assert "".join(wide.parts).count("f-pale") == 1
    assert "".join(wide.parts).count("f-accent") == 1


def test_before_and_after_and_levels_that_only_the_release_has() -> None:
    picture = shares_picture([("20 to 29", None, 0.25), ("women", 0.5, 0.25)], "Two levels.")
    assert picture.words() == ["20 to 29", "25%", "women", "50% → 25%"]
    assert "".join(picture.parts).count("f-pale") == 1


def test_claims_that_are_right_lie_on_the_line() -> None:
    picture = calibration_picture([(0.01, 0.01, 0.0), (0.1, 0.1, 0.01), (0.5, 0.9, 0.01)], "Three ranges.")
    at = circles(picture, 4.5)
    line = re.findall(
        r'<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" class="f-empty s-axis dash', "".join(picture.parts)
    )
    a, b, c, d = map(float, line[0])
    off = [y - (b + (x - a) / (c - a) * (d - b)) for x, y in at]
    assert off[0] == pytest.approx(0, abs=0.2)
    assert off[1] == pytest.approx(0, abs=0.2)
    assert off[2] < -5  # more often right than claimed: above the line


def test_a_picture_is_a_file_of_its_own(tmp_path: Path) -> None:
    picture = Picture(100, 50, (text((1, 9), "<a> & b"),), 'says "a"')
    svg = save_chart(picture, tmp_path / "a.svg").read_text()
    assert "<style>" in svg
    assert "&lt;a&gt; &amp; b" in svg
    assert save_chart(picture, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in save_chart(picture, tmp_path / "a.html").read_text()
    assert picture.words() == ["&lt;a&gt; &amp; b"]


def test_words_are_wrapped_whole() -> None:
    assert " ".join(wrapped(LONG, 20)) == LONG
    assert wrapped("", 10) == [""]
    assert [percent(v) for v in (1.0, 0.0996, 0.0994)] == ["100%", "10%", "9.9%"]
