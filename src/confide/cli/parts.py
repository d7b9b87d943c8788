"""Whether a file is to be read whole or in parts."""

from __future__ import annotations

import argparse
import glob
from pathlib import Path


def several(data: Path) -> bool:
    """Whether a folder or a pattern is named, and no file."""
    return data.is_dir() or (glob.has_magic(str(data)) and not data.is_file())


def in_parts(options: argparse.Namespace) -> bool:
    """Whether a file is to be read in parts: a folder, a pattern, or where memory, scratch or an engine is stated."""
    asked = any(getattr(options, name, None) is not None for name in ("memory", "scratch", "engine"))
    return asked or several(options.data)
