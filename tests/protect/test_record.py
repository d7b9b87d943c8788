"""The record of a release: reproducible, public or private, and proof when replayed."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.protect.record import content_digest

HEADS = cf.demo("heads").head(300)
PLAN = cf.Plan(
    [cf.Recode("age", width=5), cf.Swap("race", rate=0.3, force=[3, 17]), cf.Sample(fraction=0.5)],
    identifiers=["id"],
)
SEED = 2**100 + 1


def released(seed: int = SEED) -> cf.Release:
    return PLAN.protect(HEADS, seed=seed)


def test_a_public_record_tells_nothing_private() -> None:
    release = released()
    public = release.record()
    text = json.dumps(public)
    assert str(SEED) not in text
    assert content_digest(release.original) not in text
    assert "private" not in public
    assert "force" not in public["plan"]["steps"][1]
    assert public["withheld"] == ["steps[1] (swap).force"]
    assert public["released"]["rows"] == 150
    assert "id" not in [c["name"] for c in public["released"]["columns"]]
    assert public["variables"] == {"age": "numeric", "race": "categorical"}
    assert public["versions"]["numpy"] == np.__version__


def test_the_same_release_gives_the_same_record() -> None:
    assert released().record(private=True) == released().record(private=True)
    assert released().record()["released"] != released(seed=1).record()["released"]


def test_replay_through_a_file(tmp_path: Path) -> None:
    release = released()
    path = release.save_record(tmp_path / "record.json", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = cf.replay(HEADS, path)
    assert again.frame.equals(release.frame)
    assert np.array_equal(again.link, release.link)  # type: ignore[arg-type]
    assert again.seed == SEED


def test_a_private_record_stays_closed_when_replaced(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text("{}")
    path.chmod(0o644)
    with pytest.raises(InputError, match="exists"):
        released().save_record(path, private=True)
    released().save_record(path, private=True, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_replay_takes_any_frame_of_the_same_content() -> None:
    pandas_release = PLAN.protect(HEADS.to_pandas(), seed=5)
    again = cf.replay(HEADS.to_pandas(), pandas_release.record(private=True))
    assert again.data.equals(pandas_release.data)


@pytest.mark.parametrize(
    "other",
    [
        HEADS.head(299),
        HEADS.reverse(),
        HEADS.with_columns(pl.col("age").cast(pl.Float64)),
        HEADS.with_columns(pl.col("age") + 1),
        HEADS.rename({"state": "region"}),
        HEADS.select(reversed(HEADS.columns)),
    ],
)
def test_other_data_are_refused(other: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="not the file the record was made from"):
        cf.replay(other, released().record(private=True))


def test_a_result_that_differs_is_refused() -> None:
    record = released().record(private=True)
    drawn = {**record["private"]["draws"], "seed": "7"}
    wrong_seed = {**record, "private": {**record["private"], "draws": drawn}}
    with pytest.raises(InputError, match=r"is not the one recorded\.$"):
        cf.replay(HEADS, wrong_seed)
    older = {**wrong_seed, "versions": {**record["versions"], "numpy": "1.0"}}
    with pytest.raises(InputError, match=r"It was made with numpy 1\.0"):
        cf.replay(HEADS, older)
    elsewhere = {**wrong_seed, "versions": {**record["versions"], "processor": "x86_64 Unheard"}}
    with pytest.raises(InputError, match=r"It was made with processor x86_64 Unheard \(here \w+"):
        cf.replay(HEADS, elsewhere)
    other_content = {**record, "released": {**record["released"], "sha256": "0"}}
    with pytest.raises(InputError, match="is not the one recorded"):
        cf.replay(HEADS, other_content)
    other_link = {**record, "private": {**record["private"], "link_sha256": "0"}}
    with pytest.raises(InputError, match="is not the one recorded"):
        cf.replay(HEADS, other_link)


def test_what_cannot_be_replayed() -> None:
    record = released().record(private=True)
    with pytest.raises(InputError, match="This record is public"):
        cf.replay(HEADS, released().record())
    with pytest.raises(InputError, match='"format" must be'):
        cf.replay(HEADS, {**record, "format": "other/1"})
    bad: Any
    for bad in (
        {},
        {"draws": {"from": "draft", "seed": "1"}},
        {**record["private"], "draws": {"from": "draft", "seed": "x"}},
        {**record["private"], "draws": {"from": "draft"}},
        {**record["private"], "draws": {"from": "fresh", "secret": "no"}},
        {**record["private"], "draws": {"from": "vault"}},
        {**record["private"], "draws": {"from": "fresh", "seed": "1", "secret": b"draft".hex()}},
        {**record["private"], "draws": "draft"},
        {**record["private"], "draws": ["draft"]},
        {**record["private"], "draws": None},
        {**record["private"], "draws": {"from": "draft", "seed": float("inf")}},
        {**record["private"], "draws": {"from": "draft", "seed": 1.5}},
        {**record["private"], "copy": [0, 10**30, True]},
        {**record["private"], "copy": [0, float("inf"), True]},
        {**record["private"], "copy": [0, 2, 1]},
        {**record["private"], "draws": {"from": "elsewhere", "seed": "1"}},
        {**record["private"], "copy": [3, 3, True]},
        {**record["private"], "original": 3},
        3,
    ):
        with pytest.raises(InputError, match="damaged"):
            cf.replay(HEADS, {**record, "private": bad})


def test_an_adopted_release_has_a_public_record_only() -> None:
    made = cf.Release.adopt(HEADS, HEADS.drop("id"))
    assert made.record()["plan"] is None
    with pytest.raises(InputError, match="has no draws"):
        made.record(private=True)


def test_the_digest_sees_what_csv_hides() -> None:
    frames = [
        pl.DataFrame({"a": ["", None]}),
        pl.DataFrame({"a": [None, ""]}),
        pl.DataFrame({"a": ["1", "2"]}),
        pl.DataFrame({"a": [1, 2]}),
        pl.DataFrame({"a": [1.0, None]}),
        pl.DataFrame({"a": [1.0, float("nan")]}),
        pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"]))}),
        pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y", "z"]))}),
        pl.DataFrame({"a": [[1], [2]]}),
        pl.DataFrame({"a": [[1, 2], []]}),
        pl.DataFrame({"a": ["x\n"], "b": ["y"]}),
        pl.DataFrame({"b": ["y"], "a": ["x\n"]}),
    ]
    assert len({content_digest(f) for f in frames}) == len(frames)
