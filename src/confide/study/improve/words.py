"""What changes of a plan would do, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from confide.core.visible import visible
from confide.study.improve.result import BACK, LOWERS, WITHIN
from confide.study.tradeoff.question import amount, number, shown

if TYPE_CHECKING:
    from confide.study.improve.result import Improvements

WIDTH = 110
HEADS = {
    LOWERS: "lower {risk}; most per utility lost first",
    BACK: "give utility back at no risk that could be seen",
    WITHIN: "give utility back at more risk, but within the limit",
}


def text(found: Improvements) -> str:
    """All that is to be said, in lines."""
    lines = [*_wrapped(_before(found)), *(line for kind in found.kinds for line in _changes(found, kind))]
    return "\n".join([*lines, "", *_wrapped(" ".join(_how(found)))])


def _before(found: Improvements) -> str:
    said = f"The plan as it is has {found.risk} {shown(found.before, found.risk, found.targets)}"
    said += f' by "{visible(found.worst)}"' if found.worst else ""
    said += f" and {found.by} {shown(found.utility)}."
    if found.met is None:
        return f"{said} No limit was stated."
    limits = " and ".join(f"{risk} at most {amount(risk, limit)}" for risk, limit in found.limits.items())
    return f"{said} {'Within' if found.met else 'Not within'} the limit: {limits}."


def _changes(found: Improvements, kind: str) -> Iterator[str]:
    rows = found.frame.filter(kind=kind).rows(named=True)
    yield ""
    if not rows:
        yield from _wrapped(_nothing(found, kind))
        return
    yield f"These changes, each made alone, {HEADS[kind].format(risk=found.risk)}:"
    for r in rows:
        yield from _wrapped(f"{r['rank']}. {visible(r['change'])}: {_effect(found, r)}", "   ")
    yield from _alike(rows)
    if kind == LOWERS and found.met is False:
        yield from _wrapped(_enough(rows))


def _nothing(found: Improvements, kind: str) -> str:
    if kind == LOWERS:
        return f"No change that was tried lowers {found.risk} beyond noise, and by 2 percent of it or more."
    where = "within the limit, at more risk" if kind == WITHIN else "beyond noise without more risk"
    return f"No change that was carried out gives utility back {where}."


def _effect(found: Improvements, r: Mapping[str, Any]) -> str:
    risk = found.risk
    less = "less" if r["lowered"] >= 0 else "more"
    parts = [
        f"{risk} {amount(risk, r['risk_before'])} to {amount(risk, r['risk_after'])} "
        f"({_size(r, 'lowered', lambda x: amount(risk, x))} {less})"
    ]
    word = "lost" if r["lost"] >= 0 else "gained"
    clear = r["per_utility"] is not None or (r["lost_high"] is not None and r["lost_high"] < 0)
    gone = f"{_size(r, 'lost', number)} {word}" if clear else "none lost beyond noise"
    parts.append(f"{found.by} {number(r['utility_before'])} to {number(r['utility_after'])} ({gone})")
    if r["within"] is not None:
        parts.append("within the limit" if r["within"] else "not within the limit alone")
    return "; ".join(parts)


def _size(r: Mapping[str, Any], name: str, form: Any) -> str:
    """How large a difference is, with its ends where it has any, whichever way it goes."""
    mean, low, high = r[name], r[f"{name}_low"], r[f"{name}_high"]
    if low is None or low == high:
        return str(form(abs(mean)))
    ends = (low, high) if mean >= 0 else (-high, -low)
    return f"{form(abs(mean))}, {form(ends[0])} to {form(ends[1])}"


def _alike(rows: list[dict[str, Any]]) -> Iterator[str]:
    for rank in dict.fromkeys(r["rank"] for r in rows):
        many = sum(r["rank"] == rank for r in rows)
        if many > 1:
            yield f"The {many} changes numbered {rank} cannot be told apart; they stand in the order of their means."


def _enough(rows: list[dict[str, Any]]) -> str:
    enough = [r for r in rows if r["within"]]
    if not enough:
        return "None of them suffices alone. Make one, and ask again for the plan that it gives."
    least = min(enough, key=lambda r: float(r["lost"]))
    return f"Of those that suffice alone, the one that loses least: {visible(least['change'])}."


def _how(found: Improvements) -> Iterator[str]:
    yield (
        f"{found.tried.height:,} changes were tried on {found.drawn:,} targets, {found.carried_out.height} of them "
        f"carried out on all, {found.repeats} times where anything is random, with fresh seeds that all share."
    )
    if found.left:
        yield f"{found.left:,} more were not tried, which more tries would do."
    yield "Intervals of all differences hold together in 95 percent of cases. Two changes together may do less or more."
    yield f"Utility is {found.by} alone: what it does not see may be lost all the same."
    if found.frame["change"].str.contains("at risk").any():
        yield "Intruders are taken not to know that the people at risk were chosen on purpose."


def _wrapped(said: str, indent: str = "") -> list[str]:
    return wrap(said, WIDTH, subsequent_indent=indent)
