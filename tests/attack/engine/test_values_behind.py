"""Known values of which records show a coarser form: what else a record shows says which it is likelier to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import confide as cf
from confide.attack.beliefs import behind_labels, label_regressions
from confide.attack.beliefs.behind_labels import BELIEVED
from confide.attack.beliefs.values_behind import several
from confide.attack.engine.behind import people_in_parts
from confide.attack.engine.posterior import log_weights
from confide.attack.engine.prepare import prepare
from confide.core.run.memory import forget
from confide.frames.columns import F64, I64

NAMES = {f"v{i}": "ab"[i // 4] for i in range(8)}


def small(n: int = 70, seed: int = 1) -> pl.DataFrame:
    """A file in which job and pension go with age."""
    g = np.random.default_rng(seed)
    y = g.integers(0, 8, n)
    job = np.clip(y % 4 // 2 + g.integers(0, 2, n), 0, 2)
    pension = (y % 4 + g.integers(0, 3, n) > 3).astype(int)
    return pl.DataFrame({
        "sex": g.choice(["m", "f"], n), "age": y, "status": [f"v{i}" for i in y], "job": [f"j{i}" for i in job],
        "pension": pension.astype(str), "row": np.arange(n),
    })  # fmt: skip


def functions(local: I64, ordered: bool) -> tuple[F64, F64]:
    """What is expected of each value behind one label, and what ratios are expanded in, (values, R)."""
    p = np.bincount(local, minlength=4) / len(local)
    if not ordered:
        return np.eye(4) - p, np.eye(4) / p
    x = np.cumsum(p) - p / 2
    first = (x - p @ x) / np.sqrt(p @ (x - p @ x) ** 2)
    second = first**2 - 1 - (p @ first**3) * first
    both = np.stack([first, second / np.sqrt(p @ second**2)], axis=1)
    return both, both


def weights(sizes: list[int], penalty: float) -> F64:
    """Of the constant and of predictors with so many codes: those of more than `MANY` vary with their neighbours."""
    out = np.zeros((1 + sum(sizes), 1 + sum(sizes)))
    out[0, 0], at = 1e-6, 1
    for m in sizes:
        vary = np.eye(m)
        if m > label_regressions.MANY:
            vary += [[np.exp(-6 * abs(i - j) / m) for j in range(m)] for i in range(m)]
        out[at : at + m, at : at + m] = penalty * np.linalg.inv(vary)
        at += m
    return out


def tilt_of(effects: F64, mass: F64 | None) -> F64:
    """Of a number the sum of all effects (columns, R); of categories the log of the product of their ratios."""
    if mass is None:
        return np.asarray(effects.sum(axis=0))
    ratios = np.maximum(1 + effects / mass, label_regressions.SMALLEST)
    return np.asarray(mass * np.log(ratios.prod(axis=0)))


class Twin:
    """The same by enumeration: regressions are fitted again for everybody who is left out. `apart`: each label has its
    own regression and exponents, which are drawn to those of both."""

    def __init__(self, data: pl.DataFrame, ordered: bool, penalty: float, apart: bool) -> None:
        y, self.n = data["age"].to_numpy(), len(data)
        label, self.local = y // 4, y % 4
        sex, job = (np.unique(data[v], return_inverse=True)[1] for v in ("sex", "job"))
        certain = [sex] if apart else [label, sex] if ordered else [sex, label]
        codes = [*certain, job, data["pension"].to_numpy().astype(int)]
        sizes = [int(c.max()) + 1 for c in codes]
        self.weight, self.alike = weights(sizes, penalty), 1 + sum(sizes[: len(certain)])
        self.x = np.hstack([np.ones((self.n, 1)), *(np.eye(m)[c] for c, m in zip(codes, sizes, strict=True))])
        each = [functions(self.local[label == c], ordered) for c in range(2)]
        self.phi = np.stack([each[c][0][k] for c, k in zip(label, self.local, strict=True)])
        self.spread = np.stack([each[c][1] for c in label])
        share = [np.bincount(self.local[label == c], minlength=4) / (label == c).sum() for c in range(2)]
        self.share = np.stack(share)[label]
        self.mass = [None] * self.n if ordered else list(self.share)
        self.pattern = np.unique(np.stack([label, *codes]), axis=1, return_inverse=True)[1]
        self.strata = [label == c for c in range(2)] if apart else [np.ones(self.n, dtype=bool)]
        self.block = [np.flatnonzero((label == label[t]) & (sex == sex[t])) for t in range(self.n)]

    def probabilities(self, part: I64) -> F64:
        """Pr(own record) of every person."""
        everybody = np.ones(self.n, dtype=bool)
        first, rest, _ = self.expected(everybody)
        both = self.exponents(first, rest, everybody, np.zeros(3 * first.shape[1]), behind_labels.RIDGE)
        out = np.empty(self.n)
        for f in range(label_regressions.FOLDS):
            first, rest, plain = self.expected(part != f)
            p = np.empty_like(self.share)
            for mine in self.strata:
                b = self.exponents(first, rest, mine & (part != f), both, behind_labels.SHARED).reshape(3, -1)
                tilt = b[0] * plain[mine] + BELIEVED * b[1] * rest[mine] + b[2]
                p[mine] = self.share[mine] * np.exp(np.einsum("nr,nkr->nk", tilt, self.spread[mine]))
            p /= p.sum(axis=1, keepdims=True)
            for t in np.flatnonzero(part == f):
                out[t] = p[t, self.local[t]] / p[self.block[t], self.local[t]].sum()
        return out

    def expected(self, train: Any) -> tuple[F64, F64, F64]:
        """By what candidates have alike and by the rest, records left out; and by the first with nobody left out."""
        first, rest, plain = np.empty((3, self.n, self.phi.shape[1]))
        for mine in self.strata:
            rows = train & mine
            b = self.ridge(rows)
            for i in np.flatnonzero(mine):
                x, mass = self.x[i, :, None], self.mass[i]
                plain[i] = tilt_of((x * b)[: self.alike], mass)
                own = np.flatnonzero(rows & (self.pattern == self.pattern[i]))
                left = [self.ridge(rows & (np.arange(self.n) != j)) for j in own]
                effects = x * (np.mean(left, axis=0) if left else b)
                first[i], rest[i] = tilt_of(effects[: self.alike], mass), tilt_of(effects[self.alike :], mass)
        return first, rest, plain

    def ridge(self, rows: Any) -> F64:
        x = self.x[rows]
        found: F64 = np.linalg.solve(x.T @ x + self.weight, x.T @ self.phi[rows])
        return found

    def exponents(self, first: F64, rest: F64, train: Any, near: F64, ridge: float) -> F64:
        """Those of both parts, none negative, and constants, by a general minimiser."""
        r, rows = first.shape[1], np.flatnonzero(train)
        allowed = np.ones(3 * r, dtype=bool)

        def loss(some: F64) -> float:
            b = np.zeros(3 * r)
            b[allowed] = some
            tilt = b[:r] * first[rows] + b[r : 2 * r] * rest[rows] + b[2 * r :]
            eta = np.log(self.share[rows]) + np.einsum("nr,nkr->nk", tilt, self.spread[rows])
            log_p = eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))
            off = (b - near)[allowed]
            return float(0.5 * ridge * off @ off - log_p[np.arange(len(rows)), self.local[rows]].sum())

        while True:
            found = minimize(loss, near[allowed], method="BFGS", options={"gtol": 1e-7}).x
            out = np.zeros(3 * r)
            out[allowed] = found
            if not (out[: 2 * r] < 0).any():
                return out
            allowed[: 2 * r] &= out[: 2 * r] > 0


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("apart", [False, True])
def test_it_is_the_posterior_by_enumeration(ordered: bool, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels together, or each with a regression and exponents of its own, and jobs that vary with their neighbours."""
    penalty = 3.0
    monkeypatch.setattr(label_regressions, "PENALTIES", (penalty,))
    monkeypatch.setattr(label_regressions, "BETTER", -1e9)
    monkeypatch.setattr(behind_labels, "LEAST", 10 if apart else 1000)
    monkeypatch.setattr(label_regressions, "MANY", 2 if apart else 8)
    data = small()
    known = "age" if ordered else "status"
    step = cf.Recode("age", width=4) if ordered else cf.Recode("status", mapping=NAMES)
    drop = ["row", "status" if ordered else "age"]
    release = cf.Plan([step], drop=drop).protect(data, seed=1)
    who = cf.Intruder.at("exact", knows=["sex", known])
    part = people_in_parts(prepare(who, release, None, None, merge=False).case)
    assert part is not None
    expected = Twin(data, ordered, penalty, apart).probabilities(part)
    forget()  # what was remembered has other settings
    attack = who.attack(release, targets=data, truth=np.arange(len(data)))
    np.testing.assert_allclose(attack.units["p_true"], expected, atol=2e-4)
    informed = cf.Intruder(knows=["sex", known]).attack(release).units["p_true"].to_numpy()
    assert np.abs(expected - informed).max() > 0.02


