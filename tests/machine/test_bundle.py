"""The parts of a bundle: what wheels say of themselves, the lock file, the licences, the bill of materials."""

from __future__ import annotations

import hashlib
import json
import tomllib
import zipfile
from pathlib import Path

import pytest

from licences import as_text, bill, collect, collect_installed
from tests.helpers.places import ROOT
from wheels import lock, normal, read_wheel, wheels_in


def wheel(folder: Path, name: str, version: str, about: str = "", files: dict[str, str] | None = None) -> Path:
    """A wheel with metadata and some files."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{about}\n")
        for where, text in (files or {}).items():
            archive.writestr(where.replace("INFO", info), text)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "wheels"
    wheel(place, "confide", "1.0", "License-Expression: MIT", {"INFO/licenses/LICENSE": "ours"})
    old = "License: Apache 2\nClassifier: License :: OSI Approved :: MIT License"
    wheel(place, "Some_Package", "2.1", old, {"INFO/COPYING": "theirs", "some/licence.py": "code"})
    many = "License: a\n  text of\n  lines\nClassifier: License :: OSI Approved :: BSD License"
    wheel(place, "bare", "0.3", many)
    return place


def test_wheels_are_named_by_version_and_hash(folder: Path) -> None:
    found = wheels_in(folder)
    assert [(w.name, w.version) for w in found] == [("bare", "0.3"), ("confide", "1.0"), ("some-package", "2.1")]
    text = lock(found, "two\nlines")
    assert text.startswith("# two\n# lines\nbare==0.3 \\\n    --hash=sha256:")
    for w in found:
        assert hashlib.sha256(w.path.read_bytes()).hexdigest() in text
    assert text.count("--hash=sha256:") == 3
    assert "://" not in text


def test_two_versions_of_a_package_and_files_that_are_no_wheels_are_refused(folder: Path) -> None:
    wheel(folder, "some-package", "2.2")
    with pytest.raises(SystemExit, match="more than one wheel of some-package"):
        wheels_in(folder)
    with zipfile.ZipFile(folder / "odd.whl", "w"):
        pass
    with pytest.raises(SystemExit, match="is no wheel"):
        read_wheel(folder / "odd.whl")


def test_licences_are_collected_and_their_absence_is_told(folder: Path, tmp_path: Path) -> None:
    found = wheels_in(folder)
    assert collect(found, tmp_path / "LICENSES") == ["bare"]
    texts = {p.relative_to(tmp_path / "LICENSES").as_posix(): p.read_text() for p in tmp_path.rglob("LICENSES/*/*")}
    assert texts == {
        "bare-0.3/STATED": "bare 0.3 ships no text. Licence as stated: BSD License\n",
        "confide-1.0/confide-1.0.dist-info__licenses__LICENSE": "ours",
        "some-package-2.1/Some_Package-2.1.dist-info__COPYING": "theirs",
    }


def test_licences_of_what_the_site_carries_come_from_the_environment(tmp_path: Path) -> None:
    collect_installed(["furo", "sphinx-mathjax-offline"], tmp_path)
    texts = {p.parent.name.split("-")[0] + "/" + p.name: p.read_text() for p in tmp_path.rglob("*/*")}
    assert any("Permission is hereby granted" in text for name, text in texts.items() if name.startswith("furo/"))
    assert "Apache" in next(text for name, text in texts.items() if name.startswith("sphinx/"))


def test_the_bill_names_all_with_licence_and_hash(folder: Path) -> None:
    found = wheels_in(folder)
    document = json.loads(as_text(bill(found, "3.11", "linux-x86_64")))
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "confide"
    assert document["metadata"]["component"]["licenses"] == [{"expression": "MIT"}]
    others = {c["name"]: c for c in document["components"]}
    assert others.keys() == {"bare", "some-package"}
    assert others["some-package"]["licenses"] == [{"license": {"name": "Apache 2"}}]
    assert others["bare"]["licenses"] == [{"license": {"name": "BSD License"}}]
    assert all(len(c["hashes"][0]["content"]) == 64 for c in others.values())


def test_the_shipped_lock_file_holds_what_the_project_needs() -> None:
    from pip._vendor.packaging.requirements import Requirement

    text = (ROOT / "requirements.lock").read_text()
    pairs = [line.removesuffix(" \\").split("==") for line in text.splitlines() if "==" in line]
    locked = dict(pairs)
    assert text.count("--hash=sha256:") >= len(locked) > 20
    assert "://" not in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in (*project["dependencies"], *project["optional-dependencies"]["app"]):
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[normal(wanted.name)]), wanted
