"""CartSynthesis: values drawn from the leaves of a tree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.core.errors import Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Records
from confide.protect.methods.synthesis.from_others import FromOthers, says_nothing
from confide.protect.methods.synthesis.in_turn import COUNTS, drawn, sets
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried, dear_together
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Name, registered
from confide.protect.seam.words import listed
from confide.protect.shared.keeping_rules import broken, from_file
from confide.protect.shared.predictors import Predictors
from confide.protect.shared.rules import Held, held_rules
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

    The tree is grown on original values until leaves have fewer than twice `leaf` records. A record then takes a value
    of its leaf, by the Bayesian bootstrap: the leaf's values have weights drawn once from a Dirichlet distribution with
    all parameters 1, and each record draws with these weights. Values released are values that occur (Reiter 2005b;
    the default of synthpop): a leaf of few records, or a rare value in it, can repeat somebody's value. With
    ``draw=False`` all values of a leaf are as likely: closer to the file, and copies differ less than the file leaves
    uncertain.

    With `learn` the tree is grown on so many records, drawn at random, in place of all.

    `rules` are statements that records keep, of this variable and of those given, as ``"age < 15 -> marital ==
    'never married'"`` or ``"wage <= income"``. A value that would break one is drawn again from the leaf, and after
    `TRIES` times from all values of the file that break none, or where all do, from those that break the fewest.

    Given the variables it was drawn from, a value does not depend on the target's own: there is no evidence in it, at
    any level.

    >>> import confide as cf
    >>> cf.CartSynthesis("tenure", given=["age", "hh_income"]).stream
    'CartSynthesis:tenure'
    """

    variables: Name
    given: str | Sequence[str] = ()
    leaf: int = 5
    draw: bool = True
    rules: str | Sequence[str] = ()
    learn: int | None = None

    method: ClassVar[str] = "cart_synthesis"

    def __post_init__(self) -> None:
        where, problems = self.where, self.check_names()
        wrong = isinstance(self.leaf, bool) or not isinstance(self.leaf, int) or self.leaf < 1
        problems.when(wrong, f"{where}: leaf is the smallest number of records in a leaf, from 1 upwards.")
        self.true_or_false("draw", problems)
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
        """Rules as a tuple of texts, each of this variable and of those given."""
        texts = (self.rules,) if isinstance(self.rules, str) else tuple(self.rules)
        object.__setattr__(self, "rules", texts)
        with problems:
            for rule in held_rules(texts, f"{self.where}: rules"):
                strange = [v for v in rule.names if v not in (self.variable, *self.given)]
                problems.when(strange, f'{self.where}: a rule names "{(*strange, "")[0]}", which is not given.')
                idle = self.variable not in rule.names
                problems.when(idle, f"{self.where}: a rule does not speak of this variable; leave it out.")

    def at_once(self) -> str:
        if self.rules:
            return (
                f"{self.where}: rules may draw from all values of the file at once, so they are not for files that are "
                "read in parts. Leave rules out, or read the file into memory (cf.read)."
            )
        return super().at_once()

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedCart:  # noqa: ARG002
        column = original[self.variable]
        if column.kind == "numeric":
            predictors, states, x, y = self.two_parts(original, zeros=False)
            return _FittedCart(self, predictors, states, *_grown(x, y, self.leaf, numbers=True))
        original = self.learnt(original)
        column = original[self.variable]
        self.has_values(column)
        predictors = Predictors.of(original, self.given, self.where)
        grown = _grown(predictors.matrix(original), column.values, self.leaf, numbers=False)
        return _FittedCart(self, predictors, None, *grown)


