"""Licence texts out of wheels, and the bill of materials that says what is under which."""

from __future__ import annotations

import json
import re
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from wheels import Wheel

_TEXT = re.compile(r"(licen[cs]e|copying|notice|authors|third.?party)", re.IGNORECASE)
_CODE = (".py", ".pyc", ".pyi", ".so", ".h", ".json", ".js")


def licence_texts(wheel: Wheel) -> dict[str, bytes]:
    """The licence files of a wheel, by their path in it: of the package, and of what it carries inside."""
    with zipfile.ZipFile(wheel.path) as archive:
        names = [
            n
            for n in archive.namelist()
            if not n.endswith("/")
            and not n.endswith(_CODE)
            and ("/licenses/" in n or _TEXT.search(PurePosixPath(n).name))
        ]
        return {n: archive.read(n) for n in names}


def collect(wheels: list[Wheel], folder: Path) -> list[str]:
    """Write all texts below `folder`, one folder per package; returns the packages that carry no text."""
    without = []
    for wheel in wheels:
        texts = licence_texts(wheel)
        own = folder / f"{wheel.name}-{wheel.version}"
        own.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            target = own / path.replace("/", "__")
            target.write_bytes(text)
        if not texts:
            without.append(wheel.name)
            (own / "STATED").write_text(
                f"{wheel.name} {wheel.version} ships no text. Licence as stated: {wheel.licence}\n"
            )
    return without


def collect_installed(packages: list[str], folder: Path) -> None:
    """The same for packages of this environment, parts of which are carried in the pages of the site."""
    for package in packages:
        found = metadata.distribution(package)
        own = folder / f"{package}-{found.version}"
        own.mkdir(parents=True, exist_ok=True)
        texts = [f for f in found.files or [] if not f.name.endswith(_CODE) and _TEXT.search(f.name)]
        for file in texts:
            (own / str(file).replace("/", "__")).write_bytes(Path(str(file.locate())).read_bytes())
        if not texts:
            stated = found.metadata.json.get("license", "not stated")
            (own / "STATED").write_text(f"{package} {found.version} ships no text. Licence as stated: {stated}\n")


def bill(wheels: list[Wheel], python: str, platform: str) -> dict[str, Any]:
    """A bill of materials in the form of CycloneDX 1.5: every package with version, licence and hash."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": next(_component(w) for w in wheels if w.name == "confide"),
            "properties": [{"name": "python", "value": python}, {"name": "platform", "value": platform}],
        },
        "components": [_component(w) for w in wheels if w.name != "confide"],
    }


def _component(wheel: Wheel) -> dict[str, Any]:
    """One package. An expression goes where CycloneDX wants expressions, any other text where it wants names."""
    expression = wheel.about.get("License-Expression")
    licence: dict[str, Any] = {"expression": expression} if expression else {"license": {"name": wheel.licence}}
    return {
        "type": "library",
        "name": wheel.name,
        "version": wheel.version,
        "purl": f"pkg:pypi/{wheel.name}@{wheel.version}",
        "hashes": [{"alg": "SHA-256", "content": wheel.sha256}],
        "licenses": [licence],
        "properties": [{"name": "file", "value": wheel.path.name}, {"name": "bytes", "value": str(_size(wheel))}],
    }


def _size(wheel: Wheel) -> int:
    """Bytes once installed."""
    with zipfile.ZipFile(wheel.path) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def as_text(document: dict[str, Any]) -> str:
    """JSON as people read it."""
    return json.dumps(document, indent=2) + "\n"
