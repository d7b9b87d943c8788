"""Kill `confide study` before every fifth of its writes or in the middle of it, let the same command go on, and compare.

Run by itself (`python crash_driver.py FOLDER`), since it forks: one process for each kill. What is slow and writes
nothing (attacks, measures, drawings) is replaced by something cheap that depends on the same things, and the clock
stands still, so that two runs can be compared byte by byte. Prints how many kills there were.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import altair  # noqa: F401 - imported before any fork, as all that takes long
import jinja2  # noqa: F401
import polars as pl
import threadpoolctl  # noqa: F401

import confide.study.statement.document  # noqa: F401
from confide.cli import study as study_command
from confide.cli.main import COMMANDS
from confide.cli.main import main as cli
from confide.core.registry import known
from confide.show.charts import drawing
from confide.show.report import page
from confide.study import run
from confide.study.evaluate import Evaluated
from confide.study.meeting import BINS, Met
from confide.study.released import SIZES
from confide.study.statement.checks import RISKS

STUDY = """
title = "A try"
data = "people.csv"
repeats = 1
seed = 1
utility = ["hellinger"]
[[plan]]
name = "swap"
steps = [{method = "swap", variable = "sex", rate = 0.5}]
[[plan]]
name = "coarse"
steps = [{method = "recode", variable = "age", width = 10}]
[[intruder]]
name = "near"
knows = ["sex", "age"]
[choice]
max_risk = {expected_matches = 1}
"""
AUDITED = {"os.mkdir", "os.rename", "os.link", "os.remove", "os.chmod", "os.rmdir", "os.truncate", "fcntl.flock"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Killer:
    """Counts writes in a folder, and kills its own process at one of them. Without `at` it only counts."""

    def __init__(self, folder: Path, at: int | None) -> None:
        self.folder, self.at, self.seen = str(folder), at, 0

    def met(self) -> bool:
        self.seen += 1
        return self.seen == self.at

    def install(self) -> None:
        sys.addaudithook(self.heard)
        sync = os.fsync
        os.fsync = lambda handle: self.die() if self.met() else sync(handle)
        for owner, name in (
            (Path, "write_text"),
            (Path, "write_bytes"),
            (pl.DataFrame, "write_parquet"),
            (pl.DataFrame, "write_csv"),
        ):
            setattr(owner, name, self.half(getattr(owner, name)))

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        opened = event == "open" and isinstance(args[0], str) and bool(args[2] & WRITING)
        path = args[0] if opened or event in AUDITED else None
        inside = event == "fcntl.flock" or (path is not None and str(path).startswith(self.folder))
        if path is not None and inside and self.met():
            self.die()

    def half(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def writes(owner: Any, *args: Any, **options: Any) -> Any:
            path = owner if isinstance(owner, Path) else next((a for a in args if isinstance(a, Path)), None)
            if path is None or not self.met():
                return write(owner, *args, **options)
            write(owner, *args, **options)
            os.truncate(path, path.stat().st_size // 2)
            return self.die()

        return writes

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def cheap() -> None:
    """Numbers and pictures that cost nothing, and that depend on what the true ones depend on."""

    def evaluate(data: Any, plan: Any, intruders: Any, measures: Any, seed: int, *_: Any) -> Evaluated:
        mark = hashlib.sha256(f"{plan!r} {seed} {data.frame.height}".encode()).digest()
        risks = {who: {r: mark[i] / 256 + 2 * (not plan.steps) for i, r in enumerate(RISKS)} for who in intruders}
        utility = {m.name: mark[30] / 256 for m in measures}
        bins = [float(b) for b in mark[: len(BINS)]]
        met = {
            who: {"informed": Met(risks[who], bins, [["sex", "f", 3.0, 1.0, 0.5, 0.5, 0.5]], [])} for who in intruders
        }
        seconds = dict.fromkeys(("protect", "attack", "utility"), 0.0)
        return Evaluated(met, utility, dict.fromkeys(utility, ""), {}, [], seconds, size=dict.fromkeys(SIZES, 2.0))

    picture = b"\x89PNG\r\n\x1a\n" + drawing._png_part(b"IDAT", b"x\x9c\x03\x00\x00\x00\x00\x01")
    figures = [SimpleNamespace(name=name, wide=None) for name in ("map-one",)]
    run.evaluate = evaluate
    drawing.drawable = lambda chart: chart
    drawing._svg = lambda _: "<svg/>"
    drawing._of_svg = lambda svg, kind: picture if kind == ".png" else svg.encode()
    page.figure_sections = lambda view: [SimpleNamespace(figures=figures, drawings=[], view=view)]
    page.board_sections = lambda _: {k: [] for k in ("maps", "people", "learnt", "losses", "shares", "calibration")}
    page.report_html = lambda view, _: f"{view.outside} {view.result.frame.write_json()} {view.result.info}"
    time.perf_counter = lambda: 0.0


def forked(folder: Path, at: int | None = None) -> int:
    """How one run of the command in a process of its own ended: its exit code, or minus the signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        killer = Killer(folder, at)
        killer.install()
        code = cli(["study", str(folder.parent / "study.toml"), "--out", str(folder), "--threads", "1"])
        if at is None:
            os._exit(code)
        os._exit(100)  # fewer writes than this
    finally:
        os._exit(99)


def left(folder: Path) -> dict[str, tuple[str, str]]:
    """Everything in a folder: mode and content of each file."""
    out = {}
    for path in sorted(folder.rglob("*")):
        content = "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        out[path.relative_to(folder).as_posix()] = (oct(stat.S_IMODE(path.stat().st_mode)), content)
    return out


def check(got: int, wanted: int, what: str) -> None:
    if got != wanted:
        raise SystemExit(f"{what}: exit {got}, not {wanted}")


def main(here: Path) -> None:
    (here / "people.csv").write_text("sex,age\n" + "f,31\nm,45\nf,52\nm,38\n" * 5)
    (here / "study.toml").write_text(STUDY)
    for kind in ("method", "measure", "risk"):
        known(kind)
    for name in (*(f"confide.cli.{command}" for command in COMMANDS), "confide.show.text.studies"):
        importlib.import_module(name)
    cheap()
    check(forked(here / "whole"), 0, "the uninterrupted run")
    whole = left(here / "whole")
    kills = killed_at_many(here, whole, fresh=True)
    again = killed_at_many(here, whole, fresh=False)
    print(json.dumps({"kills": kills, "again": again, "files": sorted(whole), "names": list(study_command.NAMES)}))


def killed_at_many(here: Path, whole: dict[str, tuple[str, str]], fresh: bool) -> int:
    """Kill at every fifth write in a folder of its own, or at some of them, one after another, in one that was finished."""
    at, kills = 0, 0
    while True:
        at += 5 if fresh else 7
        folder = here / (f"cut-{at}" if fresh else "whole")
        ended = forked(folder, at)
        if ended == 100:
            return kills
        check(ended, -signal.SIGKILL, f"kill {at}")
        kills += 1
        if fresh or kills % 3 == 0:
            check(forked(folder), 0, f"the run after kill {at}")
            if left(folder) != whole:
                differing = {k for k in {*left(folder), *whole} if left(folder).get(k) != whole.get(k)}
                raise SystemExit(f"after kill {at} these differ: {sorted(differing)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
