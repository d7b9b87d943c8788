"""Which variables make people stand out, in the whole file and by group: mean contributions in nats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.results.coalitions import Coalitions, Shares, everybody, known_variables, work
from confide.attack.results.grouped import TargetGroups, target_groups
from confide.attack.results.nats import ORDERS, REST, check_orders, times_said
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.visible import visible
from confide.frames.columns import F64, I64, Bools

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

MOST, LEAST = 4_000, 200
"""Targets that are looked at, and of each group at least, where there are so many."""
SCHEMA: dict[str, Any] = {
    "by": pl.String, "group": pl.String, "people": pl.Int64, "looked_at": pl.Int64, "total": pl.Float64,
    "variable": pl.String, "nats": pl.Float64, "error": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Result):
    r"""`frame`: by, group, people, looked_at, total, variable, nats, error; first the file (`by` null), then groups.

    .. math:: \bar\phi_i = \frac1n \sum_t \phi_i(t), \qquad \sum_i \bar\phi_i = \frac1n \sum_t \log(N p_t)

    `nats` is the mean over people of what a variable adds to the log of the probability of their own record (see
    `Nats`), `total` the sum over variables. `error`: its standard error, where not everybody was looked at or orders
    of variables were drawn; else 0. `people`: of the group with a record to explain, `looked_at` of them. `out`: people
    left out, since their own record was not released, or has probability 0 by all or some of the variables: their
    contribution is not finite. They are not safe for that.
    """

    frame: pl.DataFrame
    targets: int
    out: int
    everybody: float
    orders: int | None = None

    def summary(self) -> pl.DataFrame:
        """The whole file, the largest contribution first."""
        return self.frame.filter(pl.col("by").is_null()).select("variable", "nats", "error")

    def __repr__(self) -> str:
        whole = self.frame.filter(pl.col("by").is_null())
        first = whole.row(0, named=True)
        times = times_said(first["total"])
        lines = [
            f"{first['people']:,} people; on average (geometric mean) their own record is {times} times as likely as 1 "
            f"in {self.everybody:,.0f}: {first['total']:+.3f} nats, of which"
        ]
        lines += _lines(whole, "    ")
        for (by, group), part in self.frame.drop_nulls("by").group_by(["by", "group"], maintain_order=True):
            head = part.row(0, named=True)
            lines.append(f"{visible(str(by))} {visible(str(group))} ({head['people']:,} people): {head['total']:+.3f}")
            lines += _lines(part, "    ")
        return "\n".join([*lines, *self._doubts(first)])

    def _doubts(self, first: dict[str, Any]) -> Iterator[str]:
        if first["looked_at"] < first["people"]:
            yield f"From {first['looked_at']:,} of them at random; +- is the standard error. most=None looks at all."
        if self.orders is not None:
            yield f"{self.orders} orders of variables were drawn; +- is the standard error."
        if self.out:
            yield (
                f"Left out: {self.out:,} of {self.targets:,} targets whose own record is not there or is ruled out, by "
                "all or some of the variables. They are not safe for that: another record is taken for theirs."
            )


def _lines(part: pl.DataFrame, indent: str) -> list[str]:
    width = max(len(visible(v)) for v in part["variable"])
    return [
        f"{indent}{visible(r['variable']):<{width}}  {r['nats']:+.3f}" + (f" +- {r['error']:.3f}" * bool(r["error"]))
        for r in part.iter_rows(named=True)
    ]


def contributions(
    attack: Attack, by: str | Sequence[str], most: int | None, orders: int, progress: Progress
) -> Contributions:
    """Mean contributions over the targets of an attack, or over a sample of them, stratified by the first variable."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 10):
        raise InputError("most is a whole number from 10 upwards: how many targets are looked at; None for all.")
    check_orders(orders)
    names, groups = known_variables(attack), target_groups(attack, by) if by else []
    if not names:
        raise InputError("Nothing that is known is released, so no variable says anything about anybody.")
    p = attack.units["p_true"].fill_null(0.0).to_numpy()
    there = np.flatnonzero((attack.own_rows >= 0) & (p > 0))
    if not len(there):
        raise InputError(
            "Contributions are to the probability of each target's own record, and no target has one that is known and "
            "possible. For one person attack.explain(target).nats explains the likeliest record instead."
        )
    strata = groups[0].codes[there] if groups else np.zeros(len(there), dtype=np.int64)
    rows = there[_sample(strata, most)]
    n = everybody(attack)
    with progress_bar("attacking", work(len(names), orders), progress) as done:
        shares = Coalitions(attack, rows, attack.own_rows[rows], p[rows], n).shares(orders, done)
    fine = np.asarray(np.isfinite(shares.nats).all(axis=0))
    lost = len(p) - len(there) + int((~fine).sum())
    weight = _weights(strata, np.isin(there, rows[fine]), there, rows)
    found = list(_told(names, shares, weight, fine, groups, rows, there))
    frame = pl.DataFrame(found, schema=SCHEMA, orient="row")
    return Contributions(frame, len(p), lost, n, shares.orders)


