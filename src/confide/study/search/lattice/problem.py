"""What a search over levels is asked: the file, the levels of each variable, what a node must meet, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from confide.attack.intruder import Intruder
from confide.core.checks import fraction, names_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import F64, I64, Column
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.k_anonymity import KAnonymity
from confide.measure.risk.file_risks.statement import FileRisk
from confide.protect.plan import Plan
from confide.study.search.lattice.cells import Ladder, Node, Rollup
from confide.study.search.lattice.criteria import Criterion, counted_limits, is_plain
from confide.study.search.lattice.customary import Customary, followed
from confide.study.search.lattice.plans import check_plan
from confide.study.tradeoff.asked import checked_limits

MOST = 10_000_000
"""Nodes of a lattice that is searched."""
K = "k"
EXAMPLE = 'until=cf.measures.KAnonymity(["sex", "age"], k=5), until={"k": 5}, or until={"expected_matches": 50}'
Until = FileRisk | Mapping[str, float | str] | Sequence[FileRisk]


@dataclass(frozen=True, eq=False)
class Problem:
    """`data`: the file as it was given. `ladders`: by variable, its levels met with the file. `criteria`: all must
    hold. `limits`: on risks of `intruders`, as stated. `uncertain`: why risks do not follow from classes alone; empty
    where they do."""

    data: Any
    file: Encoded
    plan: Plan
    ladders: Mapping[str, Ladder]
    criteria: Sequence[Criterion]
    limits: Mapping[str, float]
    intruders: Mapping[str, Intruder]
    uncertain: str = ""
    values: dict[Node, dict[str, float]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each variable."""
        return tuple(ladder.levels for ladder in self.ladders.values())

    @property
    def monotone(self) -> bool:
        """Whether a coarser node meets all that a finer one meets."""
        return all(c.monotone for c in self.criteria)

    @cached_property
    def weight(self) -> F64 | None:
        """The survey weight of the plan."""
        name = self.plan.weight
        if name is None:
            return None
        found: F64 = self.file.column(name, "numeric").values
        if not (found >= 0).all() or not found.sum() > 0:
            raise InputError(f'weight: "{name}" has missing or negative values, or none above 0; weights count people.')
        return found

    @cached_property
    def _rollups(self) -> dict[tuple[Any, ...], Rollup]:
        return {}

    def _rollup(self, criterion: Criterion) -> Rollup:
        names = tuple(v for v in self.ladders if v in criterion.keys)
        key = (names, criterion.keys, criterion.sensitive)
        if key not in self._rollups:
            released = fixed_keys(self.file, self.plan, [v for v in criterion.keys if v not in names])
            v = criterion.sensitive
            hidden = v is not None and v in (*self.plan.drop, *self.plan.identifiers)
            inside = None if v is None or hidden else File(self.file, "until").values(v)
            self._rollups[key] = Rollup(self.ladders, names, released, self.file.frame.height, inside, hidden)
        return self._rollups[key]

    def value(self, node: Node) -> dict[str, float]:
        """What the criteria limit, at a node."""
        if node not in self.values:
            levels = dict(zip(self.ladders, node, strict=True))
            self.values[node] = {c.name: c.value(self._rollup(c).at(levels)) for c in self.criteria}
        return self.values[node]

    def holds(self, node: Node) -> bool:
        """Whether a node meets all criteria."""
        return self.excess(node) <= 0

    def excess(self, node: Node) -> float:
        """By how much the worst criterion is passed, as a share of its limit; at most 0 where all are met."""
        found = self.value(node)
        return max((found[c.name] - c.limit * (1 + 1e-9)) / max(c.limit, 1.0) for c in self.criteria)

    def customary(self, node: Node) -> bool:
        """Whether a node meets what does not depend on an attack."""
        found = self.value(node)
        return all(found[c.name] <= c.limit for c in self.criteria if isinstance(c, Customary))

    def words(self) -> str:
        """What a node must meet."""
        return "; ".join(c.words for c in self.criteria)

    def said(self, node: Node) -> str:
        """A node in words: what is not as it is."""
        parts = [
            f"{v} {ladder.tree.names[k]}"
            for (v, ladder), k in zip(self.ladders.items(), node, strict=True) if k
        ]  # fmt: skip
        return ", ".join(parts) or "everything as it is"


