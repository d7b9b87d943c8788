"""One table an area: a batch says what each table says by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute

NAMES = ["a", "b", "c"]
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
GROUPS = {"b": {"broad": {"low": ["0", "1"], "high": ["2", "3"]}, "all": {"any": ["0", "1", "2", "3"]}}}


@st.composite
def batches(draw, shapes=((3,), (2, 3), (2, 4))):
    """Tables of a few areas, some with nobody."""
    shape = draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    tables = draw(st.lists(st.lists(st.integers(0, size - 1), max_size=9), min_size=1, max_size=5))
    counts = np.array([np.bincount(t, minlength=size) if t else np.zeros(size, int) for t in tables])
    counts[draw(st.integers(0, len(counts) - 1)), 0] += 1  # somebody somewhere
    return counts.reshape(-1, *shape)


def schemes(kind):
    return {
        "exact": cf.Exact(),
        "conventional": cf.RoundCells(3),
        "random": cf.RoundCells(3, how="random"),
        "small": cf.SmallCounts(3),
        "key": cf.CellKey.of(largest=1, variance=0.5),
        "controlled": cf.ControlledRounding(3),
        "suppress": cf.Suppress(below=3, zeros="show"),
    }[kind]


def one_by_one(published, ns, **options):
    """Each area's own attack, n cut to its people; nulls where there is nobody."""
    rows = []
    for k, (area, people) in enumerate(zip(published.tables.areas, published.tables.totals.tolist(), strict=True)):
        if not people:
            rows += [(area, 0, n, None, None, None, None, "empty") for n in ns]
            continue
        own = cf.sap(published[k], known=range(people + 1), **options)
        rows += [(area, people, n, *own.row(min(n, people))[1:]) for n in ns]
    return rows


def alike(rows, expected):
    assert len(rows) == len(expected)
    for row, other in zip(rows, expected, strict=True):
        for a, b in zip(row, other, strict=True):
            if isinstance(b, float):
                assert a == pytest.approx(b, rel=1e-12, abs=1e-300)
            else:
                assert a == b


# A batch is its tables


@pytest.mark.parametrize("kind", ["exact", "conventional", "random", "small", "key"])
@few
@given(data=st.data())
def test_batch_equals_one_by_one(kind, data):
    counts = data.draw(batches())
    margins = data.draw(st.sampled_from(["none", "total", [["a"]], [["a"], []], "all"]))
    tables = cf.Tables(counts, areas=[f"w{k}" for k in range(len(counts))], names=NAMES[: counts.ndim - 1])
    published = tables.publish(schemes(kind), margins=margins, seed=data.draw(st.integers(0, 99)))
    ns = [0, 1, 2, 5, 30]
    alike(cf.sap(published, known=ns).rows(), one_by_one(published, ns))


@pytest.mark.parametrize("kind", ["conventional", "random"])
@few
@given(data=st.data())
def test_batches_with_hierarchies(kind, data):
    counts = data.draw(batches(((2, 4),)))
    margins = data.draw(st.sampled_from([[["a", "broad"], ["a"]], [["broad"], []], [["broad"], ["a"]], [["all"]]]))
    tables = cf.Tables(counts, names=["a", "b"], hierarchies=GROUPS)
    published = tables.publish(schemes(kind), margins=margins, seed=1)
    alike(cf.sap(published, known=[0, 2, 4]).rows(), one_by_one(published, [0, 2, 4]))


@few
@given(data=st.data())
def test_batches_of_chosen_targets(data):
    counts = data.draw(batches(((2, 3),)))
    tables = cf.Tables(counts, names=["a", "b"])
    margins = data.draw(st.sampled_from(["total", "all"]))
    published = tables.publish(cf.RoundCells(3), margins=margins)
    for options in ({"targets": [0, 4]}, {"targets": {"a": "1"}}, {"aggregates": [["a"]]}, {"depth": 1}):
        alike(cf.sap(published, known=[1, 3], **options).rows(), one_by_one(published, [1, 3], **options))


@settings(few, max_examples=10)
@given(data=st.data())
def test_fractions_of_a_batch(data):
    counts = data.draw(batches(((3,), (2, 2))))
    published = cf.Tables(counts).publish(cf.RoundCells(3), margins="total")
    frame = cf.sap(published, known=[0, 2, 20], fractions=True)
    for a, table in enumerate(counts):
        mine = frame.filter(area=str(a))["fraction"].to_list()
        if not table.sum():
            assert mine == 3 * [None]
            continue
        exact = brute.sap(brute.release(table, "conventional", "total", base=3), table)
        assert [Fraction(f) for f in mine] == [exact[min(n, int(table.sum()))] for n in (0, 2, 20)]


@pytest.mark.parametrize("kind", ["controlled", "suppress"])
def test_schemes_that_see_the_whole_table(kind):
    rng = np.random.default_rng(3)
    counts = rng.poisson(3.0, (6, 3, 3))
    tables = cf.Tables(counts, names=["a", "b"])
    published = tables.publish(schemes(kind), margins="all", seed=2, progress=False)
    alike(cf.sap(published, known=[0, 3]).rows(), one_by_one(published, [0, 3]))
    for k in range(6):
        truth = published.layout.sums(counts[k].ravel())
        assert (published.lower[k] <= truth).all()
        assert (truth <= published.upper[k]).all()


