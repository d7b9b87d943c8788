"""CartSynthesis: values drawn from the leaves of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Records, rounded
from confide.protect.methods.synthesis.cart.leaf_draws import DRAWS, from_leaves, smoothed
from confide.protect.methods.synthesis.cart.tree import Tree
from confide.protect.methods.synthesis.from_others import FromOthers, says_nothing
from confide.protect.methods.synthesis.in_turn import COUNTS, drawn, sets
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried, dear_together
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Name, registered
from confide.protect.seam.words import listed
from confide.protect.shared.keeping_rules import Kept, broken, from_file
from confide.protect.shared.predictors import Predictors, check_present
from confide.protect.shared.rules import held_rules
from confide.protect.shared.rules_ahead import Ahead
from confide.protect.shared.standing_apart import States

LEAVES = (5, 20, 100, 500)
"""Sizes of leaves to try."""
LEVELS = 200
"""Categories that a tree is grown for at most."""
TRIES = 10
"""How often a value that would break a rule is drawn again from its leaf."""


@registered
@dataclass(frozen=True)
class CartSynthesis(FromOthers):
    r"""Draw a variable, a number or a category, from the leaf of a tree that its predictors lead to.

    The tree is grown on original values, by least squares for numbers and the Gini index for categories; a node of
    three times `leaf` records or more is split where both parts have `leaf` or more. Categories of a predictor are
    divided into two groups. A record then takes a value of its leaf. `draw` says how:

    - "even": each value of the leaf is as likely as any other, and all are used as often as each other, as far as
      numbers allow. Closest to the file.
    - "independent": as likely, and each record draws by itself, as synthpop does by default.
    - "bootstrap": the leaf's values have weights drawn once from a Dirichlet distribution with all parameters 1 (the
      Bayesian bootstrap; Reiter 2005b), so that copies differ as much as the file leaves uncertain.

    Values released are values that occur: a leaf of few records, or a rare value in it, can repeat somebody's value.
    With `smooth` a number that fewer than three records of the file have is moved, evenly, to somewhere between half
    the way to the next smaller and half the way to the next larger number of the file, in the file's precision.

    With `learn` the tree is grown on so many records, drawn at random, in place of all.

    `rules` are statements that records keep, of this variable and of those given, as ``"age < 15 -> marital ==
    'never married'"`` or ``"wage <= income"``. A value that would break one is drawn again from the leaf, and after
    `TRIES` times from all values of the file that break none, or where all do, from those that break the fewest.
    `ahead` are rules of variables that later steps draw: a value counts as breaking them where no record of the file
    has values of those variables that would still keep them all. So no later draw is left without a value.

    Given the variables it was drawn from and the values in the leaf, a value does not depend on whose they were: there
    is no evidence in it, at any level.

    >>> import confide as cf
    >>> cf.CartSynthesis("tenure", given=["age", "hh_income"]).stream
    'CartSynthesis:tenure'
    """

    variables: Name
    given: str | Sequence[str] = ()
    leaf: int = 5
    draw: str = field(default="even", metadata={"choices": DRAWS})
    smooth: bool = False
    rules: str | Sequence[str] = ()
    ahead: str | Sequence[str] = ()
    learn: int | None = None

    method: ClassVar[str] = "cart_synthesis"

    def __post_init__(self) -> None:
        where, problems = self.where, self.check_names()
        wrong = isinstance(self.leaf, bool) or not isinstance(self.leaf, int) or self.leaf < 1
        problems.when(wrong, f"{where}: leaf is the smallest number of records in a leaf, from 1 upwards.")
        known = isinstance(self.draw, str) and self.draw in DRAWS
        problems.when(not known, f"{where}: draw is {', '.join(map(repr, DRAWS[:-1]))} or {DRAWS[-1]!r}.")
        self.true_or_false("smooth", problems)
        self._check_rules(problems)
        problems.tell()

    @property
    def words(self) -> str:
        return f"synthetic {self.variable}{self.from_words}, from trees with leaves of {self.leaf} records"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers and categories: each that is worth it, several in turn, and everything, by the size of leaves."""

        def grows(name: str) -> bool:
            s = outlook.readable[name]
            return s.kind == "numeric" or s.distinct <= LEVELS

        def make(name: str, given: tuple[str, ...], leaf: int) -> CartSynthesis:
            return cls(name, given=given, leaf=leaf)

        def dial(names: tuple[str, ...]) -> Dial:
            return Dial(
                cls.method, names, leaves, lambda x: Change(drawn(outlook, names, make, COUNTS[0], x)),
                lambda x: f"synthetic {listed(names)}, from trees with leaves of {x} records", between=True, whole=True,
                dear=dear_together(outlook, names),
            )  # fmt: skip

        leaves = tuple(x for x in LEAVES if 4 * x <= outlook.rows)
        subjects = [s for s in outlook.those() if grows(s.name)]
        many = tuple(s.name for s in outlook.those() if not grows(s.name))
        left = [Untried(cls.method, f"more than {LEVELS} categories, too many for a tree", many)] if many else []
        if not leaves:
            return [Untried(cls.method, "the file has too few rows for a tree")]
        single = [(s.name,) for s in outlook.worth() if grows(s.name)]
        return [*map(dial, (*single, *sets(outlook, subjects))), *left]

    def _check_rules(self, problems: Problems) -> None:
        """Rules as tuples of texts: each of this variable and of those given, or of variables to come as well."""
        for name in ("rules", "ahead"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        with problems:
            for rule in held_rules(self.rules, f"{self.where}: rules"):
                strange = [v for v in rule.names if v not in (self.variable, *self.given)]
                problems.when(strange, f'{self.where}: a rule names "{(*strange, "")[0]}", which is not given.')
                idle = self.variable not in rule.names
                problems.when(idle, f"{self.where}: a rule does not speak of this variable; leave it out.")
        with problems:
            for rule in held_rules(self.ahead, f"{self.where}: ahead"):
                past = {*rule.names} <= {self.variable, *self.given}
                problems.when(past, f"{self.where}: a rule ahead speaks of no variable to come; put it in rules.")

    def at_once(self) -> str:
        if self.rules or self.ahead:
            return (
                f"{self.where}: rules may draw from all values of the file at once, so they are not for files that are "
                "read in parts. Leave rules out, or read the file into memory (cf.read)."
            )
        if self.draw == "even":
            return (
                f"{self.where} looks at all records of a leaf at once to use its values evenly. For a file that is "
                'read in parts say draw="independent".'
            )
        return super().at_once()

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedCart:  # noqa: ARG002
        original = self.learnt(original)
        column = original[self.variable]
        self.has_values(column)
        check_present(original, self.given, self.where)
        strange = {v for r in held_rules(self.ahead, self.where) for v in r.names if v not in original}
        if strange:
            raise InputError(f'{self.where}: ahead names "{min(strange)}", which no step of the plan draws.')
        if column.kind == "numeric":
            states = self.apart(original)
            rows = np.flatnonzero(states[0].regular(column))
            tree = Tree.of(original.take(rows), self.given, column.values[rows], self.leaf, numbers=True)
            return _FittedCart(self, tree, *states)
        if self.smooth:
            raise InputError(f"{self.where}: smooth is for numbers, and this column has categories.")
        return _FittedCart(self, Tree.of(original, self.given, column.values, self.leaf, numbers=False), None, None)

    def apart(self, original: Records) -> tuple[States, Predictors | None]:
        """Who stands apart (missing values, answer codes), and what that is predicted from where somebody does."""
        column = original[self.variable]
        if bool(column.usable.all()):
            return States.of(column, Predictors((), ()), np.ones((original.n, 1)), zeros=False), None
        predictors = Predictors.of(original, self.given, self.where)
        return States.of(column, predictors, predictors.matrix(original), zeros=False), predictors


@dataclass(frozen=True, eq=False)
class _FittedCart(Fitted):
    """`states`: None for a category, where missing is a value like others; `predictors`: of states, None for one."""

    step: CartSynthesis
    tree: Tree
    states: States | None
    predictors: Predictors | None

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        column = current[self.step.variable]
        made = column.with_values(self._drawn(column, current, draws))
        later = held_rules(self.step.ahead, self.step.where)
        done = (self.step.variable, *self.step.given)
        kept = Kept(held_rules(self.step.rules, self.step.where), Ahead.of(later, original, done) if later else None)
        return Applied([self._kept(made, original, current, draws, kept) if kept.most else made])

    def _states(self, current: Records, draws: Draws, attempt: int) -> I64:
        """Which of the values that stand apart, or none (0), for each record."""
        if self.states is None:
            return np.zeros(current.n, dtype=np.int64)
        x = np.ones((current.n, 1)) if self.predictors is None else self.predictors.matrix(current)
        return self.states.draw(x, draws, current.rows, attempt)

    def _drawn(self, column: Column, current: Records, draws: Draws, attempt: int = 0) -> NDArray[Any]:
        """A value for each record: that of its state, or one of its leaf."""
        state = self._states(current, draws, attempt)
        drawn: F64 = np.full(current.n, np.nan)
        at = np.flatnonzero(state == 0)
        if len(self.tree.values) and len(at):
            some = current if len(at) == current.n else current.take(at)
            leaf = self.tree.leaves(some)
            drawn[at] = from_leaves(self.tree, leaf, self.step.draw, draws, some.rows, attempt)
            if self.step.smooth:
                u = draws.of("smooth").uniform(some.rows, attempt)
                drawn[at] = rounded(smoothed(drawn[at], self.tree.values, u), column.step)
        return drawn.astype(np.int64) if self.states is None else self.states.placed(state, drawn)

    def _kept(self, made: Column, original: Records, current: Records, draws: Draws, kept: Kept) -> Column:
        """The same, drawn again where a rule is broken: from the leaf, then from the whole file."""
        values = made.values.copy()
        beside = current.select(v for v in kept.names if v != made.name)

        def wrong(rows: I64) -> I64:
            return rows[broken(kept, beside.take(rows), made.with_values(values[rows]))]

        left = wrong(np.arange(current.n))
        for attempt in range(1, TRIES + 1):
            if not len(left):
                return made.with_values(values)
            values[left] = self._drawn(made, current.take(left), draws, attempt)
            left = wrong(left)
        if len(left):
            pool = original[made.name]
            u = draws.of("rules").uniform(current.rows[left])
            values[left] = from_file(kept, beside.take(left), pool, values[left], u)
        return made.with_values(values)

    @property
    def in_parts(self) -> bool:
        return True

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        return says_nothing(view, about)
