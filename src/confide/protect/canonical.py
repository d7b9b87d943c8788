"""A plan as one text that never changes: what its draws are keyed by.

Defaults are left out, a whole number is written without a point, and names are those in use when draws were first
keyed. **Whoever renames a method or a parameter adds the old name here**, so that no draw moves; golden tests say so.
"""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.frames.columns import Records
from confide.protect.seam.mechanism import Mechanism

if TYPE_CHECKING:
    from confide.protect.plan import Plan

OLD_NAMES: Mapping[str, str] = {}
"""Names of methods and parameters that were renamed: today's name, then the frozen one."""


def canonical(plan: Plan) -> str:
    """The plan as JSON with sorted keys.

    >>> import confide as cf
    >>> canonical(cf.Plan([cf.Recode("age", width=5.0)], identifiers=["id"]))
    '{"identifiers":["id"],"steps":[{"method":"recode","variable":"age","width":5}]}'
    """
    table = _Whole().table(plan)
    return json.dumps(_frozen(table), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


class _Whole(Writer):
    """Writes also what a document has no place for (matrices in sparse form, functions), by a digest."""

    def plain(self, value: Any, hint: Any, where: str) -> Any:
        try:
            return super().plain(value, hint, where)
        except InputError:
            return _digest(value)


def reading(steps: Sequence[Mechanism], original: Records) -> str:
    """How the steps read the file, as JSON: what a digest of its values does not see, and a release depends on.

    By variable: its kind, its answer codes, its precision and its categories. Their order, and those that do not occur,
    count where a step may go by them, which is what is supposed unless it says `by_order = False`; so a file of text
    and one of ordered categories have the same draws where they have the same release.
    """
    by_order = {v for s in steps if s.by_order for v in (*s.variables, *s.needs)}
    found = {}
    for name, column in original.items():
        levels = [_level(x) for x in column.levels]
        if name not in by_order:
            used = np.unique(column.values[column.values >= 0]) if column.kind == "categorical" else ()
            levels = sorted(levels[i] for i in used)
        found[name] = [column.kind, sorted(column.special), column.step, levels]
    return json.dumps(found, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _level(value: Any) -> str:
    """A category as a CSV file would have it; a whole number has no point."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def holds_functions(plan: Plan) -> bool:
    """Whether a step is stated with a function, of which no text says what it does."""
    values = [getattr(s, f.name) for s in plan.parts for f in fields(s) if f.init]  # type: ignore[arg-type]
    return any(callable(v) and not isinstance(v, Mechanism) for v in values)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {OLD_NAMES.get(k, k): _frozen(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_frozen(v) for v in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    return value


def _digest(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    digest = hashlib.sha256(type(value).__name__.encode())
    for part in _parts(value):
        digest.update(part)
    return {"sha256": digest.hexdigest()}


def _parts(value: Any) -> list[bytes]:
    """The bytes that make a value what it is."""
    if hasattr(value, "tocoo"):
        dense = value.tocoo()
        return [
            repr(dense.shape).encode(),
            *(np.ascontiguousarray(a).tobytes() for a in (dense.row, dense.col, dense.data)),
        ]
    if isinstance(value, np.ndarray):
        return [repr((value.shape, value.dtype.str)).encode(), np.ascontiguousarray(value).tobytes()]
    code = getattr(value, "__code__", None)
    if isinstance(code, types.CodeType):
        held = [c.cell_contents for c in value.__closure__ or ()]
        return [*_code(code), repr(value.__defaults__).encode(), *(p for h in held for p in _parts(h))]
    return [repr(value).encode()]


def _code(code: types.CodeType) -> list[bytes]:
    """What a function does; not where its file lies or which line it is on."""
    inner = [p for c in code.co_consts if isinstance(c, types.CodeType) for p in _code(c)]
    plain = [repr(c).encode() for c in code.co_consts if not isinstance(c, types.CodeType)]
    return [code.co_code, repr(code.co_names).encode(), *plain, *inner]
