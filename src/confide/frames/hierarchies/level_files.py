"""ARX's file of levels: one row per value, from the value itself to its broadest group, `;` or `,` between them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from confide.core.errors import InputError
from confide.core.files.atomic import atomic_write
from confide.frames.hierarchies.groups import Value, as_text

MARK = "*"
"""What ARX writes for a value that is left out."""


def read_levels(path: str | os.PathLike[str]) -> dict[Value, Sequence[Value]]:
    """The table of such a file. Values are texts; a column of numbers meets them by their digits."""
    name = Path(path).name
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except OSError as cause:
        raise InputError(f"{path} cannot be read: {cause.strerror}.") from cause
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text; save it as UTF-8.") from None
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=_separator(text)) if row]
    if not rows:
        raise InputError(f"{name} is empty; a file of levels has one row per value.")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InputError(f"{name}: rows have {min(widths)} to {max(widths)} columns; each needs one per level.")
    if widths == {1}:
        raise InputError(
            f"{name} has one level only. Each row is a value followed by its groups, with ; or , between them."
        )
    return _table(rows, name)


def _table(rows: Sequence[Sequence[str]], name: str) -> dict[Value, Sequence[Value]]:
    table: dict[Value, Sequence[Value]] = {}
    twice = 0
    for value, *groups in rows:
        twice += value in table and list(table[value]) != groups
        table[value] = groups
    if twice:
        raise InputError(f"{name}: {twice} rows give a value groups that differ from those of an earlier row.")
    return table


def _separator(text: str) -> str:
    """The one of ; , and tab that the first line has most of."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(";,\t", key=first.count)


def write_levels(
    table: Mapping[Value, Sequence[Value]], path: str | os.PathLike[str], overwrite: bool, out: str | None
) -> Path:
    """Write such a file with `;`. A variable that can be left out ends in a column of `*`."""
    target = Path(path)
    ends = {groups[-1] for groups in table.values()}
    more = [MARK] if out is not None and len(ends) > 1 else []
    with (
        atomic_write(target, overwrite, private=True) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerows([as_text(v), *map(as_text, groups), *more] for v, groups in table.items())
    return target
