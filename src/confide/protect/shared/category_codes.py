"""Categories as codes, missing as a category of its own: what swapping and PRAM work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import I64, Column, Records, codes_in, combine
from confide.protect.seam.coarsening import Chain


def level_codes(column: Column, reference: Column) -> tuple[I64, int]:
    """Codes among the reference's values, with one more code for missing; -1 where the reference lacks the value."""
    codes = codes_in(column, reference)
    size = len(reference.levels) if reference.kind == "categorical" else len(_distinct(reference))
    return np.where(column.missing, size, codes), size + 1


def _distinct(column: Column) -> I64:
    return np.unique(column.values[~column.missing])


def joint_codes(
    released: Records, about: Sequence[str], after: Callable[[str], Chain]
) -> tuple[I64, Callable[[Records], I64], int]:
    """Joint categories of several released variables.

    Returns the code of each released row (0..size-1), a function that gives true values the code of what they
    would be released as if nothing were exchanged (-1 where the release lacks it), and the size. Distinct rows of a
    release serve as well as all.
    """
    parts = [level_codes(released[v], released[v]) for v in about]
    sizes = [s for _, s in parts]
    wide = combine_exact([c for c, _ in parts], sizes)
    known, code = np.unique(wide, return_inverse=True)

    def of(records: Records) -> I64:
        found = [level_codes(after(v).image(records[v]), released[v])[0] for v in about]
        whole = combine_exact(found, sizes)
        at = np.clip(np.searchsorted(known, whole), 0, max(len(known) - 1, 0))
        hit = (known[at] == whole) if len(known) else np.zeros(len(whole), dtype=bool)
        for f in found:
            hit = hit & (f >= 0)
        return np.where(hit, at, -1).astype(np.int64)

    return code.astype(np.int64), of, len(known)


def rows_in(table: Records, records: Records) -> I64:
    """For each record the row of a table of distinct joint values that it equals; every record must be in the table."""
    code, of, size = joint_codes(table, tuple(table), lambda _: Chain())
    place = np.empty(size, dtype=np.int64)
    place[code] = np.arange(size)
    return place[of(records)]


def group_codes(records: Records, names: Sequence[str]) -> I64:
    """Each record's group on the variables named, as codes 0..g-1; one group where none is named."""
    if not names:
        return np.zeros(records.n, dtype=np.int64)
    parts = [level_codes(records[v], records[v]) for v in names]
    wide = combine_exact([c for c, _ in parts], [s for _, s in parts])
    return np.unique(wide, return_inverse=True)[1].astype(np.int64)


def combine_exact(codes: Sequence[I64], sizes: Sequence[int]) -> I64:
    """Mixed-radix code of several variables; the product of sizes fits in 62 bits for any real code lists."""
    if float(np.prod([s + 1.0 for s in sizes])) > 2.0**62:
        raise InputError(
            f"{len(sizes)} variables have too many joint categories to be handled together; recode them first."
        )
    return combine(codes, sizes)
