"""Plans as documents: TOML or JSON that a person can read, write and keep under version control."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confide.core.documents.plain import Reader, Writer
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.protect.plan import Plan

SECTIONS = ("plan", "intruder")
"""Tables that may share one file."""
DEEPEST = 40
TOO_DEEP = f"has lists or tables more than {DEEPEST} deep inside of each other."


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """A plan as text, numbers, lists and tables; only what differs from the defaults is written.

    >>> import confide as cf
    >>> plan_to_dict(cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]))
    {'steps': [{'method': 'swap', 'variable': 'race', 'rate': 0.3}], 'identifiers': ['id']}
    """
    return Writer().table(plan)


def plan_from_dict(doc: Mapping[str, Any], source: str = "", name: str | None = None) -> Plan:
    """The plan that a document describes, bare or under "plan". All that is wrong with it is raised together.

    `source` names the document in errors; `name` picks one of several plans (`[[plan]]` tables with names).

    >>> plan_from_dict({"steps": [{"method": "swap", "variables": ["race"], "rate": 0.3}]}).steps[0].rate
    0.3
    >>> plan_from_dict({"steps": [{"method": "swap", "variable": "race", "rat": 0.3}]})
    Traceback (most recent call last):
    confide.InputError: Several things are wrong:
      - steps[0] (swap): unknown key "rat". Did you mean "rate"?
      - steps[0] (swap): "rate" is missing.
    """
    reader = Reader()
    table, where = section(reader, doc, "plan", name)
    plan = reader.build(Plan, table, where, also=("name",)) if not reader.problems else None
    finish(reader, source)
    assert isinstance(plan, Plan)
    return plan


def load_plan(path: str | os.PathLike[str], name: str | None = None) -> Plan:
    """The plan in a TOML or JSON file: at its top level, or in its `[plan]` table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "plan.toml"
    ...     text = '[[steps]]\\nmethod = "recode"\\nvariable = "age"\\nwidth = 5\\n'
    ...     _ = file.write_text('identifiers = ["id"]\\n' + text)
    ...     load_plan(file).identifiers
    ('id',)
    """
    return plan_from_dict(read_document(path), Path(path).name, name)


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A TOML file, or a JSON file where the name ends in .json, as a dict."""
    source = Path(path).expanduser()
    form = "JSON" if source.suffix.lower() == ".json" else "TOML"
    text = _text(source, path, form)
    try:
        doc = json.loads(text) if form == "JSON" else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as cause:
        raise InputError(f"{path} is not {form}: {cause}.") from cause
    except ValueError:
        raise InputError(f"{path} holds a number with too many digits.") from None
    except RecursionError:
        raise InputError(f"{path} {TOO_DEEP}") from None
    if _deeper(doc, DEEPEST):
        raise InputError(f"{path} {TOO_DEEP}")
    if not isinstance(doc, dict):
        raise InputError(f"{path} must hold a table of keys and values.")
    return doc


def _text(source: Path, path: str | os.PathLike[str], form: str) -> str:
    try:
        return source.read_text(encoding="utf-8-sig")
    except OSError as cause:
        raise InputError(f"{str(path)[:200]} cannot be read: {cause.strerror}.") from cause
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; a document is {form}.") from None
    except ValueError:  # a NUL, half a letter
        raise InputError(f"{str(path)!r} cannot be the name of a file.") from None


def _deeper(part: Any, levels: int) -> bool:
    if not isinstance(part, (dict, list)):
        return False
    inside = part.values() if isinstance(part, dict) else part
    return levels == 0 or any(_deeper(p, levels - 1) for p in inside)


def section(reader: Reader, doc: Any, kind: str, name: str | None = None) -> tuple[Any, str]:
    """The part of a document that describes a plan (or an intruder), and its place for messages."""
    if not isinstance(doc, Mapping):
        reader.blame("", f"A {kind} document must be a table of keys and values.")
        return {}, ""
    if kind not in doc:
        bare = {k: v for k, v in doc.items() if k not in SECTIONS}
        if not bare and doc:
            reader.blame("", f"There is no [{kind}] here, only {', '.join(f'[{k}]' for k in doc)}.")
        if name is not None and bare.get("name") != name:
            reader.blame("", f'There is no {kind} named "{name}" here, only one without that name.')
        return bare, ""
    for stray in (k for k in doc if k not in SECTIONS):
        reader.blame("", f'"{stray}" stands outside of [{kind}]; move it into the table it belongs to.')
    found = doc[kind]
    several = found if isinstance(found, list) else [found]
    return _picked(reader, several, kind, name)


def _picked(reader: Reader, several: list[Any], kind: str, name: str | None) -> tuple[Any, str]:
    names = [str(t.get("name", "")) if isinstance(t, Mapping) else "" for t in several]
    if name is None and len(several) == 1:
        return several[0], kind
    if name is None:
        reader.blame("", f"There are {len(several)} [[{kind}]] tables; pick one by its name: {', '.join(names)}.")
    elif names.count(name) != 1:
        found = "more than one" if name in names else "no"
        hint = "" if name in names else did_you_mean(name, [n for n in names if n])
        reader.blame("", f'There is {found} {kind} named "{name}".{hint}')
    else:
        return several[names.index(name)], f'{kind} "{name}"'
    return {}, kind


def finish(reader: Reader, source: str) -> None:
    """Raise what was found, each sentence with the document's name."""
    raise_all(f"{source}: {p}" if source else p for p in reader.problems)
