"""Whether another level finds more, on the same targets."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.attack.results import tried as module
from tests.helpers.misleading import CELL, DECK, misleading
from tests.helpers.misleading import KNOWS as FEW

HEADS = cf.demo("heads").head(900).select("id", "sex", "race", "marital", "age", "tenure", "hh_income")
SYNTHETIC = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers="id").protect(HEADS, seed=1)
KNOWS = ["sex", "age", "hh_income"]


def test_each_level_as_attacked_by_itself() -> None:
    found = cf.Intruder(knows=KNOWS).attack(SYNTHETIC).stronger()
    for row in found.frame.iter_rows(named=True):
        summary = cf.Intruder.at(row["level"], knows=KNOWS).attack(SYNTHETIC).summary()
        assert (row["targets"], row["note"]) == (900, "")
        assert row["found"] == pytest.approx(summary.found, rel=1e-12)
        assert row["claimed"] == pytest.approx(summary.claimed_matches, rel=1e-12)


def test_a_stronger_level_is_named_and_can_be_used() -> None:
    attack = cf.Intruder(knows=KNOWS).attack(SYNTHETIC)
    tried = attack.stronger()
    assert tried.better == "exact"
    assert tried.strongest.levels == ("exact", "exact", "exact")
    assert tried is attack.stronger()
    again = tried.strongest.attack(SYNTHETIC)
    assert again.stronger().better == ""
    assert again.stronger().strongest is again.intruder


def test_a_sample_of_targets_has_the_results_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 200)
    rows = module._sample(900)
    assert len(np.unique(rows)) == 200
    for targets in (None, HEADS.sample(fraction=1, shuffle=True, seed=3)):
        attack = cf.Intruder(knows=KNOWS).attack(SYNTHETIC, targets)
        exact = cf.Intruder.at("exact", knows=KNOWS)
        some, every = module._again(attack, exact, rows, True), exact.attack(SYNTHETIC, targets).units
        assert_frame_equal(some.drop("target"), every[rows].drop("target"), rel_tol=1e-9)
        assert attack.stronger().frame["targets"].to_list() == [200] * 4


def test_a_caution_names_the_level_that_is_not_misled() -> None:
    data = misleading()
    attack = cf.Intruder(knows=FEW).attack(DECK.protect(data, seed=1))
    tried = attack.stronger()
    assert tried.better == "unaltered"
    assert tried.strongest.attack(attack.release).summary().found == pytest.approx(data.n_unique(CELL))
    assert 'rely on Intruder.at("unaltered", ...)' in " ".join(str(attack).split())
    assert cf.Intruder.at("unaltered", knows=FEW).levels == tried.strongest.levels


def table(*found: float, error: float = 1.0) -> module.Tried:
    names = ["informed", "exact", "naive"][: len(found)]
    frame = pl.DataFrame({"level": names, "found": list(found), "error": [error] * len(found)})
    return module.Tried(frame, {})


@pytest.mark.parametrize(
    ("tried", "better"),
    [
        (table(100.0, 106.0), "exact"),
        (table(100.0, 104.0), ""),
        (table(100.0, 106.0, error=4.0), ""),
        (table(100.0, 108.0, 120.0), "naive"),
        (table(0.0, 0.0), ""),
        (table(100.0), ""),
    ],
)
def test_more_means_beyond_chance_and_beyond_five_percent(tried: module.Tried, better: str) -> None:
    assert tried.better == better


def test_where_truth_is_not_known_nothing_is_compared() -> None:
    release = cf.Release.adopt(HEADS, SYNTHETIC.data, SYNTHETIC.plan)
    attack = cf.Intruder(knows=KNOWS).attack(release)
    with pytest.raises(cf.InputError, match="by the truth"):
        attack.stronger()
    assert "Caution" not in str(attack)


def test_a_level_that_is_refused_is_noted() -> None:
    attack = cf.Intruder(knows=["sex", "race", "age"], beliefs=cf.Uniform({"age": (0, 100)})).attack(
        cf.Plan([cf.Noise("age", sd=3)], identifiers="id").protect(HEADS, seed=1)
    )
    assert attack.stronger().frame.height == 4
    errors = cf.Intruder(knows=["sex", "hh_income", "age"], errors={"age": 2.0}).attack(SYNTHETIC)
    assert errors.stronger().frame["level"].to_list() == ["informed", "exact", "unaltered", "naive"]


def test_errors_are_over_units_that_have_several_rows() -> None:
    gap = np.array([1.0, 1.0, -1.0, -1.0])
    own = pl.DataFrame({"unit": [1, 1, 2, 2]})
    assert module._error(gap, own) == pytest.approx(np.sqrt(8))
    assert module._error(gap, pl.DataFrame({"target": range(4)})) == pytest.approx(2.0)
