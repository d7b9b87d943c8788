"""Why a person stands out, and what would end it, in sentences. No value of anybody is in them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from confide.attack.results.question import ANEW, MOST_ASKED, Question
from confide.attack.results.remedies import by_unknown, fixed, largest_tried, over, single

MOST_SETS = 4
"""Ways to leave variables out that a printout names."""
EVERYBODY = "This is about one person. What would do for all people: attack.improve(utility=[...])."


def sentences(
    question: Question, alone: pl.DataFrame, left_out: pl.DataFrame, remedies: pl.DataFrame, limit: float
) -> list[str]:
    """Lines below the factors of an explanation; none for a person who does not stand out."""
    lines = []
    if single(question) or over(question, limit):
        lines.append(_why(question, alone, limit))
        lines += _without(question, left_out, limit)
    if over(question, limit):
        lines += _what(question, remedies, limit)
    elif single(question):
        lines.append(f"Nobody is sure that it is the person: the largest probability is at most {limit:g}.")
    return lines


def _why(question: Question, alone: pl.DataFrame, limit: float) -> str:
    what = "Alone" if single(question) else f"Above {limit:g}"
    sets = alone["variables"].to_list()
    if not sets:
        tried = largest_tried(question)
        if tried < len(question.variables):
            return f"{what} by no set of up to {tried} known variables; larger ones were not tried."
        return f"{what} only together with what the release tells beyond the known variables."
    every = list(dict.fromkeys(v for s in sets for v in s))
    idle = [v for v in question.variables if v not in every]
    only = "only " if len(sets) == 1 and len(sets[0]) == len(question.variables) > 1 else ""
    said = f"{what} {only}by {', or by '.join(_listed(s) for s in sets)}"
    if not idle:
        return f"{said}."
    one = len(idle) == 1
    rest = ("adds nothing" if one else "add nothing") if single(question) else f"{'is' if one else 'are'} not needed"
    return f"{said}; {_listed(idle)} {rest}."


def _without(question: Question, left_out: pl.DataFrame, limit: float) -> list[str]:
    """What to leave out; the smallest sets alone where there are many."""
    if not left_out.height:
        return []
    few = left_out.height <= MOST_SETS
    shown = left_out if few else left_out.filter(pl.col("size") == left_out["size"][0]).head(MOST_SETS)
    more = f" ({left_out.height - shown.height} more ways)" if shown.height < left_out.height else ""
    end = "No longer alone" if single(question) else f"At most {limit:g}"
    said = [_listed(s) + ("" if p is None else f" (p_max {p:.2g})") for s, p in shown["variables", "p_max"].rows()]
    return [f"{end} without {', or without '.join(said)}{more}."]


def _what(question: Question, remedies: pl.DataFrame, limit: float) -> list[str]:
    found = [
        f"{r['coarsening']} would leave {r['alike']:,} alike (p_max {r['p_max']:.2g})"
        for r in remedies.drop("steps").iter_rows(named=True)
    ]
    if by_unknown(question, limit):
        return [
            f"What is known of the person alone stays at {limit:g}: released variables that nobody knows add the rest."
        ]
    out = fixed(question)
    if found:
        lines = [f"To come to {limit:g}: {'; '.join(found)}.", *([ANEW] if question.drawn else [])]
    else:
        lines = [f"No coarsening of one or two known variables was found that leads to {limit:g}."]
    lines += [f"Not tried: {v} made coarser, since {why}." for v, why in out.items()]
    if question.out_of_patience:
        lines.append(f"Not all was tried: it stops after {MOST_ASKED} attacks on the person.")
    if question.exact:
        lines.append("These figures leave out what unknown variables add at level exact.")
    if question.attack.release.plan is not None:
        lines.append(EVERYBODY)
    return lines


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
