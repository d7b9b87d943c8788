"""The risk of a file in a few numbers (Reiter 2005, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from confide.attack.results.units import ALIKE, added_up, found_matches, many_targets, right_matches
from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.shares import percent

MARGIN = 1e-9
"""In log space the probability of one record in five comes out a hair above 0.2; this much is not "above"."""
WEIGHED = "each right match counts 1 - p_absent"
ABSENT = "{:,} of the targets are not in the release and count 0"
PRESENT = "if known to be in the file; found allows for not knowing"
TIES = "altered values break ties: may rise with protection"


@dataclass(frozen=True)
class Summary(Result):
    """`found`: right matches that count. Where all targets are in the release, the sum of hit / n_max x (1 - p_absent):
    `expected_matches` where that is certain, and fewer where the intruder does not know it (for a file that nothing was
    done to, the sum of 1 / N_t). Where absent people are among the targets, they count 0, and `found` is
    `expected_matches`.
    `over_threshold`: targets whose largest probability exceeds `threshold`, and `wrong`: how many of
    these an intruder who declares all of them gets wrong. `expected_matches`: right matches of
    an intruder who always picks (one of) the likeliest. `unique_matches`: targets whose single likeliest record is
    their own; `unique_declared`: targets with a single likeliest record. `false_match_rate`: share of the latter
    that are wrong (None where none is declared); `unique_wrong`: how many of these wrong ones are of people who are in
    the release, which takes values that were altered, or known wrongly. `unevaluated`: targets whose risk is unknown
    because no record can be theirs: they add nothing to the other numbers, and where all are, these are None.
    `p_absent`: the mean probability of not being in the file;
    `released`: targets who are in it. Numbers that need the truth are None where it is not known."""

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
    p_absent: float = 0.0
    released: int | None = None
    unique_wrong: int | None = None

    @property
    def given_presence(self) -> bool:
        """Whether all targets are in the file, which the intruder does not know: then `expected_matches` holds for
        somebody who does know, and `found` allows for it."""
        return self.p_absent > 0 and self.released == self.targets

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
        shown = [
            ("targets", f"{self.targets:,}", "", ""),
            ("found", *self._counted(self.found, ",.1f"), self._weighed()),
            ("claimed", *self._counted(self.claimed_matches, ",.1f"), ""),
            *self._absence(),
            (f"declared above {self.threshold:g}", *self._counted(self.over_threshold, ","), self._wrong()),
            ("expected matches", *self._counted(self.expected_matches, ",.1f"), PRESENT * self.given_presence),
            ("unique matches", *self._counted(self.unique_matches, ","), ""),
            ("unique declared", *self._counted(self.unique_declared, ","), TIES * bool(self.unique_wrong)),
            self._false(),
        ]
        if self.unevaluated:
            shown.append(("risk unknown", *self._counted(self.unevaluated, ","), ""))
        return aligned(shown)

    def _counted(self, value: float | None, form: str) -> tuple[str, str]:
        """A number and its share of targets."""
        if value is None:
            return "unknown", ""
        return format(value, form), f"({percent(value, self.targets)})"

    def _weighed(self) -> str:
        """How membership enters `found`; nothing where it is certain, or the truth is not known."""
        if not self.p_absent or self.released is None:
            return ""
        return WEIGHED if self.given_presence else ABSENT.format(self.targets - self.released)

    def _absence(self) -> list[tuple[str, str, str, str]]:
        if not self.p_absent:
            return []
        return [("p_absent", "", f"({percent(self.p_absent, 1)})", "mean probability that a target is not in the file")]

    def _false(self) -> tuple[str, str, str, str]:
        rate = self.false_match_rate
        if rate is None:
            return "false match rate", "unknown", "", ""
        return "false match rate", "", f"({percent(rate, 1)})", "of the unique declared"

    def _wrong(self) -> str:
        if self.wrong is None or not self.over_threshold:
            return ""
        there = ", all being in the file" if self.given_presence else ""
        return f"of whom wrong {abs(self.wrong):,.1f} ({percent(self.wrong, self.over_threshold)}){there}"


def aligned(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Rows of a name, a number, a share and a note."""
    name, number, share = (max(len(r[k]) for r in rows) for k in range(3))
    return "\n".join(f"{a:<{name}}  {b:>{number}}  {c:>{share}}  {d}".rstrip() for a, b, c, d in rows)


def summarise(units: pl.DataFrame, threshold: float = 0.2) -> Summary:
    """The file's risk from the table of targets."""
    if fraction(threshold, "threshold") == 0:
        raise InputError("threshold is a probability above 0.")
    over = units["p_max"] > threshold * (1 + MARGIN)
    unique = units["n_max"] == 1
    n, declared, n_over = (many_targets(units, which) for which in (None, unique, over))
    bad = many_targets(units, units["status"].is_in(["contradiction"]))
    claimed, absent = added_up(units, units["p_max"]), _mean(units, units["p_absent"])
    if units["hit"].null_count() or (bad and bad == n):
        return Summary(n, threshold, n_over, None, None, declared, None, claimed, bad, None, None, absent)
    right = right_matches(units)
    matches = many_targets(units, unique & units["hit"])
    return Summary(
        n, threshold, n_over, added_up(units, right), matches, declared,
        None if declared == 0 else 1 - matches / declared, claimed, bad, added_up(units, found_matches(units)),
        n_over - added_up(units.filter(over), right.filter(over)), absent,
        many_targets(units, units["p_true"].is_not_null()),
        many_targets(units, unique & ~units["hit"] & units["p_true"].is_not_null()),
    )  # fmt: skip


def _mean(units: pl.DataFrame, column: pl.Series) -> float:
    there = many_targets(units, column.is_not_null())
    if not there:
        return 0.0
    found = column.mean() if ALIKE not in units.columns else added_up(units, column) / there
    return float(found) if isinstance(found, (int, float)) else 0.0
