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
    made = plan.protect(heads)
    path = cf.write(made.data, tmp_path / f"public.{suffix}")
    again = cf.Release.adopt(heads, cf.read(path), plan, link=made.link)
    who = cf.Intruder(knows=["sex", "race", "age", "property_value"])
    assert who.attack(again).summary().to_dict() == pytest.approx(who.attack(made).summary().to_dict(), rel=1e-12)


# -- means of groups, made elsewhere -------------------------------------------------------------------------

HEADS = (
    cf.demo("heads")
    .head(900)
    .with_columns(property_value=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("property_value"))
)
MONEY = ["hh_income", "property_value"]
GROUPS = cf.Microaggregate(MONEY, k=3)
MEANS = cf.Plan([GROUPS], identifiers="id").protect(HEADS, seed=1)
ORDER = np.random.default_rng(5).permutation(HEADS.height)
NOISE = pl.Series(np.random.default_rng(6).normal(0, 50, HEADS.height))


def adopted(released: pl.DataFrame, *steps: object, link: object = MEANS.link) -> cf.Release:
    return cf.Release.adopt(HEADS, released, cf.Plan(list(steps) or [GROUPS], identifiers="id"), link=link)


SHUFFLED = MEANS.data.with_columns(MEANS.data[v][ORDER] for v in MONEY)
FILLED = MEANS.data.with_columns(pl.col(MONEY).fill_null(pl.col(MONEY).mean()))
# what was released, steps if others, what is said with a link, what without ("" where nothing can be told)
MISFITS = {
    "times ten": (MEANS.data.with_columns(pl.col(MONEY) * 10), [], "not the mean of the original", "another average"),
    "shuffled with gaps": (SHUFFLED, [], "released values are missing or answer codes where", ""),
    "one column shuffled": (
        MEANS.data.with_columns(hh_income=MEANS.data["hh_income"][ORDER]), [], "too few others", "too few others",
    ),
    "plus noise": (MEANS.data.with_columns(pl.col(MONEY) + NOISE), [], "too few others", "too few others"),
    "the same noise for a group": (
        MEANS.data.with_columns(hh_income=pl.col("hh_income") + pl.col("hh_income").rank("dense") % 9), [], "not the mean", "another average",
    ),
    "originals": (HEADS.drop("id")[MEANS.link], [], "too few others", "too few others"),
    "of three as of five": (MEANS.data, [cf.Microaggregate(MONEY, k=5)], "k = 5 or more", "k = 5 or more"),
    "gaps filled": (FILLED, [], "the other way round", "other numbers of values are missing"),
    "rounded downwards": (MEANS.data.with_columns(pl.col(MONEY).floor()), [], "not the mean of the original", ""),
    "as a mask": (MEANS.data, [cf.MatrixMask.of(cf.Microaggregate("hh_income", k=40))], "too few", "too few"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_means_that_no_groups_give_are_refused(name: str) -> None:
    released, steps, linked, alone = MISFITS[name]
    with pytest.raises(cf.InputError, match="does not fit the plan") as found:
        adopted(released, *steps)
    assert linked in str(found.value)
    if alone:
        with pytest.raises(cf.InputError, match=alone):
            adopted(released, *steps, link=None)


def test_shuffled_means_are_refused() -> None:
    whole = HEADS.drop_nulls()
    made = cf.Plan([GROUPS], identifiers="id").protect(whole, seed=1)
    order = np.random.default_rng(1).permutation(whole.height)
    other = made.data.with_columns(made.data[v][order] for v in MONEY)
    with pytest.raises(cf.InputError, match="not the mean of the original values of the records that share them"):
        cf.Release.adopt(whole, other, made.plan, link=made.link)


@pytest.mark.parametrize("link", [MEANS.link, None])
@pytest.mark.parametrize("form", [
    pl.col(MONEY), pl.col(MONEY).round(2), pl.col(MONEY).round(0).cast(pl.Int64), pl.col(MONEY).cast(pl.Float32),
])  # fmt: skip
def test_means_at_the_precision_of_other_tools_are_adopted(form: pl.Expr, link: object) -> None:
    adopted(MEANS.data.with_columns(form), link=link)


@pytest.mark.parametrize("steps", [
    [cf.Sample(0.5), GROUPS],
    [GROUPS, cf.Sample(0.5)],
    [GROUPS, cf.MatrixMask("age", A=lambda x, rng: np.eye(len(x))[rng.permutation(len(x))[:200]])],
    [cf.Swap("sex", rate=0.5), cf.Microaggregate(MONEY, k=4, within="sex")],
    [cf.Topcode("hh_income", at=90_000), GROUPS],
    [cf.Microaggregate(["age", "n_persons"], k=5)],
    [cf.MatrixMask.of(cf.Microaggregate("hh_income", k=3))],
])  # fmt: skip
def test_what_a_plan_made_fits_it(steps: list) -> None:
    plan = cf.Plan(steps, identifiers="id")
    made = plan.protect(HEADS, seed=2)
    for link in (made.link, None):
        cf.Release.adopt(HEADS, made.data, plan, link=link)


@pytest.mark.parametrize("hidden", [["sex"], ["hh_income"], ["sex", "property_value"], MONEY])
def test_means_are_judged_by_what_is_released(hidden: list) -> None:
    plan = cf.Plan([cf.Microaggregate(MONEY, k=3, within="sex")], identifiers="id")
    made = plan.protect(HEADS, seed=2)
    cf.Release.adopt(HEADS, made.data.drop(hidden), plan, link=made.link)
    wrong = made.data.drop(hidden).with_columns(pl.col(v) * 2 for v in MONEY if v not in hidden)
    if set(MONEY) - set(hidden):
        with pytest.raises(cf.InputError, match="not the mean"):
            cf.Release.adopt(HEADS, wrong, plan, link=made.link)


def test_a_mean_may_be_an_answer_code() -> None:
    data = pl.DataFrame({"x": [98, 100, 99, 1, 2, 3, 99, 99]})
    cf.attach(data, cf.Schema({"x": cf.VariableSchema("x", missing=(99,))}))
    plan = cf.Plan([cf.Microaggregate("x", k=2)])
    made = plan.protect(data, seed=1)
    assert (made.data["x"] == 99).sum() == 5
    for link in (made.link, None):
        cf.Release.adopt(data, made.data, plan, link=link)
    codes_averaged = made.data.with_columns(x=pl.when(pl.col("x") == 99).then(50.0).otherwise("x"))
    for link in (made.link, None):
        with pytest.raises(cf.InputError, match="answer codes"):
            cf.Release.adopt(data, codes_averaged, plan, link=link)


def test_any_fitted_step_is_asked_what_it_cannot_have_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from confide.protect.methods.noise import noise

    def unfit(fitted: object, released: object, rows: object) -> list[str]:  # noqa: ARG001
        return [f"{released.n} records with {', '.join(released)}; {len(rows)} rows."]

    monkeypatch.setattr(noise._FittedNoise, "unfit", unfit, raising=False)
    with pytest.raises(cf.InputError, match="200 records with x; 200 rows"):
        cf.Release.adopt(SMALL, SMALL, cf.Plan([cf.Noise("x", sd=1)]), link=np.arange(200))
    cf.Release.adopt(SMALL, SMALL, cf.Plan([cf.Noise("x", sd=1), cf.Sample(1.0)]), link=np.arange(200))
