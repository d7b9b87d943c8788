"""MeasurementError: a file whose values carry bias and noise of unknown size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.checks import positive
from confide.core.errors import InputError, Problems, did_you_mean, raise_all
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, Kind, Records
from confide.protect.likelihoods.spread import Spread
from confide.protect.methods.measurement_error.joint_spread import SpreadTogether
from confide.protect.methods.measurement_error.learning import learnt_from
from confide.protect.methods.measurement_error.predictive import Conjugate, FilePredictive, JointPredictive, Predictive
from confide.protect.methods.measurement_error.variances import Gamma, Learnt, Variances, prior_from_range
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import listed
from confide.protect.shared.standing_apart import Apart

ABSENT = ("student", "normal", "file", "joint")


@registered
@dataclass(frozen=True)
class MeasurementError(Mechanism):
    r"""The intruder's model of a file whose values differ from the truth by a bias and by noise of unknown size.

    .. math:: x = \theta z + \xi, \qquad \theta \sim N(1, \varphi), \qquad \xi \sim N(0, \sigma^2)

    Nothing is altered: values are released as the file has them. Respondents misreported and clerks mistyped; the truth
    x, which the intruder has, is spread around the file's value z (Fienberg, Makov and Sanil, 1997). Given that record
    j is the target's, x is normal around :math:`z_j` with variance :math:`\sigma^2 + z_j^2 \varphi`, averaged over what
    is believed of both variances. For error that a protection step adds to the truth, see `Noise`, with `bias_sd`.

    `noise_variance`, `bias_variance`: a `Gamma`, or a number where the size is known; or `noise_sd`, `bias_sd` as
    numbers. Leave out what there is none of. A bias has no effect on a value of zero. `absent` says how values are
    distributed among people who are not in the file: "student" or "normal" (see `Conjugate` for prior knowledge),
    "file" (as in the file itself: for skewed variables), or "joint" (Student t of several variables together).
    `simulate_targets` draws the truth from a file by this model; `learn` sharpens the beliefs from verified records.

    >>> import confide as cf
    >>> cf.MeasurementError("age", noise_variance=cf.Gamma(400, 3.5), bias_sd=0.03).variables
    ('age',)
    >>> cf.MeasurementError("age", noise_variance=0)
    Traceback (most recent call last):
    confide.InputError: MeasurementError("age"): noise_variance must be above zero, not 0; leave it out if none.
    """

    variables: Names
    noise_variance: float | Gamma | Mapping[str, float | Gamma] | None = field(default=None, hash=False)
    bias_variance: float | Gamma | Mapping[str, float | Gamma] | None = field(default=None, hash=False)
    noise_sd: float | Mapping[str, float] | None = field(default=None, hash=False)
    bias_sd: float | Mapping[str, float] | None = field(default=None, hash=False)
    absent: str | Conjugate = "student"
    learnt: Learnt | Mapping[str, Learnt] | None = field(default=None, hash=False)

    draws: ClassVar[bool] = False
    method: ClassVar[str] = "measurement_error"
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False

    def __post_init__(self) -> None:
        names, where, problems = self.variables, self.where, Problems()
        for part, cls in (("noise_variance", Gamma), ("bias_variance", Gamma), ("learnt", Learnt)):
            object.__setattr__(self, part, _read(getattr(self, part), cls, names))
        if not isinstance(self.absent, Conjugate) and self.absent not in ABSENT:
            problems.when(True, f'{where}: absent is "student", "normal", "file", "joint" or Conjugate(...).')
        for kind in ("noise", "bias"):
            both = getattr(self, f"{kind}_variance") is not None and getattr(self, f"{kind}_sd") is not None
            problems.when(both, f"{where} takes either {kind}_variance or {kind}_sd.")
        if all(getattr(self, part) is None for part in ("noise_variance", "bias_variance", "noise_sd", "bias_sd")):
            raise InputError(f"{where} needs noise_variance or bias_variance (or noise_sd, bias_sd): how large is it?")
        for part in ("noise_variance", "bias_variance", "noise_sd", "bias_sd", "learnt"):
            given = getattr(self, part)
            for v in (v for v in given if v not in names) if isinstance(given, Mapping) else ():
                problems.when(True, f'{where}: {part} speaks of "{v}".{did_you_mean(v, names)}')
        for v in names:
            with problems:
                self._beliefs(v)
        problems.tell()

    def _beliefs(self, variable: str) -> tuple[float | Gamma | None, float | Gamma | None]:
        """Noise and bias variance of one variable."""
        noise, bias = (self._belief(kind, variable) for kind in ("noise", "bias"))
        if noise is None and bias is None:
            raise InputError(f'MeasurementError: nothing is said about the error of "{variable}".')
        size = bias.mean if isinstance(bias, Gamma) else bias or 0.0
        if size > 1:
            raise InputError(
                f'MeasurementError("{variable}"): the bias is a factor around 1, so its variance is small; for '
                "5 percent write bias_sd=0.05 or bias_variance=0.0025."
            )
        return noise, bias

    def _belief(self, kind: str, variable: str) -> float | Gamma | None:
        where = f'MeasurementError("{variable}"): {kind}'
        variance, sd = (_of(getattr(self, f"{kind}_{form}"), variable) for form in ("variance", "sd"))
        if isinstance(sd, Gamma):
            raise InputError(f"{where}_sd is a number; a Gamma describes a variance: give it as {kind}_variance.")
        if isinstance(variance, Gamma):
            return variance
        for form, given in (("variance", variance), ("sd", sd)):
            if isinstance(given, (int, float)) and given == 0:
                raise InputError(f"{where}_{form} must be above zero, not 0; leave it out if none.")
        if variance is not None:
            return positive(variance, f"{where}_variance")
        return None if sd is None else positive(sd, f"{where}_sd") ** 2

    @property
    def words(self) -> str:
        return f"measurement error of {listed(self.variables)}, as stated"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:  # noqa: ARG003 - it hangs on no file
        """None: it changes nothing."""
        return (Untried(cls.method, "it describes error that a file has already, and protects nothing by itself"),)

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def parts(self) -> Sequence[Mechanism]:
        if self.absent == "joint":
            return (self,)
        names = ("noise_variance", "bias_variance", "noise_sd", "bias_sd", "learnt")
        return tuple(
            replace(self, variables=(v,), **{n: _of(getattr(self, n), v) for n in names}) for v in self.variables
        )

    def guess(self, released: Records) -> Mechanism:
        """Someone who knows only that there is error guesses its size from ranges: `prior_from_range`."""
        guesses = {v: prior_from_range(_present(released[v])[0]) for v in self.variables}
        noise = {v: g["noise_variance"] for v, g in guesses.items()}
        bias = {v: g["bias_variance"] for v, g in guesses.items()}
        return replace(self, noise_variance=noise, bias_variance=bias, noise_sd=None, bias_sd=None, learnt=None)

    def beside(self, others: Sequence[Mechanism]) -> list[str]:
        """What is wrong with this step among the others of a plan."""
        return [
            f'MeasurementError("{v}") is about numbers that are released as the file has them, but another step '
            "coarsens them. For error in the intruder's own value of a coarsened variable use "
            f'errors={{"{v}": sd}} of the intruder.'
            for v in self.variables
            if any(v in s.variables and s.role == "coarsen" for s in others)
        ]

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedError:  # noqa: ARG002
        problems, errors = [], {}
        for v in self.variables:
            noise, bias = self._beliefs(v)
            problems += _column_problems(v, current[v], noise is not None)
            errors[v] = Variances.of(noise, bias, _of(self.learnt, v))
        if self.absent == "joint" and any(_present(current[v])[1].sum() < current.n for v in self.variables):
            problems.append(
                f'MeasurementError("{", ".join(self.variables)}"): absent="joint" needs a file without missing values '
                'in these variables; use absent="student".'
            )
        raise_all(problems)
        return _FittedError(self.absent, errors)

    def learn(self, file: Any, truth: Any) -> MeasurementError:
        """What is believed after seeing verified people: the file's values beside their true ones, row by row.

        `file` and `truth` are columns of numbers (for one variable) or frames with the step's variables. Beliefs become
        the posterior of both variances, on a grid, for each variable by itself; fixed variances stay fixed.

        >>> import confide as cf, numpy as np
        >>> z = np.linspace(20, 80, 40)
        >>> x = z + 2.0 * np.random.default_rng(1).standard_normal(40)
        >>> vague = cf.MeasurementError("age", noise_variance=cf.Gamma(2, 0.02))
        >>> bool(2 < vague.learn(z, x).learnt["age"].means[0] < 8)
        True
        """
        found = {}
        for v in self.variables:
            noise, bias = self._beliefs(v)
            pair = [_numbers(given, v, what, len(self.variables)) for given, what in ((file, "file"), (truth, "truth"))]
            found[v] = learnt_from(pair[0], pair[1], noise, bias, v)
        return replace(self, learnt=found)


def _read(given: Any, cls: type[Any], names: Sequence[str]) -> Any:
    """A belief written as a table, as documents do, becomes an object."""
    if isinstance(given, Mapping):
        fields = set(cls.__dataclass_fields__)
        if set(given) == fields and not fields <= set(names):
            return cls(**given)
        return {k: _read(v, cls, ()) for k, v in given.items()}
    return given


def _of(given: Any, variable: str) -> Any:
    return given.get(variable) if isinstance(given, Mapping) else given


def _present(column: Column) -> tuple[F64, Bools]:
    """Values that are numbers and no answer codes, and where they are."""
    return column.values[column.usable], column.usable


def _numbers(given: Any, variable: str, what: str, several: int) -> F64:
    """One variable of a frame, or the column itself where the step has only one."""
    if hasattr(given, "columns"):
        if variable not in list(given.columns):
            raise InputError(f'learn: {what} has no column "{variable}".')
        given = given[variable]
    elif several > 1:
        raise InputError(f"learn: {what} must be a frame with the columns of the step.")
    try:
        return np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f'learn: {what} must hold numbers for "{variable}".') from None


def _column_problems(v: str, current: Column, noisy: bool) -> list[str]:
    where = f'MeasurementError("{v}")'
    values, _ = _present(current)
    if len(values) < 2:
        return [f"{where}: the file has {'no value' if not len(values) else 'one value only'} of it."]
    if np.ptp(values) == 0:
        return [f"{where}: all values of the file are the same, so they distinguish nobody; leave the variable out."]
    zeros = int((values == 0).sum())
    if zeros and not noisy:
        return [
            f"{where}: {zeros} values of the file are zero, where a bias has no effect, so the truth would have to be "
            "exactly zero. Give noise_variance (or noise_sd) as well."
        ]
    return []


@dataclass(frozen=True, eq=False)
class _FittedError(Fitted):
    absent: str | Conjugate
    errors: Mapping[str, Variances]

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        return Applied()

    def truth(self, current: Records, stream: Callable[[str], np.random.Generator], shared: bool) -> list[Column]:
        """True values drawn around the file's; both variances drawn once for everybody, or for each (not `shared`)."""
        out = []
        for v, error in self.errors.items():
            z, rng = np.where(_present(current[v])[1], current[v].values, np.nan), stream(v)
            noise, bias = error.draw(1 if shared else len(z), rng)
            theta = 1 + np.sqrt(bias) * rng.standard_normal(len(z))
            out.append(current[v].with_values(theta * z + np.sqrt(noise) * rng.standard_normal(len(z))))
        return out

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        labels = {v: found for v in about if (found := _states(view.released[v], v in view.told_missing))}
        spreads = [self._spread(view.released[v]) for v in about]
        if self.absent != "joint" or len(about) == 1:
            (like,) = spreads
            return Evidence(about, labels, like, sense="y|z")
        file = JointPredictive.of(np.stack([view.released[v].values for v in about]))
        errors = [self.errors[v] for v in about]

        def log_absent(records: Records) -> F64:
            return file.log_absent(np.stack([records[v].values for v in about]), errors)

        first = replace(spreads[0], log_absent=log_absent)
        rest = [replace(s, log_absent=None) for s in spreads[1:]]
        return Evidence(about, labels, SpreadTogether((first, *rest)), sense="y|z")

    def _spread(self, released: Column) -> Spread:
        v, error = released.name, self.errors[released.name]
        values, there = _present(released)
        sized = there if error.bias.any() else np.zeros(len(there), dtype=bool)  # without bias all records are alike
        distinct, rule = np.unique(np.where(sized, np.abs(released.values), 0.0), return_inverse=True)
        variance, p = error.rules(distinct)
        z = np.where(there, released.values, 0.0)
        most = (float(error.noise.max()), float(error.bias.max()))
        return Spread(z, there, rule, variance, p, most, _values(v), self._log_absent(v, values), error.draw)

    def _log_absent(self, v: str, values: F64) -> Callable[[Records], F64]:
        form = "student" if self.absent == "joint" else self.absent
        if form == "file":
            people, exact = FilePredictive(values), self.errors[v]
            return lambda records: people.log_absent(records[v].values, exact)
        file, error = Predictive.of(values, form, v), self.errors[v].roughly()
        return lambda records: file.log_absent(records[v].values, error)


def _values(variable: str) -> Callable[[Records], F64]:
    """Numbers of the targets; NaN for answer codes."""
    return lambda records: np.where(records[variable].usable, records[variable].values, np.nan)


def _states(released: Column, told: bool) -> Labels | None:
    """What stands apart as a certain label: answer codes and, where that is told, missing values; None for nothing."""
    found = Apart.of(released, zeros=False)
    apart = found if told else Apart(tuple(s for s in found.values if not np.isnan(s)))
    if not apart.values:
        return None

    def state(y: F64) -> I64:
        return apart.of_values(y) if told else np.maximum(apart.of_values(y), 0)

    return Labels(lambda records: state(records[released.name].values), state(released.values), len(apart.values) + 1)
