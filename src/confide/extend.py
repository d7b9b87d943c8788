"""What an author of a protection method, a measure of utility or a scheme for tables needs, in one place.

A method is a frozen dataclass that extends `Mechanism`, with a fitted form that extends `Fitted` (`apply` beside
`evidence`) or `Coarsening`; CONTRIBUTING has the way in ten lines, and `confide/protect/methods/lognormal.py` is one
that imports nothing else. `check_mechanism` says whether a method keeps what it states. A measure extends `Stated`;
a scheme has the methods of `CellScheme` or `TableScheme`.

>>> from confide.extend import check_mechanism
>>> import confide as cf
>>> check_mechanism(cf.Swap("race", rate=0.3), cf.demo("heads").head(400).select("race", "sex")).ok
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "core.checks": "finite fraction names_of positive",
    "core.errors": "InputError did_you_mean raise_all",
    "core.random.draws": "Draws Stream",
    "frames.columns": "Bools Column F64 I64 Kind Records rounded",
    "measure.conformance.check": "Checked check_mechanism",
    "measure.utility.measure": "Found Measure Stated",
    "measure.utility.pair": "Pair",
    "protect.likelihoods.correlated": "CorrelatedNormal",
    "protect.likelihoods.match": "Match",
    "protect.likelihoods.normal": "Normal log_cell logs",
    "protect.likelihoods.product": "Product Several",
    "protect.likelihoods.silent": "Silent",
    "protect.likelihoods.spread": "Spread",
    "protect.likelihoods.table": "Table",
    "protect.likelihoods.window": "Near Window",
    "protect.seam.coarsening": "Chain Coarsening",
    "protect.seam.evidence": "Evidence Labels",
    "protect.seam.fitted": "ALTERED KEPT SYNTHETIC Applied Fitted View",
    "protect.seam.likelihood": "Columns Likelihood Scale take",
    "protect.seam.matrices": "Parts selection",
    "protect.seam.mechanism": "CoarseningMethod Mechanism Name Names registered",
    "protect.shared.category_codes": "group_codes joint_codes level_codes",
    "protect.shared.coarser_numbers": "CoarserNumbers",
    "protect.shared.predictors": "Predictors",
    "protect.shared.rounding_step": "rounding_step",
    "protect.shared.standing_apart": "Apart States",
    "tables.schemes.scheme": "CellScheme Settled TableScheme",
}
_HOME_OF = {name: f"confide.{home}" for home, names in _HOMES.items() for name in names.split()}

if TYPE_CHECKING:
    from confide.core.checks import finite as finite
    from confide.core.checks import fraction as fraction
    from confide.core.checks import names_of as names_of
    from confide.core.checks import positive as positive
    from confide.core.errors import InputError as InputError
    from confide.core.errors import did_you_mean as did_you_mean
    from confide.core.errors import raise_all as raise_all
    from confide.core.random.draws import Draws as Draws
    from confide.core.random.draws import Stream as Stream
    from confide.frames.columns import F64 as F64
    from confide.frames.columns import I64 as I64
    from confide.frames.columns import Bools as Bools
    from confide.frames.columns import Column as Column
    from confide.frames.columns import Kind as Kind
    from confide.frames.columns import Records as Records
    from confide.frames.columns import rounded as rounded
    from confide.measure.conformance.check import Checked as Checked
    from confide.measure.conformance.check import check_mechanism as check_mechanism
    from confide.measure.utility.measure import Found as Found
    from confide.measure.utility.measure import Measure as Measure
    from confide.measure.utility.measure import Stated as Stated
    from confide.measure.utility.pair import Pair as Pair
    from confide.protect.likelihoods.correlated import CorrelatedNormal as CorrelatedNormal
    from confide.protect.likelihoods.match import Match as Match
    from confide.protect.likelihoods.normal import Normal as Normal
    from confide.protect.likelihoods.normal import log_cell as log_cell
    from confide.protect.likelihoods.normal import logs as logs
    from confide.protect.likelihoods.product import Product as Product
    from confide.protect.likelihoods.product import Several as Several
    from confide.protect.likelihoods.silent import Silent as Silent
    from confide.protect.likelihoods.spread import Spread as Spread
    from confide.protect.likelihoods.table import Table as Table
    from confide.protect.likelihoods.window import Near as Near
    from confide.protect.likelihoods.window import Window as Window
    from confide.protect.seam.coarsening import Chain as Chain
    from confide.protect.seam.coarsening import Coarsening as Coarsening
    from confide.protect.seam.evidence import Evidence as Evidence
    from confide.protect.seam.evidence import Labels as Labels
    from confide.protect.seam.fitted import ALTERED as ALTERED
    from confide.protect.seam.fitted import KEPT as KEPT
    from confide.protect.seam.fitted import SYNTHETIC as SYNTHETIC
    from confide.protect.seam.fitted import Applied as Applied
    from confide.protect.seam.fitted import Fitted as Fitted
    from confide.protect.seam.fitted import View as View
    from confide.protect.seam.likelihood import Columns as Columns
    from confide.protect.seam.likelihood import Likelihood as Likelihood
    from confide.protect.seam.likelihood import Scale as Scale
    from confide.protect.seam.likelihood import take as take
    from confide.protect.seam.matrices import Parts as Parts
    from confide.protect.seam.matrices import selection as selection
    from confide.protect.seam.mechanism import CoarseningMethod as CoarseningMethod
    from confide.protect.seam.mechanism import Mechanism as Mechanism
    from confide.protect.seam.mechanism import Name as Name
    from confide.protect.seam.mechanism import Names as Names
    from confide.protect.seam.mechanism import registered as registered
    from confide.protect.shared.category_codes import group_codes as group_codes
    from confide.protect.shared.category_codes import joint_codes as joint_codes
    from confide.protect.shared.category_codes import level_codes as level_codes
    from confide.protect.shared.coarser_numbers import CoarserNumbers as CoarserNumbers
    from confide.protect.shared.predictors import Predictors as Predictors
    from confide.protect.shared.rounding_step import rounding_step as rounding_step
    from confide.protect.shared.standing_apart import Apart as Apart
    from confide.protect.shared.standing_apart import States as States
    from confide.tables.schemes.scheme import CellScheme as CellScheme
    from confide.tables.schemes.scheme import Settled as Settled
    from confide.tables.schemes.scheme import TableScheme as TableScheme

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Names arrive on first use, so that a method's file loads only what it asks for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'confide.extend' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
