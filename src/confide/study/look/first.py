"""`cf.look`: a first answer about a file in one call, without a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.scale.local import Local
from confide.frames.encoded import Encoded
from confide.frames.roles.result import roles
from confide.frames.scan.scan import Scan
from confide.measure.risk.file_risks.file import File
from confide.measure.risk.file_risks.words import truth_words
from confide.protect.release import Release
from confide.study.look.asked import Asked, settled
from confide.study.look.attacks import THRESHOLD, attacks
from confide.study.look.classes import Classes
from confide.study.look.doubts import doubts_of
from confide.study.look.groups import groups
from confide.study.look.growth import drivers, growth
from confide.study.look.measured import SUDA, customary, individual_risk, population_frame, suda_scores
from confide.study.look.remedies import remedies
from confide.study.look.result import Look, Stated
from confide.study.look.scanned import asked_of_scan
from confide.study.look.sets import isolating


def look(
    data: Any,
    keys: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    weight: str | None = None,
    unit: str | None = None,
    population: Any = None,
    *,
    count: str | None = None,
    guess: bool = True,
    threads: int | None = None,
    engine: Local | None = None,
) -> Look:
    r"""A first look at a file: who could be recognised by what others may know of them, and by which variables.

    With f the rows that have a row's values of the keys, a person is alone where f = 1 (a sample unique), violates
    k-anonymity where f < k, and is found with probability 1/f by an intruder who knows the keys and that the person is
    in the file: in all, as many people as there are combinations,

    .. math:: \sum_{\text{rows}} 1/f.

    Beside that stand what is expected in the population, if weights or its size are known, customary measures, how
    risk grows with each key, which small sets of keys isolate people, and who is at risk by group.

    `keys`: what an intruder could know of a person. `sensitive`: what must not be learnt. `weight`: the survey weight,
    how many people each row stands for. `unit`: which rows are of one household or firm. `population`: a file of the
    population with the keys, one row per person (`count` names the column that says how many, where a row stands for
    several), or its size. Roles that are not stated are guessed from names,
    labels and values (`cf.roles`), and marked as guessed wherever results are printed; `guess=False` guesses none.
    `sensitive=()` says that there is none. A missing key is a value of its own. `threads` never changes a result.

    `data` may also be a scan (`cf.scan`): it is read twice, and known by the different combinations of keys with how
    many rows have each; then `look.frame` has a row for each of these, and units and coarser variables are not looked
    at. `engine`: ``cf.Local(memory=...)``, what that may take. `population` may be a scan as well.

    `data` may also be a release, whose public file is looked at; where its plan alters keys at random, released values
    are taken as true, which is said: what an intruder finds there is told by an attack.

    Nothing in a printout, on the page or in a notebook is about one record; `look.frame` is private.

    >>> import confide as cf
    >>> found = cf.look(cf.demo("heads"), keys=["sex", "race", "marital", "age"], weight="weight")
    >>> found.counted.alone, found.counted.below, found.found("sure")
    (539, (539, 1133, 2243), 2543.0)
    >>> found.growth["added"].to_list()
    ['age', 'marital', 'race', 'sex']
    """
    release = data if isinstance(data, Release) else None
    data = data if release is None else release.data
    stated: dict[str, Any] = {
        "keys": keys, "sensitive": sensitive, "weight": weight, "unit": unit, "population": population, "count": count,
        "guess": guess,
    }  # fmt: skip
    if isinstance(data, Scan):
        asked = asked_of_scan(data, engine, **stated)
    elif engine is not None:
        raise InputError("engine goes with a scan: look(cf.scan(...), ..., engine=cf.Local(...)).")
    else:
        asked = settled(Encoded.of(data), roles(data), **stated)
    file = asked.file
    classes = Classes(asked.records)
    alike = classes.alike
    by_group, small = groups(file, asked.keys, alike.astype(np.float64), [v for v in asked.keys if asked.coded(v)])
    lost = [] if release is None else truth_words(File.of(release, "look"), asked.keys)
    measures = customary(asked, lost)
    frame = pl.DataFrame({
        **File(file, "look").places, "alike": alike, "individual_risk": individual_risk(measures, alike),
        "suda": suda_scores(measures, file.frame.height),
    })  # fmt: skip
    found, attack = attacks(asked, threads)
    units = asked.units
    sets, alone_on = isolating(classes, measures.get(SUDA))
    made = Look(
        frame, asked.rows, None if units is None else len(np.unique(units)), classes.everything, _stated(asked),
        asked.roles, _missing(asked), growth(classes), drivers(classes), sets, alone_on, by_group, small,
        tuple(found), remedies(attack, THRESHOLD), measures, population_frame(asked, measures, alike), (),
        _script(asked),
    )  # fmt: skip
    object.__setattr__(made, "doubts", tuple(doubts_of(made, asked, lost)))
    return made


def _stated(asked: Asked) -> Stated:
    return Stated(
        asked.keys, asked.sensitive, asked.weight, asked.unit, asked.guessed, asked.total, asked.people is not None
    )


def _missing(asked: Asked) -> pl.DataFrame:
    """Variables with missing values: how many rows have none, and the variable's role."""
    used = {**dict.fromkeys(asked.sensitive, "sensitive"), **dict.fromkeys(asked.keys, "key")}
    found = asked.roles.frame.select("variable", rows="missing").filter(pl.col("rows") > 0)
    return found.with_columns(
        share=pl.col("rows") / asked.rows,
        role=pl.col("variable").replace_strict(used, default="other", return_dtype=pl.String),
    )


def _script(asked: Asked) -> str:
    """The call that gives the same, with every role stated."""
    parts = [f"keys={list(asked.keys)!r}", f"sensitive={list(asked.sensitive)!r}"]
    parts += [f"{role}={name!r}" for role, name in (("weight", asked.weight), ("unit", asked.unit)) if name is not None]
    if asked.people is not None:
        parts.append("population=people" + (f", count={asked.people.count!r}" if asked.people.count else ""))
    elif asked.weight is None and asked.total is not None:
        parts.append(f"population={asked.total:,.0f}".replace(",", "_"))
    return f"look = cf.look(data, {', '.join(parts)}, guess=False)".replace("'", '"')
