"""Nearest numbers: the search against distances of all pairs, for one number and for several."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.engine import kernel_plan

N = 300
CODES = {"a": (7.0,), "b": (0.0, 12.0)}


def file(seed: int, whole: bool) -> cf.Data:
    """Numbers with gaps and answer codes amid them, heaped (many ties) or not; c is the same for all but one."""
    rng = np.random.default_rng(seed)
    data = {"sex": rng.choice(["f", "m"], N)}
    for v, size in (("a", 20), ("b", 12)):
        x = rng.integers(0, size, N).astype(float)
        x = x if whole else x + rng.random(N).round(6)
        x[rng.random(N) < 0.1] = np.nan
        x = np.where(rng.random(N) < 0.15, rng.choice(CODES[v], N), x)
        data[v] = x
    data["c"] = np.where(np.arange(N) == 3, 1.0, 0.0)
    schema = cf.Schema({v: cf.VariableSchema(v, missing=codes) for v, codes in CODES.items()})
    return cf.Data(pl.DataFrame(data, nan_to_null=True), schema)


def slowly(who: cf.Intruder, release: cf.Release, *targets: object) -> cf.Attack:
    """The formula itself, every target beside every record of its block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_plan, "_loop", lambda *_: "any")
        return who.attack(release, *targets, threads=1, progress=False)


def same(fast: cf.Attack, slow: cf.Attack) -> None:
    assert fast.units.equals(slow.units)
    for target in (0, 17, 239):
        a, b = (each.posterior(target).sort("row") for each in (fast, slow))
        assert a.equals(b)


@pytest.mark.parametrize("knows", [["a"], ["sex", "b"], ["sex", "a", "b"], ["b", "c"], ["a", "b", "c"]])
@pytest.mark.parametrize(("whole", "membership"), [(True, "certain"), (False, "in_file")])
def test_the_search_is_the_formula(knows: list[str], whole: bool, membership: str) -> None:
    steps = [cf.Noise(v, sd=1.0) for v in ("a", "b", "c")]
    release = cf.Plan([*steps, cf.Sample(fraction=0.8)], numeric=["a", "b", "c"]).protect(
        file(len(knows), whole), seed=1
    )
    who = cf.Intruder(knows=knows, available="naive", membership=membership)
    fast, slow = who.attack(release, threads=1, progress=False), slowly(who, release)
    same(fast, slow)
    assert fast.pairs[1] <= slow.pairs[1]
    assert fast.ranks(top=3).equals(slow.ranks(top=3))


def test_targets_that_are_far_from_everybody() -> None:
    """Beyond both ends, exactly amid two records, with a gap that no record has, in a block that has no number."""
    data = pl.DataFrame({"g": ["u"] * 4 + ["v"] * 2, "a": [1.0, 2.0, 2.0, 4.0, None, None]})
    release = cf.Plan([cf.Noise("a", sd=1e-9)], categorical=["g"]).protect(data, seed=1)
    asked = pl.DataFrame({"g": ["u"] * 5 + ["v"] * 2, "a": [-5.0, 9.0, 3.0, 1.5, None, 1.0, None]})
    who = cf.Intruder(knows=["g", "a"], available="naive")
    fast, slow = (each(asked, np.full(7, -1)) for each in (
        lambda *t: who.attack(release, *t, threads=1, progress=False), lambda *t: slowly(who, release, *t)
    ))  # fmt: skip
    assert fast.units.equals(slow.units)
    assert fast.units["n_max"].to_list() == [1, 1, 3, 3, 0, 0, 2]


def test_one_number_takes_two_records_for_each_target() -> None:
    """However many there are: the work grows with the rows, not with their square."""
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"a": rng.permutation(4_000) * 7})
    release = cf.Plan([cf.Noise("a", sd=50)]).protect(data, seed=1)
    attack = cf.Intruder(knows=["a"], available="naive").attack(release, progress=False)
    assert attack.pairs[1] <= 4 * 4_000
    assert attack.pairs[0] > 1e7
