"""What hiding values does not do that its name may promise, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.protect.methods.local_suppression.pieces import Pieces
from confide.protect.methods.local_suppression.solution import least_rows


def of_units(few: int, where: str) -> list[str]:
    """`few`: records whose keys k rows have, but fewer than k units."""
    if not few:
        return []
    return [
        f"{where}: k counts rows, not units. For {few:,} records k rows or more have the same keys, but fewer than k "
        "units, so that whoever knows the keys of a unit can be surer of it than 1/k."
    ]


def of_most_hidden(made: Pieces, variables: Sequence[str], where: str) -> list[str]:
    """Variables of which more than half is hidden."""
    there = ((made.codes >= 0) * made.count[:, None]).sum(axis=0)
    return [
        f'{where}: of "{v}" {gone:,} of {of:,} values are hidden. Coarsen it first, so that less is hidden, or '
        "leave it out of the release."
        for v, gone, of in zip(variables, made.cells.tolist(), there.tolist(), strict=True)
        if 2 * gone > of
    ]


def of_wildcards(told: Mapping[str, Any], where: str) -> list[str]:
    """That the rule of wildcards protects nobody whose keys are known; `told`: details of the step."""
    if not told["people"]:
        return []
    return [
        f"{where}: by the wildcard rule a hidden value agrees with any, which does not protect people whose keys are "
        f"known: for {told['below_k']['person']:,} of {told['people']:,} fewer than k rows can be theirs, for some "
        f'only {told["least_candidates"]}. rule="own" protects them.'
    ]


def of_smaller_sets(made: Pieces, sizes: Mapping[int, int], where: str) -> list[str]:
    """That k in sets of some of the keys bounds no probability, where all keys together are shared by fewer."""
    asked, many = max(sizes.values()), made.codes.shape[1]
    least = least_rows(made, range(many), "own")
    if least is None or least >= asked:
        return []
    return [
        f"{where}: subsets bounds no intruder's probability. Rows that show the same in a set differ in their other "
        f"keys, which also tell whose values were hidden: only {least} rows show the same in all {many} keys, so that "
        f"somebody who knows a set may be surer than 1/{asked}. subsets={{{many}: {asked}}} holds everybody to it."
    ]
