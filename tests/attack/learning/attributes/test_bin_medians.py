"""Medians from bins are those of beliefs written out for all values."""

from __future__ import annotations

import numpy as np
import pytest

from confide.attack.learning.attributes.bin_medians import bin_medians
from confide.attack.learning.attributes.people import Believed
from confide.attack.learning.attributes.row_sums import medians
from confide.attack.learning.attributes.support import Nodes


@pytest.mark.parametrize("seed", range(20))
def test_as_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    per_bin = rng.integers(1, 5, 6)
    of = np.repeat(np.arange(6), per_bin)
    count = rng.integers(1, 4, len(of)).astype(float)
    whole = np.bincount(of, weights=count)
    values = np.sort(rng.choice(1000, len(of), replace=False)) - 300.0
    nodes = Nodes(values, of, count / whole[of], np.arange(len(of)), np.ones(len(of)), count, whole)
    bins = rng.integers(0, 3, (40, 7)).astype(float)
    bins[:, 2] += bins.sum(axis=1) == 0
    bins[0], bins[1] = [0, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1, 0]
    bins /= bins.sum(axis=1, keepdims=True)
    found = Believed.of(bins, rng.integers(-1, len(of) + 1, 40), nodes)
    p = found.on(nodes)
    there = 1 - p[:, -1]
    twin = medians(values, p[:, :-1] / np.maximum(there, 1e-300)[:, None], 1e-9)
    for mine, other in zip(bin_medians(found, nodes, 1e-9), twin, strict=True):
        np.testing.assert_allclose(mine, np.where(there > 1e-12, other, np.nan), rtol=1e-9, atol=1e-9)


def test_one_place_each_is_that_of_beliefs_written_out() -> None:
    nodes = Nodes(
        np.arange(4.0), np.array([0, 0, 1, 1]), np.array([0.25, 0.75, 0.5, 0.5]), np.arange(4), np.ones(4),
        np.array([1.0, 3, 2, 2]), np.array([4.0, 4]),
    )  # fmt: skip
    found = Believed.of(np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0]]), np.array([1, -1]), nodes)
    rows, places = np.repeat([0, 1], 5), np.tile(np.arange(5), 2)
    np.testing.assert_allclose(found.at_places(rows, places, nodes), found.on(nodes)[rows, places])