@dataclass(frozen=True, eq=False)
class _FittedCart(Fitted):
    """`values`: values of the file, leaf after leaf; `starts`: where each leaf begins, and the end. `tree`: None for
    one leaf alone. `states`: None for a category, where missing is a value like others."""

    step: CartSynthesis
    predictors: Predictors
    states: States | None
    tree: Any
    number: I64
    values: NDArray[Any]
    starts: I64

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        column = current[self.step.variable]
        x = self.predictors.matrix(current)
        state = self._states(x, draws, current.rows)
        weight = np.ones(len(self.values))
        if self.step.draw:
            weight = draws.of("weight").exponential(np.arange(len(self.values)))
        made = column.with_values(self._drawn(x, state, weight, draws, current.rows))
        rules = held_rules(self.step.rules, self.step.where)
        if rules:
            made = self._kept(made, original, current, (x, weight), draws, rules)
        return Applied([made])

    def _states(self, x: F64, draws: Draws, rows: I64, attempt: int = 0) -> I64:
        """Which of the values that stand apart, or none (0), for each row of the design."""
        return np.zeros(len(x), dtype=np.int64) if self.states is None else self.states.draw(x, draws, rows, attempt)

    def _drawn(
        self, x: F64, state: I64, weight: F64, draws: Draws, rows: I64, attempt: int = 0
    ) -> NDArray[Any]:  # fmt: skip
        """A value for each row of the design: that of its state, or one of its leaf."""
        drawn = np.full(len(x), np.nan)
        at = np.flatnonzero(state == 0)
        if len(self.values) and len(at):
            drawn[at] = self.values[self._donors(self.leaves(x[at]), weight, draws.uniform(rows[at], attempt))]
        return drawn.astype(np.int64) if self.states is None else self.states.placed(state, drawn)

    def _kept(
        self, made: Column, original: Records, current: Records, model: tuple[F64, F64], draws: Draws,
        rules: Sequence[Held],
    ) -> Column:  # fmt: skip
        """The same, drawn again where a rule is broken: from the leaf, then from the whole file."""
        x, weight = model
        values = made.values.copy()
        names = tuple(dict.fromkeys(v for r in rules for v in r.names if v != made.name))
        beside = current.select(names)

        def wrong(rows: I64) -> I64:
            return rows[broken(rules, beside.take(rows), made.with_values(values[rows]))]

        left = wrong(np.arange(current.n))
        for attempt in range(1, TRIES + 1):
            if not len(left):
                return made.with_values(values)
            rows = current.rows[left]
            state = self._states(x[left], draws, rows, attempt)
            values[left] = self._drawn(x[left], state, weight, draws, rows, attempt)
            left = wrong(left)
        if len(left):
            pool = original[made.name]
            u = draws.of("rules").uniform(current.rows[left])
            values[left] = from_file(rules, beside.take(left), pool, values[left], u)
        return made.with_values(values)

    def leaves(self, x: F64) -> I64:
        """The leaf of each record, counted from 0."""
        if self.tree is None:
            return np.zeros(len(x), dtype=np.int64)
        return np.asarray(self.number[self.tree.apply(x[:, 1:].astype(np.float32))])

    def _donors(self, leaf: I64, weight: F64, u: F64) -> I64:
        """A position in `values` for each record, inside its leaf, in proportion to the weights."""
        total = np.concatenate([[0.0], np.cumsum(weight)])
        low, high = total[self.starts[leaf]], total[self.starts[leaf + 1]]
        at = np.searchsorted(total, low + u * (high - low), side="right") - 1
        return np.asarray(np.clip(at, self.starts[leaf], self.starts[leaf + 1] - 1))

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        return says_nothing(view, about)


def _grown(x: F64, y: NDArray[Any], leaf: int, numbers: bool) -> tuple[Any, I64, NDArray[Any], I64]:
    """A tree, the number of each of its leaves, and the file's values in the order of leaves."""
    if x.shape[1] < 2 or len(y) < 2 * leaf:
        return None, np.zeros(1, dtype=np.int64), y, np.array([0, len(y)])
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    grow = DecisionTreeRegressor if numbers else DecisionTreeClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a category has many levels is no news to who named it
        tree = grow(min_samples_leaf=leaf, random_state=0).fit(x[:, 1:], y)
    found = tree.apply(x[:, 1:].astype(np.float32))
    nodes, of, count = np.unique(found, return_inverse=True, return_counts=True)
    number = np.full(tree.tree_.node_count, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    order = np.argsort(of, kind="stable")
    return tree, number, y[order], np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
