r"""The least cost of hiding, proved: set partitioning by HiGHS, for small files.

Some optimum puts people into groups of k to 2k - 1, each hiding the variables on which it is not constant: a larger
group can be cut in two without hiding more. With one whole number per group g of kinds of people,

.. math:: \min \sum_g c_g x_g \quad\text{subject to}\quad \sum_g m_{gy} x_g = n_y \text{ for every kind } y,
    \qquad c_g = \sum_{y} m_{gy} w_y \sum_{v \text{ differs in } g} c_v\, 1[y_v \text{ is there}]

:math:`m_{gy}` of the :math:`n_y` people of kind y are in a group g. Those who need no protection may also be alone. The
certificate is the solver's own lower bound, which equals the cost; the bound of the linear programme stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from confide.core.errors import InputError
from confide.frames.columns import F64, I64
from confide.protect.methods.local_suppression.pieces import Pieces

MOST = 60_000
"""Groups at most: more take HiGHS minutes."""


@dataclass(frozen=True, eq=False)
class Proved:
    """`pieces`: with what is hidden. `bound`: no solution is cheaper; `linear`: the same by the linear programme."""

    pieces: Pieces
    bound: float
    linear: float


@dataclass(frozen=True, eq=False)
class _Groups:
    """`members`: the kinds of each group and how many; `mask`: the variables that it hides; `cost`: (groups,)"""

    members: list[dict[int, int]]
    mask: I64
    cost: F64


def hide_exactly(pieces: Pieces, k: int, importance: F64, where: str) -> Proved:
    """Hide at least cost; `pieces` has nothing hidden."""
    groups = _groups(pieces, k, importance, where)
    at = [(g, y, m) for g, each in enumerate(groups.members) for y, m in each.items()]
    g, y, m = (np.array(part) for part in zip(*at, strict=True))
    share = csr_array((m.astype(float), (y, g)), shape=(len(pieces.count), len(groups.members)))
    n = pieces.count.astype(float)
    lp = linprog(groups.cost, A_eq=share, b_eq=n, method="highs")
    found = milp(
        groups.cost, constraints=LinearConstraint(share, n, n), integrality=np.ones(len(groups.cost)),
        options={"mip_rel_gap": 0.0},
    )  # fmt: skip
    if found.x is None or not lp.success or not found.success:
        raise InputError(f'{where}: HiGHS found no proved solution ({found.message}). Take how="greedy".')
    times = np.rint(found.x).astype(np.int64)
    assert np.array_equal(share @ times, n), "everybody is in one group"
    return Proved(_filled(pieces, groups, times), float(found.mip_dual_bound), float(lp.fun))


def _filled(pieces: Pieces, groups: _Groups, times: I64) -> Pieces:
    """Pieces by the groups that were chosen."""
    out = [
        (y, int(groups.mask[g]), m * int(times[g]))
        for g in np.flatnonzero(times)
        for y, m in groups.members[int(g)].items()
    ]
    return pieces.divided(out)


def _groups(pieces: Pieces, k: int, importance: F64, where: str) -> _Groups:
    """All groups that an optimum may need."""
    members: list[dict[int, int]] = []
    masks, costs = [], []
    price = importance * (pieces.codes >= 0) * pieces.weight[:, None]
    for group in _candidates(pieces, k):
        if len(members) == MOST:
            raise InputError(
                f'{where}: how="exact" is for small files; this one has more than {MOST:,} groups of k to 2k - 1 kinds '
                'of people. Take how="greedy", which states how far from the least it can be.'
            )
        kinds = np.fromiter(group, dtype=np.int64)
        many = np.fromiter(group.values(), dtype=np.int64)
        x = pieces.codes[kinds]
        differs = (x != x[0]).any(axis=0)
        members.append(group)
        masks.append(int((differs * (1 << np.arange(len(importance)))).sum()))
        costs.append(float((many[:, None] * price[kinds] * differs).sum()))
    return _Groups(members, np.array(masks, dtype=np.int64), np.array(costs))


def _candidates(pieces: Pieces, k: int) -> Iterator[dict[int, int]]:
    """Groups of kinds with how many of each: one person who need not be protected, and k to 2k - 1 of any."""
    kinds = range(len(pieces.count))
    yield from ({y: 1} for y in kinds if not pieces.asked[y])
    for size in range(k, 2 * k):
        for chosen in combinations_with_replacement(kinds, size):
            group: dict[int, int] = {}
            for y in chosen:
                group[y] = group.get(y, 0) + 1
            if all(m <= pieces.count[y] for y, m in group.items()):
                yield group
