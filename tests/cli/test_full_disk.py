"""A disk without room: a sentence, and nothing half written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf

pytest.importorskip("resource", reason="limits on the size of files are Unix's")

SUFFIXES = [".csv", ".tsv", ".parquet", ".arrow", ".sav", ".zsav", ".dta"]
SCRIPT = """
import json, os, resource, sys
import polars as pl
import confide as cf
n = 40_000
frame = pl.DataFrame({"a": range(n), "t": [f"a text of its own, number {i * 7919 % n}" for i in range(n)]})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))  # as if the disk had no more room
found = {}
for suffix in sys.argv[2:]:
    try:
        cf.write(frame, f"{sys.argv[1]}/new{suffix}")
        cf.write(frame, f"{sys.argv[1]}/old{suffix}", overwrite=True)
    except BaseException as e:
        found[suffix] = [type(e).__name__, str(e)]
print(json.dumps(found))
"""


def test_a_full_disk_is_told_in_a_sentence_and_leaves_nothing(tmp_path):
    for suffix in SUFFIXES:
        (tmp_path / f"old{suffix}").write_text("what was there")
    environment = {**os.environ, "PYTHONPATH": str(Path(cf.__file__).parents[1])}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), *SUFFIXES]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert {s: kind for s, (kind, _) in found.items()} == dict.fromkeys(SUFFIXES, "InputError")
    for suffix, (_, text) in found.items():
        assert "be written" in text, suffix
        assert "a text of its own" not in text, suffix
        assert ("no file of this size" if suffix in SUFFIXES[:4] else "the disk is full") in text
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"old{s}" for s in SUFFIXES)
    assert {p.read_text() for p in tmp_path.iterdir()} == {"what was there"}
