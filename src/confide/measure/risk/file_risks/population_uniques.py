"""How many sample uniques are unique in the population: the customary estimators side by side, with their doubts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.attack.population.labels import CELLS
from confide.core.checks import names_of
from confide.core.errors import InputError, did_you_mean
from confide.core.registry import registered
from confide.measure.risk.file_risks.classes import OWN
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.result import FileRiskResult, bars
from confide.measure.risk.file_risks.statement import SHARE, FileRisk
from confide.measure.risk.file_risks.words import fine_words, kept_back_words, missing_words, some, truth_words
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.estimates import DIS, KNOWN, SIZES, WEIGHTED, Estimate, Sample, estimate
from confide.measure.risk.population.intrusion import NO_DOUBLES
from confide.measure.risk.population.poisson import SEARCH
from confide.measure.risk.population.sampling import check_sampling, sampling_words, weights_of

USUAL = (SEARCH, DIS, WEIGHTED, "pitman", "ewens", "zayatz", "snb")
"""What is estimated where nobody says: all but the variants."""
NOTHING = 1e-12
"""Expected numbers below this are 0 in a study."""
LEAST = 0.05
"""Estimates below this are printed as 0.0: a factor between one of them and another says nothing."""
NUMBERS = (
    "tau1", "tau1_low", "tau1_high", "tau2", "tau2_low", "tau2_high", "uniques", "dis", "dis_low", "dis_high",
    "z1", "z2",
)  # fmt: skip
TABLE: dict[str, Any] = {"estimator": pl.String, **dict.fromkeys(NUMBERS, pl.Float64), "note": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class UniquesResult(FileRiskResult):
    """Uniques of the population. `table`: one row per estimator: tau1 (sample uniques that are unique in the
    population), tau2 (sum of 1/F over sample uniques), uniques (of the population), dis (the chance that a match with a
    sample unique is right), z1 and z2 (Skinner and Shlomo's criterion for tau1 and tau2); `_low` and `_high` are ends
    of 95 percent intervals. Null where an estimator says nothing; its note says why. `frame`: private, one row per
    record: alike, p_unique (null where it is not unique in the sample) and risk, E(1/F), by the estimator `by`.
    `pairs`: the pairs of keys in each log-linear model.
    """

    by: str = ""
    pairs: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    def summary(self) -> pl.DataFrame:
        """The table of estimators, without its notes."""
        return self.table.drop("note")

    def __repr__(self) -> str:
        with pl.Config(tbl_width_chars=140, fmt_str_lengths=60, tbl_cols=-1):
            return super(UniquesResult, replace(self, table=shown(self.table))).__repr__()


@registered
@dataclass(frozen=True)
class PopulationUniques(FileRisk):
    r"""How many records that are unique in the sample are unique in the population, by the customary estimators.

    Say how the file was drawn by one of `weight` (a column: people per record), `fraction` (records per person) and
    `total` (people of the population). `estimators`:

    - "poisson": F Poisson with log-linear means over the cross table of all keys, pairs of keys chosen by Skinner and
      Shlomo's search: :math:`P(F=1) = e^{-x}`, :math:`E(1/F) = (1-e^{-x})/x`. The one to rely on, with its criterion.
      "poisson_independence" and "poisson_pairs": no pair, all pairs.
    - "dis": Skinner and Elliot's chance that a match with a sample unique is right, with its standard error.
    - "benedetti_franconi": each cell by its own weights.
    - "pitman", "ewens", "zayatz", "snb": sizes of sample cells alone; they miss by factors of 2 to 4 on shipped data.
    - "pitman_as_arx", "snb_as_arx": what ARX computes under these names, faults included.

    Missing is a value of its own. Tables of more than 320,000 cells are fitted with some keys in bins, which is said.

    >>> import confide as cf
    >>> keys = ["sex", "race", "marital", "age"]
    >>> found = cf.measures.PopulationUniques(keys, total=1_016_437).of(cf.demo("heads"))
    >>> found.table.select("estimator", pl.col("tau1", "tau2").round(1), pl.col("dis").round(4)).head(3).rows()
    [('poisson', 9.0, 53.0, 0.0356), ('dis', None, None, 0.0458), ('benedetti_franconi', 27.1, 85.2, 0.0502)]
    """

    keys: str | Sequence[str]
    weight: str | None = field(default=None, metadata={"example": "weight"})
    fraction: float | None = None
    total: float | None = None
    estimators: str | Sequence[str] = USUAL

    risk: ClassVar[str] = "population_uniques"
    in_words: ClassVar[str] = "sample uniques that are unique in the population"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keys", names_of(self.keys, "PopulationUniques: keys"))
        object.__setattr__(self, "estimators", names_of(self.estimators, "PopulationUniques: estimators"))
        for name in self.estimators:
            if name not in KNOWN:
                raise InputError(
                    f'PopulationUniques: there is no estimator "{name}".{did_you_mean(name, KNOWN, most=None)}'
                )
        check_sampling(self.keys, self.weight, self.fraction, self.total, "PopulationUniques")

    @property
    def parts(self) -> dict[str, str]:
        """tau1, its share of the records and tau2 by the first estimator that has them; DIS by "dis" if it is asked."""
        return {
            "": "sample uniques that are unique in the population, expected",
            SHARE: "share of records that are unique in the population, expected",
            "matches": "expected right matches of sample uniques (sum of 1/F)",
            "dis": "chance that a match with a sample unique is right",
        }

    @property
    def variables(self) -> tuple[str, ...]:
        """The keys, and the weight."""
        return (*self.keys, *([] if self.weight is None else [self.weight]))

    def found(self, file: File) -> UniquesResult:
        """All estimators on one file."""
        keys = file.keys(self.keys)
        sample = sample_of(file, keys, weights_of(file, self.weight, self.fraction, self.total))
        found = [estimate(name, sample) for name in self.estimators]
        table = pl.DataFrame([_row(e) for e in found], TABLE, orient="row")
        tau1 = _first(table["tau1"])
        per_record = next((e for e in found if e.inverse is not None), None) or estimate(WEIGHTED, sample)
        numbers = {
            "": tau1, SHARE: None if tau1 is None else tau1 / file.n, "matches": _first(table["tau2"]),
            "dis": _chance(found),
        }  # fmt: skip
        alone, drawn = sample.cells.having(1), sampling_words(self.weight, self.fraction, self.total)
        title = f"Uniques of the population behind {file.n:,} records on {', '.join(self.keys)}; {drawn}"
        notes = (
            f"{some(alone, 'record')} {'is' if alone == 1 else 'are'} unique in the sample. Per record: "
            f"{per_record.estimator}.",
            *model_words(found, keys), *doubts(found, sample.cells, self.weight), *fine_words(file, keys),
            *missing_words(file, keys, OWN), *kept_back_words(file, self.keys), *truth_words(file, keys),
        )  # fmt: skip
        drawn_bars = bars({e.estimator: e.tau1 for e in found if e.tau1 is not None})
        return UniquesResult(
            title, _frame(file, sample.cells, per_record), numbers, self.parts, notes, drawn_bars,
            "Sample uniques that are unique in the population, expected", table, per_record.estimator,
            tuple((e.estimator, named(e, keys)) for e in found if e.fit is not None),
        )  # fmt: skip


def sample_of(file: File, keys: Sequence[str], weights: Any) -> Sample:
    """The cells of a file, with the codes of each."""
    codes = [file.codes(v) for v in keys] or [np.zeros(file.held, dtype=np.int64)]
    cells = Cells.of(codes, weights, file.data.count)
    numeric = [file.column(v).kind == "numeric" for v in keys] or [False]
    return Sample(cells, [np.asarray(c)[cells.first] for c in codes], numeric)


def shown(table: pl.DataFrame) -> pl.DataFrame:
    """The table for printouts: numbers with their intervals as words."""
    rows = []
    for r in table.iter_rows(named=True):
        tau1, tau2 = (_words(r[v], r[f"{v}_low"], r[f"{v}_high"], ",.1f") for v in ("tau1", "tau2"))
        z = "" if r["z1"] is None else f"{r['z1']:.1f}, {r['z2']:.1f}"
        dis = _words(r["dis"], r["dis_low"], r["dis_high"], ".4f")
        rows.append((r["estimator"], tau1, tau2, _words(r["uniques"], None, None, ",.0f"), dis, z))
    return pl.DataFrame(rows, ["estimator", "tau1", "tau2", "uniques", "DIS", "z1, z2"], orient="row")


def _words(value: float | None, low: float | None, high: float | None, form: str) -> str:
    if value is None:
        return "-"
    return f"{value:{form}}" if low is None else f"{value:{form}} ({low:{form}} to {high:{form}})"


def _row(e: Estimate) -> tuple[Any, ...]:
    z = (None, None) if e.fit is None else (e.fit.z1, e.fit.z2)
    return (
        e.estimator, e.tau1, *e.tau1_interval, e.tau2, *e.tau2_interval, e.uniques, e.dis, *e.dis_interval, *z, e.note
    )  # fmt: skip


def _first(values: pl.Series) -> float | None:
    known = next((float(v) for v in values if v is not None), None)
    return known if known is None or known > NOTHING else 0.0


def _chance(found: Sequence[Estimate]) -> float | None:
    """The chance that a match with a sample unique is right, by "dis" if it is asked; None where that is no finding."""
    values = sorted((e for e in found if e.dis is not None), key=lambda e: e.estimator != DIS)
    if not values or values[0].note == NO_DOUBLES:
        return None
    return values[0].dis


def _frame(file: File, cells: Cells, e: Estimate) -> pl.DataFrame:
    assert e.inverse is not None
    assert e.alone is not None
    one = cells.unique[cells.of_row]
    return pl.DataFrame({
        **file.places, "alike": cells.f[cells.of_row].astype(np.int64),
        "p_unique": np.where(one, e.alone[cells.of_row], np.nan), "risk": e.inverse[cells.of_row],
    }).with_columns(pl.col("p_unique").fill_nan(None))  # fmt: skip


def named(e: Estimate, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of a log-linear model by their names."""
    assert e.fit is not None
    return tuple((keys[a], keys[b]) for a, b in e.fit.pairs)


def model_words(found: Sequence[Estimate], keys: Sequence[str]) -> list[str]:
    """Which log-linear models were fitted, and what their criterion says."""
    said = []
    for e in found:
        if e.fit is None:
            continue
        pairs = ", ".join(f"{a} x {b}" for a, b in named(e, keys)) or "none"
        judged = f"refused as {e.fit.refused}; no interval" if e.fit.refused else "not refused"
        said.append(
            f'Model of "{e.estimator}": main effects of all keys, and pairs: {pairs}. z1 = {e.fit.z1:.1f}, '
            f"z2 = {e.fit.z2:.1f}: {judged}."
        )
        if e.fit.binned:
            said.append(
                f"In bins, since the table of all cells would be too large or too thin (at most {CELLS:,} cells; "
                f"{e.fit.table:,} were fitted): {', '.join(keys[i] for i in e.fit.binned)}. A value's share of its bin "
                "is taken to be the same everywhere; what that misses is not known, so there is no interval."
            )
    if any(e.tau1_interval[0] is not None and e.fit is not None for e in found):
        said.append(
            "Intervals of log-linear models allow for who happens to be drawn, and for as much bias as the criterion "
            "cannot see: 95 percent, and in trials on the shipped population they held the truth more often."
        )
    return said


def _apart(tau1: Sequence[float]) -> list[str]:
    """How far estimates lie apart: by a factor, or, where one is next to nothing, from where to where.

    >>> _apart([9.0, 27.0]), _apart([1e-7, 27.0]), _apart([9.0, 10.0])
    (['The estimates of tau1 differ by a factor of 3.0.'], ['The estimates of tau1 lie between 0.0 and 27.0.'], [])
    """
    low, high = min(tau1, default=0.0), max(tau1, default=0.0)
    if high < LEAST or high <= 2 * low:
        return []
    if low < LEAST:
        return [f"The estimates of tau1 lie between {low:,.1f} and {high:,.1f}."]
    return [f"The estimates of tau1 differ by a factor of {high / low:.1f}."]


def doubts(found: Sequence[Estimate], cells: Cells, weight: str | None) -> list[str]:
    """What to think of the estimates."""
    said, names = [], {e.estimator for e in found if e.note != "the sample is the population"}
    by_sizes = [e.estimator for e in found if e.estimator in SIZES and e.tau1 is not None and e.estimator in names]
    if by_sizes:
        said.append(
            f"{', '.join(by_sizes)}: sizes of cells alone. On the shipped householders such models miss the "
            "population's uniques by factors of 2 to 4 (SNB once by 15 percent only); take none of them for an answer."
        )
    if weight is not None and (by_sizes or SEARCH in names) and np.ptp(cells.people / cells.f) > 0:
        said.append("Weights differ; models of sizes use their mean alone, as if everybody had one chance to be drawn.")
    said += _apart([e.tau1 for e in found if e.tau1 is not None and e.estimator in names])
    if any(e.estimator.endswith("as_arx") for e in found):
        said.append("Estimators that end in as_arx reproduce another tool's formulas, faults included; for comparison.")
    said += [f"{e.estimator}: {e.note}." for e in found if e.note and e.fit is None]
    return said
