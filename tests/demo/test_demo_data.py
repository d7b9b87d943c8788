"""The shipped data: what it holds, how it reads, and that the docs say the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from confide.demo import codebook, demo
from confide.demo.codebook import FILES, HEADS
from confide.errors import InputError
from confide.frames import read, schema, write

DOCS = Path(__file__).parents[2] / "docs" / "data.md"


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
    stored = pl.read_parquet(Path(__file__).parents[2] / "src" / "confide" / "demo" / "data" / file)
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


def test_population_and_sample_agree_cell_by_cell() -> None:
    key = ["state", "sex", "race", "marital", "educ", "age"]
    sample = demo("heads").group_by(key).len()
    counts = demo("heads_population").filter(pl.col("n_sample") > 0)
    joined = counts.join(sample, on=key, how="full", coalesce=True)
    assert joined["n_sample"].cast(pl.Int64).equals(joined["len"].cast(pl.Int64))


@pytest.mark.parametrize("name", list(FILES))
def test_docs_carry_the_codebook(name: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
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
