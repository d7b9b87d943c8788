"""Individual risk, uniques of the population and SUDA2 beside the attack in a study, and in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

import confide as cf

KEYS = ["sex", "race", "age"]
RISKS = [
    cf.measures.IndividualRisk(KEYS, total=12_000),
    cf.measures.PopulationUniques(KEYS, fraction=0.05, estimators=["poisson", "dis"]),
    cf.measures.Suda(KEYS, scale="ihsn", largest=2),
]


def test_numbers_of_each_release_and_the_file_of_the_study(tmp_path: Path) -> None:
    heads = cf.demo("heads").head(600)
    plans = {f"{w}": cf.Plan([cf.Recode("age", width=w)], identifiers=["id"]) for w in (5, 20)}
    study = cf.Study(
        heads, plans, {"near": cf.Intruder(knows=KEYS)}, ["hellinger"], repeats=1, seed=1, file_risks=RISKS
    )
    frame = study.run(progress=False).frame
    for plan, step in plans.items():
        release, row = step.protect(heads, seed=1), frame.filter(plan=plan).row(0, named=True)
        for risk in RISKS:
            for column, value in risk.numbers(release).items():
                assert row[column] == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12))
    assert frame.filter(plan="20")["individual_risk"][0] < frame.filter(plan="5")["individual_risk"][0]
    heads.write_csv(tmp_path / "heads.csv")
    study.save(tmp_path / "study.toml", data="heads.csv")
    assert list(cf.Study.load(tmp_path / "study.toml").file_risks) == RISKS
