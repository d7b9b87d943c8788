"""A small project with candidates, compared once for all tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import confide as cf
from confide.app.documents import choice_table, study_table
from confide.app.project import Project
from confide.app.screens.compare import given_of
from confide.app.state import State
from confide.app.work import compare, facts
from confide.app.worker import Work

AGES, RACES = {"method": "recode", "variable": "age", "width": 10}, {"method": "swap", "variable": "race", "rate": 0.3}
CANDIDATES = [
    {"name": "ages in tens", "steps": [AGES]},
    {"name": "ages in tens, swap", "steps": [AGES, RACES]},
    {"name": "no marital", "steps": [{"method": "drop", "variable": "marital"}, AGES]},
]


@dataclass(frozen=True)
class Small:
    """A project, its state, and what its comparison found."""

    project: Project
    state: State
    found: dict[str, Any]

    def work(self, given: dict[str, Any]) -> Work:
        """What a task is given here."""
        return Work(self.project.folder, given, lambda *_: None, lambda _: None)

    def asked(self, rule: dict[str, Any]) -> tuple[State, dict[str, Any]]:
        """The state under a rule, and the question for its verdict."""
        state = self.state.but(rule=rule)
        return state, {"folder": given_of(state)["folder"], "choice": choice_table(state), "name": "rule"}


@pytest.fixture(scope="package")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """300 householders, three candidates, two intruders."""
    base = tmp_path_factory.mktemp("small")
    source = cf.write(cf.demo("heads").head(300), base / "heads.csv")
    state = State(source=str(source), name="heads.csv")
    project = Project.made(base / "projects", "heads", state, "Opened")
    nothing = (lambda *_: None, lambda _: None)
    known = facts.run(Work(project.folder, {"source": str(source)}, *nothing))
    project.keep("facts", known)
    roles = {v["name"]: "other" for v in known["variables"]}
    roles |= {"id": "identifier", "hh_income": "sensitive", "weight": "weight"}
    roles |= dict.fromkeys(("sex", "race", "marital", "age"), "key")
    state = state.but(
        roles=roles, candidates=CANDIDATES, formula="hh_income ~ age + C(sex) + C(race)",
        intruders=[{"name": "neighbour", "about": "", "knows": ["sex", "race", "age"]},
                   {"name": "register", "about": "", "knows": ["sex", "marital"]}],
    )  # fmt: skip
    project.add(state, "Chose", "", 1)
    found = compare.run(Work(project.folder, given_of(state), *nothing))
    return Small(project, state, found)


def study_file(folder: Path, state: State) -> Path:
    """The study file of a state, written where the data are."""
    path = folder / "study.toml"
    path.write_text(cf.to_toml(study_table(state)), encoding="utf-8")
    return path
