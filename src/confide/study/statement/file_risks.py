"""Customary risks of the released file, as a study states them: what can be wrong, and their tables in study files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from confide.core.customary import customary
from confide.core.documents.hints import kind_of
from confide.core.documents.plain import Reader, Writer
from confide.core.documents.schema import JsonSchema, Schemas, either
from confide.core.documents.settings import settings_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.registry import known, name_of
from confide.frames import read
from confide.measure.risk.file_risks.statement import FileRisk
from confide.protect.plan import Plan
from confide.study.statement.checks import COLUMNS, sentences

DEMO = "demo:"
EXAMPLE = 'cf.measures.KAnonymity(["sex", "age"], k=3)'


def as_file_risk(given: Any) -> FileRisk:
    """A risk of a file, or a table with its short name under "risk" and its settings.

    >>> as_file_risk({"risk": "k_anonymity", "keys": ["sex", "age"], "k": 5}).columns["k_anonymity"]
    'records in classes of fewer than 5'
    """
    if isinstance(given, FileRisk):
        if name_of(given) is None:
            raise InputError(
                f"the class {type(given).__name__} is not registered; put @cf.extend.registered before it."
            )
        return given
    if isinstance(given, Mapping):
        reader = Reader()
        made = reader.registered("risk", given, "")
        raise_all(reader.problems)
        found: FileRisk = made
        return found
    if isinstance(given, str):
        raise InputError(f'"{given}" is not stated by its name alone: a risk of the file has keys, as {EXAMPLE}.')
    shown = f"the class {given.__name__} without parentheses" if isinstance(given, type) else type(given).__name__
    raise InputError(f"a risk of the file is stated as {EXAMPLE}, not by {shown}.")


def risks_list(given: Any) -> list[Any]:
    """What was given, as a list; one alone is meant as a list of one."""
    return [given] if isinstance(given, (str, FileRisk, Mapping)) else list(given)


def file_risk_columns(risks: Iterable[FileRisk]) -> dict[str, str]:
    """Columns of a study's table, each with what it says in words."""
    return {column: words for risk in risks for column, words in risk.columns.items()}


def stated_file_risks(given: Any) -> list[str]:
    """What is wrong with the statements themselves."""
    if not isinstance(given, (str, FileRisk, Mapping, Sequence)):
        return [f"file_risks is a list, such as file_risks=[{EXAMPLE}], not {type(given).__name__}."]
    return [f"file_risks: {p}" for one in risks_list(given) for p in sentences(lambda o=one: as_file_risk(o))]  # type: ignore[misc]


def file_risk_problems(
    risks: Sequence[FileRisk], columns: Sequence[str], plans: Sequence[Plan], taken: Iterable[str]
) -> list[str]:
    """What the file or the plans do not allow, and names that results have twice. `taken`: other columns of results."""
    out = []
    for risk in risks:
        for v in dict.fromkeys(risk.variables):
            if v not in columns:
                out.append(f'file_risks "{risk.name}": there is no column "{v}".{did_you_mean(v, columns)}')
            elif plans and all(v in p.identifiers for p in plans):
                out.append(
                    f'file_risks "{risk.name}": "{v}" is an identifier, which no plan releases; {_instead(risk, v)}'
                )
    count = Counter(column for risk in risks for column in risk.columns)
    doubled = [n for n, k in count.items() if k > 1]
    if doubled:
        out.append(f'file_risks: results would have two columns named "{doubled[0]}"; give the risks a label each.')
    clash = [n for n in count if n in (*COLUMNS, *taken)]
    return out + [f'file_risks: results have another column named "{n}"; give the risk a label.' for n in clash]


def _instead(risk: FileRisk, name: str) -> str:
    """What to do about an identifier that a risk reads."""
    if name != getattr(risk, "unit", None):
        return "leave it out."
    return (
        f'state Plan(..., unit="{name}") in its place, so that it is released as a pseudonym, which says who belongs '
        "together and traces nobody."
    )


def read_file_risks(reader: Reader, given: Any, folder: Path) -> list[FileRisk]:
    """The `[[file_risk]]` tables of a document; problems are in the reader."""
    each = [given] if isinstance(given, Mapping) else given
    if isinstance(each, str) or not isinstance(each, Sequence):
        reader.blame(
            "file_risk", f'is stated in [[file_risk]] tables, with risk = "k_anonymity", not {kind_of(given)}.'
        )
        return []
    made = []
    for i, table in enumerate(each):
        where = f"file_risk[{i}]"
        name = table.get("risk") if isinstance(table, Mapping) else None
        if isinstance(name, str) and name not in known("risk") and customary(name):
            reader.blame(where, f'unknown risk "{name}". {customary(name)}')
            continue
        files = getattr(known("risk").get(str(name)), "data_fields", ())
        unnamed = [f for f in files if f in table and not isinstance(table[f], str)]
        if unnamed:
            reader.blame(where, f'"{unnamed[0]}" must be the name of a file, as text.')
            continue
        risk = reader.registered("risk", table, where)
        if risk is not None:
            made.append(_with_files(reader, risk, folder, where))
    return made


def _with_files(reader: Reader, risk: FileRisk, folder: Path, where: str) -> FileRisk:
    """The risk with files in the place of their names."""
    for name in risk.data_fields:
        try:
            risk = replace(risk, **{name: _data(getattr(risk, name), folder)})
        except InputError as e:
            reader.blame(where, str(e))
    return risk


def _data(name: str, folder: Path) -> Any:
    if name.startswith(DEMO):
        from confide.demo import demo

        return demo(name.removeprefix(DEMO))
    return read(folder / name)


def file_risk_table(risk: FileRisk, populations: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A risk by its short name and what was stated of it; `populations`: by name of a risk, the file that it reads."""
    named = name_of(risk)
    if named is None:
        raise InputError(f"the class {type(risk).__name__} has no place in a document: it is not registered.")
    out: dict[str, Any] = {"risk": named[1]}
    for f in fields(risk):
        value = getattr(risk, f.name)
        if f.name in risk.data_fields:
            if risk.name not in (populations or {}):
                raise InputError("a document holds no data: save the population and name its file in populations=.")
            value = (populations or {})[risk.name]
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if value is not None and value != default:
            out[f.name] = Writer().plain(value, settings_of(type(risk))[f.name].hint, f.name)
    return out


def file_risk_schema(schemas: Schemas) -> JsonSchema:
    """What a study file may hold of them."""
    one = schemas.registered("risk")
    return either(one, {"type": "array", "items": one})
