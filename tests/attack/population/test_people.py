"""N_t of blocks: weights, fine numbers, bounded tables and odd files."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from confide.attack.population.labels import CELLS, Axes
from confide.attack.population.people import PeopleModel, model_people
from confide.frames.columns import F64, I64


def blocks(frame: pl.DataFrame) -> tuple[list[I64], F64]:
    found = frame.group_by(frame.columns, maintain_order=True).len()
    return [found[v].to_numpy().astype(np.int64) for v in frame.columns], found["len"].to_numpy().astype(float)


def modelled(frame: pl.DataFrame, per: Any, behind: bool = False, ordered: bool = False) -> tuple[F64, PeopleModel]:
    codes, count = blocks(frame)
    return model_people(frame.columns, codes, [ordered] * len(codes), count, count * per, behind)


def people(n: int = 60_000) -> pl.DataFrame:
    """A population with two dependent variables of three."""
    rng = np.random.default_rng(7)
    a = rng.choice(6, n, p=[0.5, 0.25, 0.15, 0.06, 0.03, 0.01])
    b = (2 * a + rng.poisson(1.5, n)) % 12
    c = np.minimum(rng.geometric(0.12, n), 40)
    return pl.DataFrame({"a": a, "b": b, "c": c})


def test_claims_for_records_and_for_the_population() -> None:
    everybody = people()
    sample = everybody.head(3_000)
    truth = {(a, b, c): n for a, b, c, n in everybody.group_by("a", "b", "c").len().iter_rows()}
    codes, count = blocks(sample)
    big = np.array([truth[key] for key in zip(*(c.tolist() for c in codes), strict=True)])
    behind, _ = modelled(sample, 20.0, behind=True)
    outside, _ = modelled(sample, 20.0)
    assert (count / behind).sum() == pytest.approx((count / big).sum(), rel=0.08)
    assert (big / outside).sum() == pytest.approx(len(count), rel=0.06)
    assert (behind <= outside).all()
    assert (behind >= count).all()
    plain = 20 * count
    assert (count / plain).sum() < 0.7 * (count / big).sum()


def test_equal_weights_change_nothing_and_unequal_ones_are_people_per_record() -> None:
    sample = people(3_000)
    codes, count = blocks(sample)
    same, _ = modelled(sample, 20.0)
    near, _ = modelled(sample, 20.0 * (1 + 1e-7 * np.random.default_rng(8).random(len(count))))
    np.testing.assert_allclose(near, same, rtol=1e-6)
    heavy = codes[0] == 1
    more = (20 * count.sum() - 10 * count[~heavy].sum()) / count[heavy].sum()
    found, _ = modelled(sample, np.where(heavy, more, 10.0))
    np.testing.assert_allclose((found - count) / (same - count), np.where(heavy, (more - 1) / 19, 9 / 19), rtol=1e-6)


def test_a_release_of_everybody_leaves_nobody() -> None:
    everybody = people(2_000)
    found, model = modelled(everybody, 1.0, behind=True)
    np.testing.assert_allclose(found, blocks(everybody)[1], rtol=1e-9)
    assert (model.z1, model.z2, model.fraction) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1] * 50, "b": [2] * 50}), pl.DataFrame({"a": range(300)}),
        pl.DataFrame({"a": range(300), "b": range(300)}), pl.DataFrame({"a": [1, 2], "b": [1, 2], "c": [5, 5]}),
        pl.DataFrame({f"v{i}": np.random.default_rng(8).integers(0, 2, 90) for i in range(40)}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("behind", [True, False])
def test_odd_files_have_a_number(frame: pl.DataFrame, behind: bool) -> None:
    found, model = modelled(frame, 30.0, behind)
    assert np.isfinite(found).all()
    assert (found >= blocks(frame)[1] - 1e-9).all()
    assert np.isfinite([model.z1, model.z2]).all()


def test_tables_are_bounded_and_shares_add_up() -> None:
    frame = pl.DataFrame({
        "x": np.random.default_rng(8).integers(0, 5_000, 20_000), "y": np.random.default_rng(8).integers(0, 300, 20_000), "c": np.random.default_rng(8).integers(0, 60, 20_000),
        "d": np.random.default_rng(8).integers(0, 9, 20_000),
    })  # fmt: skip
    codes, count = blocks(frame)
    axes = Axes.of(codes, count, [True, True, False, False])
    assert np.prod(axes.sizes) <= CELLS
    assert axes.binned == (0, 1)
    assert axes.sizes[2:] == (60, 9)
    assert ((axes.share > 0) & (axes.share <= 1)).all()


def test_a_fine_number_is_as_rare_as_its_neighbours() -> None:
    """Values that nobody else in the sample has are mostly alone; the plain rule gives each of them 20 people."""
    alone, _ = modelled(pl.DataFrame({"x": np.arange(4_000)}), 20.0, ordered=True)
    assert (alone < 1.2).all()
    heaped = np.random.default_rng(8).integers(0, 2_000, 80_000)
    truth = np.bincount(heaped, minlength=2_000)
    codes, _ = blocks(pl.DataFrame({"x": heaped[:4_000]}))
    found, _ = modelled(pl.DataFrame({"x": heaped[:4_000]}), 20.0, ordered=True)
    assert (truth[codes[0]] / found).sum() == pytest.approx(len(found), rel=0.05)
