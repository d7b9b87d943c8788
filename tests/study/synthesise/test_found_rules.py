"""Rules that are found: the same as a plain search over all combinations and rows, and none in noise."""

from __future__ import annotations

import datetime as dt
from itertools import combinations

import numpy as np
import polars as pl

from confide.frames.columns import Records
from confide.frames.encoded import Encoded
from confide.protect.shared.rules import Sum, read_rule
from confide.study.synthesise.implied import rules_in
from confide.study.synthesise.sums import sums_in


def records(f: pl.DataFrame) -> Records:
    return Encoded(f).records(f.columns, {})


def plain_sums(f: pl.DataFrame, most: int) -> set[tuple[str, tuple[str, ...]]]:
    """Every total and parts that add up in all rows."""
    return {
        (t, parts)
        for t in f.columns
        for many in range(1, most + 1)
        for parts in combinations([v for v in f.columns if v != t], many)
        if bool((f[t] == sum(f[v] for v in parts)).all())
    }


def test_sums_are_those_of_a_plain_search() -> None:
    rng = np.random.default_rng(1)
    f = pl.DataFrame({v: rng.integers(0, 500, 200) for v in "abcde"})
    f = f.with_columns(s=pl.col("b") + pl.col("d"), t=pl.col("a") + pl.col("b") + pl.col("c") + pl.col("d"))
    found = {(s.total, s.plus) for s in sums_in(records(f))}
    every = plain_sums(f, 4)
    assert found <= every
    assert found == {("s", ("b", "d")), ("t", ("a", "c", "s"))}  # the shortest of each total
    assert {t for t, _ in every} == {t for t, _ in found}
    assert sums_in(records(f.with_columns(t=pl.col("t") + (pl.int_range(200) == 7)))) == tuple(
        s for s in sums_in(records(f)) if s.total == "s"
    )


def test_sums_of_cents_with_gaps() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 99_999, 300) / 100 for _ in range(2))
    f = pl.DataFrame({"a": a, "b": b, "t": np.round(a + b, 2)})
    gaps = pl.when(pl.int_range(300) % 5 == 0).then(None)
    both = f.with_columns(b=gaps.otherwise("b"), t=gaps.otherwise("t"))
    assert [s.text for s in sums_in(records(both))] == ["t = a + b"]
    assert not sums_in(records(f.with_columns(t=gaps.otherwise("t"))))  # a total that is missing without its parts


def test_what_never_meets_is_found_and_what_chance_may_do_is_not() -> None:
    rng = np.random.default_rng(3)
    n = 2_000
    a, b, x, y = rng.integers(0, 4, n), rng.integers(0, 4, n), rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    noise = pl.DataFrame({"a": a.astype(str), "b": b.astype(str), "x": x, "y": y})
    assert not rules_in(records(noise))
    held = noise.with_columns(
        b=pl.when(pl.col("a") == "1").then(pl.lit("2")).otherwise("b"),
        z=pl.col("x") + pl.col("y").abs() + 0.001,
        g=pl.when(pl.col("a") == "0").then(None).otherwise("y"),
    )
    texts = {r.text for r in rules_in(records(held))}
    assert {"a == '1' -> b != '0'", "a == '1' -> b != '1'", "a == '1' -> b != '3'"} <= texts
    assert {"x <= z", "a == '0' -> g is missing", "a == '2' -> g is present"} <= texts
    for rule in rules_in(records(held)):
        assert bool(rule.holds(records(held)).all())


def test_limits_are_round_and_no_ones_own() -> None:
    rng = np.random.default_rng(4)
    age = rng.integers(0, 95, 3_000)
    wed = np.where((age >= 17) & (rng.random(3_000) < 0.5), "yes", "no")
    texts = [r.text for r in rules_in(records(pl.DataFrame({"age": age, "wed": wed})))]
    assert texts == ["wed == 'yes' -> age >= 15"]


def test_a_limit_is_not_the_round_value_of_one_person() -> None:
    rng = np.random.default_rng(5)
    job = np.where(np.arange(2_000) % 2 == 0, "a", "b")
    pay = np.where(job == "a", rng.integers(1_000, 90_000, 2_000), rng.integers(1_000, 59_000, 2_000))
    born = [dt.date(1950 + int(k), 6, 1) for k in np.where(job == "a", rng.integers(0, 50, 2_000), 1)]
    for alone in (True, False):
        pay[1], pay[3:9:2], born[1] = 60_000, 50_000 if alone else 60_000, dt.date(1951, 12, 31)
        f = pl.DataFrame({"job": job, "pay": pay, "born": born})
        texts = {r.text for r in rules_in(records(f))}
        assert ("job == 'b' -> pay <= 60000" in texts) != alone
        assert ("job == 'b' -> pay <= 65000" in texts) == alone
        assert "job == 'b' -> born <= '1952-12-31'" in texts


def test_the_part_that_may_be_negative_is_what_is_left() -> None:
    rng = np.random.default_rng(6)
    cost = rng.integers(0, 300, 200)
    profit = np.maximum(rng.integers(-200, 200, 200), -cost)
    f = pl.DataFrame({"profit": profit, "cost": cost, "revenue": profit + cost})
    (found,) = sums_in(records(f))
    assert (found.text, found.total, found.plus, found.minus) == (
        "profit = revenue - cost", "profit", ("revenue",), ("cost",),
    )  # fmt: skip
    gaps = f.with_columns(cost=pl.when(pl.int_range(200) < 9).then(None).otherwise("cost"))
    gaps = gaps.with_columns(revenue=pl.col("profit") + pl.col("cost"))
    assert [s.text for s in sums_in(records(gaps))] == ["revenue = profit + cost"]  # profit is there without the others
    other = read_rule("cost = revenue - profit")
    assert isinstance(other, Sum)
    assert not sums_in(records(f), [other])  # the same sum, as somebody solved it
