"""What a release may and may not hold, and that what is released is what the plan says."""

import numpy as np
import polars as pl
import pytest

import confide as cf

RNG = np.random.default_rng(3)
SMALL = pl.DataFrame({"sex": RNG.choice(["m", "f"], 200), "x": RNG.integers(0, 100, 200)})


def contradictions(release: cf.Release) -> int:
    units = cf.Intruder(knows=["sex", "x"]).attack(release).units
    return int((units["status"] == "contradiction").sum())


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.Float32, pl.Float64])
@pytest.mark.parametrize(
    "steps",
    [
        [cf.Topcode("x", at=50)],
        [cf.Round("x", base=10)],
        [cf.Noise("x", sd=3, bounds=(None, 60)), cf.Topcode("x", at=60)],
        [cf.Noise("x", sd=60)],
        [cf.Bottomcode("x", at=300)],
    ],
    ids=lambda steps: "+".join(s.method for s in steps),
)
def test_no_type_makes_true_records_impossible(dtype: pl.DataType, steps: list) -> None:
    release = cf.Plan(steps).protect(SMALL.with_columns(pl.col("x").cast(dtype)), seed=1)
    assert contradictions(release) == 0


@pytest.mark.parametrize("step", [cf.Topcode("x", at=9.9), cf.Round("x", base=0.1)])
def test_fractions_of_32_bit_numbers_stay_themselves(step: object) -> None:
    data = SMALL.with_columns(x=(pl.col("x") / 7).cast(pl.Float32))
    assert contradictions(cf.Plan([step]).protect(data, seed=1)) == 0


@pytest.mark.parametrize("step", [cf.Round("x", base=2.5), cf.Topcode("x", at=50.5), cf.Bottomcode("x", at=0.5)])
def test_whole_numbers_take_whole_limits(step: object) -> None:
    with pytest.raises(cf.InputError, match="whole numbers"):
        cf.Plan([step]).protect(SMALL, seed=1)


def test_large_answer_codes_are_categories_of_their_own() -> None:
    data = pl.DataFrame({"inc": [1_200_000, 9_999_998, 400_000, 9_999_999] * 5})
    cf.attach(data, cf.Schema({"inc": cf.VariableSchema("inc", missing=(9_999_998, 9_999_999))}))
    made = cf.Plan([cf.Recode("inc", width=10**6)]).protect(data, seed=1).data["inc"]
    assert made.n_unique() == 4


@pytest.mark.parametrize("force", [[True, False, True], [1.7], np.array([True, False])])
def test_a_mask_is_not_taken_for_rows(force: object) -> None:
    with pytest.raises(cf.InputError, match="row positions"):
        cf.Swap("x", rate=0.1, force=force)


def test_who_was_forced_is_not_released() -> None:
    steps = [cf.Swap("sex", rate=0.1, force="flag")]
    with pytest.raises(cf.InputError, match="secret"):
        cf.Plan(steps)
    data = SMALL.with_columns(flag=pl.Series([True, False] * 100))
    assert cf.Plan(steps, drop="flag").protect(data, seed=1).data.columns == ["sex", "x"]


def test_notes_and_hidden_variables_stay_private() -> None:
    labels = {1: "north", 2: "south"}
    data = pl.DataFrame({"pid": range(100), "region": [1, 2] * 50, "x": range(100)})
    described = {
        "pid": cf.VariableSchema("pid", label="household"),
        "region": cf.VariableSchema("region", value_labels=labels),
    }
    cf.attach(data, cf.Schema(described, file_label="wave 3", notes=("the mayor is in it",)))
    made = cf.Plan([cf.Swap("x", rate=0.1)], identifiers="pid").protect(data, seed=1)
    seen = cf.schema(made.data)
    assert (seen.notes, seen.file_label, list(seen.variables)) == ((), None, ["region"])
    assert cf.schema(data).notes  # the caller's own frame keeps what it had
    merged = cf.Plan([cf.Recode("region", mapping={2: 1})], identifiers="pid").protect(data, seed=1)
    assert not cf.schema(merged.data).variables["region"].value_labels


def test_a_release_does_not_change_with_the_callers_frame() -> None:
    data = SMALL.clone()
    made = cf.Plan([cf.Swap("sex", rate=0.3)]).protect(data, seed=1)
    before = cf.Intruder(knows=["sex", "x"]).attack(made).summary()
    data.replace_column(1, pl.Series("x", [0] * 200))
    made.data.replace_column(1, pl.Series("x", [0] * 200))
    assert cf.Intruder(knows=["sex", "x"]).attack(made).summary() == before


def test_statements_with_other_matrices_differ() -> None:
    keep, flip = [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]
    assert cf.Pram("a", matrix=keep) != cf.Pram("a", matrix=flip)
    assert cf.Noise(["a", "b"], sd=1, correlation=0.1) != cf.Noise(["a", "b"], sd=1, correlation=0.2)


def test_adopting_checks_what_the_plan_leaves_alone() -> None:
    other = SMALL.with_columns(sex=pl.col("sex").shuffle(seed=1))
    with pytest.raises(cf.InputError, match="leaves them alone"):
        cf.Release.adopt(SMALL, other, cf.Plan([]), link=np.arange(200))
    with pytest.raises(cf.InputError, match="dropped variable"):
        cf.Release.adopt(SMALL, SMALL, cf.Plan([], drop="x"))


def test_targets_in_other_codes_are_refused() -> None:
    coded = pl.DataFrame({"c": [1, 2, 3] * 20})
    release = cf.Plan([]).protect(coded, seed=1)
    with pytest.raises(cf.InputError, match="same codes"):
        cf.Intruder(knows="c").attack(release, targets=pl.DataFrame({"c": ["1"]}))


def test_a_weight_is_released_and_categories_have_names() -> None:
    with pytest.raises(cf.InputError, match="released like any variable"):
        cf.Plan([], drop="w", weight="w")
    with pytest.raises(cf.InputError, match="None"):
        cf.Recode("sex", mapping={"m": None})


@pytest.mark.parametrize("suffix", ["sav", "dta", "csv", "parquet"])
def test_a_release_written_to_any_format_can_be_adopted_again(suffix: str, tmp_path) -> None:
    heads = cf.demo("heads").head(300)
    steps = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3), cf.Topcode("property_value", at=500_000)]
    plan = cf.Plan(steps, identifiers="id")
    made = plan.protect(heads, seed=1)
    path = cf.write(made.data, tmp_path / f"public.{suffix}")
    again = cf.Release.adopt(heads, cf.read(path), plan, link=made.link)
    who = cf.Intruder(knows=["sex", "race", "age", "property_value"])
    assert who.attack(again).summary() == who.attack(made).summary()
