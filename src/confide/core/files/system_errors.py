"""Errors of the system as sentences."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

from confide.core.errors import InputError, system_reason


@contextlib.contextmanager
def explained(what: str, then: str = "") -> Iterator[None]:
    """An error of the system in the block as a sentence that begins with `what`, and goes on with `then`."""
    try:
        yield
    except InputError:
        raise
    except Exception as cause:
        code = system_code(cause)
        if code is None:
            raise
        raise InputError(f"{what}: {system_reason(OSError(code, os.strerror(code)))}.{then}") from cause


def system_code(cause: Exception) -> int | None:
    """The number of the system's error; polars has it only in its text."""
    if isinstance(cause, OSError) and cause.errno is not None:
        return cause.errno
    found = re.search(r"\(os error (\d+)\)", str(cause))
    return None if found is None else int(found[1])
