"""What was compared and how: plans, intruders, terms, every plan's numbers, and how to do it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from confide.show.names import both, capital, said
from confide.show.report.document import study_document
from confide.show.report.figures import Table
from confide.show.report.file_risks import file_risk_terms
from confide.show.report.learnt import learnt_terms
from confide.show.report.treatment import FEWEST_INSIDE, WITHHELD
from confide.show.report.view import View
from confide.show.report.words import columns_of, measure_words, plan_words
from confide.study.outside import Published
from confide.study.statement.checks import EVERYTHING

AUDITED = (
    "This version is audited so that no number, together with the released file, tells about "
    "fewer than {0} people: counts are rounded to {0}, those below {0} are not stated, small groups are not named. A "
    "measure of utility is rounded until fewer than {0} people cannot move its last digit, and withheld where fewer "
    "than {0} people differ or carry half of the loss. “Near” a value means that no difference is left after rounding."
)


def compared(view: View) -> list[str]:
    """How many plans, intruders and measures, on what; outside, what was done to the numbers."""
    audited = [AUDITED.format(view.treat.base)] if view.outside else []
    return [_many(view), *audited]


def _many(view: View) -> str:
    info, t = view.result.info, view.treat
    many = f"{len(view.plans) - 1} plans, {len(view.result.intruders)} intruders, {len(view.result.measures)} measures"
    file = f" ({info.label})" if info.label and not view.outside else ""
    repeats = f"A plan with random steps was carried out {info.repeats} times" if info.repeats > 1 else (
        "Each plan was carried out once"
    )  # fmt: skip
    return (
        f"{many} of utility, on a file of {t.people(float(info.rows))} records and {info.variables} variables{file}. "
        f"{repeats}, and each release was attacked by every intruder{_levels(view)}. "
        f"“{EVERYTHING}” stands for the file without "
        "identifiers and otherwise unaltered."
    )


def _levels(view: View) -> str:
    """That intruders were tried at several levels, where another one than that which is stated below was booked."""
    frame = view.result.frame
    booked = frame["level"].drop_nulls().unique(maintain_order=True).to_list() if "level" in frame.columns else []
    if len(booked) < 2:
        return ""
    said = ", at each level that could find more; its numbers are those of the level that is right most often"
    return f"{said} ({', '.join(booked)})"


def plans_said(view: View) -> Iterator[dict[str, Any]]:
    """Every plan in words; a sweep once, with the settings it goes through."""
    result = view.result
    columns = columns_of(list(result.plans.values()), list(result.intruders.values()))
    done: set[str] = set()
    for name, plan in result.plans.items():
        sweep = view.of_plan.get(name, (None, ""))[0]
        if sweep in done:
            continue
        said = plan_words(plan, view.outside, columns, _quoted(view, view.sweeps.get(sweep or "", [name])))
        if sweep is None:
            yield {"name": name, "many": "", "varies": "", **said}
            continue
        done.add(sweep)
        settings = [view.of_plan[p][1] for p in view.sweeps[sweep]]
        varies = f"Shown for {settings[0]}; evaluated for {', '.join(settings)}."
        yield {"name": sweep, "many": f"{len(settings)} settings", "varies": varies, **said}


def _quoted(view: View, plans: list[str]) -> frozenset[tuple[int, str]]:
    """Fields of steps that name what few people have, in any of some plans; inside nothing is hidden."""
    if not isinstance(view.result, Published):
        return frozenset()
    return frozenset().union(*(view.result.quoted.get(p, frozenset()) for p in plans))


def terms(view: View) -> Iterator[tuple[str, str]]:
    """What the numbers mean, with the names that scripts give them."""
    threshold = view.result.info.threshold
    yield "Target", "A person whom an intruder looks for; every person whose record is released is taken in turn."
    told = {
        "found": "How many targets an intruder would find on average who always picks the likeliest record, or one of "
        "the likeliest at random. Where all targets are released and the intruder does not know it, each counts by "
        "the probability that the target is in the file at all. Lower is safer; it reaches from 0 to the number of "
        "targets.",
        "expected_matches": "The same without that weight: as if the intruder knew that every target is in the file.",
        "over_threshold": f"Targets for whom the intruder gives some record a probability above {threshold:g}, rightly "
        "or wrongly. Lower is safer.",
        "wrong": "Of the targets over the threshold, how many are not found by an intruder who declares all of them.",
        "unique_matches": "Targets whose single likeliest record is their own: what an intruder would claim, and be "
        "right. Lower is safer.",
    }
    yield from ((capital(both(r)), words) for r, words in told.items() if r in view.result.frame)
    yield from learnt_terms(view)
    yield from file_risk_terms(view)
    yield (
        "Interval over repeats",
        f"Plans with random steps were carried out {view.result.info.repeats} times with other random numbers. A "
        "number is the mean over repeats; in brackets are the limits of its 95% interval (Student's t). A plan without "
        "random steps has one result and no interval.",
    )
    yield "Frontier", "The plans that no other plan beats: another one has more risk, or less utility, or both."


def measures_said(view: View) -> list[dict[str, str]]:
    """Every measure of utility in words."""
    result = view.result
    columns = columns_of(list(result.plans.values()), list(result.intruders.values()))
    return [measure_words(m, view.outside, columns) for m in result.measures]


def table_words(view: View) -> str:
    """How the table of all plans is read."""
    return (
        "One row per plan. Each risk is that of the intruder who is worst by it: the one named second, or the one "
        "named beside the number. Numbers are means over repeats, with 95% intervals in brackets. "
        f"The frontier is that of {said(view.risk)} against each utility."
    )


def plans_table(view: View) -> Table:
    """Every plan's risks by the intruder who is worst, its utility, and whether another plan beats it."""
    wanted = dict.fromkeys([view.risk, "found", "wrong", "over_threshold", "expected_matches", "unique_matches"])
    risks = [r for r in wanted if r in view.result.frame]
    header = ["plan", "worst intruder", *(said(r) for r in risks)]
    header += [f"{said(m.name)} ({m.direction} is better)" for m in view.result.measures] + ["on the frontier"]
    rows = []
    for p in view.plans:
        who = view.worst_of(p)
        numbers = [_of_worst(*view.worst_risk(p, r), who) for r in risks]
        utility = [view.number_text(p, m.name) for m in view.result.measures]
        rows.append([p, who or "unknown", *numbers, *utility, _on_frontier(view, p)])
    return Table(header, rows)


