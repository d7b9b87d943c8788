"""The sections of a report, in the order in which a review board reads: words, tables and figures as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from confide.show.charts.board_charts import percent
from confide.show.names import RISK_WORDS, both, capital, said
from confide.show.report.analysts import before_and_after, kept_table
from confide.show.report.believed import believed_drawing, believed_table, believed_words
from confide.show.report.document import study_document
from confide.show.report.figures import Drawing, Figure, Table, sweep_figures, unlike, utility_figures
from confide.show.report.maps import map_drawings
from confide.show.report.people_figures import MANY_TIMES, distribution_figure, group_drawings, theory_figures
from confide.show.report.treatment import FEWEST_INSIDE, WITHHELD
from confide.show.report.verdict import numbers, verdict, worded
from confide.show.report.view import View
from confide.show.report.words import columns_of, intruder_words, measure_words, plan_words
from confide.study.outside import Published
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import number

INSIDE = "Internal version: exact counts of people. Not for release."
OUTSIDE = (
    "Version for people outside the agency, audited so that no number, together with the released file, tells about "
    "fewer than {0} people: counts are rounded to {0}, those below {0} are not stated, small groups are not named. A "
    "measure of utility is rounded until fewer than {0} people cannot move its last digit, and withheld where fewer "
    "than {0} people differ or carry half of the loss. “Near” a value means that no difference is left after rounding."
)


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page with its figures and drawings; `closed` ones open on demand."""

    anchor: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...]
    closed: bool = False
    table: Table | None = None
    table_name: str = ""
    drawings: tuple[Drawing, ...] = ()


def page_words(view: View) -> dict[str, Any]:
    """Everything on the page but its figures and drawings."""
    info = view.result.info
    return {
        "title": info.title or "Risk and utility of candidate releases",
        "kind": OUTSIDE.format(view.treat.base) if view.outside else INSIDE,
        "size": f"{view.treat.people(float(info.rows))} people, {info.variables} variables",
        "verdict": verdict(view), "numbers": numbers(view), "compared": _compared(view), "plans": list(_plans(view)),
        "chosen": view.chosen, "focus": view.focus, "kept": kept_table(view),
        "intruders": [(name, intruder_words(who, view.outside)) for name, who in view.result.intruders.items()],
        "terms": list(_terms(view)), "measures": _measures(view), "table": _table(view),
        "table_words": _table_words(view), "rule": list(_rule(view)), "choice_table": _choice_table(view),
        "believed": believed_words(view), "believed_table": believed_table(view), **_again(view),
    }  # fmt: skip


def board_sections(view: View) -> dict[str, Any]:
    """The drawings of the first screens: the maps of the measure that decides, people, analysts, calibration."""
    by = view.deciding
    drawn = believed_drawing(view)
    return {
        "maps": map_drawings(view, by) if by else [], "map_words": _map_words(view), "people": group_drawings(view),
        "people_words": _people_words(view), "shares": before_and_after(view), "calibration": [drawn] if drawn else [],
    }  # fmt: skip


def figure_sections(view: View) -> list[Section]:
    """The further sections with figures; those that would have none are left out."""
    people = distribution_figure(view)
    theory = (
        "Duncan and Keller-McNulty (2000) give risk and utility of simple releases in closed form. The curves hold no "
        "data of this study; they show what the methods used here do in principle."
    )
    names = [m.name for m in view.result.measures if m.name != view.deciding]
    others = [replace(d, title=capital(said(m))) for m in names for d in map_drawings(view, m)[:1]]
    sections = [
        Section("maps", "Risk against the other measures", (), (), drawings=tuple(others)),
        Section("sweeps", "What the parameters do", (), tuple(sweep_figures(view))),
        Section("sure", "How sure an intruder can be", (), (people,) if people else ()),
        Section("utility", "Utility of every plan", (), tuple(utility_figures(view)), table=_remarks(view),
                table_name="Remarks of the measures"),
        Section("theory", "What theory says", (theory,), tuple(theory_figures(view)), closed=True),
    ]  # fmt: skip
    named = iter(unlike([f for s in sections for f in (*s.figures, *s.drawings)]))
    out = [replace(s, figures=tuple(next(named) for _ in s.figures), drawings=tuple(next(named) for _ in s.drawings))
           for s in sections]  # fmt: skip
    return [s for s in out if s.figures or s.drawings]


def _map_words(view: View) -> str:
    beyond = "" if view.asked.limit(view.risk, view.people) is None else " What lies in the shaded part is beyond the limit."
    few = f" Numbers of people below {view.treat.base} are drawn at {view.treat.base / 2:g}." if view.outside else ""
    return (
        "Every point is a plan; bars are 95% intervals over repeats. To the left is safer, higher is more useful."
        f"{beyond} The file as it is is “{EVERYTHING}”. Risk is that of the intruder who is worst for each plan.{few}"
    )


