"""Public files name only what was released: no category, label, code or text of people who are not in them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.core.errors import InputError
from confide.core.random.origin import Origin
from confide.frames.encoded import Encoded
from confide.protect.make import make
from confide.protect.replay import EARLIER

RARE = "RarelyAnsweredByAnybodyAtAll"
TEXT = "a remark that nobody who was selected ever made: PLANTEDREMARK"
N = 400
SAMPLE = cf.Sample(0.95)
FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".sav", ".zsav", ".dta")


def _original() -> pl.DataFrame:
    """One person, whom samples leave out, has the rare category, the rare code and the rare remark."""
    rng = np.random.default_rng(1)
    region = rng.choice(["north", "south"], N).tolist()
    answer = rng.choice([1, 2, 3], N).tolist()
    remark = [f"an ordinary remark of some length, number {i:04d}" for i in range(N)]
    age = rng.integers(20, 60, N).tolist()
    region[7], answer[7], remark[7], age[7] = RARE, 77, TEXT, 118
    frame = pl.DataFrame({
        "region": pl.Series(region, dtype=pl.Enum(["south", RARE, "north"])),
        "group": pl.Series(region, dtype=pl.Categorical),
        "answer": answer,
        "remark": remark,
        "age": age,
        "income": rng.normal(50, 10, N).round(1),
    })  # fmt: skip
    labels = {1: "yes", 2: "no", 3: "perhaps", 77: RARE + "Code", 98: RARE + "Missing"}
    held = cf.Schema(
        {
            "answer": cf.VariableSchema("answer", label="An answer", value_labels=labels, missing=(98, (90, 97))),
            "region": cf.VariableSchema("region", value_labels={1: "south", 2: RARE, 3: "north"}),
            "remark": cf.VariableSchema("remark", format="A4321"),
        },
        file_label=f"all of them, {RARE}Label",
        notes=(f"{RARE}Note",),
    )
    return cf.attach(frame, held)


ORIGINAL = _original()
PLANTED = (RARE.encode(), b"PLANTEDREMARK", b"A4321")


def _without(plan: cf.Plan, data: object = ORIGINAL, **how: str) -> cf.Release:
    release = next(r for r in (plan.protect(data, seed=s, **how) for s in range(1, 400)) if 7 not in r.link)
    assert release.frame.height > 0.9 * N  # most text is kept, so that polars shares its memory
    return release


def _bytes(table: pa.Table) -> bytes:
    """All that an Arrow table carries: buffers, dictionaries, metadata."""
    found = [str(table.schema.metadata).encode()]
    for field, column in zip(table.schema, table.columns, strict=True):
        found.append(str(field.metadata).encode())
        for chunk in column.chunks:
            parts = [chunk, chunk.dictionary] if pa.types.is_dictionary(chunk.type) else [chunk]
            found += [b.to_pybytes() for part in parts for b in part.buffers() if b is not None]
    return b"\n".join(found)


def _content(path) -> bytes:
    """A file's bytes, and those that are compressed inside of it."""
    raw = path.read_bytes()
    if path.suffix in (".arrow", ".feather", ".ipc"):
        with pa.ipc.open_file(path) as reader:
            return raw + _bytes(reader.read_all())
    if path.suffix == ".parquet":
        seen = str([pq.ParquetFile(path).metadata.row_group(0).column(i) for i in range(6)])
        return raw + _bytes(pq.read_table(path)) + seen.encode()
    if path.suffix == ".zsav":
        cf.write(cf.read(path), path.with_suffix(".sav"), overwrite=True)
        return raw + path.with_suffix(".sav").read_bytes()
    return raw


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FORMATS)
def test_no_file_names_what_nobody_released_has(suffix, tmp_path):
    release = _without(cf.Plan([SAMPLE]))
    content = _content(cf.write(release.data, tmp_path / f"public{suffix}", draft=True))
    assert [p for p in PLANTED if p in content] == []
    whole = _content(cf.write(ORIGINAL, tmp_path / f"original{suffix}"))
    assert RARE.encode() in whole
    assert b"PLANTEDREMARK" in whole


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_no_frame_holds_what_nobody_released_has(kind):
    data = {"polars": ORIGINAL, "pandas": ORIGINAL.to_pandas(), "arrow": ORIGINAL.to_arrow()}[kind]
    release = _without(cf.Plan([SAMPLE]), data)
    content = pickle.dumps(release.data)
    if kind == "arrow":
        content += _bytes(release.data)
    assert [p for p in PLANTED if p in content] == []
    whole = pickle.dumps(data)
    assert RARE.encode() in whole


