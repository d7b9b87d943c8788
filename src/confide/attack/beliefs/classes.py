"""Joint categories of the uncertain variables: the K classes that beliefs speak of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.attack.evidence.gather import Uncertain, meets
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Column, Records
from confide.frames.distinct import Distinct
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.likelihood import Columns, Likelihood
from confide.protect.shared.category_codes import level_codes

MOST = 5000
"""Joint categories beyond which averaging over them is refused. Up to so many, all that could be are considered; else
those that occur."""


@dataclass(frozen=True, eq=False)
class Classes:
    """`frames[i]`: the K classes as values of step i's variables; `steps[i]`: those that differ there.

    `codes[v]`: the K classes' codes of variable v, among the values of `columns[v]`; `regions[v]`: their labels of an
    unknown noisy number v. `digits`: (variables, K), the same codes and labels counted from 0, of so many `sizes`.
    """

    size: int = 1
    frames: Mapping[int, Records] = field(default_factory=dict)
    codes: Mapping[str, I64] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    regions: Mapping[str, I64] = field(default_factory=dict)
    digits: I64 = field(default_factory=lambda: np.zeros((0, 1), dtype=np.int64))
    sizes: tuple[int, ...] = ()
    steps: Mapping[int, Distinct] = field(default_factory=dict)

    @classmethod
    def build(
        cls, uncertain: Sequence[Uncertain], numeric: Sequence[bool], met: Sequence[Records], n: int,
        regions: Sequence[Mapping[str, I64]],
    ) -> tuple[Classes, I64]:  # fmt: skip
        """The joint categories of values that occur in the reference file, and each of its rows' class."""
        steps = [
            (i, u.variables, records)
            for i, (u, is_number, records) in enumerate(zip(uncertain, numeric, met, strict=True))
            if not (is_number or (u.direct and u.like_a is None))
        ]
        parts = {v: level_codes(records[v], records[v])[0] for _, names, records in steps for v in names}
        labels = {v: codes for each in regions for v, codes in each.items()}
        held = [Distinct.rows([codes], n) for codes in (*parts.values(), *labels.values())]
        if not held:
            return cls(), np.zeros(n, dtype=np.int64)
        digits, of = _joint([each.of for each in held], [len(each) for each in held])
        first = [each.first[mine] for each, mine in zip(held, digits, strict=True)]
        row = dict(zip(parts, first, strict=False))
        frames = {
            i: Records([records[v].take(row[v]) for v in names], n=digits.shape[1]) for i, names, records in steps
        }
        columns = {v: records[v].codebook() for _, names, records in steps for v in names}
        codes = {v: own[row[v]] for v, own in parts.items()}
        regions_of = {v: own[at] for (v, own), at in zip(labels.items(), first[len(parts) :], strict=True)}
        sizes = tuple(len(each) for each in held)
        alike = {i: Distinct.rows([codes[v] for v in names], digits.shape[1]) for i, names, _ in steps}
        return cls(digits.shape[1], frames, codes, columns, regions_of, digits, sizes, alike), of

    def target(self, like: Likelihood, i: int) -> Columns:
        """The K classes in the form in which step i's likelihood takes true values."""
        return like.target(self.frames[i])

    def log_agree(self, u: Uncertain, targets: Records, rows: I64) -> F64:
        """log Pr(what is known of step u's variables given the class), for the targets given, shape (rows, K).

        0 or -inf where values are known for sure; in between where the intruder may be mistaken.
        """
        out = np.zeros((len(rows), self.size))
        met = u.met(targets.select(u.variables_known).take(rows))
        fits = np.ones(out.shape, dtype=bool)
        for v, known in zip(u.variables, u.known, strict=True):
            if not known or v not in self.codes:
                continue
            own, size = level_codes(met[v], self.columns[v])
            mine = self.codes[v]
            if v in u.mistakes:
                p = np.eye(size)  # nobody mistakes a missing value for another
                p[: size - 1, : size - 1] = u.mistakes[v]
                with np.errstate(divide="ignore"):
                    out += np.log(p)[mine][:, np.maximum(own, 0)].T
                fits &= own[:, None] >= 0
            else:
                fits &= own[:, None] == mine[None, :]
        out[~fits] = -np.inf
        return out

    def inside(self, v: str, low: float, high: float, before: Chain) -> Bools:
        """Classes whose value of a class variable lies in [low, high], or, where a number was coarsened before, whose
        cell meets it; shape (K,)."""
        if self.columns[v].kind == "categorical":
            found = next(records[v] for records in self.frames.values() if v in records)
            return meets(found, before, low, high)
        values = np.unique(self.columns[v].values[~self.columns[v].missing])
        padded = np.append(np.where(np.isin(values, self.columns[v].special), np.nan, values), np.nan)[self.codes[v]]
        return np.asarray((padded >= low) & (padded <= high))


def _joint(parts: Sequence[I64], sizes: Sequence[int]) -> tuple[I64, I64]:
    """Joint categories (variables, K) of codes that count from 0, and each row's: all combinations where they are few
    enough, else those that occur."""
    if math.prod(sizes) <= MOST:
        return np.indices(sizes).reshape(len(sizes), -1), np.ravel_multi_index(tuple(parts), tuple(sizes))
    found = Distinct.rows(parts, len(parts[0]))
    if len(found) > MOST:
        raise InputError(
            f"The perturbed variables have {len(found):,} joint categories, more than the {MOST:,} that a "
            'belief can average over. Recode them, or leave A and B out (others="ignore", unavailable="ignore").'
        )
    return np.stack([codes[found.first] for codes in parts]), found.of
