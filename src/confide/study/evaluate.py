"""One candidate, once: protect the file, attack it by every intruder, measure what analysts lose."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.attack.results.copies import Averaged
from confide.core.errors import InputError
from confide.core.random.seeds import stream
from confide.frames.columns import F64
from confide.measure.risk.identification import MARGIN, summarise
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.run import utility
from confide.measure.utility.traces import traces
from confide.protect.copies import Copies
from confide.protect.plan import Plan
from confide.protect.rare_statements import quoted
from confide.protect.release import Release
from confide.study.groups import Groups
from confide.study.statement.checks import RISKS as RISKS

EDGES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0)
"""Limits of the ranges of probability in which targets are counted; a range holds its upper limit."""

ROUNDING = 1e-12
"""Of sums in floating point; two plans that keep a file whole must not differ by less."""

BINS = tuple(f"{a:g} to {b:g}" for a, b in pairwise(EDGES))


@dataclass(frozen=True)
class Evaluated:
    """What came of one release.

    `risks`: by intruder, the numbers named in `RISKS`. `utility`, `details`: by measure, its value (None where it
    cannot be computed) and its remark. `refused`: by intruder, why it could not attack. `distribution`: by intruder,
    targets in each of `BINS`. `groups`: by intruder, rows of (variable, level, targets, over_threshold,
    expected_matches). `seconds`: of "protect", "attack" and "utility". `traces`: by measure, what few people do to its
    value, as `Trace` has it; empty where nobody asked. `quoted`: of the plan, what it states that few people have.
    """

    risks: dict[str, dict[str, float | None]]
    utility: dict[str, float | None]
    details: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    distribution: dict[str, list[float]] = field(default_factory=dict)
    groups: dict[str, list[list[Any]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    quoted: list[list[Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def evaluate(
    data: Any, plan: Plan, intruders: Mapping[str, Intruder], measures: Sequence[Measure], seed: int,
    threshold: float = 0.2, copies: int = 1, threads: int | None = 1, groups: Groups | None = None,
    audit: str = "",
) -> Evaluated:  # fmt: skip
    """Protect a file by a plan with one seed, attack the release by each intruder, and measure its utility.

    What a plan cannot do to this file is an error. An intruder who cannot attack the release (no record of it belongs
    to one person) and a measure that cannot be computed have no numbers, and the reason is kept. `data`: a frame, or
    the `Encoded` file that several evaluations share. `audit`: also find what few people do to each measure
    ("thorough", or "quick"), without which nothing of it goes outside.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(500)
    >>> plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> found = evaluate(heads, plan, {"neighbour": cf.Intruder(knows=["sex", "race"])}, [cf.Means("age")], seed=1)
    >>> found.risks["neighbour"]["targets"], found.utility
    (500.0, {'means': 0.0})
    """
    began = time.perf_counter()
    if copies == 1:
        release: Release | Copies = plan.protect(data, seed=seed, draws="shared")
    else:
        release = plan.protect(data, seed=seed, draws="shared", copies=copies)
    seconds = {"protect": time.perf_counter() - began}
    began = time.perf_counter()
    risks: dict[str, dict[str, float | None]] = {}
    refused, distribution, group_rows = {}, {}, {}
    for name, who in intruders.items():
        try:
            attacks = attacks_of(who, release, threads)
        except InputError as e:
            refused[name] = str(e)
            risks[name] = dict.fromkeys(RISKS)
            continue
        risks[name] = mean_risks([_risks(a, threshold) for a in attacks])
        distribution[name] = np.mean([counts_by_bin(a.units) for a in attacks], axis=0).tolist()
        if groups is not None:
            group_rows[name] = groups.rows(attacks, who, threshold)
    seconds["attack"] = time.perf_counter() - began
    began = time.perf_counter()
    values, details, found = audited(release, measures, audit) if audit else (*measured(release, measures), {})
    seconds["utility"] = time.perf_counter() - began
    first = release if isinstance(release, Release) else release[0]
    said = [list(q) for q in quoted(first)] if audit else []
    return Evaluated(risks, values, details, refused, distribution, group_rows, seconds, found, said)


def attacks_of(who: Intruder, release: Release | Copies, threads: int | None) -> tuple[Attack, ...]:
    """One attack, or, on copies whose rows cannot be linked, one per copy."""
    attack = who.attack(release, threads=threads, progress=False)
    return attack.attacks if isinstance(attack, Averaged) else (attack,)


def _risks(attack: Attack, threshold: float) -> dict[str, float | None]:
    found = summarise(attack.units, threshold).to_dict()
    return {k: None if found[k] is None else float(found[k]) for k in RISKS}


def mean_risks(each: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean over attacks; unknown where it is unknown for one of them."""
    out: dict[str, float | None] = {}
    for k in RISKS:
        known = [v for v in (e[k] for e in each) if v is not None]
        out[k] = float(np.mean(known)) if len(known) == len(each) else None
    return out


def counts_by_bin(units: pl.DataFrame) -> F64:
    """Targets whose largest probability lies in each of `BINS`."""
    # One in five comes out of log space a hair above 0.2; that much does not move it to the next range.
    at = np.searchsorted(np.asarray(EDGES) * (1 + MARGIN), units["p_max"].to_numpy(), side="left") - 1
    return np.bincount(np.clip(at, 0, len(BINS) - 1), minlength=len(BINS)).astype(np.float64)


def measured(release: Release | Copies, measures: Iterable[Measure]) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every measure's value and remark. Beside its best value by less than rounding, a value is the best."""
    rows = utility(release, measures, strict=False).select("measure", "value", "best", "detail").rows()
    return {m: _snapped(value, best) for m, value, best, _ in rows}, {m: detail for m, _, _, detail in rows}


def audited(
    release: Release | Copies, measures: Sequence[Measure], how: str
) -> tuple[dict[str, float | None], dict[str, str], dict[str, dict[str, Any]]]:
    """The same, and what few people do to each value."""
    best, found = {m.name: m.best for m in measures}, traces(release, measures, how == "thorough")
    values = {m: _snapped(f.value if isinstance(f, Found) else None, best[m]) for m, (f, _) in found.items()}
    details = {m: f.detail if isinstance(f, Found) else f for m, (f, _) in found.items()}
    return values, details, {m: trace.to_dict() for m, (_, trace) in found.items()}


def _snapped(value: float | None, best: float) -> float | None:
    same = value is not None and abs(value - best) < ROUNDING * max(1.0, abs(best))
    return best if same else value


def repeat_seed(seed: int, repeat: int, fresh: bool = False) -> int:
    """The seed of one repeat, the same for every plan; `fresh` for one that no search has seen.

    >>> repeat_seed(1, 0) == repeat_seed(1, 0), repeat_seed(1, 0) == repeat_seed(1, 0, fresh=True)
    (True, False)
    """
    return int(stream(seed, "fresh repeat" if fresh else "repeat", repeat).integers(2**63))


def is_random(plan: Plan) -> bool:
    """Whether two seeds can give two releases that differ in more than the order of rows."""
    return any(s.role != "coarsen" and s.draws for s in plan.parts)