def test_categories_that_occur_keep_their_order_and_the_record_lists_no_others():
    release = _without(cf.Plan([SAMPLE]))
    assert release.data["region"].dtype == pl.Enum(["south", "north"])
    assert release.frame.schema == release.data.schema
    assert RARE not in json.dumps(release.record())
    assert cf.schema(release.data).variable("answer").value_labels == {1: "yes", 2: "no", 3: "perhaps"}
    assert cf.schema(release.data).variable("answer").missing == ()
    assert cf.schema(release.data).variable("region").value_labels == {1: "south", 3: "north"}


def test_a_codebook_that_is_public_is_named_in_full(tmp_path):
    for stated in (True, ["region", "answer"]):
        release = _without(cf.Plan([SAMPLE], public_codebook=stated))
        assert release.data["region"].dtype == ORIGINAL["region"].dtype
        assert cf.schema(release.data).variable("answer") == cf.schema(ORIGINAL).variable("answer")
        assert RARE in json.dumps(release.record())
        for suffix in (".parquet", ".sav", ".dta"):
            assert RARE.encode() in _content(
                cf.write(release.data, tmp_path / f"p{suffix}", overwrite=True, draft=True)
            )
    one = _without(cf.Plan([SAMPLE], public_codebook="answer"))
    assert one.data["region"].dtype == pl.Enum(["south", "north"])
    assert 98 in cf.schema(one.data).variable("answer").value_labels


def test_recodes_name_the_categories_that_occur():
    plan = cf.Plan([
        cf.Recode("age", width=10),
        cf.Recode("income", breaks=[0, 40, 50, 1000], labels=["debts", "low", "middle", "high", "IncomeOf" + RARE]),
        SAMPLE,
    ])  # fmt: skip
    release = _without(plan)
    assert "110 to 119" not in release.data["age"].dtype.categories
    assert release.data["age"].dtype.categories.to_list() == ["20 to 29", "30 to 39", "40 to 49", "50 to 59"]
    assert release.data["income"].dtype.categories.to_list() == ["low", "middle", "high"]
    everything = _without(replace(plan, public_codebook=True))
    assert "110 to 119" in everything.data["age"].dtype.categories


def test_the_public_record_names_no_rare_category_unless_the_codebook_is_public():
    mapping = {RARE: "south"}
    steps = [cf.Recode("region", mapping=mapping), cf.Recode("age", breaks=[40], labels=["young", "old"])]
    secret = cf.Plan(steps).protect(ORIGINAL, seed=1)
    told = secret.record()
    assert told["withheld"] == ["steps[0] (recode).mapping: what fewer than 10 people have is not named"]
    assert told["plan"]["steps"][0] == {"method": "recode", "variable": "region"}
    assert RARE not in json.dumps(told["plan"])
    assert secret.record(private=True)["plan"]["steps"][0]["mapping"] == mapping
    told = cf.Plan(steps, public_codebook=["region"]).protect(ORIGINAL, seed=1).record()
    assert "withheld" not in told
    assert told["plan"]["steps"][0]["mapping"] == mapping


def test_plans_carry_the_statement_and_check_it():
    for stated in (True, ("region",)):
        plan = cf.Plan([SAMPLE], public_codebook=stated)
        assert cf.Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert cf.Plan([SAMPLE], public_codebook=False) == cf.Plan([SAMPLE])
    with pytest.raises(InputError, match=r'public_codebook: there is no column "regoin"\. Did you mean "region"'):
        cf.Plan([SAMPLE], public_codebook="regoin").protect(ORIGINAL)
    with pytest.raises(InputError, match='public_codebook: "age" is not released'):
        cf.Plan([SAMPLE], drop="age", public_codebook=["age"])
    with pytest.raises(InputError, match="public_codebook"):
        cf.Plan.from_dict({"public_codebook": 3})


ATTACKED = {
    "sample": [SAMPLE],
    "swap": [cf.Swap("region", rate=0.4), SAMPLE],
    "pram": [cf.Pram("region", retention=0.7), SAMPLE],
    "recode then pram": [cf.Recode("age", width=10), cf.Pram("age", retention=0.7), SAMPLE],
    "rank swap": [cf.RankSwap("income", window=20), SAMPLE],
    "hot deck": [cf.HotDeck("region", match="income"), SAMPLE],
}


