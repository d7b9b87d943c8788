"""How each variable of an attack was treated, for the printout."""

from __future__ import annotations

from confide.attack.engine.prepare import Prepared
from confide.attack.evidence.unreleased import unreleased
from confide.attack.intruder import Intruder
from confide.attack.results.treatment import Treatment
from confide.frames.columns import Column
from confide.protect.seam.fitted import SYNTHETIC
from confide.protect.seam.mechanism import Mechanism


def treatments(ready: Prepared, stated: Intruder) -> list[Treatment]:
    """One row per variable in play, and one for each that is known but not released."""
    named = {} if ready.release.plan is None else ready.release.plan.named_kinds
    out = []
    for v, column in ready.case.original.items():
        why = "needed by a step" if column.why == "named" and v not in named else column.why
        if column.kind == "numeric" and v not in named and ready.release.before.doubt(v):
            why += ", but they look like codes"
        out.append(Treatment(v, _known(ready, column), column.kind, why, _plan(ready, v), _evidence(ready, v)))
    known = ("known" if v in stated.knows else "interval" for v in unreleased(stated, ready.release))
    lost = zip(unreleased(stated, ready.release), known, strict=True)
    return out + [Treatment(v, how, "", "", "not released", "no evidence") for v, how in lost]


def _known(ready: Prepared, column: Column) -> str:
    """What the intruder has of a variable: nothing, an interval, a value, perhaps with mistakes."""
    v, intruder = column.name, ready.intruder
    if v not in intruder.knows:
        return "interval" if v in intruder.between else "not known"
    if v in intruder.errors:
        return f"known, with mistakes ({_mistake(intruder.errors[v], column)})"
    if bool(column.missing.any()) or bool(ready.who.records[v].missing.any()):
        return "known, also if missing" if v in ready.case.told_missing else "known unless missing"
    return "known"


def _mistake(error: object, column: Column) -> str:
    if isinstance(error, Mechanism):
        return type(error).__name__
    return f"sd {error:g}" if column.kind == "numeric" else f"{error:.3g} wrong"


def _plan(ready: Prepared, v: str) -> str:
    if ready.case.blind:
        return "not known"
    return " then ".join(type(s).__name__ for s in ready.case.compiled.steps if v in s.variables) or "kept"


def _evidence(ready: Prepared, v: str) -> str:
    case, levels = ready.case, ready.intruder.levels
    if "exact" in levels and case.compiled.sorts.get(v) == SYNTHETIC:
        return "synthetic"
    if case.altered(v) and levels[0] == "naive":
        return "taken as true"
    return "uncertain" if case.compiled.way(v).random is not None or v in ready.intruder.errors else "certain"
