"""The screen Compare: what its forms take, what they refuse, and what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from confide.app.desk import Desk, Settings, key_of
from confide.app.folders import folder_problems
from confide.app.formulas import checked_formula
from confide.app.mapchart import Map
from confide.app.project import Project
from confide.app.render import page_html, part_html
from confide.app.rule import floor_of, help_words, limit_of
from confide.app.screens import compare, release
from confide.app.state import AS_IT_IS, State
from confide.app.web import Form, Page, Wrong

NASTY = '<script>alert("1")</script>'
VARIABLES = [
    {"name": "age", "kind": "numeric"}, {"name": "sex", "kind": "categorical"}, {"name": "pay", "kind": "numeric"},
]  # fmt: skip
FACTS: dict[str, Any] = {
    "rows": 1000, "columns": 3, "who": "people", "digest": "d", "labels": 0, "variables": VARIABLES,
}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk whose workers are never started."""
    (tmp_path / "out").mkdir()
    return Desk(Settings(tmp_path / "projects", (tmp_path / "out",)))


def page_of(desk: Desk, query: str = "", **state: Any) -> Page:
    """A page of a new project in a state."""
    usual: dict[str, Any] = {
        "source": "people.csv", "name": "people.csv", "roles": {"age": "key", "sex": "key", "pay": "sensitive"},
        "intruders": [{"name": "near", "about": "", "knows": ["age", "sex"]}], "formula": "pay ~ age",
        "candidates": [{"name": NASTY, "steps": [{"method": "recode", "variable": "age", "width": 10}]},
                       {"name": "dropped", "steps": [{"method": "drop", "variable": "age"}]}],
    }  # fmt: skip
    project = Project.made(desk.settings.projects, "people", State(**{**usual, **state}), "Opened")
    project.keep("facts", FACTS)
    kept = desk.project(project.name)
    assert kept is not None
    return Page(desk, kept, kept.current, Form.of(query))


def found_for(page: Page) -> dict[str, Any]:
    """A comparison as a worker would have told it."""

    def ends(mean: float, half: float = 0.0) -> dict[str, float]:
        return {"mean": mean, "low": mean - half, "high": mean + half}

    def plan(found: float, lost: float, kept: float) -> dict[str, Any]:
        who = {"near": {"level": "exact", "found": ends(found, 4), "found_share": ends(found / 1000, 0.004)}}
        measures = {"entropy": ends(lost), "hellinger_pairs": ends(lost), "ci_overlap": ends(kept, 0.02)}
        return {"who": who, "kept": measures, "why": {}}

    return {
        "plans": {AS_IT_IS: plan(500, 0.0, 1.0), NASTY: plan(18, 0.2, 0.9), "dropped": plan(5, 0.5, 0.7)},
        "rows": 1000, "repeats": 5, "seconds": 1.0, "cautions": {}, "table": compare.given_of(page.state)["study"],
        "at": "2026-11-09T10:00:00+00:00",
    }  # fmt: skip


def compared_page(desk: Desk, verdict: dict[str, Any] | None = None, query: str = "", **state: Any) -> Page:
    """A page whose comparison, and verdict, are there."""
    page = page_of(desk, query, **state)
    page.project.keep(key_of(page.project, "compare", compare.given_of(page.state)), found_for(page))
    if verdict is not None:
        given = {"folder": compare.given_of(page.state)["folder"], "choice": compare.choice_table(page.state)}
        given["name"] = f"rule-{compare._mark(given['choice'])}"
        page.project.keep(key_of(page.project, "verdict", given), verdict)
        page.project.keep(key_of(page.project, "report", given), {"folder": "results/x"})
    return page


@pytest.mark.parametrize(
    ("text", "limit"), [("1,000", 1000), ("1 000", 1000), ("2 %", "2%"), ("2.5%", "2.5%"), ("0,5 %", "0.5%"), ("1", 1)]
)
def test_a_limit_is_a_number_of_people_or_a_share(text: str, limit: float | str) -> None:
    assert limit_of(text, 51_016) == limit


@pytest.mark.parametrize(
    ("text", "said"),
    [("0.02", "write 2 %"), ("many", "a number"), ("0", "above 0"), ("-5", "a number"), ("300 %", "more than everybody"),
     ("60,000", "51,016"), ("1e3", "a number"), ("1,00,0", "a number")],
)  # fmt: skip
def test_a_doubtful_limit_is_questioned(text: str, said: str) -> None:
    with pytest.raises(Wrong) as caught:
        limit_of(text, 51_016)
    assert said in caught.value.fields["max_found"]


