r"""Singling out: predicates that one released row satisfies, tried on the original: does exactly one person satisfy
them?

The success of a predicate that c of n people satisfy, had only m of them been there, is c C(n - c, m - 1) / C(n, m): so
files of different sizes are compared without a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import gammaln

from confide.attack.learning.adopted.attack_rates import AttackRates
from confide.attack.learning.adopted.compared import check_known, without_value
from confide.attack.learning.adopted.people import held_out_people
from confide.attack.learning.adopted.predicate_makers import at_random, medians, univariate
from confide.attack.learning.adopted.predicates import ATLEAST, ATMOST, EQUAL, MISSING, Index, Predicates, joined
from confide.attack.learning.adopted.rates import Rate
from confide.attack.learning.adopted.without_plan import checked_release
from confide.core.checks import names_of
from confide.core.documents.statement import Statement
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, stream
from confide.core.run.threads import thread_count
from confide.frames.columns import F64, I64, Bools, Column, Records, codes_in
from confide.frames.distinct import Distinct

if TYPE_CHECKING:
    from confide.protect.release import Release

MODES = ("multivariate", "univariate")
BATCH = 8192
MANY = 1_000_000
"""A count beyond this makes no difference."""


@dataclass(frozen=True, eq=False)
class SinglingOut(Statement):
    """Predicates that single out one released row, tried on the people of the original file.

    `mode`: "multivariate", a released row's values in `columns` variables at random (a category equal; a number at
    least its value where that lies above the median, else at most); "univariate", values that one row has, and the
    least and the largest number. `attacks`: how many predicates; `tries`: how many are made at most to find them.
    `variables`: None for all that both files have. `categorical`, `numeric`: kinds, where the type misleads. Success:
    exactly one person satisfies the predicate. Rows are counted as they are, so that two people who are alike are not
    singled out.

    >>> import confide as cf
    >>> heads = cf.demo("heads").drop("id").head(1_000)
    >>> cf.SinglingOut(attacks=100).attack(cf.Release.adopt(heads, heads)).attack.value
    1.0
    """

    attacks: int = 500
    columns: int = 3
    mode: str = field(default=MODES[0], metadata={"choices": MODES})
    variables: str | Sequence[str] | None = None
    tries: int = 1_000_000
    seed: int = 1
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()

    _section: ClassVar[str] = "singling_out"

    def __post_init__(self) -> None:
        for name in ("attacks", "columns", "tries"):
            check_count(getattr(self, name), f"SinglingOut: {name}")
        if self.mode not in MODES:
            raise InputError(f'SinglingOut: mode is one of {", ".join(MODES)}, not "{self.mode}".')
        for name in ("variables", "categorical", "numeric"):
            given = getattr(self, name)
            nothing = None if name == "variables" else ()
            object.__setattr__(self, name, names_of(given, f"SinglingOut: {name}") if given else nothing)
        checked_seed(self.seed)

    def attack(self, release: Release, held_out: Any = None, *, threads: int | None = None) -> AttackRates:
        """Make predicates from the release and try them on the original, and on people held out.

        >>> import confide as cf
        >>> heads = cf.demo("heads").select("sex", "age", "state").head(1_000)
        >>> cf.SinglingOut(attacks=50, mode="univariate").attack(cf.Release.adopt(heads, heads)).attack.tries < 50
        True
        """
        names = self._names(checked_release(release))
        original, released = release.encoded(names, tuple(self.numeric), tuple(self.categorical))
        cores, numbers = thread_count(threads), np.array([original[v].kind == "numeric" for v in names])
        cells = _cells(original, released)
        seen = cells(released)
        file = Index.of(_sorted(seen) if self.mode == MODES[0] else seen)
        rng = stream(self.seed, f"SinglingOut:{self.mode}")
        made, tried = self._made(file, numbers, rng, cores)
        people = Index.of(cells(original))
        counts = people.counts(made, MANY, cores)
        naive = people.counts(at_random(file, numbers, self._wide(names), self.attacks, rng), 1, cores)
        found, blind = Rate(int((counts == 1).sum()), len(made)), Rate(int((naive == 1).sum()), len(naive))
        control, like = None, None
        if held_out is not None:
            others = held_out_people(release, original, held_out).known
            there = Index.of(cells(others)).counts(made, MANY, cores)
            n, m = original.n, others.n
            control = Rate(float(thinned(there, m, min(n, m)).sum()), len(made))
            like = None if m >= n else Rate(float(thinned(counts, n, m).sum()), len(made))
        notes = (*_identifying(released), *self._notes(len(made), tried))
        return AttackRates(self._title(names), found, blind, control, like, notes)

    def _names(self, release: Release) -> tuple[str, ...]:
        shared = [v for v in release.original.columns if v in release.frame.columns]
        identifiers = () if release.plan is None else release.plan.identifiers
        usable = [v for v in shared if v not in identifiers and not without_value(release, v)]
        names = tuple(self.variables or usable)
        if not names:
            raise InputError("The two files share no variable that has values.")
        check_known(release, names, "variables")
        if self.mode == MODES[0] and self.columns > len(names):
            raise InputError(
                f"SinglingOut: columns is {self.columns}, but there are {len(names)} variables to choose from."
            )
        return names

    def _wide(self, names: Sequence[str]) -> int:
        return min(self.columns if self.mode == MODES[0] else 1, len(names))

    def _title(self, names: Sequence[str]) -> str:
        how = (
            f"{self.columns} of {len(names)} variables at a time" if self.mode == MODES[0] else "one variable at a time"
        )
        return f"Singling out, {self.mode}: {how}"

    def _notes(self, made: int, tried: int) -> list[str]:
        if made >= self.attacks:
            return []
        return [
            f"Only {made:,} of {self.attacks:,} predicates could be made, of {tried:,} that were tried: rates are of "
            "those made. What could not be tried is no failed attack."
        ]

    def _made(self, file: Index, numbers: Bools, rng: np.random.Generator, threads: int) -> tuple[Predicates, int]:
        """Predicates that exactly one released row satisfies, and how many were looked at."""
        if self.mode == "univariate":
            every = univariate(file, numbers)
            good = every.take(np.flatnonzero(file.counts(every, 1, threads) == 1))
            return good.take(np.sort(rng.permutation(len(good))[: self.attacks])), len(every)
        d, tried = len(numbers), 0
        middle = medians(file)
        none = np.empty((0, self.columns), dtype=np.int64)
        found = Predicates(none, none, none.astype(np.float64))
        while len(found) < self.attacks and tried < self.tries:
            size = min(BATCH, self.tries - tried)
            rows = rng.integers(len(file.cells), size=size)
            columns = np.argsort(rng.random((size, d)), axis=1)[:, : self.columns].astype(np.int64)
            values = file.cells[rows[:, None], columns]
            ends = np.where(values > middle[columns], ATLEAST, ATMOST)
            operators = np.where(np.isnan(values), MISSING, np.where(numbers[columns], ends, EQUAL))
            batch = Predicates(columns, operators.astype(np.int64), values)
            found = joined(found, batch.take(np.flatnonzero(file.counts(batch, 1, threads) == 1)))
            tried += size
        return found.take(np.arange(min(len(found), self.attacks))), tried


def _identifying(released: Records) -> list[str]:
    """A sentence for each category of which no two rows have the same: perhaps somebody's number or name."""
    few = [v for v, c in released.items() if c.kind == "categorical" or c.step == 1.0]
    alone = [v for v in few if released.n > 20 and len(np.unique(released[v].values)) == released.n]
    return [
        f'Every released value of "{v}" is different: if it is an identifier, leave it out, since any predicate about '
        "it singles somebody out." for v in alone
    ]  # fmt: skip


