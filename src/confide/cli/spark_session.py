"""A session of Spark for one command."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError
from confide.core.scale.interrupted import check_interrupted
from confide.core.scale.scratch import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(master: str, scratch: Path | None = None) -> Iterator[SparkSession]:
    """A session at a master, which ends with the block; what is missing is said in a sentence. What it puts aside on
    this machine lies in a private folder on scratch: where Spark itself would put it, others could read it."""
    builder = _builder(master)
    with scratch_folder(None if "," in str(scratch) else scratch) as folder:  # to Spark a comma begins another folder
        with _interrupts_later() as asked:
            session = _made(builder, master, folder)
        try:
            if asked:
                raise KeyboardInterrupt
            session.sparkContext.setLogLevel("ERROR")  # its warnings are pages long, also after Ctrl-C
            yield session
        finally:
            session.stop()


def _builder(master: str) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError('--engine spark needs pyspark: pip install "confide[spark]".') from None
    home = os.environ.get("JAVA_HOME")
    if not (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is None:
        raise InputError("--engine spark needs Java 17 or later: install it, or set JAVA_HOME to where it is.")
    builder: Any = SparkSession.builder.master(master).appName("confide")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    if master.startswith("local"):  # heard by this machine alone, and with this Python on its workers
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else Java asks the network for this machine's own name
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    return builder


def _made(builder: Any, master: str, folder: Path) -> SparkSession:
    from confide.core.scale.spark_batches import quiet

    try:
        with quiet():
            made: SparkSession = builder.config("spark.local.dir", str(folder)).getOrCreate()
            return made
    except Exception as cause:
        check_interrupted(cause)
        raise InputError(
            f"No session of Spark could be made at {master}: is that where a master answers (spark://host:7077; this "
            'machine is "local[2,4]"), and is Java 17 or later there? Spark\'s own log says more.'
        ) from cause


@contextmanager
def _interrupts_later() -> Iterator[list[int]]:
    """Hold Ctrl-C back while Java starts, and say whether it came: Java that is left half way stays for ever. A second
    one ends the wait at once."""
    asked: list[int] = []

    def note(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for each, held in before.items():
            if signal.getsignal(each) is note:  # else Spark's own, which ends its jobs first
                signal.signal(each, held)
