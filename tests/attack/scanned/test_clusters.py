"""On clusters of their own: one that Spark makes in processes, and a standalone one of a master and two workers."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import confide as cf
from tests.attack.scanned.test_every_engine import made, same_units
from tests.helpers.dying import HOW, MARK
from tests.helpers.scanned_release import in_files
from tests.helpers.spark_sessions import ROOT, driver, no_spark, prepared


@contextmanager
def _standalone(folder: Path) -> Iterator[str]:
    """One master and two workers on loopback, ended by their numbers."""
    env = prepared()
    started = list[subprocess.Popen[bytes]]()

    def start(kind: str, *given: str) -> None:
        command = [f"{env['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1"]
        started.append(subprocess.Popen(
            [*command, "--webui-port", "0", *given], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**env, "SPARK_DAEMON_MEMORY": "256m", "SPARK_MASTER_HOST": "127.0.0.1"},
        ))  # fmt: skip

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        start("master.Master", "--port", str(port))
        for k in range(2):
            where = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{k}")]
            start("worker.Worker", *where, f"spark://127.0.0.1:{port}")
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=60)


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_standalone_cluster_that_loses_an_executor(tmp_path: Path) -> None:
    """One master, two workers; the executor dies in the first attempt of a task, with what it had shuffled."""
    _, release, whole = made("noise")
    (tmp_path / "files").mkdir()
    in_files(release, tmp_path / "files", (300,))
    mark = tmp_path / "mark"
    with _standalone(tmp_path) as master:
        _ended(driver(master, tmp_path / "files", "noise", 5, **{MARK: str(mark), HOW: "executor"}))
    assert mark.exists()
    same_units(whole, cf.scan(tmp_path / "files" / "units").collect())


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_local_cluster(tmp_path: Path) -> None:
    _, release, whole = made("noise")
    in_files(release, tmp_path, (300,))
    _ended(driver("local-cluster[2,1,1024]", tmp_path, "noise", "0,5"))
    for buckets in (0, 5):
        same_units(whole, cf.scan(tmp_path / f"units-{buckets}").collect())


def _ended(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said.decode()[-3000:]