@pytest.mark.parametrize("kind", ["controlled", "suppress"])
def test_an_empty_area_among_others(kind):
    counts = np.array([[[4, 5], [6, 7]], [[0, 0], [0, 0]], [[3, 9], [8, 4]]])
    published = cf.Tables(counts, names=["a", "b"]).publish(schemes(kind), margins="all", seed=2, progress=False)
    frame = cf.sap(published, known=[0, 3])
    assert frame["status"].to_list()[2:4] == ["empty", "empty"]
    assert frame["sap"].is_null().to_list() == [False, False, True, True, False, False]


def test_structural_zeros_in_every_area():
    mask = np.array([True, False, False])
    counts = np.array([[0, 2, 1], [0, 0, 3]])
    published = cf.Tables(counts, structural=mask).publish()
    assert cf.sap(published, known=[0])["sap"].to_list() == [0.0, 1.0]
    alike(cf.sap(published, known=[0, 1]).rows(), one_by_one(published, [0, 1]))


def test_many_areas_on_any_number_of_threads():
    rng = np.random.default_rng(1)
    tables = cf.Tables(rng.poisson(2.0, (300, 2, 6)))
    published = tables.publish(cf.RoundCells(5), margins="total")
    one = cf.sap(published, known=range(25), threads=1, progress=False)
    assert one.equals(cf.sap(published, known=range(25), threads=2, progress=False))
    alike(one.filter(pl.col("area").is_in(["0", "150", "299"])).rows(),
          [r for r in one_by_one(published, range(25)) if r[0] in ("0", "150", "299")])  # fmt: skip


# Order, names, people


def test_order_of_areas_is_that_of_the_input():
    counts = np.array([[2, 1], [0, 0], [1, 5], [3, 3]])
    areas = ["z", "empty", "a", "10"]
    frame = cf.sap(cf.Tables(counts, areas=areas).publish(), known=[1, 0])
    assert frame["area"].to_list() == [a for a in areas for _ in range(2)]
    assert frame["n"].to_list() == 4 * [0, 1]
    assert frame["people"].to_list() == [3, 3, 0, 0, 6, 6, 6, 6]
    turned = cf.sap(cf.Tables(counts[::-1], areas=areas[::-1]).publish(), known=[0, 1])
    assert turned.sort("area", "n").equals(frame.sort("area", "n"))


def test_more_known_people_than_an_area_has():
    frame = cf.sap(cf.Tables([[2, 1], [4, 5]]).publish(), known=[3, 50])
    assert frame["sap"].to_list() == [1.0, 1.0, 0.0, 1.0]
    assert frame["n"].to_list() == [3, 50, 3, 50]


def test_areas_by_name_and_by_position():
    tables = cf.Tables([[2, 1], [0, 3]], areas=["north", "south"], names=["sex"])
    published = tables.publish(cf.RoundCells(3))
    assert tables["south"].counts.tolist() == tables[1].counts.tolist() == tables[-1].counts.tolist() == [0, 3]
    assert published["north"].table.counts.tolist() == [2, 1]
    assert [t.total for t in tables] == [3, 3]
    assert tables.together().counts.tolist() == [2, 4]
    with pytest.raises(cf.InputError, match='Did you mean "north"'):
        tables["nort"]


# Bands, areas at risk


@settings(few, max_examples=15)
@given(st.lists(st.fractions(0, 1, max_denominator=40), min_size=1, max_size=20))
def test_bands_hold_their_lower_end(values):
    frame = cf.sap_bands(pl.DataFrame({"n": len(values) * [4], "sap": [float(v) for v in values]}))
    expected = [sum(v == 0 for v in values)]
    expected += [sum(0 < v < 1 and Fraction(k, 10) <= v < Fraction(k + 1, 10) for v in values) for k in range(10)]
    expected.append(sum(v == 1 for v in values))
    assert frame.row(0) == (4, *expected)
    assert frame.columns == ["n", "=0", *(f"{k / 10:g}-{(k + 1) / 10:g}" for k in range(10)), "=1"]


def test_bands_of_an_attack_leave_out_areas_with_nobody():
    counts = np.array([[2, 1], [0, 0], [0, 3], [5, 5]])
    attack = cf.Tables(counts).publish().attack(known=[0, 1])
    bands = attack.bands()
    assert bands["n"].to_list() == [0, 1]
    assert bands.drop("n").sum_horizontal().to_list() == [3, 3]
    assert bands["=1"].to_list() == [1, 1]
    assert bands["0.3-0.4"].to_list() == [0, 1]


def test_areas_at_risk_come_highest_first():
    counts = np.array([[2, 1], [0, 0], [0, 3], [5, 5], [1, 2]])
    attack = cf.Tables(counts, areas=["e", "d", "c", "b", "a"]).publish().attack(known=[0, 1])
    assert attack.at_risk(n=1, above=0.3)["area"].to_list() == ["c", "a", "e"]
    assert attack.at_risk(n=1, above=0)["area"].to_list() == ["c", "a", "e", "b"]
    assert attack.at_risk(n=0)["area"].to_list() == ["c"]


