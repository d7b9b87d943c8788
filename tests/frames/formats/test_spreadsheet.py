"""Text that a spreadsheet would compute: marked when asked for, and only text."""

from __future__ import annotations

import csv
import json

import polars as pl
import pytest

import confide as cf
from confide.cli.main import main
from confide.core.errors import InputError
from confide.frames.formats.spreadsheet import formula_columns

SIGNS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
HIDDEN = [" =1", "\u00a0=1", "\ufeff=1", "\x00=1", "\n=1"]


def run(line: str) -> int:
    return main(line.split())


def _cells(path) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum])
def test_an_apostrophe_stands_before_formulas_in_cells_and_names(suffix, dtype, tmp_path):
    text = [*SIGNS, *HIDDEN, "a=b", "x-1", None]
    kind = pl.Enum([t for t in text if t]) if dtype is pl.Enum else dtype
    frame = pl.DataFrame({"=name": pl.Series(text, dtype=kind), "n": [-1.5] * len(text), "ok": [True] * len(text)})
    path = cf.write(frame, tmp_path / f"a{suffix}", spreadsheet=True)
    head, *rows = _cells(path)
    assert head == ["'=name", "n", "ok"]
    assert [r[0] for r in rows] == [*(f"'{t}" for t in [*SIGNS, *HIDDEN]), "a=b", "x-1", ""]
    assert {r[1] for r in rows} == {"-1.5"}
    plain = cf.write(frame, tmp_path / f"b{suffix}")
    assert _cells(plain)[1][0] == SIGNS[0]  # off by default: values are as they are
    back = cf.read(path)
    assert back["n"].to_list() == frame["n"].to_list()


def test_another_separator_cannot_cut_a_formula_out_of_a_cell(tmp_path):
    path = cf.write({"a": ["x;=1+1"], "b": [1]}, tmp_path / "a.csv", spreadsheet=True)
    assert path.read_text() == '"a","b"\n"x;=1+1",1\n'


def test_what_cannot_be_guarded_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"spreadsheet=True goes with \.csv and \.tsv"):
        cf.write({"a": ["=1"]}, tmp_path / "a.parquet", spreadsheet=True)
    with pytest.raises(InputError, match="more than one column named"):
        cf.write({"=a": [1], "'=a": [2]}, tmp_path / "a.csv", spreadsheet=True)
    assert list(tmp_path.iterdir()) == []


def test_formula_columns_counts_names_and_text_only():
    frame = pl.DataFrame({"a": ["=x", None], "b": [-1, 2], "@c": [1, 2], "d": ["x", "y"], "e": [[1], [2]]})
    assert formula_columns(frame) == ["a", "@c"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "public").mkdir()
    (tmp_path / "people.csv").write_text("id,job,age\n1,=cmd|secret,30\n2,baker,41\n")
    (tmp_path / "plan.toml").write_text('identifiers = ["id"]\n')
    return tmp_path


def test_protect_says_how_many_columns_hold_formulas_and_guards_them(here, capsys):
    assert run("protect people.csv --plan plan.toml --out public/a.csv") == 0
    said = capsys.readouterr().out
    assert "text in 1 of the columns for a formula" in said
    assert "--spreadsheet" in said
    assert "secret" not in said
    assert "=cmd|secret" in [r[0] for r in _cells(here / "public" / "a.csv")]
    assert run("protect people.csv --plan plan.toml --out public/b.csv --spreadsheet --json") == 0
    assert json.loads(capsys.readouterr().out)["formula_columns"] == 1
    assert "'=cmd|secret" in [r[0] for r in _cells(here / "public" / "b.csv")]
    assert run("protect people.csv --plan plan.toml --out public/b.parquet --spreadsheet") == 2
    assert "--spreadsheet goes with an --out that ends in .csv or .tsv" in capsys.readouterr().err
    assert run("protect people.csv --plan plan.toml --out public/c.parquet") == 0
    assert "spreadsheet" not in capsys.readouterr().out


def test_a_plan_without_steps_is_carried_out(here, capsys):
    """Identifiers only: leave them out and shuffle."""
    assert run("protect people.csv --plan plan.toml --out public/a.csv") == 0
    assert "Released 2 of 2 rows and 2 of 3 variables" in capsys.readouterr().out
    (here / "empty.json").write_text("{}")
    assert run("protect people.csv --plan empty.json --out public/b.csv --json") == 0
    assert json.loads(capsys.readouterr().out)["changed"] == {}


def test_rows_that_belong_to_nobody_have_no_changes_to_count(here, capsys):
    (here / "n.csv").write_text("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(40)))
    lines = ["[[steps]]", 'method = "matrix_mask"', 'variables = ["a", "b"]']
    rows = [[0.5 if j // 2 == i else 0.0 for j in range(40)] for i in range(20)]  # 20 rows, each of two people
    (here / "mask.toml").write_text("\n".join([*lines, f"A = {rows}"]))
    assert run("protect n.csv --plan mask.toml --out public/m.csv --json") == 0
    assert json.loads(capsys.readouterr().out)["changed"] == {}
