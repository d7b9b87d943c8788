"""confide: protect a microdata file, attack it as a well informed intruder, read who is at risk."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from confide.engine import forked

try:
    __version__ = version("confide")
except PackageNotFoundError:  # run from a source tree that was not installed
    __version__ = "0+source"

_HOMES = {
    "Attack": "confide.attack.attack",
    "Averaged": "confide.attack.over_copies",
    "Bottomcode": "confide.protect.topcode",
    "Calibration": "confide.measure.calibration",
    "CartSynthesis": "confide.protect.cart",
    "CellKey": "confide.tables.cellkey",
    "Certificate": "confide.tables.attack_result",
    "Choice": "confide.study.tradeoff.choice",
    "CoefficientDifference": "confide.measure.utility.regressions",
    "Combined": "confide.measure.combining",
    "Conjugate": "confide.protect.predictive",
    "ControlledRounding": "confide.tables.controlled",
    "Copies": "confide.protect.copies",
    "Correlations": "confide.measure.utility.moments",
    "Covariances": "confide.measure.utility.moments",
    "Eigenvalues": "confide.measure.utility.moments",
    "Entropy": "confide.measure.utility.entropy",
    "Exact": "confide.tables.exact",
    "Exposure": "confide.measure.exposure",
    "Few": "confide.study.search.few",
    "Gamma": "confide.protect.variances",
    "Hellinger": "confide.measure.utility.distances",
    "HotDeck": "confide.protect.hotdeck",
    "InformationLoss": "confide.measure.utility.information_loss",
    "InputError": "confide.errors",
    "Intruder": "confide.attack.intruder",
    "InverseMse": "confide.measure.utility.estimates",
    "MatrixMask": "confide.protect.mask",
    "Means": "confide.measure.utility.moments",
    "Measure": "confide.measure.utility.measure",
    "MeasurementError": "confide.protect.measurement",
    "Microaggregate": "confide.protect.microaggregate",
    "Noise": "confide.protect.noise",
    "NormalSynthesis": "confide.protect.normal",
    "Optimum": "confide.study.search.optimise",
    "PTable": "confide.tables.ptable",
    "Plan": "confide.protect.plan",
    "Pram": "confide.protect.pram",
    "Propensity": "confide.measure.utility.propensity",
    "Published": "confide.tables.published",
    "PublishedTables": "confide.tables.published_areas",
    "QuantileRegression": "confide.protect.quantile",
    "Range": "confide.study.sweep",
    "RankSwap": "confide.protect.rankswap",
    "Recode": "confide.protect.recode",
    "RegressionOverlap": "confide.measure.utility.regressions",
    "Release": "confide.protect.release",
    "Round": "confide.protect.rounding",
    "RoundCells": "confide.tables.rounding",
    "Rule": "confide.study.rule",
    "Sample": "confide.protect.sample",
    "Schema": "confide.frames",
    "SchemeComparison": "confide.tables.compare",
    "SmallCounts": "confide.tables.smallcounts",
    "Study": "confide.study.study",
    "StudyResult": "confide.study.result",
    "Suppress": "confide.tables.suppress",
    "Swap": "confide.protect.swap",
    "Sweep": "confide.study.sweep",
    "Table": "confide.tables.table",
    "TableAttack": "confide.tables.attack_result",
    "Tables": "confide.tables.areas",
    "Topcode": "confide.protect.topcode",
    "TotalVariation": "confide.measure.utility.distances",
    "Uniform": "confide.attack.intruder",
    "Unsure": "confide.attack.intruder",
    "VariableSchema": "confide.frames",
    "Variances": "confide.measure.utility.moments",
    "Vault": "confide.core.vault",
    "attach": "confide.frames",
    "calibrate": "confide.measure.calibration",
    "codebook": "confide.demo",
    "combine": "confide.measure.combining",
    "combine_frames": "confide.measure.combining",
    "compare_schemes": "confide.tables.compare",
    "demo": "confide.demo",
    "expected_sap": "confide.tables.expected",
    "exposure": "confide.measure.exposure",
    "optimise": "confide.study.search.optimise",
    "prior_from_range": "confide.protect.variances",
    "protect_few": "confide.study.search.few",
    "read": "confide.frames",
    "replay": "confide.protect.replay",
    "sap": "confide.tables.sap",
    "sap_bands": "confide.tables.bands",
    "schema": "confide.frames",
    "simulate_targets": "confide.protect.simulate",
    "utility": "confide.measure.utility.run",
    "write": "confide.frames",
}

if TYPE_CHECKING:
    from confide.attack.attack import Attack as Attack
    from confide.attack.intruder import Intruder as Intruder
    from confide.attack.intruder import Uniform as Uniform
    from confide.attack.intruder import Unsure as Unsure
    from confide.attack.over_copies import Averaged as Averaged
    from confide.core.vault import Vault as Vault
    from confide.demo import codebook as codebook
    from confide.demo import demo as demo
    from confide.errors import InputError as InputError
    from confide.frames import Schema as Schema
    from confide.frames import VariableSchema as VariableSchema
    from confide.frames import attach as attach
    from confide.frames import read as read
    from confide.frames import schema as schema
    from confide.frames import write as write
    from confide.measure.calibration import Calibration as Calibration
    from confide.measure.calibration import calibrate as calibrate
    from confide.measure.combining import Combined as Combined
    from confide.measure.combining import combine as combine
    from confide.measure.combining import combine_frames as combine_frames
    from confide.measure.exposure import Exposure as Exposure
    from confide.measure.exposure import exposure as exposure
    from confide.measure.utility.distances import Hellinger as Hellinger
    from confide.measure.utility.distances import TotalVariation as TotalVariation
    from confide.measure.utility.entropy import Entropy as Entropy
    from confide.measure.utility.estimates import InverseMse as InverseMse
    from confide.measure.utility.information_loss import InformationLoss as InformationLoss
    from confide.measure.utility.measure import Measure as Measure
    from confide.measure.utility.moments import Correlations as Correlations
    from confide.measure.utility.moments import Covariances as Covariances
    from confide.measure.utility.moments import Eigenvalues as Eigenvalues
    from confide.measure.utility.moments import Means as Means
    from confide.measure.utility.moments import Variances as Variances
    from confide.measure.utility.propensity import Propensity as Propensity
    from confide.measure.utility.regressions import CoefficientDifference as CoefficientDifference
    from confide.measure.utility.regressions import RegressionOverlap as RegressionOverlap
    from confide.measure.utility.run import utility as utility
    from confide.protect.cart import CartSynthesis as CartSynthesis
    from confide.protect.copies import Copies as Copies
    from confide.protect.hotdeck import HotDeck as HotDeck
    from confide.protect.mask import MatrixMask as MatrixMask
    from confide.protect.measurement import MeasurementError as MeasurementError
    from confide.protect.microaggregate import Microaggregate as Microaggregate
    from confide.protect.noise import Noise as Noise
    from confide.protect.normal import NormalSynthesis as NormalSynthesis
    from confide.protect.plan import Plan as Plan
    from confide.protect.pram import Pram as Pram
    from confide.protect.predictive import Conjugate as Conjugate
    from confide.protect.quantile import QuantileRegression as QuantileRegression
    from confide.protect.rankswap import RankSwap as RankSwap
    from confide.protect.recode import Recode as Recode
    from confide.protect.release import Release as Release
    from confide.protect.replay import replay as replay
    from confide.protect.rounding import Round as Round
    from confide.protect.sample import Sample as Sample
    from confide.protect.simulate import simulate_targets as simulate_targets
    from confide.protect.swap import Swap as Swap
    from confide.protect.topcode import Bottomcode as Bottomcode
    from confide.protect.topcode import Topcode as Topcode
    from confide.protect.variances import Gamma as Gamma
    from confide.protect.variances import prior_from_range as prior_from_range
    from confide.study.result import StudyResult as StudyResult
    from confide.study.rule import Rule as Rule
    from confide.study.search.few import Few as Few
    from confide.study.search.few import protect_few as protect_few
    from confide.study.search.optimise import Optimum as Optimum
    from confide.study.search.optimise import optimise as optimise
    from confide.study.study import Study as Study
    from confide.study.sweep import Range as Range
    from confide.study.sweep import Sweep as Sweep
    from confide.study.tradeoff.choice import Choice as Choice
    from confide.tables.areas import Tables as Tables
    from confide.tables.attack_result import Certificate as Certificate
    from confide.tables.attack_result import TableAttack as TableAttack
    from confide.tables.bands import sap_bands as sap_bands
    from confide.tables.cellkey import CellKey as CellKey
    from confide.tables.compare import SchemeComparison as SchemeComparison
    from confide.tables.compare import compare_schemes as compare_schemes
    from confide.tables.controlled import ControlledRounding as ControlledRounding
    from confide.tables.exact import Exact as Exact
    from confide.tables.expected import expected_sap as expected_sap
    from confide.tables.ptable import PTable as PTable
    from confide.tables.published import Published as Published
    from confide.tables.published_areas import PublishedTables as PublishedTables
    from confide.tables.rounding import RoundCells as RoundCells
    from confide.tables.sap import sap as sap
    from confide.tables.smallcounts import SmallCounts as SmallCounts
    from confide.tables.suppress import Suppress as Suppress
    from confide.tables.table import Table as Table

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    """Public names arrive on first use, so that `confide --help` need not load polars and numba."""
    if name not in _HOMES:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
    from importlib import import_module

    if name != "InputError":
        forked.check()
    from confide.arguments import guarded

    value = guarded(getattr(import_module(_HOMES[name]), name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


forked.watch()
