"""What `confide protect` checks of the very file drawn: by the intruders of a file, or as a study did."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import confide as cf
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    import polars as pl

    from confide.study.drawn import Drawn

    Check = Callable[[cf.Release], Drawn]


def very_file(options: argparse.Namespace, data: pl.DataFrame | cf.Data) -> Check | None:
    """What is asked of the file drawn, judged before any work; None where nothing is."""
    if options.intruder is None and options.study is None:
        return None
    if options.intruder is not None and options.study is not None:
        raise InputError("--intruder and --study: give one of them; a study has its own intruders.")
    return _by_intruders(options.intruder, data) if options.study is None else _by_study(options.study, options.plan)


def _by_intruders(path: Path, data: pl.DataFrame | cf.Data) -> Check:
    """An intruder who is said to know what the file does not have is a mistake, and not a risk that is not known."""
    from confide.attack.document import intruders_in
    from confide.frames import to_polars
    from confide.measure.utility.registry import as_measure
    from confide.measure.utility.run import DEFAULT
    from confide.study.drawn import drawn
    from confide.study.statement.checks import intruder_problems

    who, frame = intruders_in(path), to_polars(data, "data")
    raise_all(f"{path.name}: {p}" for name, one in who.items() for p in intruder_problems(name, one, frame))
    return lambda release: drawn(release, who, [as_measure(m) for m in DEFAULT])


def _by_study(folder: Path, plan: Path) -> Check:
    result, wanted = cf.StudyResult.load(folder), cf.Plan.load(plan)
    name = next((n for n, p in result.plans.items() if p == wanted), None)
    if name is None:
        raise InputError("--study: none of its plans is the one in --plan, so that its means say nothing of this file.")
    return lambda release: result.check(release, name)
