"""The project's file, read once and kept while the worker lives."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.documents import DATA


def data_of(folder: Path) -> Any:
    """The project's data, with labels where the file has them."""
    path = folder / DATA
    return _read(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(path: str, changed: int) -> Any:  # noqa: ARG001 - another time is another file
    return cf.read(path)
