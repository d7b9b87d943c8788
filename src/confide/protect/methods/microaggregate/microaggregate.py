"""Microaggregate: release the mean of a small group of near records in place of each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, Kind, Records, codes_in
from confide.protect.methods.microaggregate.group_choice import learn
from confide.protect.methods.microaggregate.group_likelihood import Grouped
from confide.protect.methods.microaggregate.group_means import Means, Shown, averaging, group_means
from confide.protect.methods.microaggregate.mdav import mdav
from confide.protect.methods.microaggregate.offers import offers
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import listed
from confide.protect.shared.category_codes import group_codes, joint_codes
from confide.protect.shared.standing_apart import Apart


@registered
@dataclass(frozen=True)
class Microaggregate(Mechanism):
    r"""Replace numbers by the means of groups of k or a few more records that are near each other.

    Groups are made by MDAV (see `mdav`): from the outside in, each of a record far from the centroid and its k - 1
    nearest, in all variables named together; with `standardise` in units of their standard deviations. For each
    variable the mean of the group is released,

    .. math:: z_i = \frac{1}{|G_i|} \sum_{j \in G_i} y_j

    as it is: rounding it would break the file's totals. So whole numbers become fractions (dates stay dates).
    `within` makes groups inside those of other variables. Missing values and answer codes stay; records are grouped
    with those in which the same variables are present. Nothing is random, and of equally near records the first one
    in the file comes first. k = 1 leaves every value as it is.

    The rows of a group are alike in these variables, so an intruder can at best name the group: a row of a group of n
    has a probability of at most 1/n, unless other variables distinguish the rows. Which group a target of known values
    is in, is uncertain: see `group_choice` for the chance of each, learnt privately from the file.

    >>> import confide as cf
    >>> cf.Microaggregate(["hh_income", "property_value"], k=5).variables
    ('hh_income', 'property_value')
    >>> cf.Microaggregate("age", k=0.05)
    Traceback (most recent call last):
    confide.InputError: Microaggregate("age"): k is the least number of records in a group, a whole number, as 3.
    """

    variables: Names
    k: int = 3
    standardise: bool = True
    within: str | Sequence[str] = ()

    draws: ClassVar[bool] = False
    method: ClassVar[str] = "microaggregate"
    role: ClassVar[str] = "random"
    goes_on: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        wrong = wrong_size(self.k)
        problems.when(wrong, f"{where}: {wrong}.")
        problems.when(not isinstance(self.standardise, bool), f"{where}: standardise is true or false.")
        self.names_in(problems, "within")
        both = set(self.variables) & set(self.within)
        problems.when(both, f"{where}: {', '.join(sorted(both))} cannot be averaged and held fixed at once.")
        problems.tell()
        object.__setattr__(self, "k", int(self.k))

    @property
    def words(self) -> str:
        how = " together" if len(self.variables) > 1 else ""
        where = f" within {listed(self.within)}" if self.within else ""
        return f"average {listed(self.variables)}{how}{where} over groups of {self.k}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers, one by one and several together, by the size of groups."""
        return offers(cls, outlook)

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(self.within)

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def beside(self, others: Sequence[Mechanism]) -> list[str]:
        """What is wrong with this step among the others of a plan."""
        later = others[list(others).index(self) + 1 :]
        return [
            f'{self.where}: {type(s).__name__} coarsens the means of "{v}" afterwards, so that groups cannot be told '
            "apart as they were made. Coarsen before the groups are made."
            for s in later
            if s.role == "coarsen"
            for v in s.variables
            if v in self.variables
        ]

    def guess(self, released: Records) -> Mechanism:
        """Someone who knows only the method reads k off the release, where the rows of a group are alike, and how
        members lie around means off the means themselves, which it puts into groups of k again."""
        names = [v for v in self.variables if v in released]
        rows = np.column_stack([np.where(released[v].usable, released[v].values, np.inf) for v in names])
        within = tuple(v for v in self.within if v in released)
        rows = np.column_stack([group_codes(released, within), rows])[np.isfinite(rows).any(axis=1)]
        count = np.unique(rows, axis=0, return_counts=True)[1]
        sizes, many = np.unique(count, return_counts=True)
        return _Guessed(self.variables, int(sizes[many.argmax()]), self.standardise, within)

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedGroups:  # noqa: ARG002
        there = np.column_stack([current[v].usable for v in self.variables])
        self._check_sizes(self._strata(current, there), there)
        return self.fitted(current)

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: A averages over the records of a group."""
        there = np.column_stack([current[v].usable for v in self.variables])
        if bool((there.any(axis=1) & ~there.all(axis=1)).any()):
            raise InputError(
                f"{self.where}: some records have only a part of the variables, and one matrix cannot average them "
                "apart. Give each variable a step of its own."
            )
        assert isinstance(fitted, _FittedGroups)
        made = fitted.apply(original, current, draws).columns
        return Parts(a=averaging(fitted.group), columns=tuple(made))

    def fitted(self, current: Records) -> _FittedGroups:
        """Groups of the records given, however few there are."""
        there = np.column_stack([current[v].usable for v in self.variables])
        values = np.where(there, np.column_stack([current[v].values for v in self.variables]), np.nan)
        scale = _scales(values) if self.standardise else np.ones(values.shape[1])
        group = _groups(values / scale, self._strata(current, there), self.k)
        file = current.select((*self.variables, *self.within))
        return _FittedGroups(self, file, values, group, scale if self.standardise else _scales(values))

    def _strata(self, current: Records, there: Bools) -> I64:
        """Records that may be in one group: of one group of `within`, with the same variables present; -1 for none."""
        wide = group_codes(current, self.within) * 2 ** there.shape[1] + there @ (2 ** np.arange(there.shape[1]))
        stratum = np.unique(wide, return_inverse=True)[1].reshape(-1)
        return np.where(there.any(axis=1), stratum, -1)

    def _check_sizes(self, stratum: I64, there: Bools) -> None:
        if not there.any():
            raise InputError(f"{self.where}: no record has a value; all are missing or answer codes.")
        size = np.bincount(stratum[stratum >= 0])
        few = int(size[(size > 0) & (size < self.k)].sum())
        if few:
            whole = not self.within and bool(there.all())
            hint = (
                "Take a smaller k." if whole else "A group is formed of records with the same values of within and "
                "the same variables present: take a smaller k, or name coarser groups."
            )  # fmt: skip
            raise InputError(
                f"{self.where}: {few} of {len(stratum)} records are fewer than k = {self.k} together, too few for a "
                f"group. {hint}"
            )


def wrong_size(given: Any) -> str | None:
    """What is wrong with a group size, in words."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        return "k is the least number of records in a group, a whole number, as 3"
    if given == 1:
        return "a group of 1 record is its own mean, so nothing would be changed; give k from 2 upwards, as 3"
    return "k is the least number of records in a group, from 2 upwards" if given < 1 else None


