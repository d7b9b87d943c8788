"""The pictures of a look: how many are alike, how risk grows, which variables do it, who is at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.core.shares import percent
from confide.core.visible import visible
from confide.show.charts.board_charts import Row, bars_picture
from confide.show.charts.svg import Picture, line, rect, text
from confide.show.look.alike import alike_counts
from confide.show.look.estimates import estimates_picture
from confide.show.look.tables import ESTIMATORS, suda_table, with_share
from confide.show.look.words import STRONG, added, listed, named
from confide.show.report.figures import Drawing, Table
from confide.study.look.attacks import SURE, UNSURE
from confide.study.look.measured import SUDA

if TYPE_CHECKING:
    from confide.study.look.result import Look

RISKS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)
"""Where the bars of individual risk begin."""
MOST_DRIVERS, MOST_GROUPS = 14, 8


def drawings(look: Look) -> list[Drawing]:
    """The pictures that every look has."""
    made = [alike_drawing(look)]
    return [*made, *(d for d in (drivers_drawing(look), growth_drawing(look)) if d is not None)]


def alike_drawing(look: Look) -> Drawing:
    """How many share a person's values: people by the size of their class."""
    counts = alike_counts(look)
    alt = f"People by how many are alike: {', '.join(f'{k} {v:,}' for k, v in counts.items())}."
    made = [columns_picture(counts, alt, narrow) for narrow in (False, True)]
    rows = [[k, f"{v:,}", percent(v, look.rows)] for k, v in counts.items()]
    caption = f"{look.who.many.capitalize()} by the number who have the same keys."
    return Drawing("class-sizes", f"How many share a {look.who.one}'s values", caption, made[0], made[1],
                   Table(["alike", look.who.many, "share"], rows))  # fmt: skip


def columns_picture(counts: dict[str, int], alt: str, narrow: bool = False) -> Picture:
    """Upright bars, each with its number above, its name and its share below; the first one stands out.

    >>> columns_picture({"alone": 3, "2": 9}, "Two.").words()
    ['3', 'alone', '25.0%', '9', '2', '75.0%']
    """
    width, height, top = (340.0 if narrow else 520.0), 214.0, 24.0
    bottom = height - 42
    most, whole = max(counts.values(), default=1) or 1, sum(counts.values())
    step = width / max(len(counts), 1)
    parts: list[str] = []
    for k, (name, many) in enumerate(counts.items()):
        tall = max((bottom - top) * many / most, 1.0 if many else 0.0)
        middle = k * step + step / 2
        parts.append(rect(k * step + 5, bottom - tall, step - 10, tall, "f-accent" if k == 0 else "f-bar", 2))
        parts.append(text((middle, bottom - tall - 7), f"{many:,}", "t-b" if k == 0 else "", "middle"))
        parts.append(text((middle, bottom + 18), name, "", "middle"))
        parts.append(text((middle, bottom + 36), percent(many, whole), "t-soft", "middle"))
    parts.append(line([(0, bottom), (width, bottom)], "s-axis"))
    return Picture(width, height, tuple(parts), alt)


def drivers_drawing(look: Look) -> Drawing | None:
    """What makes people stand alone: who would be, if one key were not known."""
    if look.drivers.height < 2 or not look.counted.alone:
        return None
    n, rows = look.rows, look.drivers.sort("alone_without", descending=True, maintain_order=True).tail(MOST_DRIVERS)
    alone = look.counted.alone
    every = Row(f"all {look.drivers.height} keys", alone / n, None, with_share(alone, n), percent(alone, n))
    low = STRONG * alone
    bars = [every] + [
        Row(f"without {named(look, r['variable'])}", r["alone_share"], None, with_share(r["alone_without"], n),
            percent(r["alone_without"], n), r["alone_without"] < low)
        for r in rows.iter_rows(named=True)
    ]  # fmt: skip
    best = [visible(r["variable"]) for r in rows.iter_rows(named=True) if r["alone_without"] < low]
    alt = f"People alone if one key were not known, of {look.counted.alone:,} who are."
    alt += f" Fewest without {listed(best[::-1], 'or')}." if best else ""
    caption = f"{look.who.many.capitalize()} who would be alone if one variable were not known. Blue: less than half "
    caption += "are left."
    table = [[r.name, r.words] for r in bars]
    return Drawing("drivers", f"What makes {look.who.many} stand alone", caption, bars_picture(bars, alt),
                   bars_picture(bars, alt, narrow=True), Table(["keys", "alone"], table))  # fmt: skip


def growth_drawing(look: Look) -> Drawing | None:
    """How risk grows as keys are added."""
    if look.growth.height < 2:
        return None
    rows, cells = [], []
    for r in look.growth.iter_rows(named=True):
        name = f"{'+ ' * (r['keys'] > 1)}{added(look, r['added'])}"
        said = f"{percent(r['found'], look.rows)} found, {percent(r['alone'], look.rows)} alone"
        rows.append(Row(name, r["alone_share"], r["found_share"], said, percent(r["found"], look.rows)))
        cells.append([name, *(f"{r[k]:,} ({percent(r[k], look.rows)})" for k in ("alone", "below_5", "found"))])
    last = look.growth.row(-1, named=True)
    alt = (
        f"From {percent(look.growth['found'][0], look.rows)} found by {added(look, look.growth['added'][0])} alone to "
        f"{percent(last['found'], look.rows)} by all {last['keys']} keys."
    )
    caption = "Keys in the order in which each adds most. Wide bars: found by an intruder who is sure that the "
    caption += f"{look.who.one} is in the file; inside them: alone."
    made = [bars_picture(rows, alt, narrow, long=True) for narrow in (False, True)]
    header = ["key", "alone", "fewer than 5 alike", "found"]
    return Drawing("growth", "How risk grows with each key", caption, made[0], made[1], Table(header, cells))


