"""Which candidate the rule takes, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.worker import Work


def run(work: Work) -> dict[str, Any]:
    """The choice among the candidates of a kept comparison."""
    return chosen(ruled(work.folder / work.given["folder"], work.given["choice"]))[1]


def ruled(folder: Path, rule: dict[str, Any] | None) -> cf.StudyResult:
    """A kept comparison under a rule that may have been stated since."""
    return replace(cf.StudyResult.load(folder), rule=None if rule is None else cf.Rule.from_dict(rule))


def chosen(result: cf.StudyResult) -> tuple[cf.Choice | None, dict[str, Any]]:
    """The choice by the rule, as plain data too: `plan` is None where no candidate keeps it, and `reason` says why."""
    if result.rule is None:
        return None, {"plan": None, "reason": "", "meets": {}, "why_not": {}}
    try:
        choice = result.choose()
    except cf.InputError as error:
        return None, {"plan": None, "reason": str(error), "meets": {}, "why_not": {}}
    table = choice.table.to_dicts()
    return choice, {
        "plan": choice.plan, "reason": choice.reason, "value": choice.value, "risks": dict(choice.risks),
        "meets": {r["plan"]: r["meets"] for r in table}, "why_not": {r["plan"]: r["why_not"] for r in table},
    }  # fmt: skip
