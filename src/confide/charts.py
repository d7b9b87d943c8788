"""Charts of tidy frames (altair): `cf.charts.sap_chart(frame)`. Every result draws itself: `result.chart()`."""

from confide.core.arguments import guard_room
from confide.show.charts.charts import calibration_chart as calibration_chart
from confide.show.charts.charts import risk_counts as risk_counts
from confide.show.charts.charts import risk_distribution_chart as risk_distribution_chart
from confide.show.charts.charts import strategies_chart as strategies_chart
from confide.show.charts.drawing import save_chart as save_chart
from confide.show.charts.grid_chart import grid_chart as grid_chart
from confide.show.charts.learning_charts import learning_chart as learning_chart
from confide.show.charts.map_chart import map_chart as map_chart
from confide.show.charts.rank_charts import exposure_chart as exposure_chart
from confide.show.charts.rank_charts import rank_chart as rank_chart
from confide.show.charts.synthesis_charts import claims_chart as claims_chart
from confide.show.charts.synthesis_charts import correlations_chart as correlations_chart
from confide.show.charts.synthesis_charts import quantiles_chart as quantiles_chart
from confide.show.charts.table_charts import area_map as area_map
from confide.show.charts.table_charts import bands_chart as bands_chart
from confide.show.charts.table_charts import sap_chart as sap_chart
from confide.show.charts.table_charts import scheme_map as scheme_map
from confide.show.charts.theory_charts import swap_chart as swap_chart
from confide.show.charts.theory_charts import theory_map as theory_map
from confide.show.charts.theory_charts import uniques_chart as uniques_chart

guard_room(__name__)
