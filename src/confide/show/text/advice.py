"""Advice as text: what to release, who finds how many, what is kept, how sure that is, and what to confirm."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from confide.core.visible import visible
from confide.show.advice.tables import families, finalists, untried_rows
from confide.show.advice.view import AdviceView
from confide.show.advice.words import answer, cautions, confirm, cut, give_up, limit_line, sure, worked
from confide.show.names import said

if TYPE_CHECKING:
    from confide.study.advise.result import Advice

WIDTH, MOST_WIDE = 110, 118
LEAST = 24
"""Letters of a plan's name in the table, however many columns there are."""
MOST, MOST_UNTRIED = 6, 4


def advice_text(advice: Advice) -> str:
    """The printout of advice."""
    view = AdviceView(advice)
    parts = [
        _wrapped(" ".join(answer(view))),
        [*_listed("What would have to be given up", give_up(view))],
        _wrapped(" ".join(sure(view))),
        [*_listed("Guessed: please confirm, and state them", confirm(view))],
        [*_listed("Mind", cautions(view))],
        [*_table(view)],
        [*_families(view)],
        [*_untried(view)],
        [*_worked(view)],
        _next(view),
    ]
    return "\n\n".join("\n".join(p) for p in parts if p)


def _wrapped(said_: str, head: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(visible(said_), WIDTH, initial_indent=head, break_on_hyphens=False,
                         subsequent_indent=" " * len(head) if rest is None else rest)  # fmt: skip


def _listed(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield title
        for sentence in sentences:
            yield from _wrapped(sentence, "- ")


def _table(view: AdviceView) -> Iterator[str]:
    table = finalists(view, MOST, words=False)
    yield "Compared to the end"
    others = [max(len(row[k]) for row in (table.header, *table.rows)) + 2 for k in range(1, len(table.header))]
    room = max(MOST_WIDE - sum(others), LEAST)
    yield from _aligned([table.header, *([_short(r[0], room), *r[1:]] for r in table.rows)])
    more = len(view.advice.study.plans) - MOST
    if more > 0:
        yield f"... and {more} more; see advice.study"
    yield from _wrapped(f"Asked: {limit_line(view)}.")
    named = "; ".join(f"{m.name}: {view.measured(m.name)}" for m in view.measures)
    yield from _wrapped(f"{view.risk}: {said(view.risk)}, of the strongest intruder. {named}.")


def _families(view: AdviceView) -> Iterator[str]:
    table = families(view)
    if table.rows:
        yield f"What each family could reach ({said(view.measure.name)})"
        yield from _aligned([table.header, *table.rows])


def _untried(view: AdviceView) -> Iterator[str]:
    rows = untried_rows(view)
    if not rows:
        return
    yield "Not tried"
    for family, variables, why in rows[:MOST_UNTRIED]:
        of = f" of {variables}" if variables else ""
        yield from _wrapped(f"{family}{of}: {why.removeprefix('not tried: ')}.", "- ")
    if len(rows) > MOST_UNTRIED:
        yield f"- and {len(rows) - MOST_UNTRIED} more; see advice.untried"


def _worked(view: AdviceView) -> Iterator[str]:
    for sentence in (worked(view), *cut(view)):
        yield from _wrapped(sentence)


def _next(view: AdviceView) -> list[str]:
    if view.advice.plan is None:
        return ['Next: advice.save("folder") writes the page why.html with all that was tried.']
    return [
        'Next: advice.save("folder") writes the plan, the page why.html and all that was tried;',
        'advice.report("board.html") the report for a board; advice.plan.protect(data, ...) makes the release.',
    ]


def _short(name: str, room: int) -> str:
    return name if len(name) <= room else f"{name[: room - 3].rstrip()}..."


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    wide = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for r in rows:
        cells = [f"{c:<{w}}" if k == 0 else f"{c:>{w}}" for k, (c, w) in enumerate(zip(r, wide, strict=True))]
        yield "  ".join(cells).rstrip()