def _of_worst(worst: str | None, text: str, leading: str | None) -> str:
    return text if worst in (None, leading) else f"{text} by {worst}"


def _on_frontier(view: View, plan: str) -> str:
    on = view.frontier[plan]
    gone = [m.name for m in view.result.measures if view.said(plan, m.name) == WITHHELD]
    if not on:
        return WITHHELD if gone else "no"
    return "yes" if len(on) == len(view.result.measures) else f"for {', '.join(map(said, on))}"


def remarks_table(view: View) -> Table | None:
    """What measures remark, and why a number is missing; it may count records, so it stays inside."""
    told = view.result.details.filter(pl.col("detail") != "")
    rows = [[plan, said(m), text.replace("\n", " ")] for plan, m, text in told.rows()]
    return None if view.outside or not rows else Table(["plan", "measure", "remark"], rows)


def again(view: View) -> dict[str, Any]:
    """How to reproduce the study: outside the methods only, inside the seed and a document."""
    info = view.result.info
    if view.outside:
        methods = sorted({s.method.replace("_", " ") for p in view.result.plans.values() for s in p.parts})
        named = f"Methods that the plans use: {', '.join(methods) or 'none'}. The random numbers are not published."
        return {"again": [named], "document": "", "footer": "Made with confide."}
    document, lost = study_document(view.result)
    work = float(view.result.timings.select("protect", "attack", "utility").sum_horizontal().sum())
    said = [
        f"Seed of the study: {info.seed}. Version of confide: {info.version}. Protecting, attacking and measuring took "
        f"{work:,.0f} seconds of one core or more.",
        "The document below states the study; save it as a .json file, let “data” name the file, and run it with "
        "confide.Study.load. It holds the seed: whoever has it and the original data can make every release again.",
    ]
    if lost:
        said.append(f"A document has no place for: {', '.join(lost)}. State them in a script.")
    footer = f"Made with confide {info.version}. Groups of fewer than {FEWEST_INSIDE} people are not named."
    return {"again": said, "document": document, "footer": footer}
