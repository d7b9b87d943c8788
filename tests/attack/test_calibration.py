"""The test of tests: of all targets whose best match is given 0.3, 30 percent are right.

On the whole shipped file, over repeated releases, for every method on which the claim is made
(see docs/explanation/calibration.md).
"""

import numpy as np
import polars as pl
import pytest

import confide as cf

KEYS = ["sex", "race", "marital", "age"]
MONEY = {"relative": 0.10, "keep_zeros": True, "bounds": (0, None)}
SWAPS = [cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
FIVES = cf.Recode("age", width=5)

CASES = {
    "swap": (SWAPS, KEYS, {}),
    "swap, joint": ([cf.Swap(["race", "marital"], rate=0.3)], KEYS, {}),
    "swap, joint, one known": ([cf.Swap(["race", "marital"], rate=0.3)], ["sex", "race", "age"], {}),
    "swap within groups nobody knows": ([cf.Swap("race", rate=0.3, within="state")], KEYS, {}),
    "pram": ([cf.Pram(["race", "marital"], retention=0.7)], KEYS, {}),
    "noise": ([cf.Noise("property_value", **MONEY)], [*KEYS, "property_value"], {}),
    "recode and swap": ([FIVES, *SWAPS], KEYS, {}),
    "recode and pram": ([FIVES, cf.Pram(["race", "marital"], retention=0.7)], KEYS, {}),
    "recode, swap and noise": ([FIVES, *SWAPS, cf.Noise("property_value", **MONEY)], [*KEYS, "property_value"], {}),
    "recode, swap and noise nobody knows": ([FIVES, *SWAPS, cf.Noise("property_value", **MONEY)], KEYS, {}),
    "noise below a topcode": (
        [FIVES, cf.Noise("property_value", sd=50_000, keep_zeros=True, bounds=(0, 1e6)), cf.Topcode("property_value", 1e6)],
        [*KEYS, "property_value"], {},
    ),
    "noise across a topcode": (
        [FIVES, cf.Noise("property_value", sd=50_000, keep_zeros=True, bounds=(0, None), sequential=True),
         cf.Topcode("property_value", 6e5)],
        [*KEYS, "property_value"], {},
    ),
    "two numbers that hang together": (
        [FIVES, cf.Noise("wage_income", **MONEY), cf.Noise("hh_income", relative=0.1)],
        ["sex", "age", "wage_income", "hh_income"], {},
    ),
    "swapped numbers": ([FIVES, cf.Swap("property_value", rate=0.3)], [*KEYS, "property_value"], {}),
    "noise that alters zeros": (
        [FIVES, cf.Noise("property_value", relative=0.10, keep_zeros=False)], ["sex", "age", "tenure", "property_value"], {},
    ),
    "ranks that move zeros": (
        [FIVES, cf.RankSwap("wage_income", window=200, keep_zeros=False)], ["sex", "marital", "age", "wage_income"], {},
    ),
    "swapped numbers with zeros, tenure known": (
        [FIVES, cf.Swap("property_value", rate=0.3)], ["sex", "age", "tenure", "property_value"], {},
    ),
    "sample, in the file": ([cf.Sample(0.5), *SWAPS], KEYS, {"membership": "in_file"}),
    "sample with noise, in the file": (
        [cf.Sample(0.5), FIVES, SWAPS[0], cf.Noise("property_value", **MONEY)],
        [*KEYS, "property_value"], {"membership": "in_file"},
    ),
    "exact": ([FIVES, *SWAPS], KEYS, {"unavailable": "exact", "others": "exact"}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_claims_are_true(case: str) -> None:
    steps, knows, options = CASES[case]
    heads = cf.demo("heads")
    intruder = cf.Intruder(knows=knows, **options)
    repeats = 1 if case in ("exact", "two numbers that hang together") else 3
    units = []
    for seed in range(repeats):
        release = cf.Plan(steps, identifiers="id").protect(heads, seed=100 + seed)
        units.append(intruder.attack(release).units)
    result = cf.calibrate(units)
    assert abs(result.z) < 3, result
    assert result.frame["z"].abs().max() < 4.5, result
    assert abs(result.claimed / result.true - 1) < 0.05, result


@pytest.mark.slow
def test_leaving_a_out_understates_and_taking_values_as_true_overstates() -> None:
    release = cf.Plan([FIVES, *SWAPS], identifiers="id").protect(cf.demo("heads"), seed=1)
    without_a = cf.Intruder(knows=KEYS, others="ignore").attack(release).calibration()
    naive = cf.Intruder(knows=KEYS, available="naive").attack(release).calibration()
    assert without_a.z > 10
    assert naive.claimed > 1.5 * naive.true


@pytest.mark.slow
def test_an_intruder_with_mistaken_values_is_calibrated() -> None:
    heads = cf.demo("heads")
    rng = np.random.default_rng(5)
    levels = heads["race"].dtype.categories.to_list()
    wrong = rng.random(heads.height) < 0.2
    shift = rng.integers(1, 4, heads.height)
    codes = (heads["race"].to_physical().to_numpy().astype(int) + np.where(wrong, shift, 0)) % 4
    targets = heads.with_columns(
        race=pl.Series([levels[c] for c in codes], dtype=heads["race"].dtype),
        age=pl.Series(np.round(heads["age"].to_numpy() + rng.normal(0, 2, heads.height)).astype(int)),
    )
    truth = np.arange(heads.height)
    for steps in ([], [cf.Swap("race", rate=0.3)], [FIVES, cf.Swap("race", rate=0.3)]):
        release = cf.Plan(steps, identifiers="id").protect(heads, seed=2)
        who = cf.Intruder(knows=["sex", "race", "marital", "age"], errors={"race": 0.2, "age": 2.0})
        result = who.attack(release, targets=targets, truth=truth).calibration()
        assert abs(result.z) < 3.5, (steps, result)


@pytest.mark.slow
def test_interval_knowledge_is_calibrated() -> None:
    heads = cf.demo("heads").head(8000)
    low = heads["property_value"] // 200_000 * 200_000
    targets = heads.with_columns(low=low, high=low + 199_999)
    steps = [FIVES, cf.Noise("property_value", **MONEY)]
    release = cf.Plan(steps, identifiers="id").protect(heads, seed=3)
    who = cf.Intruder(knows=["sex", "race", "age"], between={"property_value": ("low", "high")})
    result = who.attack(release, targets=targets, truth=np.arange(heads.height)).calibration()
    assert abs(result.z) < 3.5, result
    unknown = cf.Intruder(knows=["sex", "race", "age"]).attack(release).summary()
    assert result.true > 2 * unknown.expected_matches
