"""What advice is asked about: the file, who might look for people in it, what analysts need, and the limit.

What nobody stated is guessed, and said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import names_of
from confide.core.errors import InputError, did_you_mean
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.roles.result import Roles, roles
from confide.measure.utility.distances import Hellinger
from confide.measure.utility.measure import Measure
from confide.measure.utility.run import asked_measures
from confide.protect.plan import Plan
from confide.protect.seam.dials import Outlook
from confide.study.advise.outlook import base_plan, outlook_of
from confide.study.look.asked import FEW_ROWS, MOST_SENSITIVE, check_unit, settled, weights_of
from confide.study.look.attacks import unsure_of

SURE, UNSURE = "knows the keys", "knows the keys, not who took part"
LIMIT: Mapping[str, float | str] = {"found": "1%"}


@dataclass(frozen=True, eq=False)
class Asked:
    """What the search goes on with; `said`: sentences on what was stated and what guessed."""

    outlook: Outlook
    base: Plan
    intruders: Mapping[str, Intruder]
    measures: tuple[Measure, ...]
    by: Measure
    limits: Mapping[str, float | str]
    said: tuple[str, ...]
    roles: Mapping[str, Any]
    """Arguments that state all roles, for the script."""


def asked_about(
    data: Any, *, keys: Any, sensitive: Any, weight: str | None, unit: str | None, population: Any, identifiers: Any,
    intruders: Mapping[str, Intruder] | None, utility: Any, max_risk: Mapping[str, float | str] | None,
    by: str | Measure | None, hierarchies: Mapping[str, Hierarchy] | None, keep: Sequence[str],
) -> Asked:  # fmt: skip
    """What was stated, and guesses for the rest."""
    file, said = Encoded.of(data), list[str]()
    if not file.frame.height:
        raise InputError("The file has no rows: there is nobody to protect.")
    found = roles(data)
    who, mine, private, heavy, group = (
        _guessed(file, found, keys, sensitive, weight, unit, population, said)
        if intruders is None
        else _stated(file, found, intruders, keys, sensitive, weight, unit, population, said)
    )
    known = [v for v in file.frame.columns if any(v in (*w.knows, *w.between) for w in who.values())]
    aside = _identifiers(file, found, identifiers, [*known, *mine, heavy, group], said)
    kept = names_of(keep, "keep") if keep else ()
    outlook = outlook_of(
        data, known=tuple(dict.fromkeys([*known, *mine])), sensitive=private, identifiers=aside, unit=group,
        weight=heavy, keep=kept, hierarchies=hierarchies, found=found,
    )  # fmt: skip
    if not outlook.subjects:
        raise InputError("No variable is left that a plan could alter: keep names all of them, or they are roles.")
    if kept:
        said.append(f"Released as they are: {', '.join(kept)}.")
    measures, chosen = _measures(outlook, utility, by, said)
    if max_risk is None:
        said.append('No limit was stated; at most 1 percent of people may be found: max_risk={"found": "1%"}.')
    stated = {
        "keys": list(mine),
        "sensitive": list(private),
        "weight": heavy,
        "unit": group,
        "identifiers": list(aside),
    }
    limits = LIMIT if max_risk is None else max_risk
    return Asked(outlook, base_plan(outlook, aside), who, measures, chosen, limits, tuple(said), stated)


def _guessed(
    file: Encoded, found: Roles, keys: Any, sensitive: Any, weight: Any, unit: Any, population: Any, said: list[str]
) -> tuple[dict[str, Intruder], tuple[str, ...], tuple[str, ...], str | None, str | None]:
    """Intruders who know the keys: one is sure that people are in the file, one is not where something says how many
    there are outside it."""
    asked = settled(file, found, keys=keys, sensitive=sensitive, weight=weight, unit=unit, population=population,
                    count=None, guess=True)  # fmt: skip
    said += [_role_words(asked.keys, "keys", "keys" in asked.guessed)]
    if asked.sensitive:
        said.append(_role_words(asked.sensitive, "sensitive", asked.looked_for))
    for role, name in (("weight", asked.weight), ("unit", asked.unit)):
        if name:
            said.append(_role_words((name,), role, role in asked.guessed))
    said += asked.doubts
    who = {SURE: Intruder(knows=asked.keys)}
    how = unsure_of(asked) if asked.unit is None else None
    if asked.unit is not None:
        also = "; of units, populations are not understood, so nobody is taken to be unsure of that"
    elif how is not None:
        who[UNSURE] = Intruder(knows=asked.keys, membership=how[1])
        also = f", and one who does not know that, with {how[0]} for how many people there are"
    else:
        also = "; nothing says how many people there are outside the file, so nobody is taken to be unsure of that"
    said.append(
        f"Intruders were not stated: one knows the keys of a person and that the person is in the file{also}. Nobody "
        "is taken to know amounts such as incomes; state intruders={...} where somebody could."
    )
    return who, asked.keys, asked.sensitive, asked.weight, asked.unit


def _stated(
    file: Encoded, found: Roles, intruders: Mapping[str, Intruder], keys: Any, sensitive: Any, weight: Any, unit: Any,
    population: Any, said: list[str],
) -> tuple[dict[str, Intruder], tuple[str, ...], tuple[str, ...], str | None, str | None]:  # fmt: skip
    """Intruders as stated; keys are what they know, and further ones that are named."""
    if not isinstance(intruders, Mapping) or not all(isinstance(w, Intruder) for w in intruders.values()):
        raise InputError('intruders is a table of intruders by name, as {"neighbour": cf.Intruder(knows=["age"])}.')
    if not intruders:
        raise InputError("intruders names nobody; leave it out, and those who know the keys are taken.")
    if population is not None:
        raise InputError("population goes with intruders that are not stated; give it to them, in cf.Unsure(...).")
    columns = file.frame.columns
    mine = names_of(keys, "keys") if keys else ()
    private = (
        found.sensitive[:MOST_SENSITIVE] if sensitive is None else names_of(sensitive, "sensitive") if sensitive else ()
    )
    for role, names in (("keys", mine), ("sensitive", private), ("weight", (weight,)), ("unit", (unit,))):
        for v in names:
            if v is not None and v not in columns:
                raise InputError(f'{role}: there is no column "{v}".{did_you_mean(str(v), columns)}')
    known = {v for w in intruders.values() for v in w.knows}
    if not known:
        raise InputError("The intruders know nothing of anybody (knows is empty), so there is nobody to protect from.")
    heavy, group = weight, unit
    if weight is None and found.weight is not None and found.weight not in known:
        try:
            weights_of(file, found.weight)
            heavy = found.weight
            said.append(_role_words((found.weight,), "weight", True))
        except InputError as e:
            said.append(f"{e} It was guessed, and is left out.")
    if unit is not None:
        check_unit(file, unit)
    private = tuple(v for v in private if v not in (*known, *mine, heavy, group))
    if private:
        said.append(_role_words(private, "sensitive", sensitive is None))
    return dict(intruders), mine, private, heavy, group


def _identifiers(
    file: Encoded, found: Roles, stated: Any, used: Sequence[str | None], said: list[str]
) -> tuple[str, ...]:
    """Columns that name people, which no plan releases."""
    if stated is not None:
        names = names_of(stated, "identifiers") if stated else ()
        for v in names:
            if v not in file.frame.columns:
                raise InputError(f'identifiers: there is no column "{v}".{did_you_mean(v, file.frame.columns)}')
        return names
    names = tuple(v for v in found.identifiers if v not in used)
    if names:
        said.append(f"{_role_words(names, 'identifiers', True)[:-1]}, which are not released.")
    alone = [v for v in file.frame.columns if v not in (*used, *names) and _tells_apart(file, v)]
    if alone:
        said.append(
            f"A different value in every row: {', '.join(alone)}. Nothing was guessed from that, and no intruder is "
            "taken to know it; if it names people, state it among identifiers=[...], or it may be released as it is."
        )
    return names


def _tells_apart(file: Encoded, name: str) -> bool:
    """Whether each row has a value of its own; of amounts that is usual, and says nothing."""
    s = file.frame.get_column(name)
    many = s.dtype.is_integer() or s.dtype == pl.String or isinstance(s.dtype, (pl.Categorical, pl.Enum))
    return many and s.len() > FEW_ROWS and s.n_unique() == s.len()


def _role_words(names: Sequence[str], role: str, guessed: bool) -> str:
    words = {"keys": "Keys, what an intruder could know", "identifiers": "Identifiers"}
    how = "guessed from names and values" if guessed else "stated"
    return f"{words.get(role, role.capitalize())} ({how}): {', '.join(names)}."


def _measures(
    outlook: Outlook, utility: Any, by: str | Measure | None, said: list[str]
) -> tuple[tuple[Measure, ...], Measure]:
    from confide.study.tradeoff.asked import chosen_measure

    if utility is not None:
        measures = tuple(asked_measures(utility))
        if not measures:
            raise InputError("utility names no measure; leave it out, and distances of distributions are taken.")
        return measures, chosen_measure(measures, by if by is not None else measures[0].name)
    several = sum(s.distinct > 1 for s in outlook.readable.values()) > 1
    measures = (*([Hellinger(pairs=True)] if several else []), Hellinger())
    what = "all pairs of variables" if several else "the variables"
    said.append(
        f"What analysts need was not stated; plans are compared by {measures[0].name}, the distance between the "
        f"distributions of {what} before and after, so that margins and relations count and what is dropped is lost."
    )
    return measures, chosen_measure(measures, by if by is not None else measures[0].name)