def problem_of(
    data: Any, hierarchies: Mapping[str, Hierarchy] | Sequence[str], until: Until, share: float, plan: Plan | None,
    intruders: Intruder | Mapping[str, Intruder] | None, threshold: float,
) -> Problem:  # fmt: skip
    """All that is asked, checked."""
    file, plan = Encoded.of(data), Plan() if plan is None else plan
    if not isinstance(plan, Plan):
        raise InputError(f"plan is a cf.Plan with what else is done to the file, not {type(plan).__name__}.")
    plan.check(file.frame)
    stated = _hierarchies(file, hierarchies)
    check_plan(plan, stated)
    ladders = {v: Ladder.of(_column(file, v, h), h) for v, h in stated.items()}
    nodes = int(np.prod([float(x.levels) for x in ladders.values()]))
    if nodes > MOST:
        raise InputError(f"hierarchies: their levels make {nodes:,} combinations; at most {MOST:,} are searched.")
    who = _intruders(intruders)
    statements, limits = _until(until, list(ladders))
    n = file.frame.height
    if limits and not who:
        raise InputError("until: a limit on risk needs somebody who attacks: intruders=cf.Intruder(knows=[...]).")
    if who and not limits:
        raise InputError('intruders go with a limit on their risk, such as until={"expected_matches": 50}.')
    if fraction(threshold, "threshold") == 0:
        raise InputError("threshold is a probability above 0.")
    seen, most = File(file, "until"), _share(share, limits)
    criteria: list[Criterion] = [Customary(followed(s, n), seen, most) for s in statements]
    criteria += counted_limits(limits, who, n, threshold)
    _check_keys(file, criteria, ladders)
    _check_altered(plan, statements)
    return Problem(data, file, plan, ladders, criteria, limits, who, _uncertain(plan, who) if limits else "")


def _share(share: float, limits: Mapping[str, float]) -> float:
    if fraction(share, "share") == 1:
        raise InputError("share is the share of rows that may fail; with 1 all may, and nothing would be asked.")
    if share and limits:
        raise InputError(
            "share is the share of rows that may fail k, l or t; a limit on risk says by itself how much is allowed, "
            'as in {"found_share": 0.01}. Leave share out.'
        )
    return share


def _hierarchies(file: Encoded, given: object) -> dict[str, Hierarchy]:
    """Hierarchies by variable; proposed ones where only names are given."""
    if isinstance(given, Mapping) and given:
        _known(file, given)
        wrong = [v for v, h in given.items() if not isinstance(h, Hierarchy)]
        raise_all(f'hierarchies: "{v}" leads to {type(given[v]).__name__}, not to a cf.Hierarchy.' for v in wrong)
        return dict(given)
    if isinstance(given, (Mapping, Hierarchy)) or not given:
        raise InputError(
            'hierarchies is a table of variables and their cf.Hierarchy, as {"age": cf.Hierarchy(widths=[5, 10])}, or '
            "a list of names, for which hierarchies are proposed."
        )
    names = names_of(given, "hierarchies")  # type: ignore[arg-type]
    _known(file, names)
    return {v: Hierarchy.propose(file, v) for v in names}


def _known(file: Encoded, names: Any) -> None:
    columns = file.frame.columns
    raise_all(
        f'hierarchies: there is no column "{v}".{did_you_mean(str(v), columns)}' for v in names if v not in columns
    )


def _column(file: Encoded, name: str, hierarchy: Hierarchy) -> Column:
    try:
        return file.column(name, hierarchy.kind)
    except InputError as error:
        raise InputError(f"hierarchies: {error}") from error


