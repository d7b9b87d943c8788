"""Work with temporary folders, killed before every single change that it makes on the disk.

Run by itself (`python killed_at_steps.py FOLDER WORK`), since it forks: one process for each kill. After each of them
other work is done in the same place, which must find everything or remove it. Prints how many kills there were.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confide.core.files.folders import settle_folder, temporary_folder
from confide.core.scale.kept import found_again

CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def settle(place: Path) -> None:
    """Files that are put under a name."""
    with temporary_folder(place) as made:
        _write(made)
        settle_folder(made, place / "whole", overwrite=True, private=True)


def keep(place: Path) -> None:
    """Files that are of use until the work ends."""
    with found_again(place, "this work") as made:
        _write(made)


def _write(folder: Path) -> None:
    (folder / "more").mkdir()
    for name in ("one", "two", "more/three"):
        (folder / name).write_text(name)


def killed(work: Callable[[Path], None], place: Path, at: int) -> bool:
    """Whether there was such a change, before which the work was killed."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    left = [at]

    def heard(event: str, args: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & WRITING):
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)

    sys.addaudithook(heard)
    work(place)
    os._exit(0)


def check(place: Path) -> None:
    """What is there by its name is whole, and work of another kind leaves nothing else."""
    with found_again(place, "other work"), temporary_folder(place):
        pass
    names = {p.name for p in place.iterdir()}
    assert names <= {"whole"}, names
    for whole in place.iterdir():
        found = {str(p.relative_to(whole)): p.stat().st_mode & 0o777 for p in whole.rglob("*")}
        assert found == {"one": 0o600, "two": 0o600, "more": 0o700, "more/three": 0o600}, found


def main(place: Path, work: Callable[[Path], None]) -> None:
    """Kill it before its first change, its second, and so on, until there is none left; then what is there is replaced."""
    kills = 0
    for _ in range(2):
        at = 0
        while killed(work, place, at):
            check(place)
            at += 1
        check(place)
        kills += at
    print(kills)


if __name__ == "__main__":
    main(Path(sys.argv[1]), {"settle": settle, "keep": keep}[sys.argv[2]])
