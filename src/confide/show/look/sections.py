"""The sections of the page of a look: words, pictures and tables as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confide.core.shares import percent
from confide.core.visible import visible
from confide.frames.roles.guess import ROLES
from confide.frames.roles.result import PLAIN
from confide.show.look.drawings import drawings, group_drawings, risk_drawing, suda_drawing, uniques_drawing
from confide.show.look.tables import (
    TAUS,
    attack_table,
    household_words,
    missing_table,
    notes,
    population_table,
    remedies_table,
    sensitive_notes,
    sensitive_table,
    sets_table,
)
from confide.show.look.words import SENSITIVE, WAYS, small_words
from confide.show.report.figures import Drawing, Table
from confide.study.look.attacks import SURE, UNSURE
from confide.study.look.measured import INDIVIDUAL, K_MAP, SUDA, UNIQUES

if TYPE_CHECKING:
    from confide.study.look.result import Look

TERMS = (
    ("alone, sample unique", "Nobody else in the file has the same values of all keys."),
    ("alike", "How many rows have a row's values of all keys, the row itself among them (fk)."),
    ("k-anonymity", "Everybody has at least k alike; who has fewer violates it."),
    ("found", "People whom an intruder would match rightly: it takes one of those alike at random."),
    ("special unique", "Somebody who is alone on a few keys already, whatever the others are."),
    ("SUDA score", "The more and the smaller the sets of keys by which somebody is alone, the higher."),
    ("individual risk", "The probability that a match with a person's record is right."),
    ("population unique", "Somebody who would be alone among all people, not only in this file."),
    ("l-diversity", "At least l different sensitive values among those who are alike."),
    ("t-closeness", "Sensitive values among those who are alike are distributed as in the file, up to t."),
)


@dataclass(frozen=True, eq=False)
class LookSection:
    """A part of the page; `points` are listed below its pictures and tables."""

    anchor: str
    title: str
    words: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    points: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    code: str = ""


def sections(look: Look) -> list[LookSection]:
    """All sections, in the order in which somebody with a file and a worry asks."""
    made = [
        _distribution(look), _remedies(look), _intruders(look), _population(look), _sets(look), _sensitive(look),
        _units(look), _groups(look), _roles(look), _doubts(look), _next(look),
        LookSection("terms", "What the words mean", terms=TERMS),
    ]  # fmt: skip
    return [s for s in made if s is not None]


def _distribution(look: Look) -> LookSection:
    unsure = (risk_drawing(look),) if look.found(UNSURE) is not None else ()
    words = f"How many {look.who.many} share the same keys, and which keys set them apart."
    return LookSection("alike", "Who stands alone, and why", (words,), (*drawings(look), *unsure))


def _remedies(look: Look) -> LookSection | None:
    table = remedies_table(look)
    if table is None:
        return None
    over = look.counted.below[-1]
    words = (
        f"{over:,} {look.who.many} ({percent(over, look.rows)}) have fewer than five alike. Of each key the mildest "
        "coarser form that does at least half of what leaving it out would do, or else the one that does most and "
        "leaving it out; each was tried on the file by an attack."
    )
    return LookSection("remedies", "What would help", (words, WAYS), tables=(("", table),))


def _intruders(look: Look) -> LookSection:
    words = ["Each intruder knows the keys of everybody and looks for all of them in the file as it is."]
    if look.found(UNSURE) is not None:
        words.append(f"Who is not sure that a {look.who.one} is in the file must allow for all who have the same keys.")
    return LookSection("intruders", "What an intruder finds", tuple(words), tables=(("", attack_table(look)),))


def _population(look: Look) -> LookSection | None:
    table = population_table(look)
    if table is None:
        return None
    how = "Counted" if look.stated.counted else "Estimated"
    total = f" of {look.stated.total:,.0f} {look.who.many}" if look.stated.total else ""
    words = (
        f"{how} for the population{total}: how many of the {look.counted.alone:,} who are alone here are alone there."
    )
    drawn = uniques_drawing(look)
    points = tuple(notes(look, UNIQUES, INDIVIDUAL, K_MAP))
    pictures = () if drawn is None else (drawn,)
    return LookSection("population", "In the population", (words, TAUS), pictures, (("", table),), points)


def _sets(look: Look) -> LookSection | None:
    if not look.alone_on:
        return None
    said = ", ".join(f"{many:,} ({percent(many, look.rows)}) by {size}" for size, many in look.alone_on.items())
    who = look.who.many
    words = (
        f"{who.capitalize()} who are alone on a few keys already (special uniques), by how many it takes: {said}.",
    )
    drawn = suda_drawing(look)
    return LookSection("sets", f"Small sets of keys that isolate {who}", words, () if drawn is None else (drawn,),
                       (("", sets_table(look)),), tuple(notes(look, SUDA)))  # fmt: skip


def _sensitive(look: Look) -> LookSection | None:
    table = sensitive_table(look)
    if table is None:
        return None
    words = f"What is learnt of {look.who.many} without finding them: l-diversity and t-closeness."
    return LookSection("sensitive", "What is learnt of sensitive values", (words,), tables=(("", table),),
                       points=(SENSITIVE, *sensitive_notes(look)))  # fmt: skip


def _units(look: Look) -> LookSection | None:
    said = household_words(look)
    return LookSection("units", f"Units: {visible(str(look.stated.unit))}", tuple(said)) if said else None


def _groups(look: Look) -> LookSection | None:
    made = group_drawings(look)
    if not made:
        return None
    whole = percent(look.found(SURE) or 0.0, look.rows)
    words = (
        f"Of all {look.who.many} {whole} are found. Wide bars: found; inside them: alone; blue: found more often than "
    )
    words += "all, beyond noise."
    few = small_words(look)
    return LookSection("groups", "Who is at risk", tuple(w for w in (words, few) if w), tuple(made))


def _roles(look: Look) -> LookSection:
    s = look.stated
    mine = {**dict.fromkeys(s.keys, "key"), **dict.fromkeys(s.sensitive, "sensitive")}
    mine |= {v: role for role, v in (("weight", s.weight), ("unit", s.unit)) if v is not None}
    by_name = {r["variable"]: r for r in look.roles.frame.iter_rows(named=True)}
    order = {role: k for k, role in enumerate(ROLES)}
    rest = sorted((v for v in by_name if v not in mine), key=lambda v: order[by_name[v]["role"]])
    used = [_role_row(by_name[v], role, {"key": "keys"}.get(role, role) in s.guessed) for v, role in mine.items()]
    left = [_role_row(by_name[v], by_name[v]["role"], None) for v in rest]
    header = ["variable", "role", "", "values", "missing", "why"]
    tables = [("", Table(header, used))] + [("Not used", Table(header, left))] * bool(left)
    words = ("Guesses read names, labels and values; each has its reason.",)
    return LookSection("roles", "What each variable was taken for", words, tables=(*tables, *missing_table(look)))


def _role_row(row: dict[str, Any], role: str, guessed: bool | None) -> list[str]:
    """A variable with its role; `guessed` is None for one that is not used."""
    label = f"{visible(row['variable'])} ({visible(row['label'])})" if row["label"] else visible(row["variable"])
    how = "" if guessed is None else "guessed" if guessed else "stated"
    why = row["why"] if guessed is not False else ""
    doubt = " Please confirm." if row["doubtful"] and guessed else ""
    return [label, f"{role}: {PLAIN[role]}", how, f"{row['values']:,}", f"{row['missing']:,}", f"{visible(why)}{doubt}"]


def _doubts(look: Look) -> LookSection:
    return LookSection("doubts", "What limits these numbers", points=look.doubts)


def _next(look: Look) -> LookSection:
    top = visible(look.drivers["variable"][0])
    words = ("The same look with every role stated, and the way on: protect the file, then attack what came of it.",)
    code = "\n".join([
        "import confide as cf", "", 'data = cf.read("file.sav")', look.script, "",
        f'plan = cf.Plan([...])                          # begin with "{top}": cf.Recode("{top}", ...), then hide',
        "                                               # what is left: cf.LocalSuppression(keys, k=3)",
        f"intruder = cf.Intruder(knows={list(look.stated.keys)!r})".replace("'", '"'),
        "print(intruder.attack(plan.protect(data, seed=1)).summary())",
    ])  # fmt: skip
    return LookSection("next", "What next?", words, code=code)
