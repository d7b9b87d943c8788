"""How tests are shared among workers: what is dear to make is made by one of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
SPARK = "spark"
"""In the name of each test that takes part in the session of Spark; and of the worker's share that they are."""


class Shares(LoadScopeScheduling):
    """Tests that share the session of Spark are one share: it takes as long to start as many of them to run. So is a
    file whose tests are all quick, with what it makes for them. Any other test is a share of its own."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return SPARK if SPARK in nodeid else file if _quick(file) else nodeid


@cache
def _quick(file: str) -> bool:
    return not file.startswith("papers/") and "mark.slow" not in (ROOT / file).read_text(encoding="utf-8")
