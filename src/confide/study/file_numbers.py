"""Customary risks of one release: the numbers that a study keeps, and why one could not be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from confide.core.errors import InputError
from confide.measure.risk.file_risks.statement import FileRisk
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.study.tradeoff.question import amount

if TYPE_CHECKING:
    from confide.study.result import StudyResult

LITTLE = 1e-6
FILE = {
    "plan": pl.String, "risk": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "said": pl.String,
}  # fmt: skip


def file_numbers(
    release: Release | Copies, risks: Sequence[FileRisk]
) -> tuple[dict[str, float | None], dict[str, str], dict[str, str]]:
    """By column, each number of the released file; of several copies the mean. By risk, why it has none, and what else
    its printout says of the (first) file.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
    >>> file_numbers(release, [cf.measures.KAnonymity(["sex", "age"], k=3)])[:2]
    ({'k_anonymity': 1.0, 'k_anonymity_share': 0.002}, {})
    """
    numbers: dict[str, float | None] = {}
    refused: dict[str, str] = {}
    notes: dict[str, str] = {}
    files = [release] if isinstance(release, Release) else list(release)
    for risk in risks:
        try:
            found = [risk.of(file) for file in files]
        except InputError as e:
            numbers |= dict.fromkeys(risk.columns)
            refused[risk.name] = str(e)
        else:
            notes[risk.name] = " ".join(found[0].notes)
            each = [risk.named(one) for one in found]
            numbers |= {column: _mean([one[column] for one in each]) for column in risk.columns}
    return numbers, refused, notes


def in_figures(column: str, x: float) -> str:
    """A number of the file as text: a count, a share in percent, or a figure; next to nothing is said to be that.

    >>> in_figures("suda", 1250.0), in_figures("k_anonymity_share", 0.0222), in_figures("population_uniques", 3e-12)
    ('1,250', '2.22%', 'below 1e-06')
    """
    return f"below {LITTLE:g}" if 0 < x < LITTLE else amount(column, x)


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over copies; unknown where it is unknown for one of them."""
    known = [float(v) for v in values if v is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def file_table(result: StudyResult) -> pl.DataFrame:
    """Every risk of the file, plan by plan: means over repeats with their intervals, and the words."""
    words = {column: said for risk in result.file_risks for column, said in risk.columns.items()}
    rows = result.summary().filter(pl.col("measure").is_in(list(words)))
    told = [(r["plan"], r["measure"], r["mean"], r["low"], r["high"], words[r["measure"]])
            for r in rows.iter_rows(named=True)]  # fmt: skip
    return pl.DataFrame(told, schema=FILE, orient="row")
