"""What would be learnt from one release: of each variable that a study names, at the levels that may be booked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.attack.learning.attributes.result import Guess
from confide.attack.results.attack import Attack
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools
from confide.study.groups import Groups
from confide.study.statement.learns import Learns

NUMBERS = ("learnt", "misled", "harm", "people", "left_out", "gain", "margin", "relations", "without_person", "loss")
"""Share of `people` of whom more than the `gain` is learnt, and of those whose guess becomes worse by more than that (a
release that says nothing does both to as many); the expected harm; people without a loss; mean losses of
the best guess by the margin, by published relations, by the release without the own record, and by the release."""
GROUP = ("people", "learnt", "relations", "loss")
"""Of a group: its people, how many of them something is learnt of, and the two mean losses."""
SLACK = 1e-9
"""Of a gain; what passes it by rounding only has not passed it."""


@dataclass(frozen=True)
class Learnt:
    """What one intruder at one level would learn of one variable.

    `numbers`: those of `NUMBERS`, all None where it could not be computed. `groups`: rows of (variable, level,
    *`GROUP`). `said`: the loss in words, or why there are no numbers.
    """

    intruder: str
    level: str
    variable: str
    numbers: dict[str, float | None]
    groups: list[list[Any]] = field(default_factory=list)
    said: str = ""

    @property
    def risks(self) -> dict[str, float | None]:
        """The risks of a study's table, by name."""
        return {f"{what}_{self.variable}": self.numbers[what] for what in ("learnt", "harm")}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def learn(
    name: str, who: Intruder, attacks: Mapping[str, Sequence[Attack]], learns: Sequence[Learns], threshold: float,
    groups: Groups | None,
) -> list[Learnt]:  # fmt: skip
    """What an intruder would learn by its attacks, given by level; of what it knows already there is nothing to tell.

    >>> import confide as cf
    >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(400), seed=1)
    >>> who = cf.Intruder(knows=["sex", "age", "state"])
    >>> found = learn("near", who, {"informed": [who.attack(release)]}, [cf.Learns("tenure")], 0.2, None)
    >>> found[0].said, found[0].numbers["loss"] < found[0].numbers["relations"]
    ('0/1 loss: 1 for a wrong value', True)
    """
    out = []
    for one in (o for o in learns if o.variable not in who.knows):
        for level, each in attacks.items():
            try:
                out.append(_learnt(name, level, who, each, one, threshold, groups))
            except InputError as e:
                out.append(Learnt(name, level, one.variable, dict.fromkeys(NUMBERS), said=str(e)))
    return out


def _learnt(
    name: str, level: str, who: Intruder, attacks: Sequence[Attack], one: Learns, threshold: float,
    groups: Groups | None,
) -> Learnt:  # fmt: skip
    """Means over the attacks on copies whose rows cannot be linked, else of the one attack."""
    each = [_Guessed.of(a, one) for a in attacks]
    found = [g.numbers(one.paid(threshold)) for g in each]
    numbers = {k: _mean([f[k] for f in found]) for k in NUMBERS}
    by = () if groups is None else dict.fromkeys((*who.knows, *groups.stated))
    rows = [row for v in by if groups is not None and v in groups.codes for row in _by_group(each, groups, v)]
    return Learnt(name, level, one.variable, numbers, rows, each[0].guess.loss.words)


@dataclass(frozen=True, eq=False)
class _Guessed:
    """Guesses of one attack as arrays over people: losses (nan: none), of whom more than the gain is learnt (`over`),
    and whose guess becomes worse by more than that (`under`)."""

    guess: Guess
    gain: float
    losses: Mapping[str, F64]
    there: Bools
    over: Bools
    under: Bools

    @classmethod
    def of(cls, attack: Attack, one: Learns) -> _Guessed:
        release, v = attack.release, one.variable
        column = release.before.column(v, release.kinds.get(v))
        loss, gain = one.judged(column.kind == "numeric", column.levels)
        numeric_default = one.loss is None and column.kind == "numeric"
        guess = attack.guess(v, loss=loss if numeric_default else one.loss)  # type: ignore[arg-type]
        names = {"margin": "loss_margin", "relations": "loss_relations", "without_person": "loss_without_person",
                 "loss": "loss"}  # fmt: skip
        losses = {k: guess.frame[n].cast(pl.Float64).fill_null(np.nan).to_numpy() for k, n in names.items()}
        there = ~np.isnan(losses["loss"]) & ~np.isnan(losses["relations"])
        adds = np.where(there, losses["relations"] - losses["loss"], 0.0)
        least = gain + SLACK * max(gain, 1.0)
        return cls(guess, gain, losses, there, there & (adds > least), there & (-adds > least))

    def numbers(self, costs: Mapping[str, float]) -> dict[str, float | None]:
        """Those of `NUMBERS`."""
        people = int(self.there.sum())
        harm = self.guess.harm(**costs).frame.filter(what="both")["true_harm"].item() if costs else None
        known = {k: _mean_of(v[self.there]) for k, v in self.losses.items()}
        learnt, misled = (float(v.sum()) / people if people else None for v in (self.over, self.under))
        return {
            "learnt": learnt, "misled": misled, "harm": harm, "people": float(people),
            "left_out": float(len(self.there) - people), "gain": self.gain, **known,
        }  # fmt: skip


def _by_group(each: Sequence[_Guessed], groups: Groups, v: str) -> list[list[Any]]:
    """Rows of (variable, level, *`GROUP`), means over copies."""
    sums = np.mean([_sums(g, groups.codes[v], len(groups.levels[v])) for g in each], axis=0)
    out: list[list[Any]] = []
    for level, (people, learnt, relations, loss) in zip(groups.levels[v], sums.T.tolist(), strict=True):
        if people:
            out.append([v, level, people, learnt, relations / people, loss / people])
    return out


def _sums(g: _Guessed, codes: I64, size: int) -> F64:
    truth = g.guess.attack.truth
    mine = g.there & (truth >= 0)
    at = codes[truth[mine]]
    weights = (np.ones(len(at)), g.over[mine].astype(float), g.losses["relations"][mine], g.losses["loss"][mine])
    return np.array([np.bincount(at, weights=w, minlength=size) for w in weights])


def _mean_of(values: F64) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over attacks; unknown where it is unknown for one of them."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
