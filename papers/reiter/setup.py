"""The experiment of Reiter (2005), section 4, on the shipped householders: plans, people, releases, attacks.

Letters of the paper: X sex, R race, M marital status, G age, I income, P property tax, here home value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from confide.attack.intruder import Intruder
from confide.core.run.progress import Progress, progress_bar
from confide.demo import demo
from confide.protect.methods.noise.noise import Noise
from confide.protect.methods.recode import Recode
from confide.protect.methods.swap.swap import Swap
from confide.protect.methods.topcode import Topcode
from confide.protect.plan import Plan

if TYPE_CHECKING:
    from confide.protect.release import Release
    from confide.protect.seam.mechanism import Mechanism

KEYS = ("sex", "race", "marital", "age")
MONEY = "property_value"

SEED = 178
"""The first seed that does to the four people what Table 2 shows: the swap leaves R and M of Everyman and
Big I as they were and changes M of Unique and Big P. One seed for all strategies: they share their swaps."""

NOISE_SD = 54_896
"""Dollars: 0.10 times the standard deviation of the positive home values (the paper: 0.10 times 2,907)."""

TOPCODE = 800_000
"""Dollars: covers 10.3 percent of the owners; the paper's 3,000 covers 10.4 percent of the positive taxes."""

CUTPOINTS = (7_000_000, 3_500_000, 1_350_000, TOPCODE)
"""Dollars: round numbers that cover about as many records as the four cutpoints of Table 5."""

NO_SDL, RECODE, SWAP = "No SDL", "Age recode", "RM swap"
BOTH = f"{RECODE} + {SWAP}"
PERTURBED = f"{BOTH} + P perturbed"
TOPCODED = f"{BOTH} + P perturbed/topcoded"


def strategies() -> dict[str, Plan]:
    """The six plans of Table 6, weakest first.

    >>> list(strategies())[:3]
    ['No SDL', 'Age recode', 'RM swap']
    """
    recode: list[Mechanism] = [Recode("age", width=5)]
    swap: list[Mechanism] = [Swap("race", rate=0.30), Swap("marital", rate=0.30)]
    noise = Noise(MONEY, sd=NOISE_SD, bounds=(0, None), keep_zeros=True)
    below = Noise(MONEY, sd=NOISE_SD, bounds=(0, TOPCODE), keep_zeros=True)
    steps = {
        NO_SDL: [], RECODE: recode, SWAP: swap, BOTH: recode + swap, PERTURBED: [*recode, *swap, noise],
        TOPCODED: [*recode, *swap, below, Topcode(MONEY, at=TOPCODE)],
    }  # fmt: skip
    return {name: plan_of(these) for name, these in steps.items()}


def plan_of(steps: list[Mechanism]) -> Plan:
    """A plan for the householders: no identifier is released, the survey weight is."""
    return Plan(steps, identifiers=["id"], weight="weight")


def topcoded_at(cutpoint: float) -> Plan:
    """Table 5: recoded, swapped, P topcoded and not perturbed.

    >>> len(topcoded_at(7_000_000).steps)
    4
    """
    return plan_of([*strategies()[BOTH].steps, Topcode(MONEY, at=cutpoint)])


def units_of_study(heads: pl.DataFrame) -> dict[str, int]:
    """The rows of the four people of Table 2, found by rule.

    Everyman: most common sex, race and marital status; then the smallest sum of distances, in ranks, to the
    medians of age, P and I. Unique: alone with her sex, race, marital status and age; the most like the
    paper's (female, American Indian, spouse absent, 39). Big I, Big P: the largest; of several, the first.

    >>> sorted(units_of_study(demo("heads").head(500)))
    ['Big I', 'Big P', 'Everyman', 'Unique']
    """
    rows = heads.with_row_index("row")
    return {
        "Everyman": _everyman(rows),
        "Unique": _unique(rows),
        "Big I": int(heads["hh_income"].arg_max() or 0),
        "Big P": int(heads[MONEY].arg_max() or 0),
    }


def _everyman(rows: pl.DataFrame) -> int:
    share = [(pl.col(v).rank() / pl.len() - 0.5).abs() for v in ("age", MONEY, "hh_income")]
    common = [pl.col(v) == rows[v].value_counts().sort("count", v, descending=True)[v][0] for v in KEYS[:3]]
    near = rows.with_columns(distance=pl.sum_horizontal(share))
    return int(near.filter(*common).sort("distance", "row")["row"][0])


def _unique(rows: pl.DataFrame) -> int:
    like = {"sex": "female", "race": "Native or other", "marital": "spouse absent"}
    unlike = pl.sum_horizontal((pl.col(v) != value).cast(pl.Int8) for v, value in like.items())
    alone = rows.filter(pl.len().over(KEYS) == 1)
    alone = alone.with_columns(unlike=unlike, years=(pl.col("age") - 39).abs())
    return int(alone.sort("unlike", "years", "row")["row"][0])


def informed(money: bool) -> Intruder:
    """The paper's intruder: knows X, R, M, G, perhaps P, and the plan; ignores what it does not know.

    >>> informed(money=True).knows[-1]
    'property_value'
    """
    return Intruder(knows=[*KEYS, MONEY] if money else KEYS, unavailable="ignore")


@dataclass(frozen=True, eq=False)
class Experiment:
    """`people`: rows of the four. `targets`: the attack's units, by strategy and whether P is known."""

    heads: pl.DataFrame
    people: Mapping[str, int]
    releases: Mapping[str, Release]
    targets: Mapping[tuple[str, bool], pl.DataFrame]


def experiment(heads: pl.DataFrame | None = None, seed: int = SEED, progress: Progress = None) -> Experiment:
    """Release the file by each strategy, and attack each release with and without knowledge of P.

    >>> small = experiment(demo("heads").head(500))
    >>> len(small.releases), len(small.targets)
    (6, 12)
    """
    data = demo("heads") if heads is None else heads
    plans = strategies()
    releases, targets = {}, {}
    with progress_bar("attacking six releases twice", 2 * len(plans), progress) as done:
        for name, plan in plans.items():
            releases[name] = plan.protect(data, seed=seed, draws="shared")
            for money in (False, True):
                targets[name, money] = informed(money).attack(releases[name], progress=False).units
                done(1)
    return Experiment(data, units_of_study(data), releases, targets)
