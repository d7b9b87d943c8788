"""On Spark: the same numbers as in memory, and sentences about what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.attack.scanned.test_every_engine import KEYS, SWAPS, N, made, people, same
from tests.helpers.scanned_release import in_files

TRIED = ("swaps", "grouped, group unknown", "noise", "in file", "weights", "average")


@pytest.mark.slow
@pytest.mark.parametrize("case", TRIED)
def test_the_same_as_in_memory(case: str, session: Any, tmp_path: Path) -> None:
    intruder, release, whole = made(case)
    files = in_files(release, tmp_path, (1, 1, 300))
    parts = intruder.attack(files, out=tmp_path / "units", engine=cf.Spark(session))
    same(whole, parts, parts.units.collect())
    assert oct((tmp_path / "units").stat().st_mode & 0o777) == "0o700"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "private", "released", "units"]
    assert not [p for p in (tmp_path / "private").iterdir() if "unfinished" in p.name]


@pytest.mark.slow
def test_stated_targets_and_intervals(session: Any, tmp_path: Path) -> None:
    release = cf.Plan([*SWAPS, cf.Sample(fraction=0.7)], identifiers=["id"]).protect(people(), seed=1)
    rows = np.arange(0, N, 7)
    targets = people()[rows].with_columns(low=pl.col("age") - 3, high=pl.col("age") + 3)
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("low", "high")})
    files = in_files(release, tmp_path)
    whole = intruder.attack(release, targets, rows)
    parts = intruder.attack(files, targets, rows, out=tmp_path / "units", engine=cf.Spark(session))
    same(whole, parts, parts.units.collect())


@pytest.mark.slow
def test_what_workers_cannot_read_is_a_sentence(session: Any, tmp_path: Path) -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(people(), seed=1)
    files = in_files(release, tmp_path, (300,))
    assert files.original.height == N
    files.original.files[1].unlink()
    with pytest.raises(cf.InputError, match="Spark could not finish the work"):
        cf.Intruder(knows=KEYS).attack(files, engine=cf.Spark(session))
    assert not [p for p in (tmp_path / "private").iterdir() if "unfinished" in p.name]


class _Ended:
    sparkContext = None
    version = "4.3.0"

    def createDataFrame(self) -> None: ...


class _Context:
    _jsc = object()


class _Old(_Ended):
    sparkContext = _Context()
    version = "3.5.1"


@pytest.mark.parametrize(
    ("session_given", "said"), [(None, "give a session"), (_Ended(), "has ended"), (_Old(), "version 4 or later")]
)
def test_sessions_that_cannot_serve(session_given: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.Spark(session_given)
