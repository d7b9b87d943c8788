"""Plans of sweeps under names that tell no setting, for people outside the agency."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.measure.utility.traces import FEWEST
from confide.protect.plan import Plan
from confide.show.report.words import columns_of

if TYPE_CHECKING:
    from confide.study.result import StudyResult

PLAIN = re.compile(r"([^=]+)=(True|False|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
"""One parameter with a number, or with true or false."""


def without_settings(result: StudyResult, fewest: int = FEWEST) -> tuple[StudyResult, dict[str, str]]:
    """The result with plans called "swap, setting 1" where a sweep's settings are not for all; and the new names.

    A setting is shown where all its values are numbers, or true or false. It is not shown where it holds anything else,
    where a value or its name is a category, or where it ends in a part of a plan that is marked private or names what
    fewer than `fewest` people have.
    """
    each = result.frame.select("plan", "sweep", "setting").unique(maintain_order=True).drop_nulls("sweep").rows()
    names: dict[str, str] = {}
    settings: dict[str, str] = {}
    taken = set(result.frame["plan"])
    for sweep in dict.fromkeys(s for _, s, _ in each):
        mine = [(plan, setting or "") for plan, s, setting in each if s == sweep]
        quotes = any(n < fewest for plan, _ in mine for _, _, n in result.statements.get(plan, ()))
        if not quotes and _open(result, mine):
            continue
        for k, (plan, _) in enumerate(mine, 1):
            names[plan], settings[plan] = _unlike(f"{sweep}, setting {k}", taken), f"setting {k}"
    return (_renamed(result, names, settings) if names else result), names


def _unlike(name: str, taken: set[str]) -> str:
    """A name that no plan has yet."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _open(result: StudyResult, plans: Sequence[tuple[str, str]]) -> bool:
    """Whether the settings of a sweep can be told."""
    parts = [[PLAIN.fullmatch(p) for p in setting.split(", ")] for _, setting in plans]
    if not all(p for each in parts for p in each):
        return False
    made = [result.plans[name] for name, _ in plans if name in result.plans]
    if len({repr([v for private, v in leaves(p.steps) if private]) for p in made}) > 1:
        return False
    labels = {v for p in made for private, v in leaves(p.steps) if isinstance(v, str)} - columns_of(made, [])
    return labels.isdisjoint(text for each in parts for p in each if p is not None for text in p.groups())


def leaves(part: Any, private: bool = False) -> Iterator[tuple[bool, Any]]:
    """Every single value in a statement, keys of tables too, and whether it is marked private.

    >>> import confide as cf
    >>> [v for private, v in leaves(cf.Swap("race", rate=0.1, force=[3, 8])) if private]
    [3, 8]
    """
    if is_dataclass(part) and not isinstance(part, type):
        for f in fields(part):
            yield from leaves(getattr(part, f.name), private or bool(f.metadata.get("private")))
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield private, key
            yield from leaves(value, private)
    elif isinstance(part, (list, tuple, set, frozenset)):
        for value in part:
            yield from leaves(value, private)
    elif isinstance(part, np.ndarray):
        yield from leaves(part.tolist(), private)
    else:
        yield private, part


def _renamed(result: StudyResult, names: Mapping[str, str], settings: Mapping[str, str]) -> StudyResult:
    def again(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("plan").replace(dict(names)))

    hidden, other = pl.col("plan").is_in(list(names)), pl.col("plan").replace(dict(settings))
    frame = result.frame.with_columns(
        setting=pl.when(hidden).then(other).otherwise("setting"), value=pl.when(hidden).then(None).otherwise("value")
    )
    plans: dict[str, Plan] = {names.get(k, k): p for k, p in result.plans.items()}
    tables = (
        "distribution",
        "groups",
        "details",
        "timings",
        "audit",
        "levels",
        "calibration",
        "claims",
        "distributions",
        "released",
        "group_utility",
        "learnt",
        "learnt_groups",
    )
    kept = {t: getattr(result, t) for t in tables}
    renamed: dict[str, Any] = {t: again(f) for t, f in kept.items() if "plan" in f.columns}
    return replace(
        result, frame=again(frame), plans=plans, **renamed,
        statements={names.get(k, k): found for k, found in result.statements.items()},
    )  # fmt: skip
