"""Tasks of the workers: a preview looks for some people, and gives what all would where it looks for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import confide as cf
from confide.app.effects import effect_given
from confide.app.work import preview
from tests.helpers.app_pages import project, run

WHO = [{"name": "near", "knows": ["sex", "race", "age"]}]
STEPS = [{"method": "recode", "variable": "age", "width": 10}, {"method": "swap", "variable": "race", "rate": 0.3}]


def test_a_preview_of_everybody_is_what_the_intruder_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "FROM", 0)
    page = project(tmp_path, intruders=WHO, steps=STEPS)
    told: list[Any] = []
    run("effect", page.project.folder, effect_given(page.state, STEPS), told)
    plan = cf.Plan.from_dict({"steps": STEPS, "identifiers": ["id"], "weight": "weight"})
    attack = cf.Intruder(knows=WHO[0]["knows"]).attack(plan.protect(cf.read(page.state.source), seed=1), progress=False)
    assert isinstance(attack, cf.Attack)
    assert told[0]["worst"]["share"] == pytest.approx(attack.summary().found / 400)
    assert told[0]["count"] == 2


def test_small_files_need_no_preview(tmp_path: Path) -> None:
    page = project(tmp_path, intruders=WHO, steps=STEPS)
    told: list[Any] = []
    run("effect", page.project.folder, effect_given(page.state, STEPS), told)
    assert told == []


def test_pieces_are_used_again(tmp_path: Path) -> None:
    page = project(tmp_path, intruders=WHO, steps=STEPS)
    first = run("effect", page.project.folder, effect_given(page.state, STEPS[:1]))
    second = run("effect", page.project.folder, effect_given(page.state, STEPS))
    assert second["plans"][:2] == first["plans"]  # the seconds too: they were not measured again
