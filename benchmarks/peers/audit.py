"""What somebody can tell from patterns that another tool made, knowing that every hidden count is 1 or more.

    python -m benchmarks.peers.audit FOLDER       FOLDER holds suppression_448.csv, _2016.csv and _6720.csv

Each file has the variables of a table of `TABLES` in their order ("Total" for a margin), `freq`, `primary` and
`suppressed`. Linear programmes move hidden cells as far as published counts let them, at random and then for each small
count that has not moved by 1, one way and the other: who cannot be moved so far is told, in fractions.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

import confide as cf
from benchmarks.peers.tables import TABLES, householders
from confide.tables.schemes.suppress.boxes import Grid

ROUNDING = 1e-6
"""Of a programme's solution."""


def hidden_by(path: Path, grid: Grid) -> tuple[Any, Any]:
    """The published count of each quantity, and whether it is hidden."""
    rows = pl.read_csv(path, infer_schema_length=0)
    place = np.zeros(len(rows), dtype=np.int64)
    for name, size in zip(rows.columns, grid.shape, strict=False):
        levels = sorted(set(rows[name]) - {"Total"}, key=int)
        code = {level: k for k, level in enumerate(levels)} | {"Total": int(size) - 1}
        place = place * size + np.array([code[level] for level in rows[name]])
    counts, hidden = np.zeros(grid.size, dtype=np.int64), np.zeros(grid.size, dtype=bool)
    counts[place] = rows["freq"].cast(pl.Int64).to_numpy()
    hidden[place] = (rows["suppressed"] == "TRUE").to_numpy()
    return counts[grid.at], hidden[grid.at]


class Moves:
    """How far small counts can move from the true table, all published counts staying: one programme over the hidden
    cells, whose aim alone changes, so that each begins where the last one ended."""

    def __init__(self, layout: Any, counts: Any, hidden: Any) -> None:
        matrix = csr_matrix(layout.matrix, dtype=float)
        inner = np.flatnonzero(np.diff(matrix.indptr) == 1)  # the quantities that are single cells
        own = np.zeros(matrix.shape[1], dtype=np.int64)
        own[matrix[inner].indices] = inner
        cells = np.flatnonzero(hidden[own])
        self.small = np.flatnonzero((counts > 0) & (counts < 4))
        self.sums = csr_matrix(matrix[self.small][:, cells])
        self.most = self.least = np.zeros(len(self.small))
        fixed = csr_matrix(matrix[~hidden][:, cells])
        fixed = csr_matrix(fixed[np.diff(fixed.indptr) > 0])
        self.solver = highspy.Highs()
        for option, value in {"output_flag": False, "presolve": "off", "simplex_strategy": 4, "threads": 1}.items():
            self.solver.setOptionValue(option, value)
        programme = highspy.HighsLp()
        programme.num_row_, programme.num_col_ = fixed.shape
        programme.col_cost_ = np.zeros(len(cells))
        programme.col_lower_ = 1.0 - counts[own[cells]]
        programme.col_upper_ = np.full(len(cells), highspy.kHighsInf)
        programme.row_lower_ = programme.row_upper_ = np.zeros(fixed.shape[0])
        programme.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        programme.a_matrix_.start_, programme.a_matrix_.index_ = fixed.indptr, fixed.indices
        programme.a_matrix_.value_ = fixed.data
        self.solver.passModel(programme)

    @property
    def apart(self) -> Any:
        """Of each small count, how far apart what was found possible is."""
        return self.most - self.least

    def towards(self, aim: Any) -> None:
        """Move all cells as far as they go one way, and see how small counts have moved."""
        n = len(aim)
        self.solver.changeColsCost(n, np.arange(n, dtype=np.int32), -np.asarray(aim, dtype=float))
        self.solver.run()
        status = self.solver.getModelStatus()
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnbounded):
            raise SystemExit("A programme was not solved.")
        moved = self.sums @ np.array(self.solver.getSolution().col_value)
        self.most, self.least = np.maximum(self.most, moved), np.minimum(self.least, moved)


def told(layout: Any, counts: Any, hidden: Any) -> tuple[int, int]:
    """How many small counts can be told, of how many: those whose ends are less than 1 apart."""
    moves = Moves(layout, counts, hidden)
    rng, many = np.random.default_rng(1), len(moves.small)
    for _ in range(6):  # some directions at random show most of them free
        moves.towards(moves.sums.T @ rng.standard_normal(many))
    for k in range(many):
        for sign in (1.0, -1.0):
            if moves.apart[k] < 1 - ROUNDING:
                moves.towards(sign * moves.sums[[k]].toarray()[0])
    return int((moves.apart < 1 - ROUNDING).sum()), many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    data = householders()
    for name, by in TABLES.items():
        published = cf.Table.of(data, by=by).publish(cf.Exact(), margins="all")
        grid = Grid.of(published.layout)
        if grid is None:
            raise SystemExit("This table does not have all margins.")
        counts, hidden = hidden_by(folder / f"suppression_{name.replace(',', '')}.csv", grid)
        if not np.array_equal(counts, published.truth):
            raise SystemExit("The file is not of this table.")
        began = time.process_time()
        known, small = told(published.layout, counts, hidden)
        spent = time.process_time() - began
        print(f"{name:6} cells: {known:5,} of {small:5,} small counts can be told, {spent:.1f} s", flush=True)


if __name__ == "__main__":
    main()
