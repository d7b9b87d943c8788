"""What an intruder may believe of values, variances and membership that it does not know: `cf.beliefs.Gamma`."""

from confide.attack.intruder import Uniform as Uniform
from confide.attack.intruder import Unsure as Unsure
from confide.core.arguments import guard_room
from confide.protect.methods.measurement_error.predictive import Conjugate as Conjugate
from confide.protect.methods.measurement_error.variances import Gamma as Gamma
from confide.protect.methods.measurement_error.variances import prior_from_range as prior_from_range

guard_room(__name__)
