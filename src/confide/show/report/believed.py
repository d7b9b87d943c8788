"""Whether the risk can be believed: what the intruder claims against how often it is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from confide.core.visible import visible
from confide.show.charts.board_charts import calibration_picture, percent
from confide.show.report.figures import Drawing, Table
from confide.show.report.view import View
from confide.show.text.people import unchecked
from confide.study.outside import Published

FAR = 3.0
"""Standard errors from which claims and truth differ."""


@dataclass(frozen=True)
class Trust:
    """Of one plan and intruder: matches claimed and true per release, and their difference in standard errors."""

    plan: str
    who: str
    claimed: float
    true: float
    z: float

    @property
    def off(self) -> bool:
        """Whether claims and truth differ beyond chance."""
        return abs(self.z) > FAR

    def direction(self, view: View) -> str:
        """In which way the risk is misjudged, in a sentence."""
        t = view.treat
        told = f"claims {t.people(self.claimed)} matches and gets {t.people(self.true)} right"
        if not view.outside:
            told += f" (z = {self.z:+.1f})"
        if self.z > 0:
            return f"The risk of “{self.plan}” may be understated: the intruder {self.who} {told}."
        return (
            f"The claims of the intruder {self.who} overstate the risk of “{self.plan}”: it {told}. It reasons badly, "
            "and one who reasons better may find more."
        )


def trust(view: View, plan: str) -> Trust | None:
    """How far the worst intruder of a plan can be believed; None where that was not kept."""
    who = view.worst_of(plan)
    if who is None:
        return None
    if view.outside:
        return _told_outside(view, plan, who)
    rows = _kept(view, "claims", plan, who)
    return Trust(plan, who, *rows.select("claimed", "true", "z").row(0)) if rows.height else None


def _kept(view: View, table: str, plan: str, who: str) -> pl.DataFrame:
    """Rows of a plan and an intruder; none where the result is of an earlier version."""
    found = getattr(view.result, table, None)
    if not isinstance(found, pl.DataFrame) or "plan" not in found.columns:
        return pl.DataFrame()
    return found.filter((pl.col("plan") == plan) & (pl.col("intruder") == who))


def _told_outside(view: View, plan: str, who: str) -> Trust | None:
    """Totals as they are published as risks; of the difference only whether and in which way it is beyond chance."""
    claimed, true = (view.number(plan, r, who)["mean"] for r in ("claimed_matches", "found"))
    if view.doubt is None or plan != view.focus or claimed is None or true is None:
        return None
    return Trust(plan, who, claimed, true, view.doubt * math.inf if view.doubt else 0.0)


def doubt(view: View) -> int | None:
    """1 where the risk of the plan that the page is about may be understated, -1 where it is overstated, else 0."""
    found = trust(view, view.focus)
    return None if found is None else int(math.copysign(found.off, found.z))


def caution(view: View) -> str:
    """What the verdict begins with where claims and truth differ."""
    found = trust(view, view.focus)
    return found.direction(view) if found is not None and found.off else ""


def believed_words(view: View) -> list[str]:
    """The answer to "can the risk be believed?" and what is doubtful of other plans."""
    found = trust(view, view.focus)
    if found is None:
        return [_not_known(view)]
    t, whole = view.treat, view.targets(view.focus)
    claimed, true = (t.rated(v, v, v, whole) for v in (found.claimed, found.true))
    z = "" if view.outside else f" (z = {found.z:+.1f})"
    told = f"With “{found.plan}” the intruder {found.who} claims {claimed}, and is right for {true}{z}, per release."
    open_ = unchecked(view.result.intruders[found.who].membership, view.outside)
    yes = "Yes, but for membership. " if open_ else "Yes. "
    first = "No. " + found.direction(view) if found.off else f"{yes}{told}"
    others = [] if view.outside else [c for c in _cautions(view) if not c.startswith(f'"{visible(view.focus)}"')]
    return [first, *([told] if found.off else []), *([open_] if open_ else []), *others]


def _not_known(view: View) -> str:
    if view.outside and view.chosen is None:
        return "No plan is chosen, so there is none whose risk is to be believed."
    kept = "What intruders claim was not kept with this result"
    return f"{kept}." if view.outside else f"{kept}; run the study again to see it."


def _cautions(view: View) -> list[str]:
    told = getattr(view.result, "cautions", None)
    return [str(c) for c in told()] if callable(told) else []


def believed_drawing(view: View) -> Drawing | None:
    """Claimed against true in ranges of probability; not outside, where ranges would hold few people."""
    found = trust(view, view.focus)
    if found is None or isinstance(view.result, Published):
        return None
    rows = _kept(view, "calibration", found.plan, found.who)
    if rows.is_empty():
        return None
    rows = rows.filter(pl.col("targets") > 0)
    bins = [(c / n, r / n, math.sqrt(max(v, 0.0)) / n) for n, c, r, v in
            rows.select("targets", "claimed", "true", "variance").rows()]  # fmt: skip
    spans = [f"{percent(a)} to {percent(b)}" for a, b in rows.select("low", "high").rows()]
    said_ = "; ".join(f"{percent(c)} claimed, {percent(r)} true" for c, r, _ in bins)
    alt = f"Claimed against true probability in {len(bins)} ranges for the plan {found.plan}: {said_}."
    made = [calibration_picture(bins, alt, narrow=n) for n in (False, True)]
    table = [[span, view.treat.people(n), percent(c), percent(r), percent(2 * e)] for span, n, (c, r, e) in
             zip(spans, rows["targets"], bins, strict=True)]  # fmt: skip
    head = [
        "probability of the likeliest record",
        "people, all repeats together",
        "claimed",
        "true",
        "two standard errors",
    ]
    caption = (
        "Bars: two standard errors. Below the line the intruder is too sure, above it the risk would be understated."
    )
    return Drawing(
        "calibration", f"The intruder {found.who} and “{found.plan}”", caption, made[0], made[1], Table(head, table)
    )


def believed_table(view: View) -> Table | None:
    """Every plan's claimed and true matches by its worst intruder."""
    every = [t for p in view.plans if (t := trust(view, p)) is not None]
    if not every or view.outside:
        return None
    rows = []
    for t in every:
        whole = view.targets(t.plan, t.who)
        told = [view.treat.rated(v, v, v, whole) for v in (t.claimed, t.true)]
        level = view.level(t.plan, t.who) or "as stated"
        rows.append([t.plan, t.who, level, *told, f"{t.z:+.1f}", "differ" if t.off else "agree"])
    return Table(["plan", "worst intruder", "level", "claimed", "true", "z", "claims and truth"], rows)
