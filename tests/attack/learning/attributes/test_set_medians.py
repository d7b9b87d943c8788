"""What is read from sums over sets is what laws written out for all values say."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.attributes.set_medians import Sets
from confide.attack.learning.attributes.sets_shown import SetsShown
from confide.attack.learning.attributes.support import Nodes

SWAPS = [cf.Recode("age", width=5), cf.Swap("race", rate=0.3)]
STEPS = {
    "recoded": [*SWAPS, cf.Recode("hh_income", width=20_000)],
    "topcoded": [*SWAPS, cf.Topcode("hh_income", at=90_000)],
    "narrow": [cf.Recode("hh_income", width=100)],
}


def file(missing: bool) -> pl.DataFrame:
    heads = cf.demo("heads").sample(400, seed=5)
    gone = pl.int_range(pl.len()) % 6 == 0
    return heads.with_columns(hh_income=pl.when(gone & missing).then(None).otherwise(pl.col("hh_income")))


@pytest.mark.parametrize("membership", ["certain", cf.Unsure(total=1_000)])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_as_written_out(steps: list[Any], missing: bool, membership: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them people who alone have a value, and others who have no other record beside them."""
    release = cf.Plan(steps, identifiers=["id"]).protect(file(missing), seed=1)
    attack = cf.Intruder(knows=["sex", "race", "age"], membership=membership).attack(release)
    found = attack.guess("hh_income", "absolute")
    monkeypatch.setattr(SetsShown, "medians", lambda *_: None)
    twin = attack.guess("hh_income", "absolute")
    assert found.frame["status"].equals(twin.frame["status"])
    for name in found.frame.columns[1:-1]:
        np.testing.assert_allclose(found.frame[name], twin.frame[name], rtol=1e-9, atol=1e-9, err_msg=name)
    for name, values in found.rest.items():
        np.testing.assert_allclose(values, twin.rest[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_sets_that_do_not_follow_one_another_are_not_read_so() -> None:
    ones = np.ones(4)
    nodes = Nodes(np.arange(4.0), np.zeros(4, dtype=np.int64), 0.25 * ones, np.arange(4), ones, ones, np.array([4.0]))
    point = np.zeros(3)
    assert Sets.of(np.array([0, 1, 0, 1, 2]), 3, point, nodes) is None
    assert Sets.of(np.array([0, -1, 0, 1, 2]), 3, point, nodes) is None
    assert Sets.of(np.array([0, 0, 0, 0, 2]), 3, point, nodes) is None
    fine = Sets.of(np.array([1, 1, -1, 0, 2]), 3, point, nodes)
    assert fine is not None
    assert fine.places(np.array([0, 1, 2, -1])).tolist() == [1, 0, 2, -1]
