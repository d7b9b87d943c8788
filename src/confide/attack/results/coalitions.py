r"""How far a record stands out by some of the known variables alone: v(S) = log(N p^S).

p^S is the probability of the record for the same intruder who knows no more than the variables in S: what is not in S
is left out of C and A together. N is the number of released records, or of all people where membership is unsure, so
that v of no variable is 0: each record is then as likely as any other, 1/N.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.prepare import Stated
from confide.attack.intruder import Unsure
from confide.attack.results.again import prepared
from confide.attack.results.question import knowing
from confide.attack.results.shapley import drawn_orders, exact_shares, shares_by_order
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Bools

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

EXACT = 10
"""Known variables up to which all sets are attacked; above, orders are drawn."""


@dataclass(frozen=True, eq=False)
class Shares:
    """`nats`: shape (V, T); `rest`, (T,): what the release adds beyond the known variables, which comes last; `total`,
    (T,): log(N p), the sum of all. `pairs`: (pairs, V, T), nats by pair of orders, None where all sets were tried."""

    nats: F64
    rest: F64
    total: F64
    pairs: F64 | None = None

    @property
    def orders(self) -> int | None:
        """How many orders were drawn."""
        return None if self.pairs is None else 2 * len(self.pairs)

    def order_error(self, weight: F64) -> F64:
        """The standard error of weighted means over targets, (V,), that comes from the orders drawn."""
        if self.pairs is None:
            return np.zeros(len(self.nats))
        means = self.pairs @ (weight / weight.sum())
        return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(len(means)))

    def of(self, mine: Bools) -> Shares:
        """Those of some targets."""
        pairs = None if self.pairs is None else self.pairs[:, :, mine]
        return Shares(self.nats[:, mine], self.rest[mine], self.total[mine], pairs)


@dataclass(frozen=True, eq=False)
class Coalitions:
    """Some targets (`rows` of the attack's units) and for each the released row that is explained (`records`).

    `p`: its probability in the attack; `everybody`: N. `known`: v(S) by the bits of S, shape (T,), as far as asked.
    """

    attack: Attack
    rows: I64
    records: I64
    p: F64
    everybody: float
    known: dict[int, F64] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        return known_variables(self.attack)

    def value(self, mask: int) -> F64:
        """v of the set of variables whose bits are set; -inf where these alone rule the record out."""
        if mask not in self.known:
            names = [v for k, v in enumerate(self.variables) if mask >> k & 1]
            with np.errstate(divide="ignore"):
                self.known[mask] = np.log(self.everybody * self._probability(names)) if names else np.zeros(len(self.p))
        return self.known[mask]

    def _probability(self, names: list[str]) -> F64:
        from confide.attack.engine.run import run_attack

        attack = self.attack
        who = knowing(attack.intruder, names, whole=False)
        file, also = self._file(), attack.given[2]
        truth = None if file is None else np.full(file.height, -1)
        stated = Stated(self.records, prepared(attack).behind)
        found = run_attack(
            who, attack.release, file, truth, threads=None, progress=False, also=also, stated=stated
        ).units  # fmt: skip
        return found["p_true"].fill_null(0.0).to_numpy()

    def _file(self) -> pl.DataFrame | None:
        """The targets as a file; None for all default targets, of whom those alike are computed once."""
        targets = self.attack.given[0]
        if targets is not None:
            return to_polars(targets, "targets")[self.rows]
        if np.array_equal(self.rows, np.arange(self.attack.units.height)):
            return None
        truth = self.attack.truth[self.rows]
        return self.attack.release.original[np.where(truth >= 0, truth, self.rows)]

    def shares(self, orders: int, done: Callable[[int], None] = lambda _: None) -> Shares:
        """Shapley values of all known variables, exact up to `EXACT` of them."""
        n, total = len(self.variables), np.log(self.everybody * self.p)
        every, pairs = (1 << n) - 1, None
        with np.errstate(invalid="ignore"):  # a set that rules the record out makes shares infinite or unknown
            if n <= EXACT:
                values = []
                for mask in range(every + 1):
                    values.append(self.value(mask))
                    done(1)
                nats = exact_shares(np.array(values))
            else:
                pairs = shares_by_order(self.value, n, drawn_orders(n, orders), done)
                nats = pairs.mean(axis=0)
            rest = total - self.value(every)
        return Shares(nats, np.where(np.abs(rest) < 1e-9, 0.0, rest), total, pairs)


def known_variables(attack: Attack) -> tuple[str, ...]:
    """What the intruder knows, and is released: as values, then as intervals."""
    who = prepared(attack).intruder
    return (*who.knows, *who.between)


def everybody(attack: Attack) -> float:
    """N: how many records, or units of them, there are; with unsure membership how many people."""
    ready = prepared(attack)
    rows = float(attack.release.frame.height)
    units = rows if ready.groups is None else float(len(np.unique(ready.groups.released)))
    who = ready.intruder.membership
    if who == "certain":
        return units
    if not isinstance(who, Unsure):
        people = float(attack.release.original.height)
    elif ready.population is not None:
        people = float(ready.population[1].sum())
    else:
        people = float(ready.weights.sum()) if ready.weights is not None else float(who.total or 0.0)
    return max(people, rows) - rows + units


def work(variables: int, orders: int) -> int:
    """How many steps `shares` reports."""
    return 1 << variables if variables <= EXACT else orders + orders % 2
