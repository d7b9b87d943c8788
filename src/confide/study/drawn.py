"""The very file: what intruders find in one draw, and what analysts lose by it, beside the means over draws.

A study's numbers are means over repeats. The file that goes out is one draw, which may be worse than the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.core.result import Result
from confide.measure.utility.measure import Measure
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.study.booked import booked_levels
from confide.study.evaluate import Evaluated, judge
from confide.study.learnt_tables import learnt_risks
from confide.study.levels import every
from confide.study.result import StudyResult
from confide.study.statement.learns import Learns
from confide.study.statement.rule import Rule
from confide.study.tradeoff.asked import checked_floors, checked_limits
from confide.study.tradeoff.question import amount, number
from confide.study.tradeoff.risk_names import about_file, about_learning

SHOWN = ("found", "found_share", "claimed_matches", "over_threshold", "wrong")
FRAME = {
    "measure": pl.String, "kind": pl.String, "intruder": pl.String, "level": pl.String, "value": pl.Float64,
    "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Result):
    """What was found in one file, and what is lost by it.

    `frame`: measure, kind ("risk" or "utility"), intruder (null for utility and for risks of the file),
    level (the one that is right most often in this file),
    value (of this file), and of the study that the plan was chosen by: mean, low, high (null where there is none).
    `broken`: limits of the study's rule that this very file does not keep, in sentences.
    """

    frame: pl.DataFrame
    broken: tuple[str, ...] = ()

    def summary(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for a record."""
        return {"numbers": self.frame.to_dicts(), "broken": list(self.broken)}

    def __str__(self) -> str:
        utility = self.frame.filter((pl.col("kind") == "utility") | pl.col("intruder").is_null())
        risks = self.frame.filter((pl.col("kind") == "risk") & pl.col("intruder").is_not_null())
        lines = [_risk_line(rows.rows(named=True)) for _, rows in risks.group_by("intruder", maintain_order=True)]
        lines += [f"{r['measure']} {_value(r)}" for r in utility.iter_rows(named=True)]
        return "\n".join(["In this very file:", *(f"  {line}" for line in (*lines, *self.broken))])


def _risk_line(rows: Sequence[Mapping[str, Any]]) -> str:
    """What one intruder finds, claims, declares and gets wrong."""
    by = {r["measure"]: r for r in rows}
    who = f'"{rows[0]["intruder"]}"'
    if by["found"]["value"] is None:
        return f"{who}: not known"
    claimed, declared, wrong = (number(by[m]["value"]) for m in ("claimed_matches", "over_threshold", "wrong"))
    share = amount("found_share", by["found_share"]["value"])
    learnt = "".join(f"; {m} {_value(r)}" for m, r in by.items() if about_learning(m))
    return (
        f"{who}, {rows[0]['level']}: found {_value(by['found'])}, {share} of targets; it claims {claimed} and declares "
        f"{declared}, of whom {wrong} wrong{learnt}"
    )


def _value(row: Mapping[str, Any]) -> str:
    """A number of this file, and beside it those over draws."""

    def number(x: float) -> str:
        return amount(row["measure"], x)

    value = "not known" if row["value"] is None else number(row["value"])
    if row["mean"] is None:
        return value
    spread = row["low"] is not None and row["low"] != row["high"]
    ends = f", {number(row['low'])} to {number(row['high'])}" if spread else ""
    return f"{value} (mean over draws {number(row['mean'])}{ends})"


