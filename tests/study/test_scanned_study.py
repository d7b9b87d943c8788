"""A study of a scan finds what the study of the same file in memory finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.cli.main import main
from tests.helpers.scanned import in_files, people

KEYS = ["sex", "race", "age"]
PLANS = {
    "swap": cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers=["id"]),
    "noise": cf.Plan([cf.Noise("income", sd=500.0), cf.Sample(0.8)], identifiers=["id"], drop=["born"]),
}
ASKED: dict[str, Any] = {
    "plans": PLANS, "intruders": {"near": cf.Intruder(knows=KEYS)}, "utility": ["means", "hellinger"], "repeats": 2,
    "seed": 1, "file_risks": [cf.measures.KAnonymity(["sex", "race"], k=3)],
}  # fmt: skip


def file() -> pl.DataFrame:
    return people(600).drop("seen", "score", "share", "height", "kind")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> cf.Scan:
    return in_files(file(), tmp_path_factory.mktemp("in"), [1, 1, 250])


def test_the_same_as_in_memory(data: cf.Scan, tmp_path: Path) -> None:
    whole = cf.Study(file(), **ASKED).run(progress=False)
    study = cf.Study(data, **ASKED)
    assert repr(study).startswith("Study: 600 rows")
    parts = study.run(tmp_path / "work", engine=cf.Local(scratch=tmp_path / "scratch", batch=170), progress=False)
    assert_frame_equal(whole.frame, parts.frame, rel_tol=1e-9)
    for table in ("distribution", "released", "levels", "claims", "calibration"):
        assert_frame_equal(getattr(whole, table), getattr(parts, table), rel_tol=1e-9)
    assert_frame_equal(whole.kinds.drop("doubt"), parts.kinds.drop("doubt"))
    assert whole.statements == parts.statements
    assert not list((tmp_path / "scratch").iterdir())
    again = study.run(tmp_path / "work", progress=False)
    assert_frame_equal(again.frame, parts.frame)
    assert repr(parts)
    parts.report(tmp_path / "report.html")


def test_a_level_that_does_not_fit_into_memory_is_said(data: cf.Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the strongest level is refused, another is booked, and whoever reads the table must know."""
    monkeypatch.setattr("confide.attack.engine.fit_room.PER_CATEGORY", 2**24)
    found = cf.Study(data, **{**ASKED, "repeats": 1, "plans": {"swap": PLANS["swap"]}}).run(progress=False)
    assert "exact" not in found.levels["level"].to_list()
    (said,) = (c for c in found.cautions() if "could not be tried" in c)
    assert said.startswith('"near" could not be tried at level exact on "swap", and may find more there: Beliefs about')
    assert 'Caution: "near" could not be tried' in str(found)


def test_nothing_unchecked_goes_outside(data: cf.Scan) -> None:
    from confide.study.outside import published

    found = cf.Study(data, **{**ASKED, "repeats": 1, "plans": {"swap": PLANS["swap"]}}).run(progress=False)
    shown = published(found)
    assert {("swap", "means"), ("swap", "hellinger")} <= set(shown.withheld) | set(shown.near)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"groups": ["race"]}, "groups: not for a scan"),
        ({"learns": ["income"]}, "learns: not for a scan"),
        ({"copies": {"swap": 2}}, "copies: not for a scan"),
        ({"plans": {"a": cf.Plan([cf.Microaggregate(["income"], k=3)])}}, 'plan "a": Microaggregate'),
        ({"plans": {"a": cf.Plan([cf.Swap("rase", rate=0.1)])}}, 'Did you mean "race"'),
        ({"intruders": {"a": cf.Intruder(knows=["sexx"])}}, 'there is no column "sexx"'),
    ],
)
def test_what_is_not_for_a_scan_is_said_at_once(more: dict[str, Any], what: str, data: cf.Scan) -> None:
    with pytest.raises(cf.InputError, match=what):
        cf.Study(data, **{**ASKED, **more})


def test_an_engine_goes_with_a_scan(data: cf.Scan) -> None:
    with pytest.raises(cf.InputError, match="engine goes with a study of a scan"):
        cf.Study(file(), **ASKED).run(engine=cf.Local())
    with pytest.raises(cf.InputError, match=r"engine is cf\.Local\(\.\.\.\) or cf\.Spark\(session\), not str"):
        cf.Study(data, **ASKED).run(engine="local")  # type: ignore[arg-type]


STUDY = """
data = "{data}"
repeats = 1
seed = 1
[[plan]]
name = "swap"
identifiers = ["id"]
steps = [{{method = "swap", variable = "race", rate = 0.3}}]
[[intruder]]
name = "near"
knows = ["sex", "race"]
[[utility]]
measure = "means"
"""


def test_on_the_command_line(data: cf.Scan, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, out = tmp_path / "study.toml", tmp_path / "out"
    document.write_text(STUDY.format(data=data.files[0].parent))
    options = ["--engine", "local", "--memory", "1GB", "--scratch", str(tmp_path / "scratch"), "--json"]
    assert main(["study", str(document), "--out", str(out), *options]) == 0
    assert json.loads(capsys.readouterr().out)["study"]["rows"] == 600
    document.write_text(STUDY.format(data=data.files[2]))
    assert main(["study", str(document), "--out", str(tmp_path / "other"), *options]) == 2
    assert "name a folder or a pattern" in capsys.readouterr().out
