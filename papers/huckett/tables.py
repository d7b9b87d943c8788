"""Tables of a study of synthetic data: what intruders claim, and what the release keeps of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from confide.protect.release import Release

NUMBERS = ("property_value", "hh_income", "wage_income", "n_persons", "other_income")
"""The numbers of the file, in the order in which they are made."""

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)
SIZES = {"1": (1, 1), "2 to 5": (2, 5), "6 to 20": (6, 20), "over 20": (21, 10**9)}


def claims(units: Mapping[str, pl.DataFrame], cell: pl.Series) -> pl.DataFrame:
    """One row per intruder: what it claims and what is right.

    `claimed`: sum of the largest probabilities; `right`: expected right matches; `by_chance`: right matches of
    somebody who picks at random in the cell of `cell` records, for the same targets; `no_candidate`: targets for whom
    the intruder finds every record impossible; `certain`: targets for whom it is more than 99 percent sure.

    >>> units = pl.DataFrame({"p_max": [0.5, 1.0, 0.0], "n_max": [2, 1, 0], "hit": [True, False, False]})
    >>> claims({"somebody": units}, pl.Series([2, 4, 1])).row(0)
    ('somebody', 3, 1.5, 0.5, 0.75, 1, 1)
    """
    rows = []
    for name, u in units.items():
        found = u["n_max"] > 0
        right = (u["hit"].cast(pl.Float64) / u["n_max"].clip(lower_bound=1)).sum()
        chance = float((1.0 / cell.filter(found).to_numpy()).sum())
        lost, certain = int((~found).sum()), int((u["p_max"] > 0.99).sum())
        rows.append((name, u.height, float(u["p_max"].sum()), float(right), chance, lost, certain))
    columns = ["intruder", "targets", "claimed", "right", "by_chance", "no_candidate", "certain"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def claims_text(frame: pl.DataFrame) -> str:
    """The same as text."""
    lines = [f"{'intruder':30} {'claimed':>9} {'right':>7} {'by chance':>10} {'no candidate':>13}"]
    for r in frame.iter_rows(named=True):
        numbers = f"{r['claimed']:9,.0f} {r['right']:7,.0f} {r['by_chance']:10,.0f} {r['no_candidate']:13,}"
        lines.append(f"{r['intruder']:30} {numbers}")
    return "\n".join(lines)


def marginals(files: Mapping[str, pl.DataFrame], variables: Sequence[str] = NUMBERS) -> pl.DataFrame:
    """One row per variable and file: mean, standard deviation, share of zeros, percentiles.

    >>> marginals({"original": pl.DataFrame({"x": [0, 0, 1, 3]})}, ["x"]).select("mean", "zeros", "p50").row(0)
    (1.0, 0.5, 0.5)
    """
    rows = []
    for v in variables:
        for name, file in files.items():
            x = file[v].to_numpy().astype(float)
            ends = dict(zip((f"p{p}" for p in PERCENTILES), np.percentile(x, PERCENTILES).tolist(), strict=True))
            numbers = {"mean": float(x.mean()), "sd": float(x.std(ddof=1)), "zeros": float((x == 0).mean())}
            rows.append({"variable": v, "file": name, **numbers, **ends})
    return pl.DataFrame(rows)


def marginals_text(frame: pl.DataFrame) -> str:
    """Mean, standard deviation, zeros and five percentiles as text."""
    shown = ("p10", "p50", "p90", "p99")
    head = " ".join(f"{c:>9}" for c in ("mean", "sd", "zeros", *shown))
    lines = [f"{'variable':15} {'file':24} {head}"]
    for r in frame.iter_rows(named=True):
        form = ",.2f" if r["p99"] < 100 else ",.0f"
        numbers = [f"{r['mean']:{form}}", f"{r['sd']:{form}}", f"{r['zeros']:.3f}", *(f"{r[c]:,.0f}" for c in shown)]
        lines.append(f"{r['variable']:15} {r['file']:24} " + " ".join(f"{n:>9}" for n in numbers))
    return "\n".join(lines)


def correlations(files: Mapping[str, pl.DataFrame], variables: Sequence[str] = NUMBERS) -> pl.DataFrame:
    """One row per pair of variables, one column per file.

    >>> correlations({"original": pl.DataFrame({"x": [0, 1, 2], "y": [2, 1, 0]})}, ["x", "y"]).row(0)
    ('x, y', -1.0)
    """
    found = {name: np.corrcoef(file.select(variables).to_numpy().T) for name, file in files.items()}
    rows = []
    for i, v in enumerate(variables):
        for j in range(i + 1, len(variables)):
            own = {name: round(float(r[i, j]), 6) for name, r in found.items()}
            rows.append({"pair": f"{v}, {variables[j]}", **own})
    return pl.DataFrame(rows)


def correlations_text(frame: pl.DataFrame) -> str:
    """The same as text."""
    names = [c for c in frame.columns if c != "pair"]
    lines = [f"{'':30}" + "".join(f"{n:>26}" for n in names)]
    for r in frame.iter_rows(named=True):
        lines.append(f"{r['pair']:30}" + "".join(f"{r[n]:26.2f}" for n in names))
    return "\n".join(lines)


def reproduced(
    original: pl.DataFrame, release: Release, cell: pl.Series, variable: str, within: float = 0.01
) -> pl.DataFrame:
    """Whose own value stands in their own record, by the size of their cell.

    Of the people with a value other than zero: `share` whose released value is within one percent of it. `cell` is
    in the order of `original`.
    """
    assert release.link is not None
    own = original[variable].to_numpy().astype(float)[release.link]
    size = cell.to_numpy()[release.link]
    shown = release.frame[variable].to_numpy().astype(float)
    near = np.abs(shown - own) <= within * np.abs(own)
    rows = []
    for name, (low, high) in SIZES.items():
        mine = (own != 0) & (size >= low) & (size <= high)
        rows.append((name, int(mine.sum()), float(near[mine].mean()) if mine.any() else None))
    return pl.DataFrame(rows, schema=["cell", "people", "share"], orient="row")


def reproduced_text(frame: pl.DataFrame) -> str:
    """The same as text."""
    lines = [f"{'people in the cell':20} {'with a wage':>12} {'own wage released':>18}"]
    for r in frame.iter_rows(named=True):
        lines.append(f"{r['cell']:20} {r['people']:12,} {'-' if r['share'] is None else format(r['share'], '18.1%')}")
    return "\n".join(lines)
