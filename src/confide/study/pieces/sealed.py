"""Files that say what they are and whether they are whole: content, its key, and a checksum of both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confide.frames import atomic_write


def write_sealed(path: Path, key: str, content: Mapping[str, Any]) -> None:
    """Write content for its owner alone, whole or not at all; a file that is there is replaced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "piece.json"
    ...     write_sealed(path, "a", {"risk": 0.25})
    ...     read_sealed(path, "a"), read_sealed(path, "b")
    ({'risk': 0.25}, None)
    """
    sealed = {"key": key, "sha256": _checksum(key, content), "content": content}
    with atomic_write(path, overwrite=True, private=True) as temporary:
        temporary.write_text(json.dumps(sealed), encoding="utf-8")


def read_sealed(path: Path, key: str) -> dict[str, Any] | None:
    """The content; None where there is no file, or one that was damaged, changed, or kept under another key."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.keys() != {"key", "sha256", "content"} or found["key"] != key:
        return None
    content = found["content"]
    return content if isinstance(content, dict) and found["sha256"] == _checksum(key, content) else None


def _checksum(key: str, content: Mapping[str, Any]) -> str:
    """Of the content in one spelling, with its key, so that no piece passes for another."""
    text = json.dumps([key, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
