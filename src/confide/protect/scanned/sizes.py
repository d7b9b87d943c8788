"""How much is read, held and written at a time, for the memory that may be taken."""

from __future__ import annotations

import re
from dataclasses import dataclass

from confide.core.errors import InputError
from confide.core.scale.engine import Engine
from confide.core.scale.local import Local, check_machine
from confide.core.scale.spark import Spark
from confide.frames.scan.scan import Place, Scan

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
USUAL = 10**9
LEAST = 200 * 10**6
"""Bytes: what is taken where nobody says, and the least that anything can be done with. Python and the libraries take
about 250 MB beside it."""


@dataclass(frozen=True)
class Sizes:
    """Rows: of a `batch` that is read, of a sorted `run` on scratch, of a public `part`; `ranges` of the shuffle."""

    batch: int
    run: int
    part: int
    ranges: int

    @classmethod
    def of(cls, memory: str | int | None, data: Scan, part_rows: int) -> Sizes:
        """For so many bytes. A row is taken to have eight bytes a column, and text as many again."""
        left = bytes_of(memory)
        if isinstance(part_rows, bool) or not isinstance(part_rows, int) or part_rows < 1:
            raise InputError("part_rows is how many rows a public file has at most, from 1 upwards.")
        row = bytes_of_row(data)
        batch = max(1_000, min(500_000, left // (24 * row)))
        run = max(batch, left // (10 * row))
        return cls(int(batch), int(run), part_rows, int(max(1, -(-data.height * row * 10 // left))))


def bytes_of_row(data: Scan) -> int:
    """About what a row takes, with its number and its random word."""
    return 16 + sum(8 if t.is_numeric() or t.is_temporal() else 16 for t in data.types.values())


def bytes_of(memory: str | int | None) -> int:
    """A size that somebody stated.

    >>> bytes_of("4GB"), bytes_of(2_000_000_000)
    (4000000000, 2000000000)
    """
    if memory is None:
        return USUAL
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return _checked(memory, memory)
    found = (
        re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?B?)\s*", memory.upper()) if isinstance(memory, str) else None
    )
    unit = "" if found is None else found[2] if found[2].endswith("B") or not found[2] else f"{found[2]}B"
    if found is None or float(found[1]) <= 0:
        raise InputError('memory is a size such as "4GB" or "800MB".')
    return _checked(int(float(found[1]) * UNITS[unit]), memory)


def _checked(size: int, stated: str | int | None) -> int:
    """Neither too little to do anything with, nor more than there is."""
    if size < LEAST:
        raise InputError(f'memory is at least 200MB, not {stated!r}: write it with its unit, as "4GB".')
    check_machine(size)
    return size


def stated_by(
    engine: Engine | None, memory: str | int | None, scratch: Place | None
) -> tuple[str | int | None, Place | None]:
    """Memory and scratch as an engine states them."""
    if engine is None:
        return memory, scratch
    if not isinstance(engine, Local | Spark):
        raise InputError(f"engine is cf.Local(...) or cf.Spark(session), not {type(engine).__name__}.")
    if memory is not None or scratch is not None:
        name = type(engine).__name__
        raise InputError(f"cf.{name} says memory and scratch: state them there, or leave engine out.")
    return engine.in_bytes, engine.scratch
