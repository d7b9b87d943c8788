"""Who surely finds fewer people than another attacks once; nothing that is told of the worst changes by it."""

from __future__ import annotations

import pytest

import confide as cf
from confide.attack.intruder import Intruder
from confide.study.improve.improve import PLANNED
from confide.study.meeting import Met
from confide.study.search.trials import tried
from confide.study.search.worst import may_be_worst, only_worst_counts
from confide.study.tradeoff.repeats import Repeats, worst_of

HEADS = cf.demo("heads").head(400).select("id", "sex", "race", "marital", "age", "hh_income")
KNOWING = {
    "little": cf.Intruder(knows=["sex"]),
    "much": cf.Intruder(knows=["sex", "marital", "age"]),
    "as much": cf.Intruder(knows=["race", "marital", "age"]),
}


def met(found: float | None, targets: float = 1_000.0) -> Met:
    return Met({"found": found, "targets": targets}, [], [], [])


def test_who_may_find_most() -> None:
    first = {
        "best": {"informed": met(80.0), "exact": met(100.0)},
        "near": {"informed": met(70.0)},  # 100 - 70 is less than 3 times 13
        "far": {"informed": met(50.0), "exact": met(20.0)},
    }
    assert may_be_worst(first) == ["best", "near"]
    assert may_be_worst({**first, "unknown": {"informed": met(None)}}) == ["best", "near", "unknown"]
    assert may_be_worst({**first, "refused": {}}) == ["best", "near", "refused"]


def test_one_who_looks_for_few_may_find_the_largest_share() -> None:
    assert may_be_worst({"all": {"informed": met(100.0)}, "few": {"informed": met(20.0, 50.0)}}) == ["all", "few"]


@pytest.mark.parametrize(("risks", "all_found"), [(["found"], True), (["found", "found_share"], True),
                                                   (["found", "over_threshold"], False), (["k_anonymity"], False)])  # fmt: skip
def test_only_of_people_found_is_so_much_known(risks: list[str], all_found: bool) -> None:
    assert only_worst_counts(risks) is all_found


def test_the_worst_is_the_same_and_others_attack_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = {PLANNED: cf.Plan([cf.Swap("marital", rate=0.2)], identifiers=["id"]),
             "coarser": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"])}  # fmt: skip
    study = cf.Study(HEADS, plans, KNOWING, ["hellinger"], repeats=3)
    attacks: list[tuple[str, ...]] = []
    attack = Intruder.attack
    monkeypatch.setattr(Intruder, "attack", lambda self, *a, **k: attacks.append(self.knows) or attack(self, *a, **k))
    seen, frames = [], []
    for worst in (False, True):
        attacks.clear()
        frames.append(tried(study, study.candidates, 1, 1, "", None, fresh=True, worst=worst))
        seen.append({who: attacks.count(one.knows) for who, one in KNOWING.items()})
    assert seen[1]["little"] < seen[0]["little"]
    assert seen[1]["much"] == seen[0]["much"]
    a, b = (worst_of(Repeats.of(f), "found", list(KNOWING)) for f in frames)
    assert a == b
    for who in ("much", "as much"):
        assert frames[0].filter(intruder=who).equals(frames[1].filter(intruder=who))
    assert frames[0].select("plan", "intruder", "repeat").equals(frames[1].select("plan", "intruder", "repeat"))
