r"""Which true value is behind a coarser label, given what else a record shows.

A released band c has several true values y behind it. A record's other values h say which of them is likelier:

.. math:: \Pr(y \mid c, h) \propto \Pr(y \mid c)
    \exp\Big(\sum_r \big(\alpha_r + \beta_r\, \hat\varphi_r(c, h)\big)\, \varphi_r(y)\Big)

:math:`\varphi_r` are functions of the value inside its label with mean 0 and variance 1: of a number its rank, and how
far that is from the middle; of a category each by itself. :math:`\hat\varphi_r` is what a ridge regression on
indicators of what the record shows expects of them. (A ratio of probabilities, expanded in such functions, is 1 plus
these products.) Of a category the ratios that single predictors give are multiplied: in the exponent is the sum of
:math:`\log(1 + \hat e_v / \Pr(y \mid c))` over predictors v with effects :math:`\hat e_v`, so that none counts for more
than it is. Constants beside them let what is left behind a label be narrower than the whole.

Neither the target nor the owner of a record may pass for a reason to expect somebody like them. So people are in
`FOLDS` parts: what is believed where a target of one part is asked about comes from the other parts, and each record is
left out of its own expectation as well (by its leverage, exactly). Only what tells candidates apart is treated so: what
all of them have alike is expected with everybody, or those left out would differ by it. Penalties are those under which
records left out are expected best; where none is expected better than by the mean, nothing is believed.
:math:`\beta \geq 0` is fitted to expectations of records left out by maximum likelihood (a conditional logit): apart
for what candidates have alike and for the rest, for each function of a number and each category where these are few.

What goes with a value is another matter behind each label (what tells a widow from a divorcee is not what tells who is
separated), so that labels with enough records have regressions and exponents of their own. And a predictor with many
codes, such as an age, has few records of each: their effects shrink to those of codes beside them (`smoothing`).
Shrunk to 0, an old widow would seem rarer than she is among the old, and records that fit her would be too sure.

Notation
--------
g : pattern, a label with the predictors' codes; c_g its label
y : value, numbered inside its label from 0; K the most that one label has
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.attack.beliefs import label_sums
from confide.attack.beliefs.held_out import U64
from confide.attack.beliefs.label_regressions import FOLDS, Counted, Functions, Stratum
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

STRATA, LEAST = 24, 200
"""Labels that have regressions and exponents of their own, at most, and the records they need; others share them."""
FITTED = 600_000
"""Numbers in the features of those patterns that the exponents of one stratum are fitted on."""
BELIEVED = 0.9
"""Share of what tells candidates apart that is believed: the record that fits best is picked among many, and where many
predictors agree by chance."""
STEPS, ENOUGH, RIDGE, SHARED = 40, 1e-5, 0.1, 10.0
"""Newton steps at most, the decrement (nats) of the last one, a ridge on exponents of all labels together, and one on
how far those of one label are from them."""


def log_behind(counted: Counted, asked: Sequence[int]) -> F64:
    """log Pr(value given pattern) for targets of each part asked for, shape (parts asked, K, G), -inf for values that a
    label does not have; without rows where nothing says anything."""
    c = counted
    given = c.label, c.codes, c.key, c.at, c.value, c.part, c.count, c.groups, c.ordered, c.alike, tuple(asked)
    return remembered(_log_behind, *given)


def _log_behind(
    label: I64, codes: I64, key: U64, at: I64, value: I64, part: I64, count: F64, groups: I64,
    ordered: tuple[bool, ...], alike: int, asked: tuple[int, ...],
) -> F64:  # fmt: skip
    counted = Counted(label, codes, key, at, value, part, count, groups, ordered, alike)
    functions = Functions.of(counted)
    with np.errstate(divide="ignore"):
        base = np.log(counted.share())
    with one_blas_thread():
        strata = [Stratum.of(counted, functions, mine) for mine in _strata(counted)]
        strata = [s for s in strata if s.penalty < np.inf]
        if not strata:
            return np.zeros((0, counted.k, len(label)))
        out = np.empty((len(asked), counted.k, len(label)))
        shared = _shared(counted, functions, strata, base)
        about = [shared] * len(strata)
        for i, f in enumerate(asked):
            n, each = counted.records(f)
            out[i] = base[label].T
            for j, s in enumerate(strata):
                expected = s.tilts(functions, label, n, each)
                tilts, about[j] = _tilts(
                    counted, functions, expected, base, s.patterns, n, each, shared, SHARED, about[j]
                )
                label_sums.tilted(s.patterns, label, tilts, functions.spread, base, out[i])
    return out


def _shared(counted: Counted, functions: Functions, strata: Sequence[Stratum], base: F64) -> F64:
    """Exponents of all labels together."""
    n, each = counted.records(FOLDS)
    patterns = np.concatenate([s.patterns for s in strata])
    found = zip(*(s.tilts(functions, counted.label, n, each) for s in strata), strict=True)
    first, rest, plain = (np.concatenate(part) for part in found)
    none = functions.none
    return _tilts(counted, functions, (first, rest, plain), base, patterns, n, each, none, RIDGE, none)[1]


def _strata(counted: Counted) -> list[I64]:
    """Patterns of labels that have regressions of their own, and of all others."""
    n = np.bincount(counted.label[counted.at], weights=counted.count, minlength=counted.groups.shape[1])
    large = [c for c in np.argsort(-n, kind="stable")[:STRATA] if n[c] >= LEAST]
    own = [np.flatnonzero(counted.label == c) for c in large]
    rest = np.flatnonzero(~np.isin(counted.label, large))
    return [mine for mine in (*own, rest) if len(mine)]


def _tilts(
    counted: Counted, functions: Functions, expected: tuple[F64, F64, F64], base: F64, patterns: I64, n: F64, each: F64,
    near: F64, ridge: float, start: F64,
) -> tuple[F64, F64]:  # fmt: skip
    """What each function of the value is multiplied by, shape (patterns, R): both parts of what is expected with their
    exponents, none of them negative, and a constant; then the exponents themselves, which `start` is about. Those that
    would be negative are left out and the others fitted again. A ridge draws them to `near`."""
    some = _some(patterns, n, counted, 2 * len(functions.exponent))
    rows, label = patterns[some], counted.label[patterns[some]]
    e, place = functions.exponents, functions.places
    size = 1 + int(np.flatnonzero((base[label] > -np.inf).any(axis=0)).max(initial=0))
    features = np.zeros((len(some), len(near), size))
    label_sums.features(
        label, expected[0][some], expected[1][some], functions.exponent, place, functions.spread, features
    )
    kept, out, m, before = np.arange(len(near)), start.copy(), each[rows, :size], base[label, :size]
    while True:
        mine = features if len(kept) == len(out) else np.ascontiguousarray(features[:, kept])
        found = _newton(mine, m, before, near[kept], ridge, out[kept])
        out[:] = 0.0
        out[kept] = found
        wrong = (found < 0) & (kept < 2 * e)
        if not wrong.any():
            break
        kept = kept[~wrong]
    alike, apart = out[:e][functions.exponent], BELIEVED * out[e : 2 * e][functions.exponent]
    return expected[2] * alike + expected[1] * apart + np.where(place >= 0, out[place], 0.0), out


def _some(patterns: I64, n: F64, counted: Counted, many: int) -> I64:
    """Places of patterns that records have: all, or those with the lowest keys."""
    seen = np.flatnonzero(n[patterns])
    most = max(FITTED // (counted.k * many), 200)
    key = counted.key[patterns[seen]]
    return seen if len(seen) <= most else seen[np.sort(np.argsort(key, kind="stable")[:most])]


def _newton(features: F64, m: F64, base: F64, near: F64, ridge: float, beta: F64) -> F64:
    """beta, which is given about: it makes counts m (G, K) likeliest where log p = base + sum of beta times features
    (G, V, K), with a ridge on how far it is from `near`."""
    many = features.shape[1]

    def at(beta: F64) -> tuple[float, F64, F64]:
        slope, bent = np.zeros(many), np.zeros((many, many))
        value = label_sums.logit(features, m, base, beta, slope, bent)
        off = beta - near
        return value - 0.5 * ridge * float(off @ off), slope - ridge * off, bent + ridge * np.eye(many)

    value, slope, bent = at(beta)
    for _ in range(STEPS):
        step = np.linalg.solve(bent, slope)
        size, decrement = 1.0, float(slope @ step)
        reached = at(beta + step)
        while reached[0] < value - 1e-9 * abs(value) and size > 1e-4:
            size *= 0.5
            reached = at(beta + size * step)
        beta, (value, slope, bent) = beta + size * step, reached
        if decrement <= ENOUGH:
            break
    return beta
