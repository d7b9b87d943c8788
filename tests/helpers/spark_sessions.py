"""Sessions of Spark for tests: small, and heard on this machine alone."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def no_spark() -> str:
    """Why Spark cannot be tried here; empty where it can."""
    if importlib.util.find_spec("pyspark") is None:
        return 'Spark is tried where it is installed: pip install "confide[spark]".'
    return "" if shutil.which("java") else "Spark is tried where there is Java 17 or later."


def options() -> dict[str, str]:
    """Little memory, no pages of its own, loopback only, and Java that starts at once: jobs here are small."""
    at_once = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    return {
        "spark.driver.extraJavaOptions": at_once, "spark.executor.extraJavaOptions": at_once,
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }  # fmt: skip


def prepared() -> dict[str, str]:
    """The environment in which workers find this Python, confide and the tests; set here, and given for others."""
    import pyspark

    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    more = {
        "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_NO_DAEMONIZE": "1",
    }  # fmt: skip
    os.environ.update(more)
    return {**os.environ}


def driver(master: str, here: Path, case: str, buckets: int | str, **more: str) -> subprocess.Popen[bytes]:
    """Attacks of a case in a process of its own: see `tests.helpers.spark_driver`."""
    given = [master, str(here / "private"), str(here / "units"), case, str(buckets)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.spark_driver", *given], env={**prepared(), **more}, cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
