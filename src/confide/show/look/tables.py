"""The tables on the page of a look: every count with its share beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.shares import percent
from confide.core.visible import visible
from confide.show.look.words import NO_VALUE, named
from confide.show.report.figures import Table
from confide.study.look.attacks import SURE, THRESHOLD
from confide.study.look.measured import HOUSEHOLD, L_DIVERSITY, SUDA, T_CLOSENESS, L, T

if TYPE_CHECKING:
    from confide.study.look.result import Look

MOST_SETS = 8
ESTIMATORS = {
    "counted": "counted in the population", "poisson": "Poisson log-linear (Skinner, Shlomo)",
    "dis": "DIS (Skinner, Elliot)", "benedetti_franconi": "Benedetti, Franconi", "pitman": "Pitman", "ewens": "Ewens",
    "zayatz": "Zayatz", "snb": "SNB",
}  # fmt: skip
UNKNOWN = "-"
ONE_VALUE, NONE = "of these alike, one value", "alike, without any value"
TAUS = (
    "tau1: alone in the population too. tau2: right matches of those alone here, the sum of 1 / F. uniques: those who "
    "are alone in the population. DIS: the chance that a match with somebody alone here is right."
)


def with_share(many: float, of: float, form: str = ",.0f") -> str:
    """A count with its share.

    >>> with_share(968, 51_016), with_share(0.4, 100, ",.1f")
    ('968 (1.9%)', '0.4 (0.4%)')
    """
    return f"{many:{form}} ({percent(many, of)})"


def attack_table(look: Look) -> Table:
    """One row per intruder."""
    rows = []
    for a in look.attacked:
        name = (
            f"is sure that a {look.who.one} is in the file"
            if a.membership == SURE
            else f"is not sure, by {visible(a.by)}"
        )
        found = "unknown" if a.found is None else with_share(a.found, look.rows, ",.1f")
        rows.append([name, found, with_share(a.summary.over_threshold, look.rows), percent(a.summary.p_absent, 1)])
    header = ["the intruder", "found", f"likeliest record above {THRESHOLD:g}", "chance of being absent, mean"]
    return Table(header, rows)


def sets_table(look: Look) -> Table:
    """The sets of keys that isolate most people."""
    rows = [
        [", ".join(named(look, v) for v in r["variables"]), f"{r['size']}", with_share(r["alone"], look.rows),
         with_share(r["minimal"], look.rows)]
        for r in look.sets.head(MOST_SETS).iter_rows(named=True)
    ]  # fmt: skip
    return Table(["set", "keys", "alone", "alone on no smaller set inside"], rows)


def missing_table(look: Look) -> list[tuple[str, Table]]:
    """Missing values of keys and sensitive variables."""
    used = look.missing.filter(role="key").vstack(look.missing.filter(role="sensitive"))
    if not used.height:
        return []
    rows = [
        [named(look, r["variable"]), r["role"], with_share(r["rows"], look.rows)] for r in used.iter_rows(named=True)
    ]
    return [("Missing values", Table(["variable", "role", "rows without a value"], rows))]


def remedies_table(look: Look) -> Table | None:
    """What one coarser variable would do; None where it was not tried, or nothing helps."""
    if look.remedies is None or not look.remedies.height:
        return None
    rows = [
        [visible(r["coarsening"]), with_share(r["cleared"], look.rows), with_share(r["over"], look.rows)]
        for r in look.remedies.iter_rows(named=True)
    ]
    return Table(["one coarser variable", "brought to five or more alike", "left with fewer"], rows)


def population_table(look: Look) -> Table | None:
    """One row per estimator; None where nothing is known of the population."""
    if not look.population.height:
        return None
    rows = [
        [ESTIMATORS.get(r["estimator"], r["estimator"]), _number(r["tau1"]), _interval(r, "tau1"), _number(r["tau2"]),
         _interval(r, "tau2"), _number(r["uniques"]), UNKNOWN if r["dis"] is None else f"{r['dis']:.4g}"]
        for r in look.population.iter_rows(named=True)
    ]  # fmt: skip
    return Table(["estimator", "tau1", "95% interval", "tau2", "95% interval", "uniques", "DIS"], rows)


def _number(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _interval(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if low is None or low == high else f"{_number(low)} to {_number(high)}"


def sensitive_table(look: Look) -> Table | None:
    """One row per sensitive variable: people in classes that are not diverse, or not close; None without any. A class
    in which nobody has a value is not diverse, and tells no value: it is counted on its own."""
    rows, without = [], False
    for v in look.stated.sensitive:
        few, far = (look.measures.get(f"{name}_{v}") for name in (L_DIVERSITY, T_CLOSENESS))
        if few is None or far is None:
            continue
        each = few.frame["rows"] if "rows" in few.frame.columns else pl.repeat(1, few.frame.height, eager=True)
        together = few.frame["below"] & (few.frame["alike"] > 1)
        empty = together & (few.frame["diversity"] == 0)
        without = without or bool(empty.any())
        largest = far.numbers["largest"]
        rows.append([
            named(look, v), with_share(few.numbers[""] or 0, look.rows),
            with_share(int(each.filter(together & ~empty).sum()), look.rows),
            with_share(int(each.filter(empty).sum()), look.rows),
            with_share(far.numbers[""] or 0, look.rows), UNKNOWN if largest is None else f"{largest:.2f}",
        ])  # fmt: skip
    header = ["sensitive", f"not {L}-diverse", ONE_VALUE, NONE, f"not {T:g}-close", "largest distance"]
    shown = [k for k, name in enumerate(header) if without or name != NONE]
    return Table([header[k] for k in shown], [[r[k] for k in shown] for r in rows]) if rows else None


def sensitive_notes(look: Look) -> list[str]:
    """What is said of sensitive values that are missing."""
    names = [f"{L_DIVERSITY}_{v}" for v in look.stated.sensitive]
    table = sensitive_table(look)
    first = [NO_VALUE] if table is not None and NONE in table.header else []
    return first + [n for n in notes(look, *names) if "missing" in n or "no value" in n]


def household_words(look: Look) -> list[str]:
    """How many households are found, in a sentence; nothing without a unit."""
    found = look.measures.get(HOUSEHOLD)
    if found is None:
        return []
    units = found.frame.height
    whole, single = found.numbers[""] or 0.0, found.numbers["one_member"] or 0.0
    return [
        f"Who knows the keys of all rows of a unit finds {whole:,.0f} of {units:,} units ({percent(whole, units)}); "
        f"who knows one row at a time {single:,.0f} ({percent(single, units)}). The first is the prudent number.",
        f"{int((found.frame['alike'] == 1).sum()):,} units are like no other in all their rows.",
        *notes(look, HOUSEHOLD),
    ]


def notes(look: Look, *names: str) -> list[str]:
    """What measures say beside their numbers; what the look says itself is left out."""
    said = [n for name in names if name in look.measures for n in look.measures[name].notes]
    once = ("Rule for missing values", f"{look.counted.alone:,} records are unique", "The estimates of tau1 differ",
            "Unique: ")  # fmt: skip
    return [n for n in dict.fromkeys(said) if not n.startswith(once)]


def suda_table(look: Look) -> Table | None:
    """What each key contributes to SUDA2 scores."""
    found = look.measures.get(SUDA)
    if found is None or not found.numbers[""]:
        return None
    rows = []
    for r in found.table.sort("contribution", descending=True, nulls_last=True).iter_rows(named=True):
        share = UNKNOWN if r["contribution"] is None else percent(r["contribution"], 1)
        rows.append([named(look, r["variable"]), share, f"{r['sets']:,}"])
    return Table(["key", "share of all scores", "minimal sets with it"], rows)
