"""How well a model can tell released from original records: pMSE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed
from confide.core.registry import registered
from confide.core.run.threads import one_blas_thread
from confide.measure.utility.items import Items, items_of, said, spread
from confide.measure.utility.measure import Found, Stated, named
from confide.measure.utility.pair import Pair
from confide.measure.utility.propensity_cart import cart_scores, mse, permuted_mean, sorted_rows
from confide.measure.utility.propensity_cells import by_cell
from confide.measure.utility.propensity_logistic import logistic_scores
from confide.measure.utility.stacked import LEVELS, Stacked, too_many
from confide.measure.utility.weighted import variance

UNSEEN, SPREAD = 2.0, 2.0
"""Below this ratio a model has hardly noticed a difference; a spread that is so many times as large, or as small, is
one to be noticed."""
SEPARATED = 0.02
"""From this pMSE on a ratio is held against the largest: a spoilt variable may leave a model fewer columns or
divisions, and so a smaller expectation."""


@registered
@dataclass(frozen=True)
class Propensity(Stated):
    r"""pMSE: how well a model can tell released from original records, by default in units of chance.

    .. math:: \mathrm{pMSE} = \frac1N \sum_i (p_i - c)^2

    with both files stacked (N rows), p the fitted probability that a row is a released one, c the share of released
    rows; weights count as rows (Woo, Reiter, Oganian and Karr 2009). The ratio divides by its expectation where there
    is no difference (Snoke, Raab, Nowok, Dibben and Slavković 2018). Lower is better, from 0 (best: identical files);
    pMSE is at most c(1 - c), 1/4 for files of one size: perfect separation. That is the value of every release that has
    lost a variable, since its records are known by that. A ratio of 1 is what chance gives:

    - ``null="sample"``: the files are two random samples of one population, or halves of one file. For a logistic model
      with k independent columns the expectation is :math:`(k-1) c (1-c) / N`; with weights k - 1 becomes
      :math:`\mathrm{tr}((X'WX)^{-1} X'W^2X)`, X centred, and N the sum of weights, so that their unit does not matter.
    - ``null="synthesis"``: the release is drawn from a right model of this very original, which is less: times 1 - c,
      as printed by Snoke and others, :math:`(k-1) c (1-c)^2 / N`.

    `model`: "logistic" has main effects, for a number with released values outside the range of the original a column
    that says which they are, and, with `interactions`, pairs of variables (those with fewest columns first,
    up to 400 columns and one for ten rows; the detail says how many were left out). "cart" is a tree whose leaves hold
    at least the share `leaf` of all weight; its expectation is the mean over `permutations` random divisions, drawn
    from `seed`. Missing values are a category, or an indicator beside a number. Intervals count by their middles;
    merged categories as equal parts of those that they may stand for, in a tree as themselves. Variables with over 200
    categories in the original are left out. No link is needed; over copies it is averaged.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> few = ["sex", "race", "age", "hh_income"]
    >>> half, other = heads[::2], heads[1::2]
    >>> 0.3 < cf.Propensity(few)(half, other) < 2, cf.Propensity(few)(heads, heads) < 1e-9
    (True, True)
    """

    variables: str | Sequence[str] | None = None
    model: str = "logistic"
    ratio: bool = True
    seed: int = 0
    interactions: bool = True
    null: str = "sample"
    leaf: float = 0.005
    permutations: int = 10

    key: ClassVar[str] = "propensity"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variables", named(self.variables, "Propensity"))
        if self.model not in ("logistic", "cart"):
            raise InputError('Propensity: model is "logistic" or "cart".')
        if self.null not in ("sample", "synthesis"):
            raise InputError('Propensity: null is "sample" (two samples) or "synthesis" (drawn given the original).')
        for flag in ("ratio", "interactions"):
            if not isinstance(getattr(self, flag), bool):
                raise InputError(f"Propensity: {flag} is true or false.")
        checked_seed(self.seed)
        if not 0 < fraction(self.leaf, "Propensity: leaf") <= 0.5:
            raise InputError("Propensity: leaf is the least share of rows in a leaf, above 0 and at most 0.5.")
        whole = isinstance(self.permutations, int) and not isinstance(self.permutations, bool)
        if not whole or not 1 <= self.permutations <= 10_000:
            raise InputError("Propensity: permutations is a whole number from 1 to 10000.")

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.label or "pmse" + "_ratio" * self.ratio + "_cart" * (self.model == "cart")

    @property
    def range(self) -> tuple[float, float]:
        """pMSE is at most c(1 - c); a ratio at most that by its expectation, a number that depends on the file."""
        return (0.0, np.inf) if self.ratio else (0.0, 0.25)

    def of(self, pairs: Sequence[Pair]) -> Found:
        items = self._items(pairs)
        with one_blas_thread():
            if items.lost:  # whoever has not the variable is known by that
                value, notes = self._largest(pairs[0], items.names)
            else:
                every = [self._one(Stacked.of(p, items.names, "Propensity"), p, items.names) for p in pairs]
                value, notes = float(np.mean([value for value, _ in every])), every[0][1]
        detail = "; ".join([*notes, *items.notes, *said(items.lost)])
        return Found(value, detail, tuple(items.lost), len(items.names))

    def _items(self, pairs: Sequence[Pair]) -> Items:
        """The variables; without those of too many categories, a matter of the original alone."""
        items = items_of(pairs, self.variables, "category", "Propensity")
        out = [v for v in items.names if too_many(pairs[0], v)]
        if out and (self.variables is not None or len(out) == len(items.names)):
            raise InputError(f'Propensity: "{out[0]}" has more than {LEVELS} categories; recode it or leave it out.')
        if not out:
            return items
        lost = {v: why for v, why in items.lost.items() if v not in out}
        notes = [*items.notes, f"left out, too many categories: {', '.join(out)}"]
        return Items([v for v in items.names if v not in out], lost, notes)

    def _largest(self, pair: Pair, names: Sequence[str]) -> tuple[float, list[str]]:
        """The value at perfect separation, of a model with all variables of the original, and remarks on it."""
        if not self.ratio:
            return 0.25, ["perfect separation"]
        expected, notes = self._unit(pair, names)
        return 0.25 / expected, ["perfect separation", *notes, f"pMSE 0.25, expected {expected:.3g}"]

    def _unit(self, pair: Pair, names: Sequence[str]) -> tuple[float, list[str]]:
        """The expectation of pMSE for the original beside itself, and remarks on the model."""

        def found() -> tuple[float, list[str]]:
            same = replace(pair, after=pair.before, coarse={}, link=None)
            return self._fitted(Stacked.of(same, names, "Propensity"))[1:]

        read = [*names, *([] if pair.weight is None else [pair.weight])]
        key = ("propensity", replace(self, label=None), pair.weight, tuple((v, pair.kind(v)) for v in names))
        return pair.before.remembered(key, read, found)

    def _one(self, stacked: Stacked, pair: Pair, names: Sequence[str]) -> tuple[float, list[str]]:
        """The value, and remarks on the model; no more than at perfect separation of a file with all variables."""
        found, expected, notes = self._fitted(stacked)
        notes += [f"pMSE {found:.3g}, expected {expected:.3g}"] if self.ratio else []
        if self.model == "logistic" and found < UNSEEN * expected:
            notes += _unseen(pair, list(stacked.numbers))
        if not self.ratio:
            return found, notes
        if found < SEPARATED:  # too little for a ratio that could pass the largest
            return found / expected, notes
        return min(found / expected, self._largest(pair, names)[0]), notes

    def _fitted(self, stacked: Stacked) -> tuple[float, float, list[str]]:
        """pMSE, its expectation where it is asked for, and remarks."""
        if self.model == "logistic":
            t, stacked = by_cell(stacked, self.interactions)
            scores = logistic_scores(t, stacked.y, stacked.w)
            found, expected = mse(scores.p, stacked.y, stacked.w), scores.expected
            notes = [f"logistic, {scores.columns} columns"]
            notes += [f"{t.without} interactions left out"] if t.without else []
        else:
            stacked = sorted_rows(stacked)
            found = mse(cart_scores(stacked, stacked.y, self.leaf), stacked.y, stacked.w)
            expected = permuted_mean(stacked, self.leaf, self.permutations, self.seed) if self.ratio else 0.0
            notes = [f"tree, leaves of at least {100 * self.leaf:g}% of weight"]
        c = float(np.average(stacked.y, weights=stacked.w))
        expected = expected or c * (1 - c) / len(stacked.y)  # nothing varies: that of one column
        return found, expected * (1 - c if self.null == "synthesis" else 1.0), notes


def _unseen(pair: Pair, numbers: Sequence[str]) -> list[str]:
    """A caution about numbers whose spread has changed, where the model has hardly noticed a difference."""
    ratios = {v: _spread_after(pair, v) / spread(pair, v) for v in numbers if spread(pair, v) > 0}
    changed = [f"{v} ({r:.2g} times)" for v, r in ratios.items() if not 1 / SPREAD <= r <= SPREAD]
    if not changed:
        return []
    return [f'caution: main effects do not see that the spread is another: {", ".join(changed)}; model="cart" does']


def _spread_after(pair: Pair, variable: str) -> float:
    return float(np.sqrt(variance(pair.numbers(variable, 1), pair.weights(1))))
