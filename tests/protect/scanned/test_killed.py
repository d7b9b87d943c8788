"""A process that is killed while it protects a scan, at any moment: nothing half public, and the same command goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import confide as cf
from tests.helpers.killed import moments, tries
from tests.helpers.scanned import in_files, people

PLAN = 'cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within="sex"), cf.RankSwap("income", window=9)])'


@pytest.mark.slow
def test_at_any_moment(tmp_path: Path) -> None:
    data = in_files(people(3_000), tmp_path / "in", [1_000, 2_000])
    plan = cf.Plan(
        [cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within="sex"), cf.RankSwap("income", window=9)]
    )
    whole = plan.protect(data, seed=1, out=tmp_path / "whole", private=tmp_path / "whole private", part_rows=700)
    out, private, scratch = tmp_path / "out", tmp_path / "private", tmp_path / "scratch"
    work = (
        f"{PLAN}.protect(cf.scan({str(tmp_path / 'in')!r}), seed=1, out={str(out)!r}, private={str(private)!r}, "
        f"scratch={str(scratch)!r}, part_rows=700, memory='200MB', overwrite=True)"
    )
    with tries("import confide as cf\nimport confide.protect.scanned.make", work) as process:
        assert process.run(None)[1] == 0
        seconds, code = process.run(None)
        assert code == 0
        killed = 0
        for after in moments(1.1 * seconds, 12):
            before = sorted(p.name for p in out.iterdir())
            _, code = process.run(after)
            killed += code == -9
            assert not out.exists() or sorted(p.name for p in out.iterdir()) == before
            if out.exists() and (private / "release.json").exists() and code == 0:
                assert cf.ScannedRelease.load(private).released.height == 3_000
            if not out.exists():
                assert process.run(None)[1] == 0
        assert killed >= 4
        assert process.run(None)[1] == 0
    again = cf.ScannedRelease.load(private)
    assert again.released.collect().equals(whole.released.collect())
    assert (again.link == whole.link).all()
    assert not list(tmp_path.rglob("*unfinished*"))
    assert not list(scratch.iterdir())
