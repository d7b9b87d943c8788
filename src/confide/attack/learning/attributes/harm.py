"""Harm by Lambert (1993): what right and wrong declarations cost the people who are declared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.loss_limits import Exceeds
from confide.core.checks import finite, fraction
from confide.core.errors import InputError
from confide.core.result import Result
from confide.frames.columns import F64

NAMES = ("right_identification", "wrong_identification", "right_attribution", "wrong_attribution")


@dataclass(frozen=True, eq=False)
class Harm(Result):
    """One row each for identifications, attributions and both: how many are `declared`, `right` and `wrong` of them,
    the `true_harm` and the `perceived_harm`, which takes the intruder's own probabilities."""

    frame: pl.DataFrame
    threshold: float

    def __repr__(self) -> str:
        lines = [f"Harm to those declared above {self.threshold:g}", ""]
        for r in self.frame.iter_rows(named=True):
            lines.append(
                f"{r['what']:<16}{r['declared']:>9,.0f} declared{r['right']:>11,.1f} right{r['wrong']:>11,.1f} wrong"
                f"   true harm {r['true_harm']:,.1f}   perceived {r['perceived_harm']:,.1f}"
            )
        return "\n".join(lines)


def harm(units: pl.DataFrame, frame: pl.DataFrame, loss: Loss, costs: tuple[float, ...], threshold: float) -> Harm:
    """Sums over declared targets, with the truth and with the intruder's own probabilities."""
    paid = [finite(c, f"harm: {name}") for name, c in zip(NAMES, costs, strict=True)]
    limit = fraction(threshold, "harm: threshold")
    if not loss.declares:
        raise InputError(
            "harm: a guess under this loss is neither right nor wrong; guess with the loss zero_one, Within(...) or "
            "Exceeds(...)."
        )
    if units["hit"].null_count():
        raise InputError("harm: it is not known which record is whose, so no declaration can be called right.")
    p = units["p_max"].to_numpy()
    declared = p > limit * (1 + 1e-9)
    right = (units["hit"].cast(pl.Float64) / units["n_max"].clip(lower_bound=1)).to_numpy()
    rows = [_row("identification", declared, right, p, paid[0], paid[1])]
    q, hit, says = _attributions(frame, loss)
    rows.append(_row("attribution", says & (q > limit * (1 + 1e-9)), hit, q, paid[2], paid[3]))
    both = ["both", *(a + b for a, b in zip(rows[0][1:], rows[1][1:], strict=True))]  # type: ignore[operator]
    names = ["what", "declared", "right", "wrong", "true_harm", "perceived_harm"]
    return Harm(pl.DataFrame([*rows, both], schema=names, orient="row"), limit)


def _attributions(frame: pl.DataFrame, loss: Loss) -> tuple[F64, F64, np.ndarray]:
    """The probability of being right by the intruder's own account, whether it is, and who is guessed at all."""
    expected, lost = (frame[n].cast(pl.Float64).fill_null(np.nan).to_numpy() for n in ("expected_loss", "loss"))
    says = ~np.isnan(lost)
    if isinstance(loss, Exceeds):
        said = frame["guess"].fill_null(False).to_numpy().astype(bool)
        q = (loss.cost - expected) / (loss.cost + loss.gain)
        return np.where(said, q, 0.0), np.where(lost < 0, 1.0, 0.0), says & said
    return np.nan_to_num(1 - expected), np.nan_to_num(1 - lost), says


def _row(what: str, declared: np.ndarray, right: F64, p: F64, good: float, bad: float) -> list[str | float]:
    hits = float(right[declared].sum())
    many = float(declared.sum())
    seen = float(p[declared].sum())
    return [what, many, hits, many - hits, good * hits + bad * (many - hits), good * seen + bad * (many - seen)]
