"""The file in a few numbers: what guesses lose, what they would lose without the release, and the differences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.learning.attributes.said import WORDS
from confide.core.result import Result
from confide.core.visible import visible
from confide.frames.columns import F64

if TYPE_CHECKING:
    from confide.attack.learning.attributes.result import Guess


SLACK = 1e-3
"""How much more, relatively, relations lose before it is said."""
ALONE = ["relations alone", "no candidate", "contradiction"]
"""Statuses of people who meet no record that can be theirs."""
SILENT = {
    "not released": "the release holds no value of it",
    "synthetic": "records say nothing of their owners",
    "says nothing": "records say nothing of their owners",
}
"""Why nobody's record speaks."""


@dataclass(frozen=True)
class LearntSummary(Result):
    """Mean losses of `people` with a truth: `loss` of the guesses, `expected` by the intruder's own account (`z`: how
    far the two are apart, in standard errors), and of the baselines `margin`, `relations` and `without_person`.

    `release_adds` is relations - loss, `taking_part_adds` is without_person - loss, both as sums over people, gains
    (`..._gained`) and losses (`..._lost`) apart: one misled guess does not undo another person's harm. `better`:
    people for whom the release lowers the loss. Left out: `missing` (own value missing), `no_truth`; `alone`: people
    who meet no record, guessed by relations alone.
    """

    variable: str
    how: str
    said: str
    people: float
    loss: float | None
    expected: float | None
    z: float | None
    margin: float | None
    relations: float | None
    without_person: float | None
    release_gained: float
    release_lost: float
    taking_part_gained: float
    taking_part_lost: float
    better: float
    missing: int
    no_truth: int
    alone: int
    without: str
    weighted: bool = False

    @property
    def release_adds(self) -> float:
        """What the release adds to what relations teach, summed over people."""
        return self.release_gained - self.release_lost

    @property
    def taking_part_adds(self) -> float:
        """What people's own records add, summed over people."""
        return self.taking_part_gained - self.taking_part_lost

    @property
    def frame(self) -> pl.DataFrame:
        """The same as a frame of one row."""
        return pl.DataFrame([self.to_dict()])

    def summary(self) -> LearntSummary:
        """Itself."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        return {**asdict(self), "release_adds": self.release_adds, "taking_part_adds": self.taking_part_adds}

    def __str__(self) -> str:
        weighed = ", by survey weight" if self.weighted else ""
        lines = [
            f"What is learnt of {visible(self.variable)}, {self.people:,.0f} people{weighed}; {self.said}",
            f"{visible(self.variable)} is {WORDS[self.how]}",
            "",
            "mean loss",
            _row("of the guess", self.loss, self._expected()),
            _row("by the margin alone", self.margin),
            _row("by published relations", self.relations, "the person's own value left out"),
            _row("without the own record", self.without_person, self.without.partition(":")[0]),
            "sums over people          gains         losses",
            _sums("the release adds", self.release_gained, self.release_lost, "relations less guess"),
            _sums("taking part adds", self.taking_part_gained, self.taking_part_lost, "own record out less in"),
        ]
        if self.people:
            lines.append(f"the release helps the guess of {self.better:,.0f} people ({self.better / self.people:.1%})")
        for count, words in (
            (self.missing, "own value missing: left out"),
            (self.no_truth, "no true value known: left out"),
            (self.alone, f"{SILENT.get(self.how, 'meet no record')}: guessed by relations alone"),
        ):
            if count:
                lines.append(f"{count:,} people, {words}")
        if self.relations is not None and self.margin is not None and self.relations > self.margin * (1 + SLACK):
            lines.append(
                "relations lose more than the margin: what is known hardly tells it, and what the release adds"
            )
            lines.append("is put too high by the difference; compare with the margin")
        if ":" in self.without:
            lines.append(f"without the own record, {self.without}")
        return "\n".join(lines)

    def _expected(self) -> str:
        if self.expected is None or self.z is None:
            return ""
        far = " (claims too much)" if self.z > 3 else " (claims too little)" if self.z < -3 else ""
        return f"expected by the intruder {_number(self.expected)}, z {self.z:.1f}{far}"


def _number(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.4f}" if abs(value) < 100 else f"{value:,.0f}"


def _row(name: str, value: float | None, note: str = "") -> str:
    return f"  {name:<24}{_number(value):>16}  {note}".rstrip()


def _sums(name: str, gained: float, lost: float, note: str) -> str:
    return f"  {name:<18}{_number(gained):>13}  {_number(lost):>13}  {note}"


def summarise_guess(guess: Guess, weights: F64 | None) -> LearntSummary:
    """From one row per person."""
    f = guess.frame
    loss, expected, margin, relations, without = (
        f[n].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for n in ("loss", "expected_loss", "loss_margin", "loss_relations", "loss_without_person")
    )
    w = np.ones(len(loss)) if weights is None else weights
    there = ~np.isnan(loss)
    adds, own = (np.where(there, w * (other - loss), 0.0) for other in (relations, without))
    adds, own = np.nan_to_num(adds), np.nan_to_num(own)
    status = f["status"]
    return LearntSummary(
        guess.variable, guess.how, guess.loss.words, float(w[there].sum()), _mean(loss, w), _mean(expected, w, there),
        _far(loss, expected, w), _mean(margin, w, there), _mean(relations, w, there), _mean(without, w, there),
        *_apart(adds), *_apart(own), float(w[there & (adds > 0)].sum()),
        int((status == "own value missing").sum()), int((status == "no truth").sum()),
        int(status.is_in(ALONE).sum()),
        guess.without, weights is not None,
    )  # fmt: skip


def _mean(values: F64, w: F64, there: np.ndarray | None = None) -> float | None:
    mine = ~np.isnan(values) if there is None else there & ~np.isnan(values)
    return float(np.average(values[mine], weights=w[mine])) if mine.any() else None


def _apart(values: F64) -> tuple[float, float]:
    return float(values[values > 0].sum()), abs(float(values[values < 0].sum()))


def _far(loss: F64, expected: F64, w: F64) -> float | None:
    """Mean of loss less expected loss, in standard errors; people count as independent."""
    off = (loss - expected) * w
    off = off[~np.isnan(off)]
    error = float(np.std(off)) * np.sqrt(len(off)) if len(off) > 1 else 0.0
    return float(off.sum() / error) if error > 0 else None
