"""The one place from which a room looks upward.

Imports go one way: a room knows only those below it. Some methods of a result are there for convenience and belong to
a room above (`attack.calibration()` measures, `result.map()` draws). They ask here by name, when they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ABOVE = {
    "FORMATS": "confide.frames.files",
    "advice_text": "confide.show.text.advice",
    "attack_text": "confide.show.text.attacks",
    "calibrate": "confide.measure.risk.calibration",
    "calibrate_batches": "confide.measure.risk.calibration",
    "caution_lines": "confide.show.text.cautions",
    "declare_table": "confide.measure.risk.ranks",
    "improve": "confide.study.improve.improve",
    "look_text": "confide.show.text.looks",
    "map_chart": "confide.show.charts.map_chart",
    "picture_of": "confide.show.charts.of_results",
    "rank_table": "confide.measure.risk.ranks",
    "reduced": "confide.measure.risk.reduced",
    "risk_by_group": "confide.measure.risk.by_group",
    "save_chart": "confide.show.charts.drawing",
    "scanned_attack_text": "confide.show.text.scanned",
    "study_text": "confide.show.text.studies",
    "synthesis_text": "confide.show.text.synthesis",
    "summarise": "confide.measure.risk.identification",
    "write": "confide.frames.files",
    "write_advice": "confide.show.advice.page",
    "write_look": "confide.show.look.page",
    "write_report": "confide.show.report",
}


def upward(name: str) -> Any:
    """What a room above offers under a name.

    >>> upward("summarise").__module__
    'confide.measure.risk.identification'
    """
    return getattr(import_module(ABOVE[name]), name)


ROOMS = {
    "method": "confide.protect.methods",
    "measure": "confide.measure.utility",
    "scheme": "confide.tables.schemes",
    "risk": "confide.measure.risk.file_risks",
}
"""Where what is registered is shipped, by its kind: the registry imports all files of a room to know them."""
