"""HotDeck: take values from the original record nearest to what has been made so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Bools, Column, Records
from confide.protect.likelihoods.product import Several
from confide.protect.likelihoods.window import Near, Shares, Window
from confide.protect.methods.synthesis.from_others import says_nothing
from confide.protect.methods.synthesis.hotdeck.donors import Whitening, cell_donors
from confide.protect.methods.synthesis.in_turn import sets
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import ALTERED, KEPT, SYNTHETIC, Applied, Fitted, View
from confide.protect.seam.mechanism import Check, Mechanism, Names, registered
from confide.protect.seam.words import exactly, listed
from confide.protect.shared.category_codes import joint_codes
from confide.protect.shared.moved_ranks import guessed_window, ranks_released, swapped_ranks, wrong_window
from confide.protect.shared.predictors import Predictors
from confide.protect.shared.rank_shares import RankScale, copy_share
from confide.protect.shared.standing_apart import Apart

MOST_COLUMNS = 500
"""Columns of match variables beyond which nearest donors are not looked for."""

CELLS, DONORS = 3, 5
"""Variables of cells to try, at most, and the smallest number of donors that a cell may have."""


@registered
@dataclass(frozen=True)
class HotDeck(Mechanism):
    r"""Take the values of several variables from the nearest original record, then move them by ranks.

    A record's donor is the original record of its own cell of `within` that is nearest to it in Mahalanobis distance
    between the `match` variables as the plan has made them so far and as the file has them; ties are broken at random.
    All `variables` come from one donor. Numbers are then moved, one by one, to the value at a rank at most `window`
    away, as in `RankSwap` (0: not at all); zeros, missing values and answer codes stay.

    `coarser`: cells to use instead where a cell has fewer than `donors` original records, a list of variables, or
    several such lists, tried in turn. Without it a cell without donors is refused. A cell with one donor repeats that
    record's values: `donors=2` or more prevents it. Matched on kept values, a record mostly finds itself, and only the
    window changes anything. Categories among `variables`, coded ones too, are not moved; ``numeric=[...]`` of the plan
    makes numbers of codes. Categories among `match` count as indicators; a missing value is at
    the mean with an indicator of its own; directions in which the file does not vary are left out.

    The intruder of Huckett and Larsen (level "informed") takes the donor for the target: records whose rank lies within
    the window of the target's (or of a rank predicted from match and within) are alike, others impossible. Level
    "exact" knows that a donor found by synthetic values is nobody in particular. Where all `match` variables are kept,
    the donor of a record whose match values nobody shares *is* that record, and the move alone protects it. An intruder
    may guess "window".

    >>> import confide as cf
    >>> cf.HotDeck(["wage_income", "other_income"], match=["hh_income"], within=["sex"], window=50).needs
    ('hh_income', 'sex')
    """

    variables: Names
    match: str | Sequence[str] = ()
    within: str | Sequence[str] = ()
    window: int = 0
    coarser: Sequence[str] | Sequence[Sequence[str]] = ()
    donors: int = 1
    keep_zeros: bool = True

    method: ClassVar[str] = "hot_deck"
    role: ClassVar[str] = "random"
    needs_released: ClassVar[bool] = True
    guesses: ClassVar[Mapping[str, Check]] = {"window": wrong_window}

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        self.names_in(problems, "match", "within")
        wrong, d = wrong_window(self.window), self.donors
        problems.when(wrong, f"{where}: {wrong}.")
        few = isinstance(d, bool) or not isinstance(d, int) or d < 1
        problems.when(few, f"{where}: donors is the smallest number of original records in a cell, from 1 upwards.")
        problems.when(not isinstance(self.keep_zeros, bool), f"{where}: keep_zeros is true or false.")
        with problems:
            self._check_donors()
        problems.tell()

    def _check_donors(self) -> None:
        """Where donors are looked for."""
        where = self.where
        if not self.match and not self.within:
            raise InputError(
                f"{where} needs match (what donors should be near in) or within (cells of donors), or both."
            )
        object.__setattr__(self, "coarser", _ladder(self.coarser, self.within, where))
        both = set(self.variables) & {*self.match, *self.within}
        if both:
            raise InputError(
                f"{where}: {', '.join(sorted(both))} cannot be both taken from donors and used to find them."
            )

    @property
    def words(self) -> str:
        who = f" with the same {listed(self.within)}" if self.within else ""
        near = f", nearest in {listed(self.match)}" if self.match else ""
        moved = f", moved by at most {exactly(self.window)} ranks" if self.window else ""
        return f"{listed(self.variables)} of another record{who}{near}{moved}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Several numbers from one donor of the same cell, whoever it is; the fewer variables make cells, the less is
        kept of them."""
        numbers = outlook.those("numeric")
        single = [(s.name,) for s in outlook.worth("numeric")]
        for names in dict.fromkeys((*single, *sets(outlook, numbers))):
            cells = outlook.related(names, "categorical")[:CELLS]
            if cells and outlook.rows >= DONORS * 2:
                yield cls._dial(names, cells)
            else:
                yield Untried(cls.method, "no categorical variable hangs together with it that could make cells", names)

    @classmethod
    def _dial(cls, names: tuple[str, ...], cells: tuple[str, ...]) -> Dial:
        def at(many: int) -> Change:
            ladder = [cells[:k] for k in range(many - 1, -1, -1)]
            return Change((cls(names, within=cells[:many], coarser=ladder, donors=DONORS),))

        strengths = tuple(range(len(cells), 0, -1))
        return Dial(
            cls.method, names, strengths, at,
            lambda many: at(many).steps[0].words,
        )  # fmt: skip

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.match, *self.within)))

    def guess(self, released: Records) -> Mechanism:
        """Someone who knows only the method assumes a window of one percent of the file."""
        return replace(self, window=guessed_window(released.n) if self.window else 0)

    def sort(self, sorts: Mapping[str, str]) -> str:
        """Synthetic, unless donors are found by values that are the record's own."""
        return SYNTHETIC if all(sorts.get(v, KEPT) == SYNTHETIC for v in self.match) else ALTERED

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedHotDeck:  # noqa: ARG002
        for v in self.variables:
            if bool(original[v].missing.all()):
                raise InputError(f'{self.where}: "{v}" is missing in every record; there is nothing to take.')
        predictors = Predictors.of(original, self.match, self.where, rare=0)
        if predictors.width > MOST_COLUMNS:
            raise InputError(
                f"{self.where}: match makes {predictors.width - 1:,} columns, one per level of each category. "
                "Categories with many levels belong in within."
            )
        x = predictors.matrix(original, intercept=False)
        fitted = _FittedHotDeck(
            self, original.select((*self.variables, *self.needs)), predictors, Whitening.of(x),
            {v: _Moved.of(original[v], self.keep_zeros) for v in self.variables if original[v].kind == "numeric"},
        )  # fmt: skip
        lost = int((fitted.cells(current)[2] < 0).sum())
        if lost:
            if not self.within:
                raise InputError(f"{self.where}: donors={self.donors}, but the whole file has {original.n} records.")
            raise InputError(
                f"{self.where}: {lost} of {current.n} records are in cells of {', '.join(self.within)} with fewer than "
                f"{self.donors} original records to take values from. Name coarser cells: coarser=[...]."
            )
        return fitted


