r"""The estimators by name, each with what it says of a sample: tau1, tau2, the population's uniques and DIS.

tau1 counts the sample uniques that are unique in the population, tau2 sums 1/F over all sample uniques: the matches
that an intruder expects who links each of them to one person of its cell. Uniques of the population are tau1 weighted,
:math:`\sum_{SU} w\, P(F = 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from confide.attack.population.others import mean_inverse as mean_inverse_of_others
from confide.frames.columns import F64, I64, Bools
from confide.measure.risk.population.cell_sizes import ewens, pitman, pitman_as_arx, zayatz
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.individual import mean_inverse
from confide.measure.risk.population.intrusion import intrusion
from confide.measure.risk.population.poisson import MODELS, PoissonFit, fit_poisson, unique_inverse
from confide.measure.risk.population.shifted_binomial import shifted_binomial, shifted_binomial_as_arx

Z = 1.959963984540054
DIS, WEIGHTED = "dis", "benedetti_franconi"
SIZES: dict[str, Callable[[Cells], float | None]] = {
    "pitman": pitman,
    "ewens": ewens,
    "zayatz": lambda cells: zayatz(cells) / cells.fraction,
    "snb": shifted_binomial,
    "pitman_as_arx": pitman_as_arx,
    "snb_as_arx": shifted_binomial_as_arx,
}
"""Population uniques from the sizes of cells alone."""
KNOWN = (*MODELS, DIS, WEIGHTED, *SIZES)
Interval = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Sample:
    """What estimators read: the cells, the codes of each on every key, and which keys are numbers."""

    cells: Cells
    codes: Sequence[I64]
    ordered: Sequence[bool]


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one estimator says; None where it says nothing, and `note` why. Intervals are 95 percent ones.

    `alone`, `inverse`: (d,) P(F = 1) of sample uniques (0 elsewhere) and E(1/F) of all cells, where it has them.
    """

    estimator: str
    tau1: float | None = None
    tau2: float | None = None
    uniques: float | None = None
    dis: float | None = None
    tau1_interval: Interval = (None, None)
    tau2_interval: Interval = (None, None)
    dis_interval: Interval = (None, None)
    note: str = ""
    alone: F64 | None = field(default=None, repr=False)
    inverse: F64 | None = field(default=None, repr=False)
    fit: PoissonFit | None = field(default=None, repr=False)


def estimate(name: str, sample: Sample) -> Estimate:
    """One estimator's answer."""
    cells = sample.cells
    if cells.whole and name != DIS:
        return _known(name, cells)
    if name in MODELS:
        return _poisson(name, sample)
    if name == DIS:
        return _intrusion(cells)
    return _weighted(cells) if name == WEIGHTED else _by_sizes(name, cells)


def _known(name: str, cells: Cells) -> Estimate:
    """The sample is the population, so nothing is to be estimated."""
    uniques, dis = float(cells.having(1)), 1.0 if cells.having(1) else None
    fixed = (uniques, uniques)
    found = Estimate(name, uniques, uniques, uniques, dis, fixed, fixed, (dis, dis), "the sample is the population")
    return replace(found, alone=cells.unique.astype(float), inverse=1 / cells.f)


def _poisson(name: str, sample: Sample) -> Estimate:
    cells = sample.cells
    fit = fit_poisson(cells, sample.codes, sample.ordered, name)
    one = cells.unique
    x = fit.x[one]
    alone, (first, second) = np.exp(-x), unique_inverse(x)
    tau1, tau2 = float(alone.sum()), float(first.sum())
    # Who is drawn under the model, and the bias that the criterion cannot see, which its own deviation tells.
    spread1 = float((alone * (1 - alone)).sum()) + fit.bias1[1] ** 2
    spread2 = float(np.maximum(second - first**2, 0.0).sum()) + fit.bias2[1] ** 2
    n = len(x)
    return Estimate(
        name, tau1, tau2, float(cells.people[one] @ alone), n / (n + float(x.sum())) if n else None,
        _interval(tau1, spread1, n, fit), _interval(tau2, spread2, n, fit), note=_refusal(fit),
        alone=_spread_out(one, alone), inverse=_inverse(cells, fit.x), fit=fit,
    )  # fmt: skip


def _refusal(fit: PoissonFit) -> str:
    return f"the criterion refuses the model as {fit.refused}" if fit.refused else ""


def _inverse(cells: Cells, x: F64) -> F64:
    return mean_inverse_of_others(cells.f, x, np.zeros(len(x)))


def _intrusion(cells: Cells) -> Estimate:
    found = intrusion(cells)
    if found.theta is None or found.standard_error is None:
        return Estimate(DIS, note=found.note)
    wide = Z * found.standard_error
    ends = max(found.theta - wide, 0.0), min(found.theta + wide, 1.0)
    known = cells.having(2) or cells.whole
    return Estimate(DIS, dis=found.theta, dis_interval=ends if known else (None, None), note=found.note)


def _weighted(cells: Cells) -> Estimate:
    """Benedetti and Franconi: a sample unique of weight w is alone with chance 1/w."""
    one, inverse = cells.unique, mean_inverse(cells.f, cells.people)
    alone, n = 1 / cells.people[one], int(one.sum())
    return Estimate(
        WEIGHTED, float(alone.sum()), float(inverse[one].sum()), float(n),
        n / float(cells.people[one].sum()) if n else None, alone=_spread_out(one, alone), inverse=inverse,
    )  # fmt: skip


def _by_sizes(name: str, cells: Cells) -> Estimate:
    if len(cells.f) == cells.n:
        return Estimate(name, note="all records are unique, so the sizes of cells say nothing")
    if len(cells.f) == 1:
        return Estimate(name, 0.0, uniques=0.0, note="all records are alike")
    found = SIZES[name](cells)
    if found is None or not np.isfinite(found):
        why = ""
        if not cells.having(1) or not cells.having(2):
            why = "it needs uniques and doubles in the sample, and one of them is not there"
        return Estimate(name, note=why or "no parameters solve its equations")
    return Estimate(name, min(found * cells.fraction, float(cells.having(1))), uniques=found)


def _interval(at: float, variance: float, most: int, fit: PoissonFit) -> Interval:
    """None where keys enter in bins, since nothing tells what is lost by them, and for a model that is refused."""
    if fit.binned or fit.refused:
        return None, None
    wide = Z * float(np.sqrt(variance))
    return max(at - wide, 0.0), min(at + wide, float(most))


def _spread_out(where: Bools, values: F64) -> F64:
    out = np.zeros(len(where))
    out[where] = values
    return out
