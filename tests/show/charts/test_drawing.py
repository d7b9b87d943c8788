"""Charts as files."""

from __future__ import annotations

from pathlib import Path

import vl_convert

from confide.show.charts.drawing import save_chart, save_pictures
from confide.show.charts.theory_sliders import noise_slider


def test_pictures_that_are_drawn_once_are_those_that_are_drawn_by_themselves(tmp_path: Path) -> None:
    chart = noise_slider(narrow=True)
    png, svg = save_pictures(chart, tmp_path / "utility of 0.5", overwrite=False, private=False)
    assert (png.name, svg.name) == ("utility of 0.5.png", "utility of 0.5.svg")
    alone = [save_chart(chart, tmp_path / f"alone{kind}") for kind in (".png", ".svg")]
    assert [p.read_bytes() for p in (png, svg)] == [p.read_bytes() for p in alone]
    plain = vl_convert.vegalite_to_png(chart.to_dict(), scale=2)
    assert len(png.read_bytes()) < len(plain) / 2