def _sample(strata: I64, most: int | None) -> I64:
    """Positions of those who are looked at: all, or a sample in which every stratum has enough people."""
    n = len(strata)
    if most is None or n <= most:
        return np.arange(n)
    rng = np.random.default_rng(n)
    picked = []
    for k in np.unique(strata):
        mine = np.flatnonzero(strata == k)
        size = min(len(mine), max(int(np.ceil(most * len(mine) / n)), min(LEAST, most)))
        picked.append(rng.choice(mine, size, replace=False))
    return np.sort(np.concatenate(picked))


def _weights(strata: I64, used: Bools, there: I64, rows: I64) -> F64:
    """How many people each of those who are looked at stands for, in the order of `rows`."""
    people, seen = np.bincount(strata), np.bincount(strata[used], minlength=strata.max() + 1)
    each = people / np.maximum(seen, 1)
    return np.asarray(each[strata[np.searchsorted(there, rows)]])


def _told(
    names: Sequence[str], shares: Shares, weight: F64, fine: Bools, groups: Sequence[TargetGroups], rows: I64,
    there: I64,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    yield from _rows((None, "everybody", len(there)), names, shares, weight, fine)
    for g in groups:
        for name, mine in g:
            if (fine & mine[rows]).any():
                yield from _rows((g.variable, name, int(mine[there].sum())), names, shares, weight, fine & mine[rows])


def _rows(
    place: tuple[str | None, str, int], names: Sequence[str], shares: Shares, weight: F64, mine: Bools
) -> Iterator[tuple[Any, ...]]:
    """The variables of one group, the largest contribution first."""
    part, w = shares.of(mine), weight[mine]
    drawn = part.order_error(w)
    every = [(v, part.nats[k], float(drawn[k])) for k, v in enumerate(names)]
    told = [(v, float(np.average(x, weights=w)), float(np.hypot(_error(x, w), e))) for v, x, e in every]
    told.sort(key=lambda t: -t[1])
    if part.rest.any():
        told.append((REST, float(np.average(part.rest, weights=w)), _error(part.rest, w)))
    for t in told:
        yield (*place, len(w), float(np.average(part.total, weights=w)), *t)


def _error(x: F64, weight: F64) -> float:
    """The standard error of a weighted mean of a sample without replacement; 0 where everybody was looked at.

    sum of w (w - 1) (x - mean)^2 n / (n - 1), over the square of the sum of w: those who stand for themselves alone
    add nothing.
    """
    n = len(x)
    if n < 2:
        return 0.0
    gap = x - np.average(x, weights=weight)
    return float(np.sqrt((weight * np.maximum(weight - 1, 0) * gap**2).sum() * n / (n - 1)) / weight.sum())


__all__ = ["MOST", "ORDERS", "Contributions", "contributions"]
