"""Numbers of a comparison are confide's own, the study file gives the same, and the verdict is the rule's."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

import confide as cf
from confide.app import compared
from confide.app.compared import EVERYTHING, WITHIN
from confide.app.state import AS_IT_IS
from confide.app.work import report, verdict
from tests.app.work.conftest import Small, study_file


def test_the_study_file_gives_the_same_numbers_to_the_last_digit(small: Small) -> None:
    rule = {"max_found": 30, "by": "entropy", "cautious": True}
    state, asked = small.asked(rule)
    again = cf.Study.load(study_file(small.project.folder, state)).run()
    kept = cf.StudyResult.load(small.project.folder / asked["folder"])
    assert again.frame.equals(kept.frame)
    found = json.loads(json.dumps(small.found))
    for row in again.summary().iter_rows(named=True):
        if row["plan"] == EVERYTHING:
            continue
        plan = found["plans"][row["plan"]]
        if row["kind"] == "utility":
            held = plan["kept"][row["measure"]]
        elif row["measure"] in ("found", "found_share", "targets"):
            held = plan["who"][row["intruder"]][row["measure"]]
        else:
            continue
        assert held == {k: row[k] for k in ("mean", "low", "high")}
    assert AS_IT_IS in found["plans"]
    assert EVERYTHING not in found["plans"]


LIMITS: tuple[float | str, ...] = (3, 12, 16, 25, 60, "2%", "5.5%", "30%")


@pytest.mark.parametrize("limit", LIMITS)
def test_rows_are_within_the_limits_where_the_choice_says_so(small: Small, limit: float | str) -> None:
    for cautious, least, by in itertools.product((True, False), (None, 0.7, 0.99), ("entropy", "hellinger_pairs")):
        rule: dict[str, Any] = {"max_found": limit, "by": by, "cautious": cautious}
        state, asked = small.asked(rule if least is None else {**rule, "min_analyses": least})
        found = verdict.run(small.work(asked))
        rows = compared.rows_of(state, small.found, found)
        said = compared.verdict_words(state, rows)
        within = {r["name"] for r in rows if r["limits"] == WITHIN}
        if found["plan"] is None:
            assert not within
            near = re.search(r'"(.+?)" comes nearest', found["reason"])
            assert near is not None
            assert (AS_IT_IS if near[1] == EVERYTHING else near[1]) in said["said"]
            assert said["kind"] == "nobody"
        else:
            assert within == {p for p, meets in found["meets"].items() if meets} - {EVERYTHING}
            assert rows[0]["name"] == compared.picked_of(found)
            assert said["kind"] == "chosen"
            assert str(compared.picked_of(found)) in said["head"]


def test_renamed_and_removed_candidates_keep_their_numbers_and_others_have_none(small: Small) -> None:
    first, second, third = small.state.candidates
    fewer = small.state.but(candidates=[{**second, "name": "another name"}, third])
    assert compared.covers(small.found, fewer)
    rows = {r["name"]: r for r in compared.rows_of(fewer, small.found, None)}
    assert rows["another name"]["found"] == max(
        w["found"]["mean"] for w in small.found["plans"][second["name"]]["who"].values()
    )
    more = small.state.but(
        candidates=[*small.state.candidates, {"name": "new", "steps": [*first["steps"], *third["steps"]]}]
    )
    assert not compared.covers(small.found, more)
    assert {r["name"]: r["found"] is None for r in compared.rows_of(more, small.found, None)}["new"]
    assert compared.changed_words(small.found, more) == "1 candidate was added or changed since."
    other = small.state.but(intruders=small.state.intruders[:1])
    assert "the intruders" in compared.changed_words(small.found, other)
    assert all(r["found"] is None for r in compared.rows_of(other, small.found, None))


def test_reports_are_written_for_inside_and_outside(small: Small) -> None:
    _, asked = small.asked({"max_found": 60, "by": "entropy", "cautious": True})
    folder = small.project.folder / report.run(small.work(asked))["folder"]
    for name in ("report.html", "outside/report.html"):
        assert "</html>" in (folder / name).read_text(encoding="utf-8")
    assert (folder / "map.svg").read_text(encoding="utf-8").startswith("<svg")


def test_propose_gives_steps_that_make_plans(small: Small) -> None:
    from confide.app.documents import plan_table
    from confide.app.propose import proposal_given
    from confide.app.work import propose

    told: list[tuple[int, int, str]] = []
    state = small.state.but(formula="", rule={"max_found": 30, "by": "entropy", "cautious": True})
    work = small.work({**proposal_given(state), "budget": 8})
    found = propose.run(type(work)(work.folder, work.given, lambda *a: told.append(a), work.preview))
    assert found["plans"]
    assert told
    for plan in found["plans"]:
        cf.Plan.from_dict(plan_table(state, plan["steps"]))
    assert not {p["name"] for p in found["plans"]} & {EVERYTHING, AS_IT_IS}
