"""The very file: one draw is attacked and measured beside the means over draws."""

from __future__ import annotations

import json

import pytest

import confide as cf
from confide.attack.results.stronger import levels_of
from confide.cli.main import main
from confide.core.errors import InputError
from confide.study.drawn import drawn

HEADS = cf.demo("heads").head(400)
PLAN = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
WHO = {"near": cf.Intruder(knows=["sex", "race", "age"]), "far": cf.Intruder(knows=["sex"])}


@pytest.fixture(scope="module")
def result() -> cf.StudyResult:
    rule = cf.Rule({"found": "1%"}, by="hellinger", min_utility={"hellinger": 1e-9})
    study = cf.Study(HEADS, {"swap": PLAN}, WHO, ["hellinger", "entropy"], 2, seed=1, choice=rule)
    return study.run()


def test_numbers_are_those_of_the_strongest_attack_on_this_file(result: cf.StudyResult) -> None:
    release = PLAN.protect(HEADS, seed=9)
    one = drawn(release, WHO, result.measures, study=result, plan="swap")
    row = one.frame.filter(measure="found", intruder="near").row(0, named=True)
    each = {level: who.attack(release).summary().found for level, who in levels_of(WHO["near"], release).items()}
    assert row["value"] == pytest.approx(max(each.values()))
    assert each[row["level"]] == row["value"]
    assert row["mean"] == pytest.approx(result.frame.filter(plan="swap", intruder="near")["found"].mean())
    loss = one.frame.filter(measure="entropy").row(0, named=True)
    assert loss["value"] == pytest.approx(cf.utility(release, ["entropy"])["value"].item())
    assert "mean over draws" in str(one)


def test_what_this_file_breaks_of_the_rule_is_said(result: cf.StudyResult) -> None:
    one = drawn(PLAN.protect(HEADS, seed=9), WHO, result.measures, study=result, plan="swap")
    assert any("found_share of this file is" in b and 'above 1% for "near"' in b for b in one.broken)
    assert not any('"far"' in b for b in one.broken)
    assert not any("is asked" in b for b in one.broken)  # a swap keeps every margin
    coarse = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]).protect(HEADS, seed=9)
    lossy = drawn(coarse, WHO, result.measures, study=result, plan="swap")
    assert [b.split()[3] for b in lossy.broken if "is asked" in b] == ["hellinger"]
    with pytest.raises(InputError, match="no plan of that name"):
        drawn(PLAN.protect(HEADS, seed=9), WHO, result.measures, study=result, plan="swop")


def test_the_command_checks_the_file_it_writes_and_its_record_says_so(tmp_path, capsys) -> None:
    cf.write(HEADS, tmp_path / "heads.csv")
    PLAN.save(tmp_path / "plan.toml")
    (tmp_path / "who.toml").write_text(
        '[[intruder]]\nname = "near"\nknows = ["sex", "race", "age"]\n[[intruder]]\nname = "far"\nknows = ["sex"]\n'
    )
    base = [str(tmp_path / "heads.csv"), "--plan", str(tmp_path / "plan.toml")]
    out = ["--out", str(tmp_path / "public" / "out.csv"), "--private", str(tmp_path / "vault")]
    (tmp_path / "public").mkdir()
    assert main(["protect", *base, *out, "--intruder", str(tmp_path / "who.toml")]) == 0
    said = capsys.readouterr().out
    assert 'In this very file:\n  "near", ' in said
    record = json.loads((tmp_path / "vault" / "record.json").read_text())
    numbers = record["private"]["checked"]["numbers"]
    assert {(n["measure"], n["intruder"]) for n in numbers} >= {("found", "near"), ("found", "far"), ("means", None)}
    assert main(["protect", *base, *out, "--force", "--intruder", "a.toml", "--study", "b"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_the_choice_of_a_study_is_held_against_its_means(tmp_path, capsys, result: cf.StudyResult) -> None:
    cf.write(HEADS, tmp_path / "heads.csv")
    result.save(tmp_path / "study")
    PLAN.save(tmp_path / "plan.toml")
    (tmp_path / "public").mkdir()
    base = [
        "protect",
        str(tmp_path / "heads.csv"),
        "--private",
        str(tmp_path / "vault"),
        "--study",
        str(tmp_path / "study"),
    ]
    out = ["--out", str(tmp_path / "public" / "out.csv")]
    assert main([*base, *out, "--plan", str(tmp_path / "plan.toml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    row = next(n for n in told["checked"]["numbers"] if (n["measure"], n["intruder"]) == ("found", "near"))
    assert row["mean"] == pytest.approx(result.frame.filter(plan="swap", intruder="near")["found"].mean())
    assert told["checked"]["broken"]
    cf.Plan([], identifiers=["id"]).save(tmp_path / "other.toml")
    assert main([*base, "--out", str(tmp_path / "public" / "b.csv"), "--plan", str(tmp_path / "other.toml")]) == 2
    assert "none of its plans is the one in --plan" in capsys.readouterr().err
