"""Whether values drawn so far leave a way to keep all rules: against every record of the file in turn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.columns import Records
from confide.frames.encoded import Encoded
from confide.protect.shared import rules_ahead
from confide.protect.shared.rules import Held, held_rules
from confide.protect.shared.rules_ahead import Ahead

RULES = (
    "a <= x", "y <= a", "x >= b", "c == 'p' -> k == 'u'", "k == 'v' -> a >= 3", "x == 0 -> c != 'q'",
    "x is missing -> a <= 4", "y >= 2 -> x >= 2", "a == y", "x > y", "b != x", "k in ['u', 'w'] -> y <= a",
)  # fmt: skip
DONE = ("a", "b", "c")


def records(seed: int, n: int) -> Records:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        **{v: pl.Series(rng.integers(0, 6, n)).cast(pl.Float64) for v in "abxy"},
        "c": rng.choice(["p", "q"], n), "k": rng.choice(["u", "v", "w"], n),
    }).with_columns(x=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise("x"))  # fmt: skip
    return Encoded(frame).records(frame.columns, dict.fromkeys("abxy", "numeric"))


def slowly(rules: tuple[Held, ...], file: Records, here: Records) -> list[bool]:
    late = [v for v in file if v not in DONE]
    out = []
    for i in range(here.n):
        both = {**here.take(np.full(file.n, i)).select(DONE), **file.select(late)}
        out.append(bool(np.logical_and.reduce([r.holds(both) for r in rules]).any()))
    return out


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sets(st.sampled_from(RULES), min_size=1, max_size=5))
def test_a_way_is_open_where_some_record_has_one(seed: int, n: int, texts: set[str]) -> None:
    rules = tuple(r for r in held_rules(sorted(texts), "rules") if not {*r.names} <= {*DONE})
    file, here = records(seed, n), records(seed + 1, 25)
    if rules:
        found = Ahead.of(rules, file, DONE).open(here.select(DONE))
        assert found.tolist() == slowly(rules, file, here)


def test_of_very_many_ways_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_ahead, "MOST", 4)
    rules = held_rules(("a <= x", "x <= b"), "rules")
    file, here = records(1, 200), records(2, 200)
    ahead = Ahead.of(rules, file, DONE)
    assert ahead.ways.n == 4
    assert not (ahead.open(here.select(DONE)) & ~np.array(slowly(rules, file, here))).any()


PAID = ("age == 'old' -> pay == 'pension'", "job == 'yes' -> pay == 'wage'")


def broken(*ahead: str) -> int:
    """Rows that break a rule after jobs were drawn without regard to age: nobody old has one in the file."""
    old, even = pl.col("i") % 5 == 0, pl.col("i") % 2 == 0
    people = pl.DataFrame({"i": range(300)}).select(
        age=pl.when(old).then(pl.lit("old")).otherwise(pl.lit("young")),
        job=pl.when(~old & even).then(pl.lit("yes")).otherwise(pl.lit("no")),
        pay=pl.when(old).then(pl.lit("pension")).when(even).then(pl.lit("wage")).otherwise(pl.lit("none")),
    )
    steps = [
        cf.CartSynthesis("age"),
        cf.CartSynthesis("job", given="age", leaf=300, ahead=ahead),
        cf.CartSynthesis("pay", given=["age", "job"], rules=PAID),
    ]
    z = Encoded(cf.Plan(steps).protect(people, seed=1).data).records(people.columns, {})
    return int((~np.logical_and.reduce([r.holds(z) for r in held_rules(PAID, "")])).sum())


def test_no_later_draw_is_left_without_a_value() -> None:
    assert broken() > 10
    assert broken(*PAID) == 0


def test_what_cannot_lie_ahead_is_said() -> None:
    with pytest.raises(cf.InputError, match="speaks of no variable to come; put it in rules"):
        cf.CartSynthesis("job", given="age", ahead="job == 'yes' -> age != 'old'")
    people = pl.DataFrame({"age": ["old", "young"] * 20, "job": ["no", "yes"] * 20})
    with pytest.raises(cf.InputError, match='ahead names "pay", which no step of the plan draws'):
        cf.Plan([cf.CartSynthesis("job", given="age", ahead=PAID)]).protect(people, seed=1)
