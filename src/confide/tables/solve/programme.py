"""Linear and whole-number programmes: one model of HiGHS, kept and changed between solves.

Notation: `R` rows, `C` columns; row_lower <= A x <= row_upper, column_lower <= x <= column_upper. HiGHS computes in
floats, so whoever states a fact on an answer checks it in whole numbers: `whole` first, then the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
from numpy.typing import NDArray

from confide.tables.layout import UNBOUNDED, Bools, Ints

Floats = NDArray[np.float64]
Numbers = Ints | Floats
Status = Literal["optimal", "infeasible", "unbounded", "unproven"]

INF = float(highspy.kHighsInf)
NEAR = 1e-6
"""How far from a whole number a solution may lie to be read as one."""

_Model = highspy.HighsModelStatus


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solve came to.

    `value`: the objective at `x`; `bound`: no solution does better. The two agree where `status` is "optimal", up
    to the `gap` allowed. "unproven" is a time limit or a failure: `bound` is then what HiGHS has proven, or infinite,
    and `x` (C) is the best solution found, NaN where there is none.
    """

    status: Status
    value: float
    bound: float
    x: Floats

    @property
    def found(self) -> bool:
        """Whether there is a solution in `x`."""
        return len(self.x) == 0 or not bool(np.isnan(self.x[0]))