# From frames

PEOPLE = {
    "ward": ["b", "a", "a", "b", "c"],
    "sex": ["f", "m", None, "f", "m"],
    "age": [30, 9, 9, 30, 9],
}


def test_records_by_area():
    tables = cf.Tables.of(PEOPLE, by=["sex", "age"], area="ward")
    assert tables.areas == ("a", "b", "c")
    assert tables.levels == (("f", "m", "missing"), ("9", "30"))
    assert tables["a"].counts.tolist() == [[0, 0], [1, 0], [1, 0]]
    assert tables["b"].counts.tolist() == [[0, 2], [0, 0], [0, 0]]
    frame = pl.DataFrame(PEOPLE)
    for area in "abc":
        alone = cf.Table.of(
            frame.filter(ward=area), by=["sex", "age"], levels=dict(zip(("sex", "age"), tables.levels, strict=True))
        )
        assert alone.counts.tolist() == tables[area].counts.tolist()


def test_levels_of_an_enum_stay_in_order_also_where_nobody_is():
    ages = pl.Enum(["young", "middle", "old"])
    frame = pl.DataFrame(
        {"ward": pl.Series(["x", "y"], dtype=pl.Enum(["y", "z", "x"])), "age": pl.Series(["old", "young"], dtype=ages)}
    )
    tables = cf.Tables.of(frame, by=["age"], area="ward")
    assert tables.levels == (("young", "middle", "old"),)
    assert tables.areas == ("y", "z", "x")
    assert tables.totals.tolist() == [1, 0, 1]
    assert cf.sap(tables.publish(), known=0)["status"].to_list() == ["exact", "empty", "exact"]


def test_pandas_categories_are_levels():
    pandas = pytest.importorskip("pandas")
    kind = pandas.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pandas.DataFrame({"ward": ["a", "a"], "income": pandas.Series(["high", None], dtype=kind)})
    tables = cf.Tables.of(frame, by=["income"], area="ward")
    assert tables.levels == (("low", "mid", "high", "missing"),)
    assert tables.counts.tolist() == [[0, 0, 1, 1]]


def test_counts_of_areas():
    frame = {"ward": ["a", "b", "a", "a"], "sex": ["m", "f", "m", "f"], "count": [4, 2, 1, 0]}
    tables = cf.Tables.from_counts(frame, area="ward")
    assert tables.names == ("sex",)
    assert tables.counts.tolist() == [[0, 5], [2, 0]]
    again = cf.Tables.from_counts(
        pl.DataFrame(frame).rename({"count": "people"}), area="ward", count="people", by=["sex"]
    )
    assert again.counts.tolist() == tables.counts.tolist()


def test_counts_of_one_table_and_combinations_that_are_not_listed():
    table = cf.Table.from_counts({"sex": ["m", "f"], "age": ["old", "young"], "count": [4, 2]})
    assert table.counts.tolist() == [[0, 2], [4, 0]]
    listed = cf.Table.from_counts({"sex": ["m"], "count": [3]}, levels={"sex": ["f", "m", "x"]})
    assert listed.counts.tolist() == [0, 3, 0]


def test_variables_that_are_left_out_are_added_up():
    frame = {"ward": ["a", "a", "a"], "sex": ["m", "m", "f"], "age": [1, 2, 1], "count": [4, 2, 1]}
    assert cf.Tables.from_counts(frame, area="ward", by=["sex"]).counts.tolist() == [[1, 6]]
    assert cf.Table.from_counts(frame, by=["ward", "sex"]).counts.tolist() == [[1, 6]]


def test_a_text_that_says_missing_is_the_level_missing():
    table = cf.Table.of({"sex": ["missing", "f"]}, by=["sex"])
    assert dict(zip(table.levels[0], table.counts.tolist(), strict=True)) == {"f": 1, "missing": 1}


def test_numbers_are_levels_by_size():
    table = cf.Table.of({"age": [10, 9, 100, 9]}, by=["age"])
    assert table.levels == (("9", "10", "100"),)
    assert table.counts.tolist() == [2, 1, 1]


def test_probabilities_too_small_for_a_float_are_not_zero():
    """In every area the smallest n with a risk is that of the area by itself, however small the probability."""
    rng = np.random.default_rng(5)
    counts = np.concatenate([rng.integers(150, 400, (12, 2, 3)), rng.integers(0, 4, (12, 2, 3))])
    tables = cf.Tables(counts, names=["a", "b"])
    for scheme in (cf.RoundCells(3), cf.RoundCells(3, how="random")):
        published = tables.publish(scheme, margins=[["a"], []], seed=1)
        frame = cf.sap(published, known=range(600))
        assert (frame["sap"] == 5e-324).any()
        for area in tables.areas:
            risky = frame.filter((pl.col("area") == area) & (pl.col("sap") > 0))["n"]
            alone = published[area].attack(known=0).smallest
            assert (risky.min() if risky.len() else None) == (alone if alone is not None and alone < 600 else None)
