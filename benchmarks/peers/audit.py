"""What somebody can tell from patterns that another tool made, knowing that every hidden count is 1 or more.

    python -m benchmarks.peers.audit FOLDER       FOLDER holds suppression_448.csv, _2016.csv and _6720.csv

Each file has the variables of a table of `TABLES` in their order ("Total" for a margin), `freq`, `primary` and
`suppressed`. Two linear programmes find the largest and the least of a sum of all small counts with random weights.
Where the two agree, every small count is known. Otherwise two programmes for each small count tell which are.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

import confide as cf
from benchmarks.peers.tables import TABLES, householders
from confide.tables.schemes.suppress.boxes import Grid


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


def told(layout: Any, counts: Any, hidden: Any) -> tuple[int, int]:
    """How many small counts can be told, of how many."""
    matrix = csr_matrix(layout.matrix, dtype=float)
    small = np.flatnonzero((counts > 0) & (counts < 4))
    nobody = np.asarray(matrix[~hidden & (counts == 0)].sum(axis=0)).ravel() > 0
    rows: dict[str, Any] = {"A_eq": matrix[~hidden], "b_eq": counts[~hidden]}
    rows["bounds"] = [(0, 0) if empty else (1, None) for empty in nobody]

    def apart(cost: Any) -> float:
        least, most = (linprog(sign * cost, **rows) for sign in (1.0, -1.0))
        if {least.status, most.status} - {0, 3}:
            raise SystemExit("A programme was not solved.")
        if 3 in (least.status, most.status):
            return np.inf
        return float(-most.fun - least.fun)

    weight = np.random.default_rng(1).uniform(1.0, 2.0, len(small))
    if apart(np.asarray(matrix[small].T @ weight)) < 1e-4:
        return len(small), len(small)
    known = sum(apart(matrix[[q]].toarray()[0]) < 1.0 - 1e-6 for q in small)
    return known, len(small)


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
