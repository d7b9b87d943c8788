"""The best plan so far is turned back until it just keeps the limit, whatever else promises more."""

from __future__ import annotations

import pytest

import confide as cf
from confide.protect.seam.dials import Change, Dial
from confide.study.advise.forecast import Ladder
from confide.study.advise.refine import FINEST, turned_back
from confide.study.advise.space import Setting
from confide.study.advise.trials import Trial, Tried

LIMIT = {"on_file": 0.01}
LOSS = cf.Hellinger()


def ladder(strengths: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0), between: bool = True) -> Ladder:
    return Ladder(Dial("noise", ("age",), strengths, lambda _: Change(), str, between=between))


def tried(monkeypatch: pytest.MonkeyPatch, setting: Setting, risk: float, loss: float) -> Tried:
    monkeypatch.setattr("confide.study.advise.numbers.about_file", lambda _: True)
    trial = Trial(utility={LOSS.name: loss}, on_file={"on_file": risk})
    return Tried(0, setting, str(setting), cf.Plan([]), ("noise",), whole=[trial])


def test_half_way_back_until_strengths_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, exact = ladder(), 2.7  # a risk of 1 percent is just kept there
    candidates = [tried(monkeypatch, ((0, 8.0),), 0.01 * exact / 8, 0.08)]
    met = []
    while True:
        found = list(turned_back(candidates, [mine], LIMIT, LOSS))
        if not found:
            break
        ((base, ((_, x),)), *_) = found
        assert base == 0
        met.append(x)
        candidates.append(tried(monkeypatch, ((0, x),), 0.01 * exact / x, x / 100))
    assert met[:3] == [4.0, 2.0, 3.0]  # its own strengths first, then between
    held = min(x for x in [8.0, *met] if x >= exact)
    near = max(x for x in met if x < exact)
    assert mine.places[held] - mine.places[near] <= FINEST
    assert len(met) < 10


def test_nothing_between_and_nothing_that_keeps_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tried(monkeypatch, ((0, 4.0),), 0.02, 0.04)
    assert not list(turned_back([broken], [ladder()], LIMIT, LOSS))
    weakest = tried(monkeypatch, ((0, 1.0),), 0.001, 0.01)
    assert not list(turned_back([weakest], [ladder()], LIMIT, LOSS))
    steps = ladder(between=False)
    pair = [tried(monkeypatch, ((0, 4.0),), 0.005, 0.04), tried(monkeypatch, ((0, 2.0),), 0.02, 0.02)]
    assert not list(turned_back(pair, [steps], LIMIT, LOSS))


def test_each_dial_of_a_mix_is_turned_back_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    mix = tried(monkeypatch, ((0, 4.0), (1, 2.0)), 0.005, 0.04)
    alone = tried(monkeypatch, ((0, 2.0),), 0.02, 0.01)  # another mix: it says nothing of this one
    found = dict.fromkeys(s for _, s in turned_back([mix, alone], [ladder(), ladder()], LIMIT, LOSS))
    assert list(found) == [((0, 2.0), (1, 2.0)), ((0, 4.0), (1, 1.0))]
