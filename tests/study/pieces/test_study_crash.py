"""Killed at any write, a study goes on by the same command and leaves the same files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import HELPERS


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_every_fifth_write_it_ends_with_the_same_files(tmp_path: Path) -> None:
    driver = HELPERS / "crash_driver.py"
    run = subprocess.run([sys.executable, str(driver), str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    told = json.loads(run.stdout)
    assert told["kills"] > 24
    assert told["again"] > 10
    assert set(told["names"]) <= set(told["files"])
    assert not [name for name in told["files"] if "unfinished" in name]
