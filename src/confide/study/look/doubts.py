"""What limits the numbers of a look, in sentences: guesses, missing values, what is not known of the population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from confide.core.shares import percent
from confide.frames.roles.words import WEIGHTS, said, words_of
from confide.study.look.asked import Asked
from confide.study.look.attacks import UNSURE
from confide.study.look.classes import LEVELS
from confide.study.look.measured import SUDA_KEYS
from confide.study.look.not_stated import not_stated
from confide.study.look.result import Look
from confide.study.look.sets import largest_size

MOST_NAMED = 12
"""Variables that a sentence names."""
SMALL = 100
"""Rows below which shares say little."""


def doubts_of(look: Look, asked: Asked, lost: Sequence[str] = ()) -> Iterator[str]:
    """Every doubt, the weightiest first."""
    yield from _impossible(look)
    yield from _guesses(look, asked)
    yield from asked.doubts
    yield from _file(look)
    yield from _missing(look, asked)
    yield from _population(look)
    yield from _sets(look)
    if look.remedies is None and asked.tallies:
        yield "What one coarser variable would do is not tried on a scan: look at a part of the file (cf.read)."
    elif look.remedies is None:
        yield (
            "What one coarser variable would do was not tried on so many rows or keys: ask attack.clearing(0.2) of an "
            "intruder with fewer keys, or look at a part of the file."
        )
    yield from lost


def _impossible(look: Look) -> Iterator[str]:
    """That a file of the population cannot be that of the file."""
    if look.short:
        yield (
            f"The population that was given cannot be that of this file: for {look.short:,} of {look.rows:,} rows "
            f"({percent(look.short, look.rows)}) it has fewer {look.who.many} with the same keys than the file. "
            "There the rows themselves are counted instead. Is it another population, an older one, or coded otherwise?"
        )


def _guesses(look: Look, asked: Asked) -> Iterator[str]:
    s = look.stated
    if s.guessed:
        named = {"keys": s.keys, "sensitive": s.sensitive, "weight": (s.weight,), "unit": (s.unit,)}
        named_so = "; ".join(f"{role} {', '.join(str(v) for v in named[role])}" for role in named if role in s.guessed)
        yield f"Guessed from names, labels and values, and confirmed by nobody: {named_so}. State what is different."
    yield from _unsure_guesses(look, asked)
    more = [v for v in asked.roles.could_be_keys if v not in s.keys]
    if "keys" in s.guessed and more:
        yield f"Not taken as keys, but others may know them too: {', '.join(more)}. Each one more raises the risk."
    yield from _not_judged(asked)
    if not s.sensitive and asked.looked_for:
        yield "No sensitive variable was found by name or label, so nothing is said of what is learnt; state it."
    left = [v for v in asked.roles.sensitive if v not in (*s.sensitive, *s.keys)]
    if "sensitive" in s.guessed and left:
        yield f"Sensitive by their names, but not measured: {', '.join(left)}."


def _unsure_guesses(look: Look, asked: Asked) -> Iterator[str]:
    """Guesses that weigh heavily and are doubtful; a weight that was stated but looks like something else."""
    s = look.stated
    for role, name in (("weight", s.weight), ("unit", s.unit)):
        row = asked.roles.row(name) if name is not None else None
        if row is None:
            continue
        if role in s.guessed and row["doubtful"]:
            yield f'The {role} is doubtful. "{name}": {row["why"]} State {role}= if it is another, or guess=False.'
        elif role == "weight" and row["role"] in ("sensitive", "key", "geography"):
            yield f'weight: "{name}" does not look like a survey weight. {row["why"]} Estimates rest on it.'
    if asked.guess and s.weight is None and asked.total is None:
        for other in asked.roles.frame.filter(role="other", doubtful=True, known=False).iter_rows(named=True):
            if said([*words_of(other["variable"]), *words_of(other["label"])], WEIGHTS):
                yield f'Not taken as the survey weight: "{other["variable"]}". {other["why"]}'


def _not_judged(asked: Asked) -> Iterator[str]:
    used = (*asked.keys, *asked.sensitive, asked.weight, asked.unit)
    left = [v for v in asked.roles.not_judged if v not in used]
    if not left:
        return
    many = "variable with no telling name was" if len(left) == 1 else "variables with no telling name were"
    yield (
        f"{len(left):,} {many} not judged: {_some(left)}. Say which others may know (keys=) and "
        "which are private (sensitive=)."
    )


def _some(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _file(look: Look) -> Iterator[str]:
    rows = f"{look.rows:,} row{'s' * (look.rows != 1)}"
    if look.rows < SMALL:
        yield f"The file has {rows}: shares of so few say little of another file."
    too_large = [k for k in LEVELS if k > look.rows]
    if too_large:
        yield f"No file of {rows} can be {too_large[0]}-anonymous: everybody counts as a violation."


def _missing(look: Look, asked: Asked) -> Iterator[str]:
    codes = list(not_stated(asked.file, asked.roles, asked.values))
    if codes:
        yield (
            f'Perhaps codes for "not stated", but taken as values here: {_some(codes)}. If they are, declare '
            "them missing in the file or by cf.VariableSchema(..., missing=(...)) and look again."
        )
    keys = look.missing.filter(role="key")
    if not keys.height:
        return
    worst = keys.sort("rows", descending=True).row(0, named=True)
    some = f"most in {worst['variable']}, {worst['rows']:,} rows ({percent(worst['rows'], look.rows)})"
    yield (
        f"{keys.height} of {len(asked.keys)} keys have missing values ({some}). Missing counts as a value of its own, "
        "which an intruder is taken to know."
    )


def _population(look: Look) -> Iterator[str]:
    s = look.stated
    if look.found(UNSURE) is None:
        yield (
            f"Nothing says how many {look.who.many} the file was drawn from: give weight= or population=. Until then "
            f"an intruder who is sure that a {look.who.one} is in the file is the only measure of risk, and the "
            "prudent one."
        )
    elif not s.counted:
        by = f'the weights in "{s.weight}"' if s.weight else "the size of the population"
        yield (
            f"What is said of the population is estimated from {by}, by models of how common rare combinations are: "
            f"true numbers may differ by a factor of two or more.{_range(look)}"
        )


def _range(look: Look) -> str:
    """How far customary estimators are apart."""
    known = look.population["tau1"].drop_nulls().to_list()
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    return f" Customary estimators put those alone in the population too between {low:,.1f} and {high:,.1f}."


def _sets(look: Look) -> Iterator[str]:
    m = len(look.stated.keys)
    most = largest_size(m)
    if m > SUDA_KEYS:
        yield f"{m} keys are too many for SUDA2, which is computed for up to {SUDA_KEYS}: scores are 0."
    elif most < m:
        yield f"Of {m} keys only sets of up to {most} were counted: larger ones isolate more {look.who.many}."
