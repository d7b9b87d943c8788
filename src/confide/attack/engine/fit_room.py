"""Whether beliefs can be fitted within the memory that is allowed: what it takes grows with rows that differ by what
predicts, and with the categories of altered variables."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from confide.attack.beliefs.cells import Cells
from confide.core.errors import InputError

PER_CATEGORY, PER_ENTRY = 60, 36
"""Bytes for each row that differs: by category of altered variables, and by entry of the design; as measured, within a
factor of two."""
MOST = 3
"""Altered variables that are crossed with what predicts them, in the count of entries."""


def bytes_of_fit(entries: float, rows: int, sizes: Sequence[int]) -> int:
    """What fitting takes. `entries`: of the design in each row; `sizes`: categories of each altered variable.

    >>> bytes_of_fit(9, 1_000_000, [60])
    3924000000
    """
    crossed = 2 ** min(len(sizes), MOST) - 1
    return int(rows * (PER_CATEGORY * sum(sizes) + PER_ENTRY * entries * crossed))


def check_room(room: int | None, cells: Cells, rows: int, sizes: Sequence[int]) -> None:
    """Refuse what does not fit. `rows`: of the file that beliefs are fitted to, those that are alike counted once."""
    if room is None or not len(cells):
        return
    differ = min(rows, len(cells) * prod(sorted(sizes)[:-1]))
    need = bytes_of_fit(cells.design.nnz / len(cells), differ, sizes)
    if need <= room:
        return
    enough = ceil(need / 2**30)
    raise InputError(
        f"Beliefs about altered variables of {sum(sizes):,} categories are fitted to {differ:,} rows that differ by "
        f"what predicts these, which may take {need / 2**30:,.1f} GB; {room / 2**30:,.1f} GB are allowed. Allow more, "
        f'memory="{enough}GB" (on the command line --memory {enough}GB), recode variables with many categories, or let '
        'the intruder know fewer. At level "informed" variables that nobody knows do not predict; at "exact" they do.'
    )