def _people_words(view: View) -> str:
    who = view.worst_of(view.focus) or view.worst or "unknown"
    found, whole = view.number(view.focus, view.risk, who)["mean"], view.targets(view.focus)
    share = "" if found is None or not whole else f", of all people {view.treat.share_text(found, whole)}"
    few = f" Where fewer than {view.treat.base} are found, the bar stands at {view.treat.base / 2:g}." if view.outside else ""
    return (
        f"The share of each group that the intruder {who} finds with “{view.focus}”{share}. Pale: in the file as it is. "
        f"Blue: more than {MANY_TIMES:g} times the share of all people.{few}"
    )


def _compared(view: View) -> str:
    info, t = view.result.info, view.treat
    many = f"{len(view.plans) - 1} plans, {len(view.result.intruders)} intruders, {len(view.result.measures)} measures"
    file = f" ({info.label})" if info.label and not view.outside else ""
    repeats = f"A plan with random steps was carried out {info.repeats} times" if info.repeats > 1 else (
        "Each plan was carried out once"
    )  # fmt: skip
    return (
        f"{many} of utility, on a file of {t.people(float(info.rows))} records and {info.variables} variables{file}. "
        f"{repeats}, and each release was attacked by every intruder. “{EVERYTHING}” stands for the file without "
        "identifiers and otherwise unaltered."
    )


def _plans(view: View) -> Iterator[dict[str, Any]]:
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


def _terms(view: View) -> Iterator[tuple[str, str]]:
    """What the numbers mean, with the names that scripts give them."""
    threshold = view.result.info.threshold
    yield "Target", "A person whom an intruder looks for; every person whose record is released is taken in turn."
    told = {
        "found": "How many targets an intruder would find on average who always picks the likeliest record, or one of "
        "the likeliest at random, and counts each by the probability that the target is in the file at all. Lower is "
        "safer; it reaches from 0 to the number of targets.",
        "expected_matches": "The same for an intruder who is certain that every target is in the file.",
        "over_threshold": f"Targets for whom the intruder gives some record a probability above {threshold:g}, rightly "
        "or wrongly. Lower is safer.",
        "wrong": "Of the targets over the threshold, how many are not found by an intruder who declares all of them.",
        "unique_matches": "Targets whose single likeliest record is their own: what an intruder would claim, and be "
        "right. Lower is safer.",
    }
    yield from ((capital(both(r)), words) for r, words in told.items() if r in view.result.frame)
    yield (
        "Interval over repeats",
        f"Plans with random steps were carried out {view.result.info.repeats} times with other random numbers. A "
        "number is the mean over repeats; in brackets are the limits of its 95% interval (Student's t). A plan without "
        "random steps has one result and no interval.",
    )
    yield "Frontier", "The plans that no other plan beats: another one has more risk, or less utility, or both."


def _measures(view: View) -> list[dict[str, str]]:
    result = view.result
    columns = columns_of(list(result.plans.values()), list(result.intruders.values()))
    return [measure_words(m, view.outside, columns) for m in result.measures]


def _table_words(view: View) -> str:
    return (
        "One row per plan. Each risk is that of the intruder who is worst by it: the one named second, or the one "
        "named beside the number. Numbers are means over repeats, with 95% intervals in brackets. "
        f"The frontier is that of {said(view.risk)} against each utility."
    )


def _table(view: View) -> Table:
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


def _remarks(view: View) -> Table | None:
    """What measures remark, and why a number is missing; it may count records, so it stays inside."""
    told = view.result.details.filter(pl.col("detail") != "")
    rows = [[plan, said(m), text.replace("\n", " ")] for plan, m, text in told.rows()]
    return None if view.outside or not rows else Table(["plan", "measure", "remark"], rows)


def _rule(view: View) -> Iterator[str]:
    """The rule as it was stated, and what came of it."""
    yield from view.asked.sentences(view.people)
    if view.nobody and not view.outside:
        yield worded(view.nobody)
    elif view.nobody:
        yield "No plan is within the limits, so none is chosen."
    elif view.chosen is None:
        yield "No plan has been chosen in this report. The plans on the frontier are the ones to choose from."
    elif not view.outside and getattr(view.choice, "reason", ""):
        yield worded(view.choice.reason)


def _choice_table(view: View) -> Table | None:
    frame = getattr(view.choice, "table", None)
    if view.outside or frame is None:
        return None
    rows = [[_cell(view, c, v) for c, v in zip(frame.columns, row, strict=True)] for row in frame.rows()]
    return Table([said(c).replace("_", " ") for c in frame.columns], rows)


def _cell(view: View, name: str, value: Any) -> str:
    if value is None:
        return ""
    if name.endswith("_share"):
        return percent(value)
    if name in RISK_WORDS and isinstance(value, float):
        return view.treat.rated(value, value, value, view.people)
    if name == "why_not":
        return worded(str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _again(view: View) -> dict[str, Any]:
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
