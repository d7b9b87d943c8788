"""Tables 4.1 to 4.6 of Fienberg, Makov and Sanil (1997): what is printed, and the same from an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.demo import demo
from confide.demo.elites import PRINTED as RANGES
from confide.protect.methods.measurement_error.variances import prior_from_range

NOISE = {"age": 9.0, "civil": 25.0, "can_us": 25.0, "income": 4.0}
"""Noise variances of section 4.1, by which the paper made its targets; income in 10,000 dollars."""

BIAS = (0.0009, 0.03, 0.1732)
"""Variances of theta: standard deviation 0.03; standard deviation 0.1732; the variance as the paper states it."""

RATES = {"age": 3.5, "civil": 34.0, "can_us": 63.0, "income": 110.0}
"""Rates of the gamma priors of the noise variances, Table 4.2; all shapes are 400. For the bias: 5,000."""

COUNTS = {
    "4.3": (319, 144, 106, 41, 34, 8, 3, 3, 3, 1, 0),
    "4.4": (42, 36, 29, 26, 18, 22, 6, 13, 12, 10, 448),
    "4.5": (295, 141, 75, 46, 33, 21, 13, 11, 6, 2, 19),
    "4.6": (43, 34, 34, 24, 16, 15, 16, 13, 12, 4, 451),
}
"""Targets of 662 by the rank of their own record, 1 to 10 and beyond."""

P_FIRST = {"4.3": 0.017, "4.4": 0.045, "4.5": 0.018, "4.6": 0.044}
"""Mean probability of the own record where it ranks first."""

PAIRS = {
    "age": ((44.607, 44.357, 35.261, 47.740, 32.258, 16.964, 43.319, 36.163, 31.119, 56.608),
            (31.004, 58.362, 49.435, 40.876, 30.387, 21.515, 52.798, 42.557, 32.501, 82.034)),
    "civil": ((24.803, 17.331, 10.930, 20.583, 21.431, 21.843, 10.552, 22.630, 15.739, 19.465),
              (23.267, 17.760, 14.584, 16.545, 14.093, 14.628, 16.205, 21.262, 20.840, 18.709)),
    "can_us": ((0.278, 6.877, 12.330, 10.944, 16.563, 12.417, 2.313, 2.076, 8.447, 4.390),
               (7.231, 4.481, 7.632, 9.449, 10.828, 14.206, 5.882, 5.633, 14.843, 7.310)),
    "income": ((8.035, 9.589, 12.025, 10.698, 7.405, 10.533, 5.470, 3.936, 0.447, 10.211),
               (8.668, 6.413, 8.873, 8.035, 7.623, 8.199, 7.359, 6.321, 4.287, 11.927)),
}  # fmt: skip
"""The ten people of Table 4.1, rounded: true values x and the file's values z."""


VARIABLES = {"elites": ("age", "civil", "can_us", "income"), "anes1996": ("age", "income", "self_lr", "party_id")}
LIKE = {"age": "age", "income": "income", "self_lr": "civil", "party_id": "can_us"}
"""Whose share of the range the noise of each variable of "anes1996" has."""


@dataclass(frozen=True)
class Scenario:
    """How targets are made from the file: with the paper's noise or not, with bias or not; the printed table."""

    noise: bool
    bias_variance: float | None
    table: str


SCENARIOS = {
    "no error": Scenario(noise=False, bias_variance=None, table="4.3"),
    "noise": Scenario(noise=True, bias_variance=None, table="4.4"),
    **{f"bias, variance {phi:g}": Scenario(noise=False, bias_variance=phi, table="4.5") for phi in BIAS},
    **{f"noise and bias, variance {phi:g}": Scenario(noise=True, bias_variance=phi, table="4.6") for phi in BIAS},
}


@dataclass(frozen=True, eq=False)
class Experiment:
    """`units`: by scenario, one row per target and repeat: `repeat`, `rank`, `p_true`, `p_max`, `hit`, `p_top`."""

    data: str
    file: pl.DataFrame
    as_printed: bool
    repeats: int
    units: Mapping[str, pl.DataFrame]

    def repeats_of(self, scenario: str) -> int:
        """How often a scenario was run: once where nothing is drawn."""
        return int(self.units[scenario]["repeat"].n_unique())

    def printed_table(self, scenario: str) -> str | None:
        """The number of the printed table of a scenario; None for data of our own."""
        return SCENARIOS[scenario].table if self.data == "elites" else None


