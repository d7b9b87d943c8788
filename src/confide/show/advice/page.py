"""The page "why these" as one HTML file: it has no script, asks no network and holds no record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.version import __version__
from confide.core.visible import visible
from confide.frames import atomic_write
from confide.show.advice.sections import sections
from confide.show.advice.view import AdviceView, span
from confide.show.advice.words import answer, confirm, sure
from confide.show.names import said
from confide.show.report.page import MARKS
from confide.show.still_pages import parts_of, style_of, template
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import amount, number
from confide.study.tradeoff.risk_names import is_share

if TYPE_CHECKING:
    from confide.study.advise.result import Advice

KIND = "Internal: exact counts, the seed of the search. Not for release. No record is shown."
REPORT = "report.html"
"""The report for a board, where it lies beside the page."""
PALE = '<circle cx="7" cy="7" r="2.8" class="f-bar"/>'


def write_advice(advice: Advice, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write the page, for its owner alone; it links to the report for a board where that lies beside it."""
    beside = (Path(path).expanduser().parent / REPORT).is_file()
    with atomic_write(path, overwrite, private=True) as temporary:
        temporary.write_text(advice_html(advice, REPORT if beside else ""), encoding="utf-8", newline="\n")
    return Path(path)


def advice_html(advice: Advice, report: str = "") -> str:
    """The page as text; `report`: the file of the report for a board beside it."""
    from markupsafe import Markup

    view = AdviceView(advice)
    parts = parts_of(sections(view))
    told = [visible(s) for s in answer(view)[:-1]]  # what is kept stands below, in large numbers
    info = advice.study.info
    size = f"{info.rows:,} rows, {info.variables:,} variables; {view.tried:,} candidates"
    return template("advice", "why.html.j2").render(
        title="Why these: what was tried, and what is advised", kind=KIND, sections=parts,
        style=style_of("look/look.css", "advice/advice.css"),
        marks={k: Markup(v) for k, v in (MARKS | {"pale": PALE}).items()}, answer=told, good=advice.plan is not None,
        sure=sure(view), numbers=_numbers(view), confirm=confirm(view), report=report,
        size=f"{size}, {span(advice.seconds)}",
        contents=[(s["anchor"], s["title"]) for s in parts],
        made=f"Made by confide {__version__} from the file alone; nothing was sent anywhere.",
    )  # fmt: skip


def _numbers(view: AdviceView) -> list[dict[str, Any]]:
    """The large numbers: who is found, what is kept, how close the second came."""
    plan = view.best
    if plan is None:
        return []
    row, before = view.risk_row(plan), view.risk_row(EVERYTHING)
    out = []
    if row.get("mean") is not None:
        value, unit = _large(view.risk, row["mean"])
        more = view.beside(view.risk, row["mean"], view.targets(plan))
        start = "" if before.get("mean") is None else f" As it is: {amount(view.risk, before['mean'])}."
        words = f"{more + ', ' if more else ''}by the strongest intruder. Limit: {view.limit_words()}.{start}"
        out.append({"value": value, "unit": unit, "name": said(view.risk), "words": words})
    for m in view.measures[:2]:
        kept = view.kept_row(plan, m.name)
        if kept.get("mean") is not None:
            words = f"{m.direction} is better; {number(float(m.best))} is the file as it is."
            out.append({"value": number(kept["mean"]), "unit": "", "name": said(m.name), "words": words})
    return out


def _large(risk: str, value: float) -> tuple[str, str]:
    return (f"{100 * value:.3g}", "%") if is_share(risk) else (number(value), "")
