r"""How much each known variable does to single a person out, in nats.

.. math:: v(S) = \log(N p^S), \qquad \sum_i \phi_i = \log(N p)

Shapley values over the known variables: what each adds to the logarithm of the record's probability, relative to 1/N,
on average over all orders in which the intruder may learn them. Certain and uncertain variables are on one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.results.again import candidates, prepared
from confide.attack.results.coalitions import Coalitions, Shares, everybody, known_variables, work
from confide.attack.results.remedies import agreement_of
from confide.attack.results.shapley import exact_shares
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.visible import visible
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

COUNTED = 16
"""Known variables up to which all sets are counted, where counting is enough."""
ORDERS = 100
"""Orders that are drawn where there are too many sets."""
PRINTED, FEW = 6, 5_000
"""Known variables up to which a printout attacks all sets without being asked, where rows that are alike are merged or
no more than so many."""
REST = "(not known)"
"""What the release tells beyond the known variables."""
TIE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Nats(Result):
    """`frame`: variable, nats, error, the largest first; the sum of `nats` is `total` = log(N p).

    `p`: the probability of the record that is explained, `everybody`: N, the number of released records, or of people
    where membership is unsure (of units, where these have several rows). `own`: whether it is the person's own record;
    else it is the likeliest one, since the own one was not released, has probability 0 or is not known (where several
    are, the mean over them). A negative number is real: the variable speaks for others, as a swapped value does.
    `error`: the standard error where orders were drawn, `orders` of them; 0 where all sets were tried. A last row
    "(not known)" has what the release adds beyond the known variables, which is taken to come last.
    """

    frame: pl.DataFrame
    p: float
    everybody: float
    own: bool
    orders: int | None = None

    @property
    def total(self) -> float:
        """log(N p): how far the record stands out from 1/N, in nats."""
        return float(np.log(self.everybody * self.p))

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The printout."""
        which = "its own record" if self.own else "the likeliest record"
        head = (
            f"{which[0].upper()}{which[1:]} is {times_said(self.total)} times as likely as 1 in {self.everybody:,.0f}: "
            f"{self.total:+.3f} nats, of which"
        )
        parts = [f"{visible(r['variable'])} {r['nats']:+.3f}" for r in self.frame.iter_rows(named=True)]
        lines = [head, f"    {', '.join(parts)}"]
        if self.orders is not None:
            most = float(self.frame["error"].max() or 0.0)  # type: ignore[arg-type]
            lines.append(f"    from {self.orders} orders drawn at random; standard errors up to {most:.2g}")
        return lines


def times_said(nats: float) -> str:
    """How many times as likely so many nats make a record.

    >>> times_said(0.8), times_said(7.6)
    ('2.23', '1,998')
    """
    times = float(np.exp(nats))
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def check_orders(orders: int) -> None:
    """Refuse what is no number of orders to draw, also where none are drawn."""
    if isinstance(orders, bool) or not isinstance(orders, int) or not 4 <= orders <= 1_000_000:
        raise InputError("orders is a whole number from 4 upwards: how many orders of variables are drawn.")


def nats_of(attack: Attack, target: int, orders: int = ORDERS, progress: Progress = None) -> Nats:
    """Contributions to the probability of one person's record."""
    check_orders(orders)
    names = known_variables(attack)
    if not names:
        raise InputError("Nothing that is known is released, so no variable says anything about anybody.")
    rows, weight, p, own = _explained(attack, target)
    if p == 0:
        raise InputError("No record can be the person, so there is no probability to explain.")
    counted = _counted(attack, target)
    if counted is not None:
        shares, weight = counted, np.ones(1)
    else:
        places = np.full(len(rows), target)
        with progress_bar("attacking", work(len(names), orders), progress) as done:
            shares = Coalitions(attack, places, rows, np.full(len(rows), p), everybody(attack)).shares(orders, done)
    if not np.isfinite(shares.nats).all():
        raise InputError(
            "Some of the known variables alone rule the record out that all together point to, as for an intruder who "
            "takes released numbers as true. Contributions are then not finite; explain at another level."
        )
    return Nats(_table(names, shares, weight), p, everybody(attack), own, shares.orders)


def _table(names: Sequence[str], shares: Shares, weight: F64) -> pl.DataFrame:
    """The mean over records that are equally likely."""
    found = pl.DataFrame({"variable": names, "nats": shares.nats @ weight, "error": shares.order_error(weight)})
    found = found.sort("nats", descending=True, maintain_order=True)
    rest = float(shares.rest @ weight)
    if rest:
        found = pl.concat([found, pl.DataFrame({"variable": [REST], "nats": [rest], "error": [0.0]})])
    return found


def _explained(attack: Attack, target: int) -> tuple[I64, F64, float, bool]:
    """The released rows that are explained, how much each counts, their probability, whether they are the own one."""
    found = candidates(attack, target)
    own, p = int(attack.own_rows[target]), attack.units["p_true"][target]
    if own >= 0 and p:
        return np.array([own]), np.ones(1), float(p), True
    whole = found.p if found.unit is None else np.bincount(found.unit, weights=found.p)[found.unit]
    if not len(whole) or not whole.max():
        return np.zeros(0, dtype=np.int64), np.zeros(0), 0.0, False
    likely = np.flatnonzero(whole >= whole.max() * (1 - TIE))
    rows = found.rows[likely]
    key = prepared(attack).files.released.place(rows) if found.unit is None else found.unit[likely]
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    return rows[first], count / count.sum(), float(whole[likely[0]]), False


def _counted(attack: Attack, target: int) -> Shares | None:
    """Where all that is known is certain, and who is in the file too, one pass counts; None elsewhere."""
    ready, names = prepared(attack), known_variables(attack)
    if ready.intruder.membership != "certain" or ready.groups is not None or attack.given[2] or len(names) > COUNTED:
        return None
    scene, _ = ready.scene_of(target)
    if scene.knowledge.uncertain or scene.knowledge.nearest:
        return None
    alike = agreement_of(attack, target, names).every()
    values = np.log(alike[0] / alike)[:, None]
    nats = exact_shares(values)
    return Shares(nats, np.zeros(1), values[-1])


def cheap(attack: Attack, target: int) -> bool:
    """Whether a printout may compute it without being asked."""
    n = len(known_variables(attack))
    quick = prepared(attack).files.released.of is not None or attack.release.frame.height <= FEW
    return (0 < n <= PRINTED and quick) or (n <= COUNTED and _counted(attack, target) is not None)
