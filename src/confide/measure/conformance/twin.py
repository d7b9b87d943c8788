"""The plain twin: posteriors of a few targets straight from the formula, beside those of the engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from confide.attack.intruder import Intruder
from confide.frames.columns import F64, I64, Records
from confide.protect.release import Release
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.likelihood import Columns, take

TARGETS = 5
"""Targets worked out again."""


@dataclass(frozen=True, eq=False)
class Twin:
    """Pr(z_j given y_i) of any pair: `t` and `z`, both sides of the `evidence`; `labels` of originals and records."""

    evidence: Evidence
    t: Columns
    z: Columns
    labels: tuple[tuple[I64, I64], ...]

    @classmethod
    def of(cls, evidence: Evidence, original: Records) -> Twin:
        assert evidence.likelihood is not None
        labels = tuple((lab.of(original), lab.released) for lab in evidence.labels.values())
        return cls(evidence, evidence.likelihood.target(original), evidence.likelihood.record, labels)

    def log(self, who: I64, rows: I64) -> F64:
        """The log likelihood of aligned pairs; minus infinity where certain labels differ."""
        assert self.evidence.likelihood is not None
        found = self.evidence.likelihood.log(take(self.t, who), take(self.z, rows))
        return np.where(self._agree(who, rows), found, -np.inf)

    def _agree(self, who: I64, rows: I64) -> F64:
        out = np.ones(len(rows), dtype=bool)
        for mine, theirs in self.labels:
            out &= mine[who] == theirs[rows]
        return out

    def log_average(self, people: I64, rows: I64) -> F64:
        """log of the likelihood of each record averaged over people with its labels: 1 / A."""
        who, every = np.tile(people, len(rows)), np.repeat(rows, len(people))
        shape = len(rows), len(people)
        many = self._agree(who, every).reshape(shape).sum(axis=1)
        return np.asarray(logsumexp(self.log(who, every).reshape(shape), axis=1) - np.log(np.maximum(many, 1)))


def farthest(evidence: Evidence, release: Release, original: Records, variables: tuple[str, ...], others: str) -> float:
    """The largest total variation between the engine's posterior and the plain one; `others`: level of part A."""
    link = release.link
    assert link is not None
    there = ~np.any([original[v].missing for v in variables], axis=0)
    twin, r = Twin.of(evidence, original), len(link)
    people, known = link, evenly(link[there[link]], TARGETS)
    attack = Intruder(knows=variables, unavailable="ignore", others=others).attack(release)
    worst = 0.0
    for i in known:
        log_c = twin.log(np.full(r, i), np.arange(r))
        rows = np.flatnonzero(np.isfinite(log_c))
        log_w = log_c[rows] - (twin.log_average(people, rows) if others != "ignore" else 0.0)
        plain, engine = np.zeros(r), np.zeros(r)
        plain[rows] = np.exp(log_w - logsumexp(log_w))
        given = attack.posterior(int((link < i).sum()))
        engine[given["row"].to_numpy()] = given["p"].to_numpy()
        worst = max(worst, 0.5 * float(np.abs(plain - engine).sum()))
    return worst


def evenly(rows: I64, most: int) -> I64:
    """Some of the rows, evenly spread over them."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).round().astype(np.int64)]
