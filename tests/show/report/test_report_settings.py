"""What a report says of settings: none of them outside that may name people; of functions and own measures, little."""

from __future__ import annotations

import functools
import html
import json
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.charts.svg import Picture
from confide.show.report.figures import Drawing
from confide.show.report.page import _every, report_html
from confide.show.report.renamed import without_settings
from confide.show.report.sections import figure_sections, page_words
from confide.show.report.view import View
from confide.show.report.words import measure_words, plan_words
from confide.study.result import StudyResult
from tests.helpers.planted import ALONE, FIVE, frame

OUT = {"identifiers": ["person"], "drop": ["pay_code"]}
ROWS = [[0, 5], [17, 123]]


@dataclass(frozen=True)
class Chosen:
    """A measure of one's own."""

    rows: tuple[int, ...] = ()
    secret: float = field(default=0.0, metadata={"private": True})
    name = "chosen"
    direction = "lower"
    range = (0.0, 1.0)
    best = 0.0

    def __call__(self, original: Any, released: Any, *, weight: Any = None, link: Any = None) -> float:  # noqa: ARG002
        return 0.0


def run(plans: dict[str, Any], utility: Any = "hellinger", **more: Any) -> StudyResult:
    who = {"neighbour": cf.Intruder(knows=["town", "sex"])}
    return cf.Study(frame(), plans, who, [utility], repeats=1, seed=5, **more).run(progress=False)


@functools.cache
def swept() -> StudyResult:
    """Sweeps over row positions, labels and texts, over a private number, and over numbers."""
    plans = {
        "forced": cf.Sweep(lambda force: cf.Plan([cf.Swap("town", rate=0.1, force=force)], **OUT), force=ROWS),
        "merged": cf.Sweep(lambda to: cf.Plan([cf.Recode("town", mapping=to)], **OUT),
                           to=[{ALONE: "Northbridge"}, {FIVE: "Northbridge"}]),
        "hidden": cf.Sweep(lambda row: cf.Plan([cf.Swap("town", rate=0.1, force=[row])], **OUT), row=[131, 173]),
        "swap": cf.Sweep(lambda rate: cf.Plan([cf.Swap("town", rate=rate)], **OUT), rate=[0.1, 0.3]),
        "zeros": cf.Sweep(lambda keep: cf.Plan([cf.Noise("income", sd=9.0, keep_zeros=keep)], **OUT), keep=[True, False]),
    }  # fmt: skip
    return run(plans)


def said(view: View) -> str:
    """All that a page would hold but its pictures."""
    out = [str(page_words(view))]
    for f in _every(view, figure_sections(view)):
        drawn = [c.inline() if isinstance(c, Picture) else json.dumps(c.to_dict(validate=False), ensure_ascii=False)
                 for c in (f.wide, f.narrow)]  # fmt: skip
        out += [f.name, f.title, f.caption, str(f.table), *drawn, *([] if isinstance(f, Drawing) else [f.alt])]
    return html.unescape("\n".join(out))


@pytest.mark.slow
def test_outside_settings_that_are_no_numbers_are_numbered() -> None:
    chosen = "forced [force=[17, 123]]"
    text = said(View.of(swept(), True, chosen))
    for secret in ("[0, 5]", "[17, 123]", "17, 123", "force=", ALONE, FIVE, "mapping=", "to=", "row=", "131, 173"):
        assert secret not in text, secret
    for name in ("forced, setting 1", "forced, setting 2", "merged, setting 1", "hidden, setting 2"):
        assert name in text
    assert "Shown for setting 1; evaluated for setting 1, setting 2." in text
    assert "swap [rate=0.3]" in text
    assert "zeros [keep=True]" in text
    assert "Chosen: “forced, setting 2”." in text
    assert "Map of" in text


def test_inside_settings_are_as_they_were_stated() -> None:
    view = View.of(swept(), False, "forced [force=[17, 123]]")
    assert view.plans == list(dict.fromkeys(swept().frame["plan"]))
    assert "evaluated for force=[0, 5], force=[17, 123]" in str(page_words(view))


def test_a_choice_of_the_study_is_renamed_too() -> None:
    result = swept()
    choice = result.choose({"expected_matches": 1e9}, by="hellinger")
    renamed = View.of(result, True, choice)
    _, names = without_settings(result)
    assert renamed.chosen == names.get(choice.plan, choice.plan)
    assert renamed.chosen in renamed.plans
    with pytest.raises(cf.InputError, match="choice names no plan"):
        View.of(result, True, "forced, setting 2")


def test_every_table_has_the_new_names_and_no_values() -> None:
    other, names = without_settings(swept())
    assert len(names) == 6
    for table in (other.frame, other.distribution, other.groups, other.timings):
        assert not set(names) & set(table["plan"])
        assert set(names.values()) <= set(table["plan"])
    hidden = other.frame.filter(pl.col("plan").is_in(list(names.values())))
    assert hidden["value"].null_count() == hidden.height
    assert set(hidden["setting"]) == {"setting 1", "setting 2"}
    assert other.frame.drop("plan", "setting", "value").equals(swept().frame.drop("plan", "setting", "value"))
    assert list(other.plans)[-1] == "zeros [keep=False]"


def test_new_names_meet_no_plan_that_is_there() -> None:
    plans = {
        "a": cf.Sweep(lambda on: cf.Plan([cf.Recode(on, width=20)], **OUT), on=["age"]),
        "a, setting 1": cf.Plan([cf.Topcode("age", at=80)], **OUT),
    }
    other, names = without_settings(run(plans))
    assert names == {"a [on=age]": "a, setting 1'"}
    assert other.frame["plan"].n_unique() == 3


@pytest.mark.parametrize("label", ["17", "True"])
def test_a_category_that_looks_like_a_number_is_not_told(label: str) -> None:
    data = frame().with_columns(code=pl.Series([label if i < 2 else "b" for i in range(240)]))
    sweep = cf.Sweep(lambda rare: cf.Plan([cf.Recode("code", mapping={rare: "b"})], **OUT), rare=[label])
    who = {"neighbour": cf.Intruder(knows=["sex"])}
    result = cf.Study(data, {"rare": sweep}, who, ["hellinger"], repeats=1, seed=1).run(progress=False)
    assert View.of(result, True).plans[1] == "rare, setting 1"


def test_outside_says_nothing_of_the_settings_of_ones_own_measure() -> None:
    measure = Chosen(rows=(17, 321), secret=77.5)
    outside, inside = (measure_words(measure, o, frozenset()) for o in (True, False))
    assert outside["settings"] == ""
    assert inside["settings"] == "rows 17, 321"
    assert measure_words(cf.Means(["age"]), True, frozenset({"age"}))["settings"] == "variables age"


def test_a_step_with_a_function_is_stated_in_a_script() -> None:
    plan = cf.Plan([cf.MatrixMask("income", C=lambda x, rng: rng.normal(size=x.shape))], **OUT)
    for outside in (True, False):
        step = plan_words(plan, outside, frozenset())["steps"][0]
        assert step["sentence"].startswith("income: release M = A X B + C")
        assert step["parameters"] == [("stated", "in a script")]
    who = {"naive": cf.Intruder.at("naive", knows=["sex"])}
    result = cf.Study(frame(), {"mask": plan}, who, ["hellinger"], repeats=1, seed=1).run(progress=False)
    page = report_html(View.of(result), [])
    assert "stated in a script" in page
    assert "A document has no place for: plan &#34;mask&#34;" in page
