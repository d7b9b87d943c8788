"""What a bucket is attacked with: it travels, and it is as large for ten times as many rows, whatever altered them."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.attack.scanned.buckets import Bucketed
from confide.core.scale.local import Local
from tests.attack.scanned.test_every_engine import CASES, N, people
from tests.helpers.scanned_release import in_files

TRIED = (
    "recode", "round and topcode", "bottomcode", "pram", "noise and swap", "lognormal", "grouped swap", "joint swap",
    "rank swap", "ranks exchanged", "suppression", "quantile", "quantile, calipers, codes", "quantile, average", "trees",
    "normal", "naive, two numbers",
)  # fmt: skip
"""Cases with every method that is attacked in parts, and with all that may be asked of the whole release."""


def test_every_method_is_tried() -> None:
    """All that some case takes to be attacked in parts."""
    steps = {type(s) for case in TRIED for s in CASES[case][0]} | {cf.Sample}
    assert {type(s) for made, _ in CASES.values() for s in made} <= steps


@pytest.mark.parametrize("case", TRIED)
def test_it_travels_and_does_not_grow(case: str, tmp_path: Path) -> None:
    steps, who = CASES[case]
    sizes = []
    for times in (1, 10):
        data = pl.concat([people().head(N // 2)] * times)
        release = cf.Plan(steps, drop=["id", "home"]).protect(data, seed=1)
        (tmp_path / str(times)).mkdir()
        files = cf.Intruder(**who).attack(in_files(release, tmp_path / str(times)), engine=Local(buckets=2)).files
        assert isinstance(files, Bucketed)
        assert not any(f.whole for f in files.fits)
        packed = pickle.dumps(files.fits)
        assert repr(pickle.loads(packed)) == repr(files.fits)
        sizes.append(len(packed))
    assert sizes[1] < 1.1 * sizes[0]
