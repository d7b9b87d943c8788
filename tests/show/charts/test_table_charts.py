"""Charts of tables of counts: what they hold is looked for in the drawing, since a faulty one is drawn empty."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.show.charts.drawing import COLOURS, save_chart
from confide.show.charts.label_places import LETTER, LINE, placed, spread
from confide.show.charts.table_charts import NONE, SHADES, area_map, bands_chart, sap_chart, scheme_map, shades
from confide.tables.risk.bands import BANDS


def svg(chart: object, folder: Path) -> str:
    return save_chart(chart, folder / "chart.svg", overwrite=True).read_text()


def has(picture: str, *labels: str) -> None:
    for label in labels:
        assert f">{label}<" in picture, label


def curve(sap: list[float], release: str | None = None, width: float = 0.0) -> pl.DataFrame:
    frame = pl.DataFrame({"n": range(len(sap)), "sap": sap}).with_columns(
        lower=(pl.col("sap") - width).clip(0, 1), upper=(pl.col("sap") + width).clip(0, 1),
        status=pl.lit("estimate" if width else "exact"),
    )  # fmt: skip
    return frame if release is None else frame.with_columns(release=pl.lit(release))


# SAP by n


def test_one_curve(tmp_path: Path) -> None:
    attack = cf.Table([2, 1, 3]).publish().attack(known=range(7))
    picture = svg(attack.chart(), tmp_path)
    has(picture, "A zero is recovered, by the number of people known", "People known, n", "SAP", "6", "0.0", "1.0")
    assert "n: 3; sap: 0.7" in picture
    assert "Shaded" not in picture
    assert 'aria-roledescription="area mark' not in picture


def test_a_band_where_it_is_not_exact(tmp_path: Path) -> None:
    picture = svg(sap_chart(curve([0.0, 0.2, 0.4], width=0.1)), tmp_path)
    has(picture, "Shaded: what it lies between, where it is not exact.")
    assert "mark-area" in picture
    mixed = pl.concat([curve([0.0, 0.2, 0.4], "sure"), curve([0.0, 0.1, 0.2], "simulated", 0.05)])
    picture = svg(sap_chart(mixed), tmp_path)
    has(picture, "Shaded: what it lies between, where it is not exact.", "sure", "simulated")
    assert len(re.findall(r'"area mark" d', picture)) == 1


def test_curves_are_named_at_their_ends_without_collisions(tmp_path: Path) -> None:
    names = ["one", "two", "three", "four", "five", "six"]
    frame = pl.concat([curve([0.0, 0.5, 1.0 - 0.001 * k], name) for k, name in enumerate(names)])
    picture = svg(sap_chart(frame, "Six ways"), tmp_path)
    has(picture, "Six ways", *names)
    heights = [float(re.search(rf'translate\([\d.]+,([\d.]+)\)"[^>]*>{name}<', picture)[1]) for name in names]  # type: ignore[index]
    assert min(abs(a - b) for a, b in combinations(heights, 2)) >= LINE - 0.01
    assert all(colour.lower() in picture.lower() for colour in COLOURS)


def test_curves_that_fall_together_are_both_seen(tmp_path: Path) -> None:
    frame = pl.concat(
        [curve([0.0, 0.5, 1.0], "below"), curve([0.0, 0.5, 1.0], "above"), curve([0.0, 0.1, 0.2], "apart")]
    )
    picture = svg(sap_chart(frame), tmp_path)
    assert re.findall(r'"line mark" d="[^"]*" stroke="[^"]*" stroke-width="(\d)"', picture) == ["5", "2", "2"]


def test_what_sap_chart_refuses() -> None:
    with pytest.raises(cf.InputError, match='needs a column "sap"'):
        sap_chart(pl.DataFrame({"n": [1]}))
    with pytest.raises(cf.InputError, match="at most 500 rows"):
        sap_chart(curve([0.0] * 501))
    with pytest.raises(cf.InputError, match="colours for 6 releases, but the table has 7"):
        sap_chart(pl.concat([curve([0.0, 0.1], str(k)) for k in range(7)]))
    with pytest.raises(cf.InputError, match="no rows"):
        sap_chart(curve([]))
    with pytest.raises(cf.InputError, match="nothing to draw"):
        sap_chart(pl.DataFrame({"n": [1], "sap": [None]}))


def test_curves_may_end_at_different_n(tmp_path: Path) -> None:
    frame = pl.concat([curve([0.0, 0.3], "short"), curve([0.0, 0.3, 0.4], "long")])
    has(svg(sap_chart(frame), tmp_path), "short", "long")


def test_one_n_is_drawn(tmp_path: Path) -> None:
    attack = cf.Table([2, 1], names=["x"]).publish().attack(known=3)
    assert "n: 3; sap: 1" in svg(attack.chart(), tmp_path)
    named = cf.Table([2, 1], names=["x"]).publish().attack(known={"x": ["1"]})
    with pytest.raises(cf.InputError, match="no curve"):
        named.chart()


# Bands


def test_bands_hold_every_share_and_label(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [1] * 4 + [2] * 4, "sap": [0.0, 0.0, 0.05, 0.1, 0.0, 0.35, 0.95, 1.0]})
    picture = svg(bands_chart(cf.sap_bands(frame)), tmp_path)
    has(
        picture,
        "Areas by the probability that a zero is recovered",
        "4 areas, one table each. A band holds its lower end.",
    )
    has(picture, "0%", "100%", "1", "2", "above 0 to 0.1", "0.1 to 0.2", "0.9 to below 1", "Share of areas")
    assert "n: 1; Share of areas: 50%; band: 0;" in picture
    assert "n: 2; Share of areas: 25%; band: 0.3 to 0.4;" in picture
    assert NONE in picture
    assert shades(11)[-1] in picture


def test_bands_are_stacked_from_small_to_large(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [3] * 3, "sap": [1.0, 0.0, 0.5]})
    tops = {}
    for found in re.finditer(
        r'n: 3; [^"]*band: ([^;"]*)[^"]*"[^>]* d="M[\d.]+,([\d.]+)',
        svg(bands_chart(cf.sap_bands(frame)), tmp_path),
    ):
        tops[found[1]] = float(found[2])
    assert tops["1"] < tops["0.5 to 0.6"] < tops["0"]


def test_many_n_are_thinned_and_said_to_be(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"n": np.repeat(np.arange(100), 50), "sap": rng.random(5000)})
    picture = svg(bands_chart(cf.sap_bands(frame)), tmp_path)
    has(picture, "50 areas, one table each. A band holds its lower end. One n in 3 is shown.", "99")
    assert ">1<" in picture  # a band
    with pytest.raises(cf.InputError, match='needs a column "=1"'):
        bands_chart(cf.sap_bands(frame).drop("=1"))


def test_attack_on_areas_draws_its_bands(tmp_path: Path) -> None:
    tables = cf.Tables([[2, 1], [0, 3], [0, 0]])
    picture = svg(tables.publish(cf.RoundCells(3)).attack(known=range(3), progress=False).chart(), tmp_path)
    has(picture, "2 areas, one table each. A band holds its lower end.")


def test_shades_go_from_light_to_dark() -> None:
    light = [sum(int(c[k : k + 2], 16) for k in (1, 3, 5)) for c in shades(11)]
    assert light == sorted(light, reverse=True)
    assert len(set(shades(11))) == 11
    assert (shades(11)[0], shades(11)[-1]) == (SHADES[0], SHADES[-1])
    assert len(BANDS) == 12


# Areas


def areas(count: int, group: bool = False) -> pl.DataFrame:
    frame = pl.DataFrame({"area": [f"a{k}" for k in range(count)], "n": 4, "sap": np.linspace(0, 0.37, count)})
    return (
        frame.with_columns(county=pl.Series(["north" if k < count // 3 else "south" for k in range(count)]))
        if group
        else frame
    )


def corners(picture: str) -> dict[str, tuple[float, float]]:
    found = re.finditer(r'aria-label="[^"]*area: ([^;"]+)[^"]*"[^>]* d="M([-\d.]+),([-\d.]+)', picture)
    return {m[1]: (float(m[2]), float(m[3])) for m in found}


def test_one_tile_an_area_in_rows_by_group(tmp_path: Path) -> None:
    picture = svg(area_map(areas(30, True), n=4, group="county", columns=8), tmp_path)
    has(picture, "SAP of each area when 4 people are known", "north", "south", "SAP", "0.4")
    has(picture, "30 areas, one tile each, in the order of the table; where they lie is not shown.")
    at = corners(picture)
    assert set(at) == {f"a{k}" for k in range(30)}
    assert len(set(at.values())) == 30
    assert len({at[f"a{k}"][1] for k in range(8)}) == 1
    assert at["a8"][1] > at["a7"][1]  # a second row of the north
    assert at["a10"][0] == at["a0"][0]  # the south begins a row
    assert at["a10"][1] > at["a9"][1] + 20  # and leaves a gap


def test_areas_without_people_are_white(tmp_path: Path) -> None:
    tables = cf.Tables([[2, 1], [0, 3], [0, 0]], areas=["x", "y", "nobody"])
    frame = tables.publish(cf.RoundCells(3)).attack(known=[1, 2], progress=False).frame
    picture = svg(area_map(frame, n=1, title="Three areas"), tmp_path)
    has(picture, "Three areas")
    assert "White: nobody there (1)." in picture
    assert set(corners(picture)) == {"x", "y", "nobody"}
    assert "when 1 person is known" in svg(area_map(frame, n=1), tmp_path)


def test_all_areas_without_risk_are_drawn(tmp_path: Path) -> None:
    picture = svg(area_map(areas(5).with_columns(sap=pl.lit(0.0)), n=4), tmp_path)
    assert len(corners(picture)) == 5
    has(picture, "0.1")


def test_what_area_map_refuses() -> None:
    assert area_map(areas(500), n=4)
    with pytest.raises(cf.InputError, match="501 rows"):
        area_map(areas(501), n=4)
    with pytest.raises(cf.InputError, match="no rows for n = 5"):
        area_map(areas(3), n=5)
    with pytest.raises(cf.InputError, match="several rows for this n"):
        area_map(pl.concat([areas(3), areas(3)]), n=4)
    with pytest.raises(cf.InputError, match='needs a column "country"'):
        area_map(areas(3, True), n=4, group="country")
    with pytest.raises(cf.InputError, match="tiles in a row"):
        area_map(areas(3), n=4, columns=0)


# Schemes


def compared() -> pl.DataFrame:
    return pl.DataFrame({
        "scheme": ["exact", "base 3", "random base 3", "cell key", "controlled base 3"], "n": 5,
        "sap": [1.0, 0.2, 0.02, 0.005, 0.021], "standard_error": [0.0, 0.0, 0.004, 0.002, 0.001],
        "distortion": [0.0, 0.2, 0.25, 0.252, 0.254], "frontier": [True, True, True, True, False],
    })  # fmt: skip


def test_every_scheme_is_there_with_its_bar_and_the_frontier(tmp_path: Path) -> None:
    picture = svg(scheme_map(compared()), tmp_path)
    has(
        picture,
        "Risk and distortion of 5 schemes, 5 people known",
        "Mean SAP (square-root scale)",
        *compared()["scheme"],
    )
    has(picture, "Mean absolute error of a published count", "0.2")
    assert "stroke-dasharray" in picture
    assert "scheme: cell key" in picture
    rules = picture.count('aria-roledescription="rule mark"')
    assert rules >= 3  # three bars; lines to labels that had to move


def test_labels_do_not_collide(tmp_path: Path) -> None:
    picture = svg(scheme_map(compared()), tmp_path)
    boxes = []
    for name in compared()["scheme"]:
        x, y = re.search(rf'translate\(([\d.]+),([\d.]+)\)"[^>]*>{name}<', picture).groups()  # type: ignore[union-attr]
        boxes.append((float(x), float(y), LETTER * len(name)))
    for (x, y, w), (p, q, v) in combinations(boxes, 2):
        assert abs(x - p) >= (w + v) / 2 or abs(y - q) >= LINE


def test_a_comparison_draws_itself(tmp_path: Path) -> None:
    table = cf.Table([[2, 1, 3], [0, 5, 1]])
    result = cf.compare_schemes(table, {"as it is": cf.Exact(), "base 5": cf.RoundCells(5)}, known=1)
    has(svg(result.chart(), tmp_path), "as it is", "base 5", "Risk and distortion of 2 schemes, 1 person known")
    alone = cf.compare_schemes(cf.Table([7, 8]), {"exact": cf.Exact()}, known=1)  # no risk, no distortion
    has(svg(alone.chart(), tmp_path), "exact")
    with pytest.raises(cf.InputError, match='needs a column "frontier"'):
        scheme_map(result.frame.drop("frontier"))


def test_spread_keeps_order_and_distance() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        at = rng.uniform(0, 100, 6).tolist()
        out = spread(at, 10, 0, 100)
        assert np.argsort(out, kind="stable").tolist() == np.argsort(at, kind="stable").tolist()
        assert min(np.diff(sorted(out))) >= 10 - 1e-9
        assert min(out) >= -1e-9
        assert max(out) <= 100 + 1e-9


def test_labels_are_placed_apart_where_there_is_room() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = [(float(x), float(y)) for x, y in rng.uniform(20, 280, (8, 2))]
        spots = placed(points, ["scheme"] * 8, 520, 320)
        for (x, y), (p, q) in combinations(spots, 2):
            assert abs(x - p) >= 6 * LETTER or abs(y - q) >= LINE
