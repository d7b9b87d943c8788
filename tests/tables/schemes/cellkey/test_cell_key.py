"""Cell keys: the same people get the same noise, wherever they are counted."""

from __future__ import annotations

import numpy as np
import polars as pl

import confide as cf

SCHEME = cf.CellKey.of(largest=2, variance=1.5)


def people(seed: int, n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "age": rng.integers(0, 5, n),
            "place": rng.integers(0, 6, n),
            "key": rng.random(n),
        }
    )


def test_a_margin_of_one_occupied_cell_has_its_noise() -> None:
    counts = np.array([[7, 0, 0], [0, 0, 4], [3, 2, 6]])
    for seed in range(40):
        published = cf.Table(counts).publish(SCHEME, margins="all", seed=seed)
        cells, rows = published.values[:9].reshape(3, 3), published.values[9:12]
        assert rows[0] == cells[0, 0]
        assert rows[1] == cells[1, 2]


def test_the_same_people_in_two_tables() -> None:
    """A table by sex and one by sex and age show the same number of women, with keys of the people."""
    for seed in range(5):
        data = people(seed)
        small = cf.Table.of(data, by=["sex"], key="key").publish(SCHEME, margins="total")
        large = cf.Table.of(data, by=["sex", "age", "place"], key="key").publish(SCHEME, margins=[["sex"], []])
        assert small.values.tolist() == large.values[-3:].tolist()
        again = cf.Table.of(data.sample(fraction=1.0, shuffle=True, seed=1), by=["sex"], key="key")
        assert again.publish(SCHEME, seed=9).values.tolist() == small.values[:2].tolist()


def test_keys_of_cells_are_sums_of_keys_of_people() -> None:
    data = pl.DataFrame({"sex": ["m", "m", "f"], "key": [0.75, 0.5, 0.25]})
    keys = cf.Table.of(data, by=["sex"], key="key").keys
    assert keys is not None
    assert keys.tolist() == [0.25, 0.25]


def test_noise_is_as_the_table_says() -> None:
    counts = np.full((200, 100), 9)
    noise = cf.Table(counts).publish(SCHEME, seed=3).values - 9
    assert abs(noise.mean()) < 4 * np.sqrt(1.5 / noise.size)
    assert abs(noise.var() - 1.5) < 0.05
    for value, p in SCHEME.outcomes(9).items():
        assert abs((noise + 9 == value).mean() - p) < 4 * np.sqrt(p * (1 - p) / noise.size)