def check_count(value: int, what: str) -> None:
    """Refuse what is no whole number from 1 upwards."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{what} is a whole number from 1 upwards.")


def _cells(original: Records, released: Records) -> Any:
    """Turns records into numbers: categories as codes that files share, NaN where missing."""

    def codes(column: Column, v: str) -> F64:
        if original[v].kind == "numeric":
            return np.asarray(column.values, dtype=np.float64)
        known, other = codes_in(column, original[v]), codes_in(column, released[v])
        code = np.where(
            known >= 0, known, len(original[v].levels) + np.where(other >= 0, other, len(released[v].levels))
        )
        return np.where(column.missing, np.nan, code)

    return lambda records: np.column_stack([codes(records[v], v) for v in original])


def _sorted(cells: F64) -> F64:
    """Rows in an order of their own, so that draws do not depend on the order in a file."""
    order = Distinct.rows([cells[:, k] for k in range(cells.shape[1])], len(cells)).of
    return np.ascontiguousarray(cells[np.argsort(order, kind="stable")])


def thinned(counts: I64, n: int, m: int) -> F64:
    """The chance that exactly one of those who satisfy a predicate, `counts` of n people, is among m drawn of them.

    >>> thinned(np.array([0, 1, 2, 4]), 4, 2).round(4).tolist(), thinned(np.array([0, 1, 2]), 9, 9).tolist()
    ([0.0, 0.5, 0.6667, 0.0], [0.0, 1.0, 0.0])
    """
    if m >= n:
        return np.asarray(counts == 1, dtype=np.float64)
    c = counts.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(c) + _log_choose(n - c, m - 1.0) - _log_choose(np.float64(n), float(m))
    return np.where((c >= 1) & (n - c >= m - 1), np.exp(log), 0.0)


def _log_choose(n: Any, k: float) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1)
