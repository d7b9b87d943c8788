"""Dials: what every method offers for any file can be carried out and attacked, and grows stronger as it says."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.registry import known as registered
from confide.protect.seam.dials import Dial, Outlook, Untried
from confide.study.advise.outlook import base_plan, outlook_of
from confide.study.advise.space import changed, offered

HEADS = cf.demo("heads")[::85]
KEYS = ["sex", "race", "marital", "age", "property_value"]


def column(kind: str, n: int, rng: np.random.Generator) -> pl.Series:
    """A column of a kind that files have."""
    days = [date(2001, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 4_000, n)]
    made: dict[str, Any] = {
        "two": rng.choice(["f", "m"], n),
        "few": rng.choice(["a", "b", "c", "d", "e"], n, p=[0.6, 0.2, 0.1, 0.06, 0.04]),
        "many": [f"c{i}" for i in rng.integers(0, 2_000, n)],
        "own": [f"p{i}" for i in range(n)],
        "codes": 100 * rng.integers(11, 40, n) + 7,
        "whole": rng.integers(18, 95, n),
        "small": rng.integers(0, 30, n).astype(np.int8),
        "money": np.where(rng.random(n) < 0.4, 0, np.round(rng.lognormal(10, 1.2, n), 2)),
        "signed": rng.normal(0, 3, n),
        "tiny": rng.normal(0, 1e-7, n),
        "large": rng.integers(2**51, 2**53, n),
        "mostly zero": np.where(rng.random(n) < 0.97, 0.0, 2.5),
        "constant": np.full(n, 3.5),
        "one word": ["x"] * n,
        "date": days,
        "decimal": pl.Series([Decimal(int(x)) / 100 for x in rng.integers(0, 9_999, n)], dtype=pl.Decimal(12, 2)),
        "empty": pl.Series([None] * n, dtype=pl.Float64),
        "nothing": pl.Series([None] * n),
    }  # fmt: skip
    return pl.Series(made[kind])


KINDS = (
    "two", "few", "many", "own", "codes", "whole", "small", "money", "signed", "tiny", "large", "mostly zero",
    "constant", "one word", "date", "decimal", "empty", "nothing",
)  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> tuple[pl.DataFrame, list[str], list[str], str | None]:
    """A file, what is known, what is sensitive, and the unit."""
    n = draw(st.sampled_from([3, 12, 50, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    frame = pl.DataFrame({f"{kind} {i}": column(kind, n, rng) for i, kind in enumerate(kinds)})
    gaps = draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))
    frame = frame.with_columns(
        pl.when(pl.Series(rng.random(n) >= gaps * (i % 2))).then(pl.col(v)).alias(v)
        for i, v in enumerate(frame.columns)
    )
    roles = [draw(st.sampled_from(["known", "known", "sensitive", "other"])) for _ in kinds]
    known, sensitive = ([v for v, r in zip(frame.columns, roles, strict=True) if r == role] for role in ("known", "sensitive"))
    unit = draw(st.sampled_from([None, None, "unit"])) if n > 3 else None
    if unit:
        frame = frame.with_columns(pl.Series("unit", np.arange(n) // 3))
        if draw(st.booleans()):
            frame = frame.with_columns(pl.all().exclude("unit").first().over("unit"))
    return frame, known, sensitive, unit


@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_is_offered_for_any_file_is_carried_out_and_attacked(made: Any, random: Any) -> None:
    frame, known, sensitive, unit = made
    outlook = outlook_of(frame, known=known, sensitive=sensitive, unit=unit)
    dials, untried = offered(outlook)
    base = base_plan(outlook)
    there = [v for v in known if frame[v].drop_nulls().n_unique() > 1]
    for dial in random.sample(dials, min(len(dials), 12)):
        assert dial.strengths, dial.family
        for strength in dial.strengths if random.random() < 0.2 else random.sample(dial.strengths, 1):
            assert "e+" not in dial.says(strength) and "e-" not in dial.says(strength)
            release = changed(base, dial.at(strength)).protect(frame, seed=1)
            seen = [v for v in there if v in release.public_variables]
            if seen:
                cf.Intruder(knows=seen).attack(release).summary()
    assert all(u.why for u in untried)
