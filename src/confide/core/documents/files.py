"""Documents as files: TOML, or JSON where the name ends in .json."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confide.core.documents.toml import to_toml
from confide.core.errors import InputError
from confide.core.files.atomic import atomic_write

DEEPEST = 40
TOO_DEEP = f"has lists or tables more than {DEEPEST} deep inside of each other."
SCHEMA = "$schema"
"""A key that editors put at the top of a JSON file; it says nothing here."""


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
    return {k: v for k, v in doc.items() if k != SCHEMA}


def _text(source: Path, path: str | os.PathLike[str], form: str) -> str:
    try:
        return source.read_text(encoding="utf-8-sig")
    except OSError as cause:
        raise InputError(f"{str(path)[:200]} cannot be read: {cause.strerror}.") from cause
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; a document is {form}.") from None
    except ValueError:  # a NUL, half a letter
        raise InputError(f"{str(path)!r} cannot be the name of a file.") from None


def _deeper(part: object, levels: int) -> bool:
    if not isinstance(part, (dict, list)):
        return False
    inside = part.values() if isinstance(part, dict) else part
    return levels == 0 or any(_deeper(p, levels - 1) for p in inside)


def write_document(doc: Mapping[str, object], path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write a document whole or not at all, for its owner alone: it may hold a seed, or name rows. Returns its path."""
    target = Path(path)
    form = target.suffix.lower()
    if form not in (".toml", ".json"):
        raise InputError(f"{target.name}: the name of a document ends in .toml or .json.")
    text = to_toml(doc) if form == ".toml" else json.dumps(doc, indent=2) + "\n"
    with atomic_write(target, overwrite, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return target
