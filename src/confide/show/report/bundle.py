"""The libraries that draw the charts of a page, as one script: put together once for each version, and kept.

Putting them together takes seconds of the processor and always gives the same. It is kept where compiled loops are, in
a folder that nobody else can write (`core.run.cache_folder`); where there is none, it is made again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from confide.core.errors import InputError
from confide.core.run.cache_folder import cache_folder


@functools.cache
def bundle() -> str:
    """The libraries that draw, in a scope of their own."""
    try:
        path = cache_folder() / f"charts-{version('vl-convert-python')}.js"
    except InputError:
        return _made()
    kept = _read(path)
    if kept is None:
        kept = _made()
        _keep(path, kept)
    return kept


def _made() -> str:
    import vl_convert

    code: str = vl_convert.javascript_bundle()  # type: ignore[call-arg, unused-ignore]
    if "</script" in code.lower() or "<!--" in code or "\r" in code:
        raise RuntimeError("The chart library has changed: its code cannot stand in a page as it is.")
    return f"(() => {{{code}\n}})();"


def _mark(code: bytes) -> bytes:
    return hashlib.sha256(code).hexdigest().encode()


def _read(path: Path) -> str | None:
    """What is kept; None where nothing is, or where it is damaged."""
    try:
        mark, _, code = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return code.decode() if mark == _mark(code) else None


def _keep(path: Path, text: str) -> None:
    """Written beside its place and moved there, so that nobody reads half of it; a full disk keeps nothing."""
    code = text.encode()
    with suppress(OSError):
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_mark(code) + b"\n" + code)
            os.replace(beside, path)
        except OSError:
            with suppress(OSError):
                os.unlink(beside)
            raise