def _intruders(given: object) -> dict[str, Intruder]:
    if given is None:
        return {}
    found = {"intruder": given} if isinstance(given, Intruder) else given
    if not isinstance(found, Mapping) or not found or not all(isinstance(w, Intruder) for w in found.values()):
        raise InputError('intruders is a cf.Intruder, or a table of them by name, as {"neighbour": cf.Intruder(...)}.')
    return dict(found)


def _until(until: object, keys: list[str]) -> tuple[list[FileRisk], dict[str, float]]:
    """Customary limits, and limits on risks."""
    if isinstance(until, FileRisk):
        return [until], {}
    if isinstance(until, Mapping) and until:
        limits = {k: v for k, v in until.items() if k != K}
        ks = [KAnonymity(keys, k=until[K])] if K in until else []
        return [*ks], checked_limits(limits, (), "until") if limits or not ks else {}
    if isinstance(until, (list, tuple)) and until and all(isinstance(u, FileRisk) for u in until):
        if len({u.name for u in until}) < len(until):
            raise InputError('until: two limits have the same name; give them labels, as in label="by_age".')
        return list(until), {}
    raise InputError(f"until says what a release must meet: {EXAMPLE} with intruders=cf.Intruder(knows=[...]).")


def _check_keys(file: Encoded, criteria: Sequence[Criterion], ladders: Mapping[str, Ladder]) -> None:
    columns = file.frame.columns
    named = dict.fromkeys(v for c in criteria for v in (*c.keys, *((c.sensitive,) if c.sensitive else ())))
    raise_all(f'until: there is no column "{v}".{did_you_mean(v, columns)}' for v in named if v not in columns)
    idle = [v for v in ladders if not any(v in c.keys for c in criteria)]
    raise_all(
        f'hierarchies: "{v}" is not among the keys ({", ".join(named)}), so that no level of it changes anything; '
        "leave it out, or name it among the keys."
        for v in idle
    )
    inside = [c.sensitive for c in criteria if c.sensitive in ladders]
    raise_all(f'hierarchies: "{v}" is sensitive in one limit and would be coarsened for another.' for v in inside)


def _check_altered(plan: Plan, statements: Sequence[FileRisk]) -> None:
    """Customary limits count values as they are released, which a search by coarsening does not know where they are
    drawn."""
    drawn = {v for s in plan.parts if s.role != "coarsen" for v in s.variables}
    if any(s.selects for s in plan.parts) and statements:
        raise InputError("until: the plan leaves out records at random; state a limit on an intruder's risk instead.")
    raise_all(
        f'until: {type(s).__name__} counts released values, but the plan alters "{v}" at random; state a limit on an '
        "intruder's risk instead."
        for s in statements
        for v in s.variables
        if v in drawn
    )


def _uncertain(plan: Plan, intruders: Mapping[str, Intruder]) -> str:
    """Why an attack is needed to know the risk; empty where classes tell it."""
    if any(s.role != "coarsen" for s in plan.parts):
        return "the plan has steps that are not coarsenings"
    if plan.unit is not None:
        return "units have several rows"
    odd = [name for name, who in intruders.items() if not is_plain(who)]
    return f'"{odd[0]}" does not know for certain who is in the file, or makes mistakes' if odd else ""


def codes_of(column: Column) -> I64:
    """The values of a column as codes from 0 in their order, -1 for missing."""
    there = ~column.missing
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[there] = np.unique(column.values[there], return_inverse=True)[1]
    return codes


def fixed_keys(file: Encoded, plan: Plan, names: Sequence[str]) -> dict[str, I64]:
    """Keys without a hierarchy, as the plan releases them where nothing random is done; what it keeps back is none."""
    gone = {*plan.drop, *plan.identifiers}
    kept = [v for v in names if v not in gone]
    if not kept or not plan.parts:
        return {v: codes_of(file.column(v)) for v in kept}
    compiled = plan.protect(file, seed=0, draws="shared").compiled
    assert compiled is not None
    return {v: codes_of(compiled.released_form(file.column(v, plan.kinds.get(v)))) for v in kept}
