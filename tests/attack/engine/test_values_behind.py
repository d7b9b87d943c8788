"""Known values of which records show a coarser form: what else a record shows says which it is likelier to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import confide as cf
from confide.attack.beliefs import label_regressions
from confide.attack.beliefs.behind_labels import BELIEVED
from confide.attack.beliefs.values_behind import several
from confide.attack.engine.behind import people_in_parts
from confide.attack.engine.posterior import log_weights
from confide.attack.engine.prepare import prepare
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


def ridge(x: F64, phi: F64, penalty: float) -> F64:
    weight = np.diag([1e-6, *[penalty] * (x.shape[1] - 1)])
    found: F64 = np.linalg.solve(x.T @ x + weight, x.T @ phi)
    return found


def tilt_of(effects: F64, mass: F64 | None) -> F64:
    """Of a number the sum of all effects (columns, R); of categories the log of the product of their ratios."""
    if mass is None:
        return np.asarray(effects.sum(axis=0))
    ratios = np.maximum(1 + effects / mass, label_regressions.SMALLEST)
    return np.asarray(mass * np.log(ratios.prod(axis=0)))


def twin(data: pl.DataFrame, ordered: bool, part: I64, penalty: float) -> F64:
    """Pr(own record) of every person, by enumeration: regressions are fitted again for everybody who is left out."""
    y, n = data["age"].to_numpy(), len(data)
    label, local = y // 4, y % 4
    sex, job = (np.unique(data[v], return_inverse=True)[1] for v in ("sex", "job"))
    pension = data["pension"].to_numpy().astype(int)
    codes = [label, sex, job, pension] if ordered else [sex, label, job, pension]
    x = np.hstack([np.ones((n, 1)), *(np.eye(int(c.max()) + 1)[c] for c in codes)])
    alike = 5
    each = [functions(local[label == c], ordered) for c in range(2)]
    phi = np.stack([each[c][0][k] for c, k in zip(label, local, strict=True)])
    spread = np.stack([each[c][1] for c in label])
    share = np.stack([np.bincount(local[label == c], minlength=4) / (label == c).sum() for c in range(2)])[label]
    mass = [None] * n if ordered else list(share)
    pattern = np.unique(np.stack(codes), axis=1, return_inverse=True)[1]
    out = np.empty(n)
    for f in range(label_regressions.FOLDS):
        train = part != f
        b = ridge(x[train], phi[train], penalty)
        first, rest, plain = np.empty((3, n, phi.shape[1]))
        for i in range(n):
            plain[i] = tilt_of(x[i, :alike, None] * b[:alike], mass[i])
            own = np.flatnonzero(train & (pattern == pattern[i]))
            left = [ridge(x[keep], phi[keep], penalty) for j in own if (keep := train & (np.arange(n) != j)).any()]
            mean = np.mean(left, axis=0) if len(own) else b
            each_one = x[i, :, None] * mean
            first[i], rest[i] = tilt_of(each_one[:alike], mass[i]), tilt_of(each_one[alike:], mass[i])
        tilts = exponents(first, rest, spread, share, local, train)
        beta = tilts[: len(tilts) // 3], tilts[len(tilts) // 3 : -len(tilts) // 3], tilts[-(len(tilts) // 3) :]
        tilt = beta[0] * plain + BELIEVED * beta[1] * rest + beta[2]
        p = share * np.exp(np.einsum("nr,nkr->nk", tilt, spread))
        p /= p.sum(axis=1, keepdims=True)
        for t in np.flatnonzero(part == f):
            block = (label == label[t]) & (sex == sex[t])
            out[t] = p[t, local[t]] / p[block, local[t]].sum()
    return out


def exponents(first: F64, rest: F64, spread: F64, share: F64, local: I64, train: Any) -> F64:
    """Those of both parts, none negative, and constants, by a general minimiser."""
    r = first.shape[1]
    allowed = np.ones(3 * r, dtype=bool)
    rows = np.flatnonzero(train)

    def loss(some: F64) -> float:
        b = np.zeros(3 * r)
        b[allowed] = some
        tilt = b[:r] * first + b[r : 2 * r] * rest + b[2 * r :]
        eta = np.log(share) + np.einsum("nr,nkr->nk", tilt, spread)
        log_p = eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))
        return float(0.05 * b @ b - log_p[rows, local[rows]].sum())

    while True:
        found = minimize(loss, np.zeros(int(allowed.sum())), method="BFGS", options={"gtol": 1e-7}).x
        out = np.zeros(3 * r)
        out[allowed] = found
        if not (out[: 2 * r] < 0).any():
            return out
        allowed[: 2 * r] &= out[: 2 * r] > 0


@pytest.mark.parametrize("ordered", [True, False])
def test_it_is_the_posterior_by_enumeration(ordered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    penalty = 3.0
    monkeypatch.setattr(label_regressions, "PENALTIES", (penalty,))
    data = small()
    known = "age" if ordered else "status"
    step = cf.Recode("age", width=4) if ordered else cf.Recode("status", mapping=NAMES)
    drop = ["row", "status" if ordered else "age"]
    release = cf.Plan([step], drop=drop).protect(data, seed=1)
    who = cf.Intruder.at("exact", knows=["sex", known])
    part = people_in_parts(prepare(who, release, None, None, merge=False).case)
    assert part is not None
    expected = twin(data, ordered, part, penalty)
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
