"""Beliefs against slow twins that are written from the formulas: classes, absence, what a record's own values say."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

import confide as cf
from confide.attack.beliefs import multinomial
from confide.attack.beliefs.held_out import Held
from tests.helpers.belief_twin import ClassTwin
from tests.helpers.scenes import scenes
from tests.helpers.twin import SwapL, Way, columns


def people(n, seed, sizes=(2, 3, 4), labels=(2, 3), strength=1.0):
    """Labels x0, x1, ... and categories y0, y1, ... that depend on them, on each other and on pairs of labels."""
    rng = np.random.default_rng(seed)
    x, out = [rng.integers(0, s, n) for s in labels], []
    for size in sizes:
        eta = sum(strength * rng.normal(size=(9, size))[c] for c in [*x, *out])
        eta = eta + strength * rng.normal(size=(9, 9, size))[x[0], x[-1]]
        out.append(np.argmax(eta + rng.gumbel(size=eta.shape), axis=1))
    named = {**{f"x{i}": c for i, c in enumerate(x)}, **{f"y{i}": c for i, c in enumerate(out)}}
    return pl.DataFrame({v: [f"{v}{c}" for c in codes] for v, codes in named.items()})


def held_out(scene):
    """How much of each row of the file is held out."""
    return Held.of(scene.case.original).rows


def tuples(data, start):
    return list(data.select([v for v in data.columns if v.startswith(start)]).iter_rows())


@pytest.fixture
def choices(monkeypatch):
    """Which design, by its place, and which penalty the engine took, one fit after another."""
    out, plainly = [], multinomial._chosen

    def noted(designs, *given):
        found = plainly(designs, *given)
        out.append(([d.shape[1] for d in designs].index(found[0].shape[1]), found[1]))
        return found

    monkeypatch.setattr(multinomial, "_chosen", noted)
    return out


def classes_of(data):
    """The scene of an attack by somebody who knows all, with every y swapped."""
    release = cf.Plan([cf.Swap(v, rate=0.3) for v in data.columns if v[0] == "y"]).protect(data, seed=1)
    attack = cf.Intruder(knows=data.columns).attack(release, threads=1)
    (_, scene), *_ = scenes(attack)
    return scene


def gaps(scene, data, twin):
    """Largest differences between engine and twin, of log Pr and of Pr, over all cells and joint categories."""
    names = [v for v in data.columns if v[0] == "y"]
    each = [[scene.classes.columns[v].levels[c] for c in scene.classes.codes[v]] for v in names]
    rows, log_gap, gap = list(zip(*each, strict=True)), 0.0, 0.0
    for cell, labels in dict(zip(scene.cell_t, tuples(data, "x"), strict=True)).items():
        for k, row in enumerate(rows):
            slow, fast = twin.log_p(labels, row), scene.fit.believed.log_pi[cell, k]
            log_gap, gap = max(log_gap, abs(slow - fast)), max(gap, abs(math.exp(slow) - math.exp(fast)))
    return log_gap, gap


@pytest.mark.parametrize(("n", "seed", "strength"), [(60, 0, 0.5), (120, 1, 1.0), (200, 10, 1.0), (200, 18, 0.5)])
def test_classes_have_the_probabilities_of_the_model_that_held_out_records_choose(choices, n, seed, strength):
    """All designs with all penalties are fitted by another minimiser; the best and its product are the engine's."""
    data = people(n, seed, strength=strength)
    scene = classes_of(data)
    twin = ClassTwin(tuples(data, "x"), tuples(data, "y"), held_out(scene))
    assert choices[:3] == [
        (at.index(d), p) for at, (d, p) in zip(map(twin.designs, range(3)), twin.chosen, strict=True)
    ]
    log_gap, gap = gaps(scene, data, twin)
    assert log_gap < 2e-3
    assert gap < 2e-4


def test_probabilities_are_right_whatever_was_chosen(choices):
    data = people(400, 7, sizes=(3, 5), labels=(2, 3, 2))
    scene = classes_of(data)
    twin = ClassTwin(tuples(data, "x"), tuples(data, "y"), held_out(scene), choices[:2])
    log_gap, gap = gaps(scene, data, twin)
    assert log_gap < 1e-2
    assert gap < 1e-3


