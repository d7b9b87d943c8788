"""The search: finds what a fine grid finds, tries nothing twice, and trusts only fresh seeds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.show.charts.drawing import save_chart
from confide.study.search import optimise as room
from confide.study.search.refine import Space
from confide.study.tradeoff.repeats import interval

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
    return cf.optimise(HEADS, space, **{**given, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def optimum() -> cf.Optimum:
    return found()


@pytest.mark.slow
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


def test_steps_are_halved_from_round_to_round() -> None:
    """Everything meets the limit, so the best is at the lower end and only half steps above it are new."""
    best = found(max_risk={MATCHES: 1e6}, rounds=3, repeats=1, seed=1)
    assert best.searched["sd"].to_list() == [0.5, 4.5, 8.5, 2.5, 1.5, 1.0]


def test_settings_that_six_digits_do_not_tell_apart_are_refined() -> None:
    def made(width: float) -> cf.Plan:
        return noisy(width - 999_990)

    space = cf.Sweep(made, width=cf.Range(1e6, 1.00002e6, steps=2))
    best = cf.optimise(HEADS, space, intruders=WHO, utility=["variances"], max_risk={MATCHES: 1e6}, repeats=1, seed=1,
                       rounds=4)  # fmt: skip
    assert best.searched["width"].to_list() == [1e6, 1.00002e6, 1.00001e6, 1000005.0, 1000002.5, 1000001.25]
    assert best.frame["plan"].n_unique() == 7
    twin = cf.Study(HEADS, {"p": noisy(15.0)}, WHO, ["variances"], repeats=1, seed=1).run(progress=False).frame
    assert best.searched["variances"][3] == twin.filter(pl.col("plan") == "p")["variances"][0]


def test_fresh_repeats_have_numbers_of_their_own(optimum: cf.Optimum) -> None:
    repeats = dict(optimum.frame.group_by("plan").agg(pl.col("repeat").unique().sort()).iter_rows())
    assert repeats.pop(optimum.name) == [2, 3]
    assert repeats.pop("release everything") == [0]
    assert all(r == [0, 1] for r in repeats.values())


def test_what_cannot_be_computed_in_the_file_as_it_is_says_why() -> None:
    with pytest.raises(InputError, match=r'utility "means": .*"agee"'):
        found(utility=[cf.Means("agee")])
    with pytest.raises(InputError, match=r'intruder "lost": '):
        found(intruders={**WHO, "lost": unable()})


def unable() -> cf.Intruder:
    """An intruder whom every file refuses."""
    who = cf.Intruder(knows=["sex"])

    def refuse(*_: object, **__: object) -> None:
        raise InputError("there is nobody to attack.")

    object.__setattr__(who, "attack", refuse)
    return who


def test_the_upper_end_of_every_intruder_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fresh seeds the friend's mean is less than the neighbour's, but spread wider."""
    real = room.tried

    def spread(*args: object, fresh: bool = False) -> pl.DataFrame:
        frame = real(*args, fresh=fresh)  # type: ignore[arg-type]
        wide = pl.when(pl.col("repeat") == 2).then(30.0).otherwise(34.0)
        known = pl.when(pl.col("intruder") == "neighbour").then(40.0).otherwise(wide)
        return frame.with_columns(expected_matches=known) if fresh else frame

    monkeypatch.setattr(room, "tried", spread)
    best = found(rounds=0, intruders={**WHO, "friend": cf.Intruder(knows=["sex"])})
    high = interval([30.0, 34.0])
    assert high is not None
    assert high.high is not None
    assert f'the upper end of the interval of expected_matches, {high.high:.4g} for "friend", is above' in best.reason


def test_whole_numbers_stay_whole_and_lists_are_kept() -> None:
    space = cf.Sweep(banded, width=cf.Range(2, 22, steps=3), how=["none", "swap"])
    best = cf.optimise(HEADS, space, intruders=WHO, utility=["total_variation"], max_risk={MATCHES: 30}, repeats=1,
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
        ({"max_risk": {MATCHES: "0.0001%"}}, r'No plan has.*"search \[sd=8.5\]" comes nearest'),
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


@pytest.mark.parametrize("name", ["variances", MATCHES, "round", "meets"])
def test_a_parameter_with_the_name_of_a_column_is_refused(name: str) -> None:
    space = cf.Sweep(lambda **given: noisy(given[name]), **{name: [1.0, 2.0]})
    with pytest.raises(InputError, match=f'The parameter "{name}" of the sweep has the name of a column'):
        cf.optimise(HEADS, space, intruders=WHO, utility=["variances"], max_risk={MATCHES: 45}, seed=1)


def test_a_plan_in_place_of_a_sweep_is_refused() -> None:
    with pytest.raises(InputError, match="optimise searches a Sweep"):
        cf.optimise(HEADS, noisy(1.0), intruders=WHO, utility=["means"], max_risk={MATCHES: 1})  # type: ignore[arg-type]
