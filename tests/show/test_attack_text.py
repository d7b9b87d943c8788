"""What is printed of an attack."""

from __future__ import annotations

import polars as pl
import pytest

import confide as cf
from confide.attack.intruder import LEVEL_WORDS, LEVELS
from confide.show.report.words import LEVELS as REPORTED
from confide.show.report.words import intruder_words

INFORMED = "informed (knows the plan, not the draws)"


@pytest.fixture(scope="module")
def release() -> cf.Release:
    frame = pl.DataFrame({"a": ["x", "y", "z"] * 20, "b": list(range(6)) * 10})
    return cf.Plan([cf.Swap("a", rate=0.3)]).protect(frame, seed=1)


def test_every_level_has_its_words() -> None:
    assert list(LEVEL_WORDS) == list(LEVELS)
    assert set(REPORTED) == set(LEVELS)


def test_levels_are_explained_where_they_are_printed(release: cf.Release) -> None:
    attack = cf.Intruder(knows=["a"], unavailable="ignore").attack(release)
    assert f"levels: available {INFORMED}, unavailable left out, others informed\n" in repr(attack)
    assert "sdl" not in repr(attack)
    assert "informed" in repr(attack.grid())
    assert repr(attack.grid()).count(INFORMED) == 1
    assert "average (guesses the plan)" in repr(attack.grid())
    assert "the plan, not the draws" in " ".join(attack.grid().plot().to_dict()["title"]["subtitle"])
    assert "(knows the plan, not the draws)" in " ".join(intruder_words(attack.intruder, outside=True))
