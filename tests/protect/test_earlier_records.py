"""Records of the first form, made before draws were keyed by a vault, are replayed as they were made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import confide as cf

RECORDS = json.loads((Path(__file__).parent / "data" / "records_of_the_first_form.json").read_text())
HEADS = cf.demo("heads").head(150)


@pytest.mark.parametrize("name", RECORDS)
def test_the_very_same_release(name: str, tmp_path: Path) -> None:
    record = RECORDS[name]
    assert record["format"] == "confide-record/1"
    release = cf.replay(HEADS, record)  # it checks content and link itself
    assert "earlier version" in repr(release)
    if int(record["private"]["seed"]) < 2**96:
        with pytest.raises(cf.InputError, match="anybody can try out"):
            cf.write(release.data, tmp_path / "public.csv")
    else:
        cf.write(release.data, tmp_path / "public.csv")
    again = cf.replay(HEADS, release.record(private=True))  # a new record of it replays too
    assert again.data.equals(release.data)


def test_another_seed_is_noticed() -> None:
    record = RECORDS["swap"]
    wrong = {**record, "private": {**record["private"], "seed": "8"}}
    with pytest.raises(cf.InputError, match="is not the one recorded"):
        cf.replay(HEADS, wrong)
    with pytest.raises(cf.InputError, match="damaged"):
        cf.replay(HEADS, {**record, "private": {**record["private"], "seed": "no"}})
