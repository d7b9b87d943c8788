"""Changes of one plan: a step added, made weaker or stronger, put in the place of others, or taken away; a variable
that is dropped, or released again; protection for the risky few."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.core.errors import InputError
from confide.protect.plan import Plan
from confide.protect.seam.dials import Change, Dial
from confide.protect.seam.mechanism import Mechanism
from confide.study.advise.space import changed


@dataclass(frozen=True, eq=False)
class Altered:
    """A plan with one change. `what`: the change in words. `group`: what it is one strength of. `place`: its strength's
    place among those of its dial, from 0 for the weakest to 1; None for what has no strengths."""

    what: str
    plan: Plan
    group: str
    place: float | None = None


def altered_by(plan: Plan, dial: Dial) -> list[Altered]:
    """The plan with a dial at each of its strengths; without those that cannot be carried out, or change nothing."""
    out, last = [], max(len(dial.strengths) - 1, 1)
    group = f"{dial.family} {', '.join(dial.variables)} {dial.says(dial.strengths[0])}" if dial.strengths else ""
    for k, strength in enumerate(dial.strengths):
        made = _made(plan, dial, strength)
        if made is not None:
            out.append(Altered(*made, group, k / last))
    return out


def _made(plan: Plan, dial: Dial, strength: Any) -> tuple[str, Plan] | None:
    """A change in words and the plan that it makes: beside the other steps, else in the place of those in its way."""
    says = dial.says(strength)
    try:
        change = dial.at(strength)
        before = [s for s in plan.steps if (s.method, s.variables) in {(n.method, n.variables) for n in change.steps}]
        made = changed(plan, change)
        if made == plan:
            return None
        now = _named(before)
        return (f"{says} (now {now})" if now else says), made
    except InputError:
        return _instead(plan, dial, strength, says)


def _instead(plan: Plan, dial: Dial, strength: Any, says: str) -> tuple[str, Plan] | None:
    """The change in the place of steps that alter nothing but its variables."""
    mine = {v for s in dial.at(strength).steps for v in s.variables}
    gone = [s for s in plan.steps if s.variables and set(s.variables) <= mine]
    if not gone:
        return None
    try:
        bare = replace(plan, steps=[s for s in plan.steps if s not in gone])
        return f"{says}, instead of {_named(gone)}", changed(bare, dial.at(strength))
    except InputError:
        return None


def taken_away(plan: Plan, kept: Collection[str] = ()) -> Iterator[Altered]:
    """The plan without one of its steps, but for those on variables that are kept as they are."""
    for k, step in enumerate(plan.steps):
        if set(step.variables) & set(kept):
            continue
        try:
            made = replace(plan, steps=[s for j, s in enumerate(plan.steps) if j != k])
        except InputError:
            continue
        yield Altered(f"take away {step.words}", made, f"away {k}")


def released_again(plan: Plan, known: Collection[str]) -> Iterator[Altered]:
    """The plan with a variable released that it drops; only what an intruder knows, since nothing else would show in
    the risk."""
    for v in plan.drop:
        if v not in known:
            continue
        try:
            made = replace(plan, drop=[d for d in plan.drop if d != v])
        except InputError:
            continue
        yield Altered(f"release {v} after all", made, f"again {v}")


def for_the_few(plan: Plan, rows: Sequence[int], dials: Sequence[Dial]) -> Iterator[Altered]:
    """The plan that always chooses some records: by its own steps that can be told so, and by one that is added, which
    chooses next to nobody else; the first that is offered for each variable."""
    if not rows:
        return
    own = [s.with_forced(rows) or s for s in plan.steps]
    people = f"{len(rows):,} {'person' if len(rows) == 1 else 'people'} at risk"
    if own != list(plan.steps):
        yield Altered(f"always choose the {people}", replace(plan, steps=own), "few")
    done = set[tuple[str, ...]]()
    for dial in dials:
        if not dial.strengths or dial.variables in done:
            continue
        try:
            change = dial.at(dial.strengths[0])
            steps = [s.with_forced(rows) for s in change.steps]
            if not steps or any(s is None for s in steps) or _there(plan, change):
                continue
            made = changed(plan, Change(tuple(s for s in steps if s is not None), change.drop))
        except InputError:
            continue
        done.add(dial.variables)
        says = f"{dial.says(dial.strengths[0])}, and always the {people}"
        yield Altered(says, made, f"few {dial.says(dial.strengths[0])}")


def _there(plan: Plan, change: Change) -> bool:
    return any((s.method, s.variables) == (n.method, n.variables) for s in plan.steps for n in change.steps)


def _named(steps: Sequence[Mechanism]) -> str:
    return " and ".join(s.words for s in steps)