def file_of(data: str = "elites") -> pl.DataFrame:
    """The released file of a study: the surrogate as it is; the voters with party identification from 1 to 7.

    A bias multiplies, so a scale must not begin at zero, where it would have no effect.

    >>> file_of("anes1996")["party_id"].min()
    1
    """
    if data not in VARIABLES:
        raise InputError(f'data is "elites" or "anes1996".{did_you_mean(data, list(VARIABLES))}')
    file = demo(data).select(VARIABLES[data])
    return file.with_columns(pl.col("party_id") + 1) if data == "anes1996" else file


def noise_of(data: str = "elites") -> dict[str, float]:
    """Noise standard deviations: those of the paper; for the voters the same shares of the ranges.

    >>> noise_of()
    {'age': 3.0, 'civil': 5.0, 'can_us': 5.0, 'income': 2.0}
    >>> {v: round(sd, 2) for v, sd in noise_of("anes1996").items()}
    {'age': 3.37, 'income': 4.04, 'self_lr': 1.46, 'party_id': 1.99}
    """
    file = file_of(data)
    if data == "elites":
        return {v: NOISE[v] ** 0.5 for v in file.columns}
    share = relative_noise()
    return {v: share[LIKE[v]] * range_of(file, v) for v in file.columns}


def range_of(file: pl.DataFrame, variable: str) -> float:
    """Largest less smallest value."""
    return float(np.ptp(file[variable].to_numpy()))


def relative_noise() -> dict[str, float]:
    """The paper's noise standard deviations as shares of the ranges that its Table 4.2 implies.

    >>> {v: round(share, 3) for v, share in relative_noise().items()}
    {'age': 0.047, 'civil': 0.243, 'can_us': 0.331, 'income': 0.175}
    """
    return {v: variance**0.5 / RANGES[v] for v, variance in NOISE.items()}


def printed(table: str) -> pl.DataFrame:
    """A printed rank table, "4.3" to "4.6": columns `rank`, `targets`.

    >>> printed("4.3").row(0)
    ('1', 319)
    """
    return pl.DataFrame({"rank": [*map(str, range(1, 11)), ">10"], "targets": COUNTS[table]})


def table42(file: pl.DataFrame) -> pl.DataFrame:
    """The rates of the gamma priors (all of shape 400), from a file's ranges; beside them the printed ones.

    >>> import confide as cf
    >>> table42(cf.demo("elites")).columns
    ['variable', 'range', 'noise_rate', 'printed_rate', 'bias_rate', 'printed_bias_rate', 'squared_bias_rate']
    """
    rows = []
    for v in RATES:
        here, squared = (prior_from_range(file[v], as_printed=way) for way in (True, False))
        values = file[v].to_numpy()
        rows.append({
            "variable": v, "range": float(np.ptp(values)), "noise_rate": float(here["noise_variance"].rate),
            "printed_rate": RATES[v], "bias_rate": float(here["bias_variance"].rate), "printed_bias_rate": 5000.0,
            "squared_bias_rate": float(squared["bias_variance"].rate),
        })  # fmt: skip
    return pl.DataFrame(rows)


def tables(experiment: Experiment) -> dict[str, pl.DataFrame]:
    """The rank table of each scenario, as Tables 4.3 to 4.6: means over repeats.

    `targets` and `targets_sd`: at this rank in one repeat, mean and standard deviation; `p_true`, `p_top` with their
    standard deviations over all targets at this rank: the own record's probability, the sum of the ten largest.
    """
    return {name: _rank_table(units, experiment.repeats_of(name)) for name, units in experiment.units.items()}


