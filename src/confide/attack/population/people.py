"""N_t by a model: how many people of the population belong to each block of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.attack.population.labels import Axes
from confide.attack.population.loglinear import Pair, allowance, dense, dispersion, expected
from confide.attack.population.others import expected_others
from confide.attack.population.search import LOW, Z1, Z2, choose, chosen_pairs
from confide.core.run.memory import remembered
from confide.frames.columns import F64, I64


@dataclass(frozen=True)
class PeopleModel:
    """What N_t rests on: the variables of a log-linear model, the pairs of them in it, and those that enter in bins.

    `z1`, `z2`: Skinner and Shlomo's criterion, near 0 for a model that fits rare cells. `fraction`: the share of the
    population that is released. `behind`: targets are the people behind records.
    """

    variables: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    binned: tuple[str, ...]
    z1: float
    z2: float
    fraction: float
    behind: bool

    @property
    def passed(self) -> bool:
        """Whether the criterion does not refuse the model; somewhat below 0 it refuses none, since means are fitted."""
        return LOW < self.z1 < Z1 and LOW < self.z2 < Z2


def model_people(
    names: Sequence[str], codes: Sequence[I64], ordered: Sequence[bool], n_t: F64, weights: F64, behind: bool
) -> tuple[F64, PeopleModel]:
    """N_t of blocks with these codes and numbers of records. `weights`: people that each block's records stand for.

    Blocks are cells of a table of all labels: released counts are Poisson with mean mu g, mu by the model and g gamma
    with mean 1 and variance phi, what the model misses. People who are not released are Poisson with mean mu g (w - 1),
    where w is people per record, a product of one factor per variable: the same number everywhere for a total.
    Given f records, E(g) = (1 + phi f) / (1 + phi mu): large cells are as large as in the release. Where a block is a
    part of a cell (a number in bins), its share is vague too, which widens F and leaves its mean.
    """
    axes = Axes.of(codes, n_t, ordered)
    records, total = float(n_t.sum()), float(weights.sum())
    found = remembered(choose, axes.cell, n_t, axes.sizes, min(records / total, 1.0))
    pairs = chosen_pairs(found)
    flat = tuple(v for pair in pairs for v in pair)
    mu, phi = remembered(cell_means, axes.cell, n_t, axes.sizes, flat)
    per = remembered(people_per_record, axes.cell, n_t, weights, axes.sizes)
    mu = mu * axes.share
    missing, known = mu * np.maximum(per - 1, 0.0), 1 + phi * mu
    x = missing * (1 + phi * n_t) / known
    spread = missing * phi / known + x * axes.vague
    model = PeopleModel(
        tuple(names), tuple((names[axes.variables[a]], names[axes.variables[b]]) for a, b in pairs),
        tuple(names[i] for i in axes.binned), float(found[0]), float(found[1]), records / total, behind,
    )  # fmt: skip
    return n_t + expected_others(n_t, x, spread, behind), model


def people_per_record(cells: I64, count: F64, weights: F64, sizes: tuple[int, ...]) -> F64:
    """The mean weight of records in each cell, by raking the counts to every variable's weighted margin."""
    raked = expected(dense(cells, weights, sizes), [], dense(cells, count, sizes))
    return np.asarray(raked.ravel()[cells] / dense(cells, count, sizes).ravel()[cells])


def cell_means(cells: I64, count: F64, sizes: tuple[int, ...], flat: tuple[int, ...]) -> F64:
    """The model's mean of each cell, in their order, and the variance of the truth about it, relative to its square.

    `flat`: the model's pairs, one after another.
    """
    pairs: list[Pair] = list(zip(flat[::2], flat[1::2], strict=True))
    table = dense(cells, count, sizes)
    mu = expected(table, pairs)
    phi = dispersion(table, mu) + allowance(table, pairs)
    return np.stack([mu.ravel()[cells], phi.ravel()[cells]])
