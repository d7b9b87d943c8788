"""Swap: exchange values between pairs of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np

from confide.core.checks import fraction
from confide.core.errors import InputError, Problems, raise_all
from confide.core.random.draws import Draws, Stream
from confide.frames.columns import F64, I64, Bools, Records
from confide.frames.distinct import Distinct
from confide.frames.tally import Tally
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.table import Table
from confide.protect.methods.swap.in_parts import SwapGathering
from confide.protect.methods.swap.pairing import chosen_counts, nothing_to_swap, random_partners
from confide.protect.methods.swap.targeting import TargetedPolicy
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts, selection
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import listed, percent
from confide.protect.shared.category_codes import group_codes, joint_codes, rows_in
from confide.protect.shared.per_unit import PER, check_constant, checked_per, heads

MOST = 3_000
"""With more categories the exchanges between all pairs of them are not counted."""

RATES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Rates to try."""
COARSE = 200
"""Numbers with at most so many values are swapped as categories are."""
GROUP = 20
"""Records that groups have on average, at least, inside which values are swapped."""


@registered
@dataclass(frozen=True)
class Swap(Mechanism):
    r"""Exchange values between randomly paired records.

    Of n records 2 floor(rate n / 2) are chosen and paired at random; each pair exchanges its values. With
    `within`, pairs are formed inside groups. The chance that a true category a is released as b is

    .. math:: L_{ab} = (1-\pi) 1[a=b] + \pi \frac{n_b - 1[a=b]}{n-1}

    with :math:`\pi` the share actually chosen and :math:`n_b` the count of b, which a swap does not change.
    Missing values take part as a category of their own.

    Several variables are exchanged jointly (one pairing), or, with `jointly=False`, by a pairing each.
    `force` names records (positions, or a true-or-false column) that are always among those chosen: "judicious
    swapping". `candidates="unique"` with `keys` and `within` is the targeted policy: a record that is alone with
    its keys in its area exchanges, with probability `rate`, with a record of the same keys in another area.
    `simulate=100` estimates L as the paper does, by swapping the released file again that often.
    ``per="unit"`` pairs units instead of records (`Plan.unit`) and exchanges a value that all rows of a unit share; the
    rate, n and the counts in L are then of units.

    >>> import confide as cf
    >>> cf.Swap("race", rate=0.30).variables
    ('race',)
    >>> cf.Swap("race", rate=30)
    Traceback (most recent call last):
    confide.InputError: Swap("race"): rate is a fraction between 0 and 1; for 30 percent write 0.3.
    """

    variables: Names
    rate: float
    within: str | Sequence[str] = ()
    jointly: bool = True
    force: str | Sequence[int] | None = field(default=None, repr=False, metadata={"private": True})
    keys: str | Sequence[str] = ()
    candidates: str | None = None
    simulate: int = 0
    per: str = field(default="record", metadata={"choices": PER})

    method: ClassVar[str] = "swap"
    by_heads: ClassVar[bool] = True
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False
    goes_on: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        with problems:
            fraction(self.rate, f"{where}: rate")
        with problems:
            self._check_force()
        joint = isinstance(self.jointly, bool)
        problems.when(not joint, f"{where}: jointly is true (whole groups of values are exchanged) or false.")
        odd = isinstance(self.simulate, bool) or not isinstance(self.simulate, int) or self.simulate < 0
        problems.when(odd, f"{where}: simulate is a number of repetitions, 0 for the closed form.")
        with problems:
            checked_per(self.per, where)
        self.names_in(problems, "within", "keys")
        with problems:
            raise_all(self._misfits())
        problems.tell()

    def _check_force(self) -> None:
        if self.force is None or isinstance(self.force, str):
            return
        if not all(isinstance(i, (int, np.integer)) and not isinstance(i, (bool, np.bool_)) for i in self.force):
            raise InputError(f"{self.where}: force takes row positions (whole numbers) or the name of a column.")
        object.__setattr__(self, "force", tuple(int(i) for i in self.force))
        if min(self.force, default=0) < 0:
            raise InputError(f"{self.where}: force takes row positions from 0 upwards.")

    def _misfits(self) -> list[str]:
        """Arguments that do not go together."""
        where, unique, forced = self.where, self.candidates == "unique", self.force is not None
        both = set(self.variables) & (set(self.within) | set(self.keys))
        asked = {
            'candidates is None or "unique".': self.candidates not in (None, "unique"),
            'candidates="unique" needs keys=[...] and within= (the area).': unique and not (self.keys and self.within),
            'keys go with candidates="unique".': self.keys and not self.candidates,
            'candidates="unique" takes neither force nor simulate.': unique and (forced or self.simulate),
            'per="unit" takes neither force nor candidates nor simulate.':
                self.per_unit and (self.candidates or self.simulate or forced),
            f"{', '.join(sorted(both))} cannot be swapped and held fixed at once.": both,
        }  # fmt: skip
        return [f"{where}: {said}" for said, wrong in asked.items() if wrong]

    @property
    def words(self) -> str:
        how = "" if len(self.variables) == 1 else " jointly" if self.jointly else " one by one"
        where = f" within {listed(self.within)}" if self.within else ""
        said = f"swap {listed(self.variables)}{how}{where}, {percent(self.rate)} of "
        return said + (f"those alone with their {listed(self.keys)}" if self.candidates else f"{self.per}s")

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Categories and coarse numbers, one by one and all known ones jointly, in the file and in related groups."""
        subjects = [s for s in outlook.worth() if s.kind == "categorical" or (s.known and s.distinct <= COARSE)]
        known = tuple(s.name for s in subjects if s.known)
        sets = [(s.name,) for s in subjects] + ([known] if len(known) > 1 else [])
        found: list[Dial | Untried] = []
        for names in sets:
            found += (d for within in ((), _groups(outlook, names)) if (d := cls._dial(outlook, names, within)))
        fine = tuple(s.name for s in outlook.worth("numeric") if s not in subjects)
        why = "a number with many values, which is swapped by its ranks instead"
        return [*found, Untried(cls.method, why, fine)] if fine else found

    @classmethod
    def _dial(cls, outlook: Outlook, names: tuple[str, ...], within: tuple[str, ...] | None) -> Dial | None:
        """Some variables swapped jointly; None where no group could be found, or no pair would be exchanged."""
        per = "unit" if within is not None and outlook.shared([*names, *within]) else "record"
        n = outlook.rows if per == "record" or outlook.units is None else len(np.unique(outlook.units))
        rates = tuple(r for r in RATES if r * n >= 2)
        if within is None or not rates:
            return None
        step = partial(cls, names, within=within, per=per)
        return Dial(cls.method, names, rates, lambda r: Change((step(r),)), lambda r: step(r).words, between=True)

    @property
    def per_unit(self) -> bool:
        return self.per == "unit"

    @property
    def needs(self) -> tuple[str, ...]:
        forced = (self.force,) if isinstance(self.force, str) else ()
        return tuple(dict.fromkeys((*self.within, *self.keys, *forced)))

    @property
    def secret(self) -> tuple[str, ...]:
        """Columns that must not be released: they would show who was forced."""
        return (self.force,) if isinstance(self.force, str) else ()

    def with_forced(self, rows: Iterable[int]) -> Swap | None:
        if self.candidates is not None or self.per_unit:
            return None
        if isinstance(self.force, str):
            raise InputError(
                f'Swap already forces the records of the column "{self.force}"; give their row positions instead, so '
                "that others can be added."
            )
        return replace(self, force=tuple(sorted({*(self.force or ()), *rows})))

    @property
    def share_chosen(self) -> float | None:
        return self.rate

    def with_share(self, share: float) -> Swap:
        return replace(self, rate=max(self.rate, share))

    def parts(self) -> Sequence[Mechanism]:
        if self.jointly:
            return (self,)
        return tuple(replace(self, variables=(v,), jointly=True) for v in self.variables)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - a swap leaves no trace in the margins
        """Someone who knows only that values were swapped assumes 10 percent, file-wide."""
        return Swap(self.variables, rate=0.10)

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedSwap:  # noqa: ARG002
        for v in self.variables:
            if v in current and bool(current[v].missing.all()):
                raise nothing_to_swap(v)
        raise_all(self._lost_rows(original))
        if self.per_unit:
            check_constant(current, (*self.variables, *self.within), self.where)
            return self._fit_units(current.take(heads(current, self.where)[0]))
        groups, forced = group_codes(current, self.within), self.forced_in(original)
        first = np.unique(groups, return_index=True)[1]
        size = np.bincount(groups, weights=current.counts).astype(float)
        must = np.bincount(groups, weights=forced * current.counts).astype(float)
        share = chosen_counts(size, self.rate, must) / size
        return _FittedSwap(self, forced, current.select(self.within).take(first), size, share)

    def at_once(self) -> str:
        if self.candidates is not None:
            return (
                f'{self.where}: candidates="unique" looks for records that are alone in the whole file, so it is not '
                "for files that are read in parts. Swap within areas at a rate, or read the file into memory (cf.read)."
            )
        if self.force is not None and not isinstance(self.force, str):
            return (
                f"{self.where}: force names records by their places; in a file that is read in parts name a "
                "true-or-false column instead."
            )
        return ""

    @property
    def tallied(self) -> tuple[str, ...]:
        return self.needs

    def _fit_units(self, units: Records) -> _FittedSwap:
        """Fitted on one record of each unit."""
        groups, nobody = group_codes(units, self.within), np.zeros(units.n, dtype=bool)
        first, size = np.unique(groups, return_index=True)[1], np.bincount(groups).astype(float)
        share = chosen_counts(size, self.rate, np.zeros(len(size))) / size
        kept = units.select((*self.variables, *self.within))
        found = Distinct.rows([c.values for c in kept.values()], kept.n)
        counted = Tally(kept.take(found.first), found.count)
        return _FittedSwap(self, nobody, units.select(self.within).take(first), size, share, counted)

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: A exchanges the rows of every pair. Row numbers are swapped in place of values."""
        places = current.replaced([current[v].with_values(np.arange(current.n)) for v in self.variables])
        return Parts(a=selection(fitted.apply(original, places, draws).columns[0].values, current.n))

    def _lost_rows(self, original: Records) -> list[str]:
        """Forced rows that the file does not have; after a `Sample` some may be gone, which is no mistake."""
        whole = bool(np.array_equal(original.rows, np.arange(original.n)))
        if self.force is None or isinstance(self.force, str) or not whole:
            return []
        lost = sum(i >= original.n for i in self.force)
        return [f"Swap: force names {lost} rows beyond the last, which is {original.n - 1}."] if lost else []

    def forced_in(self, original: Records) -> Bools:
        """Which records are always chosen; positions are those of the whole file, also after a `Sample`."""
        if isinstance(self.force, str):
            column = original[self.force]
            if column.kind != "categorical":
                raise InputError(f'Swap: force="{self.force}" must be a true-or-false column.')
            no = ("false", "no", "0", "0.0")
            true = np.array([bool(v) and str(v).lower() not in no for v in column.levels] + [False])
            return np.asarray(true[column.values])
        if self.force is None:
            return np.zeros(original.n, dtype=bool)
        return np.isin(original.rows, np.asarray(self.force, dtype=np.int64))


