"""How many people could be the target: N_t, for each block of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.blocks import blocks
from confide.attack.engine.scene import Scene
from confide.attack.evidence.gather import meets
from confide.attack.intruder import Intruder, Unsure
from confide.attack.population.people import PeopleModel, model_people
from confide.core.errors import InputError, raise_all
from confide.frames import to_polars
from confide.frames.columns import F64, I64, Records, encode_column
from confide.frames.comparing import encode_like

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class People:
    """What `people_in_blocks` says."""

    n_t: F64 | None
    model: PeopleModel | None = None
    short: float = 0.0

    def at(self, blocks: I64) -> People:
        """The same of some of the blocks."""
        return self if self.n_t is None else replace(self, n_t=self.n_t[blocks])


def check_membership(intruder: Intruder, release: Release) -> None:
    """Refuse at the door what cannot give an N_t."""
    who = intruder.membership
    if not isinstance(who, Unsure):
        return
    check_sources(who, release.public_variables, release.frame.height)
    if who.weights is not None:
        weights = encode_column(release.frame.get_column(who.weights), "numeric").values
        bad = int((~(weights > 0)).sum())
        if bad:
            raise InputError(
                f'Unsure: {bad} of {len(weights)} released weights in "{who.weights}" are zero, negative or missing.'
            )


def check_sources(who: Unsure, public: Sequence[str], released: int) -> None:
    """A weight must be released, and a population at least as large as the release."""
    if who.weights is not None and who.weights not in public:
        raise InputError(f'Unsure: the weight "{who.weights}" is not among the released variables.')
    if who.total is not None and who.total < released:
        raise InputError(f"Unsure: a population of {who.total:g} is smaller than the {released} released records.")


def population_records(who: Unsure, original: Records, names: tuple[str, ...]) -> tuple[Records, F64]:
    """A population frame as arrays of the original's kinds, with the people each row stands for."""
    frame = to_polars(who.population, "population")
    raise_all(f'Unsure: the population has no column "{v}".' for v in names if v not in frame.columns)
    columns = [encode_like(frame.get_column(v), original[v]) for v in names]
    count = np.ones(frame.height)
    if who.count is not None:
        if who.count not in frame.columns:
            raise InputError(f'Unsure: the population has no column "{who.count}".')
        count = encode_column(frame.get_column(who.count), "numeric").values
        bad = int((~(count >= 0)).sum())
        if bad:
            raise InputError(f'Unsure: {bad} counts of the population in "{who.count}" are negative or missing.')
    return Records(columns, n=frame.height), count


def people_in_blocks(
    scene: Scene, rows: float, extra: tuple[Records, F64] | None, weights: F64 | None, behind: bool
) -> tuple[F64 | None, PeopleModel | None, float]:
    """N_t of each block, at least the number of its records, and the model behind it; None for certain membership. Then
    the records of blocks in which a population that is given has fewer people than there are records.

    `rows`: of the whole release; `extra`: what `population_records` gave; `weights`: what
    `released_weights` gave, where either is asked for; `behind`: targets are the people behind records.
    """
    who = scene.case.intruder.membership
    if who == "certain":
        return None, None, 0.0
    n_t = np.bincount(scene.block_r, weights=scene.count, minlength=scene.n_blocks).astype(float)
    short = 0.0
    if extra is not None:
        big = _counted(scene, *extra)
        short = float(n_t[big < n_t].sum())
        if short > max(0.5 * n_t.sum(), 20):
            raise InputError(
                f"Unsure: for {short:,.0f} of {n_t.sum():,.0f} released records the population has fewer people with "
                "the same labels than the release has. Is it the population of this file, with values spelt as there?"
            )
    elif isinstance(who, Unsure):
        big = _stood_for(scene, rows, n_t, weights)
        if who.model == "loglinear" and scene.knowledge.certain and len(n_t):
            return *_modelled(scene, n_t, np.maximum(big, n_t), behind), short
    else:
        big = _counted(scene, scene.case.original, scene.case.original_count)
    return np.asarray(np.maximum(big, n_t)), None, short


def _stood_for(scene: Scene, rows: float, n_t: F64, weights: F64 | None) -> F64:
    """People for whom the records of each block stand."""
    if weights is not None:
        return np.bincount(scene.block_r, weights=weights[scene.rows], minlength=scene.n_blocks).astype(float)
    who = scene.case.intruder.membership
    assert isinstance(who, Unsure)
    assert who.total is not None
    return np.asarray(who.total * n_t / rows)


def _modelled(scene: Scene, n_t: F64, stood_for: F64, behind: bool) -> tuple[F64, PeopleModel]:
    """N_t by a model of the labels, which a record shares with its owner."""
    first = scene.rows[np.unique(scene.block_r, return_index=True)[1]]
    certain, released = scene.knowledge.certain, scene.case.released
    return model_people(
        [c.name for c in certain], [c.released[first] for c in certain],
        [released[c.name].kind == "numeric" for c in certain], n_t, stood_for, behind,
    )  # fmt: skip


def released_weights(intruder: Intruder, release: Release, of: I64 | None) -> F64 | None:
    """People for whom each (distinct) released row stands by its survey weight, where the intruder counts by that."""
    who = intruder.membership
    if not isinstance(who, Unsure) or who.weights is None:
        return None
    weights = encode_column(release.frame.get_column(who.weights), "numeric").values * weight_scale(who, release)
    return weights_of_released(weights, of)


def weights_of_released(weights: F64, of: I64 | None) -> F64:
    """The weights of distinct rows, given the weights of rows and where each is among those."""
    return np.asarray(weights if of is None else np.bincount(of, weights=weights), dtype=float)


def weight_scale(who: Unsure, release: Release) -> float:
    """Where fewer records are released than there were: the sum of all records' weights over that of the released ones.

    s = sum_i w_i / sum_j z_j, i over the original, j over the release; else 1. The weights of a file say for how many
    people its records stand. Those that are left stand for all of them, whoever left the others out and whether or not
    the weights were raised for it (then s is about 1).
    """
    if who.weights is None or release.frame.height >= release.original.height:
        return 1.0
    return weight_sum(who.weights, release.original) / weight_sum(who.weights, release.frame)


def weight_sum(name: str, frame: pl.DataFrame) -> float:
    """For how many people the records of a file stand."""
    weights = encode_column(frame.get_column(name), "numeric").values
    return float(weights[weights > 0].sum())


def _counted(scene: Scene, people: Records, count: F64 | None) -> F64:
    """People of a file in each block, by the certain labels that they would have if released."""
    known = scene.knowledge.certain
    labels_r = [c.released[scene.rows] for c in known]
    _, at, _ = blocks(labels_r, [c.of(people) for c in known], len(scene.rows), people.n)
    keep = at >= 0
    for v, (low, high) in scene.intervals.items():
        chain = scene.case.compiled.way(v).after
        keep &= meets(chain.image(people[v]), chain, low, high)
    weight = None if count is None else count[keep]
    return np.bincount(at[keep], weights=weight, minlength=scene.n_blocks).astype(float)
