"""The search against trying everything, and its pieces against plain formulas."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.seam.dials import Change, Dial
from confide.study.advise import finish
from confide.study.advise.budget import Budget, stated_budget
from confide.study.advise.cost import Cut, at_the_end, cut, expected
from confide.study.advise.forecast import Ladder
from confide.study.advise.numbers import Risk, Spread, beats, loss_of, risks_of
from confide.study.advise.room import stated_memory, tight
from confide.study.advise.search import Search
from confide.study.advise.space import Space
from confide.study.advise.trials import REPEATED, SAMPLED, WHOLE, Job, Trial, Tried, Work, sample_of
from confide.study.meeting import attacks_of
from confide.study.search.trials import as_long_as
from confide.study.statement.rule import Rule
from tests.study.advise.test_advise import people

WHO = cf.Intruder(knows=["area", "age"])
RATES = tuple(round(0.08 * k, 2) for k in range(1, 11))
WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def dial(family: str, variable: str, strengths: tuple[Any, ...], step: Any) -> Dial:
    return Dial(family, (variable,), strengths, lambda x: Change((step(x),)), lambda x: f"{family} {x}")


def search_of(limit: float, budget: int) -> tuple[Search, Work]:
    base = cf.Plan([])
    study = cf.Study(people(200), {"as it is": base}, {"near": WHO}, [cf.Hellinger(pairs=True)], repeats=3, seed=5)
    dials = [
        dial("swap", "area", RATES, lambda x: cf.Swap("area", rate=x)),
        dial("ranks", "age", WINDOWS, lambda x: cf.RankSwap("age", window=x)),
    ]
    work = Work(study, study.measures, 5, None)
    return Search(Space(base, dials), {}, work, {"found_share": limit}, study.measures[0], Budget(budget), 1), work


@pytest.mark.slow
def test_as_good_as_trying_everything_with_a_fifth_of_the_work() -> None:
    limit = 0.12
    every, work = search_of(limit, 10_000)
    grid = [every._candidate(0, ((0, a), (1, b))) for a in RATES for b in WINDOWS]
    for c in grid:
        for r in range(3):
            c.add(work.trial(Job(c, 2 + (r > 0), r), 1), 2 + (r > 0))
    mine, _ = search_of(limit, 60)  # of 300 evaluations
    mine.run()
    assert mine.budget.begun <= 60
    table = {c.setting: c for c in grid}
    spread = Spread.of(grid, every.measure).share
    assert spread is not None

    def point(c: Tried) -> tuple[float, float]:
        (risk,) = risks_of(c, every.limits).values()
        loss = loss_of(c, every.measure)
        assert loss is not None
        return risk.value, loss

    noise = np.sqrt(limit / 200)
    tried = [point(table[c.setting]) if c.setting in table else point(c) for c in mine.candidates]
    for risk, loss in (point(c) for c in grid):
        if 0.6 * limit <= risk <= 1.7 * limit and not any(
            r <= risk and x < loss for r, x in (point(c) for c in grid)
        ):  # on the frontier
            assert any(r <= risk + 2 * noise and x <= loss * (1 + 2 * spread) for r, x in tried)
    inside = min(x for r, x in (point(c) for c in grid) if r <= limit)
    assert min(x for r, x in tried if r <= limit) <= inside * (1 + 2 * spread)


def test_a_sample_of_targets_is_part_of_the_whole_attack() -> None:
    data = people(300)
    release = cf.Plan([cf.Swap("area", rate=0.3), cf.Sample(0.8)]).protect(data, seed=1)
    rows = np.sort(np.random.default_rng(2).choice(300, 90, replace=False))
    (whole,), (part,) = attacks_of(WHO, release, 1), attacks_of(WHO, release, 1, rows)
    assert set(part.truth) == set(rows) & set(release.link)
    hits = dict(zip(whole.truth, whole.units["hit"], strict=True))
    assert part.units["hit"].to_list() == pytest.approx([hits[t] for t in part.truth])


def test_the_error_of_a_sample_bounds_what_it_is() -> None:
    rng = np.random.default_rng(1)
    hits = np.where(rng.random(2_000) < 0.1, 1 / rng.integers(1, 4, 2_000), 0.0)
    risk = Risk(hits.mean(), 0.05, 400, 2_000, 1, random=False)
    shares = [rng.choice(hits, 400, replace=False).mean() for _ in range(2_000)]
    assert np.std(shares) <= risk.error(hits.mean()) <= 1.6 * np.std(shares)
    # all targets of one release: the spread over releases alone, none for a plan that draws nothing
    assert Risk(0.1, 0.1, 50, 50, 1, random=False).error(0.1) == 0
    assert Risk(0.1, 0.1, 50, 50, 4, random=True).error(0.1) == pytest.approx(np.sqrt(0.09 / 200))


def test_a_limit_is_broken_or_kept_only_beyond_three_errors() -> None:
    error = np.sqrt(0.01 * 0.99 * (1 / 1_000 - 1 / 50_000 + 1 / 50_000))
    for value, broken, kept in (
        (0.01 + 3.1 * error, True, False),
        (0.01 + 2.9 * error, False, False),
        (0, False, True),
    ):
        risk = Risk(value, 0.01, 1_000, 50_000, 1, random=True)
        assert (risk.breaks, risk.holds) == (broken, kept)


def test_a_sample_is_the_same_people_for_a_seed_and_none_of_a_small_file() -> None:
    a, b = sample_of(20_000, 0.02, 1), sample_of(20_000, 0.02, 1)
    assert a is not None
    assert b is not None
    assert np.array_equal(a, b)
    assert len(np.unique(a)) == 1_500
    assert not np.array_equal(a, sample_of(20_000, 0.02, 2))
    assert sample_of(1_900, 0.02, 1) is None


@pytest.mark.parametrize("threads", [1, 3])
def test_only_the_end_is_left_out(threads: int) -> None:
    left, lock = [7], threading.Lock()

    def more(_: int) -> bool:
        with lock:
            left[0] -= 1
            return left[0] >= 0

    assert as_long_as(more, lambda x, _: 2 * x, range(20), 10, threads) == [2 * k for k in range(7)]
    left[0] = 30
    assert as_long_as(more, lambda x, _: x, range(5), 10, threads) == list(range(5))
    assert left[0] == 25  # nobody asks for more where there is nothing left


def test_strengths_between_two() -> None:
    ladder = Ladder(Dial("swap", ("x",), (0.1, 0.2, 0.8), lambda _: Change(), str, between=True))
    assert ladder.around(0.2) == [0.15, 0.4]
    assert ladder.rungs() == [0.1, 0.15, 0.2, 0.4, 0.8]
    assert ladder.places[0.4] == 1.5


@pytest.mark.parametrize("bad", ["soon", 0, -1, True, 1.5, "5 weeks", "0 s"])
def test_a_budget_that_is_none(bad: Any) -> None:
    with pytest.raises(cf.InputError, match="whole number of evaluations"):
        stated_budget(bad)


@pytest.mark.parametrize("bad", ["much", 5, True, "1 byte"])
def test_memory_that_is_none(bad: Any) -> None:
    with pytest.raises(cf.InputError, match="memory is what"):
        stated_memory(bad)


def test_tight_memory_changes_no_result() -> None:
    given: dict[str, Any] = {"max_risk": {"found": "30%"}, "budget": 8, "repeats": 2, "seed": 1}
    data = people(80).select(pl.col("sex", "area", "age"))
    a, b = (cf.advise(data, ["area", "age"], memory=m, **given) for m in (None, 10**8))
    assert a.frame.equals(b.frame)
    assert a.name == b.name


def test_a_sample_is_a_part_of_all_who_are_looked_for() -> None:
    """Also where few are released, and those who are not are looked for as well."""
    plan, data = cf.Plan([cf.Sample(0.1)]), people(200)
    who = {"in": cf.Intruder(knows=["area", "age"], membership="in_file"), "there": WHO}
    study = cf.Study(data, {"a": plan}, who, [cf.Hellinger()], seed=1)
    tried = Tried(0, (), "a", plan, ())
    tried.add(Work(study, study.measures, 1, np.arange(0, 200, 4)).trial(Job(tried, 1), 1), 1)
    found = risks_of(tried, {"found": 2.0})
    assert (found["in", "found"].n, found["in", "found"].N) == (50, 200)
    assert found["in", "found"].limit == 2 / 200
    assert found["there", "found"].N == 20


def test_where_all_break_a_limit_with_fresh_draws_the_numbers_are_of_the_plan_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans = {f"swap {x}": cf.Plan([cf.Swap("area", rate=x)]) for x in (0.2, 0.5, 0.8)}
    rule = Rule({"found_share": 0.9}, "hellinger")
    study = cf.Study(people(120), plans, {"near": WHO}, [cf.Hellinger()], repeats=2, seed=5, choice=rule)
    real, fresh = finish._question, []

    def strict(study: cf.Study, frame: pl.DataFrame, limits: Any, by: str) -> Any:
        found = real(study, frame, limits if not fresh else {"found_share": 1e-9}, by)
        fresh.append(found)
        return found

    monkeypatch.setattr(finish, "_question", strict)
    ending = finish.ended(study, study.run(progress=False), {"found_share": 0.9}, "hellinger", 7, 1, False)
    assert ending.name is None
    assert len(ending.failed) > 1
    assert ending.nearest == ending.failed[0] == fresh[1].every.plans[0]
    numbers = {m: mean for kind, m, mean, _, _ in ending.confirmed.rows() if kind == "risk"}
    assert numbers["found_share"] == fresh[1].risks[0]["found_share"][1].mean
    assert numbers["found_share"] != fresh[-1].risks[0]["found_share"][1].mean


def test_nobody_is_beaten_within_noise() -> None:
    """Losses spread by a tenth of themselves; three standard errors of a difference are more than two of these."""
    plan, measure = cf.Plan([cf.Swap("area", rate=0.1)]), cf.Hellinger()

    def with_losses(*losses: float) -> Tried:
        return Tried(0, (), "a", plan, (), whole=[Trial(utility={measure.name: x}) for x in losses])

    best, near, far = with_losses(0.1), with_losses(0.12), with_losses(0.3)
    spread = Spread(0.1)
    assert not beats(best, near, measure, spread)
    assert beats(best, far, measure, spread)
    assert not beats(best, far, measure, Spread(None))
    assert not beats(far, best, measure, spread)


def test_what_takes_too_long_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("confide.study.advise.budget.time.perf_counter", lambda: now[0])
    budget = Budget(100.0)

    def takes(seconds: float) -> float:
        now[0] += seconds
        return seconds

    assert budget.begin("short")  # the first always does
    assert budget.timed(lambda: takes(2.0), "short") == 2.0
    assert budget.begin("long")
    budget.timed(lambda: takes(40.0), "long")
    assert budget.begin("long")  # 42 + 40 seconds
    budget.end = 30.0
    assert not budget.begin("long")
    assert budget.begin("short")
    budget.end = 1_000.0  # of the time, 60 percent at most are kept for the end
    assert not budget.begin("short")
    now[0] = 30.0
    assert budget.begin("short")
    assert budget.left == 70.0
    assert Budget(20).left is None


def trial(seconds: float) -> Trial:
    return Trial(seconds=seconds)


def finalist(name: str, first: float, later: float) -> Tried:
    plan = cf.Plan([cf.Swap("area", rate=0.2)])
    return Tried(0, (), name, plan, (), whole=[trial(first), trial(later)])


def test_the_end_is_cut_to_the_time_that_is_left_and_says_so() -> None:
    plans = [finalist("a", 10.0, 4.0), finalist("b", 4.0, 4.0), finalist("c", 4.0, 4.0), finalist("d", 4.0, 4.0)]
    whole = at_the_end(plans, 5, 2)
    a, b = 1.3 * (10 + 4 * 4), 1.3 * 5 * 4
    assert whole == pytest.approx((a + 3 * b + a + b) / 2)
    assert cut(plans, 5, 2, whole) == Cut(plans, 5)
    assert cut(plans, 5, 2, None) == Cut(plans, 5)
    less = cut(plans, 5, 2, whole - 1)
    assert (less.repeats, less.plans) == (4, plans)
    assert less.said == "For want of time the study at the end has 4 repeats in place of 5."
    least = cut(plans, 5, 2, -1.0)
    assert (least.repeats, least.plans) == (2, plans[:3])
    assert "2 repeats in place of 5 and 3 finalists in place of 4" in least.said
    again = cut(plans, 5, 2, 1e6, before=(3, 2))
    assert (again.repeats, again.plans, again.said) == (least.repeats, least.plans, least.said)


def test_few_repeats_say_little_of_their_own_spread() -> None:
    """Of equal plans, one repeated three times: hardly any pair is told apart, as improbable as three known errors."""
    measure, rng = cf.Hellinger(pairs=True), np.random.default_rng(4)
    plan = cf.Plan([cf.Swap("area", rate=0.2)])

    def tried(losses: Any) -> Tried:
        whole = [Trial(utility={measure.name: float(x)}) for x in losses]
        return Tried(0, (), "x", plan, (), whole=whole)

    wrong = with_three = 0
    for _ in range(4_000):
        a, b = tried(1 + 0.05 * rng.normal(size=3)), tried(1 + 0.05 * rng.normal(size=1))
        spread = Spread.of([a, b], measure)
        assert spread.df == 2
        assert spread.share is not None
        wrong += beats(a, b, measure, spread)
        gap = spread.share * math.sqrt(loss_of(a, measure) ** 2 / 3 + loss_of(b, measure) ** 2)  # type: ignore[operator]
        with_three += loss_of(b, measure) - loss_of(a, measure) > 3 * gap  # type: ignore[operator]
    assert with_three > 100  # three errors would be passed too often
    assert wrong <= 20  # 5.4 expected
    assert Spread(0.1, 1_000_000).errors == pytest.approx(3, abs=1e-4)


def test_memory_is_scarce_only_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[int] = []
    monkeypatch.setattr("confide.study.advise.room.forget", lambda: dropped.append(1))
    assert not tight(None)
    assert not tight(10**15)
    assert not dropped
    assert tight(10**7)
    assert dropped == [1]


def test_what_would_not_end_in_time_does_not_begin() -> None:
    quick, slow = Trial(seconds=0.1), Trial(seconds=7.0)
    c = Tried(0, (), "a", cf.Plan([]), (), sampled=slow)
    assert expected(c, SAMPLED) == 0
    assert expected(c, WHOLE) == 70
    c.add(quick, WHOLE)
    c.add(slow, REPEATED)
    assert expected(c, REPEATED) == 7
    budget = Budget(60.0)
    budget.timed(lambda: None, "kind")  # others of its kind took no time
    assert budget.begin("kind")
    assert not budget.begin("kind", expected(c, WHOLE))
    assert budget.begin("kind", 1.0)
