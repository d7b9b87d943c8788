"""A process that is killed while it attacks a release of a scan, at any moment: no half of a result, and it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import confide as cf
from tests.attack.scanned.test_every_engine import made, same
from tests.helpers.killed import moments, tries
from tests.helpers.scanned_release import in_files


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [None, 9])
def test_at_any_moment(buckets: int | None, tmp_path: Path) -> None:
    intruder, release, whole = made("noise")
    files = in_files(release, tmp_path, (1, 1, 300))
    units, scratch = tmp_path / "units", tmp_path / "scratch"
    work = (
        f"cf.Intruder(knows={list(intruder.knows)!r}).attack(cf.ScannedRelease.load({str(files.private)!r}), "
        f"out={str(units)!r}, engine=cf.Local(scratch={str(scratch)!r}, buckets={buckets}, batch=100), progress=False)"
    )
    imports = "import confide as cf\nimport confide.attack.scanned.run, confide.attack.scanned.again"
    with tries(imports, work) as process:
        assert process.run(None)[1] == 0
        parts = sorted(p.name for p in units.iterdir())
        units.rename(tmp_path / "first")
        seconds, code = process.run(None)
        assert code == 0
        killed = 0
        for k, after in enumerate(moments(seconds, 6)):
            units.rename(tmp_path / f"before {k}") if units.exists() else None
            _, code = process.run(after)
            killed += code == -9
            assert code == 0 or not units.exists() or sorted(p.name for p in units.iterdir()) == parts
        assert killed >= 3
        if not units.exists():
            assert process.run(None)[1] == 0
    assert not list(tmp_path.rglob("*unfinished*"))
    found = intruder.attack(files, engine=cf.Local(scratch=scratch, buckets=buckets, batch=100), progress=False)
    assert not list(scratch.iterdir())
    same(whole, found, cf.scan(units).collect())
