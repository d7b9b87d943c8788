"""What an attack without a plan finds: one row per target, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.learning.adopted.candidates import Candidates, counted, stretches
from confide.attack.learning.adopted.people import People
from confide.attack.learning.adopted.settled import Settled
from confide.attack.learning.adopted.words import beneath, wrapped
from confide.attack.targets import UNKNOWN
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.upward import upward
from confide.frames.columns import I64
from confide.frames.distinct import Distinct

if TYPE_CHECKING:
    from confide.attack.learning.adopted.guessed import NaiveGuess
    from confide.measure.risk.by_group import ByGroup
    from confide.measure.risk.identification import Summary
    from confide.protect.release import Release

NO_PLAN = (
    "Released values are taken as true, and all candidates as equally likely. Somebody who knows how the file was made "
    "may find more: state the plan where you can."
)


@dataclass(frozen=True, eq=False)
class Met:
    """People and their candidates. `found`: of people of whom different things are known; `of`: each person's place
    among them; `count`: candidates of each of them."""

    people: People
    found: Candidates
    of: I64
    count: I64


def meet(settled: Settled, people: People, threads: int | None) -> Met:
    """The candidates of people; those of whom the same is known are looked for once."""
    every = settled.compared.targets(people.known)
    distinct = Distinct.rows([every[:, k] for k in range(every.shape[1])], len(every))
    found = settled.candidates(np.ascontiguousarray(every[distinct.first]), threads)
    return Met(people, found, distinct.of, counted(found, threads))


def held(met: Met) -> I64:
    """How many candidates each person has if its own row is among them, else 0; shape (n,)."""
    n = met.count[met.of]
    return np.asarray(np.where(met.found.holds(met.of, np.maximum(met.people.own, -1)), n, 0))


def make_units(met: Met) -> pl.DataFrame:
    """The table of targets, with the columns of every attack."""
    n, own = met.count[met.of], met.people.own
    mine = held(met)
    hit, found = mine > 0, n > 0
    p = np.where(found, 1.0 / np.maximum(n, 1), 0.0)
    status = np.where(found, np.where(own == -1, "not released", "ok"), "no candidate")
    frame = pl.DataFrame({
        "target": np.arange(len(n)), "candidates": n, "p_true": np.where(hit, p, 0.0), "p_max": p, "n_max": n,
        "hit": hit, "as_likely": np.maximum(mine - 1, 0), "rank": np.ones(len(n), dtype=np.int64),
        "p_absent": np.zeros(len(n)), "status": status,
    })  # fmt: skip
    released, known, ranked = pl.Series(own >= 0), pl.Series(own != UNKNOWN), pl.Series(hit)
    return frame.with_columns(
        p_true=pl.when(released).then(pl.col("p_true")), hit=pl.when(known).then(pl.col("hit")),
        as_likely=pl.when(ranked).then(pl.col("as_likely")), rank=pl.when(ranked).then(pl.col("rank")),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Matches(Result):
    """Who could be whom, for an intruder who has no plan: one row per target.

    `units` (also `frame`): target, candidates, p_true, p_max, n_max, hit, as_likely, rank, p_absent, status, as every
    attack has them; all candidates of a target are equally likely. Where no link is known, p_true, hit and rank are
    null: identity has no truth, and `guess` says what is learnt.

    >>> import confide as cf, polars as pl
    >>> file = pl.DataFrame({"age": [31, 42, 57], "sex": ["f", "m", "f"]})
    >>> attack = cf.Nearest(["age", "sex"]).attack(cf.Release.adopt(file, file, link=[0, 1, 2]))
    >>> attack.summary().found
    3.0
    """

    units: pl.DataFrame
    settled: Settled
    met: Met
    threads: int | None = None

    @property
    def frame(self) -> pl.DataFrame:
        """One row per target."""
        return self.units

    def summary(self, threshold: float = 0.2) -> Summary:
        """The risk of the file, as of every attack; what needs the truth is unknown where there is no link."""
        found: Summary = upward("summarise")(self.units, threshold)
        return found

    @property
    def release(self) -> Release:
        """What is attacked."""
        return self.settled.release

    @property
    def given(self) -> tuple[pl.DataFrame | None, None, Sequence[Release]]:
        """The file of the targets, None for the default ones; nothing else can be given here."""
        return self.met.people.frame, None, ()

    @property
    def truth(self) -> I64:
        """The targets' rows of the original, -1 where there is none or it is not known."""
        return self.met.people.rows

    def by(self, variables: str | Sequence[str], threshold: float = 0.2) -> ByGroup:
        """The risk of groups of people, as `Attack.by` has it: found, claimed, over the threshold, with intervals.

        `variables`: by which groups are made, known to the intruder or not; one table each.

        >>> import confide as cf
        >>> heads = cf.demo("heads").head(500)
        >>> release = cf.Release.adopt(heads, heads, link=range(500))
        >>> cf.Nearest(["sex", "age"]).attack(release).by("sex").frame["people"].to_list()
        [250, 250]
        """
        found: ByGroup = upward("risk_by_group")(self, variables, threshold)
        return found

    def posterior(self, target: int) -> pl.DataFrame:
        """The candidates of one target: row (of the released file) and p.

        >>> import confide as cf
        >>> release = cf.Release.adopt({"age": [30, 41]}, {"age": [31, 29, 50]})
        >>> attack = cf.Radius("age", share=0.1, numeric="age").attack(release)
        >>> attack.posterior(0).rows()
        [(0, 0.5), (1, 0.5)]
        """
        n = self.units.height
        if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
            raise InputError(f"target is the position of one of the {n} targets, 0 to {n - 1}.")
        place = int(self.met.of[target])
        _, begins, ends = stretches(self.met.found, place, place + 1)
        parts = [self.met.found.tree.rows[a:b] for a, b in zip(begins, ends, strict=True)]
        rows = np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)
        return pl.DataFrame({"row": rows, "p": np.full(len(rows), 1.0 / max(len(rows), 1))})

    def guess(
        self, variable: str, loss: str | None = None, *, within: float | None = None, held_out: Any = None
    ) -> NaiveGuess:
        """What is learnt of a variable that the intruder does not know, by the released values of the candidates.

        `loss`: "zero_one" (the default of categories: right or wrong), "absolute" (the default of numbers), "squared",
        or "within", right when the guess is within a share of the truth, `within`. `held_out`: people of the same
        population who are not in the file: what is right for them is no disclosure.

        >>> import confide as cf
        >>> heads = cf.demo("heads").head(2_000)
        >>> attack = cf.Nearest(["sex", "age", "hh_income"]).attack(cf.Release.adopt(heads, heads))
        >>> attack.guess("tenure").frame.columns[:4]
        ['target', 'guess', 'loss', 'expected_loss']
        """
        from confide.attack.learning.adopted.guessing import guess

        return guess(self, variable, loss, within, held_out)

    @property
    def notes(self) -> list[str]:
        """What limits these numbers, in sentences."""
        said = [*self.settled.notes, NO_PLAN]
        lost = int((self.units["candidates"] == 0).sum())
        if lost:
            said.append(
                f"{lost:,} of {self.units.height:,} targets have no candidate: this intruder declares nobody for them. "
                "That is no proof that they are safe; cf.Nearest always names somebody."
            )
        found, claimed = self.summary().found, self.summary().claimed_matches
        if found is not None and claimed > 1.2 * found + 3:
            said.append(
                f"The intruder claims {claimed:,.1f} matches and is right in {found:,.1f}: do not read its claims as "
                "probabilities."
            )
        if self.units["hit"].null_count():
            said.append(
                "Who is who is not known here (no link), so that no match can be called right or wrong: ask "
                'attack.guess("variable") for what is learnt, and give held_out people to compare with.'
            )
        return said

    def __repr__(self) -> str:
        head = f"Attack without a plan on {self.settled.rows:,} released records, {self.units.height:,} targets"
        lines = [head, self.settled.way, *self.settled.lines, "", str(self.summary()), "", *wrapped(self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The summary as a table, and every sentence of the printout."""
        return beneath(super()._repr_html_(), self.notes)
