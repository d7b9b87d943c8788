"""Posteriors of units that have several rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.special import ndtri
from scipy.stats import norm

import confide as cf
from confide.attack.beliefs.homes import Reference, number_home
from confide.attack.beliefs.homes_of_rows import NumberHomes
from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.engine import other_rows, unit_sums
from confide.attack.engine.prepare import prepare
from tests.helpers.panels import panel
from tests.helpers.unit_twin import at_home, unit_weights

KINDS = ["region", "sex", "job", "quarter"]


def test_units_agree_with_the_formula_written_as_loops() -> None:
    data = panel(30, 3, change=0.2, seed=5, ragged=True).select("household", "sex", "job")
    plan = cf.Plan([cf.Pram("job", retention=0.7)], categorical=["sex", "job"], unit="household")
    release = plan.protect(data, seed=2)
    attack = cf.Intruder(knows=["sex", "job"]).attack(release, threads=1)
    y, unit = data["job"].to_list(), data["household"].to_numpy()
    levels = sorted(set(y))
    pi, like = _beliefs(attack, levels), np.exp(_likelihoods(attack, levels))
    kappa = at_home([levels.index(c) for c in y], unit.tolist(), [pi[s] for s in data["sex"]])
    assert release.link is not None
    owner, mine = unit[release.link].tolist(), [pi[s] for s in release.frame["sex"]]
    for target in range(0, attack.units.height, 7):
        row = int(np.sort(release.link)[target])
        block = (release.frame["sex"] == data["sex"][row]).to_list()
        w = unit_weights(levels.index(y[row]), block, owner, like, mine, kappa)
        total = sum(w.values())
        assert attack.units["p_true"][target] == pytest.approx(w[int(unit[row])] / total, abs=1e-9)
        assert attack.units["p_max"][target] == pytest.approx(max(w.values()) / total, abs=1e-9)
        assert attack.units["candidates"][target] == len(w)


def _beliefs(attack: cf.Attack, levels: list[int]) -> dict[int, np.ndarray]:
    """Pr(category) given sex, as part A believes it."""
    _, scene, _ = next(prepare(attack.intruder, attack.release, None, None, merge=False).scenes())
    p, job = np.exp(scene.fit.believed.log_pi), scene.case.original["job"]
    order = [scene.classes.frames[0]["job"].values.tolist().index(job.levels.index(c)) for c in levels]
    sex = scene.case.original["sex"]
    cell = {
        sex.levels[int(sex.values[i])]: int(scene.fit.believed.cells.place([np.array([sex.values[i]])], 1)[0])
        for i in range(sex.values.size)
    }
    return {s: p[c][order] for s, c in cell.items()}


def _likelihoods(attack: cf.Attack, levels: list[int]) -> np.ndarray:
    """log Pr(z_j given each category), from the step's own evidence."""
    _, scene, _ = next(prepare(attack.intruder, attack.release, None, None, merge=False).scenes())
    (u,) = scene.uncertain
    r = scene.case.released.n
    job = scene.case.original["job"]
    first = np.array([job.values.tolist().index(job.levels.index(c)) for c in levels])
    t = u.like.target(scene.case.original.take(first))
    return np.array([u.like.log({k: v[[i] * r] for k, v in t.items()}, u.like.record) for i in range(len(levels))])


def test_one_row_per_unit_is_an_attack_on_records() -> None:
    data = panel(300, 1, seed=3)
    plan = [cf.Swap("job", rate=0.3), cf.Noise("income", relative=0.3)]
    release = cf.Plan(plan, identifiers=["household"], categorical=KINDS).protect(data, seed=1)
    who = {"knows": ["sex", "job", "income"]}
    records, units = (cf.Intruder(**who, unit=u).attack(release, threads=1).units for u in (None, "household"))
    for column in ("p_true", "p_max", "candidates", "n_max", "hit", "rank", "as_likely", "p_absent"):
        a, b = records[column].to_numpy().astype(float), units[column].to_numpy().astype(float)
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True), column


def test_nothing_altered_gives_shares_of_rows() -> None:
    data = panel(60, 4, seed=2, ragged=True).select("household", "region", "sex")
    release = cf.Plan([], categorical=["region", "sex"], unit="household").protect(data, seed=1)
    units = cf.Intruder(knows=["region", "sex"]).attack(release, threads=1).units
    size = data.with_columns(own=pl.len().over("household"), block=pl.len().over("region", "sex"))
    assert np.allclose(units["p_true"].to_numpy(), (size["own"] / size["block"]).to_numpy())


def test_a_posterior_lists_rows_and_their_units() -> None:
    data = panel(80, 4, seed=4)
    plan = cf.Plan([cf.Swap("job", rate=0.2), cf.Noise("income", relative=0.3)], categorical=KINDS, unit="household")
    attack = cf.Intruder(knows=["sex", "job", "income"]).attack(plan.protect(data, seed=1), threads=1)
    found = attack.posterior(9)
    assert found.columns == ["row", "p", "unit", "p_unit"]
    assert found["p"].sum() == pytest.approx(1)
    assert found["p_unit"][0] == pytest.approx(attack.units["p_max"][9])
    own = found.filter(pl.col("unit") == attack.units["unit"][9])
    assert own["p"].sum() == pytest.approx(attack.units["p_true"][9])
    assert attack.units["unit"][9] == 8  # the first row of the ninth target's household
    assert "other rows of the unit" in attack.explain(9).frame["part"].to_list()
    assert int(attack.ranks(3)["targets"].sum()) == 320