class Programme:
    """max or min of objectives over one polyhedron, with whole-number columns where `integer`.

    Bounds of 2**62 and beyond are none. `seconds` is the time limit of each solve. With `gap` a whole-number solution
    that close to the bound counts as "optimal". With `steps` a linear programme forgets the last basis, and after so
    many steps of the simplex it is left to an interior point method, or unproven if not `patient`: better where
    answers are mostly 0. Rows and columns keep their places; bounds and objectives may change,
    and a solve starts from the last basis: its value does not depend on earlier solves, but which `x` it finds may,
    where several are best.

    >>> from scipy.sparse import csr_matrix
    >>> p = Programme(csr_matrix([[1, 1]]), [3], [3], [0, 0], [UNBOUNDED, 2])
    >>> p.maximise([1, 0]).value, p.minimise([1, 0]).value
    (3.0, 1.0)
    >>> p.columns([0], [1], at=[1])
    >>> p.minimise([1, 0]).value
    2.0
    """

    def __init__(
        self,
        matrix: Any,
        row_lower: Any,
        row_upper: Any,
        column_lower: Any,
        column_upper: Any,
        integer: bool | Bools = False,
        seconds: float = 60.0,
        presolve: bool = True,
        gap: float = 0.0,
        steps: int = 0,
    ) -> None:
        rows, columns = matrix.shape
        kinds = np.broadcast_to(np.asarray(integer, dtype=bool), (columns,))
        self.size = int(columns)
        self._mixed = bool(kinds.any())
        self._moved = True  # whether the last basis may break the bounds
        self._seconds = float(seconds)
        self.steps = int(steps)
        self.patient = True
        self._presolve = "choose" if presolve else "off"
        self._every_row = np.arange(rows, dtype=np.int32)
        self._every_column = np.arange(columns, dtype=np.int32)
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS.items():
            self._highs.setOptionValue(name, value)
        self._highs.setOptionValue("presolve", self._presolve)
        self._highs.setOptionValue("mip_abs_gap", float(gap))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = columns, rows
        lp.col_cost_ = np.zeros(columns)
        lp.col_lower_, lp.col_upper_ = _ends(column_lower), _ends(column_upper)
        lp.row_lower_, lp.row_upper_ = _ends(row_lower), _ends(row_upper)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data.astype(np.float64)
        if self._mixed:
            lp.integrality_ = [_KINDS[bool(k)] for k in kinds]
        self._expect(self._highs.passModel(lp), "take the model")

    def columns(self, lower: Any, upper: Any, at: Any = None) -> None:
        """Change the bounds of all columns, or of those `at`."""
        self._moved = True
        where = self._every_column if at is None else np.asarray(at, dtype=np.int32)
        if len(where):
            done = self._highs.changeColsBounds(len(where), where, _ends(lower), _ends(upper))
            self._expect(done, "change bounds")

    def rows(self, lower: Any, upper: Any, at: Any = None) -> None:
        """Change the bounds of all rows, or of those `at`."""
        self._moved = True
        where = self._every_row if at is None else np.asarray(at, dtype=np.int32)
        if len(where):
            done = self._highs.changeRowsBounds(len(where), where, _ends(lower), _ends(upper))
            self._expect(done, "change bounds")

    def maximise(self, objective: Any) -> Answer:
        return self._solve(objective, highspy.ObjSense.kMaximize, 1.0)

    def minimise(self, objective: Any) -> Answer:
        return self._solve(objective, highspy.ObjSense.kMinimize, -1.0)

    def _solve(self, objective: Any, sense: highspy.ObjSense, sign: float) -> Answer:
        """`sign`: 1 where larger is better, -1 where smaller is; sign * INF is an optimum that has no end."""
        if not self.size:
            return self._without_columns(sign)
        cost = np.asarray(objective, dtype=np.float64)
        self._highs.changeColsCost(self.size, self._every_column, cost)
        self._highs.changeObjectiveSense(sense)
        status = self._run()
        if status == _Model.kUnboundedOrInfeasible:
            status = self._which(cost)
        none = np.full(self.size, np.nan)
        if status == _Model.kInfeasible:
            return Answer("infeasible", np.nan, -sign * INF, none)
        if status == _Model.kUnbounded:
            return Answer("unbounded", sign * INF, sign * INF, none)
        info = self._highs.getInfo()
        has = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
        x = np.array(self._highs.getSolution().col_value) if has else none
        value = float(info.objective_function_value) if has else np.nan
        if status == _Model.kOptimal and has:
            return Answer("optimal", value, float(info.mip_dual_bound) if self._mixed else value, x)
        bound = float(info.mip_dual_bound) if self._mixed and status == _Model.kTimeLimit else np.nan
        return Answer("unproven", value, bound if np.isfinite(bound) else sign * INF, x)

    def _run(self) -> Any:
        """Solve once.

        A basis that keeps the bounds starts the primal simplex, another the dual: a few steps instead of hundreds.
        HiGHS counts an LP's limit from the birth of the model, a MIP's from the start of the solve.
        """
        gone = 0.0
        if not self._mixed:
            gone = self._highs.getRunTime()
            self._highs.setOptionValue("simplex_strategy", _DUAL if self._moved else _PRIMAL)
        self._highs.setOptionValue("time_limit", gone + self._seconds)
        if self.steps:
            self._highs.clearSolver()
            self._highs.setOptionValue("simplex_iteration_limit", self.steps)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == _Model.kIterationLimit and self.patient:
            status = self._inside()
        self._moved = status != _Model.kOptimal
        return status

    def _inside(self) -> Any:
        """From the start again, by an interior point method; a vertex in the end."""
        own = {"solver": "choose", "presolve": self._presolve}
        self._highs.clearSolver()
        self._highs.setOptionValue("simplex_iteration_limit", _NO_LIMIT)
        for name, value in (("solver", "ipm"), ("presolve", "on")):
            self._highs.setOptionValue(name, value)
        self._highs.run()
        for name, value in own.items():
            self._highs.setOptionValue(name, value)
        return self._highs.getModelStatus()

    def _which(self, cost: Floats) -> Any:
        """Unbounded or infeasible? Without presolve an LP says; a MIP with a solution is unbounded."""
        self._highs.setOptionValue("presolve", "off")
        if self._mixed:
            self._highs.changeColsCost(self.size, self._every_column, np.zeros(self.size))
        status = self._run()
        if self._mixed:
            self._highs.changeColsCost(self.size, self._every_column, cost)
            status = _Model.kUnbounded if status == _Model.kOptimal else status
        self._highs.setOptionValue("presolve", self._presolve)
        return status

    def _without_columns(self, sign: float) -> Answer:
        lp = self._highs.getLp()
        if all(low <= 0 <= high for low, high in zip(lp.row_lower_, lp.row_upper_, strict=True)):
            return Answer("optimal", 0.0, 0.0, np.empty(0))
        return Answer("infeasible", np.nan, -sign * INF, np.empty(0))

    @staticmethod
    def _expect(done: highspy.HighsStatus, what: str) -> None:
        if done == highspy.HighsStatus.kError:
            raise RuntimeError(f"HiGHS could not {what}.")


def whole(x: Floats) -> Ints | None:
    """A solution as whole numbers; None where one of its values is none, or not within 1e-6 of one.

    >>> whole(np.array([1.0000001, 3.0]))
    array([1, 3])
    >>> whole(np.array([0.5])) is None
    True
    """
    near = np.rint(x)
    if not bool(np.all(np.abs(x - near) <= NEAR)):  # NaN compares false
        return None
    return near.astype(np.int64)


def _ends(bounds: Any) -> Floats:
    """Bounds in floats; beyond 2**62 there are none. An array of its own: it is given to HiGHS."""
    ends = np.array(bounds, dtype=np.float64)
    ends[ends >= UNBOUNDED] = INF
    ends[ends <= -UNBOUNDED] = -INF
    return ends


_DUAL, _PRIMAL = 1, 4
_NO_LIMIT = 2**31 - 1
_KINDS = {False: highspy.HighsVarType.kContinuous, True: highspy.HighsVarType.kInteger}
_OPTIONS: dict[str, bool | int | float] = {
    "output_flag": False,
    "threads": 1,
    "mip_rel_gap": 0.0,
}
