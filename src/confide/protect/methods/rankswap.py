"""RankSwap: release the value of a record near in rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, Kind, Records
from confide.protect.likelihoods.window import Window
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Subject, dear_numbers, one_each, together
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Check, Mechanism, Names, registered
from confide.protect.seam.words import exactly, listed, percent
from confide.protect.shared.moved_ranks import guessed_window, ranks_released, swapped_ranks, wrong_window
from confide.protect.shared.rank_shares import RankMoves, RankScale
from confide.protect.shared.ranks_in_parts import RankGathering
from confide.protect.shared.standing_apart import Apart

SHARES = (0.005, 0.02, 0.05, 0.10, 0.20)
"""Windows to try, as shares of the records."""


@registered
@dataclass(frozen=True)
class RankSwap(Mechanism):
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

    variables: Names
    window: int
    exchange: bool = False
    keep_zeros: bool = True

    method: ClassVar[str] = "rank_swap"
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False
    margins: ClassVar[bool] = True
    guesses: ClassVar[Mapping[str, Check]] = {"window": wrong_window}

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        wrong = wrong_window(self.window)
        problems.when(wrong, f"{where}: {wrong}.")
        problems.when(not wrong and self.window == 0, f"{where}: a window of 0 ranks leaves every value as it is.")
        for name in ("exchange", "keep_zeros"):
            problems.when(not isinstance(getattr(self, name), bool), f"{where}: {name} is true or false.")
        problems.tell()

    @property
    def words(self) -> str:
        said = f"rank swap {listed(self.variables)}, at most {exactly(self.window)} ranks away"
        return said + ", in pairs" * self.exchange + ", zeros too" * (not self.keep_zeros)

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers, one by one and all at once, by a window that is a share of the records."""
        numbers = [s for s in outlook.worth("numeric") if len(np.unique(s.amounts)) > 1]

        def step(s: Subject, share: float) -> Mechanism:
            return cls(s.name, window=_ranks_of(s, share), keep_zeros=s.zeros)

        def says(s: Subject, share: float) -> str:
            return f"rank swap {s.name}, at most {exactly(_ranks_of(s, share))} ranks away"

        found = one_each(cls.method, numbers, lambda _: SHARES, step, says, between=True)

        def all_of(names: tuple[str, ...], share: float) -> str:
            return f"rank swap {listed(names)}, at most {percent(share)} of ranks away"

        return [*found, *together(found, all_of, dear_numbers(outlook))]

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def parts(self) -> Sequence[Mechanism]:
        return tuple(replace(self, variables=(v,)) for v in self.variables)

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
        count = current.count_of(v)
        scale = RankScale.of(column.values[regular], None if count is None else count[regular])
        return _FittedRankSwap(self, apart, scale, column.codebook())

    def at_once(self) -> str:
        return ""


def _ranks_of(s: Subject, share: float) -> int:
    """A share of the records that are moved, as a number of ranks: one at least."""
    return max(1, round(share * len(s.amounts)))


@dataclass(frozen=True, eq=False)
class _FittedRankSwap(Fitted):
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

    def gathering(self, draws: Draws, rows: int) -> RankGathering:  # noqa: ARG002 - the scale has the moved ones
        (v,) = self.step.variables
        return RankGathering(v, self.apart, self.scale, self.step.window, self.step.exchange, draws)

    @property
    def in_parts(self) -> bool:
        return True

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        (v,) = self.step.variables
        z, after = view.released[v], view.chain_after(v)
        window = int(view.guess("window", v, self.step.window))
        label = self.apart.of_released(z, after, self.model)
        low, high = ranks_released(self.scale, z, after, label == 0)
        moves = RankMoves(self.step.exchange, self.scale.n, window)
        like = Window(low, high, label == 0, moves, v, self._ranks, self.scale.n, window)
        labels = Labels(lambda records: self.apart.of_values(records[v].values), label, len(self.apart.values) + 1)
        return Evidence(about, {v: labels}, like)

    def _ranks(self, y: F64) -> tuple[I64, I64, Bools]:
        inside = np.asarray(self.apart.of_values(y) == 0)
        low, high = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
        low[inside], high[inside] = self.scale.place(y[inside])
        return low, high, inside
