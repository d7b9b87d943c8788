"""Smith and Elliot: what their figures, tables and sentences say, and what page tables.md says of real tables.

Worked cases, bounds of Figures 3 to 6 and the printed algorithm are in tests/tables/risk/test_worked_cases.py, the simulation
of Table 3 in tests/tables/risk/test_table3.py.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.places import ROOT

BLOCKS = ROOT / "tests" / "data" / "census2010_blocks.parquet"
RACES = ["hisp", "white", "black", "aian", "asian", "nhpi", "other", "two"]


def figure_1() -> cf.Table:
    return cf.Table(
        [[1, 3, 0], [4, 0, 0], [3, 2, 0]], names=["VAR1", "VAR2"], levels=[["A", "B", "C"], ["D", "E", "F"]]
    )


def beneficiaries(second: list[int]) -> cf.Table:
    return cf.Table([[15, 20, 5], second], names=["county", "race"], levels=[["A", "B"], ["white", "black", "other"]])


# Tables 1 and 2: what is attributed


def test_table_1_attributes_the_race_of_everybody_in_county_b() -> None:
    found = beneficiaries([0, 30, 0]).publish().attack(known=0)
    assert found.frame["sap"].to_list() == [1.0]
    by_county = found.recovered(keys=["county"])
    assert by_county.select("county", "race", "tag").rows() == [("B", "white", "full"), ("B", "other", "full")]
    assert found.recovered(keys=[])["tag"].to_list() == ["combination", "combination"]
    assert found.recovered().select("tag", "given").rows() == [("full", "county"), ("full", "county")]


def test_table_2_only_rules_a_race_out() -> None:
    found = beneficiaries([0, 28, 2]).publish().attack(known=0)
    assert found.recovered(keys=["county"]).select("county", "race", "tag").rows() == [("B", "white", "partial")]
    assert found.recovered(keys=[])["tag"].to_list() == ["combination"]
    # The other way round it is full: a white beneficiary lives in county A.
    assert found.recovered(keys=["race"])["tag"].to_list() == ["full"]


def test_knowing_the_two_others_of_county_b_makes_table_2_into_table_1() -> None:
    """A coalition: without those of race other, everybody left in county B is black."""
    known = {"county": ["B", "B"], "race": ["other", "other"]}
    found = beneficiaries([0, 28, 2]).publish().attack(known=known)
    assert found.recovered(keys=["county"]).select("race", "tag").rows() == [("white", "full"), ("other", "full")]
    assert found.frame.select("n", "sap", "status").rows() == [(2, 1.0, "exact")]


def test_a_conditional_table_has_the_risk_of_its_row() -> None:
    """Section 2.3: the method applies to conditional tables as well."""
    table = beneficiaries([0, 28, 2])
    row = cf.sap(table.given(county="A").publish(), known=[4, 5], fractions=True)["fraction"].to_list()
    assert row == ["0", str(Fraction(1, comb(40, 5)))]
    assert cf.sap(table.given(county="B").publish(), known=0)["sap"][0] == 1.0


# Figures 1 and 2


def test_figure_2_is_figure_1_rounded_to_base_3() -> None:
    published = figure_1().publish(cf.RoundCells(3), margins="all").frame
    assert published.filter(pl.col("margin") == "VAR1 x VAR2")["published"].to_list() == [0, 3, 0, 3, 0, 0, 3, 3, 0]
    margins = {m: published.filter(pl.col("margin") == m)["published"].to_list() for m in ("VAR1", "VAR2", "total")}
    # Print has 9, 6, 0 as the second margin: sums of published cells would be 6, 6, 0; the true sums are 8, 5, 0.
    assert margins == {"VAR1": [3, 3, 6], "VAR2": [9, 6, 0], "total": [12]}


def test_the_person_in_a_d_recovers_a_zero_below_figure_4() -> None:
    published = figure_1().publish(cf.RoundCells(3))
    found = published.attack(known={"VAR1": ["A"], "VAR2": ["D"]})
    assert found.recovered().select("VAR1", "VAR2").rows() == [("A", "D")]
    assert published.attack(known={"VAR1": ["C"], "VAR2": ["D"]}).recovered().is_empty()


def test_the_column_margin_and_the_total_are_recovered_exactly() -> None:
    """Below Figure 6: lower bounds of the VAR2 margin sum to 13, the upper bound of the total."""
    published = figure_1().publish(cf.RoundCells(3), margins="all")
    stated = published.frame
    columns = stated.filter(pl.col("margin") == "VAR2")
    assert columns["lower"].sum() == stated.filter(pl.col("margin") == "total")["upper"][0] == 13
    assert columns["lower"].to_list() == figure_1().margin(["VAR2"]).tolist()
    zeros = published.attack(known=0).recovered()
    assert zeros.select("VAR1", "VAR2").rows() == [("A", "F"), ("B", "F"), ("C", "F")]  # three of the four


def test_margins_that_are_sums_of_rounded_cells_add_nothing() -> None:
    alone = cf.sap(figure_1().publish(cf.RoundCells(3)), known=range(14))
    summed = cf.sap(figure_1().publish(cf.RoundCells(3), margins="all", totals="summed"), known=range(14))
    assert alone["sap"].to_list() == pytest.approx(summed["sap"].to_list(), abs=1e-12)


# Sections 2.3.1 and 2.3.2


@pytest.mark.parametrize(("n", "printed"), [(1, (1, 6)), (2, (6, 15)), (3, (14, 20)), (4, (15, 15))])
def test_the_four_printed_calculations(n: int, printed: tuple[int, int]) -> None:
    attack = cf.Table([2, 1, 3]).publish().attack(known=n)
    assert attack.fractions == (Fraction(*printed),)


def test_exactly_published_cells_are_outside_the_lemma() -> None:
    """[2, 1], the first cell exact, the second in [0, 2], the total at its upper bound: the total adds risk."""
    table, cells = cf.Table([2, 1]), [([0], 2, 2), ([1], 0, 2)]
    without = cf.sap(cf.Published.of(table, cells), known=range(4), fractions=True)["fraction"].to_list()
    having = cf.sap(cf.Published.of(table, [*cells, ([0, 1], 1, 3)]), known=range(4), fractions=True)
    assert without == ["0", "0", "1/3", "1"]
    assert having["fraction"].to_list() == ["0", "1/3", "1", "1"]


def test_a_slack_total_adds_no_risk() -> None:
    """Corollary 1, for all tables of three counts up to 6, base 3."""
    tables = cf.Tables(np.stack(np.meshgrid(*[np.arange(7)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[1:])
    slack = tables.totals % 3 != 1  # 1 more than a multiple of 3: rounded down as far as can be
    risks = [
        tables.publish(cf.RoundCells(3), margins=m).attack(known=range(8), progress=False).frame["sap"].to_numpy()
        for m in ("none", "total")
    ]
    alone, with_total = (r.reshape(len(tables), 8) for r in risks)
    np.testing.assert_allclose(with_total[slack], alone[slack], rtol=0, atol=1e-12)
    assert (with_total >= alone - 1e-12).all()
    assert (with_total[~slack] > alone[~slack] + 1e-6).any()


# The blocks of Rhode Island


@pytest.fixture(scope="module")
def state() -> cf.Tables:
    blocks = pl.read_parquet(BLOCKS)
    counts = blocks.select([f"{a}_{r}" for a in ("minor", "adult") for r in RACES]).to_numpy().reshape(-1, 2, 8)
    assert (counts.sum(axis=(1, 2)) == blocks["total"].to_numpy()).all()
    return cf.Tables(counts, areas=blocks["geoid"], names=["age", "race"], levels=[["minor", "adult"], RACES])


def test_the_blocks_are_those_that_their_readme_describes(state: cf.Tables) -> None:
    assert len(state) == 17_644
    assert int(state.counts.sum()) == 1_052_567
    assert len({area[:11] for area in state.areas}) == 241
    assert round((state.counts == 0).mean(), 2) == 0.73
    assert ((state.counts > 0).sum(axis=(1, 2)) == 1).sum() == 1_438


@pytest.mark.parametrize("margins", ["none", "total"])
def test_risk_of_every_block_is_a_probability_that_never_falls(state: cf.Tables, margins: str) -> None:
    frame = cf.sap(state.publish(cf.RoundCells(3), margins=margins), known=range(25), progress=False)  # type: ignore[arg-type]
    risk = frame["sap"].to_numpy().reshape(len(state), 25)
    assert risk.min() >= 0
    assert risk.max() <= 1
    assert (np.diff(risk, axis=1) >= -1e-12).all()
    assert frame["status"].unique().to_list() == ["exact"]
    if margins == "none":
        relevant = (state.counts % 3 == 1).reshape(len(state), -1)
        assert ((risk[:, 24] == 0) == ~(relevant & (state.counts.reshape(len(state), -1) <= 24)).any(axis=1)).all()
        assert (risk[:, 0] == 0).all()


def test_a_batch_says_of_a_block_what_the_block_says_alone(state: cf.Tables) -> None:
    published = state.publish(cf.RoundCells(3), margins="total")
    batch = published.attack(known=range(11), progress=False).frame["sap"].to_numpy().reshape(len(state), 11)
    rng = np.random.default_rng(4)
    pinned = np.flatnonzero(batch[:, 0] == 1)[:3]
    for k in [*pinned, *rng.choice(len(state), 30, replace=False)]:
        most = int(min(10, state.totals[k]))
        alone = cf.sap(published[int(k)], known=range(most + 1), fractions=True)
        np.testing.assert_allclose(
            batch[k, : most + 1], [float(Fraction(f)) for f in alone["fraction"]], rtol=1e-10, atol=1e-14
        )
        assert (batch[k, most:] == batch[k, most]).all()


def test_exact_blocks_give_zeros_away(state: cf.Tables) -> None:
    risk = cf.sap(state.publish(), known=0, progress=False)["sap"].to_numpy()
    assert ((risk == 1) == (state.counts == 0).any(axis=(1, 2))).all()
    assert (risk == 0).sum() == 1


def test_what_the_page_says_of_rounded_blocks(state: cf.Tables) -> None:
    def at_five(scheme: object, margins: str = "none") -> np.ndarray:
        published = state.publish(scheme, margins=margins, seed=1)  # type: ignore[arg-type]
        return published.attack(known=5, progress=False).frame["sap"].to_numpy()

    base_3, with_total = at_five(cf.RoundCells(3)), at_five(cf.RoundCells(3), "total")
    assert 0.39 < (base_3 >= 0.1).mean() < 0.42
    assert (with_total >= base_3 - 1e-12).all()
    assert with_total.mean() > base_3.mean() + 0.02
    for better in (cf.RoundCells(3, how="random"), cf.CellKey.of(largest=2, variance=1)):
        assert at_five(better).mean() < base_3.mean() / 5


# The wards of West Yorkshire


def test_the_wards_are_those_of_the_source() -> None:
    wards = cf.demo("wards")
    assert wards.columns == ["ward", "name", "sex", "age", "count"]
    assert wards.height == 123 * 2 * 69
    assert wards.select("ward", "name").unique().height == wards["ward"].n_unique() == wards["name"].n_unique() == 123
    assert wards["sex"].dtype == pl.Enum(["male", "female"])
    assert (wards["count"].min(), wards["count"].median(), wards["count"].max()) == (7, 96.0, 2_292)
    assert wards["count"].sum() == 1_723_378
    assert wards.filter((pl.col("ward") == "E05001341") & (pl.col("age") == 16))["count"].to_list()[0] == 93
    assert (wards["age"].min(), wards["age"].max()) == (16, 84)


def test_nobody_gains_by_subtracting_few_people_from_a_ward() -> None:
    bands = np.array(["16-24", "25-34", "35-44", "45-54", "55-64", "65-74"])
    wards = cf.demo("wards").filter(pl.col("age") < 75)
    place = np.maximum(0, (wards["age"].to_numpy() - 15) // 10)
    wards = wards.with_columns(band=pl.Series(bands[place]))
    tables = cf.Tables.from_counts(wards, area="name", count="count", by=["sex", "band"])
    assert tables.counts.shape == (123, 2, 6)
    assert (wards.group_by("band").agg(pl.col("age").min()).sort("band")["age"] == [16, 25, 35, 45, 55, 65]).all()
    for margins in ("none", "total"):
        risk = cf.sap(tables.publish(cf.RoundCells(5), margins=margins), known=range(25), progress=False)["sap"]  # type: ignore[arg-type]
        assert risk.max() == 0.0
    least = tables.counts.reshape(123, -1).min(axis=1)
    assert [t.publish().attack(known=0).smallest for t in tables] == least.tolist()
