"""Summaries of tables that are read in parts: the same as of the whole table."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.measure.risk.calibration import calibrate, calibrate_batches
from confide.measure.risk.identification import summarise
from confide.measure.risk.ranks import declare_table
from confide.measure.risk.reduced import reduced

WHO = {"certain": "certain", "in file": "in_file", "unsure": cf.Unsure(total=5_000)}


@lru_cache
def units(who: str) -> pl.DataFrame:
    heads = cf.demo("heads").head(900)
    steps = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3), cf.Sample(fraction=0.6)]
    release = cf.Plan(steps, identifiers=["id"]).protect(heads, seed=1)
    return cf.Intruder(knows=["sex", "race", "age"], membership=WHO[who]).attack(release).units  # type: ignore[arg-type]


def parts(table: pl.DataFrame) -> list[pl.DataFrame]:
    return [table[:1], table[1:1], table[1:200], table[200:]]


@pytest.mark.parametrize("who", WHO)
def test_the_same_in_parts(who: str) -> None:
    table = units(who)
    for threshold in (0.05, 0.2, 0.9):
        short = reduced(parts(table), [threshold])
        assert short.height < table.height
        for key, a in summarise(table, threshold).to_dict().items():
            assert summarise(short, threshold).to_dict()[key] == (a if a is None else pytest.approx(a, rel=1e-12)), key
    limits = (0.9, 0.1, 0.3)
    whole, short = declare_table(table, limits), declare_table(reduced(parts(table), limits), limits)
    np.testing.assert_allclose(short.fill_null(-1).to_numpy(), whole.fill_null(-1).to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("who", WHO)
def test_calibration_in_parts(who: str) -> None:
    for bins in (1, 10):
        a, b = calibrate(units(who), bins), calibrate_batches(lambda: iter(parts(units(who))), bins)
        assert (a.claimed, a.true, a.z, a.weighed) == pytest.approx((b.claimed, b.true, b.z, b.weighed), rel=1e-9)
        np.testing.assert_allclose(b.frame.to_numpy(), a.frame.to_numpy(), rtol=1e-9)


def test_what_cannot_be_calibrated() -> None:
    table = units("certain")
    for bad, said in (({"hit": None}, "needs the truth"), ({"n_max": 0}, "No target has a candidate")):
        wrong = table.with_columns(pl.lit(x).cast(table.schema[v]).alias(v) for v, x in bad.items())
        with pytest.raises(cf.InputError, match=said):
            calibrate_batches(lambda wrong=wrong: iter([wrong]))  # type: ignore[misc]
    with pytest.raises(cf.InputError, match="bins"):
        calibrate_batches(lambda: iter([table]), 0)
