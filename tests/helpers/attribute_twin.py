"""Attribute disclosure over (record, value), plainly: the slow twin of `confide.attack.learning.attributes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.posterior import log_weights
from confide.attack.engine.prepare import prepare
from confide.attack.evidence.gather import step_evidence
from confide.attack.results.attack import Attack
from confide.frames.columns import F64, Records
from confide.protect.seam.likelihood import take


def belief(attack: Attack, variable: str, target: int, a: float) -> dict[Any, float]:
    """(n_cy - 1[y = y_t] + a f_y) / (n_c - 1 + a), f_y the margin of the others: cells of all that is known."""
    file, row = attack.release.original, int(attack.truth[target])
    others = [i for i in range(file.height) if i != row]
    y, known = file[variable].to_list(), list(zip(*(file[v].to_list() for v in attack.intruder.knows), strict=True))
    cell = [i for i in others if known[i] == known[row]]
    out = {}
    for v in dict.fromkeys(y):
        f = sum(y[i] == v for i in others) / len(others)
        out[v] = (sum(y[i] == v for i in cell) + a * f) / (len(cell) + a)
    return out


def weights(attack: Attack, variable: str, target: int) -> tuple[F64, float, Any, Any]:
    """Weights of all candidate rows of the release, that of absence, the scene and the (unmerged) rows."""
    targets, truth, also = attack.given
    ready = prepare(attack.intruder, attack.release, targets, truth, also, merge=False, seen=(variable,))
    row = target if ready.who.of is None else int(ready.who.of[target])
    for mine, scene, units in ready.scenes():
        at = np.flatnonzero(mine == row) if ready.of is None else mine
        del units
        if not len(at):
            continue
        i = int(np.flatnonzero(mine == row)[0])
        rows, parts = log_weights(scene, i)
        w = np.exp(np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(rows)))
        people, *_ = people_in_blocks(scene, ready.rows, ready.population, ready.weights, ready.behind)
        absent = 0.0 if people is None else max(float(people[scene.block_t[i]]) - len(rows), 0.0)
        return w, absent, ready, scene.rows[rows]
    raise AssertionError


def said(ready: Any, variable: str, row: int, value: Any, known: dict[str, Any]) -> float:
    """L(z | y) of one released row and one true value."""
    case = ready.case
    column, z, way = case.original[variable], case.released[variable], case.compiled.way(variable)
    code = column.levels.index(value) if column.kind == "categorical" else value
    one = column.with_values(np.array([code]))
    if way.random is None:
        image = way.after.image(one)
        shown = image.levels[image.values[0]] if image.kind == "categorical" else image.values[0]
        mine = z.levels[z.values[row]] if z.kind == "categorical" else z.values[row]
        return float(shown == mine)
    view = case.view(tuple(case.intruder.knows))
    level = "average" if "average" in case.intruder.levels[1:] else "exact"
    step = case.compiled.steps[way.random].variables
    about = tuple(v for v in step if v == variable or v in known)
    found = step_evidence(case, way.random, level, view, about)
    beside = [case.original[v] for v in about if v != variable]
    columns = [one, *(c.with_values(np.array([c.levels.index(known[c.name])])) for c in beside)]
    met = view.met(Records(columns))
    t, r = found.likelihood.target(met), take(found.likelihood.record, np.array([row]))
    same = all(label.of(met)[0] == label.released[row] for v, label in found.labels.items() if v == variable)
    return float(np.exp(found.likelihood.log(t, r))[0]) * same


def law(attack: Attack, variable: str, target: int, a: float, own: bool = True) -> dict[Any, float]:
    """p(y | t, Z) by a double loop; `own=False`: certain membership, without the target's own row."""
    e = belief(attack, variable, target, a)
    w, absent, ready, rows = weights(attack, variable, target)
    mine = int(attack.own_rows[target])
    file, row = attack.release.original, int(attack.truth[target])
    known = {v: file[v][row] for v in attack.intruder.knows}
    out, total = dict.fromkeys(e, 0.0), absent
    for j, weight in zip(rows.tolist(), w.tolist(), strict=True):
        if j == mine and not own:
            continue
        like = {v: e[v] * said(ready, variable, j, v, known) for v in e}
        way = ready.case.compiled.way(variable)
        if way.random is None and not way.after.steps:
            like = {v: said(ready, variable, j, v, known) for v in e}
        whole = sum(like.values())
        total += weight
        for v in e:
            out[v] += weight * (like[v] / whole if whole > 0 else e[v])
    if not total:
        return e
    return {v: (p + absent * e[v]) / total for v, p in out.items()}
