"""How an intruder's success depends on the share of people released and on how much is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import fraction, names_of
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, fresh_seed, stream
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.frames import attach
from confide.frames.encoded import Encoded
from confide.measure.risk.identification import summarise
from confide.protect.methods.sample import Sample
from confide.protect.plan import Plan
from confide.protect.simulate_targets import models_truth, simulate_targets


@dataclass(frozen=True, eq=False, repr=False)
class Exposure(Result):
    """`frame`: one row for each share released and number of variables known, means over repeats.

    `share`: of the file that is released; `known`: number of variables; `knows`: their names; `first`: share of
    *released* targets whose own record ranks first; `top`: share within the first ten; `p_true`: mean probability of
    the own record; `expected`: right matches among all people of the file, by an intruder who always picks the
    likeliest record; `p_absent`: mean probability of not being released; `expected_share`: `expected` as a share.
    """

    frame: pl.DataFrame

    def summary(self) -> pl.DataFrame:
        """The frame without the names of what is known."""
        return self.frame.drop("knows")

    def plot(self) -> Any:
        """Share of first ranks by number of variables known, one line per share released. The same as `chart`."""
        return self.chart()

    def __repr__(self) -> str:
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=3, tbl_rows=100):
            return str(self.summary())


def exposure(
    file: Any, plan: Plan, knows: Sequence[str], shares: Sequence[float] = (1.0, 0.5, 0.2, 0.1),
    seed: int | None = None, repeats: int = 1, progress: Progress = None,
) -> Exposure:  # fmt: skip
    """Attack samples of a file by intruders who know more and more: one, two, ... of the variables in `knows`.

    Everybody in the file is a target; for each share that much of it is released, under the plan, and the intruder
    allows for people who are not released (`membership="in_file"`). Where the plan says how the truth differs from
    the file (`MeasurementError`), targets are drawn by it; else they are the file's own values.

    >>> import confide as cf
    >>> elites = cf.demo("elites")
    >>> plan = cf.Plan([cf.MeasurementError(v, noise_sd=0.5) for v in ("age", "civil")])
    >>> cf.exposure(elites, plan, ["age", "civil"], shares=[1, 0.5], seed=1).frame["known"].to_list()
    [1, 2, 1, 2]
    """
    source = Encoded.of(file)
    frame = attach(source.frame, source.schema)
    if not isinstance(plan, Plan):
        raise InputError(f"exposure needs a plan, not {type(plan).__name__}.")
    names = names_of(knows, "knows")
    parts = [fraction(s, "shares") for s in shares]
    if not parts or min(parts) == 0:
        raise InputError("shares are fractions above 0, such as [1, 0.5, 0.1].")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError("repeats must be a whole number from 1 upwards.")
    chosen = fresh_seed() if seed is None else checked_seed(seed)
    rows = []
    with progress_bar("attacking", len(parts) * len(names) * repeats, progress) as done:
        for repeat in range(repeats):
            key = int(stream(chosen, "exposure", repeat).integers(2**62))
            targets = simulate_targets(frame, plan, seed=key) if models_truth(plan, frame) else frame
            for share in parts:
                sampled = plan if share == 1 else replace(plan, steps=(Sample(share), *plan.steps))
                release = sampled.protect(source, seed=key, draws="shared")
                for k in range(1, len(names) + 1):
                    who = Intruder(knows=names[:k], membership="certain" if share == 1 else "in_file")
                    units = who.attack(release, targets, truth=np.arange(frame.height), progress=False).units
                    rows.append({"share": share, "known": k, "knows": ", ".join(names[:k]), **_measures(units)})
                    done(1)
    by = ["share", "known", "knows"]
    return Exposure(pl.DataFrame(rows).group_by(by, maintain_order=True).agg(pl.all().mean()))


def _measures(units: pl.DataFrame) -> dict[str, float | None]:
    released = units.filter(pl.col("p_true").is_not_null())
    n = max(released.height, 1)
    return {
        "first": int((released["rank"] == 1).sum()) / n,
        "top": int((released["rank"] <= 10).sum()) / n,
        "p_true": float(released["p_true"].sum()) / n,
        "expected": (expected := summarise(units).expected_matches),
        "p_absent": float(units["p_absent"].fill_null(0.0).sum()) / max(units.height, 1),
        "expected_share": None if expected is None else expected / max(units.height, 1),
    }
