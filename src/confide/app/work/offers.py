"""What can be done to which variable, as methods say: `cf.offers`, each with the plan that it would make."""

from __future__ import annotations

from typing import Any

import confide as cf
from confide.app.documents import DATA, MANY
from confide.app.state import KINDS
from confide.app.work.data import data_of
from confide.app.worker import Work


def run(work: Work) -> dict[str, Any]:
    """All offers: words, strength, and the steps as a plan's document has them."""
    given = work.given
    work.progress(0, 1, "asking methods")
    plan = cf.Plan.from_dict(given["plan"])
    found = cf.offers(_asked(work), plan, knows=given["knows"], sensitive=given["sensitive"])
    rows = [_offer(found, plan, row) for row in found.frame.iter_rows(named=True)]
    work.progress(1, 1, "asking methods")
    untried = [{"family": f, "variables": v, "why": why} for f, v, why in found.untried.iter_rows()]
    return {"offers": [r for r in rows if r is not None], "untried": untried}


def _asked(work: Work) -> Any:
    """The file; of one with very many variables those that are known, private or named by the plan."""
    data, given = data_of(work.folder), work.given
    if len(data.columns) <= MANY:
        return data
    plan = given["plan"]
    lists = (given["knows"], given["sensitive"], *(plan.get(k, ()) for k in ("identifiers", "drop", *KINDS)))
    named = {v for each in lists for v in each} | {plan.get("weight"), plan.get("unit")}
    return cf.read(work.folder / DATA, columns=[v for v in data.columns if v in named])


def _offer(found: cf.Offers, plan: cf.Plan, row: dict[str, Any]) -> dict[str, Any] | None:
    try:
        made = found.change(plan, row["offer"])
    except cf.InputError:
        return None  # not with the kinds that were stated
    table = made.to_dict()
    dropped = list(found.drop(row["offer"]))
    alters = dropped or list(dict.fromkeys(v for step in found.steps(row["offer"]) for v in step.variables))
    return {
        "number": row["offer"], "family": row["family"], "variables": alters, "says": row["says"], "dear": row["dear"],
        "steps": table.get("steps", []), "drop": dropped, "numeric": table.get("numeric", []),
        "categorical": table.get("categorical", []),
    }  # fmt: skip
