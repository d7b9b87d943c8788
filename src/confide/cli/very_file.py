"""What `confide protect` checks of the very file drawn: by the intruders of a file, or as a study did."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import confide as cf
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.study.drawn import Drawn

    Check = Callable[[cf.Release], Drawn]


def very_file(options: argparse.Namespace) -> Check | None:
    """What is asked of the file drawn, judged before any work; None where nothing is."""
    if options.intruder is None and options.study is None:
        return None
    if options.intruder is not None and options.study is not None:
        raise InputError("--intruder and --study: give one of them; a study has its own intruders.")
    return _by_intruders(options.intruder) if options.study is None else _by_study(options.study, options.plan)


def _by_intruders(path: Path) -> Check:
    from confide.attack.document import intruders_in
    from confide.measure.utility.registry import as_measure
    from confide.measure.utility.run import DEFAULT
    from confide.study.drawn import drawn

    who = intruders_in(path)
    return lambda release: drawn(release, who, [as_measure(m) for m in DEFAULT])


def _by_study(folder: Path, plan: Path) -> Check:
    result, wanted = cf.StudyResult.load(folder), cf.Plan.load(plan)
    name = next((n for n, p in result.plans.items() if p == wanted), None)
    if name is None:
        raise InputError("--study: none of its plans is the one in --plan, so that its means say nothing of this file.")
    return lambda release: result.check(release, name)
