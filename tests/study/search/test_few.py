"""The risky few: who they are by hand, that forcing helps them, and that the comparison with all is fair."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.study.evaluate import repeat_seed
from confide.study.search.few_numbers import Work, gain_words
from confide.study.search.forcing import forcible, rate_of, with_forced, with_rate
from confide.study.tradeoff.repeats import Interval

HEADS = cf.demo("heads").head(500).select("id", "sex", "race", "age", "hh_income")
WHO = {"friend": cf.Intruder(knows=["sex", "race"]), "neighbour": cf.Intruder(knows=["race"])}
PLAN = cf.Plan([cf.Swap("race", rate=0.02)], identifiers=["id"])
UTILITY = [cf.RegressionOverlap("age ~ C(race)")]


def few_of(**more: object) -> cf.Few:
    given = {"intruders": WHO, "utility": UTILITY, "limit": 0.1, "repeats": 2, "seed": 1}
    return cf.protect_few(HEADS, PLAN, **{**given, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def few() -> cf.Few:
    return few_of()


def own(plan: cf.Plan, seed: int, name: str) -> np.ndarray:
    attack = WHO[name].attack(plan.protect(HEADS, seed=seed, draws="shared"))
    out = np.zeros(HEADS.height)
    out[attack.truth] = attack.units["p_true"].to_numpy()
    return out


def risky(plan: cf.Plan) -> set[int]:
    means = [np.mean([own(plan, repeat_seed(1, r), name) for r in range(2)], axis=0) for name in WHO]
    return set(np.flatnonzero(np.max(means, axis=0) > 0.1 * (1 + 1e-9)).tolist())


@pytest.mark.slow
def test_the_forced_are_those_over_the_limit_until_none_is_added(few: cf.Few) -> None:
    rows: set[int] = set()
    while not (now := risky(with_forced(PLAN, rows))) <= rows:
        rows |= now
    assert 0 < few.rows == len(rows) < 60
    assert few.plan.steps[0].force == tuple(sorted(rows))


def test_the_table_holds_means_over_fresh_seeds(few: cf.Few) -> None:
    seeds = [repeat_seed(1, r, fresh=True) for r in range(2)]
    for what, plan in (("as planned", PLAN), ("risky few", few.plan), ("all", with_rate(PLAN, few.table["rate"][2]))):
        row = few.table.filter(pl.col("what") == what).row(0, named=True)
        at_risk = [max(float((own(plan, s, n) > 0.1 * (1 + 1e-9)).sum()) for n in WHO) for s in seeds]
        assert row["at_risk"] == pytest.approx(np.mean(at_risk))
        releases = [plan.protect(HEADS, seed=s, draws="shared") for s in seeds]
        touched = [(r.frame["race"] != HEADS["race"].gather(r.link)).sum() for r in releases]
        assert row["touched"] == pytest.approx(np.mean(touched))
        overlap = [cf.utility(r, UTILITY)["value"][0] for r in releases]
        assert row["ci_overlap"] == pytest.approx(np.mean(overlap))


@pytest.mark.slow
def test_the_few_are_safer_at_less_cost_than_all(few: cf.Few) -> None:
    planned, some, everybody = few.table.iter_rows(named=True)
    assert some["at_risk"] < planned["at_risk"]
    assert few.reached
    assert everybody["rate"] > planned["rate"]
    assert some["touched"] < everybody["touched"]
    gain = few.gain["ci_overlap"]
    assert gain.mean == pytest.approx(some["ci_overlap"] - everybody["ci_overlap"])
    less = cf.protect_few(HEADS, PLAN, intruders=WHO, utility=UTILITY, limit=0.1, repeats=2, seed=1, threads=1)
    assert less.table.equals(few.table)


def test_the_rate_is_chosen_by_seeds_of_its_own(few: cf.Few) -> None:
    """Neither those by which the few were found nor those on which all is compared: one percent less would not do."""
    seeds = [repeat_seed(1, r) for r in (2, 3, 4, 5)]

    def at_risk(plan: cf.Plan) -> float:
        return float(np.mean([max((own(plan, s, n) > 0.1 * (1 + 1e-9)).sum() for n in WHO) for s in seeds]))

    study = cf.Study(HEADS, {"p": PLAN}, WHO, UTILITY, repeats=2, seed=1)
    some = with_rate(PLAN, 0.2)
    assert Work(study, 1, 0.1, 1, False).at_risk(some, "") == at_risk(some)
    rate, goal = few.table["rate"][2], at_risk(few.plan)
    assert at_risk(with_rate(PLAN, rate)) <= goal < at_risk(with_rate(PLAN, round(rate - 0.01, 10)))


def test_the_reason_has_the_numbers_of_fresh_seeds(few: cf.Few) -> None:
    planned, some, everybody = few.table["at_risk"]
    assert f"forcing {few.rows} records brings" in few.reason
    assert f"from {planned:.4g} to {some:.4g}." in few.reason
    rate = few.table["rate"][2]
    assert f"Rate {rate:g} for everybody, chosen to do as well, leaves {everybody:.4g}." in few.reason


def test_forced_rows_are_not_shown(few: cf.Few) -> None:
    for text in (str(few), repr(few)):
        assert "force=" not in text
        assert f"{few.rows}" in text
        assert not re.search(r"\d+, \d+, \d+, \d+", text)
    assert "The steps altered" in str(few)


def test_nobody_at_risk_needs_no_forcing() -> None:
    calm = few_of(limit=0.9, intruders={"neighbour": WHO["neighbour"]})
    assert calm.rows == 0
    assert calm.plan == PLAN
    assert "none to protect" in calm.reason
    assert calm.table["rate"].to_list() == [0.02, 0.02, 0.02]


def test_where_no_rate_for_everybody_reaches_it_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from confide.study.search import few as room

    monkeypatch.setattr(room, "with_rate", lambda plan, _: plan)
    never = few_of()
    assert not never.reached
    assert "No rate for everybody did as well when rates were tried; rate 1 leaves" in never.reason


def test_more_than_half_is_not_a_few() -> None:
    many = few_of(limit=0.001, rounds=1, repeats=1, intruders={"neighbour": WHO["neighbour"]})
    assert many.rows > 250
    assert "They are more than half of the 500 records: that is not a few." in many.reason
    assert "with one repeat the spread is not known" in many.reason


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.2, 0.1, 0.3), "the few is better by 0.2 (95% interval 0.1 to 0.3)."),
        ((-0.2, -0.3, -0.1), "the few is worse by 0.2 (95% interval 0.1 to 0.3)."),
        ((0.2, -0.1, 0.5), "better by 0.2 (95% interval -0.1 to 0.5), which is within the spread over repeats."),
        ((0.2, None, None), "better by 0.2; with one repeat the spread is not known."),
        ((0.0, 0.0, 0.0), "By means they are equal."),
        ((float("nan"), None, None), "By means they cannot be compared: it cannot be computed."),
    ],
)
def test_a_gain_says_how_sure_it_is(ends: tuple, words: str) -> None:
    assert gain_words("means", Interval(*ends, None, 3)).endswith(words)


def test_what_cannot_be_computed_in_the_file_as_it_is_says_why() -> None:
    with pytest.raises(InputError, match=r'utility "means": .*"agee"'):
        few_of(utility=[cf.Means("agee")])
    who = cf.Intruder(knows=["race"])

    def refuse(*_: object, **__: object) -> None:
        raise InputError("there is nobody to attack.")

    object.__setattr__(who, "attack", refuse)
    with pytest.raises(InputError, match='intruder "lost": there is nobody to attack'):
        few_of(intruders={"lost": who})


@pytest.mark.slow
def test_rounds_that_end_early_are_said_to(few: cf.Few) -> None:
    once = few_of(rounds=1)
    assert once.rows <= few.rows
    assert ("when rounds ended" in once.reason) == (not risky(once.plan) <= set(once.plan.steps[0].force))


def test_steps_are_found_by_their_field_and_merge_what_was_forced() -> None:
    plan = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.1, force=[3]), cf.Swap("sex", rate=0.3)])
    assert forcible(plan) == [1, 2]
    more = with_forced(plan, [7, 1])
    assert [getattr(s, "force", None) for s in more.steps] == [None, (1, 3, 7), (1, 7)]
    assert [getattr(s, "rate", None) for s in with_rate(plan, 0.2).steps] == [None, 0.2, 0.3]
    assert rate_of(plan) == 0.3


@pytest.mark.parametrize(
    ("plan", "more", "words"),
    [
        (cf.Plan([cf.Recode("age", width=5)]), {}, r"No step of the plan.*by force=: Swap"),
        (cf.Plan([cf.Swap("race", rate=0.1, force="sex")], drop=["sex"]), {}, "already forces the records of the column"),
        (cf.Plan([cf.Swap("race", rate=0.1, keys=["age"], within=["sex"], candidates="unique")]), {}, "No step of the plan"),
        ("race", {}, "takes the data, then a Plan"),
        (PLAN, {"limit": 20}, "write 0.2"),
        (PLAN, {"limit": 0}, "above 0 and below 1"),
        (PLAN, {"rounds": 0}, "rounds is how often"),
        (PLAN, {"intruders": {}}, "intruders is a table"),
    ],
)  # fmt: skip
def test_mistakes_get_a_sentence(plan: cf.Plan, more: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cf.protect_few(HEADS, plan, **{"intruders": WHO, "utility": UTILITY, "seed": 1, **more})
