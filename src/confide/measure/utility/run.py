"""Several measures of one release, in a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.measure.utility.measure import Found, Measure, Stated
from confide.measure.utility.pair import Pair, Wanted
from confide.measure.utility.registry import as_measure
from confide.measure.utility.scanned import Margins
from confide.measure.utility.scanned_joint import of_scan
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.protect.scanned.release import ScannedRelease

DEFAULT = ("means", "variances", "total_variation", "hellinger")


def utility(
    release: Release | Copies | ScannedRelease,
    measures: Measure | str | Mapping[str, Any] | Iterable[Any] = DEFAULT, *,
    weight: str | None = None, weighted: bool = True, strict: bool = True, items: Wanted | None = None,
) -> pl.DataFrame:  # fmt: skip
    """What analysts lose by a release: one row per measure.

    `measures`: such as ``[Means("age"), RegressionOverlap("log(hh_income) ~ age")]``, or short names ("means"), or
    tables with the name under "measure" (as in study files). `weight` names the survey weight; None: the plan's own, if
    it has one; ``weighted=False``: no weights. Of `Copies`, estimates are averaged over copies before they are
    compared, regressions combined (see `combine`), other measures averaged.

    The original fixes what is compared. `items`: the variables, where a measure names none (or a table of their kinds);
    None: all of the original but the plan's identifiers, weight and unit. What the release has lost, because it is not
    released or has become one value, counts at the measure's worst value. Recoded variables count by what an analyst
    can do with them: intervals by their middles, merged categories shared out.

    Columns: measure, value, direction ("higher" or "lower" is better), best (the value of identical files), lost (what
    the release no longer allows), detail. With ``strict=False`` a measure that cannot be computed has no value and its
    detail says why; else that is an error.

    Of the release of a scan, measures are computed in passes over both files: of one variable at a time from distinct
    values and their counts, of pairs from joint ones, covariances, correlations and eigenvalues from sums of products,
    regressions from the different rows of their variables. Others are refused.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"], weight="weight").protect(heads, seed=1)
    >>> cf.utility(release, ["means", "hellinger"]).select("measure", "direction", "best").rows()
    [('means', 'lower', 0.0), ('hellinger', 'lower', 0.0)]
    """
    for name, flag in (("weighted", weighted), ("strict", strict)):
        if not isinstance(flag, bool):
            raise InputError(f"utility(): {name} is true or false.")
    asked = asked_measures(measures)
    if isinstance(release, ScannedRelease):
        chosen = (weight or release.plan.weight) if weighted else None
        margins = Margins(release, chosen, items)
        return _table([(m, _of_scan(m, margins, strict)) for m in asked])
    releases = releases_of(release)
    pairs = pairs_of(releases, weight, weighted, None if items is None else checked_items(items, releases[0]))
    return _table([(m, measured(m, pairs, strict)) for m in asked])


def _table(found: Sequence[tuple[Measure, Found | str]]) -> pl.DataFrame:
    rows = [_row(measure, value) for measure, value in found]
    schema = {"measure": pl.String, "value": pl.Float64, "direction": pl.String, "best": pl.Float64, "lost": pl.String,
              "detail": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of_scan(measure: Measure, margins: Margins, strict: bool) -> Found | str:
    try:
        return of_scan(measure, margins)
    except InputError as e:
        if strict:
            raise
        return str(e)


def releases_of(release: Release | Copies) -> list[Release]:
    """One release or the copies of one, as a list; nothing else can be measured."""
    releases = list(release) if isinstance(release, Copies) else [release]
    if not all(isinstance(r, Release) for r in releases):
        raise InputError(
            f"utility() measures a Release or Copies, not {type(release).__name__}. For a file made elsewhere: "
            "utility(Release.adopt(original, released), ...)."
        )
    return releases


def asked_measures(measures: Measure | str | Mapping[str, Any] | Iterable[Any]) -> list[Measure]:
    """One measure or several, by name, as tables or as they are; each name once."""
    one = isinstance(measures, (str, Mapping, Measure))
    listed: list[Any] = list(measures) if isinstance(measures, Iterable) and not one else [measures]
    asked = [as_measure(m) for m in listed]
    twice = [name for name, count in Counter(m.name for m in asked).items() if count > 1]
    if twice:
        raise InputError(f'Two measures are named "{twice[0]}"; give them different labels, such as label="by race".')
    return asked


def checked_items(items: Wanted, release: Release) -> Wanted:
    """Names of variables of the original, or a table of their kinds."""
    where = "utility(): items"
    if not isinstance(items, Mapping):
        items = names_of(items, where)
    elif not set(items.values()) <= {None, "numeric", "categorical"}:
        raise InputError(f'{where} leads from names of variables to "numeric", "categorical" or None.')
    columns = release.original.columns
    raise_all(
        f'{where}: there is no column "{v}" in the original.{did_you_mean(v, columns)}'
        for v in items
        if v not in columns
    )
    return items


def _row(measure: Measure, found: Found | str) -> tuple[str, float | None, str, float, str, str]:
    value, lost, detail = (None, "", found) if isinstance(found, str) else (found.value, found.lost, found.detail)
    return measure.name, value, measure.direction, float(measure.best), ", ".join(lost), detail


def pairs_of(
    releases: Sequence[Release], weight: str | None = None, weighted: bool = True, items: Wanted | None = None
) -> list[Pair]:
    """The original beside each copy; the weight is the one named, else that of the plan."""
    plan = releases[0].plan
    chosen = (weight or (plan.weight if plan is not None else None)) if weighted else None
    first = Pair.of_release(releases[0], chosen, items=items)
    return [first, *(Pair.of_release(r, chosen, beside=first) for r in releases[1:])]


def measured(measure: Measure, pairs: Sequence[Pair], strict: bool) -> Found | str:
    """A measure's value, or why there is none; a measure of somebody else's is called copy by copy, and averaged."""
    try:
        if isinstance(measure, Stated):
            return measure.of(pairs)
        return Found(float(np.mean([_foreign(measure, p) for p in pairs])))
    except InputError as e:
        if strict:
            raise
        return str(e)


def _foreign(measure: Measure, pair: Pair) -> float:
    """The value of somebody else's measure. What it raises is told by its kind alone: its text may hold data."""
    try:
        return float(measure(pair.frame(0), pair.frame(1), weight=pair.weight, link=pair.link))
    except InputError:
        raise
    except Exception as e:
        raise InputError(f'Measure "{measure.name}" failed with {type(e).__name__}.') from e