def test_what_only_two_labels_together_say_is_found(choices):
    """Labels that say nothing alone: the best penalty without pairs is the largest, the best with them a small one."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, 400), rng.integers(0, 4, 400)
    y = np.where(rng.random(400) < 0.3, rng.integers(0, 4, 400), (a + b) % 4)
    data = pl.DataFrame({v: [f"{v}{c}" for c in codes] for v, codes in (("x0", a), ("x1", b), ("y0", y))})
    scene = classes_of(data)
    twin = ClassTwin(tuples(data, "x"), tuples(data, "y"), held_out(scene))
    assert twin.chosen == [(("paired",), 1.0)]
    design, penalty = choices[0]
    assert twin.tried[0][twin.chosen[0]] - twin.tried[0][twin.designs(0)[design], penalty] < 0.5


# -- mistakes and absence -------------------------------------------------------------------------------------


def with_age(n, seed):
    """Two labels, a category y0 and an age in eight common values that depend on them."""
    data, rng = people(n, seed, sizes=(3,)), np.random.default_rng(seed)
    lean = data["x1"].str.slice(2).cast(pl.Int64).to_numpy() + (data["y0"] == "y00").to_numpy()
    return data.with_columns(age=pl.Series(np.clip(20 + 3 * np.round(5 + lean + 1.5 * rng.normal(size=n)), 29, 50)))


def told(data, wrong, sd, seed):
    """What somebody holds who is mistaken now and then."""
    rng = np.random.default_rng(seed)
    levels = sorted(set(data["y0"]))
    y = [
        c if rng.random() > wrong else levels[(levels.index(c) + rng.integers(1, len(levels))) % len(levels)]
        for c in data["y0"]
    ]
    out = data.with_columns(y0=pl.Series(y))
    return out if "age" not in data.columns else out.with_columns(age=data["age"] + rng.normal(0, sd, data.height))


def wrong_category(x, z, wrong, k):
    return 1 - wrong if x == z else wrong / (k - 1)


def normal(x, mean, sd):
    return math.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("off", [("y0",), ("age",), ("y0", "age")])
def test_absence_beside_certain_labels(off):
    """Pr(x given c) = sum_k Pr(k given c) Pr(x given k); w_j = Pr(x given z_j) / Pr(x given c) / N_t; w_0 = 1 - n_t/N_t."""
    data = with_age(600, 3).select("x0", "x1", *off)
    wrong, sd = 0.15, 2.0
    release = cf.Plan([cf.Sample(0.4)], numeric=[v for v in off if v == "age"]).protect(data, seed=1)
    targets = told(data, wrong, sd, 2) if "y0" in off else data.with_columns(
        age=data["age"] + np.random.default_rng(2).normal(0, sd, data.height)
    )  # fmt: skip
    errors = {v: {"y0": wrong, "age": sd}[v] for v in off}
    who = cf.Intruder(knows=data.columns, errors=errors, membership="in_file")
    attack = who.attack(release, targets, truth=np.arange(data.height), threads=1)
    (_, scene), *_ = scenes(attack)
    values = list(data.select(off).iter_rows())
    twin = ClassTwin(tuples(data, "x"), values, held_out(scene))
    k_y = data["y0"].n_unique() if "y0" in off else 0

    def p_known(x, z):
        return math.prod(
            wrong_category(a, b, wrong, k_y) if v == "y0" else normal(a, b, sd)
            for v, a, b in zip(off, x, z, strict=True)
        )

    labels, labels_r = tuples(data, "x"), tuples(release.data, "x")
    seen = list(release.data.select(off).iter_rows())
    joint = list(dict.fromkeys(values))
    for i in range(0, data.height, 23):
        x = targets.select(off).row(i)
        mine = [j for j, c in enumerate(labels_r) if c == labels[i]]
        people_there = labels.count(labels[i])
        pi = np.array([math.exp(twin.log_p(labels[i], k)) for k in joint])
        p_x = sum(p * p_known(x, k) for p, k in zip(pi / pi.sum(), joint, strict=True))
        w = {j: p_known(x, seen[j]) / p_x / people_there for j in mine}
        w_0 = 1 - len(mine) / people_there
        total = w_0 + sum(w.values())
        assert attack.units["p_absent"][i] == pytest.approx(w_0 / total, abs=2e-2 if len(off) > 1 else 5e-3)
        found = attack.posterior(i)
        for j, p in zip(found["row"], found["p"], strict=True):
            assert p == pytest.approx(w[j] / total, abs=4e-3, rel=5e-2)


@pytest.mark.parametrize("membership", ["certain", "in_file"])
@pytest.mark.parametrize("step", [cf.Swap("y1", rate=0.3), cf.Pram("y1", retention=0.7)])
def test_what_goes_with_a_value_that_may_be_mistaken(step, membership):
    r"""w_j = Pr(x|z_j) Pr(kappa|z_j, l) / Pr(x, kappa|l) * Pr(z^p_j|kappa) / Pr(z^p_j|z_j, l)."""
    data = people(400, 5, sizes=(2, 4), strength=1.5)
    wrong, kappas = 0.2, sorted(set(data["y1"]))
    release = cf.Plan([step, cf.Sample(0.5)]).protect(data, seed=1)
    targets = told(data, wrong, 0, 2)
    who = cf.Intruder(knows=data.columns, errors={"y0": wrong}, membership=membership)
    truth = np.arange(data.height) if membership == "in_file" else np.sort(release.link)
    targets = targets[truth]
    attack = who.attack(release, targets, truth=truth, threads=1)
    (_, scene), *_ = scenes(attack)
    held, labels, labels_r = held_out(scene), tuples(data, "x"), tuples(release.data, "x")
    given = ClassTwin([(*c, y) for c, y in zip(labels, data["y0"], strict=True)], [(y,) for y in data["y1"]], held)
    both = ClassTwin(labels, tuples(data, "y"), held)
    z = release.data
    if isinstance(step, cf.Swap):
        swap = SwapL(step, ["y1"], {"y1": Way([step], "y1")}, columns(z), z.height, columns(data))
        likelihood = {(k, j): swap((k,), j) for k in kappas for j in range(z.height)}
    else:
        share = {k: (data["y1"] == k).mean() for k in kappas}
        likelihood = {
            (k, j): 0.7 * (k == b) + 0.3 * share[b] for k in kappas for j, b in enumerate(z["y1"])
        }  # fmt: skip
    for i in range(0, len(truth), 17):
        l_t, x, kappa = targets.select("x0", "x1").row(i), targets["y0"][i], targets["y1"][i]
        p_both = sum(
            math.exp(both.log_p(l_t, (k, kappa))) * wrong_category(x, k, wrong, 2) for k in sorted(set(data["y0"]))
        )
        w = {}
        for j in (j for j, c in enumerate(labels_r) if c == l_t):
            z_j = z["y0"][j]
            p_k = {k: math.exp(given.log_p((*l_t, z_j), (k,))) for k in kappas}
            w[j] = wrong_category(x, z_j, wrong, 2) * p_k[kappa] / p_both
            w[j] *= likelihood[kappa, j] / sum(p_k[k] * likelihood[k, j] for k in kappas)
        people_there = labels.count(l_t) if membership == "in_file" else len(w)
        w_0 = people_there - len(w)
        total = w_0 + sum(w.values())
        if membership == "in_file":
            assert attack.units["p_absent"][i] == pytest.approx(w_0 / total, abs=2e-2)
        found = attack.posterior(i)
        for j, p in zip(found["row"], found["p"], strict=True):
            assert p == pytest.approx(w[j] / total, abs=4e-3, rel=5e-2)


@pytest.mark.parametrize("sd", [3.0, 8.0])
def test_a_mistaken_noisy_number_beside_a_swapped_category(sd):
    """Pr(z|x,c) = sum_g e_g(x,c) Pr(z|y_g), e_g going with Pr(y_g given cell and class) N(x; y_g, e)."""
    data, e = with_age(400, 4).drop("x1"), 2.5
    steps = [cf.Swap("y0", rate=0.3), cf.Noise("age", sd=sd)]
    release = cf.Plan(steps, numeric=["age"]).protect(data, seed=1)
    targets = data.with_columns(age=data["age"] + np.random.default_rng(3).normal(0, e, data.height))
    attack = cf.Intruder(knows=data.columns, errors={"age": e}).attack(
        release, targets, truth=np.arange(data.height), threads=1
    )
    (_, scene), *_ = scenes(attack)
    z, levels = release.data, sorted(set(data["y0"]))
    twin = ClassTwin([(c,) for c in data["x0"]], [(y,) for y in data["y0"]], held_out(scene))
    swap = SwapL(steps[0], ["y0"], {"y0": Way(steps, "y0")}, columns(z), z.height, columns(data))
    belief = next(n.belief for n in scene.fit.believed.numbers if n.variable == "age")
    nodes, at = belief.nodes.values, np.arange(len(belief.nodes.values))
    names = [scene.classes.columns["y0"].levels[c] for c in scene.classes.codes["y0"]]
    half = 0.0 if (z["age"] % 1 != 0).any() else 0.5
    for i in range(0, data.height, 37):
        mass = belief.law.mass(belief.nodes, at, np.full(len(at), scene.cell_t[i]))
        mass = {y: mass[:, names.index(y)] / mass[:, names.index(y)].sum() for y in levels}
        p_k = {y: math.exp(twin.log_p((data["x0"][i],), (y,))) for y in levels}
        w = {}
        for j in np.flatnonzero((z["x0"] == data["x0"][i]).to_numpy()).tolist():
            if half:
                seen = ndtr((z["age"][j] + half - nodes) / sd) - ndtr((z["age"][j] - half - nodes) / sd)
            else:
                seen = np.array([normal(z["age"][j], y, sd) for y in nodes])
            known = mass[data["y0"][i]] * np.exp(-0.5 * ((targets["age"][i] - nodes) / e) ** 2)
            w[j] = swap((data["y0"][i],), j) * (known @ seen) / known.sum()
            w[j] /= sum(p_k[y] * swap((y,), j) * (mass[y] @ seen) for y in levels)
        found = attack.posterior(i)
        for j, p in zip(found["row"], found["p"], strict=True):
            assert p == pytest.approx(w[j] / sum(w.values()), abs=1e-4, rel=1e-2)
