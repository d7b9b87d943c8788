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
from confide.attack.beliefs.label_regressions import Counted, Functions, Stratum
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

STRATA, LEAST = 8, 200
"""Labels that have regressions of their own, at most, and the records they need; others share one."""
FITTED = 2_000_000
"""Numbers in the features of those patterns that exponents are fitted on."""
BELIEVED = 0.9
"""Share of what tells candidates apart that is believed: the record that fits best is picked among many, and where many
predictors agree by chance."""
STEPS, ENOUGH, RIDGE = 40, 1e-3, 0.1
"""Newton steps at most, the decrement (nats) of the last one, and a ridge on exponents."""


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
        for i, f in enumerate(asked):
            _into(out[i], counted, functions, strata, base, f)
    return out


def _into(out: F64, counted: Counted, functions: Functions, strata: Sequence[Stratum], base: F64, without: int) -> None:
    """What is believed where one part is left out."""
    label = counted.label
    n, each = counted.records(without)
    out[:] = base[label].T
    patterns = np.concatenate([s.patterns for s in strata])
    found = zip(*(s.tilts(functions, label, n, each) for s in strata), strict=True)
    first, rest, plain = (np.concatenate(part) for part in found)
    tilts = _tilts(counted, functions, (first, rest, plain), base, patterns, n, each)
    label_sums.tilted(patterns, label, tilts, functions.spread, base, out)


def _tilted(functions: Functions, label: I64, tilt: F64) -> F64:
    """The sum over r of a pattern's tilts times functions of the value, shape (patterns, K)."""
    out = np.empty((len(label), functions.spread.shape[1]))
    for c in np.unique(label):
        mine = label == c
        out[mine] = tilt[mine] @ functions.spread[c].T
    return out


def _strata(counted: Counted) -> list[I64]:
    """Patterns of labels that have regressions of their own, and of all others."""
    n = np.bincount(counted.label[counted.at], weights=counted.count, minlength=counted.groups.shape[1])
    large = [c for c in np.argsort(-n, kind="stable")[:STRATA] if n[c] >= LEAST]
    own = [np.flatnonzero(counted.label == c) for c in large]
    rest = np.flatnonzero(~np.isin(counted.label, large))
    return [mine for mine in (*own, rest) if len(mine)]


def _tilts(
    counted: Counted, functions: Functions, expected: tuple[F64, F64, F64], base: F64, patterns: I64, n: F64, each: F64
) -> F64:
    """What each function of the value is multiplied by, shape (patterns, R): both parts of what is expected with their
    exponents, none of them negative, and a constant. Exponents that would be negative are left out and the others
    fitted again."""
    some = _some(patterns, n, counted, 2 * len(functions.exponent))
    rows, label = patterns[some], counted.label[patterns[some]]
    r = np.arange(len(functions.exponent))
    own = [functions.exponent == e for e in np.unique(functions.exponent)]
    parts = [part * mine for part in expected[:2] for mine in own]
    parts += [np.ones((len(patterns), 1)) * (r == fixed) for fixed in np.flatnonzero(functions.fixed)]
    features = np.stack([_tilted(functions, label, part[some]) for part in parts], axis=1)
    kept, out = np.arange(len(parts)), np.zeros(len(parts))
    while True:
        found = _newton(np.ascontiguousarray(features[:, kept]), each[rows], base[label])
        out[:] = 0.0
        out[kept] = found
        wrong = (found < 0) & (kept < 2 * len(own))
        if not wrong.any():
            break
        kept = kept[~wrong]
    parts[: len(own)] = [expected[2] * mine for mine in own]
    out[len(own) : 2 * len(own)] *= BELIEVED
    return np.asarray(sum(b * part for b, part in zip(out, parts, strict=True)))


def _some(patterns: I64, n: F64, counted: Counted, many: int) -> I64:
    """Places of patterns that records have: all, or those with the lowest keys."""
    seen = np.flatnonzero(n[patterns])
    most = max(FITTED // (counted.k * many), 200)
    key = counted.key[patterns[seen]]
    return seen if len(seen) <= most else seen[np.sort(np.argsort(key, kind="stable")[:most])]


def _newton(features: F64, m: F64, base: F64) -> F64:
    """beta that makes counts m (G, K) likeliest where log p = base + sum of beta times features (G, V, K)."""
    many = features.shape[1]

    def at(beta: F64) -> tuple[float, F64, F64]:
        slope, bent = np.zeros(many), np.zeros((many, many))
        value = label_sums.logit(features, m, base, beta, slope, bent)
        return value - 0.5 * RIDGE * float(beta @ beta), slope - RIDGE * beta, bent + RIDGE * np.eye(many)

    beta = np.zeros(many)
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
