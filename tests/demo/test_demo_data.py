"""The shipped data: what it holds, how it reads, and that the docs say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from confide.core.errors import InputError
from confide.demo import codebook, demo
from confide.demo.codebook import ANES1996, ELITES, FILES, HEADS
from confide.demo.elites import PRINTED, TAIL, build, main
from confide.frames import read, schema, write
from tests.helpers.places import DOCS, ROOT

PAGE = DOCS / "reference" / "data.md"


def test_heads_has_the_published_size_and_readable_categories() -> None:
    heads = demo()
    assert heads.shape == (51_016, 15)
    assert heads.columns == [v.name for v in HEADS]
    assert heads.null_count().sum_horizontal().item() == 0
    assert heads["id"].n_unique() == heads.height
    assert heads["hispanic"].dtype == pl.Enum(["no", "yes"])
    assert heads.schema["age"] == pl.Int64
    assert heads.schema["weight"] == pl.Float64


def test_every_level_of_every_code_list_occurs_and_no_other() -> None:
    heads = demo("heads")
    for v in HEADS:
        if v.codes:
            assert heads[v.name].dtype == pl.Enum(list(v.codes.values()))
            assert set(heads[v.name].unique()) == set(v.codes.values())
            assert list(v.codes) == sorted(v.codes)


def test_labels_stand_for_the_right_codes() -> None:
    """Counts by code in the stored file equal counts by label in the frame."""
    file, _ = FILES["heads"]
    stored = pl.read_parquet(ROOT / "src" / "confide" / "demo" / "data" / file)
    heads = demo("heads")
    assert (stored["marital"] == 7).equals(heads["marital"] == "never married")
    assert (stored["sex"] == 2).equals(heads["sex"] == "female")
    assert (stored["educ"] == 43).equals(heads["educ"] == "bachelor")
    assert (stored["state"] == 44).equals(heads["state"] == "RI")
    assert (stored["tenure"] == 3).equals(heads["tenure"] == "rented")
    assert stored["hh_income"].cast(pl.Int64).equals(heads["hh_income"])


@pytest.mark.parametrize(
    ("key", "cells", "uniques", "in_frame"),
    [
        (["sex", "race", "marital", "age"], 3_551, 539, 14),
        (["state", "sex", "race", "marital", "age"], 79_730, 12_922, 1_152),
        (["state", "sex", "race", "marital", "educ", "age"], 276_613, 31_411, 7_201),
    ],
)
def test_population_counts_have_the_reference_uniques(key: list[str], cells: int, uniques: int, in_frame: int) -> None:
    counts = demo("heads_population").group_by(key).agg(pl.col("n_pop", "n_sample").sum())
    alone = counts.filter(pl.col("n_sample") == 1)
    assert counts.height == cells
    assert alone.height == uniques
    assert alone.filter(pl.col("n_pop") == 1).height == in_frame
    assert demo("heads").group_by(key).len().filter(pl.col("len") == 1).height == uniques


def test_persons_share_what_is_of_their_household() -> None:
    persons = demo("persons")
    homes = persons.group_by("household").agg(
        pl.col("hh_income", "tenure", "n_persons", "area").n_unique(), rows=pl.len()
    )
    assert homes.height == 4_226
    assert homes.select(pl.col("hh_income", "tenure", "n_persons", "area").max()).row(0) == (1, 1, 1, 1)
    assert homes["rows"].max() == 10
    assert persons["age"].min() == 15
    assert persons["weight"].sum() == 903_265


def test_population_and_sample_agree_cell_by_cell() -> None:
    key = ["state", "sex", "race", "marital", "educ", "age"]
    sample = demo("heads").group_by(key).len()
    counts = demo("heads_population").filter(pl.col("n_sample") > 0)
    joined = counts.join(sample, on=key, how="full", coalesce=True)
    assert joined["n_sample"].cast(pl.Int64).equals(joined["len"].cast(pl.Int64))


@pytest.mark.parametrize("name", list(FILES))
def test_docs_carry_the_codebook(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
    rows = [f"| `{v}` | {label} | {kind} | {values} |" for v, label, kind, values in codebook(name).rows()]
    described = [line for line in section.splitlines() if line.startswith("| `")]
    assert described == rows


def test_codebook_and_data_name_the_same_variables() -> None:
    for name in FILES:
        book = codebook(name)
        assert book["variable"].to_list() == demo(name).columns
        assert all(len(text) > 0 for text in book["values"])
        assert all(len(text) > 0 for text in book["label"])


def test_source_codes_come_back_in_an_spss_file(tmp_path: Path) -> None:
    heads = demo("heads")
    path = write(heads, tmp_path / "heads.sav")
    assert set(read(path, columns=["marital"])["marital"].unique()) == {1, 3, 4, 5, 6, 7}
    assert read(path, labels=True)["marital"].equals(heads["marital"])
    assert schema(heads).variable("age").label == "age of the householder"


def test_unknown_name_lists_the_names_there_are() -> None:
    for call in (demo, codebook):
        with pytest.raises(InputError, match=r'no demo data named "haeds"; there are "heads", "heads_pop'):
            call("haeds")
        with pytest.raises(InputError, match=r'"elites", "anes1996"\. Did you mean "elites"'):
            call("elite")


@pytest.mark.parametrize("name", list(FILES))
def test_no_value_is_missing(name: str) -> None:
    assert demo(name).null_count().sum_horizontal().item() == 0


def test_elites_has_the_size_and_the_variables_of_the_paper() -> None:
    elites = demo("elites")
    assert elites.shape == (662, 5)
    assert elites.columns == [v.name for v in ELITES] == [*PRINTED, "attitude"]
    assert set(elites.dtypes) == {pl.Float64}
    assert np.isfinite(elites.to_numpy()).all()


def test_every_label_of_elites_says_that_it_is_a_surrogate() -> None:
    elites = demo("elites")
    assert all("surrogate" in (schema(elites).variable(name).label or "") for name in elites.columns)
    assert codebook("elites")["values"].str.starts_with("simulated").all()


def test_elites_is_what_its_builder_makes() -> None:
    np.testing.assert_allclose(demo("elites").to_numpy(), build().to_numpy(), rtol=0, atol=1e-9)
    assert not build(seed=1).equals(build())


def test_ranges_of_elites_are_near_those_of_the_paper() -> None:
    elites = demo("elites")
    betas = {"age": 3.5, "civil": 34, "can_us": 63, "income": 110}
    for name, printed in PRINTED.items():
        assert printed == pytest.approx(6 * np.sqrt(400 / betas[name]), abs=0.06)
        values = elites[name].to_numpy()
        assert np.ptp(values) == pytest.approx(printed, rel=0.12)
    assert elites["age"].mean() == pytest.approx(47, abs=2)
    assert elites["age"].std() == pytest.approx(11, abs=1)


def test_incomes_of_elites_have_a_topcoded_part() -> None:
    """Above 80,000 are topcoded incomes only; from 67,900 there are also others."""
    income = demo("elites")["income"].to_numpy()
    assert income.min() > 0
    assert 0.2 < np.mean(income > 8) < 0.4
    assert 0.5 < np.mean(income >= 6 + 2.5 * TAIL) < 0.8


def test_tail_of_the_topcoded_incomes_is_38_percent_of_t8() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert stats.t(8).sf(TAIL) == pytest.approx(0.38, abs=1e-8)


def test_scales_of_elites_hold_together_and_move_with_age_and_income() -> None:
    """A scale of uncorrelated items would have a far smaller spread; relations with age and income are mild."""
    elites = demo("elites")
    assert 3.5 < elites.to_numpy()[:, 1].std() < 5
    assert 2.5 < elites.to_numpy()[:, 2].std() < 4
    related = np.abs(np.corrcoef(elites.to_numpy().T)[np.triu_indices(5, 1)])
    assert 0.1 < related.max() < 0.3


def test_builder_of_elites_writes_one_file_and_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "elites.parquet"
    assert main([]) == 2
    assert "Name the one file to write" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert pl.read_parquet(path).equals(build())
    assert main([str(path)]) == 2
    assert "exists and is not overwritten" in capsys.readouterr().err


def test_anes1996_has_the_counts_of_its_source() -> None:
    voters = demo("anes1996")
    assert voters.shape == (944, 10)
    assert voters.columns == [v.name for v in ANES1996]
    assert voters.schema["vote"] == pl.Enum(["Clinton", "Dole"])
    assert set(voters.drop("vote").dtypes) == {pl.Int64}
    assert voters["vote"].value_counts().sort("vote").rows() == [("Clinton", 551), ("Dole", 393)]
    sums = voters.drop("vote").sum().row(0, named=True)
    assert sums == {
        "place_pop": 289_224,
        "tv_news": 3_519,
        "self_lr": 4_083,
        "clinton_lr": 2_775,
        "dole_lr": 5_092,
        "party_id": 2_683,
        "age": 44_409,
        "educ": 4_310,
        "income": 15_417,
    }


def test_anes1996_keeps_to_its_scales() -> None:
    voters = demo("anes1996")
    ends = {name: (voters[name].min(), voters[name].max()) for name in voters.columns[:-1]}
    assert ends.pop("place_pop") == (0, 7_300)
    assert ends.pop("tv_news") == (0, 7)
    assert ends.pop("party_id") == (0, 6)
    assert ends.pop("age") == (19, 91)
    assert ends.pop("income") == (1, 24)
    assert set(ends.values()) == {(1, 7)}
    assert voters["party_id"].value_counts().sort("party_id")["count"].to_list() == [200, 180, 108, 37, 94, 150, 175]
    means = voters.group_by("vote").agg(pl.col("self_lr").mean()).sort("vote")["self_lr"]
    assert means[0] < 4 < means[1]
