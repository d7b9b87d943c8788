"""LogisticSynthesis: what it draws, and that its coefficients are those of a plain Newton method."""

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.protect.methods.synthesis.logistic import RIDGE


def file(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n), rng.choice(["f", "m"], n)
    logits = np.stack([np.zeros(n), 0.05 * (age - 50), 1.0 * (sex == "m") - 0.5], axis=1)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    kind = np.array(["a", "b", "c"])[(rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)]
    return pl.DataFrame({"age": age, "sex": sex, "kind": kind})


def fitted(y, step):
    plan = cf.Plan([step])
    records = plan.encode(y)
    return step.fit(records, records, {}), records


def newton(x, y, classes, weight):
    """Probabilities that maximise the weighted likelihood with the ridge of the method, intercepts free."""
    n, p = x.shape
    x1, hot = np.column_stack([np.ones(n), x]), np.eye(classes)[y]
    beta, penalty = np.zeros((p + 1, classes)), np.repeat(np.r_[0.0, np.ones(p)] / RIDGE, classes)
    for _ in range(50):
        e = np.exp(x1 @ beta)
        q = e / e.sum(axis=1, keepdims=True)
        gradient = (x1.T @ (weight[:, None] * (hot - q))).ravel() - penalty * beta.ravel()
        middle = np.einsum("n,nk,kl->nkl", weight, q, np.eye(classes)) - np.einsum("n,nk,nl->nkl", weight, q, q)
        hessian = np.einsum("ni,nj,nkl->ikjl", x1, x1, middle).reshape((p + 1) * classes, -1) + np.diag(penalty)
        beta += np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0].reshape(p + 1, classes)
    e = np.exp(x1 @ beta)
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_the_plain_regression(weighted):
    found, _ = fitted(file(300), cf.LogisticSynthesis("kind", given=["age", "sex"]))
    weight = np.random.default_rng(1).exponential(size=300) if weighted else np.ones(300)
    weight *= 300 / weight.sum()
    slow = newton(found.x, found.y, 3, weight)
    np.testing.assert_allclose(found.probabilities(found.x, weight), slow, atol=2e-4)


def test_draws_follow_the_probabilities():
    y = file()
    found, _ = fitted(y, cf.LogisticSynthesis("kind", given=["age", "sex"], draw=False))
    p = found.probabilities(found.x, np.ones(len(y)))
    copies = cf.Plan([cf.LogisticSynthesis("kind", given=["age", "sex"], draw=False)]).protect(y, seed=1, copies=60)
    z = np.stack([c.data["kind"].to_numpy()[np.argsort(c.link)] for c in copies])
    share = np.stack([(z == k).mean(axis=0) for k in "abc"], axis=1)
    assert abs(((share - p) ** 2 / (p * (1 - p) / 60)).mean() - 1) < 0.1


def test_coefficients_are_drawn_once_per_copy():
    """The share of a category varies by the draws alone, or twice as much where coefficients are drawn as well."""
    y = pl.DataFrame({"kind": ["a"] * 30 + ["b"] * 70})
    spread = {}
    for draw in (False, True):
        copies = cf.Plan([cf.LogisticSynthesis("kind", draw=draw)]).protect(y, seed=2, copies=600)
        spread[draw] = np.var([(c["kind"] == "a").mean() for c in copies.data]) / (0.3 * 0.7 / 100)
    assert abs(spread[False] - 1) < 0.25
    assert abs(spread[True] - 2) < 0.5


def test_missing_values_are_a_category_and_relations_are_kept():
    y = file(6000).with_columns(kind=pl.when(pl.col("age") > 75).then(None).otherwise("kind"))
    z = cf.Plan([cf.LogisticSynthesis("kind", given=["age", "sex"], draw=False)]).protect(y, seed=1).data
    for f in (y, z):
        assert f.filter(pl.col("age") > 80)["kind"].null_count() > 0.8 * f.filter(pl.col("age") > 80).height
    men = [f.filter(sex="m", kind="c").height / f.filter(sex="m").height for f in (y, z)]
    assert abs(men[0] - men[1]) < 0.03


def test_numbers_and_too_many_predictors_are_refused():
    with pytest.raises(cf.InputError, match="categorical"):
        cf.Plan([cf.LogisticSynthesis("age", given="sex")], numeric=["age"]).protect(file(50), seed=1)
    with pytest.raises(cf.InputError, match="Name fewer predictors"):
        cf.Plan([cf.LogisticSynthesis("sex", given="age")], numeric=["age"]).protect(file(2), seed=1)
