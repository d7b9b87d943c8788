"""One candidate, once: protect the file, attack it by every intruder, measure what analysts lose."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.core.random.seeds import stream
from confide.frames.columns import I64
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.by_group import group_values
from confide.measure.utility.measure import Found, Measure
from confide.measure.utility.pair import Wanted
from confide.measure.utility.run import pairs_of, utility
from confide.measure.utility.traces import traces
from confide.protect.copies import Copies
from confide.protect.plan import Plan
from confide.protect.rare_statements import quoted
from confide.protect.release import Release
from confide.protect.scanned.release import ScannedRelease
from confide.study.distributions import distributions
from confide.study.file_numbers import file_numbers
from confide.study.groups import Groups
from confide.study.learning import Learnt, learn
from confide.study.levels import Ways, contenders, every, stated
from confide.study.meeting import Met, meet
from confide.study.released import sizes
from confide.study.statement.learns import Learns

ROUNDING = 1e-12
"""Of sums in floating point; two plans that keep a file whole must not differ by less."""

FILE_PARTS = ("file_risks", "file_refused", "file_notes")
"""Parts of a piece that only a study with risks of the file has."""


@dataclass(frozen=True)
class Evaluated:
    """What came of one release.

    `met`: by intruder and level, what was found; nothing for one who could not attack, and `refused` says why.
    `utility`, `details`: by measure, its value (None where it cannot be computed) and its remark. `shares`: rows of
    (variable, level, share before, share after), see `distributions`. `seconds`: of "protect", "attack" and "utility".
    `traces`: by measure, what few people do to its value, as `Trace` has it; empty where nobody asked. `quoted`: of the
    plan, what it states that few people have. `size`: how many variables and records are released, of how many.
    `parts`: rows of (variable, level, people, measure, value): utility in the groups that were asked for. `learnt`:
    what would be learnt of the variables that the study names, by intruder and level. `file_risks`: by column, the
    customary risks of the released file (None where one cannot be computed, and `file_refused` says why, by risk), and
    `file_notes`, by risk, what is to be known beside them.
    """

    met: dict[str, dict[str, Met]]
    utility: dict[str, float | None]
    details: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    shares: list[list[Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    quoted: list[list[Any]] = field(default_factory=list)
    size: dict[str, float] = field(default_factory=dict)
    parts: list[list[Any]] = field(default_factory=list)
    learnt: list[Learnt] = field(default_factory=list)
    file_risks: dict[str, float | None] = field(default_factory=dict)
    file_refused: dict[str, str] = field(default_factory=dict)
    file_notes: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; of a study that asks for none of what it need not have as if there were no such thing."""
        gone = [*(["learnt"] if not self.learnt else []), *(FILE_PARTS if not self.file_risks else [])]
        return {k: v for k, v in asdict(self).items() if k not in gone}


def evaluate(
    data: Any, plan: Plan, intruders: Mapping[str, Intruder], measures: Sequence[Measure], seed: int,
    threshold: float = 0.2, copies: int = 1, threads: int | None = 1, groups: Groups | None = None,
    audit: str = "", items: Wanted | None = None, ways: Ways = stated, learns: Sequence[Learns] = (),
    file_risks: Sequence[FileRisk] = (), sample: I64 | None = None,
) -> Evaluated:  # fmt: skip
    """Protect a file by a plan with one seed, attack the release by each intruder, and measure its utility.

    What a plan cannot do to this file is an error. An intruder who cannot attack the release (no record of it belongs
    to one person) and a measure that cannot be computed have no numbers, and the reason is kept. `data`: a frame, or
    the `Encoded` file that several evaluations share. `audit`: also find what few people do to each measure
    ("thorough", or "quick"), without which nothing of it goes outside. `items`: what measures that name no variables
    compare, the same for all plans of a study. `ways`: the levels at which each intruder attacks. `learns`: what must
    not be learnt, which is guessed at the levels that may be right most often. `file_risks`: customary risks of the
    released file. `sample`: original rows, the only targets of intruders.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(500)
    >>> plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> found = evaluate(heads, plan, {"neighbour": cf.Intruder(knows=["sex", "race"])}, [cf.Means("age")], seed=1)
    >>> found.met["neighbour"]["informed"].risks["targets"], found.utility
    (500.0, {'means': 0.0})
    """
    began = time.perf_counter()
    if copies == 1:
        release: Release | Copies = plan.protect(data, seed=seed, draws="shared")
    else:
        release = plan.protect(data, seed=seed, draws="shared", copies=copies)
    seconds = {"protect": time.perf_counter() - began}
    found = judge(
        release, intruders, measures, threshold, threads, groups, audit, items, ways, learns, file_risks, sample
    )
    return replace(found, seconds=seconds | found.seconds)


def judge(
    release: Release | Copies, intruders: Mapping[str, Intruder], measures: Sequence[Measure], threshold: float,
    threads: int | None = 1, groups: Groups | None = None, audit: str = "", items: Wanted | None = None,
    ways: Ways = stated, learns: Sequence[Learns] = (), file_risks: Sequence[FileRisk] = (),
    sample: I64 | None = None,
) -> Evaluated:  # fmt: skip
    """The same for a release that is there already."""
    began = time.perf_counter()
    met: dict[str, dict[str, Met]] = {}
    refused: dict[str, str] = {}
    learnt: list[Learnt] = []
    for name, who in intruders.items():
        held: dict[str, tuple[Attack, ...]] | None = {} if learns else None
        met[name], why = meet(ways(name, who, release), release, threshold, threads, groups, held, sample)
        if held:
            near = contenders({name: met[name]})[name] if ways is every else list(met[name])
            learnt += learn(name, who, {level: held[level] for level in near}, learns, threshold, groups)
        refused |= {f"{name}, {level}" if met[name] else name: text for level, text in why.items()}
    on_file = file_numbers(release, file_risks)
    seconds = {"attack": time.perf_counter() - began}
    began = time.perf_counter()
    asked = (release, measures, items)
    values, details, found = audited(*asked, audit) if audit else (*measured(*asked), {})
    parts = [] if groups is None else _by_group(release, measures, items, groups.stated)
    seconds["utility"] = time.perf_counter() - began
    files = [release] if isinstance(release, Release) else list(release)
    first = files[0]
    said = [list(q) for q in quoted(first, public=False)] if audit else []
    shares = [] if groups is None else distributions(first)
    return Evaluated(met, values, details, refused, shares, seconds, found, said, sizes(files), parts, learnt, *on_file)


def _by_group(
    release: Release | Copies, measures: Sequence[Measure], items: Wanted | None, by: Sequence[str]
) -> list[list[Any]]:
    """Every measure in every group that was asked for."""
    if not by:
        return []
    pairs = pairs_of(list(release) if isinstance(release, Copies) else [release], items=items)
    return [list(row) for row in group_values(pairs, by, measures)]


def measured(
    release: Release | Copies | ScannedRelease, measures: Iterable[Measure], items: Wanted | None = None
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Every measure's value and remark. Beside its best value by less than rounding, a value is the best."""
    rows = utility(release, measures, strict=False, items=items).select("measure", "value", "best", "detail").rows()
    return {m: _snapped(value, best) for m, value, best, _ in rows}, {m: detail for m, _, _, detail in rows}


def audited(
    release: Release | Copies, measures: Sequence[Measure], items: Wanted | None, how: str
) -> tuple[dict[str, float | None], dict[str, str], dict[str, dict[str, Any]]]:
    """The same, and what few people do to each value."""
    best, found = {m.name: m.best for m in measures}, traces(release, measures, how == "thorough", items)
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
