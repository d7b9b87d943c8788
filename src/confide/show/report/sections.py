"""The sections of a report, in the order in which a review board reads: words, tables and figures as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.show.report.document import study_document
from confide.show.report.figures import Figure, Table, map_figures, sweep_figures, unlike, utility_figures
from confide.show.report.people_figures import distribution_figure, group_figures, theory_figures
from confide.show.report.treatment import FEWEST_INSIDE, WITHHELD
from confide.show.report.view import RISK_WORDS, View
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
    """A part of the page with its figures; `closed` ones open on demand."""

    anchor: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...]
    closed: bool = False
    table: Table | None = None
    table_name: str = ""


def page_words(view: View) -> dict[str, Any]:
    """Everything on the page but its figures."""
    title = view.result.info.title or "Risk and utility of candidate releases"
    return {
        "title": title, "kind": OUTSIDE.format(view.treat.base) if view.outside else INSIDE,
        "answer": list(_answer(view)), "compared": _compared(view), "plans": list(_plans(view)), "chosen": view.chosen,
        "intruders": [(name, intruder_words(who, view.outside)) for name, who in view.result.intruders.items()],
        "terms": list(_terms(view)), "measures": _measures(view), "table": _table(view),
        "table_words": _table_words(view), "choice": list(_choice(view)), "choice_table": _choice_table(view),
        **_again(view),
    }  # fmt: skip


def figure_sections(view: View) -> list[Section]:
    """The sections with figures; those that would have none are left out."""
    who = f"the intruder {view.worst}" if view.worst else "the intruders"
    people = distribution_figure(view)
    risk = "Every point is a plan. A plan on the frontier is one that no other plan beats in both risk and utility."
    theory = (
        "Duncan and Keller-McNulty (2000) give risk and utility of simple releases in closed form. The curves hold no "
        "data of this study; they show what the methods used here do in principle."
    )
    sections = [
        Section("map", "Risk against utility", (risk,), tuple(map_figures(view))),
        Section("sweeps", "What the parameters do", (), tuple(sweep_figures(view))),
        Section("sure", "How sure an intruder can be", (), (people,) if people else ()),
        Section("who", "Who is at risk", (f"Groups of people by what {who} knows.",), tuple(group_figures(view))),
        Section("utility", "What analysts lose", (), tuple(utility_figures(view)), table=_remarks(view),
                table_name="Remarks of the measures"),
        Section("theory", "What theory says", (theory,), tuple(theory_figures(view)), closed=True),
    ]  # fmt: skip
    names = iter(unlike([f for s in sections for f in s.figures]))
    named = [Section(s.anchor, s.title, s.words, tuple(next(names) for _ in s.figures), s.closed, s.table,
                     s.table_name) for s in sections]  # fmt: skip
    return [s for s in named if s.figures]


def _answer(view: View) -> Iterator[str]:
    others = [p for p in view.plans if p != EVERYTHING]
    if view.chosen is not None:
        yield f"Chosen: {view.chosen}."
        yield from _reason(view)
        return
    yield from _nobody(view)
    for m in view.result.measures:
        on = [p for p in others if m.name in view.frontier[p]]
        risks = sorted(on, key=lambda p: view.number(p, view.risk, view.worst_of(p))["mean"] or 0.0)
        ends = f", from {risks[0]} (least risk) to {risks[-1]}" if len(risks) > 1 else "".join(f": {p}" for p in risks)
        yield f"By {m.name}: {len(on)} of {len(others)} plans are beaten by no other in both risk and utility{ends}."
    if not view.nobody:
        yield "No plan has been chosen."


def _nobody(view: View) -> Iterator[str]:
    """That a rule was stated and no plan keeps it; outside without numbers."""
    rule = view.result.rule
    if not view.nobody or rule is None:
        return
    if view.outside:
        yield "No plan is within the limits on risk that were set beforehand, so none is chosen."
        return
    limits = " and ".join(
        f"{RISK_WORDS.get(r, r)} at most {v if isinstance(v, str) else number(v)}" for r, v in rule.max_risk.items()
    )
    yield f"The rule stated beforehand: {limits}. {view.nobody} None is chosen."


def _reason(view: View) -> Iterator[str]:
    """Why a plan was chosen: the reason given, or, outside, its numbers as they may be shown."""
    plan, reason = str(view.chosen), getattr(view.choice, "reason", "")
    if reason and not view.outside:
        yield reason
        return
    by = getattr(view.choice, "by", None)
    if by is not None:
        limited = " and ".join(RISK_WORDS.get(r, r.replace("_", " ")) for r in view.choice.limits)
        if view.withheld_words(by, view.plans):  # the order of figures tells of those that are withheld
            yield f"It was chosen by limits that were set on {limited}, and by {by}."
        else:
            yield f"Of the plans within the limits that were set on {limited}, it is the one with the best {by}."
    risk = view.number_text(plan, view.risk, view.worst_of(plan) or "")
    values = [f"{m.name} {view.number_text(plan, m.name)}" for m in view.result.measures]
    yield f"Against the worst intruder: {RISK_WORDS[view.risk]}, {risk}. Utility: {'; '.join(values)}."


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
    threshold = view.result.info.threshold
    yield "Target", "A person whom an intruder looks for; every person whose record is released is taken in turn."
    yield (
        "Expected right matches",
        "How many targets an intruder would find on average who always picks the likeliest record, or one of the "
        "likeliest at random. Lower is safer; it reaches from 0 to the number of targets.",
    )
    yield (
        "Over the threshold",
        f"Targets for whom the intruder gives some record a probability above {threshold:g}, rightly or wrongly. Lower "
        "is safer.",
    )
    yield (
        "Unique right matches",
        "Targets whose single likeliest record is their own: what an intruder would claim, and be right. Lower is "
        "safer.",
    )
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
        f"The frontier is that of {RISK_WORDS[view.risk]} against each utility."
    )


def _table(view: View) -> Table:
    risks = [r for r in RISK_WORDS if r != "claimed_matches" or r == view.risk]
    header = ["plan", "worst intruder", *(RISK_WORDS[r] for r in risks)]
    header += [f"{m.name} ({m.direction} is better)" for m in view.result.measures] + ["on the frontier"]
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
    return "yes" if len(on) == len(view.result.measures) else f"for {', '.join(on)}"


def _remarks(view: View) -> Table | None:
    """What measures remark, and why a number is missing; it may count records, so it stays inside."""
    rows = (
        view.result.details.filter(pl.col("detail") != "")
        .with_columns(pl.col("detail").str.replace_all("\n", " "))
        .rows()
    )
    return None if view.outside or not rows else Table(["plan", "measure", "remark"], rows)


def _choice(view: View) -> Iterator[str]:
    if view.chosen is None and view.nobody:
        yield from _nobody(view)
        return
    if view.chosen is None:
        yield "No plan has been chosen in this report. The plans on the frontier are the ones to choose from."
        return
    yield f"Chosen: {view.chosen}."
    yield from _reason(view)
    if not view.outside and getattr(view.choice, "limits", None):
        limits = [f"{RISK_WORDS.get(r, r)} at most {number(v)}" for r, v in view.choice.limits.items()]
        yield f"Limits: {'; '.join(limits)}."


def _choice_table(view: View) -> Table | None:
    frame = getattr(view.choice, "table", None)
    if view.outside or frame is None:
        return None
    rows = [[_cell(v) for v in row] for row in frame.rows()]
    return Table([c.replace("_", " ") for c in frame.columns], rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
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
