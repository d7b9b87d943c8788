"""Guess a variable from the candidates' released values, beside three baselines and people held out of the file.

p(y | t, Z) is the share of the candidates with the released value y. Nobody is found for some targets: for them the
guess is that of the published relations, since an intruder who finds nothing still knows those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.learning.adopted.candidates import Candidates, in_turn
from confide.attack.learning.adopted.compared import check_known
from confide.attack.learning.adopted.guessed import NaiveGuess
from confide.attack.learning.adopted.losses import LOSSES, judge, loss_number
from confide.attack.learning.adopted.matches import Matches, Met, held, meet
from confide.attack.learning.adopted.people import held_out_people
from confide.attack.learning.adopted.relations import Judged, Relations, by_cells, relate
from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Column, codes_in

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Asked:
    """The variable that is guessed: its column in the original, the released values as floats in the original's codes
    (or numbers; NaN missing), the loss as a number, and the share of a loss "within"."""

    column: Column
    released: F64
    kind: int
    share: float

    def truth(self, column: Column) -> F64:
        """True values as floats."""
        return as_floats(column, self.column)


def guess(attack: Matches, variable: str, loss: str | None, within: float | None, held_out: Any) -> NaiveGuess:
    """What `Matches.guess` says."""
    settled, release = attack.settled, attack.settled.release
    asked = asked_for(release, settled.compared.names, variable, loss, within)
    known = settled.original
    relations = relate(known, asked.truth(asked.column), list(known))
    frame, lost = _frame(attack.met, asked, relations, attack.threads)
    others = None
    if held_out is not None:
        met = meet(settled, held_out_people(release, known, held_out), attack.threads)
        others, _ = _frame(met, asked, relations, attack.threads)
    return NaiveGuess(
        frame,
        others,
        variable,
        LOSSES[asked.kind],
        asked.share,
        relations.names,
        lost,
        settled.way,
        settled.compared.names,
    )


def asked_for(release: Release, known: tuple[str, ...], variable: str, loss: str | None, within: float | None) -> Asked:
    """A variable to guess and how guesses are judged; refused where nothing could be learnt."""
    if not isinstance(variable, str):
        raise InputError('guess takes one variable at a time, by its name: guess("income"), once for each.')
    if variable in known:
        raise InputError(f'guess: "{variable}" is known already; name a variable that the intruder does not know.')
    check_known(release, [variable], "guess")
    if loss is not None and loss not in LOSSES:
        raise InputError(f'guess: loss is one of {", ".join(LOSSES)}, not "{loss}".')
    chosen = "within" if loss is None and within is not None else loss
    numbers = [variable] if chosen in ("absolute", "squared", "within") else []
    original, released = (r[variable] for r in release.encoded([variable], numeric=numbers))
    chosen = chosen or ("absolute" if original.kind == "numeric" else "zero_one")
    if chosen == "within" and (within is None or fraction(within, "guess: within") >= 1):
        raise InputError('guess: loss="within" needs within=..., a share of the truth below 1, such as 0.05.')
    if chosen != "within" and within is not None:
        raise InputError(f'guess: within goes with loss="within", not with "{chosen}".')
    values = as_floats(released, original)
    if np.ptp(as_floats(original, original)[~original.missing]) == 0:
        raise InputError(f'guess: "{variable}" has one value in the original: there is nothing to learn.')
    if original.kind == "categorical" and (values[~released.missing] > len(original.levels)).all():
        raise InputError(
            f'guess: no released value of "{variable}" occurs in the original, so that no guess could be right. Give '
            "both files the same categories, or state the plan that recoded it."
        )
    return Asked(original, values, loss_number(chosen), float(within or 0.0))


def as_floats(column: Column, model: Column) -> F64:
    """Values as floats: numbers, or codes in the model's levels; missing is a category, but no number."""
    if model.kind == "numeric":
        return np.asarray(column.values, dtype=np.float64)
    codes, k = codes_in(column, model), len(model.levels)
    return np.where(column.missing, k, np.where(codes < 0, k + 1, codes)).astype(np.float64)


