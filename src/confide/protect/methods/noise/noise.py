"""Noise: add normal noise to numbers, of one size or in proportion to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.checks import finite, positive
from confide.core.errors import InputError, Problems, did_you_mean
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools, Column, Kind, Records
from confide.frames.door import array_of
from confide.protect.likelihoods.correlated import CorrelatedNormal
from confide.protect.likelihoods.normal import Normal
from confide.protect.methods.noise.span import INSIDE, SPECIAL, Span
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Offers, Outlook, Subject, dear_numbers, one_each, together
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import amount, exactly, listed, percent
from confide.protect.shared.per_unit import PER, checked_per
from confide.protect.shared.rounding_step import too_large

SPREADS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Noise to try, in standard deviations of the values that are altered."""


@registered
@dataclass(frozen=True)
class Noise(Mechanism):
    r"""Add normal noise with mean 0 to numbers.

    Give `sd`, or `relative`: that many times the standard deviation of the values that are altered. Results are
    rounded to the variable's own precision (whole numbers stay whole) and drawn again until they lie inside
    `bounds` and are not a value that is kept. Values outside the bounds are left alone, and refused unless a later
    step covers them, as ``Topcode(at=upper bound)`` does. `keep_zeros` leaves zeros alone and makes no new ones.
    Missing values stay missing. Mind that bounds shrink what `relative` refers to: below a topcode give `sd`.

    A released value z then has, for a true value y inside the bounds, the probability

    .. math:: \frac{\Phi((z+h-y)/s)-\Phi((z-h-y)/s)}{\sum_{v\ \mathrm{allowed}} \Phi((v+h-y)/s)-\Phi((v-h-y)/s)}

    with 2h the precision; for a continuum the density of the truncated normal.

    `bias_sd` multiplies each value by a random factor as well, :math:`z = \theta y + \xi` with
    :math:`\theta \sim N(1, \mathrm{bias\_sd}^2)`, so that s grows with the value: :math:`s^2 = \mathrm{sd}^2 +
    \mathrm{bias\_sd}^2 y^2`. It may stand alone where no zero would be altered.

    Several variables get independent noise, or with `correlation` (a number, a matrix, or "data" for the
    correlation of the data themselves) joint noise. `sequential=True` lets noise cross a later topcode. With
    ``per="unit"`` all rows of a unit get the same draw (`Plan.unit`), so that noise does not average out over them.

    >>> import confide as cf
    >>> cf.Noise("income", sd=1_000, keep_zeros=True).variables
    ('income',)
    >>> cf.Noise("income", sd=1_000, bias_sd=0.05).bias_sd
    0.05
    >>> cf.Noise("income", sd=-5)
    Traceback (most recent call last):
    confide.InputError: Noise("income"): sd must be above zero, not -5.
    """

    variables: Names
    sd: float | Mapping[str, float] | None = field(default=None, hash=False)
    relative: float | None = None
    bounds: Any = field(default=None, hash=False)
    keep_zeros: bool = False
    correlation: Any = field(default=None, hash=False)
    sequential: bool = False
    bias_sd: float | Mapping[str, float] | None = field(default=None, hash=False)
    per: str = field(default="record", metadata={"choices": PER})

    method: ClassVar[str] = "noise"
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False
    linear: ClassVar[bool] = True
    margins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        with problems:
            checked_per(self.per, where)
        neither = (self.sd is None) == (self.relative is None) and (self.sd is not None or self.bias_sd is None)
        problems.when(neither, f"{where} takes either sd or relative.")
        both = self.bias_sd is not None and self.correlation is not None
        problems.when(both, f"{where}: bias_sd and correlation do not go together.")
        with problems:
            if self.relative is not None and (share := positive(self.relative, f"{where}: relative")) > 10:
                raise InputError(
                    f"{where}: relative is a multiple of the standard deviation; for {share:g} percent of it "
                    f"write {share / 100:g}."
                )
        if isinstance(self.bounds, list):
            object.__setattr__(self, "bounds", tuple(self.bounds))
        self._check_sizes(problems)
        with problems:
            self._check_correlation()
        problems.tell()

    def _check_sizes(self, problems: Problems) -> None:
        """What is stated for each variable."""
        names, where = self.variables, self.where
        for part in ("sd", "bias_sd", "bounds"):
            given = getattr(self, part)
            for v in (v for v in given if v not in names) if isinstance(given, Mapping) else ():
                problems.when(True, f'{where}: {part} speaks of "{v}".{did_you_mean(v, names)}')
        for v in names:
            with problems:
                if self.sd is not None:
                    positive(self._of(self.sd, v, f"{where}: sd"), f"{where}: sd")
            with problems:
                self._check_bias(v)
            with problems:
                self._limits(v)

    def _check_bias(self, variable: str) -> None:
        if self.bias_sd is None:
            return
        where = f"{self.where}: bias_sd"
        factor = positive(self._of(self.bias_sd, variable, where), where)
        if factor > 1:
            raise InputError(
                f"{where} is the standard deviation of a factor around 1; for {factor:g} percent write "
                f"{factor / 100:g}."
            )

    def _check_correlation(self) -> None:
        names, where = self.variables, self.where
        if self.correlation is not None and len(names) < 2:
            raise InputError(f"{where}: correlation needs two or more variables.")
        if self.correlation is not None and not isinstance(self.correlation, str):
            object.__setattr__(self, "correlation", _correlation(self.correlation, len(names), where))
        elif self.correlation not in (None, "data"):
            raise InputError(f'{where}: correlation is a number, a matrix or "data".')

    @staticmethod
    def _of(given: Any, variable: str, what: str) -> Any:
        if isinstance(given, Mapping):
            if variable not in given:
                raise InputError(f'{what} says nothing about "{variable}".')
            return given[variable]
        return given

    def _limits(self, variable: str) -> tuple[float, float]:
        where = f'Noise("{variable}"): bounds'
        given = self.bounds.get(variable) if isinstance(self.bounds, Mapping) else self.bounds
        if given is None:
            return -np.inf, np.inf
        if not isinstance(given, Sequence) or len(given) != 2:
            raise InputError(f"{where} is a pair (lowest, highest); None for no limit.")
        low = -np.inf if given[0] in (None, -np.inf) else finite(given[0], where)
        high = np.inf if given[1] in (None, np.inf) else finite(given[1], where)
        if low >= high:
            raise InputError(f"{where} must be (lowest, highest), but {low:g} is not below {high:g}.")
        return low, high

    @property
    def words(self) -> str:
        names = self.variables
        size = [] if self.relative is None else [f"sd {percent(self.relative)} of that of the data"]
        for what, given in (("sd", self.sd), ("factors of sd", self.bias_sd)):
            if given is not None:
                each = [given[v] for v in names] if isinstance(given, Mapping) else [given]
                size.append(f"{what} {listed([exactly(x) for x in each])}")
        more = ["correlated"] * (self.correlation is not None) + ["one draw per unit"] * self.per_unit
        return f"normal noise on {listed(names)}, {', '.join((*size, *more))}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers, one by one and all at once; none below zero becomes negative, and many zeros stay zeros."""
        per = "record" if outlook.unit is None else "unit"
        there = [s for s in outlook.worth("numeric") if len(np.unique(s.amounts)) > 1 and not too_large(s.column)]

        def step(s: Subject, relative: float) -> Mechanism:
            bounds = (0, None) if not s.dated and s.values.min() >= 0 else None
            return cls(s.name, relative=relative, bounds=bounds, keep_zeros=s.zeros, per=per)

        def says(s: Subject, relative: float) -> str:
            size = f"{percent(relative)} of its standard deviation"
            sd = float(f"{relative * s.amounts.std(ddof=1):.2g}")
            return f"noise on {s.name}, sd {size if s.dated else f'{amount(sd)} ({size})'}"

        found = one_each(cls.method, there, _relative, step, says, "noise would vanish in its precision", between=True)

        def all_of(names: tuple[str, ...], r: float) -> str:
            return f"noise on {listed(names)}, sd {percent(r)} of that of each"

        return [*found, *together(found, all_of, dear_numbers(outlook))]

    @property
    def per_unit(self) -> bool:
        return self.per == "unit"

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def parts(self) -> Sequence[Mechanism]:
        if self.correlation is not None:
            return (self,)
        return tuple(
            replace(self, variables=(v,), sd=self._of(self.sd, v, "sd"), bias_sd=self._of(self.bias_sd, v, "bias_sd"))
            for v in self.variables
        )

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - relative noise is fitted to what is released
        """Someone who knows only that noise was added assumes a tenth of the released standard deviation."""
        return replace(self, sd=None, relative=0.10, bias_sd=None)

    def matrices(self, fitted: Fitted, original: Records, current: Records, draws: Draws) -> Parts:
        """As a matrix mask: C is the noise, 0 where a value is missing."""
        made = fitted.apply(original, current, draws).columns
        x = np.column_stack([current[v].values for v in self.variables])
        return Parts(c=np.nan_to_num(np.column_stack([c.values for c in made]) - x), columns=tuple(made))

    def at_once(self) -> str:
        if isinstance(self.correlation, str):
            return (
                f'{self.where}: correlation="data" is computed from all records at once; for a file that is read in '
                "parts state the correlation as a number or a matrix."
            )
        return ""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedNoise:  # noqa: ARG002
        spans = []
        for v in self.variables:
            low, high = self._limits(v)
            sd = None if self.sd is None else float(self._of(self.sd, v, "sd"))
            slope = 0.0 if self.bias_sd is None else float(self._of(self.bias_sd, v, "bias_sd"))
            chain = after.get(v, Chain())
            span = Span.of(
                current[v], (low, high), self.keep_zeros, sd, self.relative, chain, self.sequential, slope,
                current.count_of(v),
            )  # fmt: skip
            spans.append(span)
        rho = None
        if self.correlation is not None:
            rho = _data_correlation(current, spans) if isinstance(self.correlation, str) else np.array(self.correlation)
        return _FittedNoise(tuple(spans), rho, self.relative is None and not isinstance(self.correlation, str))


