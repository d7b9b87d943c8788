"""QuantileRegression: values drawn from conditional quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.core.random.seeds import stream
from confide.frames.columns import F64, Bools, Kind, Records, alike, rounded
from confide.protect.likelihoods.spread import LOG_2PI, Spread
from confide.protect.methods.synthesis.from_others import FromOthers, says_nothing
from confide.protect.methods.synthesis.in_turn import numbers_in_turn
from confide.protect.methods.synthesis.quantile.caliper import Caliper, typical
from confide.protect.methods.synthesis.quantile.fitted_process import Process
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View, guessed
from confide.protect.seam.likelihood import Columns, Likelihood
from confide.protect.seam.mechanism import Check, Name, registered
from confide.protect.shared.category_codes import joint_codes
from confide.protect.shared.predictors import Predictors, enough_rows
from confide.protect.shared.standing_apart import States

ROWS, QUANTILES = 100_000, 29
"""Records of a file in which it is tried at most, and quantiles that are then fitted: the time grows with both."""


def _check_tau(given: Any) -> str | None:
    if given in ("known", "estimated", "random") or (isinstance(given, (int, float)) and 0 < given < 1):
        return None
    return 'tau is "known", "estimated", "random" or a number between 0 and 1'


def _check_caliper(given: Any) -> str | None:
    if given in (None, "auto") or (isinstance(given, (int, float)) and not isinstance(given, bool) and given > 0):
        return None
    return 'caliper is a distance above zero, or "auto"'


def _check_widen(given: Any) -> str | None:
    return None if isinstance(given, bool) else "widen is true or false"


@registered
@dataclass(frozen=True)
class QuantileRegression(FromOthers):
    r"""Draw a number from its conditional quantiles given other variables.

    The quantile process :math:`x^T \beta(\tau)` is fitted on original values at `quantiles` equally spaced
    :math:`\tau`. Each record draws its own :math:`\tau \sim U(0,1)` and gets the prediction at it, with x as the plan
    has made it so far; predictions that cross are sorted along :math:`\tau`, between grid points interpolated, beyond
    them drawn from the (smoothed) distances of values outside. Results have the variable's precision and stay inside
    its range.

    `given`: numbers enter as they are, categories as indicators; a missing value is a category of its own, or an
    indicator beside a number. `zeros`: whether zeros stand apart, as a first part (is it zero?) before the second (how
    much?); by default where they are at least 5 percent. Missing values and answer codes always stand apart. `learn`:
    of how many records, drawn at random, the process is learnt; None for all.

    The intruder of Huckett and Larsen (level "informed") takes the released value for normal around the target's own,
    with the standard error of a prediction,

    .. math:: \mathrm{sd}_j = \omega(\tau_j) \sqrt{x_j^T (X^T X)^{-1} x_j}, \qquad
        \omega^2(\tau) = \frac{\tau (1 - \tau)}{f(F^{-1}(\tau))^2}

    Of its internals an intruder may guess: "tau" ("known", "estimated" from the record, "random", the same in every
    attack, or a number),
    "caliper" (a distance within which all records are alike; "auto") and "widen" (true: for coefficients that were
    estimated twice). Level "exact" knows better: given what it was drawn from the value does not depend on the target.

    >>> import confide as cf
    >>> cf.QuantileRegression("hh_income", given=["sex", "age"]).needs
    ('sex', 'age')
    """

    variables: Name
    given: str | Sequence[str] = ()
    quantiles: int = 99
    zeros: bool | None = None
    learn: int | None = None

    method: ClassVar[str] = "quantile_regression"
    guesses: ClassVar[Mapping[str, Check]] = {"tau": _check_tau, "caliper": _check_caliper, "widen": _check_widen}

    def __post_init__(self) -> None:
        problems = self.check_names()
        self.true_or_false("zeros", problems, optional=True)
        n = self.quantiles
        wrong = isinstance(n, bool) or not isinstance(n, int) or not 3 <= n <= 9999
        problems.when(wrong, f"{self.where}: quantiles is how many to fit, from 3 to 9999; 99 for percentiles.")
        problems.tell()

    @property
    def words(self) -> str:
        return f"synthetic {self.variable}{self.from_words}, by quantile regression"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers, one by one and several in turn, by the number of predictors."""
        if outlook.rows > ROWS:
            return (Untried(cls.method, f"it takes too long to try in a file of more than {ROWS:,} rows"),)

        def make(name: str, given: tuple[str, ...], _: None) -> QuantileRegression:
            return cls(name, given=given, quantiles=QUANTILES)

        return numbers_in_turn(cls.method, outlook, make, "by quantile regression")

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedQuantiles:  # noqa: ARG002
        predictors, states, x, y = self.two_parts(original, self.zeros)
        process = None
        if len(y):
            enough_rows(predictors, len(y), self.where)
            taus = np.arange(1, self.quantiles + 1) / (self.quantiles + 1)
            process = Process.fit(x, y, taus, original[self.variable].step)
        return _FittedQuantiles(self, predictors, states, process)


