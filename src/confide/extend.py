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

# mypy: implicit-reexport
# ruff: noqa: F401
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
    from confide.core.checks import finite, fraction, names_of, positive
    from confide.core.errors import InputError, did_you_mean, raise_all
    from confide.core.random.draws import Draws, Stream
    from confide.frames.columns import F64, I64, Bools, Column, Kind, Records, rounded
    from confide.measure.conformance.check import Checked, check_mechanism
    from confide.measure.utility.measure import Found, Measure, Stated
    from confide.measure.utility.pair import Pair
    from confide.protect.likelihoods.correlated import CorrelatedNormal
    from confide.protect.likelihoods.match import Match
    from confide.protect.likelihoods.normal import Normal, log_cell, logs
    from confide.protect.likelihoods.product import Product, Several
    from confide.protect.likelihoods.silent import Silent
    from confide.protect.likelihoods.spread import Spread
    from confide.protect.likelihoods.table import Table
    from confide.protect.likelihoods.window import Near, Window
    from confide.protect.seam.coarsening import Chain, Coarsening
    from confide.protect.seam.evidence import Evidence, Labels
    from confide.protect.seam.fitted import ALTERED, KEPT, SYNTHETIC, Applied, Fitted, View
    from confide.protect.seam.likelihood import Columns, Likelihood, Scale, take
    from confide.protect.seam.matrices import Parts, selection
    from confide.protect.seam.mechanism import CoarseningMethod, Mechanism, Name, Names, registered
    from confide.protect.shared.category_codes import group_codes, joint_codes, level_codes
    from confide.protect.shared.coarser_numbers import CoarserNumbers
    from confide.protect.shared.predictors import Predictors
    from confide.protect.shared.rounding_step import rounding_step
    from confide.protect.shared.standing_apart import Apart, States
    from confide.tables.schemes.scheme import CellScheme, Settled, TableScheme

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Names arrive on first use, so that a method's file loads only what it asks for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'confide.extend' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