def _ladder(coarser: Any, within: Sequence[str], where: str) -> tuple[tuple[str, ...], ...]:
    """Lists of variables for coarser cells, in the order in which they are tried."""
    if isinstance(coarser, str):
        coarser = [coarser]
    if not isinstance(coarser, Sequence):
        raise InputError(f"{where}: coarser is a list of variables of within, or a list of such lists.")
    several = coarser if all(not isinstance(c, str) for c in coarser) else [coarser]
    out = []
    for names in several:
        names = tuple(names)
        strange = [v for v in names if v not in within]
        if strange:
            raise InputError(
                f'{where}: coarser cells are made of variables of within, and "{strange[0]}" is not there.'
            )
        out.append(names)
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Moved:
    """How one number is moved: what stands apart, ranks of the rest, and ranks of all its numbers."""

    apart: Apart
    scale: RankScale | None
    whole: RankScale

    @classmethod
    def of(cls, column: Column, keep_zeros: bool) -> _Moved:
        apart = Apart.of(column, keep_zeros)
        regular = apart.of_values(column.values) == 0
        scale = RankScale.of(column.values[regular]) if regular.any() else None
        return cls(apart, scale, RankScale.of(column.values[column.usable]))

    def ranks(self, y: F64) -> tuple[I64, I64, Bools]:
        """Ranks of values; -1, -2, ... for those that stand apart. Which there are: a missing one says nothing."""
        assert self.scale is not None
        state = self.apart.of_values(y)
        low, high = self.scale.place(np.where(state == 0, y, self.scale.values[0]))
        return np.where(state > 0, -state, low), np.where(state > 0, -state, high), ~np.isnan(y)

    def share(self, window: int) -> Shares:
        """The chance that one value is released as another: those that stand apart stay."""
        assert self.scale is not None
        n = self.scale.n

        def of(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64) -> F64:
            stays = (q_lo < 0) | (p_lo < 0)
            moves = copy_share(np.maximum(q_lo, 0), np.maximum(q_hi, 0), np.maximum(p_lo, 0), p_hi, n, window)
            return np.where(stays, (q_lo == p_lo).astype(float), moves)

        return of


