"""Claims about units that have several rows are true: panels with small and large drift, and persons in households."""

import polars as pl
import pytest

import confide as cf
from confide.extend import Mechanism
from tests.helpers.panels import panel
from tests.helpers.places import ROOT

pytestmark = pytest.mark.slow
KINDS = ["region", "sex", "job", "quarter"]
SWAP, NOISE = cf.Swap("job", rate=0.2), cf.Noise("income", relative=0.5)


def calibrated(data: pl.DataFrame, plan: cf.Plan, knows: list[str], releases: int = 6, **who: str) -> cf.Calibration:
    intruder = cf.Intruder(knows=knows, **who)
    return cf.calibrate([intruder.attack(plan.protect(data, seed=s), threads=1).units for s in range(releases)])


@pytest.mark.parametrize("rows", [2, 4, 8])
@pytest.mark.parametrize(("change", "drift"), [(0.02, 0.05), (0.15, 0.5)])
@pytest.mark.parametrize("quarter", [False, True])
def test_panels(rows: int, change: float, drift: float, quarter: bool) -> None:
    data = panel(2000 // rows, rows, change, drift, seed=3)
    plan = cf.Plan([SWAP, NOISE], categorical=KINDS, unit="household")
    knows = ["region", "sex", "job", "income"] + ["quarter"] * quarter
    assert abs(calibrated(data, plan, knows).z) < 3


@pytest.mark.parametrize("steps", [
    [cf.Swap("region", rate=0.2, per="unit"), cf.Noise("income", relative=0.3, per="unit")],
    [cf.Swap("region", rate=0.2, per="unit"), cf.Pram("job", retention=0.7), NOISE],
    [cf.Pram("job", retention=0.7, per="unit"), NOISE],
    [cf.Sample(0.5), SWAP, NOISE],
])  # fmt: skip
def test_steps_per_unit_and_per_record(steps: list[Mechanism]) -> None:
    data = panel(500, 5, 0.1, 0.2, seed=4, ragged=True)
    plan = cf.Plan(steps, categorical=KINDS, unit="household")
    assert abs(calibrated(data, plan, ["region", "sex", "job", "income"], 4).z) < 3


def test_units_that_may_not_be_released() -> None:
    data = panel(500, 4, 0.1, 0.2, seed=5)
    plan = cf.Plan([cf.Sample(0.4, per="unit"), SWAP, NOISE], categorical=KINDS, unit="household")
    intruder = cf.Intruder(knows=["region", "sex", "job", "income"], membership="in_file")
    units = [intruder.attack(plan.protect(data, seed=s), threads=1).units for s in range(4)]
    assert abs(cf.calibrate(units).z) < 3
    every = pl.concat(units)
    assert every["p_absent"].sum() == pytest.approx((every["status"] == "not released").sum(), rel=0.03)


def test_other_rows_are_used() -> None:
    """Noise of each record averages out over the rows of a unit, and an intruder knows that."""
    data = panel(250, 8, 0.02, 0.05, seed=3)
    plan = cf.Plan([SWAP, NOISE], categorical=KINDS, unit="household")
    single = cf.Plan([SWAP, NOISE], categorical=KINDS, identifiers=["household"])
    knows = ["region", "sex", "job", "income", "quarter"]
    assert calibrated(data, plan, knows, 2).true > 1.4 * calibrated(data, single, knows, 2).true


@pytest.mark.parametrize(("steps", "knows"), [
    ([cf.Recode("age", width=5), cf.Swap("race9", rate=0.3), cf.Swap("marital", rate=0.3)], ["puma", "sex", "age", "race9", "marital"]),
    ([cf.Swap("race9", rate=0.2), cf.Noise("age", sd=3)], ["puma", "sex", "age", "race9", "marital"]),
    ([cf.Swap("puma", rate=0.2, per="unit"), cf.Noise("hh_income", relative=0.1)], ["puma", "sex", "age", "hh_income"]),
])  # fmt: skip
def test_persons_in_households(steps: list[Mechanism], knows: list[str]) -> None:
    kinds = ["puma", "sex", "race9", "marital"]
    data = pl.read_parquet(ROOT / "tests" / "data" / "persons_in_households.parquet")
    assert abs(calibrated(data, cf.Plan(steps, categorical=kinds, unit="hid"), knows, 3).z) < 3


def test_a_number_that_is_the_same_in_all_rows_of_units_of_unequal_size() -> None:
    """Rows of large units must not make rows of one unit seem to differ: risk was understated by a quarter."""
    data = panel(500, 5, 0.1, 0.0, seed=6, ragged=True).with_columns(pl.col("income").first().over("household"))
    plan = cf.Plan([cf.Noise("income", relative=0.1)], categorical=KINDS, unit="household")
    result = calibrated(data, plan, ["region", "income"], 4)
    assert abs(result.z) < 3
    assert abs(result.claimed / result.true - 1) < 0.1


@pytest.mark.parametrize("gap", [0, None])
@pytest.mark.parametrize("step", [cf.Noise("income", sd=3000, keep_zeros=True), cf.RankSwap("income", window=60)])
def test_values_that_are_never_altered_say_nothing_of_a_home(step: Mechanism, gap: int | None) -> None:
    """Zeros and missing values: nobody's home is where the smallest numbers are because of them."""
    data = panel(800, 3, 0.1, 0.2, seed=6)
    data = data.with_columns(income=pl.when(pl.int_range(pl.len()) % 4 > 0).then("income").otherwise(gap))
    plan = cf.Plan([step], categorical=KINDS, unit="household")
    intruder = cf.Intruder(knows=["region", "sex", "income"])
    assert abs(calibrated(data, plan, ["region", "sex", "income"], 3).z) < 3
    units = intruder.attack(plan.protect(data, seed=1), threads=1).units
    assert units["p_max"].is_finite().all()
