"""What tests of several rooms share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from confide.core.registry import KINDS, shipped
from tests.helpers.browser import launched, why_no_browser
from tests.helpers.spark_sessions import no_spark, options, prepared

settings.register_profile("untimed", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, once a worker; tests that need it are skipped where it is missing."""
    missing = why_no_browser()
    if missing:
        pytest.skip(f"no browser test: {missing}.")
    with launched() as running:
        yield running


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """One session of Spark for all tests, where there is Spark and Java."""
    if why := no_spark():
        pytest.skip(why)
    prepared()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").appName("tests")
    # Compiling what each query says takes longer than its few rows; clusters in tests do it as users' sessions do.
    plainly = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    ready = {"spark.python.daemon.module": "tests.helpers.spark_daemon"}
    for name, value in {**options(), **plainly, **ready}.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def as_registered() -> Iterator[None]:
    """What a test registers is gone after it."""
    yield
    for kind in KINDS.values():
        for name in [n for n, cls in kind.classes.items() if not shipped(cls)]:
            del kind.classes[name]


@pytest.hookimpl(tryfirst=True)  # before groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that no worker waits at the end for one that began last; examples of papers are slow.

    What goes to one worker: tests that share the session of Spark, which takes as long to start as many of them to run,
    before all others; and quick tests of one file, with what it makes for all of them.
    """
    for item in items:
        if item.nodeid.startswith("papers/"):
            item.add_marker("slow")
    items.sort(key=lambda item: (not _on_spark(item), item.get_closest_marker("slow") is None))
    for item in items:
        if _on_spark(item):
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _on_spark(item: pytest.Item) -> bool:
    """Whether a test takes part in the session of Spark, by name or by a parameter that says so."""
    given = getattr(item, "callspec", None)
    told = [] if given is None else [v for v in given.params.values() if isinstance(v, str)]
    return "session" in getattr(item, "fixturenames", ()) or any(v.startswith("spark") for v in told)
