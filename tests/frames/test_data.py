"""Frame and schema as one value: a user-missing code stays one, whatever is done to the file."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest

import confide as cf
from confide.frames import data as data_room

N, REFUSED = 400, 40
INCOME = cf.VariableSchema("income", "Yearly income", {9999: "refused"}, (9999,))
SEX = cf.VariableSchema("sex", "Sex", {1: "male", 2: "female"}, (9,), "nominal")
SCHEMA = cf.Schema({"income": INCOME, "sex": SEX}, "A survey", ("a note",))
NOISE = cf.Plan([cf.Noise("income", sd=100)], identifiers=["id"])


def people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    income = rng.integers(100, 8000, N)
    income[rng.permutation(N)[:REFUSED]] = 9999
    return pl.DataFrame(
        {"id": range(N), "income": income, "sex": rng.integers(1, 3, N), "age": rng.integers(18, 90, N)}
    )


@pytest.fixture
def data(tmp_path: Path) -> cf.Data:
    found = cf.read(cf.write(people(), tmp_path / "survey.sav", schema=SCHEMA))
    assert isinstance(found, cf.Data)
    return found


WEALTH = cf.Data({"id": range(N), "wealth": [1, 9999] * (N // 2)}, cf.Schema({"wealth": cf.VariableSchema("wealth")}))

OPERATIONS: dict[str, Callable[[cf.Data], object]] = {
    "as read": lambda d: d,
    "filter": lambda d: d.filter(pl.col("age") >= 18),
    "filter by a mask": lambda d: d.filter(d["age"] >= 18),
    "select": lambda d: d.select("id", "income"),
    "select a list": lambda d: d.select(["id", pl.col("income")]),
    "select by type": lambda d: d.select(cs.numeric()),
    "drop": lambda d: d.drop("age", "sex"),
    "with_columns": lambda d: d.with_columns((pl.col("age") * 2).alias("twice"), one=pl.lit(1)),
    "replaced": lambda d: d.with_columns(pl.col("income").cast(pl.Float64)),
    "generator": lambda d: d.with_columns(pl.col(c).fill_null(0) for c in ("income", "age")),
    "sample": lambda d: d.sample(N, seed=3, shuffle=True),
    "sort": lambda d: d.sort("age", descending=True),
    "head, tail, slice": lambda d: d.head(N).tail(N).slice(0),
    "renamed there and back": lambda d: d.rename({"income": "pay"}).rename({"pay": "income"}),
    "left of a join": lambda d: d.join(WEALTH, on="id", how="left"),
    "right of a join": lambda d: WEALTH.join(d, on="id"),
    "beside pandas": lambda d: d.join(pd.DataFrame({"id": range(N), "x": 1}), on="id"),
    "pandas": lambda d: d.to_pandas(),
    "pandas and its operations": lambda d: d.to_pandas().query("age >= 18")[["id", "income"]].sort_values("income"),
    "pandas and back": lambda d: cf.Data(d.to_pandas()),
    "put back by hand": lambda d: cf.Data(d.to_polars().filter(pl.col("age") >= 18), d.schema),
    "pickled": lambda d: pickle.loads(pickle.dumps(d)),
    "copied": lambda d: copy.deepcopy(copy.copy(d)),
    "again": lambda d: cf.Data(d),
}


@pytest.mark.parametrize("done", OPERATIONS.values(), ids=OPERATIONS)
def test_user_missing_codes_never_get_noise(data: cf.Data, done: Callable[[cf.Data], object]) -> None:
    made = done(data)
    released = NOISE.protect(made, seed=1).data
    assert type(released) is type(made)
    assert int((released["income"] == 9999).sum()) == REFUSED
    assert cf.schema(released).variable("income").missing == (9999,)


def test_a_file_written_and_read_again_has_them_still(data: cf.Data, tmp_path: Path) -> None:
    for suffix in (".sav", ".zsav", ".parquet"):
        again = cf.read(cf.write(data.sort("age"), tmp_path / f"again{suffix}"))
        assert again.equals(data.sort("age"))


def test_a_hand_made_schema_beside_a_file_that_has_no_place_for_one(tmp_path: Path) -> None:
    path = cf.write(people(), tmp_path / "survey.csv")
    assert isinstance(cf.read(path), pl.DataFrame)
    data = cf.read(path, schema=SCHEMA, columns=["id", "income"])
    assert data.schema.variable("income") == INCOME
    assert int((NOISE.protect(data, seed=1).data["income"] == 9999).sum()) == REFUSED
    with pytest.raises(cf.InputError, match=r'survey.csv has no column "incme". Did you mean "income"'):
        cf.read(path, schema=cf.Schema({"incme": INCOME}))
    with pytest.raises(cf.InputError, match=r"schema must be a cf.Schema, not dict"):
        cf.read(path, schema={"income": INCOME})


def test_what_is_said_by_hand_replaces_what_was_known_of_that_variable_alone(data: cf.Data) -> None:
    more = cf.Data(data, cf.Schema({"age": cf.VariableSchema("age", missing=(99,))}))
    assert (more.schema.variable("age").missing, more.schema.variable("income").missing) == ((99,), (9999,))
    assert cf.attach(data, cf.Schema({"income": cf.VariableSchema("income")})).schema.variable("income").missing == ()
    assert data.schema.variable("income").missing == (9999,)


def test_files_without_labels_and_demos_stay_polars(tmp_path: Path) -> None:
    assert type(cf.read(cf.write(people(), tmp_path / "plain.sav"))) is pl.DataFrame
    assert type(cf.demo("elites")) is pl.DataFrame
    assert cf.schema(cf.demo("elites")).variables


def test_the_labels_of_a_demo_matter_for_nothing_that_is_computed() -> None:
    heads = cf.demo("heads").head(300)
    plan = cf.Plan([cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=1000)], identifiers=["id"])
    labelled = cf.attach(heads.clone(), cf.schema(cf.demo("heads")))
    assert plan.protect(heads, seed=1).data.equals(plan.protect(labelled, seed=1).data)


REFUSED_STEPS: dict[str, list[pl.Expr]] = {
    "arithmetic": [pl.col("income") / 1000],
    "under a new name": [(pl.col("income") / 1000).alias("thousands")],
    "cut off": [pl.col("income").clip(0, 5000)],
    "summed": [pl.sum_horizontal("income", "age").alias("total")],
    "all summed": [pl.sum_horizontal(pl.all()).alias("total")],
    "by type": [cs.numeric().log().name.suffix("_log")],
    "an average": [pl.col("income").mean().alias("mean")],
    "imputed from another": [pl.when(pl.col("income") == 9999).then(pl.col("age")).otherwise(pl.col("income"))],
}


class TestWithColumns:
    """A user-missing code is a code, or null, or refused: never a value."""

    @pytest.mark.parametrize("step", REFUSED_STEPS.values(), ids=REFUSED_STEPS)
    def test_a_number_computed_from_a_code_is_refused(self, data: cf.Data, step: list[pl.Expr]) -> None:
        with pytest.raises(cf.InputError, match=r"computed from user-missing codes in \d+ of 400 rows"):
            data.with_columns(step)
        data.missing_to_null("income").with_columns(step)

    def test_so_is_an_average_that_is_selected(self, data: cf.Data) -> None:
        with pytest.raises(cf.InputError, match=r'"income" would be computed from user-missing codes, as if'):
            data.select(pl.col("income").mean())
        assert data.missing_to_null().select(pl.col("income").mean())["income"][0] < 8000
        assert data.select(pl.col("income").unique()).schema.variable("income").missing == (9999,)

    def test_a_copy_takes_all_along_and_what_took_codes_over_takes_the_codes(self, data: cf.Data) -> None:
        made = data.with_columns(pl.col("income").alias("pay"), wage="income", exact=pl.col("income").cast(pl.Float64))
        assert [made.schema.variable(v).label for v in ("pay", "wage", "exact")] == ["Yearly income"] * 2 + [None]
        assert [made.schema.variable(v).missing for v in ("pay", "wage", "exact")] == [(9999,)] * 3
        suffixed = data.with_columns(pl.col("income", "sex").name.suffix("_old"))
        assert suffixed.schema.variable("income_old").missing == (9999,)
        swapped = cf.Data(people(), SCHEMA).select(income="age", age="income")
        assert [swapped.schema.variable(v).missing for v in ("income", "age")] == [(), (9999,)]

    def test_codes_made_null_and_columns_that_say_where_they_are(self, data: cf.Data) -> None:
        absent = pl.col("income") == 9999
        made = data.with_columns(
            pl.when(absent).then(None).otherwise(pl.col("income") * 2).alias("double"),
            refused=absent,
            words=pl.col("income").cast(pl.String),
        )
        assert made["double"].null_count() == made["refused"].sum() == REFUSED
        assert "double" not in made.schema.variables

    def test_what_has_nothing_to_do_with_codes_is_free(self, data: cf.Data) -> None:
        made = data.with_columns(pl.col("age").shuffle().alias("any"), pl.Series("given", range(N)), income=pl.lit(3))
        assert made.schema.variable("income") == data.schema.variable("income")
        assert "any" not in made.schema.variables

    def test_missing_to_null_declares_them_no_longer(self, data: cf.Data) -> None:
        made = data.missing_to_null("income")
        assert made["income"].null_count() == REFUSED
        assert (made.schema.variable("income").missing, made.schema.variable("income").value_labels) == ((), {})
        assert made.schema.variable("sex") == data.schema.variable("sex")

    def test_ranges_and_text_codes(self) -> None:
        said = {"x": cf.VariableSchema("x", missing=((90, 99), -1)), "t": cf.VariableSchema("t", missing=("z",))}
        letters = {"s": cf.VariableSchema("s", missing=("a", "b"))}  # of a Stata file: null in the data
        columns = {"x": [1, 95, -1, None], "t": ["a", "z", "b", None], "s": [1, None, 3, 4]}
        data = cf.Data(columns, cf.Schema({**said, **letters}))
        nulled = data.missing_to_null().select("x", "t").to_polars()
        assert nulled.rows() == [(1, "a"), (None, None), (None, "b"), (None, None)]
        assert data.with_columns(pl.col("s") * 2)["s"].to_list() == [2, None, 6, 8]
        made = data.with_columns(pl.col("x").fill_null(0), y=pl.col("x").fill_null(0))
        assert (made.schema.variable("x").missing, made.schema.variable("y").missing) == (((90, 99), -1), (-1, 95))


class TestJoin:
    """Variables of both files bring what is known of them."""

    REGION = cf.VariableSchema("region", "Region", {1: "north", 2: "south"}, (9,))

    def test_names_that_clash_get_a_suffix_with_their_schema(self, data: cf.Data) -> None:
        other = cf.Data({"id": [1, 2], "income": [7, 8]}, cf.Schema({"income": cf.VariableSchema("income", "Then")}))
        made = data.join(other, on="id", suffix="_then")
        assert [made.schema.variable(v).label for v in ("income", "income_then")] == ["Yearly income", "Then"]
        assert made["id"].to_list() == [1, 2]

    @pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
    def test_every_kind_of_join_keeps_codes_and_order(self, data: cf.Data, how: str) -> None:
        other = cf.Data({"key": [5, 3, 900], "w": [-1, 2, 3]}, cf.Schema({"w": cf.VariableSchema("w", missing=(-1,))}))
        made = data.join(other, left_on="id", right_on="key", how=how)
        assert made.schema.variable("income").missing == (9999,)
        assert made.schema.variable("w").missing == (() if how in ("semi", "anti") else (-1,))
        key = made["key" if how == "right" else "id"].drop_nulls().to_list()
        assert key[:2] == {"inner": [3, 5], "right": [5, 3], "semi": [3, 5]}.get(how, [0, 1])

    def test_records_that_share_a_key_stay_in_order(self, data: cf.Data) -> None:
        many = cf.Data({"age": np.tile(np.arange(90), 3)[::-1], "w": range(270)})
        made = data.join(many, on="age")
        assert made["id"].is_sorted()
        assert made.select("id", "w").equals(made.select("id", "w").sort("id", "w"))

    def test_a_key_that_means_two_things_is_refused(self) -> None:
        here = cf.Data({"region": [1, 2]}, cf.Schema({"region": self.REGION}))
        for other in ({1: "south", 2: "north"}, {}):
            said = cf.VariableSchema("region", value_labels=other, missing=() if other else (8,))
            with pytest.raises(cf.InputError, match=r'codes of the key "region" mean one thing in one file'):
                here.join(cf.Data({"region": [1]}, cf.Schema({"region": said})), on="region")
        more = cf.VariableSchema("region", value_labels={2: "south", 3: "east"})
        made = here.join(cf.Data({"region": [1]}, cf.Schema({"region": more})), on="region")
        assert made.schema.variable("region").value_labels == {1: "north", 2: "south", 3: "east"}
        assert made.schema.variable("region").missing == (9,)


class TestLeaving:
    """An explicit call says what is left behind."""

    def test_the_bare_frame_has_lost_it(self, data: cf.Data) -> None:
        assert cf.schema(data.to_polars()) == cf.Schema()
        assert data.left_behind == (
            "to_polars leaves behind: labels of 2 variables; value labels of 2 variables; user-missing codes of "
            '"income", "sex", from then on values like any other. To put it back: cf.Data(frame, data.schema).'
        )
        assert cf.Data({"a": [1]}).left_behind == ""

    def test_it_is_said_once_to_people_and_never_to_pipelines(self, data, monkeypatch, capsys) -> None:
        data.to_polars()
        assert capsys.readouterr() == ("", "")
        data_room._say.cache_clear()
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
        NOISE.protect(data, seed=1)
        assert capsys.readouterr() == ("", "")
        for _ in range(2):
            data.to_polars()
        assert capsys.readouterr().err == data.left_behind + "\n"

    @pytest.mark.parametrize("name", ["group_by", "unique", "lazy", "describe", "write_csv"])
    def test_what_else_polars_can_do_is_not_done_silently(self, data: cf.Data, name: str) -> None:
        with pytest.raises(AttributeError, match=rf"explicit call: data\.to_polars\(\)\.{name}"):
            getattr(data, name)
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            data.nonsense  # noqa: B018


def test_it_is_frozen_and_does_not_follow_changes_of_the_frame_it_was_made_of() -> None:
    frame = people()
    data = cf.Data(frame, SCHEMA)
    with pytest.raises(FrozenInstanceError):
        data.schema = cf.Schema()
    frame.insert_column(0, pl.Series("new", range(N)))
    data.to_polars().drop_in_place("age")
    assert data.columns == ["id", "income", "sex", "age"]


def test_a_draft_stays_one_whatever_is_made_of_it(data: cf.Data, tmp_path: Path) -> None:
    release = NOISE.protect(data, seed=1)
    again = pickle.loads(pickle.dumps(release))
    for draft in (release.data.filter(pl.col("age") > 30), again.data, release.data.to_pandas(), release.data.to_polars(),
                  data.join(release.data, on="age")):  # fmt: skip
        with pytest.raises(cf.InputError, match="is a draft"):
            cf.write(draft, tmp_path / "out.sav")
    for made in (release, again):
        assert cf.schema(made.original).variable("income").missing == (9999,)
    assert cf.write(cf.Plan(drop=["id"]).protect(data).data, tmp_path / "out.sav").exists()


def test_basics(data: cf.Data) -> None:
    assert (data.shape, data.height, data.width, len(data)) == ((N, 4), N, 4, N)
    assert data.columns == ["id", "income", "sex", "age"]
    assert data.dtypes == [pl.Int64] * 4
    assert data["age"].equals(people()["age"])
    assert data.get_column("age").equals(data["age"])
    assert [s.name for s in data] == data.columns
    assert "age" in data
    assert not data.equals(cf.Data(data.to_polars()))
    assert data.equals(data.to_polars())


def test_a_printout_names_labels_kinds_and_codes_and_no_value_of_the_data(data: cf.Data) -> None:
    said = repr(
        cf.Data({"pay": [123456.5, 9999.0]}, cf.Schema({"pay": cf.VariableSchema("pay", "<Pay>", {}, (9999,))}))
    )
    assert said.startswith("Data: 2 rows, 1 variable; user-missing codes in 1\n")
    assert "123456" not in said
    assert data.codebook().rows()[1:3] == [
        ("income", "Yearly income", "numeric", "9999 refused", "9999"),
        ("sex", "Sex", "categorical", "1 male; 2 female", "9"),
    ]
    page = cf.Data(
        {"a": [1]}, cf.Schema({"a": cf.VariableSchema("a", "<b>", missing=((5, float("inf")),))})
    )._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<td>5 to inf</td>" in page


MISTAKES: dict[str, tuple[Callable[[cf.Data], object], str]] = {
    "a column that is not there": (
        lambda d: cf.Data(d, cf.Schema({"incme": INCOME})), r'describes "incme", which is no column.*mean "income"'),
    "a dict for a schema": (lambda d: cf.Data(d, {"income": (9999,)}), r"schema must be a cf.Schema, not dict"),
    "no frame": (lambda _: cf.Data(42), r"data must be a polars DataFrame.*not int"),
    "select": (lambda d: d.select("incme"), r'select: there is no column "incme". Did you mean "income"'),
    "select an expression": (lambda d: d.select(pl.col("incme") + 1), r'select: there is no column "incme"'),
    "filter": (lambda d: d.filter(pl.col("agee") > 3), r'filter: there is no column "agee"'),
    "rename": (lambda d: d.rename({"agee": "b"}), r'rename: there is no column "agee"'),
    "drop": (lambda d: d.drop("agee"), r'drop: there is no column "agee"'),
    "missing_to_null": (lambda d: d.missing_to_null("agee"), r'there is no column "agee"'),
    "a key not here": (lambda d: d.join(WEALTH, on="wealth"), r'join: this file has no column "wealth"'),
    "a key not there": (lambda d: d.join(WEALTH, on="age"), r'join: the other file has no column "age"'),
    "join with nothing": (lambda d: d.join(3, on="id"), r"data must be a polars DataFrame.*not int"),
    "a row": (lambda d: d[0], r'data\["age"\] gives one column'),
    "no such column": (lambda d: d["agee"], r'no column "agee"'),
    "more than there are": (lambda d: d.sample(10_000), r"sample: polars refuses this"),
    "two sizes of a sample": (lambda d: d.sample(3, fraction=0.1), r"sample: cannot specify both"),
    "text for a number": (lambda d: d.head("x"), r"Data\.head: n must be a whole number"),
}  # fmt: skip


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_met_with_a_sentence(data: cf.Data, mistake: Callable[[cf.Data], object], sentence: str) -> None:
    with pytest.raises(cf.InputError, match=sentence):
        mistake(data)
