"""RankSwap: release the value of a record near in rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, Kind, Records
from confide.protect.likelihoods.window import Window
from confide.protect.methods.rankswap.rank_shares import RankScale, copy_share, draw_copy, draw_exchange, exchange_share
from confide.protect.methods.synthesis.from_others import Check
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.mechanism import Applied, Chain, Mechanism, OfColumns, View, registered
from confide.protect.shared.standing_apart import Apart

GUESSED = 0.01
"""The window that somebody guesses who does not know it, as a share of the file."""


def wrong_window(given: Any) -> str | None:
    """What is wrong with a window, in words."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        if isinstance(given, float) and 0 < given < 1:
            return f"window is a number of ranks, not a share; for {given:g} of 10,000 rows write {given * 1e4:g}"
        return "window is a number of ranks, a whole one"
    return "window is a number of ranks, from 0 upwards" if given < 0 else None


def guessed_window(n: int) -> int:
    """One percent of the file, at least one rank."""
    return max(1, round(GUESSED * n))


@registered
@dataclass(frozen=True)
class RankSwap(OfColumns):
    r"""Replace each number by that of a record a few ranks away, at most `window`.

    A record at rank q copies the value at a rank drawn uniformly from q - window .. q + window, as far as the file
    goes; tied values hold all their ranks. With ``exchange=True`` pairs exchange their values instead, so that the
    file's distribution stays exactly as it was: the sorted file is cut, at a random place, into blocks of window + 1
    records, which are paired at random. (Moore's rank swap also exchanges pairs, one after another; the chances of
    partners then have no closed form.) The chance that y is released as z is

    .. math:: L_{yz} = \frac{1}{|R_y|} \sum_{q \in R_y} \frac{|W_q \cap R_z|}{|W_q|}

    with :math:`R_y` the ranks of y and :math:`W_q` the window around q; for exchanges see `rank_shares`.

    Several variables are treated one by one. Zeros are left alone unless ``keep_zeros=False``, and so are missing
    values and answer codes. An intruder may guess "window".

    >>> import confide as cf
    >>> cf.RankSwap("hh_income", window=50).variables
    ('hh_income',)
    >>> cf.RankSwap("age", window=-5)
    Traceback (most recent call last):
    confide.InputError: RankSwap("age"): window is a number of ranks, from 0 upwards.
    """

    what: str | Sequence[str]
    window: int
    exchange: bool = False
    keep_zeros: bool = True

    method: ClassVar[str] = "rank_swap"
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False
    guesses: ClassVar[Mapping[str, Check]] = {"window": wrong_window}

    def __post_init__(self) -> None:
        names = names_of(self.what, "RankSwap")
        where = f'RankSwap("{", ".join(names)}")'
        object.__setattr__(self, "what", names)
        wrong = wrong_window(self.window)
        if wrong:
            raise InputError(f"{where}: {wrong}.")
        if self.window == 0:
            raise InputError(f"{where}: a window of 0 ranks leaves every value as it is.")
        for name in ("exchange", "keep_zeros"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{where}: {name} is true or false.")

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def parts(self) -> Sequence[Mechanism]:
        return tuple(replace(self, what=(v,)) for v in self.variables)

    def guess(self, released: Records) -> Mechanism:
        """Someone who knows only that ranks were swapped assumes a window of one percent of the file."""
        return replace(self, window=guessed_window(released.n))

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedRankSwap:  # noqa: ARG002
        (v,) = self.variables
        column = current[v]
        apart = Apart.of(column, self.keep_zeros)
        regular = apart.of_values(column.values) == 0
        if not regular.any():
            raise InputError(f'RankSwap("{v}"): no value of the column would be moved; all are missing, zero or codes.')
        if apart.merged(column, after.get(v, Chain())):
            raise InputError(
                f'RankSwap("{v}"): a later step merges moved values with those that are left alone (zeros, answer '
                "codes). Coarsen before the swap, or use keep_zeros=False."
            )
        return _FittedRankSwap(self, apart, RankScale.of(column.values[regular]), column)


@dataclass(frozen=True, eq=False)
class _FittedRankSwap:
    """`scale`: the file's moved values with their ranks; `model`: the column they are from."""

    step: RankSwap
    apart: Apart
    scale: RankScale
    model: Column

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        (v,) = self.step.variables
        values = current[v].values.copy()
        moved = self.apart.of_values(values) == 0
        values[moved] = swapped_ranks(
            self.scale, values[moved], self.step.window, self.step.exchange, draws, current.rows[moved]
        )
        return Applied([current[v].with_values(values)])

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        (v,) = self.step.variables
        z, after = view.released[v], view.chain_after(v)
        window = int(view.guess("window", v, self.step.window))
        label = self.apart.of_released(z, after, self.model)
        low, high = ranks_released(self.scale, z, after, label == 0)
        share = partial(exchange_share if self.step.exchange else copy_share, n=self.scale.n, d=window)
        like = Window(low, high, label == 0, share, v, self._ranks, self.scale.n, window)
        labels = Labels(lambda records: self.apart.of_values(records[v].values), label, len(self.apart.values) + 1)
        return Evidence(about, {v: labels}, like)

    def _ranks(self, y: F64) -> tuple[I64, I64, Bools]:
        inside = np.asarray(self.apart.of_values(y) == 0)
        low, high = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
        low[inside], high[inside] = self.scale.place(y[inside])
        return low, high, inside


def swapped_ranks(scale: RankScale, values: F64, window: int, exchange: bool, draws: Draws, rows: I64) -> F64:
    """Values of the file near in rank to those given, of records with these numbers."""
    every = np.repeat(scale.values, scale.hi - scale.lo + 1)
    rank = scale.ranks_of(values, draws.of("ties"))
    drawn = draw_exchange(scale.n, window, draws)[rank] if exchange else draw_copy(rank, scale.n, window, draws, rows)
    return np.asarray(every[drawn])


def ranks_released(scale: RankScale, z: Column, after: Chain, moved: Bools) -> tuple[I64, I64]:
    """The ranks that each released value stands for; 0..-1 where it was not moved."""
    low, high = np.zeros(len(z), dtype=np.int64), np.full(len(z), -1, dtype=np.int64)
    if after.steps:
        a, b = (edge[moved] for edge in after.cells(z))
        low[moved], high[moved] = scale.cover(a, b)
    else:
        low[moved], high[moved] = scale.place(z.values[moved])
    return low, high
