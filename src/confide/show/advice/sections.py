"""The sections of the page "why these": words, pictures and tables as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from confide.show.advice.drawings import candidates_map, families_picture
from confide.show.advice.tables import families, family_rows, finalists, plain_family, reached, untried
from confide.show.advice.view import AdviceView
from confide.show.advice.words import CANNOT_KNOW, RUNGS, cautions, confirm, cut, give_up, limit_line, runner_up, stated
from confide.show.charts.board_charts import Row, bars_picture
from confide.show.names import said
from confide.show.report.figures import Drawing, Table
from confide.study.tradeoff.question import amount, number

MOST_LISTED = 400
"""Candidates in the table of all; the others are in the file tried.csv."""

TERMS = (
    ("candidate", "A plan that was tried: one method or a mix of several, each at some strength."),
    ("family", "A way of protecting: one method, or leaving a variable out."),
    ("within the limit", "The strongest intruder finds no more than was asked for."),
    ("beaten", "Another candidate has less risk and more use, by more than draws vary."),
    ("fresh draws", "Random numbers that the search had not seen; what looks good by luck does not look good again."),
    ("budget", "How many releases the search may make and attack, or how long it may take."),
)

KEY = (
    ("dot", "compared to the end"), ("pale", "given up"), ("stairs", "best utility at each risk"),
    ("limit", "limit; shaded: beyond it"),
)  # fmt: skip
"""Marks of the map."""


@dataclass(frozen=True, eq=False)
class WhySection:
    """A part of the page; `points` are listed below its pictures and tables, `folded` tables open on a click."""

    anchor: str
    title: str
    words: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    folded: tuple[tuple[str, Table], ...] = ()
    points: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    code: str = ""
    chosen: str | None = None


def sections(view: AdviceView) -> list[WhySection]:
    """All sections, in the order in which somebody asks who must defend the choice."""
    made = [
        _give_up(view), _tried(view), _second(view), _families(view), _untried(view), _cut(view), _limits(view),
        WhySection("unknown", "What advice cannot know", points=CANNOT_KNOW), _asked(view), _again(view),
        WhySection("terms", "What the words mean", terms=TERMS),
    ]  # fmt: skip
    return [s for s in made if s is not None]


def _give_up(view: AdviceView) -> WhySection | None:
    said_ = give_up(view)
    return WhySection("give-up", "What would have to be given up", points=tuple(said_)) if said_ else None


def _tried(view: AdviceView) -> WhySection:
    drawn = view.plane
    live = sum(p.live for p in drawn.points)
    words = (
        "To the left is safer, higher is more useful. Each dot is a candidate; small ones were given up on the way, "
        "large ones were compared to the end. The line is the best utility at each risk; beyond the limit is shaded.",
    )
    alt = (
        f"{len(drawn.points):,} candidates, {said(view.risk)} to the right and {said(view.measure.name)} upwards; "
        f"{live:,} compared to the end. The limit is {view.limit_words()}."
    )
    pictures = candidates_map(drawn, alt), candidates_map(drawn, alt, narrow=True)
    key = (("chosen", "advised" if view.advice.plan is not None else "nearest"), *KEY)
    drawing = Drawing("tried", "All that was tried", _hidden(view), pictures[0], pictures[1], key=key)
    return WhySection("candidates", "What was tried", words, (drawing,), (("", finalists(view)),),
                      (("All candidates", _all(view)),), chosen=view.best)  # fmt: skip


def _hidden(view: AdviceView) -> str:
    gone = len(view.candidates) - sum(p.name != "" for p in view.plane.points) + 1
    return f"{gone:,} candidates have no number and are not drawn: they could not be carried out." if gone > 0 else ""


def _all(view: AdviceView) -> Table:
    rows = []
    for r in view.candidates[:MOST_LISTED]:
        risk = "" if r["risk"] is None else amount(view.risk, r["risk"])
        value = r.get(view.measure.name)
        rows.append([r["name"], risk, "" if value is None else number(value), str(r["rung"]), str(r["status"]),
                     str(r["why"] or "")])  # fmt: skip
    return Table(["candidate", said(view.risk), said(view.measure.name), "rung", "what became of it", "why"], rows)


def _second(view: AdviceView) -> WhySection | None:
    said_ = runner_up(view)
    return WhySection("second", "How close the runner-up came", tuple(said_)) if said_ else None


def _families(view: AdviceView) -> WhySection | None:
    rows = family_rows(view)
    if not rows:
        return None
    told = [(r["family"], *reached(view, r)) for r in rows]
    named = [(plain_family(f), words, good) for f, words, good in told]
    alt = f"What {len(rows)} families reach: " + "; ".join(f"{f}: {w}" for f, w, _ in named) + "."
    made = [families_picture(view.plane, told, alt, narrow, plain_family) for narrow in (False, True)]
    caption = "One small map per family, with the axes of the large one: dark is what has it, pale all else."
    drawing = Drawing("by-family", "Family by family", caption, made[0], made[1])
    words = (
        f"The best {said(view.measure.name)} within the limit that each family reached, by itself and together with "
        "others. A family that reaches nothing alone may still be part of the best mix.",
    )
    return WhySection("families", "What each family could reach", words, (drawing,), (("", families(view)),))


def _untried(view: AdviceView) -> WhySection | None:
    table = untried(view)
    if table is None:
        return None
    words = ("Methods say for themselves what they suit. These were not offered for this file:",)
    return WhySection("untried", "What was never tried, and why", words, tables=(("", table),))


def _cut(view: AdviceView) -> WhySection:
    rungs = view.rungs
    top = max([*rungs["candidates"].to_list(), 1])
    bars = [
        Row(RUNGS.get(k, f"rung {k}"), many / top, None, f"{many:,} candidates", f"{many:,}", k == rungs["rung"].max())
        for k, many in rungs.iter_rows()
    ]
    alt = "Candidates by how far they came: " + "; ".join(f"{r.name} {r.words}" for r in bars) + "."
    made = [bars_picture(bars, alt, narrow) for narrow in (False, True)]
    drawing = Drawing("rungs", "From many to few", "", made[0], made[1])
    words = (
        "Many candidates are tried cheaply, few with care. One is given up only where another beats it, or it breaks "
        "the limit, by more than the noise of its rung; strengths are made finer where the frontier bends.",
        *cut(view),
    )
    return WhySection("cut", "How the field was cut", words, (drawing,) if bars else ())


def _limits(view: AdviceView) -> WhySection | None:
    said_ = cautions(view)
    return WhySection("mind", "What limits these numbers", points=tuple(said_)) if said_ else None


def _asked(view: AdviceView) -> WhySection:
    points = tuple(stated(view))
    guessed = tuple(f"{s}" for s in confirm(view))
    words = (f"Asked: {limit_line(view)}.",)
    return WhySection("asked", "What was asked, and what was guessed", words, points=(*guessed, *points))


def _again(view: AdviceView) -> WhySection:
    a = view.advice
    words = (
        f"{a.evaluations:,} releases were made and attacked, with seed {a.seed}. The same call with this number as its "
        "budget comes to the same; the plan is in plan.toml, all candidates in tried.csv.",
    )
    return WhySection("again", "How to do it again", words, code=a.script)
