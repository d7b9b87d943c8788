"""LocalSuppression: hide single values, so that nobody stands alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from confide.core.checks import fraction
from confide.core.errors import Problems, raise_all
from confide.core.random.draws import Draws
from confide.frames.columns import I64, Column, Kind, Records
from confide.protect.methods.local_suppression.cautions import (
    of_most_hidden,
    of_smaller_sets,
    of_units,
    of_wildcards,
)
from confide.protect.methods.local_suppression.checks import (
    stated_importance,
    stated_risk,
    stated_subsets,
    unusable_keys,
    unusable_people,
    wrong_size,
)  # fmt: skip
from confide.protect.methods.local_suppression.in_parts import HidingGathering
from confide.protect.methods.local_suppression.offers import offers
from confide.protect.methods.local_suppression.pieces import Pieces, key_codes, pieces_of
from confide.protect.methods.local_suppression.reading import Reading
from confide.protect.methods.local_suppression.solution import HOW, RULES, Solution, least_rows, left_below, solve
from confide.protect.methods.local_suppression.units import refuse_repeats, rows_of_few
from confide.protect.methods.local_suppression.wildcard_rule import MOST
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Check, Mechanism, Names, registered
from confide.protect.seam.words import listed

READINGS = ("rates", "constant", "bound")


def _check_reading(given: Any) -> str | None:
    return None if given in READINGS else f"suppressed is one of {', '.join(READINGS)}"


@registered
@dataclass(frozen=True)
class LocalSuppression(Mechanism):
    r"""Hide single values until every combination of the keys is shared by k people.

    A hidden value is released as missing. By ``rule="own"`` missing counts as a value of its own: k rows show exactly
    the same, so that the keys alone make nobody surer than 1/k of a record; what else is known and released may tell
    rows that show the same keys apart. By ``rule="wildcard"`` (that of
    sdcMicro and mu-ARGUS) a missing value agrees with any: fewer cells, and no protection of a person whose keys are
    known, since no other row need be able to be theirs; the release says so. The cost of hiding,

    .. math:: \sum_i w_i \sum_v c_v\, h_{iv},

    counts each hidden value :math:`h_{iv}` by the variable's `importance` :math:`c_v` (1 where none is stated) and the
    record's weight :math:`w_i` (the column `weight`, else 1; the mean of people with equal keys, of whom draws decide
    whose values are hidden, so that weights do not tell who they are). ``how="greedy"`` merges the smallest class with
    those rows that cost least, then gives back what need not be hidden; it states a lower bound of the cost.
    ``how="exact"`` proves the least cost by HiGHS, for small files and the rule "own". `release.details` has the
    figures, privately.

    `subsets` asks for k in every set of so many keys, in place of all of them together: ``{3: 5, 2: 10}``. It is what
    other tools count, and bounds no probability: rows that show the same in a set differ in their other keys. Only the
    k of all keys together does. With `risk`, a column or one number per record, records with a risk above `above` are
    protected, and all who share their keys; whoever helps them is drawn. A list of numbers is written into a saved plan
    as it is: name a column where it must not be. Missing values of the file are taken as they are: they look like
    hidden ones. Steps that coarsen keys or leave out records come before this one. With ``Plan(unit=)``, k still counts
    rows: a file in which the rows of a unit have the same keys is refused.

    Attacks read a hidden value as the plan made it, at level "exact" no further than at "informed". What they claim is
    right where all keys are known; where some are, and another known variable hangs on a hidden key, claims were up to
    5 percent too high.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.LocalSuppression(["sex", "race", "marital", "age"], k=3)], identifiers=["id"])
    >>> release = plan.protect(cf.demo("heads").head(2_000), seed=1)
    >>> cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).units["p_max"].max() <= 1 / 3
    True
    """

    variables: Names
    k: int = 3
    rule: str = field(default="own", metadata={"choices": RULES})
    how: str = field(default="greedy", metadata={"choices": HOW})
    subsets: Mapping[int, int] | None = field(default=None, hash=False)
    importance: Mapping[str, float] | None = field(default=None, hash=False)
    weight: str | None = None
    risk: str | Sequence[float] | None = field(default=None, repr=False, metadata={"private": True})
    above: float | None = None

    method: ClassVar[str] = "local_suppression"
    counts_units: ClassVar[bool] = True
    role: ClassVar[str] = "random"
    guesses: ClassVar[Mapping[str, Check]] = {"suppressed": _check_reading}

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        wrong = wrong_size(self.k)
        problems.when(wrong, f"{where}: {wrong}.")
        problems.when(self.rule not in RULES, f'{where}: rule is "own" or "wildcard".')
        problems.when(self.how not in HOW, f'{where}: how is "greedy" or "exact".')
        problems.when(len(self.variables) > 60, f"{where}: more than 60 variables cannot be keys together.")
        with problems:
            object.__setattr__(self, "subsets", stated_subsets(self.subsets, len(self.variables), where))
        with problems:
            object.__setattr__(self, "importance", stated_importance(self.importance, self.variables, where))
        if self.above is not None:
            with problems:
                fraction(self.above, f"{where}: above")
        if self.risk is not None and not isinstance(self.risk, str):
            with problems:
                object.__setattr__(self, "risk", stated_risk(self.risk, where))
        with problems:
            raise_all(self._misfits())
        problems.tell()

    def _misfits(self) -> list[str]:
        """Arguments that do not go together."""
        read = {v for v in (self.weight, self.risk) if isinstance(v, str)} & set(self.variables)
        largest = max(self.subsets or {len(self.variables): 0})
        asked = {
            "risk goes with above, the risk from which records are protected.":
                (self.risk is None) != (self.above is None),
            'how="exact" is worked out for rule="own".': self.how == "exact" and self.rule == "wildcard",
            'how="exact" is worked out for all keys together, not for subsets.':
                self.how == "exact" and self.subsets is not None,
            f'{largest} variables are too many for rule="wildcard", which looks at all sets of them: {MOST} at most. '
            'Take rule="own", which also protects, or fewer variables.':
                self.rule == "wildcard" and largest > MOST,
            f"k={self.k} would count for nothing: subsets states its own k for every size. Leave k out, or write "
            f"subsets={{{len(self.variables)}: {self.k}, ...}} to have it for all keys together too.":
                self.subsets is not None and self.k != type(self).k and self.k not in self.subsets.values(),
            "weight takes the name of a column.": not (self.weight is None or isinstance(self.weight, str)),
            f"{', '.join(sorted(read))} cannot be hidden and read at once.": read,
        }  # fmt: skip
        return [f"{self.where}: {said}" for said, wrong in asked.items() if wrong]

    @property
    def words(self) -> str:
        how = " where a hidden value agrees with any" if self.rule == "wildcard" else ""
        sizes = [f"{k} people share each combination of {n}" for n, k in (self.subsets or {}).items()]
        until = listed(sizes) if sizes else f"{self.k} people share each combination"
        return f"hide single values of {listed(self.variables)} until {until}{how}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """All known keys together, by k and by either rule."""
        return offers(cls, outlook)

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(v for v in (self.weight, self.risk) if isinstance(v, str)))

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.needs, "numeric")

    @property
    def secret(self) -> tuple[str, ...]:
        """Columns that must not be released: they would show who was protected."""
        return (self.risk,) if isinstance(self.risk, str) else ()

    @property
    def sizes(self) -> dict[int, int]:
        """Sizes of sets of keys with their k: all keys together unless subsets are stated."""
        return {len(self.variables): self.k} if self.subsets is None else dict(self.subsets)

    def beside(self, others: Sequence[Mechanism]) -> list[str]:
        """What is wrong with this step among the others of a plan."""
        later = others[list(others).index(self) + 1 :]
        coarser = [(s, v) for s in later if s.role == "coarsen" for v in s.variables if v in self.variables]
        return [
            *(
                f'{self.where}: {type(s).__name__} coarsens "{v}" afterwards, so that more would be hidden than need '
                "be. Coarsen before values are hidden."
                for s, v in coarser
            ),
            *(
                f"{self.where}: {type(s).__name__} leaves out records afterwards, so that fewer than k of those that "
                f"are released may share a combination. Put {type(s).__name__} before the step that hides values."
                for s in later
                if s.selects
            ),
        ]

    def without(self, variables: Collection[str]) -> Sequence[Mechanism]:
        """The same with the keys that are left; sets of more keys than that are then all of them."""
        left = tuple(v for v in self.variables if v not in variables)
        if not left:
            return ()
        sizes: dict[int, int] = {}
        for size, k in (self.subsets or {}).items():
            at = min(size, len(left))
            sizes[at] = max(k, sizes.get(at, 0))
        importance = {v: c for v, c in (self.importance or {}).items() if v in left}
        return (replace(self, variables=left, subsets=sizes or None, importance=importance or None),)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - rates are read off the release
        """Someone who knows only that values were hidden takes the rate of each pattern for the same whatever the
        values."""
        return _Guessed(self.variables)

    def at_once(self) -> str:
        if self.weight is None and self.risk is None:
            return ""
        return (
            f"{self.where}: weight and risk are read record by record, for all records at once; in a file that is read "
            "in parts hide values without them, or read the file into memory (cf.read)."
        )

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedSuppression:  # noqa: ARG002
        keys = current.select(self.variables)
        weight, asked = unusable_people(original, current, self.weight, self.risk, self.above, self.where)
        raise_all(unusable_keys(keys, max(self.sizes.values()), self.where))
        columns = tuple(c.codebook() for c in keys.values())
        pieces, kind = pieces_of(key_codes(keys, columns), weight, asked, keys.count)
        few = rows_of_few(kind, original.units, max(self.sizes.values()))
        return _FittedSuppression(self, columns, pieces, kind, few)


@dataclass(frozen=True, eq=False)
class _FittedSuppression(Fitted):
    """`columns`: code lists of the keys. `start`: kinds of people, nothing hidden; `kind`: each record's, private.
    `few_units`: records whose keys k rows have, but fewer than k units."""

    step: LocalSuppression
    columns: tuple[Column, ...]
    start: Pieces
    kind: I64
    few_units: int = 0

    @cached_property
    def solution(self) -> Solution:
        """What is hidden of which kinds of people, private; it hangs on counts alone, not on draws."""
        stated = self.step.importance or {}
        importance = np.array([float(stated.get(v, 1.0)) for v in self.step.variables])
        return solve(self.start, self.step.sizes, importance, self.step.rule, self.step.how, self.step.where)

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        """Of people who are alike the draws decide whose values are hidden."""
        refuse_repeats(self.kind, original.units, self.step.where)
        made = self.solution.pieces
        order = np.lexsort((draws.uniform(current.rows), self.kind))
        inside = np.lexsort((made.hidden, made.unit))
        hidden = np.empty(len(order), dtype=np.int64)
        hidden[order] = np.repeat(made.hidden[inside], made.count[inside])
        columns = []
        for i, v in enumerate(self.step.variables):
            gone, none = hidden >> i & 1 == 1, np.nan if current[v].kind == "numeric" else -1
            columns.append(current[v].with_values(np.where(gone, none, current[v].values)))
        return Applied(columns)

    def gathering(self, draws: Draws, rows: int) -> HidingGathering:  # noqa: ARG002 - kinds have their counts
        return HidingGathering(self.step.variables, self.columns, self.solution.pieces, draws)

    def lean(self) -> _FittedSuppression:
        made = replace(self, kind=self.kind[:0])
        made.__dict__["solution"] = self.solution
        return made

    @property
    def in_parts(self) -> bool:
        return True

    def unused(self, level: str) -> str:
        said = "what other released variables say of values that are hidden is not used: it could not be relied on."
        return f"{self.step.where}: {said}" if level == "exact" else ""

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if view.level == "ignore":
            return Evidence(about)
        constant = view.level == "average"
        how = "constant" if constant else view.guess("suppressed", about[0], "rates")
        people = self.start if constant else self.solution.pieces
        return Reading(self.columns, people, self.step.k).evidence(view, about, how)

    def unfit(self, released: Records, rows: I64 | None) -> list[str]:
        """What of a release made elsewhere hiding values cannot have made."""
        columns = [c for c in self.columns if c.name in released]
        z = key_codes(released, columns)
        if rows is None or len(columns) < len(self.columns):
            return []
        y = self.start.codes[self.kind[rows]]
        other = int(((z >= -1) & (z != -1) & (z != y)).any(axis=1).sum() + (z < -1).any(axis=1).sum())
        said = f"{self.step.where}: {other} released rows show another value than their original"
        return [f"{said}; hiding changes none."] if other else []

    def details(self) -> dict[str, Any]:
        made, found = self.solution.pieces, self.solution
        return {
            "rule": self.step.rule,
            "hidden": dict(zip(self.step.variables, made.cells.tolist(), strict=True)),
            "cells": int(made.cells.sum()),
            "cost": found.cost,
            "bound": found.bound,
            "gap": found.gap,
            "proved": found.proved,
            "people": int(made.count[made.asked].sum()),
            "below_k": left_below(made, self.step.sizes),
            "least_candidates": least_rows(made, range(len(self.columns)), "person"),
        }

    def cautions(self) -> list[str]:
        units = of_units(self.few_units, self.step.where)
        hidden = of_most_hidden(self.solution.pieces, self.step.variables, self.step.where)
        rule = of_wildcards(self.details(), self.step.where) if self.step.rule == "wildcard" else []
        sets = (
            of_smaller_sets(self.solution.pieces, self.step.sizes, self.step.where) if self.step.rule == "own" else []
        )
        return [*units, *hidden, *rule, *sets]


class _Guessed(LocalSuppression):
    """What somebody assumes who sees the release alone: whatever is hidden in it, at the rates seen."""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedSuppression:  # noqa: ARG002
        keys = current.select(self.variables)
        columns = tuple(c.codebook() for c in keys.values())
        everybody = np.ones(keys.n), np.ones(keys.n, dtype=bool)
        return _FittedSuppression(self, columns, *pieces_of(key_codes(keys, columns), *everybody))
