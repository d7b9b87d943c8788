"""Sums over a belief's nodes: at even values of mu and in between, against each sum by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from confide.attack.engine import kernels
from confide.attack.engine.kernels.arguments import Nodes
from confide.attack.engine.noise_sums import MOST, even_grid
from confide.attack.engine.room import node_room


def beliefs(tau: float, apart: float, spikes: int, sd: float, classes: int = 7, cells: int = 60) -> Nodes:
    """A skewed number with some spikes, believed in by cells whose means lie `apart`."""
    rng = np.random.default_rng(int(1000 * tau) + spikes)
    nodes = np.sort(np.exp(rng.normal(3.0, 0.8, 150)))
    share = np.cumsum(np.r_[0.0, rng.gamma(2.0, size=150)])
    spike = np.full(150, -1)
    spike[rng.choice(150, spikes, replace=False)] = np.arange(spikes)
    p = rng.dirichlet(np.ones(spikes + 1), (cells, classes))
    mu = rng.normal(0.0, apart, (cells, 1)) + rng.normal(0.0, 0.5, (cells, classes))
    return Nodes(nodes, np.full(150, sd), rng.normal(0, 0.1, 150), ndtri(share / share[-1]), spike, p, mu, tau)


@pytest.mark.parametrize("tau", [0.15, 0.8, 1.0])
@pytest.mark.parametrize("apart", [0.1, 2.0])
@pytest.mark.parametrize("spikes", [0, 2])
@pytest.mark.parametrize("sd", [0.5, 8.0])
def test_sums_between_even_values_are_the_sums_themselves(tau: float, apart: float, spikes: int, sd: float) -> None:
    believed = beliefs(tau, apart, spikes, sd)
    rng = np.random.default_rng(5)
    z = rng.choice(believed.nodes, 60) + rng.normal(0, sd, 60)
    width = rng.choice([0.0, 0.01, 3.0], 60)
    given = np.arange(60), z - width, z + width, np.arange(60), believed
    plain, fast = np.empty((2, 60, 7))
    kernels.log_node_sums(*given, *node_room(150, 7), plain)
    grid = even_grid(believed)
    assert grid is not None
    kernels.log_node_sums_between(*given, grid, np.empty(150), *np.empty((2, grid.mass.shape[1])), fast)
    possible = plain > -40.0
    np.testing.assert_allclose(fast[possible], plain[possible], rtol=0, atol=2e-9)
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=2e-9)
    assert np.median(np.abs(fast[possible] - plain[possible])) < 1e-12


def test_values_of_mu_too_far_apart_have_no_grid() -> None:
    believed = beliefs(0.15, 0.1, 0, 1.0)
    believed.mu[0, 0] = 1e4
    assert even_grid(believed) is None
    assert MOST * 0.15 / 8 < 1e4