def _relative(s: Subject) -> list[float]:
    """Sizes that are not lost when values are rounded to their precision."""
    return [r for r in SPREADS if r * s.amounts.std(ddof=1) >= 0.5 * s.column.step]


def _correlation(given: Any, d: int, where: str) -> tuple[tuple[float, ...], ...]:
    rho = array_of(given, float)
    if rho.ndim == 0:
        rho = np.where(np.eye(d, dtype=bool), 1.0, float(rho))
    if rho.shape != (d, d) or not np.allclose(rho, rho.T) or not np.allclose(np.diag(rho), 1):
        raise InputError(f"{where}: correlation must be a symmetric {d} x {d} matrix with ones on the diagonal.")
    if np.linalg.eigvalsh(rho).min() <= 1e-9:
        raise InputError(f"{where}: correlation must be positive definite.")
    return tuple(map(tuple, rho.tolist()))


def _data_correlation(current: Records, spans: Sequence[Span]) -> F64:
    both = np.logical_and.reduce([s.label(current[s.variable]) == INSIDE for s in spans])
    if both.sum() < 3:
        raise InputError('Noise: correlation="data" needs at least three records in which all variables are altered.')
    rho = np.corrcoef([current[s.variable].values[both] for s in spans])
    shrunk: F64 = 0.999 * rho + 0.001 * np.eye(len(spans))  # keeps it positive definite for collinear columns
    return shrunk


