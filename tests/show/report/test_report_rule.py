"""Whose risk a report shows, what the study's own rule does, and the study as a document that gives it again."""

from __future__ import annotations

import functools
import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.show.report import page, save_report_folder, write_report
from confide.show.report.document import study_document
from confide.show.report.people_figures import group_drawings
from confide.show.report.sections import page_words
from confide.show.report.verdict import worded
from confide.show.report.view import View
from confide.study.result import StudyResult
from tests.helpers.planted import frame, result

OUT = {"identifiers": ["person"], "drop": ["pay_code"]}
KNOWN = ["town", "sex", "age"]
RULE = cf.Rule({"expected_matches": 100}, by="hellinger")


def stated(rule: cf.Rule | None = RULE) -> cf.Study:
    """Who reasons with swapping finds more people, who does not believes to know more of them."""
    plans = {
        "swap": cf.Sweep(lambda rate: cf.Plan([cf.Swap("age", rate=rate)], **OUT), rate=[0.3, 0.9]),
        "ages": cf.Plan([cf.Recode("age", width=30)], **OUT),
    }
    who = {"careful": cf.Intruder(knows=KNOWN), "bold": cf.Intruder.at("naive", knows=KNOWN)}
    return cf.Study(frame(), plans, who, ["hellinger", {"measure": "means", "variables": ["age"]}], repeats=2, seed=4,
                    choice=rule, copies={"ages": 1}, label="file.csv")  # fmt: skip


@functools.cache
def made(limit: float = 100.0) -> StudyResult:
    return stated(replace(RULE, max_risk={"expected_matches": limit})).run(progress=False)


def test_each_risk_is_that_of_its_own_worst_intruder() -> None:
    table = page_words(View.of(made()))["table"]
    row = next(r for r in table.rows if r[0] == "swap [rate=0.9]")
    assert row[1] == "careful"
    assert " by " not in row[table.header.index("expected right matches")]
    assert row[table.header.index("people over the threshold")].endswith(" by bold")
    over = made().summary().filter(
        (pl.col("plan") == row[0]) & (pl.col("measure") == "over_threshold") & (pl.col("intruder") == "bold"))  # fmt: skip
    assert row[table.header.index("people over the threshold")].startswith(f"{over['mean'][0]:g}")


def test_an_intruder_who_is_refused_for_a_plan_is_compared_without_it() -> None:
    """The bold one is refused where risk is low, so that a mean over what is left would be the larger one."""
    gone = pl.when((pl.col("intruder") == "bold") & (pl.col("plan") != "swap [rate=0.3]")
                   & (pl.col("plan") != "release everything")).then(None)  # fmt: skip
    more = pl.when((pl.col("intruder") == "careful") & (pl.col("plan") == "swap [rate=0.3]"))
    risk = pl.col("expected_matches")
    lost = made().frame.with_columns(expected_matches=gone.otherwise(more.then(risk + 50).otherwise(risk)))
    view = View.of(replace(made(), frame=lost, rule=None))
    means = lost.filter(pl.col("plan") != "release everything").group_by("intruder").agg(risk.mean())
    assert means.sort("expected_matches")["intruder"][-1] == "bold"
    assert view.worst == "careful"
    assert View.of(replace(made(), rule=None, frame=made().frame.with_columns(
        expected_matches=pl.when(pl.col("plan") != "release everything").then(None).otherwise(risk)))).worst  # fmt: skip


def test_without_a_choice_the_rule_of_the_study_chooses() -> None:
    chosen = made().choose()
    view = View.of(made())
    assert view.chosen == chosen.plan
    words = page_words(view)
    assert words["verdict"].lead == f"Yes, within the stated limits: as “{chosen.plan}”."
    assert words["rule"] == [
        "Expected right matches at most 100 (42%), for the worst intruder.",
        "Of the plans that keep this, the one with the best distance of distributions (Hellinger).",
        "Stated before the results were seen.", worded(chosen.reason)]  # fmt: skip
    assert View.of(made(), choice="ages").chosen == "ages"
    assert View.of(replace(made(), rule=None)).chosen is None