@dataclass(frozen=True, eq=False)
class _FittedHotDeck(Fitted):
    """`file`: the original records, from which values are taken."""

    step: HotDeck
    file: Records
    predictors: Predictors
    whitening: Whitening
    moved: Mapping[str, _Moved]

    def cells(self, current: Records) -> tuple[list[I64], list[I64], I64]:
        """At each level of coarseness the cells of records and of the file; each record's level, -1 for none."""
        here, there = [], []
        level = np.full(current.n, -1, dtype=np.int64)
        for i, names in enumerate((self.step.within, *self.step.coarser)):
            if names:
                of_file, of, size = joint_codes(self.file, names, lambda _: Chain())
                mine = of(current)
            else:
                of_file, mine, size = np.zeros(self.file.n, dtype=np.int64), np.zeros(current.n, dtype=np.int64), 1
            count = np.append(np.bincount(of_file, minlength=size), 0)
            level = np.where((level < 0) & (count[mine] >= self.step.donors), i, level)
            here.append(mine)
            there.append(of_file)
        return here, there, level

    def donors(self, current: Records, draws: Draws) -> I64:
        """The original record that each record takes its values from."""
        points = self.whitening.points(self.predictors.matrix(current, intercept=False))
        pool = self.whitening.points(self.predictors.matrix(self.file, intercept=False))
        here, there, level = self.cells(current)
        donor = np.full(current.n, -1, dtype=np.int64)
        for i, (mine, theirs) in enumerate(zip(here, there, strict=True)):
            rows = np.flatnonzero(level == i)
            if len(rows):
                donor[rows] = cell_donors(points[rows], pool, mine[rows], theirs, draws, current.rows[rows])
        return donor

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        donor = self.donors(current, draws.of("donors"))
        columns = []
        for v in self.step.variables:
            values = self.file[v].values[donor]
            moved = self.moved.get(v)
            if moved is not None and moved.scale is not None and self.step.window:
                at = moved.apart.of_values(values) == 0
                values = values.copy()
                values[at] = swapped_ranks(
                    moved.scale, values[at], self.step.window, False, draws.of(f"window:{v}"), current.rows[at]
                )
            columns.append(current[v].with_values(values))
        return Applied(columns)

    # -- the intruder's side ---------------------------------------------------------------------------------

    def reads_missing(self, level: str) -> bool:
        """The readings of pairs compare numbers, and have nothing to say of a target without one."""
        return level not in ("sdl", "average")

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if view.level == "ignore":
            return Evidence(about)
        if view.level == "exact":
            return self._exact(view, about)
        parts, others = [], np.zeros(view.released.n)
        told = []
        for v in about:
            found = self._near(view, v)
            if found is not None:
                told.append(v)
                parts.append(found)
                others = others - np.where(found.there, np.log(found.chance), 0.0)
        if not parts:
            return Evidence(about, sense="pair")
        like = parts[0] if len(parts) == 1 else Several(tuple(parts))
        return Evidence(tuple(told), likelihood=like, sense="pair", log_others=others)

    def _near(self, view: View, v: str) -> Near | None:
        """Print's reading: the target's rank, or a predicted one, is within the window of the record's."""
        z = view.released[v]
        window = int(view.guess("window", v, self.step.window))
        if v not in view.known and not set(self.step.needs) <= view.known:
            return None  # no prediction without what it is made from
        if v not in self.moved:
            if v not in view.known:
                return None  # a category has no rank to predict
            code, of, _ = joint_codes(view.released, (v,), view.chain_after)
            codes = code.astype(float)
            return Near(codes, codes, ~z.missing, lambda records: (of(records).astype(float),) * 2, 0.0, 1.0, -np.inf)
        whole, there = self.moved[v].whole, np.asarray(~z.missing)
        low, high = (edge.astype(float) for edge in ranks_released(whole, z, view.chain_after(v), there))
        chance = 1.0 / max(2 * window + (0 if view.as_printed else 1), 1)
        ranks = _own_ranks(whole, v) if v in view.known else self._predicted_ranks(view, v)
        gap = -np.inf if v in view.known else 0.0  # a record without a value is no target's who has one
        return Near(low, high, there, ranks, float(window), chance, gap)

    def _predicted_ranks(self, view: View, v: str) -> Callable[[Records], tuple[F64, F64]]:
        """Ranks predicted by least squares from match and within, on the file."""
        predictors = Predictors.of(self.file, self.step.needs, self.step.where)
        there = self.file[v].usable
        x = predictors.matrix(self.file)[there]
        low, high = self.moved[v].whole.place(self.file[v].values[there])
        with one_blas_thread():
            beta = np.linalg.lstsq(x, 0.5 * (low + high), rcond=None)[0]

        def ranks(records: Records) -> tuple[F64, F64]:
            rank = np.clip(predictors.matrix(view.read(records)) @ beta, 0, self.moved[v].whole.n - 1)
            return rank, rank

        return ranks

    def _exact(self, view: View, about: tuple[str, ...]) -> Evidence:
        sorts = {view.sort(v) for v in self.step.match}
        if sorts <= {SYNTHETIC}:
            return says_nothing(view, about)
        if sorts != {KEPT}:
            raise InputError(
                f"{self.step.where}: the match variables are neither all kept nor all synthetic, and what the values "
                'then say has no closed form. Ask at level "informed", or match on variables of one sort.'
            )
        group, of, _ = joint_codes(view.released, self.step.needs, lambda _: Chain())
        mine = of(self.file)
        size = np.bincount(mine[mine >= 0], minlength=int(group.max()) + 1)
        parts = [self._window(view, v, group, size) for v in about]
        like = parts[0] if len(parts) == 1 else Several(tuple(parts))
        return Evidence(about, likelihood=like)

    def _window(self, view: View, v: str, group: I64, size: I64) -> Window:
        """The window around the target's own rank, where nobody else could have been the donor.

        Records with the same match values draw from the same donors, and their values do not distinguish them.
        """
        moved = self.moved.get(v)
        if moved is None or moved.scale is None:
            raise InputError(
                f'{self.step.where}: at level "exact", "{v}" must be a number, since categories are not moved; '
                f'numeric=["{v}"] of the plan makes a number of codes.'
            )
        z, after = view.released[v], view.chain_after(v)
        window = int(view.guess("window", v, self.step.window))
        state = moved.apart.of_released(z, after, self.file[v])
        low, high = ranks_released(moved.scale, z, after, state == 0)
        low, high = np.where(state > 0, -state, low), np.where(state > 0, -state, high)
        tells = (size[group] == 1) & ~z.missing
        return Window(
            low, high, ~z.missing, moved.share(window), v, moved.ranks, moved.scale.n, window, np.asarray(tells)
        )


def _own_ranks(scale: RankScale, v: str) -> Callable[[Records], tuple[F64, F64]]:
    def ranks(records: Records) -> tuple[F64, F64]:
        low, high = scale.place(records[v].values)
        return low.astype(float), high.astype(float)

    return ranks