def _rank_table(units: pl.DataFrame, repeats: int) -> pl.DataFrame:
    ranks = pl.DataFrame({"rank": [*map(str, range(1, 11)), ">10"]})
    inside = pl.when(pl.col("rank") <= 10).then(pl.col("rank").cast(pl.String)).otherwise(pl.lit(">10"))
    labelled = units.with_columns(rank=inside)
    every = ranks.join(pl.DataFrame({"repeat": range(repeats)}), how="cross")
    counts = labelled.group_by("rank", "repeat").agg(n=pl.len())
    counts = every.join(counts, on=["rank", "repeat"], how="left").with_columns(pl.col("n").fill_null(0))
    n = counts.group_by("rank").agg(targets=pl.mean("n"), targets_sd=pl.std("n").fill_null(0.0))
    p = labelled.group_by("rank").agg(
        p_true=pl.mean("p_true"), p_true_sd=pl.std("p_true"), p_top=pl.mean("p_top"), p_top_sd=pl.std("p_top")
    )  # fmt: skip
    return ranks.join(n, on="rank", maintain_order="left").join(p, on="rank", how="left", maintain_order="left")


def summary(experiment: Experiment) -> pl.DataFrame:
    """One row per scenario: first ranks, within ten, beyond ten (means over repeats), beside the printed ones.

    `first_sd`: standard deviation of the first ranks over repeats. `p_first`: mean probability of the own record where
    it ranks first. `claimed`: right matches that the intruder expects, the sum of the largest probabilities.
    """
    rows = []
    for name, table in tables(experiment).items():
        first, beyond = table.row(0, named=True), table.row(-1, named=True)
        source = experiment.printed_table(name)
        rows.append({
            "scenario": name, "first": first["targets"], "first_sd": first["targets_sd"],
            "within_ten": float(table["targets"].sum()) - beyond["targets"], "beyond_ten": beyond["targets"],
            "p_first": first["p_true"],
            "claimed": float(experiment.units[name]["p_max"].sum()) / experiment.repeats_of(name),
            "printed_first": COUNTS[source][0] if source else None,
            "printed_beyond": COUNTS[source][-1] if source else None,
            "printed_p_first": P_FIRST[source] if source else None,
        })  # fmt: skip
    real = {"printed_first": pl.Int64, "printed_beyond": pl.Int64, "printed_p_first": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=real)


def ranks_chart(done: Experiment) -> Any:
    """The rank tables of an experiment, beside the printed ones where there are any."""
    from confide.show.charts.rank_charts import rank_chart

    beside = {name: printed(table) for name in done.units if (table := done.printed_table(name))}
    title = "Noise hides the true record, a small bias does not, a large one does"
    return rank_chart(tables(done), beside or None, title=title)


def summary_text(frame: pl.DataFrame) -> str:
    """The summary as text, the printed figures in brackets."""
    lines = [f"{'scenario':32} {'first':>12} {'sd':>5} {'beyond ten':>12} {'p of the first':>16} {'claimed':>8}"]
    for r in frame.iter_rows(named=True):
        cells = [
            _beside(f"{r['first']:.0f}", r["printed_first"]),
            _beside(f"{r['beyond_ten']:.0f}", r["printed_beyond"]),
            _beside(f"{r['p_first']:.3f}", r["printed_p_first"]),
        ]
        a, b, c = cells
        lines.append(f"{r['scenario']:32} {a:>12} {r['first_sd']:5.1f} {b:>12} {c:>16} {r['claimed']:8.1f}")
    return "\n".join(line.rstrip() for line in lines)


def _beside(here: str, there: float | None) -> str:
    return here if there is None else f"{here} ({there:g})"


def bias_in_print(variances: tuple[float, ...] = (0.0, *BIAS)) -> pl.DataFrame:
    """How well each bias variance explains the forty pairs of Table 4.1, the noise variances as stated.

    `log_likelihood` is relative to that of the best variance, which is given in its own row.

    >>> bias_in_print()["bias_variance"].to_list()
    [0.0, 0.0009, 0.03, 0.1732, 0.038]
    """
    grid = np.round(np.arange(0.001, 0.2, 0.001), 3)
    best = float(grid[np.argmax([_log_likelihood(phi, NOISE) for phi in grid])])
    most = _log_likelihood(best, NOISE)
    rows = [(phi, _log_likelihood(phi, NOISE) - most) for phi in (*variances, best)]
    return pl.DataFrame(rows, schema=["bias_variance", "log_likelihood"], orient="row")


def _log_likelihood(phi: float, noise: Mapping[str, float]) -> float:
    total = 0.0
    for v, (x, z) in PAIRS.items():
        variance = noise[v] + phi * np.square(z)
        total -= 0.5 * float(np.sum(np.log(variance) + np.square(np.subtract(x, z)) / variance))
    return total
