"""Codes that look like numbers are asked about; ages, incomes, years, counts and weights are not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.frames.columns import encode_column
from confide.frames.doubts import code_like
from confide.frames.encoded import Encoded

N = 4_000
RNG = np.random.default_rng(16)


def drawn(known: object, share: float = 0.0) -> np.ndarray:
    """Values drawn from a list, the share of zeros on top."""
    found = RNG.choice(np.asarray(known), N)
    return np.where(RNG.random(N) < share, 0, found)


def often(known: object) -> np.ndarray:
    """Values of which some are far commoner than others."""
    p = 1 / np.arange(1, len(np.asarray(known)) + 1) ** 1.1
    return RNG.choice(np.asarray(known), N, p=p / p.sum())


ODD = RNG.choice(np.arange(1_001, 9_999), 120, replace=False)
CODES = {
    "state": drawn(np.setdiff1d(np.arange(1, 57), [3, 7, 14, 43, 52])),
    "occupation": drawn(RNG.choice(np.arange(10, 9_920, 5), 300, replace=False)),
    "industry_code": drawn(np.arange(52)),
    "property_tax_code": drawn(np.arange(69)),
    "zipCode": drawn(RNG.choice(np.arange(10_000, 99_999), 90, replace=False)),
    "AREA": drawn(np.arange(1, 120)),
    "INDP": drawn(RNG.choice(np.arange(170, 9_920, 10), 200, replace=False)),
    "utilityid": drawn(RNG.choice(np.arange(1, 44_000), 250, replace=False)),
    "v17": drawn(ODD[ODD % 10 != 0]),
    "unit": drawn(RNG.choice(np.arange(10_000, 99_999), 90, replace=False)),
    "kommune": often(RNG.choice(np.arange(101, 500), 98, replace=False)),
    "v3": often(RNG.choice(np.arange(101, 500), 98, replace=False)),
    "q12": drawn(RNG.choice(np.arange(101, 500), 120, replace=False)),
    "gebiet": often(np.arange(1, 40)),
    "kommunekode": often(np.arange(1, 40)),
    "Région": often(np.arange(1, 40)),
    "gemeinde_nr": often(np.arange(1, 90)),
}
NUMBERS = {
    "age": RNG.integers(0, 96, N),
    "income": drawn(np.arange(100, 200_000, 100), 0.1),
    "state_tax": drawn(np.arange(0, 9_000), 0.3),
    "capital_gains": drawn(RNG.choice(np.arange(114, 99_999), 120, replace=False), 0.9),
    "rent": drawn(np.arange(100, 3_900, 10)),
    "year": RNG.integers(1_990, 2_024, N),
    "born": RNG.integers(1_920, 2_010, N),
    "n_persons": drawn(np.arange(1, 40)),
    "weight": drawn(RNG.choice(np.arange(1_000, 9_999), 60, replace=False)),
    "person_weight": RNG.integers(13, 1_181, N),
    "count": RNG.poisson(60, N),
    "height": RNG.integers(140, 210, N),
    "price": drawn(np.arange(1_000, 9_900, 100)),
    "region_population": drawn(RNG.choice(np.arange(10_000, 99_999), 50, replace=False)),
    "weeks_worked": RNG.integers(0, 53, N),
    "id": np.arange(N),
    "sales": RNG.integers(0, 400_000, N),
    "paid": drawn(np.arange(0, 4_000, 10), 0.4),
    "share": RNG.random(N).round(2),
    "area": RNG.random(N) * 300,
    "x_cm": (2.54 * RNG.normal(66, 4, N).round()).round(),
    "x_grams": np.clip(RNG.gamma(4, 60, N).round(), 100, 999),
    "points": 3 * RNG.integers(40, 320, N),
    "heaped": np.where(RNG.random(N) < 0.6, RNG.integers(20, 180, N) * 5, RNG.integers(100, 900, N)),
    "bp": np.clip(RNG.normal(150, 16, N).round() // 2 * 2, 100, 240),
    "gemeinde_anzahl": RNG.integers(1, 90, N),
    "kommuneskat": RNG.integers(1, 90, N),
    "minutes": RNG.poisson(300, N),
    "barcode": RNG.integers(1, 90, N),
    "calories": np.clip(RNG.normal(2_100, 60, N).round(), 1_000, 9_999),
}


@pytest.mark.parametrize("name", CODES)
def test_codes_are_asked_about(name: str) -> None:
    said = code_like(pl.Series(name, CODES[name]))
    assert said.startswith(f"{name}: whole numbers with ")
    assert said.endswith(f'look like codes; say categorical=["{name}"] or numeric=["{name}"].')
    assert said == code_like(pl.Series(name, CODES[name]).cast(pl.Float64))
    assert said == code_like(encode_column(pl.Series(name, CODES[name]), "numeric"))
    assert said == code_like(
        pl.Series(name, CODES[name]).sample(fraction=1, shuffle=True, seed=1).extend_constant(None, 9)
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_not(name: str) -> None:
    assert code_like(pl.Series(name, NUMBERS[name])) == ""


def test_nor_is_what_is_no_number_anyway() -> None:
    state = pl.Series("state", CODES["state"])
    for other in (state.cast(pl.String), state.cast(pl.Date), state % 2 == 0, state % 5, state.head(0), state.head(30)):
        assert code_like(other.alias("state")) == ""
    labels = {int(k): f"state {k}" for k in state.unique()}
    labelled = cf.Schema({"state": cf.VariableSchema("state", value_labels=labels)})
    assert Encoded(state.to_frame(), labelled).doubt("state") == ""
    assert Encoded(state.to_frame()).doubt("state")


@pytest.mark.parametrize("name", ["heads", "elites"])
def test_the_shipped_files_raise_no_doubt(name: str) -> None:
    assert [code_like(s) for s in cf.demo(name) if code_like(s)] == []
