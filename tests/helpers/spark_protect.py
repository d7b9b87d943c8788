"""Protecting on Spark in a process of its own: `python -m tests.helpers.spark_protect MASTER IN OUT PRIVATE`."""

from __future__ import annotations

import os
import sys

import confide as cf
from confide.protect.scanned import spark_written
from tests.helpers.dying import MARK, DyingPart
from tests.helpers.spark_sessions import options


def plan() -> cf.Plan:
    """A step that learns, one that gathers, and one by row."""
    steps = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3, within="sex"), cf.Noise("income", sd=500)]
    return cf.Plan(steps, identifiers=["id"])


def main(master: str, data: str, out: str, private: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("tests")
    for name, value in {**options(), "spark.executor.memory": "512m", "spark.cores.max": "2"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if MARK in os.environ:
        spark_written.WritePart = DyingPart.made  # type: ignore[assignment, misc]
    plan().protect(cf.scan(data), seed=1, out=out, private=private, part_rows=700, engine=cf.Spark(session))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
