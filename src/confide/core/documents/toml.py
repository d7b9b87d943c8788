"""Plain data as TOML, for people: tables in blocks, small ones in a line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confide.core.errors import InputError, is_text
from confide.core.visible import HIDDEN

WIDTH = 100
"""A table that takes more letters than this has a block of its own."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(table: Mapping[str, object]) -> str:
    """A table as TOML. TOML has no null: in a list it becomes an infinite number, "no limit"; elsewhere it is refused.

    >>> print(to_toml({"weight": "w", "steps": [{"method": "noise", "sd": 2.5, "bounds": [None, 9]}]}), end="")
    weight = "w"
    <BLANKLINE>
    [[steps]]
    method = "noise"
    sd = 2.5
    bounds = [-inf, 9]
    """
    return "\n".join(_lines(table, "")).lstrip("\n") + "\n" * bool(table)


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    blocks = {k: v for k, v in table.items() if _is_block(v)}
    yield from (f"{_key(k)} = {_value(v, k)}" for k, v in table.items() if k not in blocks)
    for key, value in blocks.items():
        name = f"{path}.{_key(key)}".lstrip(".")
        head = f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
        for part in [value] if isinstance(value, Mapping) else value:
            yield from ("", head, *_lines(part, name))


def _is_block(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_is_block(v) for v in value.values()) or len(_value(value, "")) > WIDTH
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _value(value: object, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(k)} = {_value(v, k)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence):
        ends = [-math.inf if i == 0 else math.inf for i in range(len(value))]
        return f"[{', '.join(_value(e if v is None else v, where) for v, e in zip(value, ends, strict=True))}]"
    raise InputError(f'"{where}" is nothing, which TOML cannot say; save it under a name that ends in .json.')


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    """In quotes; what nobody can see is spelt out."""
    if text and not is_text(text):
        raise InputError("A text holds half of a character (a lone surrogate), which no file can hold.")
    plain = json.dumps(text, ensure_ascii=False)
    return HIDDEN.sub(lambda m: f"\\U{ord(m[0]):08X}", plain)
