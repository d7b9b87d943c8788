r"""What a register of the population says of people with the values that a step read by itself.

Such a step compares a target's own values y with records whose labels c are certain; its weights are
:math:`\Pr(z \mid y) / m_z`, and sum to the records of c. Beside the :math:`N_c - n_c` people of c who are not in the
file, absence must say how many of those have the values y: weights are divided by

.. math:: \frac{\Pr(y \mid c, \text{absent})}{\Pr(y \mid c, \text{in the file})}
    = \frac{(N_{cy} - n_{cy}) / (N_c - n_c)}{n_{cy} / n_c}

with N counted in the register and n in the file. Then somebody of y is in the file with the chance
:math:`n_{cy} / N_{cy}`.
"""

from __future__ import annotations

import numpy as np

from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct

NOBODY = 1e-9
"""People in place of none, where all of y are in the file."""


def countable(knowledge: Knowledge, people: Records) -> list[Uncertain]:
    """Steps whose known values can be counted in a register: it has them all."""
    return [u for u in knowledge.uncertain if u.cells is not None and all(v in people for v in u.variables_known)]


def log_register(case: Case, knowledge: Knowledge, targets: Records, people: Records, count: F64) -> F64:
    """log of what the targets' weights are divided by beside absence, shape (n,); 0 where a register says nothing."""
    steps = countable(knowledge, people)
    if not steps:
        return np.zeros(targets.n)
    files, original = [case.original, people, targets], case.original_count
    weight = [np.ones(case.original.n) if original is None else original, count, np.zeros(targets.n)]
    released = case.released.n if case.count is None else float(case.count.sum())
    weight[0] = weight[0] * min(released / max(float(weight[0].sum()), 1.0), 1.0)  # of a file of which some are drawn
    labels = [np.concatenate([c.of(f) for f in files]) for c in knowledge.certain]
    own = [np.concatenate([_cells(u, f) for f in files]) for u in steps]
    n = sum(f.n for f in files)
    wide = _sums(labels, n, files, weight)
    narrow = _sums([*labels, *own], n, files, weight)
    absent, away = np.maximum(wide[1] - wide[0], 0.0), np.maximum(narrow[1] - narrow[0], NOBODY)
    told = (narrow[0] > 0) & (absent > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(away) - np.log(absent) - np.log(narrow[0]) + np.log(wide[0])
    return np.where(told, found, 0.0)


def _cells(u: Uncertain, records: Records) -> I64:
    assert u.cells is not None
    return u.cells(u.met(records.select(u.variables_known)))


def _sums(keys: list[I64], n: int, files: list[Records], weight: list[F64]) -> tuple[F64, F64]:
    """People of the file and of the register who are like each target in the keys."""
    of = Distinct.rows(keys, n).of if keys else np.zeros(n, dtype=np.int64)
    ends = np.cumsum([0, *(f.n for f in files)])
    size = int(of.max(initial=0)) + 1
    found = [np.bincount(of[ends[i] : ends[i + 1]], weights=weight[i], minlength=size) for i in range(2)]
    mine = of[ends[2] :]
    return found[0][mine].astype(float), found[1][mine].astype(float)
