"""What rows of one unit have in common, fitted: see `beliefs.homes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs.homes import CategoryHome, NumberHome, Reference, category_home, most_homes, number_home
from confide.attack.engine.fit import Fit, reference_of
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.attack.intruder import Uniform
from confide.frames.columns import F64, I64, Records


def with_homes(case: Case, knowledge: Knowledge, fit: Fit) -> Fit:
    """The same with what the other rows of units can say, of every step that tells something of them."""
    if case.unit is None or not units_speak(case):
        return fit
    reference, codes, weight = reference_of(case, knowledge)
    cells = fit.believed.cells
    each = np.ones(reference.n) if weight is None else weight
    about = Reference(cells.design, cells.place(codes, reference.n), each, case.unit)
    released, out = case.intruder.beliefs == "released", dict[int, CategoryHome | NumberHome]()
    for i, (u, number) in enumerate(zip(knowledge.uncertain, fit.numeric, strict=True)):
        if not _speaks(case, u, number):
            continue
        met = reference.select(u.variables)
        met = met if released else u.met(met)
        home = number_home(u, met, about) if number else _of_categories(fit, i, u, met, about)
        if home is not None:
            out[i] = home
    return replace(fit, homes=out)


def _of_categories(fit: Fit, i: int, u: Uncertain, met: Records, about: Reference) -> CategoryHome | None:
    classes = fit.believed.classes
    alike = classes.steps[i]
    p = _by_value(np.exp(np.asarray(fit.believed.log_pi)), alike.of, len(alike))
    return category_home(u, classes.frames[i].take(alike.first), p, met, about)


def units_speak(case: Case) -> bool:
    """Whether the rows of a unit say something of each other: not to an intruder who leaves alterations aside."""
    c, _, a = case.intruder.levels
    return not (c in ("naive", "ignore") or a == "ignore" or isinstance(case.intruder.beliefs, Uniform))


def homes_of(case: Case, knows: Mapping[str, object] | tuple[str, ...]) -> int:
    """How many homes there may be together, of all steps: so many numbers are held per row."""
    total = 0
    for step in case.compiled.steps if case.unit is not None and units_speak(case) else ():
        names = [v for v in step.variables if v in case.original]
        if step.role != "random" or step.per_unit or not names or not all(v in knows for v in names):
            continue
        many = 1
        for v in names:
            column = case.original[v]
            many *= 0 if column.kind == "numeric" else len(column.levels) + 1
        assert case.unit is not None
        total += most_homes(case.unit.released, many or None)
    return total


def _by_value(p: F64, of: I64, size: int) -> F64:
    """Class probabilities added up over classes that a step's variables do not tell apart, shape (cells, size)."""
    k = len(of)
    return np.asarray(p @ sp.csr_matrix((np.ones(k), (np.arange(k), of)), shape=(k, size)))


def _speaks(case: Case, u: Uncertain, number: bool) -> bool:
    """Whether other rows say something of what a step altered."""
    at = case.compiled.way(u.variables[0]).random
    if at is None or u.direct or u.silent or u.mistakes or not all(u.known) or u.like_a is None:
        return False
    if case.compiled.steps[at].per_unit:
        return False
    return not number or (len(u.variables) == 1 and u.like.scale is not None)
