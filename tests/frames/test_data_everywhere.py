"""A `Data` is accepted wherever a frame is, and says there what a frame with the same schema attached says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.record import content_digest
from confide.study.pieces.keys import _stated_value

N = 300
SCHEMA = cf.Schema(
    {
        "income": cf.VariableSchema("income", "Income", {9999: "refused"}, (9999,)),
        "region": cf.VariableSchema("region", "Region", {1: "north", 2: "south", 3: "east"}),
    }
)
PLAN = cf.Plan([cf.Swap("region", rate=0.2), cf.Noise("income", sd=50)], identifiers=["id"])
WHO = cf.Intruder(knows=["region", "age", "income"])


def frame() -> pl.DataFrame:
    rng = np.random.default_rng(2)
    income = np.where(rng.random(N) < 0.1, 9999, rng.integers(100, 3000, N))
    columns = {"income": income, "region": rng.integers(1, 4, N), "age": rng.integers(20, 40, N)}
    return pl.DataFrame({"id": range(N), **columns})


def attached() -> pl.DataFrame:
    return cf.attach(frame(), SCHEMA)


DATA = cf.Data(frame(), SCHEMA)


@pytest.fixture(scope="module")
def release() -> cf.Release:
    return PLAN.protect(DATA, seed=1)


@pytest.mark.parametrize("how", [{"seed": 1}, {"seed": 1, "draws": "shared"}, {"seed": 1, "copies": 2}])
def test_a_release_is_the_same_byte_for_byte(how: dict[str, object], tmp_path: Path) -> None:
    one, other = (PLAN.protect(x, vault=None, **how) for x in (DATA, attached()))
    for a, b in zip(getattr(one, "releases", [one]), getattr(other, "releases", [other]), strict=True):
        assert content_digest(a.frame) == content_digest(b.frame)
        assert (a.link == b.link).all()
        assert isinstance(a.data, cf.Data)
        assert a.data.equals(b.data)
        assert a.data.schema == cf.schema(b.data) == cf.schema(a.frame)
        files = [cf.write(x.data, tmp_path / f"{k}.sav", draft=True, overwrite=True) for k, x in enumerate((a, b))]
        assert cf.read(files[0]).equals(cf.read(files[1]))


def test_the_public_schema_is_public(release: cf.Release) -> None:
    noted = cf.Data(DATA, cf.Schema(file_label="wave 3", notes=("private",)))
    seen = cf.Plan([cf.Recode("income", width=1000)], drop=["age"]).protect(noted, seed=1).data.schema
    assert (seen.file_label, seen.notes, seen.variable("income").missing) == (None, (), ())
    assert release.data.schema.variable("region").value_labels == SCHEMA.variable("region").value_labels


def test_attacks_targets_and_populations(release: cf.Release) -> None:
    plain = PLAN.protect(attached(), seed=1)
    assert WHO.attack(release).units.equals(WHO.attack(plain).units)
    some = DATA.filter(pl.col("age") > 30)
    assert WHO.attack(release, some).units.equals(WHO.attack(plain, some.to_polars()).units)
    unsure = [cf.Intruder(knows=["region", "age"], membership=cf.Unsure(population=x)) for x in (DATA, frame())]
    assert unsure[0].attack(release).units.equals(unsure[1].attack(plain).units)


def test_adopted_and_replayed(release: cf.Release) -> None:
    adopted = cf.Release.adopt(DATA, release.data, PLAN, release.link)
    assert isinstance(adopted.data, cf.Data)
    assert WHO.attack(adopted).units.equals(WHO.attack(release).units)
    again = cf.replay(DATA, release.record(private=True))
    assert again.data.equals(release.data)
    with pytest.raises(cf.InputError, match="the plan leaves them alone"):
        cf.Release.adopt(DATA, release.data.with_columns(pl.lit(3).alias("age")), PLAN, release.link)


def test_utility_and_studies(release: cf.Release) -> None:
    plain = PLAN.protect(attached(), seed=1)
    wanted = ["means", "hellinger", cf.RegressionOverlap("age ~ region")]
    assert cf.utility(release, wanted).equals(cf.utility(plain, wanted))
    assert cf.RegressionOverlap("age ~ region")(DATA, release.data) == pytest.approx(
        cf.RegressionOverlap("age ~ region")(attached(), plain.data), abs=1e-12
    )
    results = [
        cf.Study(x, plans={"both": PLAN}, intruders={"who": WHO}, utility=["means"], repeats=2, seed=3).run()
        for x in (DATA, attached())
    ]
    timing = [c for c in results[0].frame.columns if "second" in c]
    assert results[0].frame.drop(timing).equals(results[1].frame.drop(timing))


def test_targets_drawn_around_a_file_and_exposure() -> None:
    plan = cf.Plan([cf.MeasurementError("income", noise_sd=20)])
    made = cf.simulate_targets(DATA, plan, seed=1)
    assert isinstance(made, cf.Data)
    assert made.schema == DATA.schema
    assert made["income"].equals(cf.simulate_targets(attached(), plan, seed=1)["income"])
    shown = [cf.exposure(x, plan, ["income"], shares=[1], seed=1).frame for x in (DATA, attached())]
    assert shown[0].equals(shown[1])


def test_tables_and_combining() -> None:
    assert cf.Table.of(DATA, by=["region"]).total == cf.Table.of(frame(), by=["region"]).total == N
    tables = [cf.Tables.of(x, ["age"], "region") for x in (DATA, frame())]
    assert np.array_equal(tables[0].counts, tables[1].counts)
    published = cf.Table.of(DATA, by=["region"]).publish(cf.Exact())
    assert cf.sap(published, known=DATA.head(3).select("region")).equals(
        cf.sap(published, known=frame().head(3).select("region"))
    )
    copies = PLAN.protect(DATA, seed=1, copies=3)
    assert cf.combine_frames(copies, lambda f: (f["age"].mean(), f["age"].var() / f.height)).copies == 3


def test_a_study_tells_two_of_them_apart() -> None:
    said = [_stated_value(x, "otherwise") for x in (DATA, cf.Data(frame()), DATA.with_columns(pl.lit(1).alias("age")))]
    assert len(set(said)) == 3
    assert said[0] == _stated_value(attached(), "otherwise")


def test_the_command_line_reads_a_labelled_file(tmp_path: Path) -> None:
    from confide.cli.main import main

    file, plan = cf.write(DATA, tmp_path / "people.sav"), tmp_path / "plan.toml"
    plan.write_text('identifiers = ["id"]\n[[steps]]\nmethod = "noise"\nvariable = "income"\nsd = 50\n')
    (tmp_path / "public").mkdir()
    out = tmp_path / "public" / "out.sav"
    assert main(["protect", str(file), "--plan", str(plan), "--out", str(out), "--private", str(tmp_path / "v")]) == 0
    released = cf.read(out)
    assert int((released["income"] == 9999).sum()) == int((DATA["income"] == 9999).sum())
    assert released.schema.variable("income").missing == (9999,)
