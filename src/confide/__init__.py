"""confide: protect a microdata file, attack it as a well informed intruder, read who is at risk."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from confide.core.run import forked

try:
    __version__ = version("confide")
except PackageNotFoundError:  # run from a source tree that was not installed
    __version__ = "0+source"

_HOMES = {
    "Attack": "confide.attack.results.attack",
    "Averaged": "confide.attack.results.copies",
    "Bottomcode": "confide.protect.methods.topcode",
    "Calibration": "confide.measure.risk.calibration",
    "CartSynthesis": "confide.protect.methods.synthesis.cart",
    "CellKey": "confide.tables.schemes.cellkey.cellkey",
    "Certificate": "confide.tables.risk.attack_result",
    "Choice": "confide.study.tradeoff.choice",
    "CoefficientDifference": "confide.measure.utility.regressions",
    "Combined": "confide.measure.combining",
    "Conjugate": "confide.protect.methods.measurement_error.predictive",
    "ControlledRounding": "confide.tables.schemes.controlled",
    "Copies": "confide.protect.copies",
    "Correlations": "confide.measure.utility.moments",
    "Covariances": "confide.measure.utility.moments",
    "Data": "confide.frames",
    "Eigenvalues": "confide.measure.utility.moments",
    "Entropy": "confide.measure.utility.entropy",
    "Exact": "confide.tables.schemes.exact",
    "Exposure": "confide.measure.risk.exposure",
    "Few": "confide.study.search.few",
    "Gamma": "confide.protect.methods.measurement_error.variances",
    "Hellinger": "confide.measure.utility.distances",
    "HotDeck": "confide.protect.methods.synthesis.hotdeck.hotdeck",
    "InformationLoss": "confide.measure.utility.information_loss",
    "InputError": "confide.core.errors",
    "Intruder": "confide.attack.intruder",
    "InverseMse": "confide.measure.utility.estimates",
    "MatrixMask": "confide.protect.methods.mask.mask",
    "Means": "confide.measure.utility.moments",
    "Measure": "confide.measure.utility.measure",
    "MeasurementError": "confide.protect.methods.measurement_error.measurement_error",
    "Microaggregate": "confide.protect.methods.microaggregate.microaggregate",
    "Noise": "confide.protect.methods.noise.noise",
    "NormalSynthesis": "confide.protect.methods.synthesis.normal",
    "Optimum": "confide.study.search.optimise",
    "PTable": "confide.tables.schemes.cellkey.ptable",
    "Plan": "confide.protect.plan",
    "Pram": "confide.protect.methods.pram.pram",
    "Propensity": "confide.measure.utility.propensity",
    "Published": "confide.tables.published",
    "PublishedTables": "confide.tables.published_areas",
    "QuantileRegression": "confide.protect.methods.synthesis.quantile.quantile_regression",
    "Range": "confide.study.statement.sweep",
    "RankSwap": "confide.protect.methods.rankswap",
    "Recode": "confide.protect.methods.recode",
    "RegressionOverlap": "confide.measure.utility.regressions",
    "Release": "confide.protect.release",
    "Round": "confide.protect.methods.rounding",
    "RoundCells": "confide.tables.schemes.rounding",
    "Rule": "confide.study.statement.rule",
    "Sample": "confide.protect.methods.sample",
    "Schema": "confide.frames",
    "SchemeComparison": "confide.tables.risk.compare",
    "SmallCounts": "confide.tables.schemes.smallcounts",
    "Study": "confide.study.statement.study",
    "StudyResult": "confide.study.result",
    "Suppress": "confide.tables.schemes.suppress.suppress",
    "Swap": "confide.protect.methods.swap.swap",
    "Sweep": "confide.study.statement.sweep",
    "Table": "confide.tables.table",
    "TableAttack": "confide.tables.risk.attack_result",
    "Tables": "confide.tables.areas",
    "Topcode": "confide.protect.methods.topcode",
    "TotalVariation": "confide.measure.utility.distances",
    "Uniform": "confide.attack.intruder",
    "Unsure": "confide.attack.intruder",
    "VariableSchema": "confide.frames",
    "Variances": "confide.measure.utility.moments",
    "Vault": "confide.core.random.vault",
    "attach": "confide.frames",
    "calibrate": "confide.measure.risk.calibration",
    "codebook": "confide.demo",
    "combine": "confide.measure.combining",
    "combine_frames": "confide.measure.combining",
    "compare_schemes": "confide.tables.risk.compare",
    "demo": "confide.demo",
    "expected_sap": "confide.tables.risk.expected",
    "exposure": "confide.measure.risk.exposure",
    "optimise": "confide.study.search.optimise",
    "prior_from_range": "confide.protect.methods.measurement_error.variances",
    "protect_few": "confide.study.search.few",
    "read": "confide.frames",
    "replay": "confide.protect.replay",
    "sap": "confide.tables.risk.sap",
    "sap_bands": "confide.tables.risk.bands",
    "schema": "confide.frames",
    "simulate_targets": "confide.protect.simulate_targets",
    "utility": "confide.measure.utility.run",
    "write": "confide.frames",
}

if TYPE_CHECKING:
    from confide.attack.intruder import Intruder as Intruder
    from confide.attack.intruder import Uniform as Uniform
    from confide.attack.intruder import Unsure as Unsure
    from confide.attack.results.attack import Attack as Attack
    from confide.attack.results.copies import Averaged as Averaged
    from confide.core.errors import InputError as InputError
    from confide.core.random.vault import Vault as Vault
    from confide.demo import codebook as codebook
    from confide.demo import demo as demo
    from confide.frames import Data as Data
    from confide.frames import Schema as Schema
    from confide.frames import VariableSchema as VariableSchema
    from confide.frames import attach as attach
    from confide.frames import read as read
    from confide.frames import schema as schema
    from confide.frames import write as write
    from confide.measure.combining import Combined as Combined
    from confide.measure.combining import combine as combine
    from confide.measure.combining import combine_frames as combine_frames
    from confide.measure.risk.calibration import Calibration as Calibration
    from confide.measure.risk.calibration import calibrate as calibrate
    from confide.measure.risk.exposure import Exposure as Exposure
    from confide.measure.risk.exposure import exposure as exposure
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
    from confide.protect.copies import Copies as Copies
    from confide.protect.methods.mask.mask import MatrixMask as MatrixMask
    from confide.protect.methods.measurement_error.measurement_error import MeasurementError as MeasurementError
    from confide.protect.methods.measurement_error.predictive import Conjugate as Conjugate
    from confide.protect.methods.measurement_error.variances import Gamma as Gamma
    from confide.protect.methods.measurement_error.variances import prior_from_range as prior_from_range
    from confide.protect.methods.microaggregate.microaggregate import Microaggregate as Microaggregate
    from confide.protect.methods.noise.noise import Noise as Noise
    from confide.protect.methods.pram.pram import Pram as Pram
    from confide.protect.methods.rankswap import RankSwap as RankSwap
    from confide.protect.methods.recode import Recode as Recode
    from confide.protect.methods.rounding import Round as Round
    from confide.protect.methods.sample import Sample as Sample
    from confide.protect.methods.swap.swap import Swap as Swap
    from confide.protect.methods.synthesis.cart import CartSynthesis as CartSynthesis
    from confide.protect.methods.synthesis.hotdeck.hotdeck import HotDeck as HotDeck
    from confide.protect.methods.synthesis.normal import NormalSynthesis as NormalSynthesis
    from confide.protect.methods.synthesis.quantile.quantile_regression import QuantileRegression as QuantileRegression
    from confide.protect.methods.topcode import Bottomcode as Bottomcode
    from confide.protect.methods.topcode import Topcode as Topcode
    from confide.protect.plan import Plan as Plan
    from confide.protect.release import Release as Release
    from confide.protect.replay import replay as replay
    from confide.protect.simulate_targets import simulate_targets as simulate_targets
    from confide.study.result import StudyResult as StudyResult
    from confide.study.search.few import Few as Few
    from confide.study.search.few import protect_few as protect_few
    from confide.study.search.optimise import Optimum as Optimum
    from confide.study.search.optimise import optimise as optimise
    from confide.study.statement.rule import Rule as Rule
    from confide.study.statement.study import Study as Study
    from confide.study.statement.sweep import Range as Range
    from confide.study.statement.sweep import Sweep as Sweep
    from confide.study.tradeoff.choice import Choice as Choice
    from confide.tables.areas import Tables as Tables
    from confide.tables.published import Published as Published
    from confide.tables.published_areas import PublishedTables as PublishedTables
    from confide.tables.risk.attack_result import Certificate as Certificate
    from confide.tables.risk.attack_result import TableAttack as TableAttack
    from confide.tables.risk.bands import sap_bands as sap_bands
    from confide.tables.risk.compare import SchemeComparison as SchemeComparison
    from confide.tables.risk.compare import compare_schemes as compare_schemes
    from confide.tables.risk.expected import expected_sap as expected_sap
    from confide.tables.risk.sap import sap as sap
    from confide.tables.schemes.cellkey.cellkey import CellKey as CellKey
    from confide.tables.schemes.cellkey.ptable import PTable as PTable
    from confide.tables.schemes.controlled import ControlledRounding as ControlledRounding
    from confide.tables.schemes.exact import Exact as Exact
    from confide.tables.schemes.rounding import RoundCells as RoundCells
    from confide.tables.schemes.smallcounts import SmallCounts as SmallCounts
    from confide.tables.schemes.suppress.suppress import Suppress as Suppress
    from confide.tables.table import Table as Table

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    """Public names arrive on first use, so that `confide --help` need not load polars and numba."""
    if name not in _HOMES:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
    from importlib import import_module

    if name != "InputError":
        forked.check()
    from confide.core.arguments import guarded

    value = guarded(getattr(import_module(_HOMES[name]), name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


forked.watch()
