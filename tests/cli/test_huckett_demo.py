"""The demonstration of synthetic data: its command, its files, its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from papers.huckett import paper as huckett


def coarser(withheld: Sequence[str] = (), full: Callable[..., cf.Plan] = huckett.synthesis) -> cf.Plan:
    """The plan with 20 quantiles for 99: work goes with their number."""
    plan = full(withheld)
    steps = [replace(s, quantiles=20) if isinstance(s, cf.QuantileRegression) else s for s in plan.steps]
    return replace(plan, steps=steps)


@pytest.mark.slow
def test_main_writes_its_files_whole_and_refuses_to_replace_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huckett, "synthesis", coarser)
    out = tmp_path / "demo"
    assert huckett.main([str(out), "--rows", "800"]) == 0
    printed = capsys.readouterr()
    assert "Five intruders, 800 targets" in printed.out
    assert printed.err == ""  # no bar where there is no terminal
    assert sorted(p.name for p in out.iterdir()) == sorted(huckett.FILES)
    assert (out / "summary.txt").read_text() in printed.out
    for name, rows in {"claims": 6, "variants": len(huckett.VARIANTS), "grid": 64, "correlations": 10}.items():
        assert pl.read_csv(out / f"{name}.csv").height == rows
    assert pl.read_csv(out / "marginals.csv").height == 3 * len(huckett.NUMBERS)
    released = cf.read(out / "released.parquet")
    assert released.height == 800
    assert not {"id", *huckett.DROPPED} & set(released.columns)
    for name in (n for n in huckett.FILES if n.endswith(".png")):
        picture = (out / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 20_000
    assert huckett.main([str(out)]) == 2
    assert "holds released.parquet, claims.csv" in capsys.readouterr().err


def test_mistakes_are_met_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(cf.InputError, match="rows is a number of people from 100 to 51,016"):
        huckett.experiment(rows=5)
    (tmp_path / "file").touch()
    assert huckett.main([str(tmp_path / "file")]) == 2
    assert "give the name of a folder" in capsys.readouterr().err


@pytest.mark.slow
def test_the_plan_keeps_the_keys_and_withholds_what_is_named() -> None:
    file = cf.demo("heads").head(400)
    release = huckett.synthesis(withheld=["tenure"]).protect(file, seed=1, draws="shared")
    whole = huckett.synthesis().protect(file, seed=1, draws="shared")
    assert set(whole.data.columns) - set(release.data.columns) == {"tenure"}
    assert release.data.equals(whole.data.drop("tenure"))
    own = file[whole.link.tolist()]  # type: ignore[union-attr]
    assert own.select("sex", "race", "marital", "tenure").equals(whole.frame.select("sex", "race", "marital", "tenure"))
