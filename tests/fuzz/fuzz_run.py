"""Run cases of the fuzz in this process: `python -m tests.fuzz.fuzz_run calls 0 1000 answers.json`.

What each case is stands in a file before it runs, so that an abort of the interpreter shows which one it was.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from confide.core.errors import InputError
from tests.fuzz.fuzz_values import leak, people

SEED = 13
LIMIT = 60
"""Seconds after which a case counts as a hang."""


class Hang(BaseException):
    """Raised by the alarm."""


def _alarm(*_: object) -> None:
    raise Hang


def one(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """The answer to one case: "a result", "a sentence", "Python's own", or what is wrong with it."""
    rng = random.Random(f"{SEED} {kind} {number}")
    source: Any = import_module(f"tests.fuzz.fuzz_{kind}")
    name = rng.choice(list(source.calls()))
    told, given = source.spoiled(name, rng)
    (folder / "last").write_text(f"{kind} {number}: {told}", errors="backslashreplace")
    signal.alarm(LIMIT)
    try:
        answer, text, error = _asked(source, name, given, rng)
    except Hang as e:
        answer, text, error = "a hang", "", e
    finally:
        signal.alarm(0)
    for word in source.spared(given):
        text = text.replace(word, "") if word else text
    if leak(text) or (answer == "a sentence" and not text.strip()):
        answer = "a value of the data"
    place = (
        [f"{Path(f.filename).name}:{f.lineno}" for f in reversed(traceback.extract_tb(error.__traceback__)[-4:])]
        if error
        else []
    )
    return {"case": number, "told": told[:200], "answer": answer, "text": text[:300], "place": place}


def _asked(source: Any, name: str, given: Any, rng: random.Random) -> tuple[str, str, BaseException | None]:
    """What came of a call, what was said or printed meanwhile, and the error."""
    said = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
            warnings.simplefilter("ignore")
            source.run(name, given, rng)
    except InputError as e:
        return "a sentence", str(e), e
    except (Hang, KeyboardInterrupt):
        raise
    except BaseException as e:
        own = isinstance(e, TypeError) and _bound(e)
        return "Python's own" if own else "a bare error", "" if own else f"{type(e).__name__}: {e}", e
    return "a result", said.getvalue(), None


def _bound(error: TypeError) -> bool:
    """Whether Python itself refused the arguments: no function of confide was entered by then."""
    frames = traceback.extract_tb(error.__traceback__)
    here = Path(frames[-1].filename).name.startswith("fuzz_") or frames[-1].name in (
        "call", "__init__", "_tell_misspelt", "_tell_missing",
    )  # fmt: skip
    return here and "argument" in str(error) and error.__cause__ is None


def main(kind: str, first: int, last: int, out: Path) -> None:
    """Run cases `first` to `last` - 1 and write what is wrong."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(600, exit=True)
    signal.signal(signal.SIGALRM, _alarm)
    folder = out.resolve().parent
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        os.environ["XDG_DATA_HOME"] = f"{here}/private"
        os.mkdir("public")
        people().write_csv("people.csv")
        found = [one(kind, i, folder) for i in range(first, last)]
    (folder / out.name).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