def risk_drawing(look: Look) -> Drawing:
    """The distribution of individual risk."""
    risk = look.frame["individual_risk"].to_numpy()
    place = np.searchsorted(RISKS, risk, side="right") - 1
    counts = np.bincount(np.maximum(place, 0), look.each, len(RISKS))
    names = [f"{100 * a:g}-{100 * b:g}%" for a, b in zip(RISKS[1:], (*RISKS[2:], 1.0), strict=True)]
    by = {"<1%": int(counts[0]), **{n: int(c) for n, c in zip(names, counts[1:], strict=True)}}
    alt = f"People by individual risk: {', '.join(f'{k} {v:,}' for k, v in by.items())}."
    backwards = dict(reversed(by.items()))
    made = [columns_picture(backwards, alt, narrow) for narrow in (False, True)]
    rows = [[k, f"{v:,}", percent(v, look.rows)] for k, v in backwards.items()]
    how, caption = _risk_model(look)
    table = Table(["risk", look.who.many, "share"], rows)
    return Drawing("risks", f"Individual risk{how}", caption, made[0], made[1], table)


def _risk_model(look: Look) -> tuple[str, str]:
    """By which model individual risks are drawn, and how they stand to what the intruder finds on the same page."""
    said = f"{look.who.many.capitalize()} by the probability that a match with their record is right: "
    if look.stated.counted:
        return ", counted in the population", f"{said}1 / F, with F counted in the population."
    return " by Benedetti and Franconi", (
        f"{said}by Benedetti and Franconi, who see each combination's own weights alone, and add up to "
        f"{look.individual:,.1f} found. The intruder who is not sure finds {look.found(UNSURE) or 0.0:,.1f} by a model "
        "of all keys together: rely on that one."
    )


def suda_drawing(look: Look) -> Drawing | None:
    """What each key contributes to SUDA2 scores."""
    table = suda_table(look)
    if table is None:
        return None
    frame = look.measures[SUDA].table.sort("contribution", descending=True, nulls_last=True).head(MOST_DRIVERS)
    known = [(named(look, v), share) for v, share in frame.select("variable", "contribution").drop_nulls().iter_rows()]
    rows = [Row(v, share, None, percent(share, 1), percent(share, 1)) for v, share in known]
    alt = f"Share of SUDA2 scores by key: {', '.join(f'{r.name} {r.words}' for r in rows)}."
    caption = "Share of the scores of all small sets that have the key in them. Shares overlap."
    made = [bars_picture(rows, alt, narrow) for narrow in (False, True)]
    return Drawing("suda", f"Keys in the sets that isolate {look.who.many}", caption, made[0], made[1], table)


def uniques_drawing(look: Look) -> Drawing | None:
    """Sample uniques that are unique in the population, by each estimator, with its interval."""
    known = look.population.drop_nulls("tau1")
    if known.height < 2 or not look.counted.alone:
        return None
    rows = [
        (ESTIMATORS.get(r["estimator"], r["estimator"]).partition(" (")[0], r["tau1"], r["tau1_low"], r["tau1_high"])
        for r in known.iter_rows(named=True)
    ]
    alt = f"Expected population uniques among those alone: {', '.join(f'{n} {v:,.0f}' for n, v, *_ in rows)}."
    caption = (
        "People who are alone here and in the population, on a logarithmic scale; lines are 95% intervals, where an "
    )
    caption += "estimator has one. Rely on the first; the others are what other tools report."
    made = [estimates_picture(rows, alt, narrow) for narrow in (False, True)]
    return Drawing("uniques", "Alone in the population too", caption, made[0], made[1])


def group_drawings(look: Look) -> list[Drawing]:
    """Who is at risk, one picture per key: the share of each group that is found, and that is alone."""
    whole = (look.found(SURE) or 0.0) / look.rows
    out: list[Drawing] = []
    for (name,), part in look.groups.group_by(["variable"], maintain_order=True):
        shown = part if part.height <= MOST_GROUPS else part.sort("found_share", descending=True).head(MOST_GROUPS)
        rows = [
            Row(visible(r["group"]), r["alone_share"], r["found_share"],
                f"{percent(r['found'], r['people'])} of {r['people']:,}",
                percent(r["found"], r["people"]), r["low"] > whole)
            for r in shown.iter_rows(named=True)
        ]  # fmt: skip
        worst = part.sort("found_share", descending=True).row(0, named=True)
        alt = f"Share found by {visible(str(name))}; largest: {visible(worst['group'])}, "
        alt += f"{percent(worst['found_share'], 1)}."
        more = f"The {MOST_GROUPS} of {part.height} groups that are found most." if part.height > MOST_GROUPS else ""
        cells = [
            [visible(r["group"]), f"{r['people']:,}", f"{r['alone']:,} ({percent(r['alone'], r['people'])})",
             f"{r['found']:,.0f} ({percent(r['found'], r['people'])})",
             f"{percent(r['low'], 1)} to {percent(r['high'], 1)}"]
            for r in part.iter_rows(named=True)
        ]  # fmt: skip
        table = Table(["group", look.who.many, "alone", "found", "95% interval"], cells)
        made = [bars_picture(rows, alt, narrow, long=True) for narrow in (False, True)]
        out.append(Drawing(f"by-{len(out)}", named(look, str(name)), more, made[0], made[1], table))
    return out
