"""A part of a release attacked by itself: a fit, some targets, and the released rows of their blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confide.attack.engine.fit import Fit
from confide.attack.engine.kernel_plan import KernelPlan, Units
from confide.attack.engine.loops import Outcome, carry_out
from confide.attack.engine.scene import Scene, TargetSide
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Records


def attack_part(
    fit: Fit, targets: Records, records: Records, own: I64, count: F64 | None = None, threads: int = 1
) -> Outcome:
    """The same numbers that the whole attack gives these targets, if `records` holds all rows of their blocks.

    `own`: the place of each target's own record among `records`, -1 for none; `count`: how many released rows each
    record stands for (None: one). Targets and records hold the variables of the fit, with the levels of the whole file.
    """
    if fit.whole:
        raise InputError(f"This attack cannot be made in parts: {fit.whole}.")
    case = replace(fit.case, released=records, count=count)
    knowledge = fit.knowledge(case, targets)
    scene = Scene.place(case, knowledge, fit, TargetSide.of(knowledge, fit, targets))
    units = Units(np.arange(targets.n), own, np.ones(targets.n))
    return carry_out(KernelPlan.of(scene, units), units, threads, lambda _: None)
