"""Wheels: which files are in a folder, what they say of themselves, and the lock file that names them by hash."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path


@dataclass(frozen=True)
class Wheel:
    """One wheel: its file, name and version, the hash of the file, its metadata, and where the metadata lie in it."""

    path: Path
    name: str
    version: str
    sha256: str
    about: Message
    info: str

    @property
    def licence(self) -> str:
        """Its licence as the wheel states it: an expression, a line of text, or what its classifiers say."""
        stated = self.about.get("License-Expression") or self.about.get("License") or ""
        if stated.strip() and "\n" not in stated.strip() and stated.strip() != "UNKNOWN":
            return stated.strip()
        kinds = [c.split(" :: ")[-1] for c in self.about.get_all("Classifier", []) if c.startswith("License ::")]
        return " AND ".join(kinds) or "see the text"


def wheels_in(folder: Path) -> list[Wheel]:
    """All wheels of a folder, by name; refuses two of one package."""
    found = sorted((read_wheel(path) for path in folder.glob("*.whl")), key=lambda w: w.name)
    twice = {w.name for i, w in enumerate(found) if i and found[i - 1].name == w.name}
    if twice:
        raise SystemExit(f"{folder} has more than one wheel of {', '.join(sorted(twice))}; make it anew.")
    return found


def read_wheel(path: Path) -> Wheel:
    """What a wheel says of itself."""
    with zipfile.ZipFile(path) as archive:
        metadata = [n for n in archive.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA")]
        if len(metadata) != 1:
            raise SystemExit(f"{path.name} is no wheel: it has {len(metadata)} METADATA files.")
        about = BytesParser().parsebytes(archive.read(metadata[0]))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    info = metadata[0].rsplit("/", 1)[0]
    return Wheel(path, normal(about["Name"]), about["Version"], sha256, about, info)


def normal(name: str) -> str:
    """A package's name as indexes compare them: Foo_Bar is foo-bar.

    >>> normal("Foo__Bar.baz")
    'foo-bar-baz'
    """
    return "-".join(part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part)


def lock(wheels: list[Wheel], heading: str) -> str:
    """A requirements file that names every wheel by version and hash, for `pip install --require-hashes -r`."""
    lines = [f"# {line}" for line in heading.splitlines()]
    for wheel in wheels:
        lines += [f"{wheel.name}=={wheel.version} \\", f"    --hash=sha256:{wheel.sha256}"]
    return "\n".join(lines) + "\n"
