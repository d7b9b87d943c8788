"""Methods, measures and schemes of one's own on the command line, and schemes by their names."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.cli.main import main
from confide.core.registry import known
from confide.show.report.words import measure_words

SCHEME = '''
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from confide.core.registry import registered


@registered
@dataclass(frozen=True)
class Floor:
    """Publish each count rounded down to a multiple."""

    base: int
    marks: Literal["plain", "loud"] = "plain"
    scheme: ClassVar[str] = "floor"
    random: ClassVar[bool] = False
    sharp: ClassVar[bool] = True
    keyed: ClassVar[bool] = False

    def apply(self, counts, draws):
        return counts // self.base * self.base

    def interval(self, published):
        return published, published + self.base - 1

    def outcomes(self, count):
        return {count // self.base * self.base: Fraction(1)}
'''
METHOD = '''
from dataclasses import dataclass
from typing import ClassVar

from confide import Recode
from confide.core.registry import registered


@registered
@dataclass(frozen=True)
class Decades(Recode):
    """Release ages in tens."""

    width: float = 10
    method: ClassVar[str] = "decades"
'''
MEASURE = '''
from dataclasses import dataclass
from typing import ClassVar

from confide.core.registry import registered


@registered
@dataclass(frozen=True)
class Women:
    """Difference of the shares of women."""

    power: float = 1.0
    key: ClassVar[str] = "women"
    name, direction, range, best = "women", "lower", (0.0, 1.0), 0.0

    def __call__(self, original, released, *, weight=None, link=None):
        return abs((original["sex"] == "female").mean() - (released["sex"] == "female").mean()) ** self.power
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    modules = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    Path("counts.csv").write_text("sex,age,count\nm,young,2\nm,old,1\nf,young,3\nf,old,7\n")
    for name, text in {"my_scheme": SCHEME, "my_method": METHOD, "my_measure": MEASURE}.items():
        Path(f"{name}.py").write_text(text)
    yield tmp_path
    for name in [m for m in sys.modules if m.startswith("my_") and m not in modules]:
        del sys.modules[name]


def run(line: str) -> int:
    return main(shlex.split(line))


def told(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, object]:
    assert run(f"{line} --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_scheme_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    line = "sap counts.csv --use my_scheme.py --scheme floor base=3 --margins total --known 0:5"
    found = told(capsys, line)
    table = cf.Table.from_counts(pl.read_csv("counts.csv"))
    expected = cf.sap(table.publish(known("scheme")["floor"](3), margins="total"), known=range(6))
    assert [r["sap"] for r in found["rows"]] == expected["sap"].to_list()  # type: ignore[attr-defined]
    assert told(capsys, line) == found  # the module is there already


def test_a_module_by_its_name_is_not_looked_for_in_the_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "sap counts.csv --use my_scheme --scheme floor base=3 marks=loud --known 0:2"
    assert run(line) == 2
    assert "For a file in this folder write --use my_scheme.py." in capsys.readouterr().err
    monkeypatch.syspath_prepend(here)
    assert run(line) == 0


@pytest.mark.parametrize(
    ("option", "short"),
    [
        ("--scheme exact", "--exact"),
        ("--scheme round base=3", "--round 3"),
        ("--scheme round base=4 ties=even", "--round 4 --ties even"),
        ("--scheme round base=3 how=random", "--round 3 --random"),
        ("--scheme controlled base=3", "--controlled 3"),
        ("--scheme small base=3", "--small 3"),
        ("--scheme suppress below=3 marks=same", "--suppress 3 --marks same"),
        ("--scheme cell_key largest=1 variance=0.5", "--cell-key 1 0.5"),
    ],
)
def test_short_options_are_schemes_by_name(capsys: pytest.CaptureFixture[str], option: str, short: str) -> None:
    rest = "--margins total --known 0:4 --seed 7"
    assert told(capsys, f"sap counts.csv {option} {rest}") == told(capsys, f"sap counts.csv {short} {rest}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--scheme rond base=3", 'unknown scheme "rond". Did you mean "round"?'),
        ("--scheme round bas=3", '--scheme (round): unknown key "bas". Did you mean "base"?'),
        ("--scheme round base=three", '--scheme (round): "base" must be a whole number, not text.'),
        ("--scheme round base", "settings are written as KEY=VALUE, not base."),
        ("--scheme cell_key largest=2", '--scheme (cell_key): "variance" is missing.'),
        ("--scheme round base=3 --small 3", "not allowed with"),
        ("--scheme round base=3 --random", "--random and --ties go with --round BASE."),
        ("--round five", '--round (round): "base" must be a whole number, not text.'),
        ("--use my_nothing.py", "--use my_nothing.py: there is no such file."),
        ("--use my_wrong.py", "--use my_wrong.py: ZeroDivisionError: division by zero."),
        ("--use json.py", "there is another module named json; give the file another name."),
        ("--use my_thief.py", 'There is a scheme named "round" already; choose another name for the class Floor.'),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    Path("my_wrong.py").write_text("1 / 0\n")
    Path("json.py").write_text("")
    Path("my_thief.py").write_text(SCHEME.replace('"floor"', '"round"'))
    assert run(f"sap counts.csv {line}") == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert "my_wrong" not in sys.modules


def test_a_method_of_ones_own_in_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    cf.write(cf.demo("heads").head(200), "heads.csv")
    Path("public").mkdir()
    Path("plan.toml").write_text('identifiers = "id"\nsteps = [{method = "decades", variable = "age"}]\n')
    line = "protect heads.csv --plan plan.toml --out public/heads.csv --private vault"
    assert run(line) == 2
    assert 'unknown method "decades"' in capsys.readouterr().err
    assert run(f"{line} --use my_method.py") == 0
    assert run("schema plan --use my_method.py") == 0
    shown = capsys.readouterr().out
    assert '"description": "Release ages in tens."' in shown
    Path("who.toml").write_text('knows = ["sex", "age"]\n')
    assert run("attack heads.csv --private vault --intruder who.toml --use my_method.py") == 0


def test_a_measure_of_ones_own_in_a_study(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cf.demo("heads").head(200).write_csv("heads.csv")
    Path("study.toml").write_text(
        'data = "heads.csv"\nseed = 1\nutility = [{measure = "women", power = 2.0}]\n'
        '[[plan]]\nname = "p"\nsteps = [{method = "sample", fraction = 0.5}]\n'
        '[[intruder]]\nname = "i"\nknows = ["sex", "race"]\n'
    )
    assert run("study study.toml --out results") == 2
    assert 'There is no measure of utility named "women"' in capsys.readouterr().err
    monkeypatch.setattr("confide.show.report.save_report_folder", lambda *_, **__: [])
    assert run("study study.toml --out results --use my_measure.py") == 0
    measure = cf.Study.load("study.toml").measures[0]
    assert pl.read_parquet("results/frame.parquet")["women"].max() > 0
    assert {k: measure_words(measure, k, frozenset())["settings"] for k in (True, False)} == {
        True: "",
        False: "power 2",
    }


@pytest.mark.parametrize("kind", ["plan", "intruder", "rule", "study", "hierarchy"])
def test_schemas_are_printed(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    assert run(f"schema {kind}") == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema == getattr(cf, kind.capitalize()).json_schema()
    assert told(capsys, f"schema {kind}") == schema
