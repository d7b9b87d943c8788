"""How much less (or more) a released variable can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64
from confide.measure.utility.distances import check_bins, edges, shares, within
from confide.measure.utility.items import items_of
from confide.measure.utility.measure import Found, Stated, named
from confide.measure.utility.pair import Pair

SCALES = ("largest", "own")


@registered
@dataclass(frozen=True)
class Entropy(Stated):
    r"""Differences of entropy, as a share of the largest possible, averaged over variables.

    .. math:: |H' - H| / \log K, \qquad H = -\sum_c p_c \log p_c

    with K the number of values that occur, in the file that has more (at least 2). A number that stays a number is cut
    into `bins` intervals between quantiles of the original; anything else counts value by value, as it stands in each
    file. So where categories become broader, H - H' is what the release no longer tells: the entropy of the original
    value given the released one (Willenborg and de Waal 2001). Lower is better, between 0 (best) and 1, which a lost
    variable counts. Over copies it is averaged. No link is needed.

    A missing value of the original is a value. One that the release alone lacks tells nothing: with a share h of values
    hidden beyond those, and q_c the released shares without them,

    .. math:: H' = (1 - h) \, H(q / (1 - h)) = -\sum_c q_c \log \frac{q_c}{1 - h}

    which falls with every value that is hidden.

    ``scale="own"`` divides by the variable's own entropy H in the original in place of log K: the share of what it
    told that the release no longer tells.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> fives, tens = (cf.Plan([cf.Recode("age", width=w)]).protect(heads, seed=1).data for w in (5, 10))
    >>> cf.Entropy("age")(heads, heads) == 0 < cf.Entropy("age")(heads, fives) < cf.Entropy("age")(heads, tens)
    True
    """

    variables: str | Sequence[str] | None = None
    bins: int = 20
    scale: str = field(default="largest", metadata={"choices": SCALES})

    key: ClassVar[str] = "entropy"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variables", named(self.variables, "Entropy"))
        check_bins(self.bins, "Entropy")
        if self.scale not in SCALES:
            raise InputError(
                'Entropy: scale is "largest" (a share of the largest entropy possible) or "own" (of the variable\'s '
                "own)."
            )

    @property
    def range(self) -> tuple[float, float]:
        """Between nothing and all that a variable could tell."""
        return 0.0, 1.0

    def of(self, pairs: Sequence[Pair]) -> Found:
        items = items_of(pairs, self.variables, "value", "Entropy")
        losses = {v: float(np.mean([self._loss(pair, v) for pair in pairs])) for v in items.kept}
        return items.averaged(losses, self.worst)

    def _loss(self, pair: Pair, variable: str) -> float:
        number = pair.kind(variable) == "numeric" and pair.is_number(variable) and variable not in pair.coarse
        ends = edges(pair, variable, self.bins) if number else None
        p, q = (_shares(pair, variable, file, ends) for file in (0, 1))
        none = 0 if ends is None else -1  # the place of missing values
        shown = q.copy()
        shown[none] = min(q[none], _missing_before(pair, variable, p[none], number))
        return self.lost(p, shown)

    def lost(self, p: F64, q: F64) -> float:
        """The loss of a variable whose values have shares p in the original and q in the release, of which hidden
        values are no part: they sum to less than 1 by the share of these."""
        before, after = entropy(p), told(q)
        whole = before if self.scale == "own" else np.log(max((p > 0).sum(), (q > 0).sum(), 2))
        return float(min(1.0, abs(after - before) / whole)) if whole > 0 else 0.0


def _missing_before(pair: Pair, variable: str, share: float, number: bool) -> float:
    """The share of missing values that the release has from the original: of the same records, where they are known."""
    if pair.link is None or share == 0 or bool((pair.link < 0).any()):
        return share
    original = pair.numbers(variable, 0) if number else pair.before.column(variable, "categorical").values
    missing, w = np.isnan(original) if number else original < 0, pair.weights(1)
    return float(w[missing[pair.link]].sum() / w.sum())


def _shares(pair: Pair, variable: str, file: int, ends: F64 | None) -> F64:
    """Shares of a file's values, or of intervals with the ends given."""

    def found() -> F64:
        if ends is not None:
            return shares(within(pair.numbers(variable, file), ends), pair.weights(file), len(ends) + 2)
        column = pair.file(file).column(variable, "categorical")
        return shares(column.values + 1, pair.weights(file), len(column.levels) + 1)

    return pair.remembered(file, ("shares", variable, None if ends is None else ends.tobytes()), found)


def entropy(p: F64) -> float:
    """-sum of p log p."""
    there = p[p > 0]
    return float(-(there * np.log(there)).sum())


def told(q: F64) -> float:
    """What values with shares q tell where the rest, 1 less their sum, is hidden: -sum of q log(q / sum of q).

    >>> round(told(np.array([0.5, 0.5])), 4), round(told(np.array([0.5, 0.25])), 4), told(np.array([0.5]))
    (0.6931, 0.4774, 0.0)
    """
    shown = float(q.sum())
    return entropy(q) + float(shown * np.log(shown)) if 0 < shown < 1 - 1e-12 else entropy(q)
