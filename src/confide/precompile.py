"""Compile the loops once, when confide is installed, so that no first call has to wait.

    python -m confide.precompile

It runs a small attack of every kind on shipped data. What is compiled is kept in the user's own cache folder; where
there is none, nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

import confide as cf
from confide.attack.beliefs.tilted_sums import LEAST, log_tilted_sums
from confide.core.random.philox import MANY
from confide.core.run.compile import FOLDER
from confide.core.run.progress import progress_bar
from confide.protect.seam.mechanism import Mechanism

ROWS = 300


def attacks() -> Iterator[tuple[cf.Plan, cf.Intruder]]:
    """Plans and intruders that between them need every loop of the attack."""
    money, both = ["sex", "hh_income"], ["sex", "hh_income", "wage_income"]
    pair = cf.Noise(["hh_income", "wage_income"], sd={"hh_income": 900, "wage_income": 600}, correlation=0.5)
    made: list[tuple[list[Mechanism], list[str]]] = [
        ([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], ["sex", "race", "age"]),
        ([cf.Noise("hh_income", sd=5_000)], money),
        ([pair], both),
        ([cf.RankSwap(["hh_income", "wage_income"], window=20)], money),
        ([cf.NormalSynthesis("hh_income", given=["sex", "age"])], money),
        ([cf.MeasurementError("hh_income", noise_sd=900)], money),
        ([cf.Microaggregate("hh_income", k=3)], money),
        ([cf.LocalSuppression(["sex", "race", "age"], k=3)], ["sex", "race", "age"]),
        ([cf.LocalSuppression(["sex", "race", "age"], k=3, rule="wildcard")], ["sex", "race", "age"]),
    ]
    for steps, known in made:
        yield cf.Plan(steps, identifiers=["id"], drop=["weight"]), cf.Intruder(knows=known)
    yield cf.Plan([cf.Noise("hh_income", sd=5_000)], identifiers=["id"]), cf.Intruder(knows=["sex"])


def large_blocks() -> None:
    """Attacks on files of distinct numbers, just large enough for what large blocks take instead of a loop."""
    wide: list[tuple[Mechanism, int]] = [
        (cf.Noise("x", sd=500), 5_000),
        (cf.MeasurementError("x", noise_sd=500), 1_100),
    ]
    for step, rows in wide:
        data = pl.DataFrame({"x": [i + 0.25 for i in range(rows)]})
        cf.Intruder(knows=["x"]).attack(cf.Plan([step]).protect(data, seed=1), progress=False)


def many_rows(data: pl.DataFrame) -> None:
    """What only files of many rows take: digests and draws in loops, and sums of many points over many cells."""
    gaps = pl.when(pl.col("hh_income") > 0).then("hh_income")
    some = data.select("sex", "hh_income", "weight", gaps=gaps)
    cf.Plan([cf.Noise("hh_income", sd=5_000)]).protect(some, seed=1)
    log_tilted_sums(np.zeros(40), np.zeros((2, 40)), np.zeros((2, LEAST)))


def without_plan(release: cf.Release) -> None:
    """Attacks that need no plan."""
    known = ["sex", "hh_income"]
    for attack in (cf.Nearest(known).attack(release), cf.Radius(known).attack(release)):
        attack.guess("tenure")
    for loss, within in (("absolute", None), ("within", 0.1)):
        attack.guess("property_value", loss, within=within)
    cf.SinglingOut(attacks=5).attack(release)
    cf.Linkability(["age"], known).attack(release)


def risks_of_a_file(data: pl.DataFrame) -> None:
    """Customary risks whose loops are compiled."""
    keys = ["sex", "race", "age"]
    for risk in (cf.measures.IndividualRisk(keys, fraction=0.1), cf.measures.Suda(keys)):
        risk.of(data)


def main() -> None:
    """Run them all, with a bar on a terminal."""
    if FOLDER is None:
        return
    heads, jobs = cf.demo("heads").head(ROWS), list(attacks())
    with progress_bar("compiling, once", len(jobs) + 5, None) as done:
        for plan, intruder in jobs:
            found = intruder.attack(plan.protect(heads, seed=1, draws="shared"), progress=False)
            if "race" not in intruder.knows:
                found.guess("race")
            done(1)
        large_blocks()
        done(1)
        many_rows(cf.demo("heads").head(MANY))
        done(1)
        without_plan(cf.Release.adopt(heads, heads, link=range(ROWS)))
        done(1)
        risks_of_a_file(heads)
        done(1)
        cf.sap(cf.Table.of(heads, by=["sex", "race"]).publish(cf.RoundCells(5), margins="all"), known=range(4))
        done(1)


if __name__ == "__main__":
    main()
