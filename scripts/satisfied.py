"""Whether this Python's environment holds confide as it is here, editable, and all that an extra of it asks for.

    python scripts/satisfied.py [EXTRA]

Exits 0 if so; else 1, with the first thing that is missing. Needs no network, and nothing but pip, whose reader of
requirements it uses. Answers by pyproject.toml, not by a mark left behind, so that no change of it is overlooked.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from pip._vendor.packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


def missing(root: Path, extra: str) -> str | None:
    """What the environment lacks, as a sentence; None if it lacks nothing."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wrong = _own(project, root)
    if wrong:
        return wrong
    for wanted in required(project, extra):
        found = _version(wanted.name)
        if found is None:
            return f"{wanted.name} is not installed"
        if not wanted.specifier.contains(found, prereleases=True):
            return f"{wanted.name} {found} is installed, not {wanted.specifier}"
    return None


def required(project: dict[str, Any], extra: str) -> Iterator[Requirement]:
    """The requirements that apply to this Python: those of every install, and of an extra with its own extras."""
    extras = project.get("optional-dependencies", {})
    texts = project["dependencies"] if not extra else [*project["dependencies"], *extras[extra]]
    for text in texts:
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        if wanted.name == project["name"]:
            for inner in wanted.extras:
                yield from (Requirement(t) for t in extras[inner])
        else:
            yield wanted


def _own(project: dict[str, Any], root: Path) -> str | None:
    """confide is installed from this folder, with the version and the commands that it has now."""
    name = project["name"]
    if _version(name) != project["version"]:
        return f"{name} {project['version']} is not installed"
    installed = metadata.distribution(name)
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if origin.get("url") != root.as_uri() or not origin.get("dir_info", {}).get("editable"):
        return f"{name} is not installed from this folder"
    commands = {e.name: e.value for e in installed.entry_points if e.group == "console_scripts"}
    return None if commands == project.get("scripts", {}) else f"the commands of {name} have changed"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    lacking = missing(ROOT, sys.argv[1] if len(sys.argv) > 1 else "")
    if lacking:
        print(f"To be installed: {lacking}.", file=sys.stderr)
    raise SystemExit(1 if lacking else 0)
