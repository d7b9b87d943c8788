r"""Linkability: do two parts of what is known of a person lead to the same released row?

An intruder holds two files about the same people, with other variables in each. For each part the k nearest released
rows are looked for; the person is linked if a row is among both. Rows that tie with the k-th are picked at random, so
with k = 1 and tied rows A and B a person is linked with chance |A and B| / (|A| |B|), whatever the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import gammaln

from confide.attack.learning.adopted.attack_rates import AttackRates
from confide.attack.learning.adopted.candidates import Balls, counted, in_turn, nearer, point_of
from confide.attack.learning.adopted.link_loops import common_rows
from confide.attack.learning.adopted.nearest import DISTANCES, Nearest, Space
from confide.attack.learning.adopted.people import People, held_out_people, of_file
from confide.attack.learning.adopted.rates import Rate
from confide.attack.learning.adopted.singling_out import check_count
from confide.attack.learning.adopted.without_plan import checked_release
from confide.core.checks import names_of
from confide.core.documents.statement import Statement
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, stream
from confide.frames.columns import F64, I64, Records

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Linkability(Statement):
    """Two sets of known variables, linked through the released rows that are nearest to each.

    `left`, `right`: what each of the intruder's two files knows; `neighbours`: how many released rows are looked for;
    `attacks`: how many people, drawn with `seed`; None for everybody. `distance`, `weight`: as of `Nearest`; "gower",
    the default here, is what other tools use.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(1_000)
    >>> link = cf.Linkability(left=["age", "hh_income", "educ"], right=["property_value", "wage_income", "state"])
    >>> link.attack(cf.Release.adopt(heads, heads)).attack.value > 0.5
    True
    """

    left: str | Sequence[str] = field(metadata={"example": ["sex", "age"]})
    right: str | Sequence[str] = field(metadata={"example": ["educ", "income"]})
    neighbours: int = 1
    attacks: int | None = None
    distance: str = field(default="gower", metadata={"choices": DISTANCES})
    weight: float = 1.0
    seed: int = 1
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()

    _section: ClassVar[str] = "linkability"

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            object.__setattr__(self, name, names_of(getattr(self, name), f"Linkability: {name}"))
        both = [v for v in self.left if v in self.right]
        if both:
            raise InputError(
                f"Linkability: {', '.join(both)} is in both files: the two parts must be different variables."
            )
        check_count(self.neighbours, "Linkability: neighbours")
        if self.attacks is not None:
            check_count(self.attacks, "Linkability: attacks")
        for name in ("categorical", "numeric"):
            given = getattr(self, name)
            object.__setattr__(self, name, names_of(given, f"Linkability: {name}") if given else ())
            odd = [v for v in getattr(self, name) if v not in (*self.left, *self.right)]
            if odd:
                raise InputError(f'Linkability: {name} names "{odd[0]}", which is in neither part.')
        self._side(self.left)
        checked_seed(self.seed)

    def _side(self, names: str | Sequence[str]) -> Nearest:
        kinds = {k: tuple(v for v in getattr(self, k) if v in names) for k in ("categorical", "numeric")}
        return Nearest(names, weight=self.weight, distance=self.distance, **kinds)

    def attack(self, release: Release, held_out: Any = None, *, threads: int | None = None) -> AttackRates:
        """Link people of the original through the release, and people held out.

        >>> import confide as cf
        >>> heads = cf.demo("heads").head(3_000)
        >>> link = cf.Linkability(left=["age", "sex"], right=["hh_income", "tenure"], neighbours=5, attacks=500)
        >>> link.attack(cf.Release.adopt(heads, heads)).attack.tries
        500
        """
        r = checked_release(release).frame.height
        if self.neighbours > r:
            raise InputError(f"Linkability: neighbours is {self.neighbours}, but only {r} rows are released.")
        sides = [self._side(part).space(release) for part in (self.left, self.right)]
        known = Records([c for s in sides for c in s.original.values()], n=sides[0].original.n)
        people = self._drawn(of_file(release, known))
        attack = self._linked(sides, people, threads)
        k = int(self.neighbours)
        blind = (
            1 - float(np.exp(_log_choose(np.float64(r - k), k) - _log_choose(np.float64(r), k))) if 2 * k <= r else 1.0
        )
        control = None
        if held_out is not None:
            control = self._linked(sides, self._drawn(held_out_people(release, known, held_out)), threads)
        title = f"Linkability of {', '.join(self.left)} with {', '.join(self.right)}, {k} neighbour{'s' * (k > 1)}"
        notes = tuple(n for s in sides for n in s.compared.notes)
        naive = Rate(blind * attack.tries, attack.tries)
        return AttackRates(title, attack, naive, control, None, notes)

    def _drawn(self, people: People) -> People:
        """As many people as are attacked; by their values, so that the order of a file does not matter."""
        n = people.known.n
        if self.attacks is None or self.attacks >= n:
            return people
        order = np.lexsort([c.values for c in people.known.values()])
        rows = order[np.sort(stream(self.seed, "Linkability").permutation(n)[: self.attacks])]
        return replace(people, known=people.known.take(rows), rows=people.rows[rows], own=people.own[rows])

    def _linked(self, sides: Sequence[Space], people: People, threads: int | None) -> Rate:
        near = [s.nearest(s.compared.targets(people.known.select(s.original)), self.neighbours, threads) for s in sides]
        chance = linked(near[0], near[1], threads)
        return Rate(float(chance.sum()), len(chance))


def linked(left: Balls, right: Balls, threads: int | None) -> F64:
    """The chance that each target is linked, shape (n,)."""
    sizes = [(counted(side, threads), _closer(side, threads)) for side in (left, right)]
    if sizes[0][0].sum() > sizes[1][0].sum():
        return linked(right, left, threads)
    common = np.zeros((len(left), 4), dtype=np.int64)
    of = point_of(right.tree, left.tree.rows)
    theirs = (right.tree.points, right.targets, *right.measure)
    mine = (left.tree.first, left.tree.points, left.targets, *left.measure)
    inner, inner_2, limits = nearer(left.reach, left.power), nearer(right.reach, right.power), right.limits

    def work(a: int, _: int, ptr: I64, begins: I64, ends: I64) -> None:
        common_rows(ptr, begins, ends, a, mine, inner, of, theirs, inner_2, limits, common)

    in_turn(left, work, threads)
    (all_a, in_a), (all_b, in_b) = sizes
    return chance_of_link(left.nearest, in_a, all_a - in_a, in_b, all_b - in_b, common)


def _closer(side: Balls, threads: int | None) -> I64:
    """How many rows are strictly nearer than the k-th nearest."""
    if side.nearest == 1:
        return np.zeros(len(side), dtype=np.int64)
    inner = nearer(side.reach, side.power)
    return counted(replace(side, limit=inner), threads)


def chance_of_link(k: int, in_a: I64, tie_a: I64, in_b: I64, tie_b: I64, common: I64) -> F64:
    """The chance that k rows of each side share one: those strictly nearer are in, the rest is drawn of those that tie.

    `common`: rows that are on both sides, by whether they are in for sure: both, only left, only right, neither; (n,
    4)."""
    sure, left, right, both = common.T.astype(np.float64)
    a, b = np.maximum(k - in_a, 0), np.maximum(k - in_b, 0)
    free_a, free_b = tie_a - right, tie_b - left
    with np.errstate(invalid="ignore"):  # nothing to draw from: the link is certain then
        apart = _apart(k, free_a, free_b, a, b, both)
    miss = np.exp(_log_choose(free_a, a) - _log_choose(tie_a, a) + _log_choose(free_b, b) - _log_choose(tie_b, b))
    return np.where(sure > 0, 1.0, np.clip(1 - np.where(miss > 0, miss * apart, 0.0), 0.0, 1.0))


def _apart(k: int, free_a: F64, free_b: F64, a: I64, b: I64, both: F64) -> F64:
    """The chance that draws from both sides have no row in common, of `both` that they could."""
    out = np.zeros(len(free_a))
    for h in range(k + 1):
        log = _log_choose(both, h) + _log_choose(free_a - both, a - h) - _log_choose(free_a, a)
        out += np.exp(log + _log_choose(free_b - h, b) - _log_choose(free_b, b))
    return out


def _log_choose(n: Any, k: Any) -> Any:
    """The log of a number of choices; -inf where there is none."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64))
    good = (k >= 0) & (n >= k)
    n, k = np.where(good, n, 0.0), np.where(good, k, 0.0)
    return np.where(good, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)