@dataclass(frozen=True, eq=False)
class _FittedQuantiles(Fitted):
    """`process`: None where every value stands apart."""

    step: QuantileRegression
    predictors: Predictors
    states: States
    process: Process | None
    memory: list[tuple[Records, _FittedQuantiles]] = field(default_factory=list)

    def whole_file(self, level: str, guesses: Mapping[str, Any]) -> str:
        """See `Fitted`. Counts say all, but for what an intruder fits to released rows: that is some of them with
        `learn`."""
        v = self.step.variable
        if level not in ("sdl", "average"):
            return ""
        caliper, tau = guessed(guesses, "caliper", v, None), guessed(guesses, "tau", v, "estimated")
        if caliper is None and tau == "random":
            return 'draws a number for each released row where tau is guessed to be "random"'
        reads = level == "average" or (caliper is None and tau == "estimated")
        if reads and self.step.learn is None:
            return "is fitted to all released rows by this intruder; learn=100_000 would take so many of them"
        return ""

    def lean(self) -> _FittedQuantiles:
        return replace(self, memory=[])

    def on_release(self, view: View) -> _FittedQuantiles:
        """The same step fitted to a release, or to as many of its records as it learns from."""
        names = tuple(dict.fromkeys((*self.step.variables, *self.step.needs)))
        if self.step.learn is None:
            return self._fitted_to(view.released.select(names))
        many, stream = self.step.learn, self.step.stream
        found: _FittedQuantiles = view.once(
            ("on release", self.step.variable), lambda: self._fitted_to(view.sampled(names, many, stream)).lean()
        )
        return found

    def _fitted_to(self, mine: Records) -> _FittedQuantiles:
        """The last one is remembered, for other intruders too."""
        if not self.memory or not alike(self.memory[0][0], mine):
            self.memory[:] = [(mine, self.step.fit(mine, mine, {}))]
        return self.memory[0][1]

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.step.variable]
        x = self.predictors.matrix(current)
        state = self.states.draw(x, draws, current.rows)
        tau, u = draws.uniform(current.rows), draws.uniform(current.rows, word=1)
        amount = np.full(current.n, np.nan)
        if self.process is not None:
            at = np.flatnonzero(state == 0)
            drawn = rounded(self.process.draw(x[at], tau[at], u[at]), column.step)
            amount[at] = np.clip(drawn, *self.process.range)
        return Applied([column.with_values(self.states.placed(state, amount))])

    # -- the intruder's side ---------------------------------------------------------------------------------

    def reads_missing(self, level: str) -> bool:
        """The published intruder compares numbers, and has nothing to say of a target without one."""
        return level not in ("sdl", "average")

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        v = self.step.variable
        if view.level == "ignore":
            return Evidence(about)
        if view.level == "exact" or self.process is None:
            return says_nothing(view, about)
        if view.released[v].kind != "numeric":
            raise InputError(
                f'"{v}" was drawn as a number and then recoded, but the published intruder compares numbers; ask at '
                'level "exact".'
            )
        caliper = view.guess("caliper", v, None)
        if caliper is not None:
            return self._calipers(view, about, caliper)
        return self._normal(view, about)

    def _normal(self, view: View, about: tuple[str, ...]) -> Evidence:
        """Normal around the target's value, or around its prediction where the value is not known."""
        v, z = self.step.variable, view.released[self.step.variable]
        assert self.process is not None
        x = self.predictors.matrix(view.released)
        tau, own = self._taus(view, x)
        there = z.usable
        widen = 2.0 if view.guess("widen", v, False) else 1.0
        variance = widen * self.process.variance(x, tau, view.as_printed)
        values = np.where(there, z.values, 0.0)
        gap = np.where(there, values - np.where(np.isnan(own), values, own), 0.0)
        log_others = 0.5 * gap**2 / variance + 0.5 * LOG_2PI
        p = np.ones_like(variance)
        if view.as_printed:
            p = np.sqrt(variance)  # print leaves 1/sd out of the density
        else:
            log_others = log_others + 0.5 * np.log(variance)
        log_others = np.where(there, log_others, 0.0)
        if v in view.known:
            like = Spread.sized(values, there, variance, _own_value(v), -np.inf, p)
            return Evidence(about, likelihood=like, sense="pair", log_others=log_others)
        if not set(self.predictors.names) <= view.known:
            return Evidence(about, sense="pair")  # no prediction without what it is made from
        constant = view.guess("tau", v, "estimated")
        if isinstance(constant, (int, float)):
            like = Spread.sized(values, there, variance, self._predictor(view, float(constant)), 0.0, p)
            return Evidence(about, likelihood=like, sense="pair", log_others=log_others)
        lines = _Lines(values, there, tau, variance, p, self, view)
        return Evidence(about, likelihood=lines, sense="pair", log_others=log_others)

    def _calipers(self, view: View, about: tuple[str, ...], caliper: Any) -> Evidence:
        """All records alike within a distance of the target's prediction, none beyond it (print, section 4.1.2)."""
        v, z = self.step.variable, view.released[self.step.variable]
        if not set(self.predictors.names) <= view.known:
            return Evidence(about, sense="pair")
        tau = view.guess("tau", v, 0.5)
        tau = float(tau) if isinstance(tau, (int, float)) else 0.5
        size = view.once(("caliper", v), lambda: self._typical(view, tau)) if caliper == "auto" else float(caliper)
        gap = -np.inf if v in view.known else 0.0  # a record without a value is no target's who has one
        near = Caliper(np.where(z.usable, z.values, np.nan), size, self._predictor(view, tau), gap)
        return Evidence(about, likelihood=near, sense="pair", log_others=np.zeros(len(z)))

    def _typical(self, view: View, tau: float) -> float:
        """A distance that leaves some records of its own cell of categories inside, for the median record."""
        v, parts = self.step.variable, self.predictors.parts
        file = view.counted((v, *(p.name for p in parts)))
        z, names = file.records[v], [p.name for p in parts if file.records[p.name].kind == "categorical"]
        alike = np.zeros(len(z), dtype=np.int64)
        cell = joint_codes(file.records, names, lambda _: Chain())[0] if names else alike
        own = self.predict(self.predictors.matrix(file.records), tau)
        found = typical(z.values, z.usable, own, cell, file.counts)
        return found if found > 0 else max(z.step, 1e-9 * (1 + float(abs(own).max())))

    def predict(self, x: F64, tau: float | F64) -> F64:
        """One value for each record: the likelier of standing apart or not, and the line at tau."""
        assert self.process is not None
        amount = self.process.at(x, np.broadcast_to(np.asarray(tau, dtype=float), len(x)))
        state = self.states.likeliest(x)
        apart = self.states.placed(state, amount)
        return np.where(np.isnan(apart), amount, apart)

    def _predictor(self, view: View, tau: float) -> Callable[[Records], F64]:
        return lambda records: self.predict(self.predictors.matrix(view.read(records)), tau)

    def _taus(self, view: View, x: F64) -> tuple[F64, F64]:
        """The tau that the intruder uses for each record, and the record's own prediction (NaN: its very value)."""
        v, z = self.step.variable, view.released[self.step.variable]
        guess = view.guess("tau", v, "estimated")
        regular = self.states.of_values(z.values) == 0
        own = np.full(len(z), np.nan)
        if guess in ("known", "estimated"):
            used: _FittedQuantiles = self
            if guess == "estimated" and view.level != "average":
                used = self.on_release(view)
            process, other = used.process, used.predictors.matrix(view.released)
            tau = np.full(len(z), 0.5)
            if process is not None:
                tau[regular] = process.tau_of(other[regular], z.values[regular])
            return tau, own
        if guess == "random":
            tau = stream(20080, f"an intruder's tau:{v}").random(len(z))
        else:
            tau = np.full(len(z), float(guess))
        assert self.process is not None
        own[regular] = self.process.at(x[regular], tau[regular])
        return tau, own


