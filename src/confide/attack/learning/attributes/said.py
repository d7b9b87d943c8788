r"""What a release says of a person's unknown value, if a record is that person's: :math:`L(z_j \mid y)`.

Nothing here knows a method. A kept value is said itself; a coarsened one says which values become it; an altered one
has the likelihood of its step, and whatever label both values always share; a synthetic one, or none, says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import step_evidence
from confide.attack.learning.attributes.normal_pairs import add_normal
from confide.frames.columns import F64, I64, Column, Records, codes_in
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.product import repeated
from confide.protect.likelihoods.silent import Silent
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import SYNTHETIC, View
from confide.protect.seam.likelihood import Columns, Likelihood, take

How = Literal[
    "kept", "taken as released", "taken as true", "coarsened", "altered", "synthetic", "says nothing", "not released"
]
WORDS: dict[str, str] = {
    "kept": "released as it is: a record says its owner's own value",
    "taken as released": "taken as released; how it was made is not known",
    "taken as true": "altered, but this intruder takes released values as true",
    "coarsened": "released more coarsely: a record says a range or group, in which relations decide",
    "altered": "altered at random: a record is read through the method's own likelihood",
    "synthetic": "synthetic: a record says nothing of its owner, and what is learnt are relations",
    "says nothing": "altered in a way that says nothing of the true value: what is learnt are relations",
    "not released": "not released: the release holds no value of it, and only relations speak",
}


@dataclass(frozen=True, eq=False)
class Said:
    """`how`, and what is needed for it. `like`: of an altered one; `labels`: codes of records, and of true values, that
    always agree; `beside`: known variables altered together with it; `chain`: of a coarsened one; `kept`: what was
    computed once."""

    variable: str
    how: How
    case: Case
    view: View
    z: Column | None = None
    chain: Chain | None = None
    like: Likelihood | None = None
    evidence: Evidence | None = None
    beside: tuple[str, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, variable: str, others: tuple[Case, ...] = ()) -> Said:
        """Of one variable; `others`: further copies of the release."""
        view = case.view(tuple(case.intruder.knows))
        if variable not in case.released:
            return cls(variable, "not released", case, view)
        way, z = case.compiled.way(variable), case.released[variable]
        if case.intruder.levels[0] == "naive" and case.altered(variable) and not case.blind:
            if z.kind == case.original[variable].kind:
                return cls(variable, "taken as true", case, view, z)
            return cls(variable, "coarsened", case, view, z, Chain((*way.before.steps, *way.after.steps)))
        if way.random is None or case.only_modelled(variable):  # a model of the truth alters no value of the file
            if case.blind:
                return cls(variable, "taken as released", case, view, z, way.after)
            return cls(variable, "coarsened" if way.after.steps else "kept", case, view, z, way.after)
        if case.compiled.sorts.get(variable) == SYNTHETIC:
            return cls(variable, "synthetic", case, view)
        return _altered(case, variable, view, others)

    @property
    def speaks(self) -> bool:
        """Whether who is whom matters for what is learnt."""
        return self.atoms or self.how in ("coarsened", "altered")

    @property
    def atoms(self) -> bool:
        """Whether a record says one value."""
        return self.how in ("kept", "taken as released", "taken as true")

    def groups(self, rows: I64) -> Distinct:
        """Records that say the same, of some rows of the release."""
        keys = [] if self.z is None else [self.z.values[rows]]
        if self.like is not None:
            keys += list(take(self.like.record, rows).values())
        return Distinct.rows(keys, len(rows))

    @cached_property
    def kinds(self) -> Distinct:
        """The same of all rows."""
        return self.groups(np.arange(self.case.released.n))

    def apart(self, values: F64) -> I64:
        """Codes of neighbouring true values that are told apart, shape (V,)."""
        column = self.case.original[self.variable]
        mine = column.with_values(values if column.kind == "numeric" else values.astype(np.int64))
        if self.how == "coarsened":
            assert self.z is not None
            assert self.chain is not None
            return codes_in(self.chain.image(mine), self.z)
        out = np.arange(len(values))
        if self.like is not None and self.like.scale is not None and column.kind == "numeric":
            t = self.like.target(self.view.met(Records([mine])))
            steps = np.floor(self.like.in_steps(values, 4.0))
            labels, moved = self._labels(Records([mine])), np.isfinite(steps) & self.like.altered(t)
            # What is not altered is told apart by labels, or, where there is none, each value by itself.
            steps = np.where(moved, steps, np.inf if labels else steps.max(initial=0.0) + 1 + np.arange(len(values)))
            out = Distinct.rows([moved, steps, *labels], len(values)).of
        return out

    def _labels(self, records: Records) -> list[I64]:
        labels = {} if self.evidence is None else self.evidence.labels
        met = self.view.met(records)
        return [label.of(met) for v, label in labels.items() if v == self.variable]

    def log(self, values: F64, rows: I64, known: Records | None = None, out: F64 | None = None) -> F64:
        """log L(z_j | y) of true values and rows of the release, shape (V + 1, rows), missing last; of an altered one.

        `known`: the one row of what is known of variables altered together with it; `out`: memory that may be used.
        """
        assert self.like is not None
        column = self.case.original[self.variable]
        met, t = self._true(values, known)
        z = take(self.like.record, rows)
        if type(self.like) is Normal:
            out = np.empty((len(values) + 1, len(rows))) if out is None else out
            out.fill(0.0)
            add_normal(self.like, t, z, out)
        else:
            out = self.like.log_every(t, z)
        for v, label in ({} if self.evidence is None else self.evidence.labels).items():
            if v == self.variable:
                np.copyto(out, -np.inf, where=label.of(met)[:, None] != label.released[rows])
        if column.kind == "numeric" and not self.like.makes_missing:
            self._missing(out, rows)
        return out

    def _true(self, values: F64, known: Records | None) -> tuple[Records, Columns]:
        """True values, missing last, as they met the step, and their side of the likelihood; those asked about last
        are kept where nothing else was altered together with them."""
        last = self.kept.get("true")
        if last is not None and known is None and last[0] is values:
            return last[1], last[2]
        assert self.like is not None
        column = self.case.original[self.variable]
        gone = np.nan if column.kind == "numeric" else -1
        every = column.with_values(np.append(values, gone).astype(column.values.dtype))
        columns = [every]
        if known is not None:
            columns += [c.take(np.zeros(len(every), dtype=np.int64)) for c in known.values()]
        met = self.view.met(Records(columns))
        found = met, self.like.target(met)
        if known is None:
            self.kept["true"] = values, *found
        return found

    @cached_property
    def shown(self) -> I64:
        """Codes of what records show."""
        assert self.z is not None
        return codes_in(self.z, self.z)

    def _coarse(self, values: F64) -> I64:
        """Codes of what true values become; those asked about last are kept."""
        last = self.kept.get("coarse")
        if last is None or last[0] is not values:
            assert self.z is not None
            assert self.chain is not None
            column = self.case.original[self.variable]
            image = self.chain.image(column.with_values(values.astype(column.values.dtype)))
            last = self.kept["coarse"] = values, codes_in(image, self.z)
        return np.asarray(last[1])

    def sets(self, values: F64, rows: I64) -> tuple[I64, I64]:
        """Coarsened: the set of values that each row of the release says, and that of each true value, missing last; -1
        for values that no row says. Missing is a set by itself."""
        assert self.z is not None
        codes, shown = self._coarse(values), self.shown
        gone = int(shown.max(initial=-1)) + 1
        own = np.where(self.z.missing[rows], gone, shown[rows])
        known, found = np.unique(own, return_inverse=True)
        place = np.full(gone + 2, -1)
        place[known] = np.arange(len(known))
        return found.astype(np.int64), place[np.append(codes, gone)]

    def _missing(self, out: F64, rows: I64) -> None:
        """Missing numbers stay missing, and are known for it."""
        assert self.z is not None
        gone = self.z.missing[rows]
        out[-1] = np.where(gone, 0.0, -np.inf)
        out[:-1, np.flatnonzero(gone)] = -np.inf

    def matches(self, values: F64, rows: I64) -> tuple[I64, F64, F64] | None:
        """Where a value is the true one or another's: the place among values that each record shows (-1: none), and
        the likelihood of that value and of any other; None where it is not so."""
        like = self.like
        if not isinstance(like, Match) or self.beside or self.case.original[self.variable].kind != "numeric":
            return None
        column = self.case.original[self.variable]
        code = like.target(self.view.met(Records([column.with_values(values)])))["code"]
        there = code[code >= 0]
        if len(np.unique(there)) < len(there) or bool(column.missing.any()):
            return None
        place = np.full(int(max(like.code.max(initial=-1), code.max(initial=-1))) + 2, -1)
        place[code] = np.arange(len(values))
        place[-1] = -1
        return place[like.code[rows]], np.exp(like.log_same[rows]), np.exp(like.log_diff[rows])


def _altered(case: Case, variable: str, view: View, others: tuple[Case, ...]) -> Said:
    i = case.compiled.way(variable).random
    assert i is not None
    level = "average" if "average" in case.intruder.levels[1:] and i in case.believed else "exact"
    known = {v for v in case.intruder.knows if v in case.released and v not in case.intruder.errors}
    step = [v for v in case.compiled.steps[i].variables if v in case.released]
    beside = tuple(v for v in step if v in known and case.original[v].kind == "categorical")
    about = tuple(v for v in step if v == variable or v in beside)
    found = step_evidence(case, i, level, view, about)
    if found.sense == "pair":  # its own reading says who is whom; of the value by itself there may be a likelihood
        found, beside = step_evidence(case, i, level, view, (variable,)), ()
    if found.likelihood is not None and found.sense == "z|y" and beside:
        alone = step_evidence(case, i, level, view, (variable,))
        if len(found.likelihood.margins()) > 1:  # altered independently: the others say nothing of it
            found, beside = alone, ()
    like = found.likelihood
    if others and like is not None:
        each = [step_evidence(o, i, level, o.view(tuple(o.intruder.knows)), found.about).likelihood for o in others]
        like = repeated([like, *(e for e in each if e is not None)])
    if like is None or isinstance(like, Silent) or found.sense == "pair":
        return Said(variable, "says nothing", case, view)
    return Said(variable, "altered", case, view, case.released[variable], None, like, found, beside)
