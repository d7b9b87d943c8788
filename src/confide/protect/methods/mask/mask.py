"""MatrixMask: M = A X B + C, with A on records, B on variables and C added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from confide.core.checks import names_of
from confide.core.errors import InputError, Problems
from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Column, Kind, Records, codes_in, combine
from confide.frames.types.exact import fits
from confide.protect.methods.mask.checks import (
    check_added,
    check_columns,
    check_rows,
    checked_matrix,
    same_matrix,
    taken_rows,
)
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.dials import Offers, Outlook, Untried
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.matrices import Parts
from confide.protect.seam.mechanism import Mechanism, Names, registered
from confide.protect.seam.words import listed


@registered
@dataclass(frozen=True, eq=False)
class MatrixMask(Mechanism):
    r"""Release M = A X B + C in place of X, the n x p numbers of the variables named (Duncan and Keller-McNulty).

    A acts on records, B (p x p) on variables, C is added: a row for all records, or one for each. Each is None (the
    identity, or nothing added), a dense array, a scipy.sparse matrix, or a function ``(X, rng)`` that makes one, at
    random from `rng` alone or from the data.

    What A does to rows decides whose they are. A permutation (n x n) exchanges the variables named, as a swap does;
    other columns stay. A sub-permutation (fewer rows) selects records, and all columns follow. Any other n x n matrix,
    such as averages over groups, leaves each row its owner. One with fewer rows makes rows that stand for several
    people and belong to nobody: every released variable must then be masked, and an identity attack is refused.

    `like` makes the matrices from another step and its stream of random numbers: ``MatrixMask.of(Swap(...))`` releases
    what the step releases. So do `Sample`, `Noise` and `Microaggregate`, and what a released value tells is what the
    step says. Other masks say it only where every value has one image that anybody can compute: A is None, B fixed and
    invertible, C one fixed row. Else there is no likelihood, and only intruders who take values as true can attack.

    >>> import confide as cf
    >>> mask = cf.MatrixMask(["wage_income", "other_income"], B=[[0.5, 0.5], [0.5, -0.5]])
    >>> release = cf.Plan([mask], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> release.data.height
    51016
    >>> cf.MatrixMask("age", B=[[1.0, 2.0]])
    Traceback (most recent call last):
    confide.InputError: MatrixMask("age"): B keeps the variables' names, so it must be 1 x 1, but it is 1 x 2.
    """

    variables: Names = ()
    A: Any = None
    B: Any = None
    C: Any = None
    like: Mechanism | None = None

    method: ClassVar[str] = "matrix_mask"

    def __post_init__(self) -> None:
        if self.like is not None:
            self._check_like()
            return
        object.__setattr__(self, "variables", names_of(self.variables, "MatrixMask"))
        if self.A is None and self.B is None and self.C is None:
            raise InputError(f"{self.where}: give A, B or C; without them every value stays as it is.")
        problems = Problems()
        for name in ("A", "B", "C"):
            with problems:
                object.__setattr__(self, name, checked_matrix(getattr(self, name), f"{self.where}: {name}"))
        problems.tell()
        if hasattr(self.A, "shape"):
            check_rows(self.A, self.A.shape[1], self.where)
        p = len(self.variables)
        if hasattr(self.B, "shape"):
            check_columns(self.B, p, self.where)
        if hasattr(self.C, "shape"):
            check_added(self.C, None, p, self.where)

    def _check_like(self) -> None:
        if isinstance(self.like, type) or not isinstance(self.like, Mechanism) or isinstance(self.like, MatrixMask):
            raise InputError("MatrixMask: like takes a step, such as Swap(...).")
        if any(m is not None for m in (self.A, self.B, self.C)):
            raise InputError("MatrixMask takes either like or matrices of its own: the step makes A, B and C.")
        names = tuple(self.like.variables)
        given = (self.variables,) if isinstance(self.variables, str) else tuple(self.variables)
        if given and given != names:
            raise InputError(f"MatrixMask: like is about {', '.join(names) or 'no variable'}, so name those, or none.")
        object.__setattr__(self, "variables", names)
        if not self.like.linear:
            raise InputError(
                f"MatrixMask: {type(self.like).__name__} is not known as a matrix mask; Swap, Sample, Noise and "
                "Microaggregate are."
            )

    @property
    def words(self) -> str:
        if self.like is not None:
            return f"{self.like.words}, as matrices"
        by = listed([name for name in "ABC" if getattr(self, name) is not None])
        return f"masked by matrices ({by}): {listed(self.variables) or 'records'}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:  # noqa: ARG003 - it hangs on no file
        """None: matrices are stated by who uses them."""
        why = "its matrices are for whoever states them; those of other methods are offered by these methods"
        return (Untried(cls.method, why),)

    @classmethod
    def of(cls, step: Mechanism) -> MatrixMask:
        """The mask that releases what a step releases, under the same seed."""
        return cls(like=step)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, MatrixMask)
            and (self.variables, self.like) == (other.variables, other.like)
            and all(same_matrix(getattr(self, m), getattr(other, m)) for m in ("A", "B", "C"))
        )

    def __hash__(self) -> int:
        return hash((self.method, self.variables))

    @property
    def role(self) -> str:
        return "random" if self.like is None else self.like.role

    @property
    def needs(self) -> tuple[str, ...]:
        return () if self.like is None else self.like.needs

    @property
    def stream(self) -> str:
        return super().stream if self.like is None else self.like.stream

    @property
    def secret(self) -> tuple[str, ...]:
        return () if self.like is None else self.like.secret

    @property
    def draws(self) -> bool:
        """Whether releases differ from seed to seed."""
        if self.like is not None:
            return self.like.draws
        return any(callable(m) for m in (self.A, self.B, self.C))

    @property
    def selects(self) -> bool:
        """Whether fewer rows may be released than there were."""
        if hasattr(self.A, "shape"):
            return bool(self.A.shape[0] < self.A.shape[1])
        return self.A is not None or self.role == "select"

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric") if self.like is None else self.like.kinds()

    def parts(self) -> Sequence[Mechanism]:
        if self.like is None:
            return (self,)
        return tuple(MatrixMask(like=part) for part in self.like.parts())

    def beside(self, others: Sequence[Mechanism]) -> list[str]:
        """What the step that it is like says about the others of a plan."""
        like = self.like
        return [] if like is None else like.beside([like if s == self else s for s in others])

    def guess(self, released: Records) -> Mechanism:
        """Someone who knows only that there was a mask has no likelihood for it; of a step it guesses as of that."""
        return (
            _Unread(self.variables, C=np.ones(len(self.variables))) if self.like is None else self.like.guess(released)
        )

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedMask:
        if self.like is not None:
            fitted = self.like.fit(original, current, after)
            assert not isinstance(fitted, Coarsening)
            return _FittedMask(self, fitted)
        for v in self.variables:
            gone = int((~current[v].usable).sum())
            if gone:
                raise InputError(
                    f'{self.where}: "{v}" is missing, or an answer code, in {gone} of {current.n} records, and a '
                    "product of matrices has no place for that. Fill or drop them first."
                )
        if hasattr(self.A, "shape"):
            check_rows(self.A, current.n, self.where)
        return _FittedMask(self, None)


class _Unread(MatrixMask):
    """A mask of which only the variables are known."""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _FittedMask:  # noqa: ARG002
        return _FittedMask(self, None, read=False)


@dataclass(frozen=True, eq=False)
class _FittedMask(Fitted):
    """`like`: the step it is like, fitted. `read`: whether anybody can say what its matrices are."""

    step: MatrixMask
    like: Fitted | None
    read: bool = True

    @property
    def nobody(self) -> str:
        """Why released rows belong to nobody, where that is so whatever is drawn."""
        a = self.step.A
        if not hasattr(a, "shape") or a.shape[0] == a.shape[1] or taken_rows(a) is not None:
            return ""
        return nobody(self.step.where)

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:
        step, names = self.step, self.step.variables
        if step.like is None:
            x = np.column_stack([current[v].values for v in names])
            parts = self._drawn(x, draws.generator())
        else:
            assert self.like is not None
            parts = step.like.matrices(self.like, original, current, draws)
        rows = None if parts.a is None else taken_rows(parts.a)
        if rows is not None and parts.b is None and parts.c is None:
            return _moved(current, names, rows)
        x = np.column_stack([current[v].values for v in names])
        values = masked(x, parts, rows)
        n = len(values)
        if parts.columns:
            return Applied([c.with_values(m) for c, m in zip(parts.columns, values.T, strict=True)])
        if n == current.n:
            return Applied([_column(current[v], m) for v, m in zip(names, values.T, strict=True)])
        if rows is None:
            columns = [_column(current[v], m) for v, m in zip(names, values.T, strict=True)]
            return Applied(columns, np.full(n, -1, dtype=np.int64), nobody(step.where))
        whole = np.zeros(x.shape)
        whole[rows] = values
        return Applied([_column(current[v], m) for v, m in zip(names, whole.T, strict=True)], rows)

    def unfit(self, released: Records, rows: I64 | None) -> list[str]:
        """What the step that it is like says of a release made elsewhere."""
        return [] if self.like is None else self.like.unfit(released, rows)

    def _drawn(self, x: F64, rng: np.random.Generator) -> Parts:
        """The matrices of this release, those that functions make checked like given ones."""
        where, (n, p), made = self.step.where, x.shape, {}
        for name in ("A", "B", "C"):
            given = getattr(self.step, name)
            if callable(given) and not hasattr(given, "shape"):
                given = checked_matrix(_asked(given, x, rng, f"{where}: the function for {name}"), f"{where}: {name}")
                if given is not None and not hasattr(given, "shape"):
                    raise InputError(f"{where}: the function for {name} must return a matrix.")
            made[name] = given
        if made["A"] is not None:
            check_rows(made["A"], n, where)
            n = made["A"].shape[0]
        if made["B"] is not None:
            check_columns(made["B"], p, where)
        if made["C"] is not None:
            check_added(made["C"], n, p, where)
        return Parts(made["A"], made["B"], made["C"])

    # -- the intruder's side ---------------------------------------------------------------------------------

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        if self.like is not None:
            return self.like.evidence(view, about)
        if view.level == "ignore" or not view.known & set(about):
            return Evidence(about)
        for part in self._settled(view):
            if view.known & set(part) and set(part) <= view.known:
                continue
            if view.known & set(part):
                raise InputError(
                    f"{self.step.where}: B mixes {', '.join(part)}, so a released value tells something only to an "
                    "intruder who knows all of them. Let it know all, or none."
                )
        parts = [p for p in self._settled(view) if set(p) <= view.known]
        return Evidence(about, {p[0]: self._image_label(view, p) for p in parts})

    def _settled(self, view: View) -> list[tuple[str, ...]]:
        """Sets of variables whose released values are one-to-one functions of their true ones; else refused."""
        step, names = self.step, self.step.variables
        b, c = _plain(step.B), _plain(step.C)
        fixed = self.read and not callable(step.B) and not callable(step.C)
        one_row = c is None or (not callable(c) and bool((np.atleast_2d(c) == np.atleast_2d(c)[:1]).all()))
        moved = None if not hasattr(step.A, "shape") else taken_rows(step.A)
        still = step.A is None or (moved is not None and bool((moved == np.arange(len(moved))).all()))
        invertible = fixed and (b is None or np.linalg.matrix_rank(b) == len(b))
        if not (fixed and one_row and still and invertible):
            raise InputError(
                f"{step.where}: nobody can say how probable a released value is for a true one, since A, B and C are "
                'any matrices. Ask an intruder who takes released values as true (available="naive"), or one who does '
                "not know these variables; or use a step whose likelihood is known, as in MatrixMask.of(Swap(...))."
            )
        if b is None or bool((b == np.diag(np.diag(b))).all()):
            return [(v,) for v in names if v in view.released]
        return [tuple(names)]

    def _image_label(self, view: View, names: tuple[str, ...]) -> Labels:
        """The released values of some variables together, as a label of true ones."""
        index = [self.step.variables.index(v) for v in names]
        b, c = _plain(self.step.B), _plain(self.step.C)
        parts = Parts(
            b=None if b is None else b[np.ix_(index, index)], c=None if c is None else np.atleast_2d(c)[:1, index]
        )
        sizes = [len(np.unique(view.released[v].values)) for v in names]
        codes, at = [codes_in(view.released[v], view.released[v]) for v in names], sizes
        known, released = np.unique(combine(codes, at), return_inverse=True)

        def of(records: Records) -> I64:
            image = masked(np.column_stack([records[v].values for v in names]), parts, None)
            columns = [view.chain_after(v).image(_column(records[v], m)) for v, m in zip(names, image.T, strict=True)]
            found = [codes_in(column, view.released[column.name]) for column in columns]
            whole = combine(found, at)
            place = np.clip(np.searchsorted(known, whole), 0, len(known) - 1)
            return np.where(known[place] == whole, place, -1).astype(np.int64)

        return Labels(of, released.reshape(-1).astype(np.int64), len(known))


def _asked(function: Any, x: F64, rng: np.random.Generator, where: str) -> Any:
    """What a user's function makes; what it raises may quote values."""
    try:
        return function(x.copy(), rng)
    except InputError:
        raise
    except Exception as cause:
        raise InputError(f"{where} failed with {type(cause).__name__} when it was given the values and rng.") from None


def nobody(where: str) -> str:
    """Why an attack on identities is refused."""
    return (
        f"{where}: A makes each released row of several people, so that no row belongs to anybody and there is no "
        "identity to find. What remains is what the values tell of people's attributes, and utility(release)."
    )


def masked(x: F64, parts: Parts, rows: I64 | None) -> F64:
    """A X B + C; `rows`: the rows that A takes, where it only moves rows. Sums over variables go from first to last."""
    m = x if parts.a is None else x[rows] if rows is not None else np.asarray(parts.a @ x)
    if parts.b is not None:
        b = _plain(parts.b)
        out = np.zeros(m.shape)
        for i in range(len(b)):
            for j in np.flatnonzero(b[i]):
                out[:, j] += m[:, i] * b[i, j]
        m = out
    return m if parts.c is None else m + _plain(parts.c)


def _plain(matrix: Any) -> Any:
    """A small matrix as a dense one."""
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _moved(current: Records, names: Sequence[str], rows: I64) -> Applied:
    """A permutation of the variables named, or a selection of records."""
    if len(rows) < current.n:
        return Applied(rows=rows)
    return Applied([current[v].with_values(current[v].values[rows]) for v in names])


def _column(column: Column, values: F64) -> Column:
    """New values; of a column of whole numbers or decimals they keep its type only where it holds all of them."""
    made = column.with_values(values)
    return made if fits(values, made.dtype) else made.wide()
