"""A publication as text that never changes: what its draws are keyed by.

Defaults are left out, and names are those in use when draws were first keyed. **Whoever renames a scheme or one of its
settings adds the old name here**, so that no draw moves; golden tests say so.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from confide.tables.axes import Axes
from confide.tables.layout import Bools, Layout
from confide.tables.schemes.scheme import Scheme

OLD_NAMES: Mapping[str, str] = {}
"""Names of schemes and settings that were renamed: today's name, then the frozen one."""


def scheme_text(scheme: Scheme) -> str:
    """A scheme as JSON with sorted keys.

    >>> import confide as cf
    >>> scheme_text(cf.RoundCells(3, how="random"))
    '{"base":3,"how":"random","scheme":"RoundCells"}'
    """
    return _json({"scheme": _frozen(type(scheme).__name__), **_settings(scheme)})


def published_text(axes: Axes, structural: Bools, layout: Layout, totals: str) -> str:
    """Which sums of which table are published, whatever its counts, by a digest: levels may be many.

    >>> import confide as cf
    >>> table = cf.Table([2, 1])
    >>> published_text(table.axes, table.structural, table.axes.layout("total", True), "separate")[:16]
    'c28223ba03a0d25c'
    """
    said: dict[str, Any] = {
        "variables": [[_reading(r) for r in readings] for readings in axes.readings],
        "parts": [list(p.name) for p in layout.parts],
        "totals": totals,
    }
    if structural.any():
        said["structural"] = np.flatnonzero(structural).tolist()
    return hashlib.sha256(_json(said).encode()).hexdigest()


def _reading(reading: Any) -> list[Any]:
    """Its name and levels, and of a grouping the group of each level."""
    own = np.array_equal(reading.code, np.arange(len(reading.levels)))
    return [reading.name, list(reading.levels), *([] if own else [reading.code.tolist()])]


def _settings(statement: Any) -> dict[str, Any]:
    """What a statement says beyond its defaults."""
    if not is_dataclass(statement):
        held = getattr(statement, "__dict__", None)
        return {"repr": repr(statement)} if held is None else {_frozen(k): _plain(v) for k, v in held.items()}
    out = {}
    for f in fields(statement):
        value = _plain(getattr(statement, f.name))
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if f.init and (default is MISSING or value != _plain(default)):
            out[_frozen(f.name)] = value
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return _settings(value) if is_dataclass(value) else repr(value)


def _frozen(name: str) -> str:
    return OLD_NAMES.get(name, name)


def _json(said: Any) -> str:
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
