"""Intruders as documents: TOML or JSON, alone or beside the plan they attack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from confide.attack.intruder import Intruder, Uniform, Unsure
from confide.core.documents.plain import SUBJECT, Reader, Writer
from confide.core.errors import InputError
from confide.frames import read
from confide.protect.document import finish, read_document, section


def intruder_to_dict(intruder: Intruder, population: str | None = None) -> dict[str, Any]:
    """An intruder as text, numbers, lists and tables; only what differs from the defaults is written.

    A population frame has no place in a document: save it, and give the name of its file as `population`.

    >>> import confide as cf
    >>> intruder_to_dict(cf.Intruder(knows=["sex", "age"], membership=cf.Unsure(total=1_016_437)))
    {'knows': ['sex', 'age'], 'membership': {'total': 1016437}}
    """
    who = intruder.membership
    if isinstance(who, Unsure) and who.population is not None:
        if population is None:
            raise InputError("A document holds no data: save the population and name its file in population=.")
        intruder = replace(intruder, membership=replace(who, population=population))
    doc = Writer().table(intruder)
    if isinstance(intruder.beliefs, Uniform):
        doc["beliefs"] = {"uniform": doc["beliefs"].get("ranges", {})}
    return doc


def intruder_from_dict(
    doc: Mapping[str, Any], source: str = "", name: str | None = None, folder: str | os.PathLike[str] = "."
) -> Intruder:
    """The intruder that a document describes, bare or under "intruder". All that is wrong is raised together.

    `source` names the document in errors; `name` picks one of several (`[[intruder]]` tables with names);
    `folder` is where the file of a population is looked for.

    >>> who = intruder_from_dict({"knows": ["sex", "income"], "beliefs": {"uniform": {"income": [0, 1e6]}}})
    >>> who.beliefs.ranges
    {'income': (0, 1000000.0)}
    >>> intruder_from_dict({"knows": "sex", "member": "in_file"})
    Traceback (most recent call last):
    confide.InputError: unknown key "member". Did you mean "membership"?
    """
    reader = Reader()
    table, where = section(reader, doc, "intruder", name)
    intruder = None if reader.problems else build_intruder(reader, table, where, Path(folder))
    finish(reader, source)
    assert isinstance(intruder, Intruder)
    return intruder


def load_intruder(path: str | os.PathLike[str], name: str | None = None) -> Intruder:
    """The intruder in a TOML or JSON file: at its top level, or in its `[intruder]` table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "intruder.toml"
    ...     _ = file.write_text('knows = ["sex", "age"]\\nmembership = "in_file"\\n')
    ...     load_intruder(file).membership
    'in_file'
    """
    source = Path(path)
    return intruder_from_dict(read_document(path), source.name, name, source.expanduser().parent)


def build_intruder(reader: Reader, table: Any, where: str, folder: Path) -> Intruder | None:
    """The intruder that a table describes; None, and problems in the reader, where that cannot be."""
    intruder = reader.build(Intruder, _spelled_out(table), where, also=("name",))
    return None if intruder is None else _with_population(reader, intruder, folder, where)


def _spelled_out(table: Any) -> Any:
    """The short forms of a document as the fields they stand for."""
    if not isinstance(table, Mapping):
        return table
    full = dict(table)
    beliefs = full.get("beliefs")
    if isinstance(beliefs, Mapping) and isinstance(beliefs.get("uniform"), Mapping):
        full["beliefs"] = {**beliefs, "uniform": {"ranges": beliefs["uniform"]}}
    if isinstance(full.get("errors"), Mapping):
        full["errors"] = {v: _about(v, e) for v, e in full["errors"].items()}
    return full


def _about(variable: str, error: Any) -> Any:
    """A mistake described by a method is about the variable it stands under."""
    if isinstance(error, Mapping) and "method" in error and not any(k in error for k in SUBJECT):
        return {**error, "variable": variable}
    return error


def _with_population(reader: Reader, intruder: Intruder, folder: Path, where: str) -> Intruder:
    who = intruder.membership
    if not isinstance(who, Unsure) or who.population is None:
        return intruder
    place = f"{where}.membership".lstrip(".")
    if not isinstance(who.population, str):
        reader.blame(place, '"population" must be the name of a file, as text.')
        return intruder
    try:
        people = read(folder / who.population)
    except InputError as e:
        reader.blame(place, str(e))
        return intruder
    return replace(intruder, membership=replace(who, population=people))