def _frame(met: Met, asked: Asked, relations: Relations, threads: int | None) -> tuple[pl.DataFrame, int]:
    """One row per person whose own value is there, and how many have none."""
    people = met.people
    truth = asked.truth(people.values(asked.column))
    there = ~np.isnan(truth)
    inside = (people.rows >= 0) & there
    cells = relations.judge(people.known, truth, inside, asked.kind, asked.share)
    values = asked.truth(asked.column)
    values = values[~np.isnan(values)]
    nobody = np.zeros(len(values), dtype=np.int64), values, np.zeros(len(truth), dtype=np.int64)
    margin = by_cells(*nobody, truth, inside, asked.kind, asked.share)
    found, n = by_candidates(met.found, met.of, None, asked, truth, threads)
    mine = _or_else(found, n > 0, cells)
    columns = {
        "guess": _shown(asked.column, mine.guess), "loss": mine.loss, "expected_loss": mine.expected,
        "loss_margin": margin.loss, "loss_relations": cells.loss, "loss_without_person":
        _without_person(met, asked, truth, mine, cells, threads), "p_true": mine.p_true, "found": n > 0,
    }  # fmt: skip
    frame = pl.DataFrame({"target": np.arange(len(truth)), **columns}).with_columns(pl.col(pl.Float64).fill_nan(None))
    return frame.filter(pl.Series(there)), int((~there).sum())


def by_candidates(
    found: Candidates, of: I64, skip: I64 | None, asked: Asked, truth: F64, threads: int | None
) -> tuple[Judged, I64]:
    """What the candidates say of each person, and how many of their values there are; `skip`: rows left out."""
    tree = found.tree
    members = np.argsort(of, kind="stable").astype(np.int64)
    mptr = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(found)))]).astype(np.int64)
    values = asked.released[tree.rows]
    left_out = np.full(len(found), -1, dtype=np.int64) if skip is None else tree.place[skip]
    n = np.zeros(len(truth), dtype=np.int64)
    out = Judged(*(np.full(len(truth), np.nan) for _ in range(4)))

    def work(a: int, b: int, ptr: I64, begins: I64, ends: I64) -> None:
        judge(
            ptr, begins, ends, values, left_out[a:b], mptr[a : b + 1], members, truth, asked.kind, asked.share, n,
            out.guess, out.loss, out.expected, out.p_true,
        )  # fmt: skip

    in_turn(found, work, threads)
    return out, n


def _or_else(found: Judged, there: Bools, otherwise: Judged) -> Judged:
    """What candidates say where there are any, else what relations say."""
    pairs = zip(vars(found).values(), vars(otherwise).values(), strict=True)
    return Judged(*(np.where(there, a, b) for a, b in pairs))


def _without_person(met: Met, asked: Asked, truth: F64, mine: Judged, cells: Judged, threads: int | None) -> F64:
    """The loss had the person's own row not been released; NaN where nobody knows which row that is."""
    own = met.people.own
    if not (own >= 0).any():
        return np.full(len(truth), np.nan)
    out = np.where(own == -1, mine.loss, np.where(own >= 0, mine.loss, np.nan))
    who = np.flatnonzero(held(met) > 0)
    if len(who):
        found = met.found.without(met.of[who], own[who])
        alone, n = by_candidates(found, np.arange(len(who)), own[who], asked, truth[who], threads)
        out[who] = np.where(n > 0, alone.loss, cells.loss[who])
    return out


def _shown(column: Column, guess: F64) -> pl.Series:
    """Guesses as people read them: categories by their names."""
    if column.kind == "numeric":
        return pl.Series(guess)
    names = [*(str(v) for v in column.levels), None, None]
    index = pl.Series(np.nan_to_num(guess, nan=len(names) - 1).astype(np.int64))
    return pl.Series(names, dtype=pl.String).gather(index)
