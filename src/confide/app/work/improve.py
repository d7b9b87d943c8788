"""What else would do: a few changes of a plan by `cf.improve`, each then measured as the plan itself is."""

from __future__ import annotations

from typing import Any

import confide as cf
from confide.app.documents import SEED
from confide.app.state import AS_IT_IS
from confide.app.work.data import data_of
from confide.app.work.measured import drafted, effect, intruders_of
from confide.app.worker import Work

FOLDER = "work/alternatives"
MOST, TRIES, REPEATS = 3, 24, 2
NOBODY = 1.0
"""Changes that name single people at risk are not for a page: nobody has a probability above this."""


def run(work: Work) -> dict[str, Any]:
    """Up to three changes that lower risk most per utility lost, or give utility back."""
    given = work.given
    intruders = intruders_of(given["intruders"])
    found = cf.improve(
        data_of(work.folder), cf.Plan.from_dict(given["plan"]), intruders=intruders, utility=given["utility"],
        max_risk=given["limits"] or None, by=given["by"], tries=TRIES, most=MOST, repeats=REPEATS, seed=SEED,
        threshold=NOBODY, progress=work.progress,
    )  # fmt: skip
    changes = found.frame.select("change", "kind").rows()[:MOST]
    if not changes:
        return {"tried": found.tried.height, "changes": []}
    plans = {AS_IT_IS: cf.Plan.from_dict(given["as_it_is"]), **{says: found.plans[says] for says, _ in changes}}
    result = drafted(work, FOLDER, plans, intruders)
    told = [
        {"says": says, "kind": kind, "plan": plans[says].to_dict(), **effect(result, says)} for says, kind in changes
    ]
    return {"tried": found.tried.height, "changes": told}
