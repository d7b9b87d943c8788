"""Measures of utility and of risk by name: `cf.measures.Hellinger`."""

from confide.core.arguments import guard_room
from confide.measure.risk.by_group import ByGroup as ByGroup
from confide.measure.risk.calibration import Calibration as Calibration
from confide.measure.risk.customary import CustomaryRisks as CustomaryRisks
from confide.measure.risk.customary import customary_risks as customary_risks
from confide.measure.risk.exposure import Exposure as Exposure
from confide.measure.risk.file_risks.household import HouseholdRisk as HouseholdRisk
from confide.measure.risk.file_risks.individual_risk import IndividualRisk as IndividualRisk
from confide.measure.risk.file_risks.k_anonymity import KAnonymity as KAnonymity
from confide.measure.risk.file_risks.k_map import KMap as KMap
from confide.measure.risk.file_risks.l_diversity import LDiversity as LDiversity
from confide.measure.risk.file_risks.population_uniques import PopulationUniques as PopulationUniques
from confide.measure.risk.file_risks.population_uniques import UniquesResult as UniquesResult
from confide.measure.risk.file_risks.result import FileRiskResult as FileRiskResult
from confide.measure.risk.file_risks.statement import FileRisk as FileRisk
from confide.measure.risk.file_risks.suda import SpecialUniques as SpecialUniques
from confide.measure.risk.file_risks.suda import Suda as Suda
from confide.measure.risk.file_risks.t_closeness import TCloseness as TCloseness
from confide.measure.risk.file_risks.unsafe import UnsafeCombinations as UnsafeCombinations
from confide.measure.risk.identification import Summary as Summary
from confide.measure.utility.by_group import UtilityByGroup as UtilityByGroup
from confide.measure.utility.by_group import utility_by_group as utility_by_group
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

guard_room(__name__)
