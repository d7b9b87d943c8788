"""Records of the first form, made before draws were keyed by a vault, are replayed as they were made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf
from tests.helpers.places import ROOT
from tests.helpers.processor import KIND

RECORDS = json.loads((Path(__file__).parent / "data" / "records_of_the_first_form.json").read_text())
HEADS = cf.demo("heads").head(150)
SOLVED = {"quantile regression", "normal"}
"""What solves for coefficients may depend on the kind of processor; these were made on the kind named `KIND`."""

CHANGED = {"cart"}
"""Methods that learn in another way since: the record says what was done then, and this version cannot do it again."""


def check(name: str, folder: Path) -> None:
    """Replay a record, and a new record of what it gave."""
    record = RECORDS[name]
    assert record["format"] == "confide-record/1"
    release = cf.replay(HEADS, record)  # it checks content and link itself
    assert "earlier version" in repr(release)
    if int(record["private"]["seed"]) < 2**96:
        with pytest.raises(cf.InputError, match="anybody can try out"):
            cf.write(release.data, folder / "public.csv")
    else:
        cf.write(release.data, folder / "public.csv")
    again = cf.replay(HEADS, release.record(private=True))
    assert again.data.equals(release.data)


@pytest.mark.parametrize("name", [name for name in RECORDS if name not in SOLVED | CHANGED])
def test_the_very_same_release(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SOLVED))
def test_the_very_same_release_on_the_same_kind_of_processor(name: str, tmp_path: Path) -> None:
    """OpenBLAS computes as on the kind asked for; other libraries of linear algebra cannot be asked."""
    code = f"""
from pathlib import Path
from tests.helpers.processor import of_that_kind
from tests.protect.test_earlier_records import check
print(of_that_kind())
if of_that_kind():
    check({name!r}, Path({str(tmp_path)!r}))
"""
    asked = os.environ | {"OPENBLAS_CORETYPE": KIND}
    done = subprocess.run(
        [sys.executable, "-c", code], env=asked, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if done.stdout.strip() != "True":
        pytest.skip(f"needs an OpenBLAS that can compute as on {KIND}")


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_what_is_made_otherwise_now_is_not_passed_off_as_the_same(name: str) -> None:
    with pytest.raises(cf.InputError, match="is not the one recorded"):
        cf.replay(HEADS, RECORDS[name])


def test_another_seed_is_noticed() -> None:
    record = RECORDS["swap"]
    wrong = {**record, "private": {**record["private"], "seed": "8"}}
    with pytest.raises(cf.InputError, match=r"is not the one recorded.*processor is not recorded"):
        cf.replay(HEADS, wrong)
    with pytest.raises(cf.InputError, match="damaged"):
        cf.replay(HEADS, {**record, "private": {**record["private"], "seed": "no"}})
