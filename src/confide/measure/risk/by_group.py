r"""Identification risk by group of people, so that protection is not paid for by a minority unnoticed.

The share found of a group of n people has Wilson's interval, at 95 percent (z = 1.96),

.. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n},

as if each person (or unit) were found or not by a draw of its own: what another file of such people, protected anew,
would show. It is a little too wide where several records are equally likely, so that each counts for a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.special import bdtrc

from confide.attack.results.grouped import Attacked, target_groups
from confide.attack.results.units import found_matches
from confide.core.result import Result
from confide.core.shares import percent
from confide.core.visible import visible
from confide.measure.risk.claims import claims_of
from confide.measure.risk.identification import MARGIN, summarise

Z = 1.959963984540054
LEVEL = 0.05
"""Chance that any group of a variable is named although its risk is that of the others."""
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "group": pl.String, "people": pl.Int64, "found": pl.Float64, "found_share": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "relative": pl.Float64, "chance": pl.Float64, "beyond": pl.Boolean,
    "claimed": pl.Float64, "z": pl.Float64, "over_threshold": pl.Int64, "over_share": pl.Float64,
    "unevaluated": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ByGroup(Result):
    """`frame`: one row per variable and group, and what is found in it.

    `people`: targets in the group; `found`: right matches that count, `found_share` of its people with the 95 percent
    interval `low` to `high`; `relative`: the share over that of the whole file. `chance`: how probable as many or more
    would be found in so many people, if the group's risk were that of all others (binomial; `found` rounded down, so
    that it errs to the large side); `beyond`: whether that is less than 5 percent divided by the number of groups.
    `claimed`, `z`: what the intruder claims of the group, and whether it is right about it, in standard errors.
    `over_threshold`, `over_share`: targets whose largest probability exceeds the `threshold`. `unevaluated`: targets
    whose risk is unknown; they add nothing to `found`. Where the truth is not known, `found` and what follows from it
    is null.
    """

    frame: pl.DataFrame
    found_share: float | None
    targets: int
    threshold: float

    @property
    def beyond(self) -> pl.DataFrame:
        """The groups whose risk is above that of the others by more than noise, the riskiest first."""
        return self.frame.filter(pl.col("beyond")).sort("found_share", descending=True, nulls_last=True)

    def summary(self) -> pl.DataFrame:
        """Group, people, the share found with its interval, relative."""
        return self.frame.select("variable", "group", "people", "found_share", "low", "high", "relative", "beyond")

    def __repr__(self) -> str:
        whole = "not known" if self.found_share is None else percent(self.found_share, 1)
        lines = [f"{self.targets:,} targets; found in the whole file: {whole}"]
        for (variable,), part in self.frame.group_by(["variable"], maintain_order=True):
            lines += ["", *_table(str(variable), part, self.threshold)]
        return "\n".join([*lines, "", *self._said()])

    def _said(self) -> Iterator[str]:
        if self.found_share is None:
            yield "The truth is not known, so nobody can say who is found: give link= to Release.adopt, or truth=."
            return
        for r in self.beyond.iter_rows(named=True):
            yield (
                f"Found more often than others, beyond noise: {visible(r['variable'])} {visible(r['group'])}, "
                f"{r['relative']:.2g} times the file's share."
            )
        if not self.beyond.height:
            yield "No group is found more often than the others by more than noise."
        wrong = self.frame.filter(pl.col("z").abs() > 3)
        for r in wrong.iter_rows(named=True):
            less = "more" if r["z"] > 0 else "less"
            yield (
                f"Of {visible(r['variable'])} {visible(r['group'])} {less} is true than claimed (z {r['z']:+.1f}): "
                "the intruder's model is wrong about this group."
            )


def _table(variable: str, part: pl.DataFrame, threshold: float) -> list[str]:
    rows = [(visible(variable), "people", "found", "share", "95% interval", "times", "claimed", f"> {threshold:g}")]
    for r in part.iter_rows(named=True):
        known = r["found_share"] is not None
        rows.append((
            visible(r["group"]), f"{r['people']:,}", f"{r['found']:,.1f}" if known else "?",
            percent(r["found_share"], 1) if known else "?",
            f"{percent(r['low'], 1)} to {percent(r['high'], 1)}" if known else "",
            "" if r["relative"] is None else f"{r['relative']:.2f}{' *' * bool(r['beyond'])}",
            f"{r['claimed']:,.1f}", percent(r["over_share"], 1),
        ))  # fmt: skip
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(x.ljust(w) if k in (0, 5) else x.rjust(w) for k, (x, w) in enumerate(zip(r, widths, strict=True)))
        .rstrip() for r in rows
    ]  # fmt: skip


def risk_by_group(attack: Attacked, by: str | Sequence[str], threshold: float = 0.2) -> ByGroup:
    """The risk of an attack by groups of targets."""
    whole = summarise(attack.units, threshold)
    units = attack.units.with_columns(
        found=found_matches(attack.units), over=pl.col("p_max") > threshold * (1 + MARGIN)
    )
    rows = []
    for groups in target_groups(attack, by):
        each = [(name, units.filter(pl.Series(mine))) for name, mine in groups]
        rows += [(groups.variable, *_row(name, part, units, len(each))) for name, part in each]
    return ByGroup(pl.DataFrame(rows, schema=SCHEMA, orient="row"), whole.found_share, units.height, threshold)


def _row(name: str, part: pl.DataFrame, units: pl.DataFrame, groups: int) -> tuple[Any, ...]:
    over, bad = int(part["over"].sum()), int((part["status"] == "contradiction").sum())
    n, claimed = part.height, float(part["p_max"].sum())
    rest = (over, over / n, bad)
    if units["hit"].null_count():
        return name, n, None, None, None, None, None, None, None, claimed, None, *rest
    found, every = float(part["found"].sum()), float(units["found"].sum())
    low, high = wilson(found / n, _sizes(part))
    relative = found / n / (every / units.height) if every else None
    others = units.height - n
    chance = _chance(found, n, (every - found) / others) if others else None
    claims = claims_of(part)
    z = None if claims is None else claims.z
    beyond = chance is not None and chance < LEVEL / groups
    return name, n, found, found / n, low, high, relative, chance, beyond, claimed, z, *rest


def _sizes(part: pl.DataFrame) -> int:
    """People who stand for themselves: targets, or units where several targets are of one."""
    return int(part["unit"].n_unique()) if "unit" in part.columns else part.height


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 percent interval of a share of n people.

    >>> [round(x, 4) for x in wilson(0.1, 50)]
    [0.0435, 0.2136]
    """
    share = min(max(share, 0.0), 1.0)
    middle, reach = share + Z**2 / (2 * n), Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    low, high = (middle - reach) / (1 + Z**2 / n), (middle + reach) / (1 + Z**2 / n)
    return (0.0 if share == 0 else float(low)), (1.0 if share == 1 else float(high))


def _chance(found: float, n: int, share: float) -> float:
    """How probable as many or more are found among n people, each with this probability."""
    return float(bdtrc(np.floor(found + 1e-9) - 1, n, min(max(share, 0.0), 1.0)))
