"""Errors are sentences: what is wrong, where, and what would be right. Anything else that is raised is a bug."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable

from confide.core.visible import visible

_REASONS = {
    errno.ENOSPC: "there is no room left on the disk",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "the system allows no file of this size",
    errno.EROFS: "the disk can only be read",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EEXIST: "a file is in the way",
    errno.ENOTDIR: "a file is in the way",
    errno.EIO: "the disk fails",
}


class ConfideError(Exception):
    """Base of every error that confide raises on purpose."""


class InputError(ConfideError, ValueError):
    """Something the caller gave cannot be used. The message says what, where, and what would be right.

    Messages name columns, types and counts; they never contain a value of the data. Hidden characters in names are
    spelt out: no name commands a terminal. `problems`: the sentences, where it has several.
    """

    __module__ = "confide"  # where users find it, and what a traceback shows

    def __init__(self, message: str = "", problems: Iterable[str] = ()) -> None:
        super().__init__(visible(message, keep="\n"))
        self.problems = tuple(problems) or (str(self),)


class Problems:
    """What is wrong, gathered from several checks, so that a user meets it all at once.

    >>> problems = Problems()
    >>> problems.when(True, "rate is a fraction.")
    >>> with problems:
    ...     raise InputError("per is record or unit.")
    >>> problems.tell()
    Traceback (most recent call last):
    confide.InputError: Several things are wrong:
      - rate is a fraction.
      - per is record or unit.
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def when(self, wrong: object, sentence: str) -> None:
        """Note a sentence where something is wrong."""
        if wrong:
            self.found.append(sentence)

    def __enter__(self) -> None:
        """Begin a check that may raise."""

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, InputError):
            self.found.extend(error.problems)
        return isinstance(error, InputError)

    def tell(self) -> None:
        """Raise all that was found, if anything was."""
        raise_all(dict.fromkeys(self.found))


def raise_all(problems: Iterable[str], heading: str = "") -> None:
    """Raise one `InputError` that lists every problem, so that a user meets them all at once."""
    found = list(problems)
    if not found:
        return
    if len(found) == 1 and not heading:
        raise InputError(found[0])
    lines = "\n".join(f"  - {p}" for p in found)
    raise InputError(f"{heading or 'Several things are wrong:'}\n{lines}", found)


def is_text(value: object) -> bool:
    """Whether a value is text that a file can hold: not empty, no half of a letter.

    >>> is_text("race"), is_text(""), is_text("\\ud800"), is_text(3)
    (True, False, False, False)
    """
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def did_you_mean(name: str, known: Iterable[str], most: int | None = 30) -> str:
    """A hint such as ' Did you mean "race"?', or the names there are (no more than `most`), or nothing."""
    names = [str(k) for k in known]
    close = difflib.get_close_matches(str(name), names, n=1)
    if close:
        return f' Did you mean "{close[0]}"?'
    cut = most is not None and len(names) > most
    shown = ", ".join([*names[:most], "..."] if cut else names)
    return f" There are: {shown}." if names else ""


def system_reason(cause: OSError) -> str:
    """Why the system refused, in words.

    >>> import errno
    >>> system_reason(OSError(errno.ENOSPC, "No space left on device"))
    'there is no room left on the disk'
    """
    return _REASONS.get(cause.errno or 0) or cause.strerror or type(cause).__name__
