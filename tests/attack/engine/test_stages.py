"""The stages of an attack: rows that are alike are merged, a fit holds no rows and travels, parts make up the whole."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.loops import carry_out
from confide.attack.engine.parts import attack_part
from confide.attack.engine.prepare import Prepared, prepare
from confide.attack.evidence.case import make_case, needs_whole
from confide.core.errors import InputError

HEADS = cf.demo("heads").head(9_000)
KEYS = ["sex", "race", "marital", "age"]
GAPS = HEADS.with_columns(
    race=pl.when(pl.int_range(pl.len()) % 11 == 0).then(None).otherwise(pl.col("race")),
    age=pl.when(pl.int_range(pl.len()) % 17 == 0).then(None).otherwise(pl.col("age")),
)
FIVES = cf.Recode("age", width=5)
SWAPS = [FIVES, cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.2, within=["sex"])]
PLANS: dict[str, list[Any]] = {
    "swaps": SWAPS,
    "pram": [FIVES, cf.Pram("race", retention=0.8)],
    "sample": [*SWAPS, cf.Sample(0.6)],
    "noise": [FIVES, cf.Swap("race", rate=0.3), cf.Noise("age", sd=3)][1:],
    "kept": [FIVES],
}
INTRUDERS = {
    "certain": cf.Intruder(knows=KEYS),
    "in_file": cf.Intruder(knows=KEYS, membership="in_file"),
    "total": cf.Intruder(knows=KEYS, membership=cf.Unsure(total=40_000)),
    "weights": cf.Intruder(knows=KEYS, membership=cf.Unsure(weights="weight")),
    "fewer": cf.Intruder(knows=["sex", "age"]),
    "released": cf.Intruder(knows=KEYS, beliefs="released"),
    "average": cf.Intruder.at("average", knows=KEYS),
    "naive": cf.Intruder(knows=["sex", "race", "marital"], available="naive"),
    "mistaken": cf.Intruder(knows=KEYS, errors={"race": 0.1, "sex": 0.05}, membership="in_file"),
    "mistaken about age": cf.Intruder(knows=["sex", "race", "age"], errors={"age": 2}),
}


def ready(release: cf.Release, intruder: cf.Intruder, merge: bool = True, **given: Any) -> Prepared:
    return prepare(intruder, release, given.get("targets"), given.get("truth"), merge=merge)


def outcomes(prepared: Prepared) -> dict[str, np.ndarray]:
    """Results of every target, from one scene after another."""
    out = {
        k: np.full(len(prepared.units.target), np.nan) for k in ("log_sum", "log_max", "log_true", "above", "likely")
    }
    for mine, scene, units in prepared.scenes():
        found = carry_out(KernelPlan.of(scene, units), units, 1, lambda _: None)
        for k in out:
            out[k][mine] = getattr(found, k)
    return {k: v if prepared.of is None else v[prepared.of] for k, v in out.items()}


@pytest.mark.parametrize("who", INTRUDERS)
@pytest.mark.parametrize("plan", PLANS)
def test_merged_rows_give_what_all_rows_give(plan: str, who: str) -> None:
    release = cf.Plan(PLANS[plan], identifiers=["id"]).protect(GAPS, seed=1)
    intruder = INTRUDERS[who]
    merged, whole = ready(release, intruder), ready(release, intruder, merge=False)
    assert len(whole.own) == len(whole.who.truth)
    if plan != "noise":
        assert len(merged.own) < len(whole.own) / 2
    few, all_rows = outcomes(merged), outcomes(whole)
    for k in few:
        np.testing.assert_allclose(few[k], all_rows[k], rtol=1e-9, atol=1e-9, err_msg=k)


def test_targets_from_outside_meet_merged_records() -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(HEADS, seed=1)
    some = HEADS.head(200).select("sex", "race", "marital", lowest=pl.col("age") - 3, highest=pl.col("age") + 3)
    intruder = cf.Intruder(knows=["sex", "race", "marital"], between={"age": ("lowest", "highest")})
    truth = np.arange(200)
    few = outcomes(ready(release, intruder, targets=some, truth=truth))
    all_rows = outcomes(ready(release, intruder, merge=False, targets=some, truth=truth))
    for k in few:
        np.testing.assert_allclose(few[k], all_rows[k], rtol=1e-9, atol=1e-9)


def longest(thing: Any, seen: set[int] | None = None) -> int:
    """The length of the longest array anywhere in a value."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return max(thing.shape, default=0)
    if isinstance(thing, (list, tuple, set, frozenset)):
        parts = list(thing)
    elif isinstance(thing, dict):
        parts = [*thing.keys(), *thing.values()]
    else:
        parts = list(getattr(thing, "__dict__", {}).values())
    return max((longest(p, seen) for p in parts), default=0)