def test_help_gives_the_other_form() -> None:
    assert help_words(1000, 51_016) == "people found: 2.0 % of 51,016"
    assert help_words("2%", 51_016) == "of people found: 1,020 of 51,016"
    assert floor_of("80 %") == floor_of("0.80") == 0.8
    with pytest.raises(Wrong):
        floor_of("80")


def test_a_formula_that_cannot_be_read_is_told_in_confides_words() -> None:
    assert checked_formula(" pay ~  age + C(sex) ", FACTS) == "pay ~ age + C(sex)"
    for text, said in (("pay", "one ~"), ("pay ~ nothing", "nothing"), ("log(pay ~ age", "log")):
        with pytest.raises(Wrong) as caught:
            checked_formula(text, FACTS)
        assert said in caught.value.fields["formula"]


def test_no_limit_is_prefilled_and_a_rule_says_when_it_was_stated(desk: Desk) -> None:
    page = page_of(desk)
    assert compare.view(page)["limit"] == ""
    made = compare.CHANGES["rule"](page, Form.of("max_found=2+%25&min_analyses=0.8&by=entropy&cautious=yes"))
    assert made.state.rule["max_found"] == "2%"
    assert made.state.rule["stated"]
    assert made.state.rule["seen"] is False
    assert compare.CHANGES["rule"](page, Form.of("by=entropy&cautious=yes")).state.rule.get("stated") is None


def test_a_rule_that_is_changed_after_numbers_were_seen_is_said(desk: Desk) -> None:
    page = compared_page(desk, rule={"max_found": 20, "by": "entropy", "cautious": True, "stated": "2026-11-09T10:00"})
    same = compare.CHANGES["rule"](page, Form.of("max_found=20&by=entropy&cautious=yes"))
    assert same.state == page.state
    made = compare.CHANGES["rule"](page, Form.of("max_found=25&by=entropy&cautious=yes"))
    assert made.state.rule["seen"] is True
    page.change = page.project.add(made.state, "x", "", page.change.number)
    assert "after a comparison had been computed" in page_html(page, compare)


def test_the_page_says_which_candidate_the_rule_takes(desk: Desk) -> None:
    rule = {"max_found": 25, "min_analyses": 0.8, "by": "entropy", "cautious": True, "stated": "2026-11-09T10:00:00"}
    page = compared_page(desk, {"plan": NASTY, "reason": "", "meets": {}, "why_not": {}}, rule=rule)
    html = page_html(page, compare)
    assert "<script>alert" not in html
    assert "The rule takes “&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;”." in html
    assert "80.0 % of detail and is the only candidate within both limits" in html
    assert "analyses below 0.80" in html
    assert "Stated before the comparison, on 9 November 2026" in html
    assert html.count('role="img"') == 2
    assert not re.search(r'\sstyle="', html)
    assert (page.project.folder / "study.toml").is_file()
    html, waiting = part_html(page, compare, "result")
    assert not waiting
    assert html.strip().startswith('<div id="result"')


def test_no_candidate_within_the_limit_names_the_nearest(desk: Desk) -> None:
    rule = {"max_found": 8, "by": "entropy", "cautious": True, "stated": "2026-11-09T10:00:00"}
    page = compared_page(desk, {"plan": None, "reason": "x", "meets": {}, "why_not": {}}, rule=rule)
    html = page_html(page, compare)
    assert "No candidate has at most 8 people found." in html
    assert "only the upper end of its interval, 9, is above the limit" in html
    assert "Change the limit" in html


def test_candidates_are_renamed_and_removed(desk: Desk) -> None:
    page = compared_page(desk, query="edit=yes")
    made = compare.CHANGES["rename"](page, Form.of("name=dropped&new=no+age"))
    assert [c["name"] for c in made.state.candidates] == [NASTY, "no age"]
    with pytest.raises(Wrong):
        compare.CHANGES["rename"](page, Form.of(f"name=dropped&new={AS_IT_IS}"))
    assert [c["name"] for c in compare.CHANGES["remove"](page, Form.of("name=dropped")).state.candidates] == [NASTY]
    assert "Rename dropped" in page_html(page, compare)


