"""What a hierarchy states, checked at the door: one form, rising levels that are nested, a name for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.core.checks import finite, positive
from confide.core.errors import InputError, did_you_mean, is_text
from confide.frames.hierarchies.dates import PERIODS
from confide.frames.hierarchies.tree import Tree

if TYPE_CHECKING:
    from confide.frames.hierarchies.hierarchy import Hierarchy

WHERE = "Hierarchy"
FINEST = "as it is"


def check(h: Hierarchy) -> None:
    """Refuse what is no hierarchy; lists become tuples."""
    forms = {"widths": _widths, "breaks": _breaks, "prefix": _prefix, "dates": _dates, "table": _table}
    given = [f for f in forms if getattr(h, f) is not None]
    if len(given) > 1:
        raise InputError(f"{WHERE} takes one of {', '.join(forms)}; it was given {' and '.join(given)}.")
    if not isinstance(h.hide, bool):
        raise InputError(f"{WHERE}: hide is true or false: whether the last level leaves the variable out.")
    finite(h.start, f"{WHERE}: start")
    for form in given:
        object.__setattr__(h, form, forms[form](h))
    if h.labels is not None:
        _set_labels(h)
    if not given and not h.hide:
        raise InputError(
            f"{WHERE} has one level only, the values as they are. Give a coarser one: widths, breaks, prefix, dates or "
            "a table, or hide=True to leave the variable out."
        )
    if h.names is not None:
        _set_names(h)


def level_names(h: Hierarchy, out: str) -> tuple[str, ...]:
    """Names of all levels, the first and the last included."""
    ends, said = one_at_last(h), _said(h)
    inner = tuple(h.names) if h.names is not None else said[: len(said) - ends]
    return (FINEST, *inner, *((out,) if h.hide or ends else ()))


def one_at_last(h: Hierarchy) -> bool:
    """Whether a table ends in one group, which is as good as leaving the variable out."""
    if not h.table:
        return False
    last = {g[-1] for g in h.table.values() if g}
    return len(last) == 1 and len(h.table) > 1


def _said(h: Hierarchy) -> tuple[str, ...]:
    if h.widths is not None:
        return tuple(f"in steps of {w:,.10g}" for w in h.widths)
    if h.breaks is not None:
        return tuple(f"in {len(b) + 1} ranges" for b in h.breaks)
    if h.prefix is not None:
        return tuple(f"first {n}" for n in h.prefix)
    if h.dates is not None:
        return tuple(h.dates)
    return tuple(f"level {k + 1}" for k in range(_depth(h.table)))


def _depth(table: Mapping[Any, Sequence[Any]] | None) -> int:
    return len(next(iter(table.values()))) if table else 0


def _listed(values: object, what: str) -> tuple[Any, ...]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, (Sequence, np.ndarray)) or not len(values):
        raise InputError(f"{WHERE}: {what} is a list with one item per level, from the finest to the coarsest.")
    return tuple(values)


def _widths(h: Hierarchy) -> tuple[float, ...]:
    widths = _listed(h.widths, "widths")
    for w in widths:
        positive(w, f"{WHERE}: a width")
    for a, b in pairwise(widths):
        if b <= a or abs(b / a - round(b / a)) > 1e-9:
            raise InputError(
                f'{WHERE} is not nested: intervals of the level "in steps of {b:,.10g}" do not hold whole ones of '
                f'"in steps of {a:,.10g}". Each width must be a whole multiple of the one before, as in [5, 10, 20].'
            )
    return widths


def _breaks(h: Hierarchy) -> tuple[tuple[float, ...], ...]:
    levels = tuple(_listed(b, "each level of breaks") for b in _listed(h.breaks, "breaks"))
    for k, cuts in enumerate(levels, 1):
        numbers = [finite(c, f"{WHERE}: a break") for c in cuts]
        if sorted(set(numbers)) != numbers:
            raise InputError(f"{WHERE}: breaks of level {k} must be one or more rising numbers.")
    for k, (a, b) in enumerate(pairwise(levels), 1):
        if not set(map(float, b)) < set(map(float, a)):
            raise InputError(
                f"{WHERE} is not nested: each break of level {k + 1} must be one of level {k}, and there must be fewer."
            )
    return levels


def _prefix(h: Hierarchy) -> tuple[int, ...]:
    lengths = _listed(h.prefix, "prefix")
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 0 for n in lengths):
        raise InputError(f"{WHERE}: prefix is how many letters are kept at each level, whole numbers such as [4, 2].")
    for a, b in pairwise(lengths):
        if b >= a:
            raise InputError(
                f"{WHERE} is not nested: prefix must keep ever fewer letters, as in [4, 2], not {b} after {a}."
            )
    return tuple(int(n) for n in lengths)


def _dates(h: Hierarchy) -> tuple[str, ...]:
    periods = _listed(h.dates, "dates")
    known = list(PERIODS)
    for p in periods:
        if p not in known:
            more = " Weeks do not lie in months or years as a whole." if str(p).startswith("week") else ""
            raise InputError(f'{WHERE}: dates knows no "{p}".{more or did_you_mean(str(p), known)}')
    for a, b in pairwise(periods):
        if known.index(b) <= known.index(a):
            raise InputError(f'{WHERE} is not nested: dates must become longer, not "{b}" after "{a}".')
    return periods


def _table(h: Hierarchy) -> dict[Any, tuple[Any, ...]]:
    if not isinstance(h.table, Mapping) or not h.table:
        raise InputError(
            f'{WHERE}: table leads from each value to the list of its groups, as in {{"Rome": ["Lazio"]}}.'
        )
    rows = {v: (g,) if isinstance(g, str) else g for v, g in h.table.items()}
    if not all(isinstance(g, (list, tuple)) for g in rows.values()):
        raise InputError(f"{WHERE}: table leads from each value to a list of groups, one per level.")
    depths = {len(g) for g in rows.values()}
    if len(depths) > 1:
        raise InputError(
            f"{WHERE}: rows of the table have {min(depths)} to {max(depths)} groups; each needs one per level."
        )
    if any(v is None or g is None for v, groups in rows.items() for g in (v, *groups)):
        raise InputError(f"{WHERE}: the table holds None; leave missing values out, and name every group.")
    if depths == {0}:
        raise InputError(f"{WHERE} has one level only: the table has no groups beside the values themselves.")
    made = {v: tuple(g) for v, g in rows.items()}
    given = [*(h.names or ())]
    names = [given[k] if k < len(given) else f"level {k + 1}" for k in range(_depth(made))]
    Tree.of([FINEST, *names], [list(made), *zip(*made.values(), strict=True)], WHERE)
    return made


def _set_labels(h: Hierarchy) -> None:
    if h.breaks is None:
        raise InputError(f"{WHERE}: labels go with breaks, a list of names per level.")
    levels = tuple(_listed(names, "each level of labels") for names in _listed(h.labels, "labels"))
    sizes = [len(b) + 1 for b in h.breaks]
    if [len(names) for names in levels] != sizes:
        raise InputError(f"{WHERE}: breaks make {', '.join(map(str, sizes))} intervals; labels must name as many.")
    for names in levels:
        if not all(is_text(n) for n in names) or len(set(names)) < len(names):
            raise InputError(f"{WHERE}: labels of a level are texts, no two alike.")
    object.__setattr__(h, "labels", levels)


def _set_names(h: Hierarchy) -> None:
    names = _listed(h.names, "names")
    many = len(_said(h)) - one_at_last(h)
    if len(names) != many or not all(is_text(n) for n in names) or len({*names, FINEST, "left out"}) < many + 2:
        raise InputError(
            f"{WHERE}: names is one text per level between the values and leaving out, {many} here, no two alike."
        )
    object.__setattr__(h, "names", names)
