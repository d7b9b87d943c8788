"""What can be wrong with a study, said before anything is computed: every problem, each with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder, Unsure
from confide.attack.results.grouped import IDENTIFIES
from confide.core.checks import fraction, names_of
from confide.core.errors import InputError, did_you_mean
from confide.core.random.seeds import checked_seed
from confide.frames.cut import why_no_groups
from confide.frames.scan.scan import Scan
from confide.measure.utility.measure import Measure
from confide.measure.utility.registry import as_measure
from confide.protect.copies import checked_copies
from confide.protect.plan import Plan
from confide.study.statement.sweep import Candidate, Sweep

EVERYTHING = "release everything"
"""The release that every map is anchored at: the original without identifiers, nothing altered."""

MOST_REPEATS = 10_000

RISKS = (
    "found", "found_share", "targets", "over_threshold", "wrong", "expected_matches", "unique_matches",
    "unique_declared", "false_match_rate", "claimed_matches", "unevaluated",
)  # fmt: skip
"""Risks of a file that a study keeps; null where they are not known. The first is the one that is meant by default."""

COLUMNS = ("plan", "sweep", "setting", "value", "intruder", "level", "repeat", *RISKS)
"""Columns of a study's table before the measures of utility."""


def named_problems(given: Any, what: str, classes: tuple[type[Any], ...]) -> list[str]:
    """What is wrong with a table of plans or intruders, before looking into them."""
    kinds = " or ".join(c.__name__ for c in classes)
    if isinstance(given, classes):
        return [f'{what}: give each a name, as {what}={{"first": ...}}.']
    if not isinstance(given, Mapping) or not given:
        return [f'{what} is a table of at least one {kinds} by name, as {what}={{"first": ...}}.']
    out = [f"{what}: names are text, and not empty." for k in given if not isinstance(k, str) or not k.strip()]
    out += [unwritable(k, what) for k in given if isinstance(k, str) and unwritable(k, what)]
    out += [f'{what}: "{EVERYTHING}" is in every study; choose another name.' for k in given if k == EVERYTHING]
    return out + [
        f'{what}: "{k}" is {type(v).__name__}, not a {kinds}.' for k, v in given.items() if not isinstance(v, classes)
    ]


def unwritable(text: str, what: str) -> str:
    """What is wrong with a text that no file can hold; nothing for every other."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return f'{what}: "{text}" holds half of a character (a lone surrogate), which no file can hold; leave it out.'
    return ""


def number_problems(repeats: Any, seed: Any, threshold: Any) -> list[str]:
    """What is wrong with the numbers of a study."""
    out = []
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= MOST_REPEATS:
        out.append(f"repeats is how often a random plan is carried out, a whole number from 1 to {MOST_REPEATS:,}.")
    out += sentences(lambda: checked_seed(seed))
    wrong = sentences(lambda: fraction(threshold, "threshold"))
    return out + (wrong or (["threshold is a probability above 0."] if threshold == 0 else []))


def plan_problems(name: str, plan: Plan | Sweep, frame: pl.DataFrame | Scan) -> list[str]:
    """What a plan asks of the file that it does not have; a sweep is judged at every setting, each problem once."""
    found: dict[str, None] = {}
    try:
        each = plan.candidates(name) if isinstance(plan, Sweep) else [Candidate(name, plan)]
    except InputError as e:
        return [f'plan "{name}": {e}']
    for c in each:
        found |= dict.fromkeys(sentences(lambda c=c: c.plan.check(frame)))  # type: ignore[misc]
    return [f'plan "{name}": {p}' for p in found]


def intruder_problems(name: str, who: Intruder, frame: pl.DataFrame | Scan) -> list[str]:
    """What an intruder is said to know that the file does not have."""
    where = f'intruder "{name}"'
    lost = [v for v in who.knows if v not in frame.columns]
    out = [f'{where}: there is no column "{v}".{did_you_mean(v, frame.columns)}' for v in lost]
    if not who.knows and not who.between:
        out.append(f"{where} knows nothing; name variables in knows.")
    if who.between:
        out.append(f"{where}: interval knowledge needs a file of targets; attack the release directly instead.")
    of = who.membership
    if isinstance(of, Unsure) and of.weights is not None and of.weights not in frame.columns:
        out.append(f'{where}: there is no column "{of.weights}".{did_you_mean(of.weights, frame.columns)}')
    return out


def listed(given: Any) -> list[Any]:
    """One measure or several, as a list."""
    return [given] if isinstance(given, (str, Mapping, Measure)) else list(given)


def utility_problems(given: Any) -> list[str]:
    """What is wrong with the measures asked for."""
    if not isinstance(given, (str, Mapping, Measure)) and not isinstance(given, Sequence):
        return [f'utility is a list of measures, such as ["means"], not {type(given).__name__}.']
    each = listed(given)
    if not each:
        return ['utility names at least one measure, such as utility=["means"].']
    out = [f"utility: {p}" for m in each for p in sentences(lambda m=m: as_measure(m))]  # type: ignore[misc]
    if out:
        return out
    count = Counter(as_measure(m).name for m in each)
    taken = [n for n in count if n in COLUMNS]
    if taken:
        return [f'utility: results have another column named "{n}"; give the measure a label.' for n in taken]
    return [f'utility: two measures are named "{n}"; give them a label each.' for n, k in count.items() if k > 1]


def group_problems(groups: Any, frame: pl.DataFrame, plans: Any) -> list[str]:
    """What is wrong with the variables by which groups are told; what a plan calls an identifier makes none."""
    if not groups and not isinstance(groups, (str, Sequence)):
        return ['groups is a list of variables, such as groups=["race"].']
    wrong = sentences(lambda: names_of(groups, "groups")) if groups else []
    if wrong or not groups:
        return wrong
    names = names_of(groups, "groups")
    lost = [
        f'groups: there is no column "{v}".{did_you_mean(v, frame.columns)}' for v in names if v not in frame.columns
    ]
    named = _identifiers(plans)
    why = {v: IDENTIFIES if v in named else why_no_groups(frame.get_column(v)) for v in names if v in frame.columns}
    return lost + [f'groups: "{v}" {reason}' for v, reason in why.items() if reason]


def _identifiers(plans: Any) -> set[str]:
    """What plans call identifiers; of a sweep that cannot be made its own problem is told elsewhere."""
    found: set[str] = set()
    for name, plan in plans.items() if isinstance(plans, Mapping) else ():
        with suppress(InputError):
            made = [c.plan for c in plan.candidates(name)] if isinstance(plan, Sweep) else [plan]
            found |= {v for p in made if isinstance(p, Plan) for v in p.identifiers}
    return found


def copies_problems(copies: Any, plans: Mapping[str, Any]) -> list[str]:
    """What is wrong with the numbers of copies."""
    if not isinstance(copies, Mapping):
        return ['copies is a table by plan, as copies={"synthetic": 5}.']
    out = []
    for name, many in copies.items():
        if name not in plans:
            out.append(f'copies: there is no plan "{name}".{did_you_mean(name, plans)}')
        elif many != 1:
            out += [f'copies of "{name}": {p}' for p in sentences(lambda m=many: checked_copies(m))]  # type: ignore[misc]
    return out


def sentences(check: Callable[[], Any]) -> list[str]:
    """The sentences of the error that a check raises, which may hold several; none where all is well."""
    try:
        check()
    except InputError as e:
        lines = str(e).splitlines()
        return [p.removeprefix("  - ") for p in lines[1:]] if len(lines) > 1 else lines
    return []