def test_proposals_become_candidates_in_one_change(desk: Desk) -> None:
    page = page_of(desk, rule={})
    plans = [{"name": "dropped", "steps": [{"method": "drop", "variable": "sex"}]},
             {"name": "same", "steps": [{"method": "drop", "variable": "age"}]}]  # fmt: skip
    given = compare.proposal_given(page.state)
    page.project.keep(key_of(page.project, "propose", given), {"plans": plans, "tried": 7, "met": True})
    assert "1 candidate proposed" in page_html(page, compare)
    made = compare.CHANGES["add"](page, Form.of("take=0&take=1"))
    assert [c["name"] for c in made.state.candidates] == [NASTY, "dropped", "dropped (2)"]


def test_without_candidates_the_page_says_what_to_do(desk: Desk) -> None:
    page = page_of(desk, candidates=[])
    assert "Nothing to compare yet" in page_html(page, compare)
    assert "There is no candidate yet" in page_html(page, release)


@pytest.mark.parametrize(("state", "said"), [("cancelled", "Stopped at 3 of 22"), ("died", "ended without an answer")])
def test_a_comparison_that_was_stopped_or_died_can_go_on(desk: Desk, state: str, said: str) -> None:
    page = page_of(desk)
    assert compare.ACTIONS["run"](page, Form()) == "compare"
    job = compare.comparison(page).job
    assert job is not None
    assert "result" in compare.view(page)["waiting"]
    job.state, job.done, job.total = state, 3, 22
    html = page_html(page, compare)
    assert said in html
    assert "Go on" in html
    compare.ACTIONS["run"](page, Form())
    assert compare.comparison(page).waiting


def test_what_changed_since_is_said_and_nothing_of_old_numbers_is_shown(desk: Desk) -> None:
    page = compared_page(desk)
    page.change = page.project.add(page.state.but(formula="pay ~ sex"), "x", "", page.change.number)
    html = page_html(page, compare)
    assert "Since then what analysts need changed" in html
    assert '<svg viewBox="0 0 972' not in html
    assert compare.report_folder(page) is None


def test_labels_of_the_map_do_not_meet() -> None:
    rows = [
        {"name": f"candidate number {k}", "found": 20.0 + 3 * k, "low": 19.0 + 3 * k, "high": 21.0 + 3 * k,
         "height": 0.5 + 0.004 * (k % 5), "ends": [], "chosen": k == 4, "hollow": k == 6} for k in range(25)
    ]  # fmt: skip
    for wide in (972, 366):
        picture = Map(rows, 40.0, "more than 40", "detail kept", False, wide)
        svg = picture.svg()
        labels = picture.labels
        assert labels
        for k, a in enumerate(labels):
            assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in labels[k + 1 :])
        assert "candidate number 4" in svg
        assert svg.count("f-accent") == 1


def test_near_the_limit_draws_all_between_and_tells_of_the_rest() -> None:
    def row(name: str, found: float, chosen: bool = False) -> dict[str, Any]:
        ends = {"low": found, "high": found, "height": 0.5, "ends": [], "hollow": False}
        return {"name": name, "found": found, "chosen": chosen, **ends}

    rows = [row("a", 2.0, True), row("b", 4.0), row("c", 20.0), row("far", 900.0), row("less", 1.0)]
    svg = Map(rows, 20.0, "over", "detail kept", False, near=True).svg()
    assert svg.count("<title>") == 3
    assert "far: 900 found, 50.0 % kept  →" in svg
    assert "←  less: 1 found" in svg


@pytest.mark.parametrize(
    ("public", "private", "field"),
    [("out/a", "out/a", "private"), ("out/a", "out/a/b", "private"), ("else/a", "out/b", "public"),
     ("projects/a", "out/b", "public"), ("out/full", "out/b", "public"), ("out/no/where", "out/b", "public")],
)  # fmt: skip
def test_folders_must_be_free_apart_and_allowed(
    desk: Desk, tmp_path: Path, public: str, private: str, field: str
) -> None:
    page = page_of(desk)
    (tmp_path / "out" / "full").mkdir()
    (tmp_path / "out" / "full" / "x").write_text("x")
    (tmp_path / "out" / "a").mkdir()
    assert field in folder_problems(page.desk, str(tmp_path / public), str(tmp_path / private))
    assert not folder_problems(page.desk, str(tmp_path / "out" / "new"), str(tmp_path / "out" / "other"))
    for hopeless in ("", "~nobody-of-this-name/x", "a\0b", "x" * 5_000):
        assert "public" in folder_problems(page.desk, hopeless, str(tmp_path / "out" / "other"))