def test_threads_change_nothing() -> None:
    data = panel(150, 3, seed=6)
    plan = cf.Plan([cf.Swap("job", rate=0.2), cf.Noise("income", relative=0.3)], categorical=KINDS, unit="household")
    release = plan.protect(data, seed=1)
    who = cf.Intruder(knows=["region", "sex", "job", "income"])
    assert who.attack(release, threads=1).units.equals(who.attack(release, threads=3).units)


@pytest.mark.parametrize("few", [0, 10_000])
def test_units_of_many_alike_people_are_ranked_as_one_by_one(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where some units are not released."""
    data = panel(90, 3, seed=7, ragged=True)
    plan = cf.Plan([cf.Sample(0.6, per="unit"), cf.Swap("job", rate=0.3)], categorical=KINDS, unit="household")
    release, who = plan.protect(data, seed=1), cf.Intruder(knows=["sex", "job"], membership="in_file")
    whole = who.attack(release)
    monkeypatch.setattr(unit_sums, "FEW", few)
    assert who.attack(release).units.equals(whole.units)
    assert whole.units["rank"].max() > 5  # type: ignore[operator]


def test_homes_of_numbers_are_normal() -> None:
    """Where scores are the values themselves, a released value given its home is normal."""
    n, sd = 2000, 0.4
    rng = np.random.default_rng(1)
    h = np.repeat(rng.standard_normal(n // 2), 2)
    s = 0.8**0.5 * h + 0.2**0.5 * rng.standard_normal(n)
    value = np.empty(n)
    value[np.argsort(s)] = ndtri((np.arange(n) + 0.5) / n)
    data = pl.DataFrame({"u": np.repeat(np.arange(n // 2), 2), "x": value})
    release = cf.Plan([cf.Noise("x", sd=sd)], unit="u").protect(data, seed=1)
    ready = prepare(cf.Intruder(knows="x"), release, None, None)
    _, scene, _ = next(ready.scenes())
    (u,) = scene.uncertain
    assert ready.groups is not None
    here, unit = np.zeros(n, dtype=np.int64), UnitRows(ready.groups.original, None, n)
    about = Reference(sp.csr_matrix(np.ones((1, 1))), here, np.ones(n), unit)
    home = number_home(u, scene.case.original, about)
    assert home is not None
    homes = NumberHomes.of(u, home, here, scene.targets, here)
    rho = float(np.corrcoef(value[::2], value[1::2])[0, 1])
    grid = rho**0.5 * np.linspace(-4.5, 4.5, homes.size)
    near = np.abs(grid) < 1.5
    expected = norm.logpdf(release.frame["x"].to_numpy()[:50, None], grid[near], (1 - rho + sd**2) ** 0.5)
    found = homes.log_seen(np.arange(50))[:, near]
    far = expected < expected.max(axis=1, keepdims=True) - 5
    gap = (found - found.max(axis=1, keepdims=True)) - (expected - expected.max(axis=1, keepdims=True))
    assert np.abs(gap[~far]).max() < 0.1


@pytest.mark.parametrize(
    ("intruder", "words"),
    [
        (cf.Intruder(knows="sex", unit="house"), "no column"),
        (cf.Intruder(knows="household"), "belong together"),
        (cf.Intruder(knows="sex", membership=cf.Unsure(total=10_000)), "populations of units"),
        (cf.Intruder(knows="sex", membership="in_file"), "single rows of units"),
    ],
)
def test_what_cannot_be_said_of_units_is_refused(intruder: cf.Intruder, words: str) -> None:
    plan = cf.Plan([cf.Sample(0.8)], categorical=KINDS, unit="household")
    with pytest.raises(cf.InputError, match=words):
        intruder.attack(plan.protect(panel(20, 3), seed=1))


@pytest.mark.parametrize("together", [1, 60, 10_000])
def test_other_rows_of_a_block_alone_say_what_those_of_the_file_say(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file has too many rows for it to be kept; rows of a unit lie in several blocks."""
    data = panel(60, 4, seed=3, ragged=True).sample(fraction=1.0, shuffle=True, seed=2)
    plan = cf.Plan([cf.Swap("job", rate=0.3), cf.Noise("income", relative=0.3)], categorical=KINDS, unit="household")
    release, who = plan.protect(data, seed=1), cf.Intruder(knows=["sex", "quarter", "job", "income"])
    whole = who.attack(release)
    monkeypatch.setattr(other_rows, "HELD", 0)
    monkeypatch.setattr(other_rows, "TOGETHER", together)
    parts = who.attack(release)
    for column in ("p_true", "p_max"):
        np.testing.assert_allclose(parts.units[column], whole.units[column], rtol=1e-12)
    assert parts.units.select("rank", "candidates", "hit").equals(whole.units.select("rank", "candidates", "hit"))
    assert parts.posterior(9)["row"].equals(whole.posterior(9)["row"])
