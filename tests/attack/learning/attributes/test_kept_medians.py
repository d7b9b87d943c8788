"""Medians of kept numbers by sums over sorted records agree with laws that are written out for all values."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.attributes import predictive
from confide.attack.learning.attributes.predictive import NONE, Reading
from confide.attack.learning.attributes.set_medians import Read

PLANS = {
    "equal weights": [],
    "weights differ": [cf.Swap("race", rate=0.3)],
    "noise known": [cf.Noise("hours", sd=3)],
    "a sample": [cf.Sample(fraction=0.5)],
}


def people(missing: bool, n: int = 160) -> pl.DataFrame:
    """Pay with ties, zeros, negative values, cells of one person, and people alone with their value."""
    rng = np.random.default_rng(5)
    pay = np.where(rng.random(n) < 0.2, 0, rng.integers(1, 30, n) * 250.5)
    pay[:4] = [99_000, 70_001, -500, 31]
    gone = (rng.random(n) < 0.2) & missing
    race = rng.choice(["a", "b", "c"], n)
    race[[0, 9, 12]] = ["d", "e", "f"]
    hours = rng.integers(0, 60, n).astype(float)
    return pl.DataFrame({"sex": rng.choice(["f", "m"], n), "race": race, "hours": hours, "pay": pay}).with_columns(
        pl.when(pl.Series(gone)).then(None).otherwise(pl.col("pay")).alias("pay")
    )


@pytest.mark.parametrize("membership", ["certain", cf.Unsure(total=400)], ids=["certain", "unsure"])
@pytest.mark.parametrize("missing", [False, True], ids=["all there", "missing"])
@pytest.mark.parametrize("steps", PLANS.values(), ids=PLANS)
def test_as_written_out(steps: list[Any], missing: bool, membership: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = cf.Plan(steps).protect(people(missing), seed=2)
    knows = ["sex", "race", *(["hours"] if any(isinstance(s, cf.Noise) for s in steps) else [])]
    attack = cf.Intruder(knows=knows, membership=membership).attack(release, progress=False)
    read = []
    medians = predictive.kept_medians

    def counted(*given: Any) -> Any:
        found = medians(*given)
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(predictive, "kept_medians", counted)
    fast = attack.guess("pay")
    assert sum(read) > 50 or membership != "certain"
    monkeypatch.setattr(Reading, "medians", lambda *_: (NONE, Read.none(), None))
    slow = attack.guess("pay")
    for name, column in slow.frame.to_dict().items():
        if column.dtype == pl.Float64:
            np.testing.assert_allclose(fast.frame[name].to_numpy(), column.to_numpy(), rtol=1e-9, atol=1e-12)
        else:
            assert fast.frame[name].equals(column)
    for name, values in slow.rest.items():
        np.testing.assert_allclose(fast.rest[name], values, rtol=1e-9, atol=1e-12, err_msg=name)
