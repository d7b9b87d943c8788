"""The search: finds what a fine grid finds, tries nothing twice, and trusts only fresh seeds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.errors import InputError
from confide.show.drawing import save_chart
from confide.study.search import optimise as room
from confide.study.search.refine import Space

HEADS = cf.demo("heads").head(300).select("id", "sex", "age", "race", "hh_income")
WHO = {"neighbour": cf.Intruder(knows=["sex", "age"])}
MATCHES = "expected_matches"


def noisy(sd: float) -> cf.Plan:
    return cf.Plan([cf.Noise("age", sd=sd)], identifiers=["id"])


def banded(width: int, how: str = "none") -> cf.Plan:
    steps = [cf.Recode("age", width=width), *([cf.Swap("sex", rate=0.5)] if how == "swap" else [])]
    return cf.Plan(steps, identifiers=["id"])


def found(**more: object) -> cf.Optimum:
    space = cf.Sweep(noisy, sd=cf.Range(0.5, 8.5, steps=3))
    given = {
        "intruders": WHO,
        "utility": ["variances"],
        "max_risk": {MATCHES: 45},
        "repeats": 2,
        "seed": 3,
        "rounds": 2,
    }
    return cf.optimise(space, HEADS, **{**given, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def optimum() -> cf.Optimum:
    return found()


def test_the_numbers_of_the_search_are_those_of_a_study(optimum: cf.Optimum) -> None:
    tried = optimum.searched
    assert tried["sd"].is_unique().all()
    assert tried["round"].to_list() == sorted(tried["round"].to_list())
    assert set(tried["round"]) == {0, 1, 2}
    plans = {f"sd {sd:g}": noisy(sd) for sd in tried["sd"]}
    twin = cf.Study(HEADS, plans, WHO, ["variances"], repeats=2, seed=3).run(progress=False).summary()
    for name in (MATCHES, "variances"):
        means = twin.filter((pl.col("measure") == name) & (pl.col("plan") != "release everything"))["mean"]
        assert tried[name].to_list() == pytest.approx(means.to_list())
    assert tried["meets"].to_list() == [m <= 45 for m in tried[MATCHES]]


def test_refinement_comes_nearer_to_the_limit(optimum: cf.Optimum) -> None:
    rounds = [optimum.searched.filter((pl.col("round") <= k) & pl.col("meets"))["sd"].min() for k in (0, 1, 2)]
    assert rounds[0] > rounds[1] >= rounds[2]
    below = optimum.searched.filter(~pl.col("meets"))["sd"].max()
    assert rounds[2] - below <= 0.5


def test_fresh_numbers_are_shown_and_hold(optimum: cf.Optimum) -> None:
    fresh = optimum.risks[MATCHES]
    assert fresh.mean <= 45
    assert fresh.repeats == 2
    seen = optimum.searched.filter(pl.col("sd") == optimum.parameters["sd"])[MATCHES][0]
    assert fresh.mean != seen
    assert optimum.plan == noisy(optimum.parameters["sd"])
    assert f"With fresh seeds, sd={optimum.parameters['sd']:g} has expected_matches" in optimum.reason
    assert "sd=" in repr(optimum)


def test_the_result_depends_on_the_seed_and_not_on_threads(optimum: cf.Optimum) -> None:
    again = found(threads=1)
    assert again.searched.equals(optimum.searched)
    assert (again.parameters, again.reason) == (optimum.parameters, optimum.reason)
    assert not found(seed=4, rounds=0).searched.equals(optimum.searched)


def test_the_map_marks_the_choice(optimum: cf.Optimum, tmp_path: Path) -> None:
    picture = save_chart(optimum.map(), tmp_path / "map.svg").read_text()
    assert ">limit 45<" in picture
    assert "chosen: " in picture
    assert ">release nothing<" in picture


def test_whole_numbers_stay_whole_and_lists_are_kept() -> None:
    space = cf.Sweep(banded, width=cf.Range(2, 22, steps=3), how=["none", "swap"])
    best = cf.optimise(space, HEADS, intruders=WHO, utility=["total_variation"], max_risk={MATCHES: 30}, repeats=1,
                       seed=1, rounds=1)  # fmt: skip
    assert best.searched["width"].dtype == pl.Int64
    assert set(best.searched["how"]) == {"none", "swap"}
    assert isinstance(best.parameters["width"], int)
    best.map()


def test_where_luck_met_the_limit_the_next_best_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first plan that is carried out with fresh seeds is made to break the limit."""
    real, broken = room.tried, []

    def unlucky(study: object, candidates: list, *args: object, fresh: bool = False) -> pl.DataFrame:
        frame = real(study, candidates, *args, fresh=fresh)  # type: ignore[arg-type]
        if fresh and not broken:
            broken.append(candidates[0].name)
            return frame.with_columns(expected_matches=pl.lit(1000.0))
        return frame

    monkeypatch.setattr(room, "tried", unlucky)
    best = found(rounds=0)
    assert best.name not in broken
    assert "after 1 setting that looked better in the search broke a limit" in best.reason
    monkeypatch.setattr(room, "tried", lambda *a, fresh=False: real(*a, fresh=fresh).with_columns(
        expected_matches=pl.lit(1000.0 if fresh else 1.0)))  # fmt: skip
    with pytest.raises(InputError, match="none with fresh seeds"):
        found(rounds=0)


def test_places_and_settings_are_each_others_inverse() -> None:
    space = Space({"a": cf.Range(1.0, 100.0, steps=3, log=True), "b": cf.Range(0, 10, steps=6), "c": ["x", "y"]})
    for setting in ({"a": 10.0, "b": 4, "c": "y"}, {"a": 100.0, "b": 0, "c": "x"}):
        assert space.setting(space.place(setting), setting) == setting
    around = space.finer({"a": 10.0, "b": 4, "c": "y"}, [{"a": 1.0, "b": 4, "c": "y"}], 1.0)
    assert {"a": pytest.approx(10**0.5), "b": 4, "c": "y"} in around
    assert all(isinstance(s["b"], int) and 1 <= s["a"] <= 100 for s in around)
    assert {"a": pytest.approx(10**0.75), "b": 4, "c": "y"} in around
    wide = Space({k: cf.Range(0.0, 1.0, steps=2) for k in "abcd"})
    assert len(wide.finer(dict.fromkeys("abcd", 0.5), [], 1.0)) == 8


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"max_risk": {MATCHES: 0.001}}, r'No plan has.*"search \[sd=8.5\]" comes nearest'),
        ({"max_risk": 5}, "max_risk is a table"),
        ({"rounds": -1}, "rounds is how often"),
        ({"repeats": 0}, "repeats is how often"),
        ({"by": "means"}, "no measure of utility"),
        ({"intruders": WHO["neighbour"]}, "give each a name"),
    ],
)
def test_mistakes_get_a_sentence(more: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        found(**{"rounds": 0, "repeats": 1, **more})


def test_a_plan_in_place_of_a_sweep_is_refused() -> None:
    with pytest.raises(InputError, match="optimise searches a Sweep"):
        cf.optimise(noisy(1.0), HEADS, intruders=WHO, utility=["means"], max_risk={MATCHES: 1})  # type: ignore[arg-type]
