"""Joint categories of the uncertain variables: the K classes that beliefs speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.attack.evidence.gather import Uncertain
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Column, Records, combine
from confide.protect.seam.likelihood import Columns, Likelihood
from confide.protect.shared.category_codes import level_codes

MOST = 3000
"""Joint categories beyond which averaging over them is refused."""


@dataclass(frozen=True, eq=False)
class Classes:
    """`frames[i]`: the K classes as values of step i's variables.

    `codes[v]`: the K classes' codes of variable v, among the values of `columns[v]`; `regions[v]`: their labels of an
    unknown noisy number v.
    """

    size: int = 1
    frames: Mapping[int, Records] = field(default_factory=dict)
    codes: Mapping[str, I64] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    regions: Mapping[str, I64] = field(default_factory=dict)

    @classmethod
    def build(
        cls, uncertain: Sequence[Uncertain], numeric: Sequence[bool], met: Sequence[Records], n: int,
        regions: Sequence[Mapping[str, I64]],
    ) -> tuple[Classes, I64]:  # fmt: skip
        """The joint categories that occur in the reference file, and each of its rows' class."""
        names, parts, sizes, columns = [], [], [], {}
        for u, is_number, records in zip(uncertain, numeric, met, strict=True):
            if is_number or (u.direct and u.like_a is None):
                continue
            for v in u.variables:
                codes, size = level_codes(records[v], records[v])
                names.append(v)
                parts.append(codes)
                sizes.append(size)
                columns[v] = records[v].codebook()
        wheres = {}
        for labels in regions:
            for v, codes in labels.items():
                wheres[v] = len(parts)
                parts.append(codes)
                sizes.append(int(codes.max(initial=0)) + 1)
        if not parts:
            return cls(), np.zeros(n, dtype=np.int64)
        _, first, of = np.unique(combine(parts, sizes), return_index=True, return_inverse=True)
        if len(first) > MOST:
            raise InputError(
                f"The perturbed variables have {len(first):,} joint categories, more than the {MOST:,} that a "
                'belief can average over. Recode them, or leave A and B out (others="ignore", unavailable="ignore").'
            )
        picked = {v: parts[i][first] for i, v in enumerate(names)}
        frames = {}
        for i, (u, is_number, records) in enumerate(zip(uncertain, numeric, met, strict=True)):
            if not is_number and all(v in columns for v in u.variables):
                frames[i] = Records([records[v].take(first.astype(np.int64)) for v in u.variables])
        labels = {v: parts[at][first] for v, at in wheres.items()}
        return cls(len(first), frames, picked, columns, labels), of.astype(np.int64)

    def target(self, like: Likelihood, i: int) -> Columns:
        """The K classes in the form in which step i's likelihood takes true values."""
        return like.target(self.frames[i])

    def log_agree(self, u: Uncertain, targets: Records, rows: I64) -> F64:
        """log Pr(what is known of step u's variables given the class), for the targets given, shape (rows, K).

        0 or -inf where values are known for sure; in between where the intruder may be mistaken.
        """
        out = np.zeros((len(rows), self.size))
        met = u.met(targets.select(u.variables_known).take(rows))
        for v, known in zip(u.variables, u.known, strict=True):
            if not known or v not in self.codes:
                continue
            own, size = level_codes(met[v], self.columns[v])
            mine = self.codes[v]
            if v in u.mistakes:
                p = np.full((size, size), 1.0 / max(size - 1, 1))  # a class in which the value is missing says nothing
                p[: size - 1, : size - 1] = u.mistakes[v]
                with np.errstate(divide="ignore"):
                    found = np.log(p)[mine][:, np.maximum(own, 0)].T
                out += np.where(own[:, None] >= 0, found, -np.inf)
            else:
                out += np.where(own[:, None] == mine[None, :], 0.0, -np.inf)
        return out

    def inside(self, v: str, low: float, high: float) -> Bools:
        """Classes whose value of a numeric class variable lies in [low, high], shape (K,)."""
        values = np.unique(self.columns[v].values[~self.columns[v].missing])
        padded = np.append(values, np.nan)[self.codes[v]]
        return np.asarray((padded >= low) & (padded <= high))