def _groups(outlook: Outlook, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The categorical variable that some hang together with most, if its groups are large enough to swap inside."""
    return next(((v,) for v in outlook.related(names, "categorical", outlook.rows // GROUP)), None)


@dataclass(frozen=True, eq=False)
class _FittedSwap(Fitted):
    """`forced`: the records always chosen, shape (n,), private. `groups`: one record of each group; `size`, `share`:
    how many records it has and which part of them is chosen. `units`: values of units with how many have each, where
    these are exchanged; records are then units."""

    swap: Swap
    forced: Bools
    groups: Records
    size: F64
    share: F64
    units: Tally | None = None

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        partner = self._partners(current, draws)
        return Applied([current[v].with_values(current[v].values[partner]) for v in self.swap.variables])

    def _partners(self, current: Records, draws: Draws) -> I64:
        if self.swap.candidates:
            return TargetedPolicy.of(current, self.swap.keys, self.swap.within).draw(
                self.swap.rate, draws, current.rows
            )
        if self.swap.per_unit:
            first, of = heads(current, self.swap.where)
            groups = group_codes(current.take(first), self.swap.within)
            return first[random_partners(groups, self.share, draws, current.rows[first])][of]
        groups = group_codes(current, self.swap.within)
        return random_partners(groups, self.share, draws, current.rows, self.forced)

    def gathering(self, draws: Draws, rows: int) -> SwapGathering:  # noqa: ARG002 - groups have their sizes
        return SwapGathering(self, draws)

    def lean(self) -> _FittedSwap:
        """Without what only `apply` needs."""
        return replace(self, forced=self.forced[:0])

    @property
    def in_parts(self) -> bool:
        """Whether counts of the release say all that evidence needs of the whole file."""
        return not self.swap.candidates and not self.swap.simulate

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if self.in_parts:
            return Evidence(about, likelihood=self._closed_form(view, about))
        code, of, size = joint_codes(view.released, about, view.chain_after)
        if self.swap.simulate:
            return Evidence(about, likelihood=self._simulated(view, code, size, of))
        same, diff = self._targeted(view, code, size)
        return Evidence(about, likelihood=Match(code, same, diff, of))

    def _seen(self, view: View) -> tuple[Callable[[Records], I64], F64, F64]:
        """The group of any released rows; the share chosen in each and its size when the swap was made.

        This is what an intruder who knows the plan sees. Where a grouping variable is not released there is one group,
        with the average share.
        """
        if not self.swap.within or not all(v in view.released for v in self.swap.within):
            n = float(self.size.sum())
            one = np.array([float(self.share @ self.size) / n])
            return lambda records: np.zeros(records.n, dtype=np.int64), one, np.array([n])
        _, of, groups = joint_codes(view.counted(self.swap.within).records, self.swap.within, lambda _: Chain())
        share, size, at = np.zeros(groups), np.ones(groups), of(self.groups)
        share[at[at >= 0]], size[at[at >= 0]] = self.share[at >= 0], self.size[at >= 0]
        return of, share, size

    def _closed_form(self, view: View, about: tuple[str, ...]) -> Match:
        group_of, share, then = self._seen(view)
        within = [v for v in self.swap.within if v in view.released and v not in about]
        file = view.counted([*about, *within]) if self.units is None else self._of_units(view, [*about, *within])
        code, of, size = joint_codes(file.records, about, view.chain_after)
        groups = group_of(file.records)
        released = np.bincount(groups, weights=file.count, minlength=len(share))
        n, rate = then[groups], share[groups]
        # A swap keeps counts; a sample drawn since then keeps their shares.
        n_b = np.bincount(groups * size + code, weights=file.count, minlength=len(share) * size)
        n_b = n_b[groups * size + code] * n / released[groups]
        others = np.maximum(n - 1, 1)
        with np.errstate(divide="ignore"):
            same = np.log((1 - rate) + rate * (n_b - 1) / others)
            diff = np.log(rate * np.minimum(n_b, others) / others)
        at = rows_in(file.records, view.released)
        return Match(code[at], same[at], diff[at], of)

    def _of_units(self, view: View, names: Sequence[str]) -> Tally:
        """Joint values in their released form, with how many units have each: a swap keeps these counts."""
        assert self.units is not None
        held = self.units.records.select(names)
        seen = held.replaced([view.chain_after(v).image(held[v]) for v in names if v in self.swap.variables])
        found = Distinct.rows([c.values for c in seen.values()], seen.n, self.units.counts)
        return Tally(seen.take(found.first), found.count)

    def _targeted(self, view: View, code: I64, size: int) -> tuple[F64, F64]:
        needed = (*self.swap.keys, *self.swap.within)
        missing = [v for v in needed if v not in view.released]
        if missing:
            raise InputError(
                f"The targeted swap can be undone only where keys and area are released: {', '.join(missing)} is not."
            )
        policy = TargetedPolicy.of(view.released, self.swap.keys, self.swap.within)
        rate, share = policy.exchange_rates(self.swap.rate), policy.shares(code, size)
        with np.errstate(divide="ignore"):
            return np.log(1 - rate + rate * share), np.log(rate * share)

    def _simulated(self, view: View, code: I64, size: int, of: object) -> Table:
        """Print's way (Reiter 2005, 4.2.1): swap the released file again and average the transition matrices."""
        if size > MOST:
            raise InputError(
                f"Swap: simulate= counts exchanges between {size:,} categories, more than {MOST:,}; leave it out for "
                "the closed form, or recode them."
            )
        group_of, share, _ = self._seen(view)
        groups = group_of(view.released)
        draws, rows = Stream(np.random.default_rng(20050)), view.released.rows
        counts = np.zeros((size, size))
        for _ in range(self.swap.simulate):
            partner = random_partners(groups, share, draws, rows)
            counts += np.bincount(code * size + code[partner], minlength=size * size).reshape(size, size)
        with np.errstate(divide="ignore"):
            log_p = np.log(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
        return Table(code, log_p, of)  # type: ignore[arg-type]
