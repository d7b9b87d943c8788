"""The bytes of a CSV file, cut where a record ends, and whether each record is whole.

A copy that broke off ends anywhere. What is certain is refused: a record with fewer or more cells than the first line,
a quotation mark without a partner, many NUL characters, half of a line's end. What can only be suspected is said
(`doubtful_ends`): the last value of a file without a line's end may be half of one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from confide.core.errors import InputError

BLOCK = 16 * 2**20
"""Bytes that are looked at together."""
LONGEST = 64 * 2**20
"""Bytes of one record at most: a quotation mark without a partner makes all that follows one record."""
NULS = b"\0" * 4
"""What was never written of a file that has its length already; a single one may stand in a text."""
QUOTES = "a quotation mark has no partner, or stands inside a value and is not doubled"
PAGE = 4096
"""Bytes that disks and copies move at a time."""


def blocks(file: Path, one: bool) -> Iterator[tuple[int, bytes]]:
    """The records in blocks that end where a record does, at a line's end outside quotes: the number of the block's
    first line, counted from 1, and the block. The first line of the file is in none.

    `one`: whether the file has one column; there an empty line is a record, a missing value. Elsewhere empty lines at
    the end of the file are none.
    """
    held, top, line = b"", b"", 1
    with open(file, "rb") as handle:
        while piece := handle.read(BLOCK):
            held += piece
            if NULS in held:
                raise broken(file, "there are many NUL characters", line + held.count(b"\n", 0, held.index(NULS)))
            if not top:
                end = _end(held, first=True)
                if end < 0:
                    _check_length(file, held, line)
                    continue
                top, held, line = held[:end], held[end:], line + held.count(b"\n", 0, end)
            end = _end(held)
            body = held[: max(end, 0)] if one else held[: max(end, 0)].rstrip(b"\r\n")
            if body:
                end = len(body) if one else held.index(b"\n", len(body)) + 1
                yield line, held[:end]
                line += held.count(b"\n", 0, end)
                held = held[end:]  # with the empty lines, which are records if others follow
            _check_length(file, held, line)
    if held.endswith(b"\r") and not one and b"\r\n" in top:
        raise broken(file, "the file ends with half of a line's end", line + held.count(b"\n"))
    if top and (held.strip(b"\r\n") or (one and held)):
        yield line, held if held.endswith(b"\n") else held + b"\n"


def _check_length(file: Path, held: bytes, line: int) -> None:
    if len(held) > LONGEST:
        raise broken(file, f"a record is longer than {LONGEST // 2**20} MB: a quotation mark has no partner", line)


def _end(block: bytes, first: bool = False) -> int:
    """The place after the last (or the first) record that is whole; -1 where there is none."""
    at = block.find(b"\n") if first else block.rfind(b"\n")
    quotes = block.count(b'"', 0, at + 1) if at >= 0 else 0
    while at >= 0 and quotes % 2:
        if first:
            then = block.find(b"\n", at + 1)
            quotes += block.count(b'"', at + 1, then + 1) if then >= 0 else 0
        else:
            then = block.rfind(b"\n", 0, at)
            quotes -= block.count(b'"', then + 1, at + 1)
        at = then
    return at + 1 if at >= 0 else -1


def broken(file: Path, why: str, line: int) -> InputError:
    """A file that is not what was written, or no CSV; a line is named by its number alone."""
    return InputError(
        f"{file.name} cannot be read as CSV: in line {line:,} or after, {why}. It may be a copy that broke off: copy "
        "it again, or write it again as CSV."
    )


def check_cells(file: Path, line: int, block: bytes, cells: int, separator: str) -> None:
    """Refuse a record that has fewer cells than the first line, which readers of CSV fill up in silence.

    An empty line is a record of missing values.
    """
    for place in short_records(block, cells, separator):
        record = block[place : place + _end(block[place:], first=True)].decode("utf-8", "replace")
        found = next(csv.reader(io.StringIO(record, newline=""), delimiter=separator), [])
        if 0 < len(found) < cells:
            raise wrong_cells(file, line + block.count(b"\n", 0, place), len(found), cells)


def short_records(block: bytes, cells: int, separator: str) -> list[int]:
    r"""Where records begin that have fewer separators outside quotes than they should, empty lines left out.

    >>> short_records(b'1,2\n3\n"4,5"\n\n6,"\n"\n', 2, ",")
    [4, 6]
    """
    text = np.frombuffer(block, dtype=np.uint8)
    ends, cuts = text == ord("\n"), text == ord(separator)
    if b'"' in block:
        outside = np.bitwise_xor.accumulate(text == ord('"')) ^ True
        ends, cuts = ends & outside, cuts & outside
    last = np.flatnonzero(ends)
    begin = np.concatenate([[0], last[:-1] + 1]) if len(last) else last
    if not len(begin):
        return []
    many = np.add.reduceat(cuts, begin, dtype=np.int32)
    few = np.flatnonzero(many < cells - 1)
    empty = [block[begin[k] : last[k]] in (b"", b"\r") for k in few]
    return [int(begin[k]) for k, none in zip(few, empty, strict=True) if not none]


def wrong_cells(file: Path, line: int, found: int, cells: int) -> InputError:
    """A record of another width."""
    few = (
        "If it is the last line, the file is a copy that broke off: copy it again. Else write the missing cells as "
        "empty ones."
    )
    many = "Put text that holds the separator into quotes, and give each column a name."
    return InputError(
        f"{file.name} cannot be read as CSV: line {line:,} has {found} cell{'s' if found > 1 else ''}, the first line "
        f"{cells}. {few if found < cells else many}"
    )


def why_not(file: Path, line: int, block: bytes, cells: int, separator: str) -> InputError | None:
    """Why a block that cannot be read cannot: the first record that is wrong; None where it is not the records."""
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as e:
        return broken(file, "it is not UTF-8 text", line + block.count(b"\n", 0, e.start))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = 0  # lines of the records before
    try:
        for found in reader:
            if found and len(found) != cells:
                return wrong_cells(file, line + before, len(found), cells)
            before = reader.line_num
    except csv.Error:
        return broken(file, QUOTES, line + before)
    return None


def doubtful_ends(files: Sequence[Path]) -> tuple[str, ...]:
    """What is suspicious about the ends of files that are one, in sentences.

    Many honest files have no line's end at their end. One that lacks it while others of the same scan have it, or that
    is as long as disks and copies break off (a multiple of 4,096 bytes), may have lost the end of its last value.
    """
    tails = {p: _tail(p) for p in files}
    open_ended = [p for p, tail in tails.items() if tail is not None and not tail.endswith((b"\n", b"\r"))]
    others = any(tail is not None and tail.endswith((b"\n", b"\r")) for tail in tails.values())
    why = dict.fromkeys(open_ended, "the others do" if others else "its size is one at which copies break off")
    doubtful = [p for p in open_ended if others or p.stat().st_size % PAGE == 0]
    return tuple(
        f"{p.name} does not end with the end of a line, and {why[p]}: if its copy broke off, its last value may be "
        "half of one. Compare its size with that of the file it was copied from."
        for p in doubtful
    )


def _tail(file: Path) -> bytes | None:
    try:
        with open(file, "rb") as handle:
            handle.seek(max(0, file.stat().st_size - 2))
            return handle.read()
    except OSError:
        return None