def _scales(values: F64) -> F64:
    """Standard deviations; 1 where all values are the same."""
    out = np.ones(values.shape[1])
    for v in range(values.shape[1]):
        y = values[~np.isnan(values[:, v]), v]
        sd = float(np.std(y)) if len(y) and np.ptp(y) > 0 else 0.0
        out[v] = sd if sd > 0 else 1.0
    return out


def _groups(points: F64, stratum: I64, k: int) -> I64:
    """Each record's group, -1 for one that has no value."""
    group, made = np.full(len(points), -1, dtype=np.int64), 0
    order = np.argsort(stratum, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1):
        if stratum[rows[0]] < 0:
            continue
        there = ~np.isnan(points[rows[0]])
        group[rows] = made + mdav(points[np.ix_(rows, np.flatnonzero(there))], k)
        made = int(group[rows].max()) + 1
    return group


@dataclass(frozen=True, eq=False)
class _FittedGroups(Fitted):
    """`file`: the records as they were met. `values`: those that were averaged, NaN elsewhere, shape (n, p). `group`:
    each record's group, private. `scale`: standard deviations, shape (p,). `memory`: what was learnt, by what is
    seen."""

    step: Microaggregate
    file: Records
    values: F64
    group: I64
    scale: F64
    memory: dict[Any, F64] = field(default_factory=dict)

    @cached_property
    def means(self) -> F64:
        """Means of the groups, NaN where nothing was averaged, shape (n, p)."""
        return np.column_stack([group_means(y, np.where(np.isnan(y), -1, self.group)) for y in self.values.T])

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        if self.step.k == 1:
            return Applied()
        columns = []
        for v, mean in zip(self.step.variables, self.means.T, strict=True):
            values = np.where(np.isnan(mean), current[v].values, mean)
            columns.append(current[v].with_values(values).wide())
        return Applied(columns)

    def unfit(self, released: Records, rows: I64 | None) -> list[str]:
        """What of a release made elsewhere no groups of k give, in sentences."""
        spread = dict(zip(self.step.variables, self.scale.tolist(), strict=True))
        shown = {v: x for v, x in spread.items() if v in released}
        stratum = group_codes(released, tuple(v for v in self.step.within if v in released))
        return Shown(self.step.where, self.step.k, shown, self.file, released, stratum, rows).unfit() if shown else []

    # -- the intruder's side ---------------------------------------------------------------------------------

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if self.step.k == 1:
            return Evidence(about, {v: _as_it_is(view.released[v]) for v in about})
        labels = {v: self._label(view.released[v]) for v in about}
        if view.level == "ignore":
            return Evidence(about, labels, sense="y|z")
        within = tuple(v for v in self.step.within if v in view.released)
        known = tuple(v for v in within if v in view.known)
        names = tuple(v for v in self.step.variables if v in view.released)
        _, of, _ = joint_codes(view.released, known, lambda _: Chain()) if known else (None, None, 0)
        means = self._means(view.released, self._scaled(view.released, names), names, about, within, of)
        theta = partial(self._theta, names, about, within, known)
        like = Grouped(means, theta, self._people(about, means, of))
        return Evidence(about, labels, like, sense="y|z")

    def _label(self, z: Column) -> Labels:
        apart = Apart.of(self.file[z.name], zeros=False)
        return Labels(_states(apart, z.name), apart.of_values(z.values), len(apart.values) + 1)

    def _scaled(self, records: Records, names: tuple[str, ...]) -> F64:
        """Values in units of the file's spread, NaN where nothing is averaged, shape (n, p)."""
        scale = self.scale[[self.step.variables.index(v) for v in names]]
        return np.column_stack([np.where(records[v].usable, records[v].values, np.nan) for v in names]) / scale

    def _means(
        self, records: Records, rows: F64, names: tuple[str, ...], about: tuple[str, ...], within: tuple[str, ...],
        of: Callable[[Records], I64] | None,
    ) -> Means:  # fmt: skip
        """The means that rows of records carry; those may be confused that share what is known of `within`."""
        unit = np.array([self.file[v].step for v in about]) / self.scale[[self.step.variables.index(v) for v in about]]
        scope = np.zeros(len(rows), dtype=np.int64) if of is None else of(records)
        index = [names.index(v) for v in about]
        return Means.of_rows(rows, index, group_codes(records, within), scope, unit, self.step.k)

    def _people(
        self, about: tuple[str, ...], means: Means, of: Callable[[Records], I64] | None
    ) -> Callable[[Records], tuple[F64, I64]]:
        """People's values, and the scope of means that they may be in."""

        def values(records: Records) -> tuple[F64, I64]:
            y = self._scaled(records, about)
            place = np.zeros(len(y), dtype=np.int64) if of is None else of(records)
            return y, means.scopes(place, y)

        return values

    def _theta(
        self, names: tuple[str, ...], about: tuple[str, ...], within: tuple[str, ...], known: tuple[str, ...]
    ) -> F64:
        """Learnt from the file, with what the release shows of the means; once for many attacks."""
        key = (names, about, within, known)
        if key not in self.memory:
            columns = [self.step.variables.index(v) for v in names]
            of = (lambda records: group_codes(records, known)) if known else None
            rows = self.means[:, columns] / self.scale[columns]
            means = self._means(self.file, rows, names, about, within, of)
            y = self._scaled(self.file, about)
            mine = np.flatnonzero(~np.isnan(y).all(axis=1))
            self.memory[key] = learn(y[mine], means.of[mine], means)
        return self.memory[key]


class _Guessed(Microaggregate):
    """What is believed by someone who sees means only: they are put into groups of k themselves."""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedGroups:  # noqa: ARG002
        rows = np.column_stack([current[v].values for v in self.variables])
        keys = np.column_stack([group_codes(current, self.within), np.where(np.isnan(rows), np.inf, rows)])
        first = np.unique(keys, axis=0, return_index=True)[1]
        return self.fitted(current.take(np.sort(first).astype(np.int64)))


def _states(apart: Apart, v: str) -> Callable[[Records], I64]:
    return lambda records: apart.of_values(records[v].values)


def _as_it_is(z: Column) -> Labels:
    """The value itself as a label."""
    size = len(np.unique(z.values[~z.missing]))
    released = np.where(z.missing, size, codes_in(z, z))

    def codes(records: Records) -> I64:
        column = records[z.name]
        return np.where(column.missing, size, codes_in(column, z))

    return Labels(codes, released, size + 1)
