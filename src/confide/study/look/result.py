"""The result of a first look: one answer on screen, tables by topic, one private row per record, one page."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from confide.core.files.atomic import atomic_write
from confide.core.result import Result
from confide.core.upward import upward
from confide.core.visible import visible
from confide.frames.columns import F64
from confide.frames.roles.result import Roles
from confide.frames.roles.words import words_of
from confide.measure.risk.file_risks.result import FileRiskResult
from confide.study.look.attacks import SURE, UNSURE, Attacked
from confide.study.look.classes import LEVELS, Counted
from confide.study.look.who import Who, who_of

SUMMARY: dict[str, Any] = {"measure": pl.String, "value": pl.Float64, "share": pl.Float64, "what": pl.String}

TELLING = 3
"""Letters that a word of a name has at least if it tells something."""


@dataclass(frozen=True, eq=False)
class Stated:
    """What a look was about: the roles it went on with, and which of them nobody stated."""

    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    weight: str | None
    unit: str | None
    guessed: frozenset[str]
    total: float | None
    counted: bool
    """Whether a file of the population was given, so that its size and classes are counted and not estimated."""


@dataclass(frozen=True, eq=False, repr=False)
class Look(Result):
    """A first look at a file: who could be recognised by the keys.

    - `frame`: private, one row per record: `row`, `alike` (rows with its values of the keys, itself among them),
      `individual_risk` (the probability that a match with it is right), `suda` (its SUDA2 score). Of a scan, one row
      per combination of the keys (and weight), with how many records have it: `rows`.
    - `population`: one row per estimator: expected population uniques and re-identifications, with intervals.
    - `growth`: risk as keys are added one by one; `drivers`: risk if one key were not known; `sets`: small sets of keys
      and the people who are alone on them; `groups`: who is at risk, by group; `missing`: missing values by variable.
    - `attacks`: what an intruder finds who knows the keys, sure and unsure that a person is in the file; `remedies`:
      whom one coarser variable would bring among five or more alike, None where the file is too large to try.
    - `measures`: customary measures by name, each a result of its own.
    - `roles`: what each variable was taken for, and why; `stated`: the roles that were used.
    - `doubts`: what limits these numbers, in sentences; they are printed with them.

    Printed, saved as .html or shown in a notebook it holds counts of people and no record.
    """

    frame: pl.DataFrame
    rows: int
    units: int | None
    counted: Counted
    stated: Stated
    roles: Roles
    missing: pl.DataFrame
    growth: pl.DataFrame
    drivers: pl.DataFrame
    sets: pl.DataFrame
    alone_on: Mapping[int, int]
    """By size of set, the people who are alone on some set of so many keys and on none of fewer."""
    groups: pl.DataFrame
    small_groups: int
    attacked: tuple[Attacked, ...]
    remedies: pl.DataFrame | None
    measures: Mapping[str, FileRiskResult]
    population: pl.DataFrame
    doubts: tuple[str, ...]
    script: str = field(default="")

    @property
    def short(self) -> int:
        """Rows with whose keys a file of the population has fewer people than the file has rows: it does not fit."""
        return max((a.short for a in self.attacked), default=0)

    @property
    def attacks(self) -> pl.DataFrame:
        """One row per intruder."""
        return pl.DataFrame([a.row() for a in self.attacked])

    def found(self, membership: str = SURE) -> float | None:
        """People whom an intruder finds who is "sure" or "unsure" that they are in the file; None where unknown."""
        return next((a.found for a in self.attacked if a.membership == membership), None)

    @property
    def who(self) -> Who:
        """Whom rows are about: people, or firms."""
        return who_of(self.roles)

    def label(self, name: str) -> str:
        """A variable's label where its name tells little: empty where there is none, or it has a word of the name."""
        said = str(self.roles.row(name)["label"])
        mine = [w for w in words_of(name) if len(w) >= TELLING]
        return "" if any(w.startswith(tuple(mine)) for w in words_of(said)) else said

    @property
    def individual(self) -> float:
        """The sum of individual risks: expected re-identifications."""
        return float((self.frame["individual_risk"].to_numpy() * self.each).sum())

    @property
    def each(self) -> F64:
        """How many records each row of `frame` stands for."""
        held = self.frame
        return held["rows"].cast(pl.Float64).to_numpy() if "rows" in held.columns else np.ones(held.height)

    def summary(self) -> pl.DataFrame:
        """One row per number: its name, its value, its share of rows, and what it says in words."""
        n = self.rows
        rows: list[tuple[str, float | None, float | None, str]] = [
            ("rows", n, None, "rows of the file"),
            ("alone", self.counted.alone, self.counted.alone / n, "sample uniques: nobody else has their keys"),
        ]
        if self.units is not None:
            rows.insert(1, ("units", self.units, None, "households, firms or the like that rows belong to"))
        rows += [
            (f"below_{k}", below, below / n, f"violate {k}-anonymity: fewer than {k} alike")
            for k, below in zip(LEVELS, self.counted.below, strict=True)
        ]
        rows.append(("classes", self.counted.classes, None, "different combinations of the keys"))
        for a in self.attacked:
            sure = "is sure that they are in the file" if a.membership == SURE else "is not sure of that"
            share = None if a.found is None else a.found / n
            rows.append(
                (f"found_{a.membership}", a.found, share, f"found by an intruder who knows the keys and {sure}")
            )
        rows.append(("individual_risk", self.individual, self.individual / n, "sum of individual risks"))
        for name, found in self.measures.items():
            told = f"{name}_benedetti_franconi" if name == "individual_risk" and self.stated.counted else name
            rows += [(measure, found.numbers[part], None, said)
                     for part, said in found.words.items()
                     if (measure := f"{told}{'_' * bool(part)}{part}") != "individual_risk"]  # fmt: skip
        for r in self.population.iter_rows(named=True):
            rows += [(f"{r['estimator']}_{what}", r[what], None, f"{words}, by {r['estimator']}")
                     for what, words in POPULATION.items() if r.get(what) is not None]  # fmt: skip
        return pl.DataFrame(rows, schema=SUMMARY, orient="row")

    def to_dict(self) -> dict[str, object]:
        """The same as plain data, without records."""
        tables = {
            n: getattr(self, n) for n in ("missing", "growth", "drivers", "sets", "groups", "attacks", "population")
        }
        tables |= {} if self.remedies is None else {"remedies": self.remedies}
        s = self.stated
        return {
            "rows": self.rows, "units": self.units,
            "roles": {
                "keys": list(s.keys), "sensitive": list(s.sensitive), "weight": s.weight, "unit": s.unit,
                "guessed": sorted(s.guessed), "variables": self.roles.frame.to_dicts(),
            },
            "summary": self.summary().to_dicts(), **{n: t.to_dicts() for n, t in tables.items()},
            "measures": {n: {"title": m.title, "numbers": dict(m.numbers), "notes": list(m.notes)}
                         for n, m in self.measures.items()},
            "alone_on": {str(k): v for k, v in self.alone_on.items()}, "groups_too_small": self.small_groups,
            "cautions": list(self.doubts),
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the page (.html), plain data (.json), the private frame (.csv, .parquet) or the chart (.png, .svg).

        All can be read by their owner alone; an existing file is refused unless `overwrite`.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix in (".html", ".htm"):
            return Path(upward("write_look")(self, target, overwrite))
        if suffix == ".json":
            with atomic_write(target, overwrite, private=True) as temporary:
                text = json.dumps(self.to_dict(), indent=2, allow_nan=False, default=str)
                temporary.write_text(text + "\n", encoding="utf-8", newline="\n")
            return target
        return super().save(path, overwrite)

    def __repr__(self) -> str:
        return str(upward("look_text")(self))

    def _repr_html_(self) -> str:
        """The summary as a table, and every doubt."""
        return super()._repr_html_() + "".join(f"<p>{escape(visible(said))}</p>" for said in self.doubts)


POPULATION = {
    "tau1": "those who are alone here and in the population",
    "tau2": "expected re-identifications of those who are alone here",
    "uniques": "those who are alone in the population",
}
"""What estimators of the population say, in words."""

__all__ = ["SURE", "UNSURE", "Look", "Stated"]
