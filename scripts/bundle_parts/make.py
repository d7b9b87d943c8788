"""Make the folder that `scripts/bundle` describes; see there."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from licences import as_text, bill, collect, collect_installed
from wheels import lock, wheels_in

ROOT = Path(__file__).resolve().parents[2]
SITE = ["furo", "pygments", "sphinx", "sphinx-basic-ng", "sphinx-mathjax-offline"]
"""Packages of which the documentation's pages carry parts."""
INSTALL = """#!/usr/bin/env bash
# Install confide from this folder, without a network: ./install [FOLDER], by default ./confide-environment
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-confide-environment}
python=${PYTHON:-python@VERSION@}
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$here/wheels" \\
    --require-hashes -r "$here/requirements.lock"
"$folder/bin/python" -m confide.precompile
"$folder/bin/confide" --version
echo "Try it: $folder/bin/confide demo --out confide-demo"
"""
README = """# confide @CONFIDE@ for Python @VERSION@ on @PLATFORM@

`./install FOLDER` makes an environment in FOLDER. It needs Python @VERSION@ with venv, and no network: every package is
in `wheels/` and is checked by the hashes in `requirements.lock`. Then `FOLDER/bin/confide demo --out confide-demo`.

- `site/index.html`: the documentation, to be read in a browser
- `LICENSES/`: the licence texts of every package
- `sbom.json`: the bill of materials: every package with version, licence and hash (CycloneDX 1.5)
"""


def pip(*words: str) -> None:
    """Run pip of this Python."""
    quiet = ["--quiet", "--disable-pip-version-check"]
    done = subprocess.run([sys.executable, "-m", "pip", words[0], *quiet, *words[1:]], cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"pip {words[0]} failed; the lines above say why.")


def fetch(folder: Path, python: str) -> None:
    """confide's own wheel, made here, and those of all that it needs, for the chosen Python on this machine."""
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), ".")
    own = next(folder.glob("confide-*.whl"))
    chosen = ["--only-binary", ":all:", "--python-version", python, "--dest", str(folder)]
    pip("download", *chosen, f"{own}[app]")


def make(out: Path, python: str) -> None:
    """All parts, first beside their place, so that a folder called `out` is a whole one."""
    if out.exists():
        raise SystemExit(f"{out} exists; remove it, or choose another with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".bundle-") as temporary:
        part = Path(temporary) / "bundle"
        (part / "wheels").mkdir(parents=True)
        fetch(part / "wheels", python)
        wheels = wheels_in(part / "wheels")
        heading = f"confide and all that it needs, for Python {python} on {sysconfig.get_platform()}."
        (part / "requirements.lock").write_text(lock(wheels, heading))
        without = collect(wheels, part / "LICENSES")
        (part / "sbom.json").write_text(as_text(bill(wheels, python, sysconfig.get_platform())))
        own = next(w for w in wheels if w.name == "confide")
        for name, text in (("install", INSTALL), ("README.md", README)):
            for mark, value in (("VERSION", python), ("CONFIDE", own.version), ("PLATFORM", sysconfig.get_platform())):
                text = text.replace(f"@{mark}@", value)
            (part / name).write_text(text)
        (part / "install").chmod(0o755)
        site(part / "site")
        collect_installed(SITE, part / "LICENSES" / "site")
        os.replace(part, out)
    tell(out, len(wheels), without)


def site(folder: Path) -> None:
    """The documentation as `scripts/docs` builds it."""
    with tempfile.TemporaryDirectory() as trees:
        words = ["-W", "--keep-going", "-q", "-d", trees, "-c", "docs", ".", str(folder)]
        done = subprocess.run([sys.executable, "-m", "sphinx", *words], cwd=ROOT)
    if done.returncode:
        raise SystemExit("The documentation could not be built; the lines above say why.")
    shutil.rmtree(folder / ".doctrees", ignore_errors=True)


def megabytes(folder: Path) -> float:
    """The size of all files below a folder."""
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6


def tell(out: Path, count: int, without: list[str]) -> None:
    """What was made, in a few lines."""
    print(f"{out}: {count} wheels, {megabytes(out):.0f} MB ({megabytes(out / 'site'):.0f} MB of them documentation)")
    if without:
        print(f"No licence text in the wheels of {', '.join(without)}: what they state is in LICENSES.")
    print(f"Carry it over, then: {out.name}/install FOLDER")


def check(python: str) -> None:
    """Whether all wheels exist for a Python, without making anything."""
    with tempfile.TemporaryDirectory() as folder:
        fetch(Path(folder), python)
        names = [f"{w.name} {w.version}" for w in wheels_in(Path(folder))]
    print(f"Python {python}: all {len(names)} wheels exist: {', '.join(names)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bundle", description="A folder that installs without a network.")
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    parser.add_argument("--python", default=here, metavar="X.Y", help=f"the Python it is for (default: {here})")
    parser.add_argument("--out", type=Path, help="the folder (default: confide-bundle-X.Y)")
    parser.add_argument("--check", action="store_true", help="only ask whether all wheels exist")
    options = parser.parse_args()
    if options.check:
        check(options.python)
    else:
        make((options.out or ROOT / f"confide-bundle-{options.python}").absolute(), options.python)


if __name__ == "__main__":
    main()