def test_a_rule_that_no_plan_keeps() -> None:
    inside, outside = (page_words(View.of(made(2.0), o)) for o in (False, True))
    with pytest.raises(cf.InputError) as refused:
        made(2.0).choose()
    nearest = str(refused.value).split('"')[1]
    assert inside["verdict"].lead == f"No: no plan stays within the stated limits. “{nearest}” comes nearest."
    assert "What it lacks: expected right matches is" in inside["verdict"].rest[-1]
    assert inside["numbers"][1].beyond
    assert nearest in inside["numbers"][1].name
    assert worded(str(refused.value)) in inside["rule"]
    words = "No: no plan is within the limits that were set beforehand, so none is chosen."
    assert outside["verdict"].lead == words
    assert outside["verdict"].rest == ()
    assert outside["chosen"] is None
    told = str((outside["verdict"], outside["numbers"], outside["rule"]))
    assert not re.search(r"(?<![\d.,])2(?![\d.,])", told)
    assert "at most" not in told


def test_charts_of_groups_leave_out_twins_of_the_anchor() -> None:
    """Of ten plans six are drawn: none that comes out as the anchor does while there are others."""
    known = result()
    twins, more = ["twin 1", "twin 2"], ["more 1", "more 2"]

    def copied(table: pl.DataFrame, of: str, name: str) -> pl.DataFrame:
        rows = table.filter(pl.col("plan") == of)
        return rows.with_columns(plan=pl.lit(name), **({"sweep": pl.lit(None, pl.String)} if "sweep" in rows else {}))

    pairs = [*((t, "release everything") for t in twins), *((m, "swap [rate=0.5]") for m in more)]
    tables: dict[str, Any] = {
        k: pl.concat([(t := getattr(known, k)), *(copied(t, of, name) for name, of in pairs)])
        for k in ("frame", "groups", "distribution")
    }
    plans = {**known.plans, **{name: known.plans["broad ages"] for name, _ in pairs}}
    view = View.of(replace(known, **tables, plans=plans))
    assert len(view.plans) == 10
    figures = group_drawings(view)
    assert figures
    for f in figures:
        assert f.table is not None
        drawn = list(f.table.header[2:])
        assert len(drawn) == 6
        assert drawn[0] == "release everything"
        assert not set(twins) & set(drawn)
        assert set(more) <= set(drawn)


@pytest.mark.slow
def test_the_document_gives_the_same_study_and_the_same_numbers(tmp_path: Path) -> None:
    many = replace(made(), copies={"swap": 2, "ages": 3})
    text, lost = study_document(many)
    assert lost == []
    assert json.loads(text)["choice"] == {"max_risk": {"expected_matches": 100.0}, "by": "hellinger"}
    frame().write_parquet(tmp_path / "file.parquet")
    file = tmp_path / "study.json"
    file.write_text(text.replace("file.csv", "file.parquet"), encoding="utf-8")
    again = cf.Study.load(file)
    assert {c.name: c.plan.to_dict() for c in again.candidates} == {k: p.to_dict() for k, p in many.plans.items()}
    assert again.measures == many.measures
    assert again.choice == many.rule
    assert again.copies == {"swap [rate=0.3]": 2, "swap [rate=0.9]": 2, "ages": 3}
    assert [again.copies_of(c) for c in again.candidates] == [2, 2, 3]
    synthesis = cf.Sweep(lambda given: cf.Plan([cf.NormalSynthesis("income", given=given)], **OUT), given=[["age"]])
    study = replace(stated(), plans={**stated().plans, "synthetic": synthesis}, copies={"synthetic": 2})
    first = study.run(progress=False)
    file.write_text(study_document(first)[0].replace("file.csv", "file.parquet"), encoding="utf-8")
    second = cf.Study.load(file).run(progress=False)
    of_sweeps = ("sweep", "setting", "value")
    assert_frame_equal(second.frame.drop(of_sweeps), first.frame.drop(of_sweeps))
    assert second.choose().plan == first.choose().plan
    single = replace(study, copies={}).run(progress=False)
    assert not single.frame.equals(first.frame)


@pytest.mark.skipif(os.name != "posix", reason="rights of files are the system's own")
def test_the_internal_report_is_for_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "report_html", lambda *_: "page")
    monkeypatch.setattr(page, "figure_sections", lambda _: [])
    monkeypatch.setattr(page, "_every", lambda *_: [])
    (tmp_path / "other").write_text("as the system gives")
    usual = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    inside = write_report(made(), tmp_path / "inside.html")
    outside = write_report(made(), tmp_path / "outside.html", outside=True)
    assert stat.S_IMODE(inside.stat().st_mode) == 0o600
    assert stat.S_IMODE(outside.stat().st_mode) == usual != 0o600
    inner, outer = save_report_folder(made(), tmp_path / "study")
    assert stat.S_IMODE(inner.stat().st_mode) == 0o600
    assert stat.S_IMODE(outer.stat().st_mode) == usual
