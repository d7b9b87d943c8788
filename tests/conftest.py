"""What tests of several rooms share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from confide.core.registry import KINDS, shipped
from tests.helpers.browser import launched, why_no_browser
from tests.helpers.sharing import SPARK, Shares
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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on Spark first, then slow ones, so that no worker waits at the end for one that began last; examples of
    papers are slow."""
    for item in items:
        if item.nodeid.startswith("papers/"):
            item.add_marker("slow")
        if "session" in getattr(item, "fixturenames", ()) and SPARK not in item.nodeid:
            raise pytest.UsageError(f'{item.nodeid} uses the session of Spark: say "{SPARK}" in its name.')
    items.sort(key=lambda item: (SPARK not in item.nodeid, item.get_closest_marker("slow") is None))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """See `Shares`; not by marks of groups, which xdist 3.8 loses under pytest 9.2."""
    return Shares(config, log)
