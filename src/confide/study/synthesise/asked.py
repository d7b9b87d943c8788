"""What is asked of a synthesis: which variables are drawn, kept or left out, checked at the door, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError, Problems, did_you_mean, raise_all
from confide.frames.columns import Column, Kind, Records
from confide.frames.encoded import Encoded
from confide.frames.roles.result import Roles, roles

OWN = 0.1
"""Text is not drawn where more than this share of rows have a value that no other row has: it would be their own."""
FEW_OWN = 10
"""Up to so many such rows it is drawn all the same."""
MOST_SENSITIVE = 4
"""Sensitive variables that are guessed at by the intruder, where nobody named them."""
MOST_VARIABLES = 1000
"""Variables of the widest file."""

Treated = tuple[str, str]
"""What becomes of a variable ("synthetic", "kept", "recomputed", "left out"), and why."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A file, and what is to become of each of its variables.

    `drawn`: variables that are made synthetic, in the order of the file; `kept`: released as they are; `gone`: left
    out, by name with the reason; `identifiers` are among these. `same`: variables that have one value, or none, and
    stay as they are. `records`: drawn and kept variables as arrays. `keys`, `sensitive`: what an intruder could know
    and would like to learn, of what is released; `weight`: the survey weight, which is drawn like any variable.
    """

    file: Encoded
    roles: Roles
    drawn: tuple[str, ...]
    kept: tuple[str, ...]
    same: tuple[str, ...]
    gone: Mapping[str, str]
    identifiers: tuple[str, ...]
    records: Records
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    guessed: frozenset[str]
    weight: str | None
    unit: str | None
    cautions: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return self.file.frame.height

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each variable that is drawn or kept."""
        return {v: c.kind for v, c in self.records.items()}


def asked_of(data: Any, only: Any, keep: Any, keys: Any, sensitive: Any, weight: Any, unit: Any) -> Asked:
    """What is to be done with a file; what is wrong is said at once."""
    file = Encoded.of(data)
    frame = file.frame
    if not frame.height:
        raise InputError("The file has no rows: there is nothing to learn from.")
    if "" in frame.columns:
        raise InputError(
            f"Column {frame.columns.index('') + 1} has no name, as row numbers in a file written by R: name it, or "
            "leave it out of the file."
        )
    if frame.width > MOST_VARIABLES:
        raise InputError(
            f"The file has {frame.width:,} variables; at most {MOST_VARIABLES:,} are made synthetic at once."
        )
    raise_all(
        f'Column "{s.name}" holds {many:,} infinite values: make them missing or give numbers.'
        for s in frame
        if s.dtype.is_float() and (many := int(s.is_infinite().sum()))
    )
    found = roles(data)
    named = _Named(frame.columns)
    some, held = named.of(only, "only"), named.of(keep, "keep")
    known, private = named.of(keys, "keys"), named.of(sensitive, "sensitive")
    heavy, group = named.one(weight, "weight"), named.one(unit, "unit")
    for v in set(some or ()) & set(held or ()):
        named.problems.when(True, f'"{v}" is named in only and in keep: a variable is drawn or kept.')
    named.problems.tell()
    weight, unit = heavy or found.weight, group or found.unit
    gone, cautions = _left_out(file, found, (*(some or ()), *(held or ())), unit, weight)
    rest = [v for v in frame.columns if v not in gone]
    kept = [v for v in rest if v in (held or ()) or (some is not None and v not in some)]
    same = [
        v for v in rest if v not in kept and frame.get_column(v).drop_nulls().n_unique() < 2 and _single(file.column(v))
    ]
    drawn = tuple(v for v in rest if v not in kept and v not in same)
    if not drawn:
        raise InputError("No variable is left to be made synthetic: all are kept, left out, or have one value.")
    records = file.records([*kept, *drawn], {})
    released = {*kept, *drawn}
    guessed = {n for n, given in (("keys", known), ("sensitive", private)) if given is None}
    mine = tuple(v for v in (found.keys if known is None else known) if v in released)
    for what, names in (("keys", known), ("sensitive", private)):
        away = [v for v in names or () if v not in released and v not in same]
        cautions += [f'{what}: "{v}" is left out of the release, and the numbers on risk are without it.' for v in away]
    secret = found.sensitive[:MOST_SENSITIVE] if private is None else private
    return Asked(
        file, found, drawn, tuple(kept), tuple(same), gone, tuple(v for v in found.identifiers if v in gone), records,
        mine, tuple(v for v in secret if v in released and v not in mine), frozenset(guessed),
        weight if weight in released else None, unit, tuple(cautions),
    )  # fmt: skip


class _Named:
    """Names that somebody gave, checked against those of the file."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns, self.problems = columns, Problems()

    def of(self, value: Any, what: str) -> tuple[str, ...] | None:
        """Names as a tuple; None where none were given."""
        if value is None:
            return None
        names: tuple[str, ...] = ()
        with self.problems:
            names = names_of(value, what) if isinstance(value, str) or len(value) else ()
        for v in names:
            wrong = v not in self.columns
            self.problems.when(wrong, f'{what}: there is no column "{v}".{did_you_mean(v, self.columns)}')
        return names

    def one(self, value: Any, what: str) -> str | None:
        """One name; None where none was given."""
        names = self.of(value, what) or ()
        self.problems.when(len(names) > 1, f"{what} is the name of one column.")
        return names[0] if names else None


def _left_out(
    file: Encoded, found: Roles, named: Sequence[str], unit: str | None, weight: str | None
) -> tuple[dict[str, str], list[str]]:
    """Variables that are not released, with reasons, and cautions; what somebody named stays, identifiers too."""
    gone, cautions = dict[str, str](), list[str]()
    for v in file.frame.columns:
        role = found.row(v)
        if v == unit and v not in named:
            gone[v] = "which rows are of one unit: rows are drawn one by one, so that synthetic ones are of none"
            cautions.append(
                f'Rows that share a value of "{v}" belong together in the file. Synthetic rows are drawn one by one: '
                "what members of a household or firm have in common is lost, and the variable is left out."
            )
        elif not role["kind"]:
            gone[v] = "lists, structures or bytes, which have no model"
        elif v in named or v == weight:
            continue
        elif role["role"] == "identifier":
            gone[v] = f"an identifier. {role['why']}"
        elif own := _own_texts(file.frame.get_column(v)):
            gone[v] = (
                f"text that {own:,} of {file.frame.height:,} rows share with nobody: it would be repeated word by word"
                + "; these are days: turn them into dates to have them drawn" * _days(file.frame.get_column(v))
            )
    return gone, cautions


def _own_texts(s: pl.Series) -> int:
    """Rows with a text that no other row has, where they are too many; else 0."""
    if s.dtype != pl.String:
        return 0
    own = int(s.drop_nulls().is_unique().sum())
    return own if own > max(OWN * len(s), FEW_OWN) else 0


def _days(s: pl.Series) -> bool:
    """Whether all texts are days such as 1980-05-17."""
    there = s.drop_nulls()
    return bool(there.str.to_date("%Y-%m-%d", strict=False).is_not_null().all())


def _single(column: Column) -> bool:
    """Whether nothing of a variable varies, missing values included."""
    missing = column.missing
    return bool(missing.all() or not missing.any())
