"""What hiding values does not do that its name may promise, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from confide.protect.methods.local_suppression.pieces import Pieces


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
