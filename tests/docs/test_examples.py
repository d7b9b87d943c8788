"""The examples of the docs: the plan that was written by hand is the one in the study that advice is compared by."""

from __future__ import annotations

import confide as cf
from tests.helpers.places import DOCS


def test_the_plan_by_hand_is_that_of_the_study() -> None:
    study = cf.Study.load(DOCS / "examples" / "advise_study.toml")
    assert study.plans["by hand"] == cf.Plan.load(DOCS / "examples" / "by_hand.toml")
    assert len(study.intruders) == 3
    assert study.choice is not None
    assert study.choice.max_risk == {"found": "1%"}
