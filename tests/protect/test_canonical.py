"""What draws are keyed by never changes: the text of a plan, the names of streams, and whole releases are pinned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import confide as cf
from confide.core.random import digest, philox
from confide.core.random.digest import Digest
from confide.core.random.origin import Origin
from confide.core.registry import known
from confide.protect.canonical import canonical
from confide.protect.record import link_digest

GOLDEN = json.loads((Path(__file__).parent / "data" / "frozen.json").read_text())
HEADS = cf.demo("heads").head(150)

PLANS = {
    "recode": cf.Plan([cf.Recode("age", width=5), cf.Recode("race", mapping={"Asian or Pacific": "other"})]),
    "recode by levels": cf.Plan(
        [
            cf.Recode("age", hierarchy=cf.Hierarchy(widths=[5, 10.0]), level=2),
            cf.Recode(
                "sex", hierarchy=cf.Hierarchy(table={"male": ["a"], "female": ["b"]}, names=["letter"]), level="letter"
            ),
        ]
    ),
    "topcode": cf.Plan([cf.Topcode("hh_income", at=90_000), cf.Bottomcode("age", at=20)]),
    "round": cf.Plan([cf.Round("hh_income", base=100)], identifiers="id", weight="weight", drop=["state"]),
    "swap": cf.Plan([cf.Swap(["race", "educ"], rate=0.3, within="sex"), cf.Swap("marital", rate=0.2, force=[1, 5])]),
    "targeted": cf.Plan(
        [cf.Swap("tenure", rate=0.8, keys=["sex", "race"], within="hispanic", candidates="unique")], identifiers="id"
    ),
    "units": cf.Plan(
        [cf.Sample(0.5, per="unit"), cf.Pram("sex", retention=0.8, per="unit"), cf.Noise("age", sd=3, per="unit")],
        unit="state",
    ),
    "pram": cf.Plan([cf.Pram("sex", matrix=[[0.8, 0.2], [0.1, 0.9]])], categorical="n_persons"),
    "noise": cf.Plan([cf.Noise("age", sd=3, bounds=(0, 110)), cf.Noise("hh_income", relative=0.1)], numeric="age"),
    "lognormal noise": cf.Plan(
        [cf.LognormalNoise("hh_income", sd=0.1), cf.LognormalNoise("age", sd=0.2, unbiased=False)]
    ),
    "joint noise": cf.Plan([cf.Noise(["age", "hh_income"], sd={"age": 3, "hh_income": 500}, correlation=0.5)]),
    "sample": cf.Plan([cf.Sample(0.4), cf.Swap("race", rate=0.5)]),
    "rank swap": cf.Plan([cf.RankSwap("hh_income", window=10), cf.RankSwap("age", window=6, exchange=True)]),
    "quantile regression": cf.Plan([cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=9)]),
    "hot deck": cf.Plan([cf.HotDeck(["hh_income", "wage_income"], match="age", within="sex", window=5)]),
    "cart": cf.Plan([cf.CartSynthesis("property_value", given=["sex", "age"])]),
    "recompute": cf.Plan(
        [
            cf.CartSynthesis("wage_income", leaf=7, draw="bootstrap", rules="wage_income >= 0"),
            cf.Recompute("hh_income", plus=["wage_income"], minus="other_income"),
        ]
    ),
    "logistic": cf.Plan([cf.LogisticSynthesis("tenure", given=["sex", "age"])]),
    "normal": cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])]),
    "microaggregate": cf.Plan([cf.Microaggregate(["hh_income", "age"], k=3)]),
    "measurement error": cf.Plan([cf.MeasurementError("age", noise_variance=cf.Gamma(400, 3.5))]),
    "mask": cf.Plan([cf.MatrixMask(["hh_income", "age"], C=np.ones((150, 2)))]),
    "local suppression": cf.Plan([cf.LocalSuppression(["sex", "race", "age"], k=3, importance={"age": 0.5})]),
}


def frozen(name: str) -> dict[str, object]:
    """What must not change: text, streams, and a draft where it does not hang on a library's last digit."""
    plan = PLANS[name]
    found: dict[str, object] = {"plan": canonical(plan), "streams": [s.stream for s in plan.parts]}
    if name not in ("quantile regression", "logistic", "normal", "cart"):
        release = plan.protect(HEADS, seed=1)
        found |= {"released": Digest.of(release.frame).hex(), "link": link_digest(release.link)}
    return found