def drawn(
    release: Release | Copies, intruders: Mapping[str, Intruder], measures: Sequence[Measure], *,
    threshold: float = 0.2, study: StudyResult | None = None, plan: str | None = None, threads: int | None = None,
) -> Drawn:  # fmt: skip
    """Attack and measure a release, each intruder at its strongest; beside it, what `study` found for `plan`.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
    >>> one = drawn(release, {"near": cf.Intruder(knows=["sex", "race"])}, [cf.Hellinger()])
    >>> one.frame["measure"].to_list()
    ['found', 'found_share', 'claimed_matches', 'over_threshold', 'wrong', 'hellinger']
    """
    learns, files = ((), ()) if study is None else (study.learns, study.file_risks)
    found = judge(release, intruders, measures, threshold, threads, ways=every, learns=learns, file_risks=files)
    means = {} if study is None or plan is None else _means(study, plan)
    levels = booked_levels([("", found)])
    rows: list[tuple[Any, ...]] = []
    for who, ways in found.met.items():
        level = levels["", who]
        learnt = learnt_risks(found, who, level)
        risks = dict.fromkeys(SHOWN) if level is None else ways[level].risks | learnt
        told = [*SHOWN, *(r for one in learns if one.variable not in intruders[who].knows for r in one.risks)]
        rows += [(m, "risk", who, level, risks.get(m), *means.get((m, who), (None,) * 3)) for m in told]
    rows += [(m, "risk", None, None, v, *means.get((m, None), (None,) * 3)) for m, v in found.file_risks.items()]
    rows += [(m, "utility", None, None, v, *means.get((m, None), (None,) * 3)) for m, v in found.utility.items()]
    frame = pl.DataFrame(rows, schema=FRAME, orient="row")
    rule = None if study is None else study.rule
    return Drawn(frame, () if rule is None else tuple(_broken(found, rule, measures, learns, intruders)))


def _means(study: StudyResult, plan: str) -> dict[tuple[str, str | None], tuple[Any, ...]]:
    if plan not in study.plans:
        raise InputError("The study has no plan of that name, so there is nothing to hold this file against.")
    rows = study.summary().filter(plan=plan).select("measure", "intruder", "mean", "low", "high")
    return {(m, who): ends for m, who, *ends in rows.iter_rows()}  # type: ignore[misc]


def _broken(
    found: Evaluated, rule: Rule, measures: Sequence[Measure], learns: Sequence[Learns],
    intruders: Mapping[str, Intruder],
) -> list[str]:  # fmt: skip
    """What of the rule this one file does not keep; who knows a variable cannot learn it."""
    levels = booked_levels([("", found)])
    of = {risk: one.variable for one in learns for risk in one.risks}
    out = []
    for risk, limit in checked_limits(rule.max_risk, measures, learnt=[*of, *found.file_risks]).items():
        if about_file(risk):
            out += _over(risk, found.file_risks[risk], limit, "")
            continue
        for who, ways in found.met.items():
            if of.get(risk) in intruders[who].knows:
                continue
            level = levels["", who]
            value = None if level is None else _risk(ways[level].risks | learnt_risks(found, who, level), risk)
            if rule.intruder in (None, who):
                out += _over(risk, value, limit, f' for "{who}"')
    for name, floor in checked_floors(rule.min_utility, measures).items():
        value, higher = found.utility[name], next(m for m in measures if m.name == name).direction == "higher"
        if value is None or (value < floor - 1e-12 if higher else value > floor + 1e-12):
            said = "is not known" if value is None else f"is {value:.4g}"
            out.append(f"Beyond the limit: {name} of this file {said}, where {floor:.4g} is asked.")
    return out


def _over(risk: str, value: float | None, limit: float, whose: str) -> list[str]:
    """That a risk is above its limit, or not known; nothing where it is within."""
    if value is not None and value <= limit * (1 + 1e-12):
        return []
    said = "is not known" if value is None else f"is {amount(risk, value)}, above {amount(risk, limit)}"
    return [f"Beyond the limit: {risk} of this file {said}{whose}."]


def _risk(risks: Mapping[str, float | None], name: str) -> float | None:
    """A risk, or one that counts people as a share of the targets."""
    if name in risks:
        return risks[name]
    count, targets = risks[name.removesuffix("_share")], risks["targets"]
    return None if count is None or not targets else count / targets
