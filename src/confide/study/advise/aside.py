"""Whether somebody who leaves altered values aside finds more than the strongest of those who read them.

Levels read altered values, each in its way, and a plan may mislead all of them: a value of somebody else that is taken
for the target's own leads away from the target. Whoever uses only what the plan did not alter
cannot be misled. A search looks for plans with low numbers, so it would find such plans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.protect.copies import Copies
from confide.protect.plan import Plan
from confide.protect.release import Release
from confide.study.evaluate import evaluate, repeat_seed
from confide.study.statement.study import Study
from confide.study.tradeoff.question import amount

ASIDE = "altered values left aside"
MORE = 1.05
"""Times what was confirmed: less is no more than chance."""


def found_aside(study: Study, plan: Plan, seed: int, confirmed: float, limit: float | None) -> str:
    """A sentence where such an intruder finds a larger share of people than was confirmed by more than noise; else
    nothing. `limit`: of the share, where there is one."""
    plain = {n: w for n, w in study.intruders.items() if w.levels[0] in ("sdl", "exact") and not w.as_printed}
    if not plain or not plan.steps:
        return ""
    try:
        found = evaluate(
            study.source, plan, plain, (), repeat_seed(seed, 0, fresh=True), study.threshold, items=study.items,
            ways=_aside,
        )  # fmt: skip
    except InputError:
        return ""
    best = (0.0, 1.0, "")
    for name, met in found.met.items():
        risks = met[ASIDE].risks if ASIDE in met else {}
        many, people = risks.get("found"), risks.get("targets")
        if many is not None and people:
            best = max(best, (many / people, people, name))
    share, people, name = best
    noise = 3 * (max(share, confirmed) / people) ** 0.5
    if share <= max(MORE * confirmed, confirmed + noise):
        return ""
    beyond = " That is above the limit." if limit is not None and share > limit else ""
    return (
        f'If "{name}" leaves altered values aside and guesses among the records that agree in the others, '
        f"{amount('found_share', share)} of people are found, not {amount('found_share', confirmed)}: the plan "
        f"misleads whoever reads what it altered.{beyond} Take the larger number."
    )


def _aside(name: str, who: Intruder, release: Release | Copies) -> Mapping[str, Intruder]:  # noqa: ARG001
    return {ASIDE: replace(who, available="ignore", unavailable="ignore", others="ignore")}
