"""A folder for what is put aside while files larger than memory are worked on: private, and gone afterwards.

It holds microdata. Whatever ends the work (an error, Ctrl-C) removes it; what a killed process left, the next one that
works in the same place removes.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from confide.core.files.folders import temporary_folder
from confide.core.files.system_errors import explained

ROOM = (
    " Name another with scratch=, where there is room for about 8 bytes per row, and 100 where few rows are alike or "
    "units are attacked."
)


@contextlib.contextmanager
def scratch_folder(place: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A new folder in `place` (None: where the system keeps temporary files) that only this user can enter.

    >>> with scratch_folder(None) as folder:
    ...     _ = (folder / "codes").write_bytes(b"1")
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    above = Path(tempfile.gettempdir() if place is None else place).expanduser()
    with explained(f"The scratch folder {above} cannot be used", ROOM):
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary_folder(above) as folder:
            yield folder
