"""Files in the storage of a cluster: another file system of Hadoop, which Python's own `open` knows nothing of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import confide as cf
from confide.core.scale.hadoop import Remote
from confide.core.scale.hadoop_folders import whole_remote_folder
from tests.helpers.scanned import in_files, people
from tests.helpers.spark_protect import plan


def far(session: Any, here: Path) -> str:
    """A file system of its own, under a name of its own."""
    store, name = here / "store", f"far{abs(hash(str(here)))}"
    store.mkdir(exist_ok=True)
    session._jsc.hadoopConfiguration().set(f"fs.viewfs.mounttable.{name}.link./data", f"file://{store}")
    return f"viewfs://{name}/data"


@pytest.mark.slow
def test_read_protect_and_attack(session: Any, tmp_path: Path) -> None:
    """Originals are read, and results written, where only Spark reaches; names with blanks are met as well."""
    near, place = in_files(people(), tmp_path / "store" / "in put", [800, 1_400, 1_400, 2_999]), far(session, tmp_path)
    data, engine = cf.scan(f"{place}/in put"), cf.Spark(session)
    assert not Path(str(data.files[0])).exists()
    assert data.types == near.types
    assert data.counts == near.counts
    assert data.slice(790, 30).equals(near.slice(790, 30))
    assert data.collect(["sex", "kind", "share"]).equals(near.collect(["sex", "kind", "share"]))
    given = {"seed": 1, "part_rows": 1_700}
    there = plan().protect(data, out=f"{place}/public", private=tmp_path / "there private", engine=engine, **given)
    here = plan().protect(near, out=tmp_path / "here", private=tmp_path / "here private", **given)
    public = sorted((tmp_path / "store" / "public").iterdir())
    assert [p.name for p in public] == [p.name for p in here.released.files]
    for one, other in zip((*public, *there.link_files), (*here.released.files, *here.link_files), strict=True):
        assert one.read_bytes() == other.read_bytes()
    again = cf.ScannedRelease.load(tmp_path / "there private")
    assert again.original.files == data.files
    assert repr(again) == repr(here)
    intruder, units = cf.Intruder(knows=["sex", "race", "age"]), f"{place}/units"
    whole = intruder.attack(here, out=tmp_path / "units")
    found = intruder.attack(again, out=units, engine=engine)
    both = found.units.collect(), whole.units.collect()
    for v in ("target", "rank", "candidates", "hit", "status"):
        assert both[0][v].equals(both[1][v])
    assert (both[0]["p_true"] - both[1]["p_true"]).abs().max() < 1e-9  # type: ignore[operator]
    assert found.posterior(17)["row"].equals(whole.posterior(17)["row"])
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        intruder.attack(again, out=units, engine=engine)
    with pytest.raises(cf.InputError, match="is written by Spark"):
        intruder.attack(again, out=f"{units}-2")
    with pytest.raises(cf.InputError, match="is written by Spark"):
        plan().protect(data, out=f"{place}/other", private=tmp_path / "private", **given)
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        plan().protect(data, out=f"{place}/public", private=tmp_path / "private", engine=engine, **given)
    assert sorted(p.name for p in (tmp_path / "store").iterdir()) == ["in put", "public", "units"]


@pytest.mark.slow
def test_what_is_not_there_is_said(session: Any, tmp_path: Path) -> None:
    place = far(session, tmp_path)
    for name, said in (
        (f"{place}/nothing", "no file that ends in .parquet"),
        ("viewfs://nowhere/data", "cannot be"),
        ("strange://host/data", "cannot be reached"),
    ):
        with pytest.raises(cf.InputError, match=said):
            cf.scan(name)
    data = in_files(people(50), tmp_path / "store" / "in", [20])
    found = cf.scan(f"{place}/in")
    data.files[1].unlink()
    with pytest.raises(cf.InputError, match=r"part-01\.parquet is missing"):
        plan().protect(found, seed=1, out=tmp_path / "out", private=tmp_path / "private", engine=cf.Spark(session))
    (tmp_path / "store" / "in" / "part-01.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(cf.InputError, match="cannot be read as Parquet"):
        cf.scan(f"{place}/in")


@pytest.mark.slow
def test_a_folder_appears_whole_or_not_at_all(session: Any, tmp_path: Path) -> None:
    place = Remote(far(session, tmp_path))
    store = tmp_path / "store"

    def fail() -> None:
        with whole_remote_folder(place / "units") as made:
            session.range(3).write.mode("append").parquet(str(made))
            assert (store / made.name).stat().st_mode & 0o777 == 0o700
            (store / "name").write_text(made.name)
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    (left,) = store.iterdir()
    name = left.read_text()
    left.unlink()
    (store / name).mkdir()
    (store / name / "left").touch()  # by a process that was killed
    with whole_remote_folder(place / "units") as made:
        session.range(3).write.mode("append").parquet(str(made))
    assert [p.name for p in store.iterdir()] == ["units"]
    assert cf.scan(f"{place}/units").height == 3


def test_names_of_paths() -> None:
    """Names that Spark gives to the files of rows, encoded or not."""
    place = Remote("file:/in put/part-00.parquet")
    assert {"file:///in%20put/part-00.parquet", "file:/in put/part-00.parquet"} <= place.spellings
    assert Remote("s3a://bucket/a b").spellings >= {"s3a://bucket/a%20b"}


def test_without_a_session_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark.sql")

    class _None:
        _instantiatedSession = None

        @staticmethod
        def getActiveSession() -> None: ...

    monkeypatch.setattr(pyspark, "SparkSession", _None)
    with pytest.raises(cf.InputError, match="none runs here"):
        cf.scan("hdfs://host/persons")
