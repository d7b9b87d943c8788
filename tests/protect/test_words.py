"""Steps and plans in words: every registered method says what it does, by what was stated alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import confide as cf
from confide.core.registry import known
from confide.protect.seam.mechanism import Mechanism
from confide.protect.seam.words import listed
from tests.protect.test_canonical import PLANS

STEPS = [step for plan in PLANS.values() for step in plan.steps]
DEFAULT = Mechanism.words


def test_every_method_says_it_in_its_own_words() -> None:
    assert {s.method for s in STEPS} == set(known("method"))
    for name, method in known("method").items():
        assert method.words is not DEFAULT, name


@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.method)
def test_words_name_the_variables_and_read_as_a_heading(step: Mechanism) -> None:
    said = step.words
    assert listed(step.variables) in said
    assert "\n" not in said
    assert not any(mark in said for mark in ("=", "None", "(", "_ ", "  ")) or step.method == "matrix_mask"
    assert len(said) < 140


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (cf.Recode("age", width=10), "age in classes of 10"),
        (cf.Recode("age", width=2.5, start=1), "age in classes of 2.5 from 1"),
        (cf.Recode("age", breaks=[18, 30, 65]), "age in 4 classes, cut at 18, 30 and 65"),
        (cf.Recode("state", mapping={str(k): k % 4 for k in range(48)}), "state grouped: 48 values named, 4 groups"),
        (cf.Recode("age", hierarchy=cf.Hierarchy(widths=[5, 10]), level=2), "age in classes of 10"),
        (cf.Recode("home", hierarchy=cf.Hierarchy(prefix=[3, 2]), level=1), "home: first 3"),
        (cf.Swap("race", rate=0.1), "swap race, 10% of records"),
        (cf.Swap(["race", "sex"], rate=0.025, jointly=False), "swap race and sex one by one, 2.5% of records"),
        (cf.Noise("pay", sd=2_000), "normal noise on pay, sd 2,000"),
        (cf.Noise("pay", sd=1_234_567), "normal noise on pay, sd 1,234,567"),
        (cf.Noise("pay", sd=100, bias_sd=0.05), "normal noise on pay, sd 100, factors of sd 0.05"),
        (cf.Topcode("pay", at=1_234_567.5), "topcode pay at 1,234,567.5"),
        (cf.RankSwap("pay", window=5, keep_zeros=False), "rank swap pay, at most 5 ranks away, zeros too"),
        (cf.Pram(["a", "b"], retention=0.9), "PRAM a and b, 10% of each drawn again"),
        (cf.NormalSynthesis("pay", scale="ranks"), "synthetic pay, by a normal regression of ranks"),
        (cf.HotDeck("pay", match="age"), "pay of another record, nearest in age"),
        (cf.Microaggregate("pay", k=5, within="sex"), "average pay within sex over groups of 5"),
        (
            cf.LocalSuppression(["a", "b", "c"], subsets={2: 10, 3: 5}, rule="wildcard"),
            "hide single values of a, b and c until 10 people share each combination of 2 and 5 people share each "
            "combination of 3 where a hidden value agrees with any",
        ),
        (cf.MatrixMask(like=cf.Swap("race", rate=0.1)), "swap race, 10% of records, as matrices"),
    ],
)
def test_words_of_single_steps(step: Mechanism, said: str) -> None:
    assert step.words == said


def test_nobody_who_was_chosen_is_told() -> None:
    assert cf.Swap("race", rate=0.1, force=[7, 4711]).words == cf.Swap("race", rate=0.1).words


@dataclass(frozen=True)
class Blur(cf.extend.CoarseningMethod):
    """A method of somebody's own, without words of its own."""

    variables: cf.extend.Name
    size: float
    kind: str = "plain"
    near: tuple[str, ...] = ()
    table: Any = None

    method: ClassVar[str] = "blur_it"

    def fit(self, original: Any, current: Any, after: Any) -> Any:
        raise NotImplementedError


def test_the_default_tells_the_method_and_what_was_stated() -> None:
    step = Blur("age", 2_000.5, near=("sex", "race"), table=np.arange(3).tolist())
    assert step.words == "blur it age (size 2,000.5, near sex and race)"
    assert Blur("age", 3, kind="fine").words == "blur it age (size 3, kind fine)"


def test_a_plan_in_words() -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.1)], drop=["state", "educ"], identifiers="id")
    assert plan.words == ("age in classes of 10", "swap race, 10% of records", "drop state and educ")
    assert cf.Plan().words == ()


def test_offers_and_steps_say_the_same_where_an_offer_is_one_step() -> None:
    found = cf.offers(cf.demo("heads").head(600), knows=["sex", "race", "age", "state"], sensitive=["hh_income"])
    same = {"recode", "swap", "pram", "topcode", "bottomcode", "round", "sample", "microaggregate", "hot_deck"}
    seen = set()
    for k, family, _, _, says, _ in found.frame.rows():
        if family in same and len(steps := found.steps(k)) == 1:
            assert steps[0].words == says
            seen.add(family)
    assert seen == same
