"""What is stated of a local suppression, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confide.core.checks import positive
from confide.core.errors import InputError, raise_all
from confide.frames.columns import F64, Bools, Records

MANY = 10
"""Records from which a key with as many values as records is refused."""


def wrong_size(given: Any, what: str = "k") -> str | None:
    """What is wrong with a number of people, in words."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        return f"{what} is the least number of people who share a combination, a whole number, as 3"
    if given < 2:
        return f"{what} is the least number of people who share a combination, from 2 upwards"
    return None


def stated_subsets(given: Any, many: int, where: str) -> dict[int, int] | None:
    """Sizes of sets of keys, as whole numbers, each with its k."""
    if given is None:
        return None
    example = "give a table of sizes and k, as {3: 5, 2: 10}"
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{where}: subsets says how many people share each combination of so many keys; {example}.")
    out: dict[int, int] = {}
    for size, k in given.items():
        if isinstance(size, bool) or not str(size).isdigit():
            raise InputError(f"{where}: subsets has sizes of sets of keys, whole numbers; {example}.")
        if not 1 <= int(size) <= many:
            raise InputError(f"{where}: subsets asks for sets of {int(size)} keys, but the step has {many}.")
        wrong = wrong_size(k, f"k of sets of {int(size)}")
        if wrong:
            raise InputError(f"{where}: {wrong}.")
        out[int(size)] = int(k)
    return out


def stated_importance(given: Any, keys: Sequence[str], where: str) -> dict[str, float] | None:
    """The importance of keys, all above zero."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f'{where}: importance is a table of variables and numbers, as {{"{keys[0]}": 2}}.')
    lost = [str(v) for v in given if v not in keys]
    problems = [f'{where}: importance names "{v}", which is no key of this step.' for v in lost]
    for v, c in given.items():
        try:
            positive(c, f'{where}: importance of "{v}"')
        except InputError as error:
            problems += error.problems
    raise_all(problems)
    return {str(v): float(c) for v, c in given.items()}


def stated_risk(given: Any, where: str) -> tuple[float, ...]:
    """One number per record."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros((0, 0))
    if found.ndim != 1:
        raise InputError(f"{where}: risk is a column, or one number per record.")
    return tuple(found.tolist())


def unusable_keys(keys: Records, k: int, where: str) -> list[str]:
    """What of the data cannot be protected so, in sentences."""
    problems = []
    n = int(keys.counts.sum())
    if k > n:
        problems.append(f"{where}: k is {k}, more than the {n} records of the file; take a smaller k.")
    for v, column in keys.items():
        present, people = column.values[~column.missing], int(keys.counts[~column.missing].sum())
        if not len(present):
            problems.append(f'{where}: "{v}" is missing in every record; leave it out.')
        elif people >= MANY and len(np.unique(present)) == people:
            problems.append(
                f'{where}: "{v}" has as many values as records, so that all of them would be hidden. Recode it '
                "first, or leave it out."
            )
    return problems


def unusable_people(
    original: Records, current: Records, weight: str | None, risk: str | Sequence[float] | None, above: float | None,
    where: str,
) -> tuple[F64, Bools]:  # fmt: skip
    """Each record's weight, and whether it is to be protected."""
    w, asked = np.ones(current.n), np.ones(current.n, dtype=bool)
    if weight is not None:
        column = current[weight]
        w = np.asarray(column.values, dtype=float)
        if column.kind != "numeric" or not bool((np.isfinite(w) & (w > 0)).all()):
            raise InputError(f'{where}: weight="{weight}" must hold a number above zero for every record.')
    if risk is None:
        return w, asked
    if isinstance(risk, str):
        column = current[risk]
        if column.kind != "numeric":
            raise InputError(f'{where}: risk="{risk}" must be a column of numbers.')
        found = np.asarray(column.values, dtype=float)
    else:
        if len(risk) != original.file:  # some records may be gone already
            raise InputError(f"{where}: risk has {len(risk)} numbers, but the file has {original.file} records.")
        found = np.asarray(risk, dtype=float)[original.rows]
    if bool(np.isnan(found).any()):
        raise InputError(
            f"{where}: the risk of {int(np.isnan(found).sum())} records is missing; an unknown risk is not a low one. "
            "Give 1 where it is unknown."
        )
    return w, np.asarray(found > float(above or 0.0))
