"""Targets whose truth is drawn around a file, as a model of measurement error says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, stream
from confide.frames import attach, give_back
from confide.frames.encoded import Encoded
from confide.protect.compiled import run

if TYPE_CHECKING:
    from confide.protect.plan import Plan


def simulate_targets(file: Any, plan: Plan, seed: int | None = None, shared: bool = True) -> Any:
    """Draw what the people behind a file are truly like, in variables that carry error by the plan's own model.

    Row i of the result is the truth of row i of the file, so the attack's `truth` is ``range(len(file))``; variables
    without error are as in the file. An uncertain variance is drawn once from its belief for everybody, as the
    model has it; ``shared=False`` draws one for each person. With no seed, fresh entropy from the system is used.

    >>> import confide as cf
    >>> elites = cf.demo("elites")
    >>> plan = cf.Plan([cf.MeasurementError("age", noise_variance=9)])
    >>> targets = cf.simulate_targets(elites, plan, seed=1)
    >>> attack = cf.Intruder(knows=["age"]).attack(plan.protect(elites, seed=2), targets, truth=range(662))
    >>> attack.units.height
    662
    """
    from confide.protect.plan import Plan

    source = Encoded.of(file)
    frame = source.frame
    if not isinstance(plan, Plan):
        raise InputError(f"simulate_targets needs a plan, not {type(plan).__name__}.")
    plan.check(frame)
    records = plan.encode(source)
    compiled, _, _ = run(plan.parts, records, None)
    chosen = checked_seed(seed)
    drawn = []
    for fitted in filter(None, compiled.fitted):
        drawn += fitted.truth(records, lambda v: stream(chosen, f"truth:{v}"), shared)
    if not drawn:
        raise InputError(
            "The plan says nothing about how the truth differs from the file; add MeasurementError(...), or attack "
            "without naming targets."
        )
    columns = [pl.Series(c.name, c.values).fill_nan(None) for c in drawn]
    return give_back(attach(frame.with_columns(columns), source.schema), file)


def models_truth(plan: Plan, frame: pl.DataFrame) -> bool:
    """Whether a plan says how the truth differs from the file."""
    compiled, _, _ = run(plan.parts, plan.encode(frame), None)
    return any(fitted.models_truth for fitted in filter(None, compiled.fitted))