@pytest.mark.parametrize("name", PLANS)
def test_nothing_moves(name: str) -> None:
    assert frozen(name) == GOLDEN[name]


@pytest.mark.parametrize("name", ["topcode", "swap", "units", "recode"])
def test_loops_for_many_rows_move_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(philox, "MANY", 2)
    monkeypatch.setattr(digest, "MANY", 2)
    assert frozen(name) == GOLDEN[name]


def test_every_method_is_pinned() -> None:
    used = {type(s) for p in PLANS.values() for s in p.steps}
    assert {c for c in known("method").values() if not c.__name__.startswith("_")} <= used


def test_spellings_do_not_matter() -> None:
    same = [
        cf.Plan([cf.Recode("age", width=5)], identifiers="id"),
        cf.Plan((cf.Recode("age", width=5.0),), identifiers=["id"], drop=()),
        cf.Plan(cf.Recode("age", width=np.int64(5)), identifiers=("id",)),
    ]
    assert len({canonical(p) for p in same}) == 1


def test_what_differs_is_seen() -> None:
    plans = [*PLANS.values(), cf.Plan([]), cf.Plan([], identifiers="id"), cf.Plan([], drop="id")]
    for rate in (0.1, 0.1 + 1e-16, 0.2):
        plans.append(cf.Plan([cf.Swap("race", rate=rate)]))
    for c in (np.zeros(2), np.ones(2), sparse.eye(2).tocsr(), 2 * sparse.eye(2).tocsr()):
        plans.append(
            cf.Plan([cf.MatrixMask(["age", "hh_income"], B=c)] if c.ndim == 2 else [cf.Topcode("age", at=c[0])])
        )
    for add in (1.0, 2.0):
        plans.append(cf.Plan([cf.MatrixMask("age", C=lambda x, rng, add=add: x + add + rng.normal(size=x.shape))]))
    assert len({canonical(p) for p in plans}) == len(plans)


def test_the_key_of_each_stream_is_its_own() -> None:
    origin = Origin.of(("release", "digest", "plan", "one"), 1)
    rows = np.arange(8)
    keys = [("Swap:race", 0), ("Swap:race", 1), ("Swap:rac", 0), ("shuffle", 0), ("copy 0|Swap:race", 0)]
    drawn = {tuple(origin.draws(*k).uniform(rows)) for k in keys}
    assert len(drawn) == len(keys)


def test_batches_give_the_same_values() -> None:
    """A step that works row by row draws the same for any part of the file."""
    steps = [
        cf.Noise("hh_income", sd=500.0, bounds=(0, 10**6)),
        cf.Noise(["age", "wage_income"], sd={"age": 3, "wage_income": 500}, correlation=0.5),
        cf.LognormalNoise("hh_income", sd=0.1),
        cf.Pram("sex", matrix=[[0.8, 0.2], [0.1, 0.9]]),
        cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=9),
        cf.NormalSynthesis("hh_income", given=["sex", "age"]),
        cf.CartSynthesis("property_value", given=["sex", "age"], draw="independent"),
        cf.HotDeck("hh_income", match="age", within="sex"),
    ]
    for step in steps:
        records = cf.Plan([step]).encode(HEADS.filter(pl.col("hh_income").is_between(0, 10**6)))
        draws = Origin.of(("test",), 3).draws(step.stream)
        fitted = step.fit(records, records, {})
        whole = fitted.apply(records, records, draws).columns
        rows = np.arange(records.n)
        for part in (rows[:40], rows[40:], rows[::-3]):
            some = records.take(part)
            for a, b in zip(whole, fitted.apply(some, some, draws).columns, strict=True):
                np.testing.assert_allclose(a.values[part], b.values, rtol=1e-12)