@pytest.mark.parametrize("plan", ["swaps", "pram", "kept", "noise"])
def test_a_fit_pickles_and_does_not_grow_with_the_file(plan: str) -> None:
    """Stacked threefold, a file has the same patterns: its fit is as large as before, and travels."""
    sizes = []
    for times in (1, 3):
        data = pl.concat([HEADS.drop("id")] * times)
        release = cf.Plan(PLANS[plan]).protect(data, seed=1)
        _, scene, _ = next(ready(release, cf.Intruder(knows=KEYS)).scenes())
        assert scene.fit.whole == ""
        sizes.append(len(pickle.dumps(scene.fit)))
        assert longest(scene.fit) < HEADS.height
    assert sizes[1] < 1.2 * sizes[0] + 20_000


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("who", ["certain", "fewer", "released", "average", "mistaken", "mistaken about age"])
def test_parts_make_up_the_whole(plan: str, who: str) -> None:
    """Buckets of blocks, each attacked with a pickled fit and its own rows, give what the whole attack gives."""
    release = cf.Plan(PLANS[plan], identifiers=["id"]).protect(GAPS.head(3_000), seed=1)
    whole = ready(release, INTRUDERS[who], merge=False)
    for _, scene, units in whole.scenes():
        expected = carry_out(KernelPlan.of(scene, units), units, 1, lambda _: None)
        fit = pickle.loads(pickle.dumps(scene.fit))
        for bucket in range(3):
            targets = np.flatnonzero(scene.block_t % 3 == bucket)
            rows = scene.rows[scene.block_r % 3 == bucket]
            if not len(targets):
                continue
            place = np.full(scene.case.released.n, -1)
            place[rows] = np.arange(len(rows))
            own = np.where(units.own[targets] >= 0, place[units.own[targets]], -1)
            found = attack_part(fit, scene.targets.take(targets), scene.case.released.take(rows), own)
            for k in ("log_sum", "log_max", "n_max", "log_true", "above", "likely"):
                np.testing.assert_allclose(getattr(found, k), getattr(expected, k)[targets], rtol=1e-12, atol=1e-12)


def test_a_method_that_reads_the_whole_file_says_so() -> None:
    plan = cf.Plan([cf.QuantileRegression("hh_income", given=["sex"], quantiles=9)], identifiers=["id"])
    prepared = ready(plan.protect(HEADS.head(500), seed=1), cf.Intruder(knows=["sex", "hh_income"]))
    _, scene, _ = next(prepared.scenes())
    assert scene.fit.whole.startswith("QuantileRegression is fitted to all released rows")
    assert pickle.loads(pickle.dumps(scene.fit)).whole == scene.fit.whole
    with pytest.raises(InputError, match="cannot be made in parts: QuantileRegression is fitted"):
        attack_part(scene.fit, scene.targets, scene.case.released, np.zeros(scene.targets.n, dtype=np.int64))


WHOLE: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "fitted to all": ({}, {}, "is fitted to all released rows"),
    "fitted to some": ({"learn": 300}, {}, ""),
    "by an average intruder to all": ({}, {"available": "average", "guesses": {"tau": 0.5}}, "is fitted to all"),
    "what is guessed next": ({}, {"available": "ignore", "unavailable": "ignore", "others": "ignore"}, "is fitted to"),
    "a stated tau": ({}, {"guesses": {"tau": 0.5}}, ""),
    "of this variable": ({}, {"guesses": {"tau": {"hh_income": "known"}}}, ""),
    "a random tau": ({"learn": 300}, {"guesses": {"tau": "random"}}, "draws a number for each released row"),
    "calipers leave tau aside": ({}, {"guesses": {"tau": "random", "caliper": "auto"}}, ""),
    "exact": ({}, {"available": "exact", "unavailable": "exact", "others": "exact"}, ""),
    "naive": ({}, {"available": "naive"}, ""),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_holds_the_file_together_hangs_on_level_and_guesses(case: str) -> None:
    step, who, why = WHOLE[case]
    made = cf.QuantileRegression("hh_income", given=["sex"], quantiles=9, **step)  # type: ignore[arg-type]
    release = cf.Plan([made], identifiers=["id"]).protect(HEADS.head(400), seed=1)
    intruder = cf.Intruder(knows=["sex", "hh_income"], **who)  # type: ignore[arg-type]
    found = needs_whole(make_case(intruder, release))
    assert why in found
    assert bool(why) == bool(found)


def test_every_stage_can_be_printed_and_none_can_be_changed() -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(HEADS, seed=1)
    prepared = ready(release, cf.Intruder(knows=KEYS))
    _, scene, units = next(prepared.scenes())
    plan = KernelPlan.of(scene, units)
    outcome = carry_out(plan, units, 1, lambda _: None)
    stages = [prepared, prepared.case, scene.fit, scene, plan, outcome]
    for stage, name in zip(stages, ["Prepared", "Case", "Fit", "Scene", "KernelPlan", "Outcome"], strict=True):
        text = repr(stage)
        assert text.startswith(f"{name}: ")
        assert len(text) < 250
        with pytest.raises(AttributeError):
            stage.anything = 1  # type: ignore[attr-defined]
    assert replace(plan, loop="any").loop == "any"


def test_a_result_holds_no_engine() -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(HEADS, seed=1)
    attack = cf.Intruder(knows=KEYS).attack(release)
    kinds = {type(v).__module__ for k, v in vars(attack).items() if k not in ("release", "intruder")}
    assert not any("attack.engine" in m or "attack.evidence" in m for m in kinds)
    again = pickle.loads(pickle.dumps(attack))
    assert again.units.equals(attack.units)
    assert again.posterior(5).equals(attack.posterior(5))