@dataclass(frozen=True, eq=False)
class _FittedNoise(Fitted):
    """`rho`: correlation of the noise, None where independent; `stated`: nothing of it was learnt from the file."""

    spans: tuple[Span, ...]
    rho: F64 | None
    stated: bool = False

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        if self.rho is not None:
            return Applied(self._apply_jointly(current, draws))
        (span,) = self.spans
        column = current[span.variable]
        inside = span.label(column) == INSIDE
        if inside.all():
            return Applied([column.with_values(span.draw(column.values, draws, current.rows))])
        values = column.values.copy()
        values[inside] = span.draw(values[inside], draws, current.rows[inside])
        return Applied([column.with_values(values)])

    def _apply_jointly(self, current: Records, draws: Draws) -> list[Column]:
        columns = [current[s.variable] for s in self.spans]
        inside = np.stack([s.label(c) == INSIDE for s, c in zip(self.spans, columns, strict=True)])
        y = np.stack([c.values for c in columns])
        z, todo = y.copy(), np.arange(y.shape[1])
        root: F64 = np.linalg.cholesky(np.asarray(self.rho, dtype=float))
        for attempt in range(10_000):
            rows = current.rows[todo]
            normal = [draws.normal(rows, attempt, word=i) for i in range(len(columns))]
            # Added up one by one: a product of matrices rounds by its shape, and parts of a file have another.
            noise = [sum(root[i, k] * normal[k] for k in range(i + 1)) for i in range(len(columns))]
            ok = np.ones(len(todo), dtype=bool)
            for i, s in enumerate(self.spans):
                at = inside[i, todo]
                drawn = s.rounded(y[i, todo] + s.sd * noise[i])
                z[i, todo] = np.where(at, drawn, y[i, todo])
                ok &= ~at | s.allowed(drawn)
            todo = todo[~ok]
            if not len(todo):
                return [c.with_values(v) for c, v in zip(columns, z, strict=True)]
        raise InputError("Noise: the bounds leave almost nothing to draw jointly; widen them.")

    @property
    def in_parts(self) -> bool:
        return True

    @property
    def reads_others(self) -> bool:
        return not self.stated

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        spans = [s for s in self.spans if s.variable in about]
        seen = [s.cells(view.released[s.variable], view.chain_after(s.variable)) for s in spans]
        labels = {
            s.variable: Labels(_labeller(s), label, SPECIAL + len(s.special))
            for s, (_, _, label) in zip(spans, seen, strict=True)
        }
        if len(spans) == 1:
            (span,), ((low, high, label),) = spans, seen
            normal = Normal(low, high, label == INSIDE, span.sd, _values(span), span.log_allowed, span.slope)
            return Evidence(about, labels, normal)
        index = [self.spans.index(s) for s in spans]
        assert self.rho is not None
        rho = self.rho[np.ix_(index, index)]
        joint = CorrelatedNormal(
            tuple(s.variable for s in spans), [c[:2] for c in seen], np.stack([c[2] == INSIDE for c in seen]),
            np.array([s.sd for s in spans]), rho, [_values(s) for s in spans], [s.edges() for s in spans],
        )  # fmt: skip
        return Evidence(about, labels, joint)


def _labeller(span: Span) -> Callable[[Records], I64]:
    return lambda records: span.label(records[span.variable])


def _values(span: Span) -> Callable[[Records], tuple[F64, Bools]]:
    def of(records: Records) -> tuple[F64, Bools]:
        column = records[span.variable]
        return column.values, span.label(column) == INSIDE

    return of
