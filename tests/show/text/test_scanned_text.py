"""An attack on a scan says what limits it, as the attack in memory does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.scanned_release import in_files

N = 600


def homes() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame({
        "id": np.arange(N), "home_id": pl.Series(np.arange(N) // 3).set(pl.Series(np.arange(N) < 12), None),
        "sex": rng.choice(["f", "m"], N), "town": rng.choice(list("abcde"), N), "age": rng.integers(20, 80, N),
        "weight": rng.uniform(1, 3, N).round(1),
        "area": np.arange(N) % 11,
    })  # fmt: skip


STEPS = [cf.Recode("age", width=10), cf.Swap("town", rate=0.3)]
KNOWN = ["sex", "town", "age"]


@pytest.mark.parametrize(
    ("plan", "who"),
    [
        ({"unit": "home_id"}, {}),  # what probabilities are of; rows without a unit
        ({"unit": "area"}, {}),  # units that are too large, and few
        ({"identifiers": ["id", "home_id"]}, {}),  # rows that look like several of one unit
        ({}, {"membership": cf.Unsure(weights="weight")}), ({}, {"membership": cf.Unsure(total=5_000)}),
        ({}, {"membership": "in_file"}),
    ],
)  # fmt: skip
def test_what_memory_says_a_scan_says(plan: dict[str, Any], who: dict[str, Any], tmp_path: Path) -> None:
    data = homes()
    made = cf.Plan(STEPS, **{"identifiers": ["id"], **plan}).protect(data, seed=1)
    intruder = cf.Intruder(knows=KNOWN, **who)
    files = in_files(made, tmp_path)
    whole, found = str(intruder.attack(made)).splitlines(), str(intruder.attack(files)).splitlines()
    assert whole[:4] == found[:4]
    said = [line for line in whole if line.split(" ")[0] in ("N_t,", "Comparing", "unit", "Rows")]
    assert not [line for line in said if line not in found]
    odd = [line for line in whole if "rows each on average" in line or "have no" in line]
    assert not [line for line in odd if line not in found]
    assert bool(odd) == ("unit" in plan)


def test_codes_taken_as_numbers_are_doubted(tmp_path: Path) -> None:
    data = homes().with_columns(occupation=pl.int_range(N) * 37 % 96 * 50 + 1_010)
    steps = [cf.Recode("occupation", width=500)]
    made = cf.Plan(steps, identifiers=["id"]).protect(data, seed=1)
    assert made.doubts
    files = in_files(made, tmp_path)
    again = cf.ScannedRelease.load(tmp_path / "private")
    assert files.doubts == again.doubts == made.doubts
    assert made.doubts[0] in str(files)
    (tmp_path / "named").mkdir()
    named = cf.Plan(steps, identifiers=["id"], numeric=["occupation"]).protect(data, seed=1)
    assert not in_files(named, tmp_path / "named").doubts


def test_claims_that_are_off_are_said(tmp_path: Path) -> None:
    made = cf.Plan([cf.Swap("town", rate=0.6)], identifiers=["id"]).protect(homes(), seed=1)
    files = in_files(made, tmp_path)
    naive = str(cf.Intruder.at("naive", knows=KNOWN).attack(files))
    assert "Caution: the intruder is right less often than it claims" in naive
    assert "not tried" not in naive
    informed = str(cf.Intruder(knows=KNOWN).attack(files))
    assert 'not tried on a scan, and may find more: Intruder.at("exact", ...).' in " ".join(informed.split())
    coarse = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(homes(), seed=1)
    (tmp_path / "coarse").mkdir()
    assert "level exact was not tried on a scan" in str(
        cf.Intruder(knows=["sex", "age"]).attack(in_files(coarse, tmp_path / "coarse"))
    )
    absent = homes().head(30).with_columns(pl.col("id") + 10_000)
    for release in (made, files):
        said = " ".join(str(cf.Intruder(knows=KNOWN).attack(release, absent)).split())
        assert "Caution: 30 of 30 targets (100.0%) are not in the release, though the intruder is certain" in said
    lost = cf.Intruder.at("naive", knows=["sex", "town", "age", "weight"]).attack(files)
    unknown = lost.summary().unevaluated
    assert unknown
    assert f"Caution: no record can be that of {unknown:,} of {N:,} targets" in str(lost)
