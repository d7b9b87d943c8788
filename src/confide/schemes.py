"""Schemes by which a table of counts is published: `cf.schemes.RoundCells`."""

from confide.core.arguments import guard_room
from confide.tables.schemes.cellkey.cellkey import CellKey as CellKey
from confide.tables.schemes.cellkey.ptable import PTable as PTable
from confide.tables.schemes.controlled import ControlledRounding as ControlledRounding
from confide.tables.schemes.exact import Exact as Exact
from confide.tables.schemes.rounding import RoundCells as RoundCells
from confide.tables.schemes.smallcounts import ControlledSmallCounts as ControlledSmallCounts
from confide.tables.schemes.smallcounts import SmallCounts as SmallCounts
from confide.tables.schemes.suppress.suppress import Suppress as Suppress

guard_room(__name__)
