"""One session of Spark for all tests, where there is Spark and Java."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip('Spark is tried where it is installed: pip install "confide[spark]".')
    if shutil.which("java") is None:
        pytest.skip("Spark is tried where there is Java 17 or later.")
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "false",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2,4]").appName("tests")
    for name, value in options.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = builder.getOrCreate()
    yield made
    made.stop()
