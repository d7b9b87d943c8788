"""What is measured of synthetic files: utility, what the strongest intruder finds and learns, repeated people."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.core.errors import InputError
from confide.measure.utility.distances import Hellinger, TotalVariation
from confide.measure.utility.measure import Measure
from confide.measure.utility.moments import Correlations, Means
from confide.measure.utility.propensity import Propensity
from confide.measure.utility.regressions import RegressionOverlap
from confide.measure.utility.run import utility
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.protect.shared.rules import Held, Sum, named
from confide.study.synthesise.asked import Asked
from confide.study.synthesise.models import Chosen, Ruled

LEVEL = "exact"
"""The strongest intruder: knows how every value was made."""
FEW_LEVELS = 20
KEYS = 3
"""Keys in the regression whose intervals are compared."""
RISK: dict[str, Any] = {
    "risk": pl.String, "about": pl.String, "value": pl.Float64, "share": pl.Float64, "compared": pl.Float64,
    "what": pl.String,
}  # fmt: skip


def releases_in(made: Release | Copies) -> list[Release]:
    """One release, or the copies, as a list."""
    return list(made) if isinstance(made, Copies) else [made]


def measures_for(asked: Asked) -> list[Measure]:
    """Whether a model tells synthetic from real rows; margins, pairs, means, correlations; and one regression."""
    names = [*asked.kept, *asked.drawn]
    found: list[Measure] = [Propensity(), Hellinger(), Means(), Correlations()]
    if len(names) > 1:
        found.insert(2, TotalVariation(pairs=True, label="pairs"))
    sensible = [v for v in asked.keys if named(v) == v and len(asked.records[v].levels) <= FEW_LEVELS]
    outcome = next((v for v in asked.sensitive if asked.records[v].kind == "numeric" and named(v) == v), None)
    if outcome is not None and sensible:
        found.append(RegressionOverlap(f"{outcome} ~ {' + '.join(sensible[:KEYS])}"))
    return found


def utility_of(made: Release | Copies, asked: Asked) -> pl.DataFrame:
    """One row per measure, of what is released; null where one cannot be computed, and the detail says why."""
    names = [*asked.kept, *asked.drawn]
    return utility(made, measures_for(asked), weighted=False, strict=False, items=names)


def compared(made: Release | Copies, asked: Asked) -> pl.DataFrame:
    """One row per released variable: missing, mean (of numbers) and number of values in both files, and the distance of
    its distribution."""
    releases = releases_in(made)
    rows = []
    for v in [*asked.kept, *asked.drawn]:
        y, *z = (_gaps(f.get_column(v)) for f in (asked.file.frame, *(r.frame for r in releases)))
        far = utility(made, Hellinger(v), weighted=False, strict=False)["value"][0]
        rows.append((
            v, y.null_count() / len(y), float(np.mean([s.null_count() / len(s) for s in z])), _mean(y),
            _average([_mean(s) for s in z]), y.n_unique(), float(np.mean([s.n_unique() for s in z])), far,
        ))  # fmt: skip
    numbers = ("missing", "missing_synthetic", "mean", "mean_synthetic", "values", "values_synthetic", "hellinger")
    return pl.DataFrame(rows, schema={"variable": pl.String, **dict.fromkeys(numbers, pl.Float64)}, orient="row")


def _gaps(s: pl.Series) -> pl.Series:
    """The same, with a number that is none as missing, as releases have it."""
    return s.fill_nan(None) if s.dtype.is_float() else s


def _mean(s: pl.Series) -> float | None:
    found = s.mean() if s.dtype.is_numeric() else None
    return None if found is None else float(found)  # type: ignore[arg-type]  # of numbers


def _average(values: list[float | None]) -> float | None:
    there = [x for x in values if x is not None]
    return float(np.mean(there)) if there else None


def attacked(made: Release | Copies, asked: Asked, threads: int | None) -> Attack | None:
    """The attack of the strongest intruder who knows the keys; None without keys."""
    if not asked.keys:
        return None
    found = Intruder.at(LEVEL, knows=asked.keys).attack(made, threads=threads, progress=False)
    assert isinstance(found, Attack)
    return found


def risk_of(made: Release | Copies, asked: Asked, attack: Attack | None, cautions: list[str]) -> pl.DataFrame:
    """One row per number: people found and claimed, what is learnt of sensitive variables, people who are repeated."""
    rows: list[tuple[str, str, float | None, float | None, float | None, str]] = []
    keys = ", ".join(asked.keys)
    if attack is not None:
        s = attack.summary()
        n = max(s.targets, 1)
        what = "people found by the strongest intruder who knows the keys, beside what that intruder claims"
        rows.append(("found", keys, s.found, None if s.found is None else s.found / n, s.claimed_matches, what))
        what = "people named with a probability above 0.2"
        rows.append(("over_threshold", keys, float(s.over_threshold), s.over_threshold / n, None, what))
        for v in asked.sensitive:
            try:
                g = attack.guess(v).summary()
            except InputError as e:
                cautions.append(f'What is learnt of "{v}" is not measured: {e}')
                continue
            share = None if not g.margin or g.loss is None else 1 - g.loss / g.margin
            rows.append(
                (
                    "guess_loss",
                    v,
                    g.loss,
                    share,
                    g.margin,
                    f"{g.said}, of the strongest intruder, beside the margin alone",
                )
            )
    for v in asked.sensitive if asked.keys else ():
        right, told = disclosed(made, asked, v)
        what = "people whose value all synthetic rows with their keys share, beside those of whom the original tells it"
        rows.append(("disclosed", v, right, right / asked.rows, told, what))
    for about, names in (("all variables", [*asked.kept, *asked.drawn]), (keys, list(asked.keys))):
        if names:
            again, alone = replicated(made, asked, names)
            what = "people alone on these variables whom a synthetic row repeats that is alone too, per copy"
            rows.append(("replicated_uniques", about, again, again / asked.rows, alone, what))
    return pl.DataFrame(rows, schema=RISK, orient="row")


def replicated(made: Release | Copies, asked: Asked, names: list[str]) -> tuple[float, float]:
    """Rows alone in both files that are equal, on average over copies; and rows alone in the original."""

    def alone(frame: pl.DataFrame) -> pl.DataFrame:
        texts = frame.select(_text(frame, v) for v in names)
        return texts.filter(texts.is_unique())

    mine = alone(asked.file.frame)
    both = [mine.join(alone(r.frame), on=names, how="semi", nulls_equal=True).height for r in releases_in(made)]
    return float(np.mean(both)), float(mine.height)


def disclosed(made: Release | Copies, asked: Asked, variable: str) -> tuple[float, float]:
    """People whose value is the only one that rows with their keys have: in synthetic files, on average over copies,
    and in the original. A value that is missing is one too."""
    keys = list(asked.keys)

    def texts(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(*(_text(frame, v) for v in keys), _text(frame, variable).fill_null("").alias("__told"))

    def sure(frame: pl.DataFrame) -> pl.DataFrame:
        return (
            frame.group_by(keys)
            .agg(pl.col("__told").n_unique().alias("__many"), pl.col("__told").first())
            .filter(pl.col("__many") == 1)
        )

    mine = texts(asked.file.frame)
    on = [*keys, "__told"]
    both = [mine.join(sure(texts(f)), on=on, how="semi", nulls_equal=True).height
            for f in (*(r.frame for r in releases_in(made)), asked.file.frame)]  # fmt: skip
    return float(np.mean(both[:-1])), float(both[-1])


def _text(frame: pl.DataFrame, v: str) -> pl.Expr:
    """A variable as text; spans of time, which have none, as numbers."""
    column = pl.col(v)
    return (column.to_physical() if frame.schema[v] == pl.Duration else column).cast(pl.String)


def rules_kept(made: Release | Copies, chosen: Chosen, ruled: Ruled, stated: set[str]) -> pl.DataFrame:
    """One row per rule: where it comes from, whose draws keep it, and rows that break it, in the file and in copies."""
    rows = []
    every: list[Held | Sum] = [*ruled.sums, *ruled.held]
    for rule in every:
        by = chosen.kept_by.get(rule.text, "") if isinstance(rule, Held) else rule.total
        counts = [_broken(r, rule) for r in releases_in(made)]
        source = "stated" if rule.text in stated else "found"
        rows.append((rule.text, source, by, counts[0][0], sum(c[1] for c in counts)))
    schema = {
        "rule": pl.String, "source": pl.String, "kept_by": pl.String, "broken_before": pl.Int64, "broken": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _broken(release: Release, rule: Held | Sum) -> tuple[int, int]:
    """Rows that break a rule in the original and in the release."""
    original, released = release.encoded(rule.names)
    if isinstance(rule, Held):
        before, after = (int((~rule.holds(f)).sum()) for f in (original, released))
        return before, after
    out = []
    for file in (original, released):
        made = sum(file[v].values for v in rule.plus) - sum(file[v].values for v in rule.minus)
        total = file[rule.total].values
        with np.errstate(invalid="ignore"):
            close = np.abs(total - made) <= 1e-9 * (1 + np.nanmax(np.abs(total), initial=0.0))
        out.append(int((~(close | (np.isnan(total) & np.isnan(made)))).sum()))
    return out[0], out[1]
