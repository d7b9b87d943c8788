"""Folders in the storage of a cluster: for the time of one piece of work, and such as appear whole or not at all.

No lock tells there whether a process is alive. So they are known by the folder that is to be made, and the next process
that makes the same one removes what a killed process left.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

from confide.core.errors import InputError
from confide.core.scale.hadoop import Remote, reached, said, session_here

PRIVATE, PUBLIC = "700", "755"


@contextlib.contextmanager
def beside(target: Remote, what: str) -> Iterator[Remote]:
    """A private folder beside another for the time of the block."""
    digest = hashlib.sha256(str(target).encode()).hexdigest()[:16]
    made = target.parent / f".confide-{digest}-{what}"
    fs, path = reached(str(made))
    with said(f"{target} cannot be written"):
        fs.delete(path, True)
        fs.mkdirs(path, session_here()._jvm.org.apache.hadoop.fs.permission.FsPermission(PRIVATE))
        try:
            yield made
        finally:
            fs.delete(path, True)


@contextlib.contextmanager
def whole_remote_folder(target: Remote, overwrite: bool = False, private: bool = True) -> Iterator[Remote]:
    """A folder beside `target`, which takes its name when the block ends well, and is removed otherwise."""
    if target.exists() and not overwrite:
        raise InputError(f"{target} exists and is not overwritten; give the name of a new folder.")
    with beside(target, "unfinished") as made, beside(target, "before") as old:
        yield made
        fs, path = reached(str(made))
        if not private:
            fs.setPermission(path, session_here()._jvm.org.apache.hadoop.fs.permission.FsPermission(PUBLIC))
        if target.exists():
            renamed(target, old / "all")
        renamed(made, target)


def renamed(place: Remote, name: Remote) -> None:
    """Give a file or a folder another name; sums that a local file system keeps beside a file stay behind."""
    fs, path = reached(str(place))
    with said(f"{name} cannot be written"):
        fs.delete(reached(str(place.parent / f".{place.name}.crc"))[1], False)
        if not fs.rename(path, reached(str(name))[1]):
            raise InputError(f"{name} cannot be written: what was finished could not be given its name.")


def files_in(folder: Remote) -> list[Remote]:
    """All files in a folder, by name, but for hidden ones."""
    fs, path = reached(str(folder))
    with said(f"{folder} cannot be read"):
        found = sorted(Remote(s.getPath().toString()) for s in fs.listStatus(path))
    return [p for p in found if not p.name.startswith((".", "_"))]
