"""What starts Python workers of the tests' own session: with everything imported before it forks, and outside the
reach of the collector, which PySpark runs after each task. A task here has a few rows; either would take longer."""

from __future__ import annotations

import gc

import pandas  # noqa: F401
import pyarrow  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import confide.attack.scanned.spark_work
import confide.protect.scanned.spark_work  # noqa: F401
from tests.helpers import dying  # noqa: F401

gc.collect()
gc.freeze()

if __name__ == "__main__":
    manager()
