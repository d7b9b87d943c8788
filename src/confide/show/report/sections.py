"""The sections of a report, in the order in which a review board reads: words, tables and figures as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from confide.show.names import capital, said
from confide.show.report.analyst_groups import analyst_groups, analyst_words
from confide.show.report.analysts import before_and_after, kept_table
from confide.show.report.believed import believed_drawing, believed_table, believed_words
from confide.show.report.decided import choice_table, rule_words
from confide.show.report.figures import Drawing, Figure, Table, slug, sweep_figures, unlike, utility_figures
from confide.show.report.file_risks import file_risk_table, file_risk_words
from confide.show.report.learnt import learnt_drawings, learnt_table, learnt_words
from confide.show.report.maps import map_drawings
from confide.show.report.methods import (
    again,
    compared,
    measures_said,
    plans_said,
    plans_table,
    remarks_table,
    table_words,
    terms,
)  # fmt: skip
from confide.show.report.people_figures import MANY_TIMES, distribution_figure, group_drawings, theory_figures
from confide.show.report.verdict import numbers, verdict
from confide.show.report.view import View
from confide.show.report.words import intruder_words
from confide.study.statement.checks import EVERYTHING

INSIDE = "Internal version: exact counts of people. Not for release."
OUTSIDE = "Version for people outside the agency: counts are rounded to {0}, small groups are not named."


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
        "verdict": verdict(view), "numbers": numbers(view), "compared": compared(view), "plans": list(plans_said(view)),
        "chosen": view.chosen, "focus": view.focus, "kept": kept_table(view),
        "intruders": [(name, intruder_words(who, view.outside)) for name, who in view.result.intruders.items()],
        "terms": list(terms(view)), "measures": measures_said(view), "table": plans_table(view),
        "table_words": table_words(view), "rule": list(rule_words(view)), "choice_table": choice_table(view),
        "believed": believed_words(view), "believed_table": believed_table(view), **again(view),
        "file_words": file_risk_words(view), "file_table": file_risk_table(view),
    }  # fmt: skip


def board_sections(view: View) -> dict[str, Any]:
    """The drawings of the first screens: the maps of the measure that decides, people, analysts, calibration."""
    by, drawn = view.deciding, believed_drawing(view)
    return {
        "maps": map_drawings(view, by) if by else [], "map_words": _map_words(view),
        "people": unlike(group_drawings(view)), "people_words": _people_words(view),
        "learnt": unlike(learnt_drawings(view)), "learnt_words": learnt_words(view), "learnt_table": learnt_table(view),
        "losses": unlike(analyst_groups(view)), "losses_words": analyst_words(view),
        "shares": before_and_after(view), "calibration": [drawn] if drawn else [],
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
        Section("utility", "Utility of every plan", (), tuple(utility_figures(view)), table=remarks_table(view),
                table_name="Remarks of the measures"),
        Section("theory", "What theory says", (theory,), tuple(theory_figures(view)), closed=True),
    ]  # fmt: skip
    taken = [f"map-{slug(view.deciding or '')}"]
    named = iter(unlike([f for s in sections for f in (*s.figures, *s.drawings)], taken))
    out = [replace(s, figures=tuple(next(named) for _ in s.figures), drawings=tuple(next(named) for _ in s.drawings))
           for s in sections]  # fmt: skip
    return [s for s in out if s.figures or s.drawings]


def _map_words(view: View) -> str:
    drawn, base = view.asked.limit(view.risk, view.people) is not None, view.treat.base
    parts = ["Every point is a plan; bars are 95% intervals over repeats. To the left is safer, higher is more useful."]
    parts += ["What lies in the shaded part is beyond the limit."] * drawn
    parts.append(f"“{EVERYTHING.capitalize()}” is the file as it is.")
    parts.append("Risk is that of the intruder who is worst for each plan.")
    parts += [view.of_whom] * bool(view.of_whom)
    parts += [f"Numbers of people below {base} are drawn at {base / 2:g}."] * view.outside
    return " ".join(parts)


def _people_words(view: View) -> str:
    who = view.worst_of(view.focus) or view.worst or "unknown"
    found, whole = view.number(view.focus, view.risk, who)["mean"], view.targets(view.focus)
    share = "" if found is None or not whole else f", of all people {view.treat.share_text(found, whole)}"
    t = view.treat
    parts = [f"The share of each group that the intruder {who} finds with “{view.focus}”{share}."]
    parts.append(f"Pale: in the file as it is. Blue: more than {MANY_TIMES:g} times the share of all people.")
    parts.append(f"Groups of fewer than {t.fewest} people are {'left out or ' * t.outside}taken together.")
    parts += [f"Where fewer than {t.base} are found, the bar stands at {t.base / 2:g}."] * t.outside
    return " ".join(parts)