@pytest.mark.parametrize("steps", ATTACKED.values(), ids=ATTACKED)
def test_attack_adopt_and_replay_agree_whether_or_not_all_categories_are_named(steps):
    narrow, wide = (cf.Plan(steps, public_codebook=b) for b in (False, True))
    release = _without(narrow, draws="shared")
    full = wide.protect(ORIGINAL, seed=release.origin.seed, draws="shared")
    intruder = cf.Intruder(knows=["region", "age"])
    if isinstance(steps[0], cf.Recode):
        assert len(full.frame["age"].dtype.categories) > len(release.frame["age"].dtype.categories)
    found = intruder.attack(release).units
    assert_frame_equal(found, intruder.attack(full).units, abs_tol=1e-12)
    adopted = cf.Release.adopt(ORIGINAL, release.data, narrow, link=release.link)
    assert_frame_equal(found, intruder.attack(adopted).units, abs_tol=1e-12)
    again = cf.replay(ORIGINAL, release.record(private=True))
    assert again.data.equals(release.data)
    assert again.data.schema == release.data.schema


def test_records_of_releases_that_named_every_category_still_replay():
    origin = Origin.recorded(4)
    wide = cf.Plan([SAMPLE], public_codebook=True)
    release = make(wide, Encoded.of(ORIGINAL), origin, ORIGINAL, None)
    old = release.record(private=True) | {"format": EARLIER}
    old["private"]["seed"] = old["private"].pop("draws")["seed"]
    del old["plan"]["public_codebook"]  # as it was written when every release did so
    assert cf.replay(ORIGINAL, old).data.schema == ORIGINAL.schema


def test_categories_inside_lists_and_structures():
    kind = pl.Enum(["a", RARE, "b"])
    frame = pl.DataFrame({
        "id": [1, 2, 3],
        "list": pl.Series([["a"], ["b", "a"], None], dtype=pl.List(kind)),
        "both": pl.Series([{"k": "b"}, {"k": None}, None], dtype=pl.Struct({"k": kind})),
        "none": pl.Series([None] * 3, dtype=kind),
    })  # fmt: skip
    out = cf.Plan([cf.Topcode("id", at=2)]).protect(frame, seed=1).data
    assert out.schema["list"] == pl.List(pl.Enum(["a", "b"]))
    assert out.schema["both"] == pl.Struct({"k": pl.Enum(["b"])})
    assert out.schema["none"] == pl.Enum([])
    assert RARE.encode() not in pickle.dumps(out)


def test_values_that_were_made_missing_are_not_behind_the_nulls(tmp_path):
    secret = 7_777_777_777
    number = pl.Series("n", [1, 2, 3, secret])
    text = pl.Series("t", ["a text of some length", "another text of length", "a third text, also long", TEXT])
    hidden = pl.DataFrame([number.set(number > 9, None), text.set(text == TEXT, None)])
    path = cf.write(hidden, tmp_path / "a.arrow")
    for content in (_content(path), pickle.dumps(cf.Plan([]).protect(hidden, seed=1).data)):
        assert secret.to_bytes(8, "little") not in content
        assert b"PLANTEDREMARK" not in content
    assert secret.to_bytes(8, "little") in pickle.dumps(hidden)  # polars leaves them there
    assert cf.read(path).equals(hidden)


def test_files_hold_no_index_no_notes_and_no_order_of_the_original(tmp_path):
    data = ORIGINAL.with_row_index("row").to_pandas().set_index("row")
    release = cf.Plan([cf.Topcode("age", at=50)]).protect(data, seed=1)
    assert list(release.data.index) == list(range(N))
    path = cf.write(release.data, tmp_path / "a.parquet", draft=True)
    assert b"pandas" not in path.read_bytes()
    statistics = pq.ParquetFile(path).metadata.row_group(0).column(4).statistics
    assert (statistics.min, statistics.max) == (20, 50)
    assert not np.array_equal(np.sort(release.link), release.link)
    table = ORIGINAL.to_arrow().replace_schema_metadata({"source": RARE})
    released = _without(cf.Plan([SAMPLE]), table).data
    assert RARE not in str(released.schema.metadata)
