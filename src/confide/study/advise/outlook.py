"""A file as methods see it that are asked what they could do: its variables with their kinds, roles and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import Kind, kind_of
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.roles.result import Roles, roles
from confide.protect.plan import Plan
from confide.protect.seam.dials import Outlook
from confide.study.look.asked import coded


def outlook_of(
    data: Any, *, known: Sequence[str] = (), sensitive: Sequence[str] = (), identifiers: Sequence[str] = (),
    unit: str | None = None, weight: str | None = None, keep: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None, kinds: Mapping[str, Kind] | None = None,
    found: Roles | None = None,
) -> Outlook:  # fmt: skip
    """What methods are asked about. `known`: variables that some intruder knows; `sensitive`: those it would like to
    learn; `keep`: those that must be released as they are. Identifiers, unit and weight are no variables to alter.

    `hierarchies`: those stated; others are proposed (`Hierarchy.propose`). `kinds`: those stated; codes that look like
    numbers are categorical, as a look takes them, by the `roles` that are `found` where nobody gives them.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(500)
    >>> outlook = outlook_of(heads, known=["sex", "age"], sensitive=["hh_income"], identifiers=["id"], weight="weight")
    >>> [s.name for s in outlook.worth("numeric")]
    ['age', 'hh_income']
    """
    file = Encoded.of(data)
    stated, levels = dict(kinds or {}), dict(hierarchies or {})
    check_there(file, known=known, sensitive=sensitive, identifiers=identifiers, keep=keep, hierarchies=[*levels])
    for name, h in levels.items():
        if h.kind is not None:
            stated.setdefault(name, h.kind)
    judged = found if found is not None else roles(data)
    names = [v for v in file.frame.columns if v not in (*identifiers, unit, weight) and kind_of(file.frame[v])]
    chosen = {v: kind for v in names if (kind := _kind(file, judged, v, stated)) is not None}
    return Outlook.of(
        file, known=known, sensitive=sensitive, leave=identifiers, unit=unit, weight=weight, keep=keep,
        hierarchies=levels, kinds=chosen,
    )  # fmt: skip


def base_plan(outlook: Outlook, identifiers: Sequence[str] = (), **more: Any) -> Plan:
    """A plan that alters nothing yet: identifiers left out, the unit, the weight and kinds as the outlook has them.

    >>> import polars as pl
    >>> outlook = outlook_of(pl.DataFrame({"county": [*range(101, 151)] * 10, "age": [*range(20, 70)] * 10}))
    >>> base_plan(outlook).categorical
    ('county',)
    """
    categorical, numeric = ([v for v, k in outlook.kinds.items() if k == kind] for kind in ("categorical", "numeric"))
    return Plan(
        identifiers=tuple(identifiers), weight=outlook.weight, unit=outlook.unit, categorical=categorical,
        numeric=numeric, **more,
    )  # fmt: skip


def check_there(file: Encoded, **named: Sequence[str]) -> None:
    """Refuse names of variables that the file does not have."""
    for what, names in named.items():
        for v in names:
            if v not in file.frame.columns:
                raise InputError(f'{what}: there is no column "{v}".{did_you_mean(v, file.frame.columns)}')


def _kind(file: Encoded, found: Roles, name: str, stated: Mapping[str, Kind]) -> Kind | None:
    """The kind of a variable where it is not the one that the file gives it."""
    own = file.column(name).kind
    kind = stated.get(name) or ("categorical" if own == "numeric" and coded(file, found, name) else own)
    return kind if kind != own else None
