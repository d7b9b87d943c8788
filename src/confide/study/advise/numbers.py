"""What trials say of a candidate: its risks against the limits, its loss, and how sure both are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from confide.measure.utility.measure import Measure
from confide.study.advise.trials import SAMPLED, WHOLE, Trial, Tried
from confide.study.tradeoff.risk_names import SHARE, about_file, is_share

ERRORS = 3.0
"""Standard errors beyond which something is no longer noise."""
TINY = 1e-12

Place = tuple[str, str]
"""An intruder, empty for a risk of the file, and a risk."""


@dataclass(frozen=True)
class Risk:
    r"""A risk and its limit, as shares of people. `n`: targets that were looked for, `N`: all of them; `m`: releases.

    `n` = 0 for a risk of the file, which is no count of targets.
    """

    value: float
    limit: float
    n: float
    N: float
    m: int
    random: bool

    def error(self, at: float) -> float:
        r"""The standard error of the mean risk over releases, if that were `at`:

        .. math:: \sqrt{p(1-p) \left(\frac1n - \frac1N + \frac{1}{N m}\right)}

        What is found of a target lies between 0 and 1, so with mean p its variance is at most p(1 - p). The first two
        terms are those of a simple random sample of n of N people, the last that of m releases (none for a plan that
        draws nothing).
        """
        if not self.n:
            return 0.0
        p = min(max(at, 0.0), 1.0)
        drawn = 1 / (self.N * self.m) if self.random else 0.0
        return math.sqrt(max(p * (1 - p), 0.0) * max(1 / self.n - 1 / self.N + drawn, 0.0))

    @property
    def log_ratio(self) -> float:
        """log(risk / limit); of nothing found, as if half a person were."""
        least = 0.5 / self.n if self.n else TINY
        limit = self.limit if self.limit > 0 else 0.5 / self.N if self.N else TINY
        return math.log(max(self.value, least) / limit)

    @property
    def ratio(self) -> float:
        """Risk / limit."""
        return self.value / self.limit if self.limit > 0 else (0.0 if self.value <= TINY else math.inf)

    @property
    def breaks(self) -> bool:
        """Whether the limit is broken beyond noise: further than the error that a risk at the limit would have."""
        return self.value - self.limit > ERRORS * self.error(self.limit) + TINY

    @property
    def holds(self) -> bool:
        """Whether the limit is kept beyond noise."""
        return self.limit - self.value >= ERRORS * self.error(self.limit) - TINY


def risks_of(c: Tried, limits: Mapping[str, float], rung: int | None = None) -> dict[Place, Risk]:
    """A candidate's risks by the trials of a rung, by default its highest; empty where there are none."""
    trials = [c.sampled] if (rung or c.rung) == SAMPLED else c.whole
    good = [t for t in trials if t is not None and not t.error]
    out: dict[Place, Risk] = {}
    for who in good[0].risks if good else ():
        level = _strongest(who, good)
        for name, limit in limits.items():
            if level is not None and not about_file(name):
                out[who, name] = _risk(name, limit, [t.risks[who][level] for t in good], _people(who, good), c.random)
    for name, limit in limits.items() if good else ():
        if about_file(name):
            each = [t.on_file.get(name) for t in good]
            value = math.inf if any(x is None for x in each) else float(np.mean([x for x in each if x is not None]))
            out["", name] = Risk(value, limit, 0, 0, len(good), c.random)
    return out


def _strongest(who: str, trials: Sequence[Trial]) -> str | None:
    """The level at which most are found, over all trials."""
    shared = [at for at in trials[0].risks[who] if all(at in t.risks.get(who, {}) for t in trials)]
    return max(shared, key=lambda at: sum(t.risks[who][at]["found"] or 0.0 for t in trials), default=None)


def _people(who: str, trials: Sequence[Trial]) -> float:
    """Targets of an intruder without a sample: people behind records, or all of the file where absent ones count."""
    return float(np.mean([t.people.get(who, t.records) for t in trials]))


def _risk(name: str, limit: float, each: Sequence[Mapping[str, float | None]], people: float, random: bool) -> Risk:
    n = float(np.mean([r["targets"] or 0.0 for r in each]))
    whole = max(n, people)
    shares = [_share(name, r) for r in each]
    share = math.inf if any(x is None for x in shares) else float(np.mean([x for x in shares if x is not None]))
    return Risk(share, limit if is_share(name) else limit / max(whole, 1.0), n, whole, len(each), random)


def _share(name: str, r: Mapping[str, float | None]) -> float | None:
    """A risk as a share of targets."""
    if is_share(name) and name in r:
        return r[name]
    count = r[name.removesuffix(SHARE)]
    return None if count is None else count / max(r["targets"] or 0.0, 1.0)


def worst(risks: Mapping[Place, Risk]) -> float:
    """The largest log(risk / limit)."""
    return max((r.log_ratio for r in risks.values()), default=math.inf)


def loss_of(c: Tried, measure: Measure) -> float | None:
    """How far the mean utility is from the best, whatever the direction; None where it is not known."""
    values = [t.utility.get(measure.name) for t in c.good]
    known = [v for v in values if v is not None]
    return abs(float(np.mean(known)) - float(measure.best)) if known and len(known) == len(values) else None


@dataclass(frozen=True)
class Spread:
    """How much a loss differs from release to release, as a share of itself; None where no plan was repeated. `df`:
    degrees of freedom that it was estimated with."""

    share: float | None
    df: int = 0

    @classmethod
    def of(cls, candidates: Iterable[Tried], measure: Measure) -> Spread:
        """Pooled over all candidates with several releases."""
        found = []
        df = 0
        for c in candidates:
            values: list[Any] = [t.utility.get(measure.name) for t in c.whole if not t.error]
            if c.random and len(values) > 1 and None not in values:
                losses = np.abs(np.array(values, dtype=float) - float(measure.best))
                if losses.mean() > 0:
                    found.append((len(losses) - 1) * (losses.std(ddof=1) / losses.mean()) ** 2)
                    df += len(losses) - 1
        return cls(math.sqrt(sum(found) / df) if found else None, df)

    @property
    def errors(self) -> float:
        """Standard errors beyond which a difference of losses is no longer noise: as improbable, by Student's
        distribution, as three of a spread that is known."""
        return float(stdtrit(self.df, ndtr(ERRORS))) if self.df else ERRORS

    def error(self, c: Tried, loss: float) -> float:
        """The standard error of a candidate's loss; infinite where nobody knows."""
        if not c.random:
            return 0.0
        return math.inf if self.share is None else self.share * loss / math.sqrt(max(len(c.whole), 1))


def breaks(c: Tried, limits: Mapping[str, float]) -> bool:
    """Whether a candidate breaks a limit beyond noise. On the first rung intruders attack as stated only: at other
    levels they may find more, never fewer, so that what breaks a limit there breaks it."""
    return any(r.breaks for r in risks_of(c, limits).values())


def holds(c: Tried, limits: Mapping[str, float], surely: bool = False) -> bool:
    """Whether a candidate keeps all limits at every level: on average over its releases, or beyond noise."""
    found = risks_of(c, limits)
    if c.rung < WHOLE or not found:
        return False
    return all(r.holds if surely else r.ratio <= 1 + 1e-12 for r in found.values())


def beats(a: Tried, b: Tried, measure: Measure, spread: Spread) -> bool:
    """Whether a loses less than b beyond noise."""
    mine, theirs = loss_of(a, measure), loss_of(b, measure)
    if mine is None or theirs is None:
        return False
    gap = spread.errors * math.hypot(spread.error(a, mine), spread.error(b, theirs))
    return theirs - mine > gap + TINY
