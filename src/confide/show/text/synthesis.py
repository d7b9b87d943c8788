"""A synthesis as text: what was chosen, what it is worth, what an intruder finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confide.core.visible import visible

if TYPE_CHECKING:
    from confide.study.synthesise.result import Synthesis

SHOWN = 12
"""Variables and rules that are shown; the tables hold all."""


def synthesis_text(found: Synthesis) -> str:
    """The whole printout."""
    first, copies = found.release.frame, found.copies
    many = f"{len(copies)} copies of " if copies else ""
    drawn = int(found.frame["becomes"].is_in(["synthetic", "recomputed"]).sum())
    lines = [f"Synthesis: {many}{first.height:,} rows, {drawn} of {first.width} variables synthetic", ""]
    lines += [*_variables(found), *_rules(found), "", "utility", *_utility(found), "", "risk", *_risk(found), ""]
    return "\n".join([*lines, *(visible(c) for c in found.cautions)])


def _variables(found: Synthesis) -> list[str]:
    rows = found.frame.to_dicts()
    wide = max(len(visible(r["variable"])) for r in rows)
    lines = [f"{visible(r['variable']).ljust(wide)}  {r['becomes']:<10}  {visible(r['why'])}" for r in rows[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"and {len(rows) - SHOWN:,} further variables: see frame")
    gone = [visible(r["variable"]) for r in rows[SHOWN:] if r["becomes"] == "left out"]
    more = f" and {len(gone) - SHOWN:,} others" if len(gone) > SHOWN else ""
    return [*lines, *([f"left out: {', '.join(gone[:SHOWN])}{more}"] if gone else [])]


def _rules(found: Synthesis) -> list[str]:
    rows = found.rules.to_dicts()
    if not rows:
        return ["", "no rule between variables was found that all rows keep"]
    kept, many = sum(r["broken"] == 0 for r in rows), f"{len(rows):,} rule{'s' * (len(rows) > 1)}"
    lines = ["", f"{many}, {kept:,} kept in every synthetic row"]
    lines += [f"  {visible(r['rule'])}{_ill(r)}" for r in rows[:SHOWN]]
    return [*lines, *([f"  and {len(rows) - SHOWN:,} further: see rules"] if len(rows) > SHOWN else [])]


def _ill(rule: dict[str, Any]) -> str:
    return f"  (broken in {rule['broken']:,} rows)" if rule["broken"] else ""


def _utility(found: Synthesis) -> list[str]:
    lines = []
    for r in found.utility.iter_rows(named=True):
        value = "unknown" if r["value"] is None else f"{r['value']:.4g}"
        said = f"best {r['best']:g}, {r['direction']} is better" if r["value"] is not None else visible(r["detail"])
        chance = "; about 1 where the files are two samples of one population" * (r["measure"] == "pmse_ratio")
        lines.append(f"  {r['measure']:<16} {value:>10}  {said}{chance}")
    return lines


def _risk(found: Synthesis) -> list[str]:
    lines = []
    for r in found.risk.iter_rows(named=True):
        value = "unknown" if r["value"] is None else f"{r['value']:,.4g}" if r["value"] < 1000 else f"{r['value']:,.0f}"
        beside = (
            ""
            if r["compared"] is None
            else f" ({r['compared']:,.4g})"
            if r["compared"] < 1000
            else f" ({r['compared']:,.0f})"
        )
        lines.append(f"  {r['risk']:<19} {visible(r['about'])}: {value}{beside}")
        lines.append(f"      {r['what']}")
    return lines
