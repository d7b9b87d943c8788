"""Tables 2 to 6 of Reiter (2005) from an experiment: tidy frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder, Unsure
from confide.measure.risk.identification import summarise
from papers.reiter.setup import (
    BOTH,
    CUTPOINTS,
    KEYS,
    MONEY,
    NO_SDL,
    PERTURBED,
    RECODE,
    SEED,
    SWAP,
    TOPCODED,
    Experiment,
    informed,
    topcoded_at,
)

if TYPE_CHECKING:
    from confide.protect.release import Release

MEASURES = ("over_threshold", "claimed_matches", "expected_matches", "unique_matches")
CERTAIN, UNSURE = "knows target in file", "unsure target in file"


def unit_risks(release: Release, intruder: Intruder, people: Mapping[str, int]) -> pl.DataFrame:
    """The probability of each person's own record, and how many other records are at least as likely.

    >>> import confide as cf
    >>> release = cf.Plan([]).protect(cf.demo("heads").head(500), seed=1)
    >>> unit_risks(release, cf.Intruder(knows=["sex"]), {"first": 0}).columns
    ['unit', 'p_true', 'as_likely', 'rank']
    """
    rows = list(people.values())
    attack = intruder.attack(release, targets=release.original[rows], truth=rows, progress=False)
    return attack.units.select(pl.Series("unit", list(people)), "p_true", "as_likely", "rank")


def table2(experiment: Experiment, strategy: str = PERTURBED) -> pl.DataFrame:
    """The four people, as they are and as released: columns unit, data, then X, G, R, M, P, I."""
    release, shown = experiment.releases[strategy], [*KEYS, MONEY, "hh_income"]
    place = np.argsort(_link(release))
    frames = []
    for name, row in experiment.people.items():
        both = (("original", experiment.heads, row), ("altered", release.frame, int(place[row])))
        for data, frame, at in both:
            values = frame.select(pl.col(shown).cast(pl.String))[at]
            frames.append(pl.select(unit=pl.lit(name), data=pl.lit(data)).hstack(values))
    return pl.concat(frames)


def table3(experiment: Experiment) -> pl.DataFrame:
    """P not known: each person's own record, by strategy, the target known to be in the file or not.

    One who is unsure takes the sum of the survey weights of the records that agree for N_t.
    """
    columns = (NO_SDL, RECODE, SWAP, BOTH)
    certain = _from_targets(experiment, columns, money=False).with_columns(membership=pl.lit(CERTAIN))
    doubtful = replace(informed(money=False), membership=Unsure(weights="weight", model="proportional"))
    risks = {s: unit_risks(experiment.releases[s], doubtful, experiment.people) for s in columns}
    unsure = pl.concat(risk.with_columns(strategy=pl.lit(s)) for s, risk in risks.items())
    names = ["membership", "unit", "strategy", "p_true", "as_likely", "rank"]
    return pl.concat([certain.select(names), unsure.with_columns(membership=pl.lit(UNSURE)).select(names)])


def table4(experiment: Experiment) -> pl.DataFrame:
    """P known, the target known to be in the file: each person's own record, by strategy."""
    return _from_targets(experiment, (NO_SDL, BOTH, PERTURBED, TOPCODED), money=True)


def table5(experiment: Experiment, seed: int = SEED) -> pl.DataFrame:
    """Big P under four topcodes of P: recoded, swapped, P not perturbed, P known."""
    person = {"Big P": experiment.people["Big P"]}
    rows = []
    for cutpoint in CUTPOINTS:
        release = topcoded_at(cutpoint).protect(experiment.heads, seed=seed, draws="shared")
        covered = int((experiment.heads[MONEY] >= cutpoint).sum())
        risk = unit_risks(release, informed(money=True), person).row(0, named=True)
        rows.append({"cutpoint": cutpoint, "records": covered, **risk})
    return pl.DataFrame(rows).drop("unit")


def table6(experiment: Experiment, threshold: float = 0.2) -> pl.DataFrame:
    """The file's risk: one row per strategy and state of knowledge.

    `claimed_matches`, the matches that the intruder expects, is not in the paper; beside `expected_matches`
    it shows whether the probabilities are right.
    """
    rows = []
    for (strategy, money), units in experiment.targets.items():
        risk = summarise(units, threshold).to_dict()
        names = {"strategy": strategy, "knows": knowledge(money), "money_known": money}
        rows.append(names | {k: risk[k] for k in ("targets", *MEASURES)})
    return pl.DataFrame(rows)


WAYS: dict[str, dict[str, Any]] = {
    "informed": {"unavailable": "ignore"},
    "A left out": {"unavailable": "ignore", "others": "ignore"},
    "P used unseen": {},
    "naive": {"available": "naive"},
}


def choices(experiment: Experiment, threshold: float = 0.2) -> pl.DataFrame:
    """What the file's risk owes to how the intruder reasons, for the strategies with a random step.

    "informed" is Table 6. "A left out" does not ask how common a record is; "P used unseen" weighs the
    released P of records though the target's is not known (part B); "naive" takes released values as true.
    """
    rows = []
    for strategy in (SWAP, BOTH, PERTURBED, TOPCODED):
        for money in (False, True):
            for way, levels in WAYS.items():
                if way == "P used unseen" and (money or strategy in (SWAP, BOTH)):
                    continue
                units = experiment.targets[strategy, money]
                if way != "informed":
                    who = Intruder(knows=informed(money).knows, **levels)
                    units = who.attack(experiment.releases[strategy], progress=False).units
                risk = summarise(units, threshold).to_dict()
                names = {"strategy": strategy, "money_known": money, "way": way}
                rows.append(names | {k: risk[k] for k in MEASURES})
    return pl.DataFrame(rows)


def knowledge(money: bool) -> str:
    """What the intruder knows, in words.

    >>> knowledge(False)
    'sex, race, marital status and age'
    """
    return "these and the value of the home (P)" if money else "sex, race, marital status and age"


def _from_targets(experiment: Experiment, columns: tuple[str, ...], money: bool) -> pl.DataFrame:
    rows = list(experiment.people.values())
    name = pl.Series("unit", list(experiment.people))
    shown = ["p_true", "as_likely", "rank"]
    return pl.concat(
        experiment.targets[s, money][rows].select(name, pl.lit(s).alias("strategy"), *shown) for s in columns
    )


def _link(release: Release) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    assert release.link is not None
    return release.link
