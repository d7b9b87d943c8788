"""Attacks on Spark in a process of its own: `python -m tests.helpers.spark_driver MASTER PRIVATE OUT CASE BUCKETS`.

BUCKETS: a number, or several with commas (0: none stated); then results are in OUT-number.
"""

from __future__ import annotations

import os
import sys

import confide as cf
from confide.attack.scanned import spark_buckets
from tests.attack.scanned.test_every_engine import CASES
from tests.helpers.dying import MARK, Dying
from tests.helpers.spark_sessions import options


def main(master: str, private: str, out: str, case: str, buckets: str) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("tests")
    for name, value in {**options(), "spark.executor.memory": "512m", "spark.cores.max": "2"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if MARK in os.environ:
        spark_buckets.AttackBucket = Dying.made  # type: ignore[assignment, misc]
    for many in (several := buckets.split(",")):
        engine = cf.Spark(session, buckets=int(many) or None)
        place = out if len(several) == 1 else f"{out}-{many}"
        cf.Intruder(**CASES[case][1]).attack(cf.ScannedRelease.load(private), out=place, engine=engine)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