def _own_value(variable: str) -> Callable[[Records], F64]:
    return lambda records: records[variable].values


@dataclass(frozen=True, eq=False)
class _Lines(Likelihood):
    """Normal around the target's prediction at the record's own tau; `weight` stands before the density."""

    z: F64
    there: Bools
    tau: F64
    variance: F64
    weight: F64
    fitted: _FittedQuantiles
    view: View

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"z": self.z, "there": self.there, "tau": self.tau, "variance": self.variance, "weight": self.weight}

    def target(self, records: Records) -> Columns:
        x = self.fitted.predictors.matrix(self.view.read(records))
        assert self.fitted.process is not None
        lines = self.fitted.process.lines(x)
        apart = self.fitted.states.placed(self.fitted.states.likeliest(x), np.zeros(len(x)))
        fixed = self.fitted.states.likeliest(x) > 0
        lines[fixed & ~np.isnan(apart)] = apart[fixed & ~np.isnan(apart), None]
        return {"lines": lines}

    def log(self, t: Columns, z: Columns) -> F64:
        assert self.fitted.process is not None
        return self._around(self.fitted.process.between(t["lines"], z["tau"]), z)

    def log_every(self, t: Columns, z: Columns) -> F64:
        assert self.fitted.process is not None
        return self._around(self.fitted.process.crossed(t["lines"], z["tau"]), z)

    def _around(self, middle: F64, z: Columns) -> F64:
        found = -0.5 * (z["z"] - middle) ** 2 / z["variance"] - 0.5 * np.log(2 * np.pi * z["variance"])
        return np.where(z["there"], found + np.log(z["weight"]), 0.0)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["lines"]), dtype=bool)