def generated(n: int, related: bool, seed: int) -> pl.DataFrame:
    g = np.random.default_rng(seed)
    age = g.integers(20, 80, n)
    seen = age if related else g.integers(20, 80, n)
    return pl.DataFrame({
        "sex": g.choice(["m", "f"], n), "region": g.choice(list("abcde"), n), "age": age,
        "job": [f"j{i}" for i in np.clip((seen + g.normal(0, 8, n)) // 6, 0, 14).astype(int)],
        "pension": np.where(seen + g.normal(0, 3, n) > 64, g.gamma(2, 900, n).round(), 0.0),
        "hair": g.choice(list("uvwxyz"), n),
    })  # fmt: skip


def claims(release: cf.Release, level: str, **options: Any) -> tuple[float, float, float]:
    """Claimed and true matches, and the variance of the latter if claims are right."""
    attack = cf.Intruder.at(level, knows=["sex", "region", "age"], **options).attack(release)
    p, found = attack.units["p_max"].to_numpy(), attack.summary()
    assert found.expected_matches is not None
    return found.claimed_matches, found.expected_matches, float((p * (1 - p)).sum())


def test_related_values_find_more_people_and_claims_are_right() -> None:
    found = []
    for seed in range(10):
        release = cf.Plan([cf.Recode("age", width=20)]).protect(generated(1500, True, seed), seed=seed)
        found.append((*claims(release, "exact"), claims(release, "informed")[1]))
    claimed, right, variance, informed = np.sum(found, axis=0)
    assert right > 1.8 * informed
    assert abs(right - claimed) < 3.5 * np.sqrt(variance)


def test_claims_about_merged_categories_are_right() -> None:
    """Ages tell widows apart, and each has few records: claims were 5 percent too high, 4 standard errors."""
    heads = cf.demo("heads")
    order = np.random.default_rng(5).permutation(heads.height)
    married = ("married, spouse present", "spouse absent", "separated")
    two = {m: "married" if m in married else "single" for m in heads["marital"].unique()}
    found = []
    for f in range(4):
        some = heads[np.sort(order[f * 4000 : (f + 1) * 4000])]
        release = cf.Plan([cf.Recode("marital", mapping=two)], identifiers="id", weight="weight").protect(some, seed=f)
        attack = cf.Intruder.at("exact", knows=["sex", "race", "marital", "age"]).attack(release)
        p, said = attack.units["p_max"].to_numpy(), attack.summary()
        found.append((said.claimed_matches, said.expected_matches, (p * (1 - p)).sum()))
    claimed, right, variance = np.sum(np.asarray(found, dtype=float), axis=0)
    assert abs(right - claimed) < 2.5 * np.sqrt(variance)


def test_unrelated_values_change_next_to_nothing() -> None:
    """Chance relations are left out by records that were left out, all or nearly all of them."""
    found = []
    for seed in range(6):
        release = cf.Plan([cf.Recode("age", width=20)]).protect(generated(2000, False, seed), seed=seed)
        found.append((*claims(release, "exact"), *claims(release, "informed")[:2]))
    claimed, right, variance, *informed = np.sum(found, axis=0)
    assert informed == [180.0, 180.0]
    assert claimed < 1.05 * informed[0]
    assert abs(right - claimed) < 3 * np.sqrt(variance)


def test_nothing_changes_where_nothing_is_shown_beside_or_nothing_is_coarser() -> None:
    data = generated(400, True, 1)
    bare = cf.Plan([cf.Recode("age", width=20)], drop=["job", "pension", "hair"]).protect(data, seed=1)
    kept = cf.Plan([cf.Recode("job", mapping={f"j{i}": f"j{i // 4}" for i in range(15)})]).protect(data, seed=1)
    for release in (bare, kept):
        assert claims(release, "exact") == claims(release, "informed")


@pytest.mark.parametrize("also", ["sex", "pension"])
def test_every_loop_has_the_same_weights(also: str) -> None:
    """Beside an altered category (classes are averaged over) and a noisy number (records say something of it)."""
    data = generated(300, True, 2)
    step = cf.Swap("sex", rate=0.3) if also == "sex" else cf.Noise("pension", sd=300)
    release = cf.Plan([cf.Recode("age", width=20), step]).protect(data, seed=1)
    who = cf.Intruder.at("exact", knows=["sex", "age", *(["pension"] if also == "pension" else [])])
    attack = who.attack(release, targets=data, truth=np.arange(len(data)))
    ready = prepare(who, release, data, np.arange(len(data)))
    (_, scene, _), *rest = ready.scenes()
    assert not rest
    assert any(u.behind for u in scene.uncertain)
    for t in range(0, 300, 37):
        rows, parts = log_weights(scene, t)
        weights = np.exp(sum(parts.values())) * scene.count[rows]
        assert weights.max() / weights.sum() == pytest.approx(attack.units["p_max"][t], rel=1e-6)


def test_somebody_who_may_be_absent() -> None:
    """A quarter is sampled: claims about who is there and where stay right."""
    people = generated(6000, True, 3).with_row_index("id")
    release = cf.Plan([cf.Sample(0.25), cf.Recode("age", width=20)], identifiers="id").protect(people, seed=1)
    who = cf.Intruder.at("exact", knows=["sex", "region", "age"], membership="in_file")
    units = who.attack(release).units
    p, hit = units["p_max"].to_numpy(), units["hit"].fill_null(0.0).to_numpy()
    assert abs(p.sum() - hit.sum()) < 4 * np.sqrt((p * (1 - p)).sum())
    assert units["p_absent"].mean() == pytest.approx(0.75, abs=0.02)


def test_labels_that_no_released_record_has() -> None:
    """A small sample leaves out whole bands; nothing is told apart behind them."""
    assert several(np.array([-1, -1, 0, 0, 1]), np.array([3, 4, 0, 1, 2])).tolist() == [False, False, True, True, False]
    release = cf.Plan([cf.Sample(0.2), cf.Recode("age", width=3)]).protect(generated(150, True, 4), seed=1)
    units = cf.Intruder.at("exact", knows=["sex", "age"], membership="in_file").attack(release).units
    assert units["p_max"].is_between(0, 1).all()
