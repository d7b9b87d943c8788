"""Pram: change categories at random by a known transition matrix (post-randomisation)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.core.checks import fraction
from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Kind, Records
from confide.protect.likelihoods.table import Table
from confide.protect.methods.pram.retention import FittedRetention
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Subject, Untried, one_each
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import listed, percent
from confide.protect.shared.category_codes import level_codes
from confide.protect.shared.per_unit import PER, checked_per
from confide.protect.shared.stated_values import not_there

MOST = 3_000
"""With more categories no matrix of all pairs is made."""

RETENTIONS = (0.95, 0.9, 0.8, 0.6, 0.4)
"""Shares of values kept to try."""
SENSIBLE = 500
"""With more categories a random one hardly ever makes sense beside a record's other values."""


@registered
@dataclass(frozen=True)
class Pram(Mechanism):
    r"""Replace each category by a random one, drawn from its row of a transition matrix.

    Give `matrix` (rows: true category, columns: released category, both in the order of `levels`, or of the
    column's code list; rows sum to 1; or a mapping of mappings), or `retention`: with that probability a value is
    kept, otherwise drawn from the file's distribution p,

    .. math:: P = \rho I + (1-\rho) 1 p^T,

    which leaves expected counts as they were (invariant PRAM). With `retention` missing values are a category of
    their own; with a matrix that does not name them they are left alone. With ``per="unit"`` there is one draw for all
    rows of a unit (`Plan.unit`): those of one category all become the same one.

    >>> import confide as cf
    >>> cf.Pram("race", retention=0.8).stream
    'Pram:race'
    """

    variables: Names
    matrix: Any = field(default=None, hash=False)
    retention: float | None = None
    levels: Sequence[Any] | None = None
    per: str = field(default="record", metadata={"choices": PER})

    method: ClassVar[str] = "pram"
    role: ClassVar[str] = "random"
    margins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        with problems:
            checked_per(self.per, where)
        problems.when((self.matrix is None) == (self.retention is None), f"{where} takes either matrix or retention.")
        with problems:
            if self.retention is not None:
                fraction(self.retention, f"{where}: retention")
        problems.when(self.matrix is None and self.levels is not None, f"{where}: levels go with matrix.")
        with problems:
            if self.matrix is not None:
                levels, p = _as_matrix(self.matrix, self.levels, where)
                object.__setattr__(self, "matrix", tuple(map(tuple, p.tolist())))
                object.__setattr__(self, "levels", levels)
        problems.tell()

    @property
    def words(self) -> str:
        many, unit = len(self.variables) > 1, ", one draw per unit" * self.per_unit
        if self.retention is None:
            return f"PRAM {listed(self.variables)}, by a stated matrix{unit}"
        share = percent(1 - self.retention)
        return f"PRAM {listed(self.variables)}, {share}{' of each' if many else ''} drawn again{unit}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Categories, one variable at a time and all that are known, by the share of values that is kept."""
        per = "record" if outlook.unit is None else "unit"
        subjects = [s for s in outlook.worth("categorical") if s.distinct <= SENSIBLE]
        many = tuple(s.name for s in outlook.worth("categorical") if s.distinct > SENSIBLE)
        known = tuple(s.name for s in subjects if s.known)

        def step(s: Subject, retention: float) -> Mechanism:
            return cls(s.name, retention=retention, per=per)

        def says(s: Subject, retention: float) -> str:
            return f"PRAM {s.name}, {percent(1 - retention)} drawn again"

        found = one_each(cls.method, subjects, lambda _: RETENTIONS, step, says, between=True)
        if len(known) > 1:
            found.append(Dial(
                cls.method, known, RETENTIONS, lambda r: Change((cls(known, retention=r, per=per),)),
                lambda r: f"PRAM {listed(known)}, {percent(1 - r)} of each drawn again", between=True,
            ))  # fmt: skip
        if many:
            found.append(Untried(cls.method, f"more than {SENSIBLE} categories: recode or swap it", many))
        return found

    @property
    def per_unit(self) -> bool:
        return self.per == "unit"

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "categorical")

    def parts(self) -> Sequence[Mechanism]:
        return tuple(replace(self, variables=(v,)) for v in self.variables)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - the margins do not show the matrix
        """Someone who knows only that PRAM was used assumes invariant PRAM that keeps 90 percent."""
        return Pram(self.variables, retention=0.9)

    def at_once(self) -> str:
        return ""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedPram | FittedRetention:  # noqa: ARG002
        (v,) = self.variables
        column = current[v]
        if bool(column.missing.all()):
            raise InputError(f'Pram("{v}"): the column is missing in every record.')
        if self.retention is not None:
            codes, size = level_codes(column, column)
            n = np.bincount(codes, weights=current.count_of(v), minlength=size)
            p = n / n.sum()
            if size > MOST:
                return FittedRetention(v, column.codebook(), p, self.retention)
            return _FittedPram(v, column.codebook(), self.retention * np.eye(size) + (1 - self.retention) * p)
        return _FittedPram(v, column.codebook(), self._placed(column), stated=True)

    def _placed(self, column: Column) -> F64:
        """The matrix in the order of the column's code list, missing left alone."""
        levels = self.levels if self.levels is not None else column.levels
        p = np.asarray(self.matrix, dtype=float)
        if len(levels) != len(p):
            raise InputError(
                f'Pram("{column.name}"): the matrix has {len(p)} rows, but the column has {len(levels)} categories.'
            )
        present = {column.levels[c] for c in np.unique(column.values[column.values >= 0])}
        lost = present - set(levels)
        if lost:
            more = not_there(levels, column.levels).format("categories of the matrix")
            said = f"{len(lost)} categories of the column have no row in the matrix"
            raise InputError(f'Pram("{column.name}"): {said}. {more}'.rstrip())
        if len(column.levels) > MOST:
            raise InputError(
                f'Pram("{column.name}"): the column has {len(column.levels):,} categories, more than the {MOST:,} that '
                "a matrix is kept for. Recode it first, or give retention in place of a matrix."
            )
        full = np.eye(len(column.levels) + 1)
        place = {v: i for i, v in enumerate(column.levels)}
        strange = [v for v in levels if v not in place]
        used = np.array([p[:, i].max() > 0 for i, v in enumerate(levels) if v in strange])
        if used.any():
            more = not_there(levels, column.levels).format("categories of the matrix")
            raise InputError(
                f'Pram("{column.name}"): the matrix leads to categories that the column does not have: {more}'
            )
        at = [(i, place[v]) for i, v in enumerate(levels) if v in place]
        for i, a in at:
            full[a] = 0.0
            for k, b in at:
                full[a, b] = p[i, k]
        return full


