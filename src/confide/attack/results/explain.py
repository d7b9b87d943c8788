"""Why a record looks like the target: each variable's share in the odds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import logsumexp

from confide.attack.results.again import candidates
from confide.attack.results.coalitions import known_variables
from confide.attack.results.explain_words import sentences
from confide.attack.results.nats import Nats, cheap, nats_of
from confide.attack.results.question import Question
from confide.attack.results.remedies import ALONE, REMEDIES, alone, left_out, remedies
from confide.core.errors import InputError
from confide.core.result import Result

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """`frame`: row, p, part, factor. A factor of 3 makes the record three times as likely as the average candidate.

    Parts: each known uncertain variable (C), "unavailable" (B, with the categories it is bound up with), "others"
    (A: above 1 for a record whose released values are rare). What is certain is in `certain`: it decides who is a
    candidate at all.

    `nats` has the contribution of each known variable on one scale, certain or not (see `Nats`).

    `alone`, `left_out` and `remedies` are computed when they are first asked for: of a person who is the only
    candidate, or whose largest probability exceeds the `limit`. For all others they are empty.
    """

    frame: pl.DataFrame
    certain: tuple[str, ...]
    candidates: int
    own_row: int | None
    attack: Attack | None = None
    target: int = 0
    limit: float = 0.2

    @cached_property
    def _question(self) -> Question | None:
        there = self.attack is not None and self.candidates > 0
        return Question.of(self.attack, self.target) if there and self.attack is not None else None

    @cached_property
    def alone(self) -> pl.DataFrame:
        """The smallest sets of known variables that make it so, one row per set: variables, size, alike, p_max.

        Where what is certain leaves one candidate: the sets by which it does (minimal unique sets). Else the sets whose
        evidence alone, all else left out, keeps the largest probability above the limit. `alike`: records that agree
        on what is certain of the set; `p_max`: the largest probability by the set alone.
        """
        return alone(self._question, self.limit) if self._question else pl.DataFrame(schema=ALONE)

    @cached_property
    def left_out(self) -> pl.DataFrame:
        """The smallest sets of known variables to leave out so that it ends, one row per set, as in `alone`.

        Where what is certain leaves one candidate: so that there are two or more, the complete answer, since such a set
        has a variable of every set of `alone`. Else: so that the largest probability by the others alone comes to the
        limit. `alike` and `p_max`: by the variables that are left; `p_max` is that of an attack on the very release
        without the set, so it may exceed the limit though nobody is alone, and null where there was no patience for it.
        """
        if self._question is None or self.attack is None:
            return pl.DataFrame(schema=ALONE)
        return left_out(Question.of(self.attack, self.target), self.limit)  # with patience of its own

    @cached_property
    def remedies(self) -> pl.DataFrame:
        """Which coarsening would bring the person to the limit: variables, coarsening, steps, p_max, alike.

        For each known variable the first of ever coarser forms that suffices, computed on the very release: all other
        values stay as drawn. Where none does, for each pair of variables. `steps` holds the steps for the plan, None
        for a variable that is left out.
        """
        return remedies(self._question, self.limit) if self._question else pl.DataFrame(schema=REMEDIES)

    @cached_property
    def nats(self) -> Nats:
        """How much each known variable does to single the person out, on one scale: see `Nats`. It has a picture.

        >>> import confide as cf
        >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
        >>> nats = cf.Intruder(knows=["sex", "race", "age"]).attack(release).explain(17).nats
        >>> abs(nats.frame["nats"].sum() - nats.total) < 1e-9
        True
        """
        if self.attack is None:
            raise InputError("Contributions are computed from the attack; ask attack.explain(target).nats.")
        return nats_of(self.attack, self.target)

    def summary(self) -> pl.DataFrame:
        """One row per record, one column per part."""
        return self.frame.pivot("part", index=["row", "p"], values="factor")

    def __repr__(self) -> str:
        lines = [
            f"{self.candidates:,} candidates agree on: {', '.join(self.certain) or 'nothing (no variable is certain)'}"
        ]
        for (row, p), part in self.frame.group_by(["row", "p"], maintain_order=True):
            mine = " (its own)" if row == self.own_row else ""
            lines.append(f"row {row}{mine}: p = {p:.4g}")
            lines += [f"    {r['part']:<28} x {r['factor']:.3g}" for r in part.iter_rows(named=True)]
        lines += self._nats_lines()
        if self._question:
            lines += sentences(self._question, self.alone, self.left_out, self.remedies, self.limit)
        return "\n".join(lines)

    def _nats_lines(self) -> list[str]:
        """Contributions, where they are finite and take no long computation."""
        if self._question is None or self.attack is None or not known_variables(self.attack):
            return []
        if not cheap(self.attack, self.target):
            return ["Contributions of each variable in nats take longer: explain(...).nats has them."]
        try:
            return self.nats.lines()
        except InputError:  # not finite, as for a naive intruder's numbers
            return []


def explain(attack: Attack, target: int, top: int, limit: float) -> Explanation:
    """Factors of the likeliest records, and of the target's own."""
    found = candidates(attack, target)
    rows, p, own = found.rows, found.p, int(attack.own_rows[target])
    order = np.lexsort((rows, -p))
    shown = list(order[: max(top, 1)])
    mine = np.flatnonzero(rows == own)
    if len(mine) and mine[0] not in shown:
        shown.append(mine[0])
    names = {"others": "others (rare values)", "unavailable": "unavailable"}
    records = []
    for j in shown:
        for part, logs in found.parts.items():
            average = logsumexp(logs) - np.log(len(logs)) if np.isfinite(logs).any() else 0.0
            records.append({
                "row": int(rows[j]), "p": float(p[j]), "part": names.get(part, part),
                "factor": float(np.exp(logs[j] - average)),
            })  # fmt: skip
    schema = {"row": pl.Int64, "p": pl.Float64, "part": pl.String, "factor": pl.Float64}
    certain = tuple(dict.fromkeys(c.name for c in found.scene.knowledge.certain))
    return Explanation(
        pl.DataFrame(records, schema=schema), certain, len(rows), own if own >= 0 else None, attack, target, limit
    )
