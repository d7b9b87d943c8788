"""A first look as text: words of the profession beside plain ones, shares beside counts, doubts where they belong."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from confide.core.shares import percent
from confide.core.visible import visible
from confide.measure.risk.identification import aligned
from confide.show.look.tables import (
    TAUS,
    household_words,
    notes,
    population_table,
    remedies_table,
    sensitive_notes,
    sensitive_table,
    suda_table,
)
from confide.show.look.words import SENSITIVE, WAYS, added, answer, named, small_words
from confide.show.report.figures import Table
from confide.study.look.attacks import SURE, THRESHOLD, UNSURE
from confide.study.look.classes import LEVELS
from confide.study.look.measured import INDIVIDUAL, K_MAP, SUDA, UNIQUES

if TYPE_CHECKING:
    from confide.study.look.result import Look

WIDTH = 110
SHOWN_SETS, SHOWN_GROUPS = 6, 6
NEXT = (
    'Next: look.save("look.html") for the page with pictures; cf.Plan([...]) with cf.Recode, cf.generalise or\n'
    "cf.LocalSuppression for a release; cf.Intruder(...) to attack what came of it."
)

Line = tuple[str, str, str, str]


def look_text(look: Look) -> str:
    """The printout of a look."""
    parts = [
        [*_head(look)],
        _wrapped(" ".join(answer(look))),
        ["In the file", aligned([*_file(look)])],
        ["An intruder who knows the keys", aligned([*_attacks(look)]), *_wrapped(_attack_words(look))],
        [*_growth(look)],
        [*_remedies(look)],
        [*_sets(look)],
        [*_population(look)],
        [*_sensitive(look)],
        [*_units(look)],
        [*_groups(look)],
        ["What limits these numbers", *(line for said in look.doubts for line in _wrapped(said, "- "))],
        [NEXT],
    ]
    return "\n\n".join("\n".join(p) for p in parts if p)


def _head(look: Look) -> Iterator[str]:
    s = look.stated
    units = f" in {look.units:,} units" if look.units is not None else ""
    yield f"A first look at {look.rows:,} rows{units}, {look.roles.frame.height:,} variables: who could be recognised?"
    shown = {"keys": s.keys, "sensitive": s.sensitive, "weight": (s.weight,), "unit": (s.unit,)}
    for role, names in shown.items():
        said = ", ".join(_role(look, role, v) for v in names if v is not None) or "none"
        how = "guessed" if role in s.guessed else "stated" if said != "none" else ""
        yield from _wrapped(f"{role:<9} {said}{f' ({how})' * bool(how)}", "", " " * 10)
    gone = look.missing.filter(role="key")
    cells, every = int(gone["rows"].sum()), look.rows * len(s.keys)
    yield f"missing   {cells:,} of {every:,} values of keys ({percent(cells, every)})"


def _role(look: Look, role: str, name: str) -> str:
    """A variable with its label; one that was guessed and should be confirmed has a question mark."""
    asked = role in look.stated.guessed and look.roles.row(name)["doubtful"]
    return f"{named(look, name)}{'?' * bool(asked)}"


def _file(look: Look) -> Iterator[Line]:
    n, c = look.rows, look.counted
    yield "alone (sample uniques)", f"{c.alone:,}", f"({percent(c.alone, n)})", "nobody else in the file has their keys"
    for k, below in zip(LEVELS, c.below, strict=True):
        said = f"fewer than {k} alike" if k > 2 else f"the same {look.who.many}"
        yield f"violate {k}-anonymity", f"{below:,}", f"({percent(below, n)})", said
    yield "combinations", f"{c.classes:,}", "", "different values of all keys together"


def _attacks(look: Look) -> Iterator[Line]:
    for a in look.attacked:
        name = f"sure that a {look.who.one} is in the file" if a.membership == SURE else "not sure of that"
        found = "unknown" if a.found is None else f"{a.found:,.1f}"
        share = "" if a.found is None else f"({percent(a.found, look.rows)})"
        yield f"found, {name}", found, share, "expected re-identifications" if a.membership == SURE else f"by {a.by}"
        over = a.summary.over_threshold
        yield f"  likeliest above {THRESHOLD:g}", f"{over:,}", f"({percent(over, look.rows)})", ""


def _attack_words(look: Look) -> str:
    risk, unsure, n = look.individual, look.found(UNSURE), look.rows
    if unsure is None:
        return "Individual risk is 1 / alike, as nothing is known of the population."
    said = f"Individual risks add up to {risk:,.1f} expected re-identifications ({percent(risk, n)})"
    if look.stated.counted:
        return f"{said}: 1 / F, with F counted in the population."
    return (
        f"{said} by Benedetti and Franconi, who see each combination's own weights alone; the intruder's "
        f"{unsure:,.1f} come from a model of all keys together."
    )


def _growth(look: Look) -> Iterator[str]:
    yield "How risk grows as keys are added, the one that adds most first"
    rows = [("", "alone", "", "fewer than 5", "", "found", "")]
    for r in look.growth.iter_rows(named=True):
        name = f"{'+ ' * (r['keys'] > 1)}{added(look, r['added'])}"
        rows.append(
            (name, *_pair(r["alone"], look.rows), *_pair(r["below_5"], look.rows), *_pair(r["found"], look.rows))
        )
    yield from _table(rows)


def _remedies(look: Look) -> Iterator[str]:
    table = remedies_table(look)
    if table is None:
        return
    over = look.counted.below[-1]
    yield f"What would help: {over:,} {look.who.many} ({percent(over, look.rows)}) have fewer than five alike"
    yield from _printed(table)
    yield from _wrapped(WAYS)


def _sets(look: Look) -> Iterator[str]:
    if not look.alone_on:
        return
    yield f"Small sets of keys that isolate {look.who.many} (special uniques, SUDA2)"
    said = [f"{many:,} ({percent(many, look.rows)}) by {size}" for size, many in look.alone_on.items()]
    yield from _wrapped(f"Alone already by so many keys: {', '.join(said)}.")
    rows = [("set", "alone", "", "by no smaller set", "")]
    for r in look.sets.head(SHOWN_SETS).iter_rows(named=True):
        name = ", ".join(visible(v) for v in r["variables"])
        rows.append((name, *_pair(r["alone"], look.rows), *_pair(r["minimal"], look.rows)))
    yield from _table(rows)
    table = suda_table(look)
    if table is not None:
        shares = ", ".join(f"{name} {share}" for name, share, _ in table.rows)
        score = look.measures[SUDA].numbers["largest"]
        yield from _wrapped(f"SUDA2: largest score {score:,.0f}. Share of all scores by key: {shares}.")
        for note in notes(look, SUDA):
            yield from _wrapped(note, "- ")


def _population(look: Look) -> Iterator[str]:
    table = population_table(look)
    if table is None:
        return
    how = "counted" if look.stated.counted else "estimated"
    yield f"In the population, {how}: of the {look.counted.alone:,} who are alone here"
    yield from _printed(table)
    yield from _wrapped(TAUS)
    for said in notes(look, UNIQUES, INDIVIDUAL, K_MAP):
        yield from _wrapped(said, "- ")


def _sensitive(look: Look) -> Iterator[str]:
    table = sensitive_table(look)
    if table is None:
        return
    yield "What is learnt of sensitive values without finding anybody"
    yield from _printed(table)
    yield from _wrapped(SENSITIVE)
    for said in sensitive_notes(look):
        yield from _wrapped(said, "- ")


def _units(look: Look) -> Iterator[str]:
    said = household_words(look)
    if said:
        yield f"Units ({visible(str(look.stated.unit))})"
    for sentence in said:
        yield from _wrapped(sentence)


def _printed(table: Table) -> Iterator[str]:
    return _table([table.header, *table.rows])


def _groups(look: Look) -> Iterator[str]:
    if not look.groups.height:
        return
    whole = (look.found(SURE) or 0.0) / look.rows
    worst = look.groups.filter(pl.col("low") > whole).sort("times", descending=True, maintain_order=True)
    if not worst.height:
        yield f"Who is at risk: no group of ten or more {look.who.many} is found more often than all, beyond noise."
        yield from [small_words(look)] * bool(look.small_groups)
        return
    yield f"Who is at risk: groups found most often ({percent(whole, 1)} of all {look.who.many} are)"
    rows = [("group", look.who.many, "alone", "", "found", "")]
    for r in worst.head(SHOWN_GROUPS).iter_rows(named=True):
        name = f"{named(look, r['variable'])}: {visible(r['group'])}"
        rows.append((name, f"{r['people']:,}", *_pair(r["alone"], r["people"]), *_pair(r["found"], r["people"])))
    yield from _table(rows)
    if look.small_groups:
        yield small_words(look)


def _pair(many: float, of: float) -> tuple[str, str]:
    return f"{many:,.0f}", f"({percent(many, of)})"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for r in rows:
        yield "  ".join(
            x.rjust(w) if k else x.ljust(w) for k, (x, w) in enumerate(zip(r, widths, strict=True))
        ).rstrip()


def _wrapped(said: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        visible(said), WIDTH, initial_indent=first, subsequent_indent=rest or " " * len(first), break_on_hyphens=False
    )
