"""The one place from which a room may look upward.

Imports go one way: a room knows only those below it. Some methods of a result are there for convenience and belong to
a room above (`attack.calibration()` measures, `study.map()` draws). They ask here, when they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def upward(module: str, name: str) -> Any:
    """What a room above offers under a name.

    >>> upward("confide.measure.risk.identification", "summarise").__name__
    'summarise'
    """
    return getattr(import_module(module), name)
