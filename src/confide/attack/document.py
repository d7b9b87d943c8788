"""Intruders in documents: the short forms, and the files of populations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from confide.attack.intruder import Intruder, Unsure
from confide.core.documents.files import read_document
from confide.core.documents.plain import Reader
from confide.core.documents.settings import SUBJECT
from confide.core.errors import InputError
from confide.frames import read


def with_file(intruder: Intruder, population: str | None) -> Intruder:
    """The intruder with the name of a file in the place of a population."""
    who = intruder.membership
    if not isinstance(who, Unsure) or who.population is None:
        return intruder
    if population is None:
        raise InputError("A document holds no data: save the population and name its file in population=.")
    return replace(intruder, membership=replace(who, population=population))


def build_intruder(reader: Reader, table: object, where: str, folder: Path) -> Intruder | None:
    """The intruder that a table describes; None, and problems in the reader, where that cannot be."""
    intruder = reader.build(Intruder, _spelled_out(table), where, also=("name",))
    return None if intruder is None else _with_population(reader, intruder, folder, where)


def intruders_in(path: Path) -> dict[str, Intruder]:
    """All intruders that a document states, by name; one without a name is called "intruder"."""
    document, folder = read_document(path), path.expanduser().parent
    stated = document.get("intruder") if isinstance(document, Mapping) else None
    if not isinstance(stated, list) or len(stated) < 2:
        table = stated[0] if isinstance(stated, list) and stated else stated
        one = table if isinstance(table, Mapping) else document
        return {str(one.get("name", "intruder")): Intruder.from_dict(document, path.name, None, folder)}
    names = [str(t.get("name", "")) if isinstance(t, Mapping) else "" for t in stated]
    return {name: Intruder.from_dict(document, path.name, name, folder) for name in names}


def _spelled_out(table: object) -> object:
    """A mistake described by a method is about the variable it stands under."""
    if not isinstance(table, Mapping) or not isinstance(table.get("errors"), Mapping):
        return table
    return {**table, "errors": {v: _about(v, e) for v, e in table["errors"].items()}}


def _about(variable: str, error: object) -> object:
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