def _as_matrix(matrix: Any, levels: Sequence[Any] | None, where: str) -> tuple[tuple[Any, ...] | None, F64]:
    if isinstance(matrix, Mapping):
        rows = tuple(matrix)
        names = tuple(dict.fromkeys((*rows, *(k for row in matrix.values() for k in row))))
        if set(names) != set(rows):
            raise InputError(f"{where}: the matrix leads to categories that have no row of their own.")
        p = np.array([[float(matrix[a].get(b, 0.0)) for b in names] for a in names])
        levels = names
    else:
        try:
            p = np.asarray(matrix, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{where}: matrix must hold numbers, in rows of equal length.") from None
    if p.ndim != 2 or p.shape[0] != p.shape[1] or not len(p):
        raise InputError(f"{where}: matrix must be square, not of shape {p.shape}.")
    if not np.isfinite(p).all() or (p < 0).any():
        raise InputError(f"{where}: matrix holds negative or missing probabilities.")
    off = int((np.abs(p.sum(axis=1) - 1) > 1e-9).sum())
    if off:
        raise InputError(f"{where}: each row of matrix must sum to 1; {off} of {len(p)} do not.")
    if levels is not None and len(levels) != len(p):
        raise InputError(f"{where}: {len(levels)} levels for a matrix of {len(p)} rows.")
    return (None if levels is None else tuple(levels)), p


@dataclass(frozen=True, eq=False)
class _FittedPram(Fitted):
    """`p`: the matrix over the column's code list and a last category for missing; `stated`: it was given, and not made
    from the file's distribution."""

    variable: str
    column: Column
    p: F64
    stated: bool = False

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.variable]
        codes, size = level_codes(column, self.column)
        cumulative = np.cumsum(self.p, axis=1)
        cumulative[:, -1] = 1.0
        drawn = np.empty(len(codes), dtype=np.int64)
        u = draws.uniform(current.rows)
        for a in range(size):
            rows = codes == a
            drawn[rows] = np.searchsorted(cumulative[a], u[rows], side="right")
        drawn = np.where(drawn == size - 1, -1, drawn)
        return Applied([column.with_values(drawn)])

    @property
    def in_parts(self) -> bool:
        return True

    @property
    def reads_others(self) -> bool:
        return not self.stated

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        z, after = view.released[self.variable], view.chain_after(self.variable)
        column, size_z = level_codes(z, z)
        every = self.column.with_values(np.concatenate([np.arange(len(self.column.levels)), [-1]]))
        image, _ = level_codes(after.image(every), z)
        merged = np.zeros((len(self.p), size_z + 1))
        for b, to in enumerate(
            image
        ):  # categories that a later recode merges add up; the last column is "not released"
            merged[:, to if to >= 0 else size_z] += self.p[:, b]
        with np.errstate(divide="ignore"):
            log_p = np.log(merged)
        return Evidence(about, likelihood=Table(column, log_p, self._rows))

    def _rows(self, records: Records) -> I64:
        return level_codes(records[self.variable], self.column)[0]
