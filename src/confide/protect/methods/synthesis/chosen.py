"""In which order variables are drawn, and from what, where nobody says: for single methods and for whole files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from confide.core.checks import names_of
from confide.core.errors import InputError, Problems, did_you_mean
from confide.frames.columns import F64, Column, Records
from confide.frames.encoded import Encoded
from confide.frames.roles.result import roles
from confide.protect.methods.synthesis.cart.cart import CartSynthesis
from confide.protect.methods.synthesis.logistic import LogisticSynthesis
from confide.protect.methods.synthesis.normal import NormalSynthesis
from confide.protect.seam.mechanism import Mechanism

MOST_GIVEN = 25
"""Predictors of a variable; of more, those that go with it most are taken."""
LOOKED_AT = 2000
"""Rows by which it is judged what goes with what."""
MODELS = ("cart", "regression")


def synthesis_steps(
    data: Any, variables: str | Sequence[str], given: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None, model: str = "cart", leaf: int = 5,
) -> list[Mechanism]:  # fmt: skip
    """Steps that draw some variables of a file, in an order and from predictors that are chosen, for a `Plan`.

    The rules are those of `synthesise`. Those named in `order` come first; then numbers, in the order of the file; then
    categories, those with few values before those with many. Each is drawn from the variables `given`, which are kept,
    and those drawn before it; of more than 25 from those that go with it most. Where nothing is given, it is all other
    variables of the file but identifiers and what says which rows are of one unit.

    `model`: "cart" (`CartSynthesis`, with leaves of `leaf` records or more), or "regression": `NormalSynthesis` of
    ranks for numbers and `LogisticSynthesis` for categories, both by their estimates, for one file.

    >>> import confide as cf
    >>> steps = cf.synthesis_steps(cf.demo("heads"), ["educ", "hh_income"], given=["sex", "age"])
    >>> [(s.variable, s.given) for s in steps]
    [('hh_income', ('sex', 'age')), ('educ', ('sex', 'age', 'hh_income'))]
    """
    file = Encoded.of(data)
    drawn, kept, first = _named(data, file, variables, given, order)
    if model not in MODELS:
        raise InputError(f"synthesis_steps: model is {' or '.join(map(repr, MODELS))}.")
    records = file.records([*kept, *drawn], {})
    steps, done = list[Mechanism](), list(kept)
    for v in ordered(records, drawn, first):
        steps.append(_step(records[v], predictors_of(records, v, done), model, leaf))
        done.append(v)
    return steps


def ordered(records: Records, names: Sequence[str], first: Sequence[str] = (), last: str | None = None) -> list[str]:
    """Those named first, in that order; then numbers, in the order of the file; then categories, those with few values
    before those with many; one last."""

    def place(v: str) -> tuple[bool, bool, int]:
        number = records[v].kind == "numeric"
        return v == last, not number, 0 if number else len(records[v].levels)

    return [*first, *sorted((v for v in names if v not in first), key=place)]


def predictors_of(records: Records, v: str, done: Sequence[str], always: Collection[str] = ()) -> tuple[str, ...]:
    """What a variable is drawn from: all that came before, or of many those that go with it most, and `always` those
    named."""
    able = [u for u in done if not bool(records[u].missing.all())]
    if len(able) <= MOST_GIVEN:
        return tuple(able)
    rows = np.unique(np.linspace(0, records.n - 1, LOOKED_AT).astype(np.int64))
    mine = _scores(records[v].take(rows))
    strength = {u: float(np.abs(mine.T @ _scores(records[u].take(rows))).max()) for u in able}
    best = sorted(able, key=lambda u: (u not in always, -strength[u]))[: max(MOST_GIVEN, len({*always} & {*able}))]
    return tuple(u for u in able if u in best)


def _scores(column: Column) -> F64:
    """Standardised ranks of a number, or indicators of the ten commonest categories; columns of length one."""
    if column.kind == "numeric":
        x = np.argsort(np.argsort(np.nan_to_num(column.values, nan=-np.inf))).astype(float)[:, None]
    else:
        common = np.argsort(-np.bincount(column.values + 1))[:10]
        x = (column.values[:, None] + 1 == common).astype(float)
    x = x - x.mean(axis=0)
    length = np.sqrt((x**2).sum(axis=0))
    return np.asarray(x / np.where(length > 0, length, 1.0))


def _step(column: Column, given: tuple[str, ...], model: str, leaf: int) -> Mechanism:
    if model == "cart":
        return CartSynthesis(column.name, given=given, leaf=leaf)
    if column.kind == "numeric":
        return NormalSynthesis(column.name, given=given, scale="ranks", draw=False)
    return LogisticSynthesis(column.name, given=given, draw=False)


def _named(
    data: Any, file: Encoded, variables: Any, given: Any, order: Any
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Variables to draw, in the order of the file; those that are kept; and those to draw first."""
    columns, problems = file.frame.columns, Problems()
    found: dict[str, tuple[str, ...]] = {}
    for what, names in {"variables": variables, "given": given, "order": order}.items():
        with problems:
            found[what] = names_of(names, f"synthesis_steps: {what}") if names else ()
        for v in found.get(what, ()):
            strange = v not in columns
            problems.when(strange, f'synthesis_steps: {what}: there is no column "{v}".{did_you_mean(v, columns)}')
    problems.when(not found.get("variables"), "synthesis_steps: variables names those to draw.")
    for v in found.get("order", ()):
        problems.when(v not in found["variables"], f'synthesis_steps: order: "{v}" is not among variables.')
    for v in found.get("given", ()):
        problems.when(v in found["variables"], f'synthesis_steps: "{v}" is drawn and given; name it once.')
    problems.tell()
    kept = list(found["given"])
    if given is None:
        role = roles(data)
        out = {*role.identifiers, role.unit, *found["variables"]}
        kept = [v for v in columns if v not in out and role.row(v)["kind"]]
    return [v for v in columns if v in found["variables"]], kept, found["order"]
