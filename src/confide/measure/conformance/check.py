"""`check_mechanism`: labels, scale, probabilities, frequencies, a plain twin, calibration, one row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import names_of
from confide.core.errors import InputError, raise_all
from confide.core.random.seeds import checked_seed
from confide.core.registry import known
from confide.frames import to_polars
from confide.frames.columns import I64, Records
from confide.frames.comparing import encode_like
from confide.measure.conformance.outcomes import joint_outcomes, outcomes
from confide.measure.conformance.twin import evenly, farthest
from confide.protect.likelihoods.silent import Silent
from confide.protect.plan import Plan
from confide.protect.release import Release
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Fitted, View
from confide.protect.seam.likelihood import Likelihood
from confide.protect.seam.mechanism import Mechanism
from confide.protect.simulate_targets import simulate_targets

ROWS = 2_000
"""Rows that are looked at."""
WORK = 4_000_000
"""Values that are drawn at most."""
FAR, CALIBRATED, EXACT, NEAR = 5.0, 4.0, 1e-9, 0.01
"""Tolerances: frequencies and calibration, in standard errors; posteriors without and with part A."""

Row = tuple[str, bool | None, str]


@dataclass(frozen=True, eq=False, repr=False)
class Checked:
    """What a method was found to keep; `frame`: one row per check, with `ok` (null where not asked) and `detail`."""

    frame: pl.DataFrame

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return bool(self.frame["ok"].fill_null(True).all())

    def summary(self) -> str:
        """The checks as lines of text."""
        words = {True: "ok", False: "FAILS", None: "-"}
        return "\n".join(f"{words[ok]:>5}  {check}: {detail}" for check, ok, detail in self.frame.iter_rows())

    def __repr__(self) -> str:
        return self.summary()


def check_mechanism(
    step: Mechanism, data: Any, *, knows: str | Sequence[str] = (), seed: int = 1, draws: int = 400, fail: bool = True
) -> Checked:
    """Whether a step's `evidence` is what its `apply` does, on the data given: of more than 2,000 rows so many.

    Checked are: that a plan file can hold the step; that released values keep their certain labels; that the likelihood
    takes true values on the scale that it states; that probabilities over all released values sum to one; that
    frequencies over `draws` applications agree with them; that the engine's posteriors are those of a plain product of
    likelihoods, without part A (to 1e-9) and with it (to 0.01 in total variation: the engine's belief is a model of the
    file); that the attack of an intruder who knows the step's variables and those in `knows` is calibrated, to four
    standard errors.

    What fails is raised in sentences; with ``fail=False`` the result only tells it.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(300).select("race", "sex")
    >>> cf.extend.check_mechanism(cf.Pram("race", retention=0.8), heads, knows="sex").frame["check"].to_list()[:4]
    ['plan file', 'labels', 'scale', 'probabilities']
    """
    if not isinstance(step, Mechanism):
        raise InputError(f"check_mechanism takes a step such as Swap(...), not {type(step).__name__}.")
    frame, chosen = to_polars(data), checked_seed(seed)
    frame = frame[evenly(np.arange(frame.height), ROWS)]
    release = Plan([step]).protect(frame, seed=chosen)
    rows = [_file(step)]
    for case in _cases(release):
        rows += case.rows(max(min(draws, WORK // frame.height), 2), chosen)
    rows.append(_calibration(step, release, frame, names_of(knows, "knows") if knows else (), chosen))
    if fail:
        wrong = [f"{check}: {detail}." for check, ok, detail in rows if ok is False]
        raise_all(wrong, f"{type(step).__name__} does not keep what it states:")
    schema = {"check": pl.String, "ok": pl.Boolean, "detail": pl.String}
    return Checked(pl.DataFrame(rows, schema=schema, orient="row"))


def _file(step: Mechanism) -> Row:
    """Whether a plan file holds the step and gives it back."""
    if type(step) not in known("method").values():
        return "plan file", None, "the method is not registered, so no plan file can name it"
    try:
        same = Plan.from_dict(Plan([step]).to_dict()) == Plan([step])
    except InputError as cause:
        return "plan file", None, str(cause).rstrip(".")
    return "plan file", same, "is read as it was written" if same else "gives another step back than was written"


def _cases(release: Release) -> Iterator[_Case]:
    """Every random step, unless released rows are made of several people."""
    plan, compiled = release.plan, release.compiled
    if plan is None or compiled is None or release.link is None:
        return
    original = plan.encode(release.original)
    released = Records([encode_like(release.frame[v], compiled.released_form(original[v])) for v in original])
    for step, fitted in zip(compiled.steps, compiled.fitted, strict=True):
        if fitted is not None and step.variables:
            view = replace(compiled.view(released), known=frozenset(step.variables))
            yield _Case(release, step, fitted, view, original, release.link)


@dataclass(frozen=True, eq=False)
class _Case:
    """One random step of a release, with both files as arrays: released rows as they are, and their original rows."""

    release: Release
    step: Mechanism
    fitted: Fitted
    view: View
    original: Records
    link: I64

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.step.variables)

    def rows(self, draws: int, seed: int) -> Iterator[Row]:
        evidence = self.fitted.evidence(self.view, self.variables)
        if evidence.sense == "pair":  # a reading of its own; what the likelihood is, it says at level "exact"
            plain = replace(self, view=replace(self.view, level="exact"))
            found = self.fitted.evidence(plain.view, self.variables)
            if found.sense == "z|y" and found.likelihood is not None and found.likelihood.jointly:
                yield from plain.rows(draws, seed)
                return
        yield self._labels(evidence)
        like = evidence.likelihood
        if like is None or evidence.sense != "z|y" or isinstance(like, Silent):
            yield "likelihood", None, "the evidence is not a likelihood of released values given true ones"
            return
        wrong = self._scale(like)
        yield "scale", not wrong, wrong or "true values are on the scale that is stated"
        yield from self._outcomes(like, draws, seed)
        yield from () if wrong else self._twins(evidence)

    def _twins(self, evidence: Evidence) -> Iterator[Row]:
        """A plain product of likelihoods beside the engine; part A where the belief is the file's own."""
        alone = len(self.variables) == 1 and not self.step.needs
        for name, others, bound in (("twin without A", "ignore", EXACT), ("twin with A", "sdl", NEAR)):
            if others == "sdl" and not alone:
                yield name, None, "is worked out for one variable that hangs on no other"
                continue
            far = farthest(evidence, self.release, self.original, self.variables, others)
            yield name, far < bound, f"posteriors of a few targets are those of a plain product, up to {far:.2g}"

    def _labels(self, evidence: Evidence) -> Row:
        """Whether a released value always has the label of its true one."""
        lost = sum(int((lab.of(self.original)[self.link] != lab.released).sum()) for lab in evidence.labels.values())
        many = f"{lost} released values have another certain label than their true ones"
        return "labels", not lost, many if lost else "certain labels are kept"

    def _scale(self, like: Likelihood) -> str:
        """What is wrong with the scale on which the likelihood takes true values; empty for nothing."""
        numbers = [v for v in self.variables if self.original[v].kind == "numeric"]
        for v in numbers:
            margin = like.margins()[self.variables.index(v)] if len(like.margins()) > 1 else like
            wrong = margin.wrong_scale(self.original[v].values, margin.target(self.original))
            if wrong:
                return f'"{v}": {wrong}'
        return ""

    def _outcomes(self, like: Likelihood, draws: int, seed: int) -> Iterator[Row]:
        """Sums of probabilities, and frequencies beside them."""
        files = self.view, self.original, self.link
        if like.jointly:
            found = joint_outcomes(self.fitted, self.view, self.original, self.variables, draws, seed)
        else:
            found = [o for v in self.variables for o in outcomes(self.fitted, *files, v, draws, seed)]
        off = max((o.off for o in found), key=abs, default=0.0)
        yield "probabilities", all(o.sums for o in found), f"over all released values the sum is 1{off:+.2g}"
        squares, freedom = np.sum([o.chi_square for o in found], axis=0) if found else (0.0, 0)
        z = (squares - freedom) / np.sqrt(2 * freedom) if freedom else 0.0
        told = f"chi-square {squares:.1f} at {freedom:.0f} degrees of freedom"
        yield "frequencies", bool(z < FAR), f"{draws} draws for {len(found)} true values: {told}"


def _calibration(step: Mechanism, release: Release, frame: pl.DataFrame, also: Sequence[str], seed: int) -> Row:
    """Whether an intruder who knows the step's variables is right as often as it claims."""
    knows = [v for v in dict.fromkeys((*step.variables, *also)) if v in release.public_variables]
    if not knows:
        return "calibration", None, "the step has no variable; name some in knows"
    fitted = () if release.compiled is None else release.compiled.fitted
    people: dict[str, Any] = {}
    if release.plan is not None and any(f is not None and f.models_truth for f in fitted):
        people = {"targets": simulate_targets(frame, release.plan, seed), "truth": range(frame.height)}
    level = "exact" if step.needs_released else "sdl"
    try:
        who = Intruder(knows=knows, available=level, unavailable=level, others=level)
        found = who.attack(release, **people).calibration()
    except InputError as cause:
        return "calibration", False, str(cause).rstrip(".")
    detail = f"{found.claimed:,.1f} matches claimed, {found.true:,.1f} true, z {found.z:+.1f}"
    return "calibration", abs(found.z) < CALIBRATED, detail
