"""The risk of a file in a few numbers (Reiter 2005, section 4.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.result import Result

MARGIN = 1e-9
"""In log space the probability of one record in five comes out a hair above 0.2; this much is not "above"."""


@dataclass(frozen=True)
class Summary(Result):
    """`found`: right matches that count, the sum over targets of hit x (1 - p_absent): `expected_matches` where it is
    certain who is in the file, and fewer where it is not (for a file that nothing was done to, the sum of 1 / N_t).
    `over_threshold`: targets whose largest probability exceeds `threshold`, and `wrong`: how many of
    these an intruder who declares all of them gets wrong. `expected_matches`: right matches of
    an intruder who always picks (one of) the likeliest. `unique_matches`: targets whose single likeliest record is
    their own; `unique_declared`: targets with a single likeliest record. `false_match_rate`: share of the latter
    that are wrong (None where none is declared). `unevaluated`: targets whose risk is unknown because no record
    can be theirs; they lower no number. Numbers that need the truth are None where it is not known."""

    targets: int
    threshold: float
    over_threshold: int
    expected_matches: float | None
    unique_matches: int | None
    unique_declared: int
    false_match_rate: float | None
    claimed_matches: float
    unevaluated: int
    found: float | None
    wrong: float | None

    @property
    def found_share(self) -> float | None:
        """`found` as a share of targets."""
        return None if self.found is None else self.found / max(self.targets, 1)

    @property
    def frame(self) -> pl.DataFrame:
        """The same as a frame of one row."""
        return pl.DataFrame([self.to_dict()])

    def summary(self) -> Summary:
        """Itself."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        return asdict(self)

    def __str__(self) -> str:
        rows = [
            ("targets", f"{self.targets:,}"),
            (f"over threshold {self.threshold:g}", f"{self.over_threshold:,}"),
            ("expected matches", _shown(self.expected_matches, ",.1f")),
            ("unique matches", _shown(self.unique_matches, ",")),
            ("unique declared", f"{self.unique_declared:,}"),
            ("false match rate", _shown(self.false_match_rate, ".1%")),
        ]
        if self.unevaluated:
            rows.append(("risk unknown", f"{self.unevaluated:,}"))
        left, right = max(len(a) for a, _ in rows), max(len(b) for _, b in rows)
        return "\n".join(f"{a:<{left}}  {b:>{right}}" for a, b in rows)


def _shown(value: float | None, form: str) -> str:
    return "unknown" if value is None else format(value, form)


def summarise(units: pl.DataFrame, threshold: float = 0.2) -> Summary:
    """The file's risk from the table of targets."""
    if fraction(threshold, "threshold") == 0:
        raise InputError("threshold is a probability above 0.")
    over = int((units["p_max"] > threshold * (1 + MARGIN)).sum())
    unique = units["n_max"] == 1
    declared = int(unique.sum())
    bad = int(units["status"].is_in(["contradiction"]).sum())
    claimed = float(units["p_max"].sum())
    if units["hit"].null_count():
        return Summary(units.height, threshold, over, None, None, declared, None, claimed, bad, None, None)
    right = units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)
    expected = float(right.sum())
    found = float((right * (1 - units["p_absent"])).sum())
    wrong = over - float(right.filter(units["p_max"] > threshold * (1 + MARGIN)).sum())
    matches = int((unique & units["hit"]).sum())
    rate = None if declared == 0 else 1 - matches / declared
    return Summary(units.height, threshold, over, expected, matches, declared, rate, claimed, bad, found, wrong)
