"""Absence beside every kind of knowledge: of all who are given 0.8 to be absent, 80 percent are; in every group too.

A population file, samples of it, and everybody in the population attacked. The variance of a sum of claims is that of
independent trials, which is more than a sample of fixed size has.
"""

import numpy as np
import polars as pl
import pytest
from scipy.special import logsumexp, ndtr

import confide as cf
from confide.attack.beliefs.absence import Bins, Error
from tests.helpers.scenes import scenes

ALL = ["sex", "race", "marital", "age"]
EXACT = {"unavailable": "exact", "others": "exact"}
SWAP, NOISE = cf.Swap("marital", rate=0.3), cf.Noise("hh_income", relative=0.1)
MEASURED = cf.MeasurementError("age", noise_sd=2, absent="file")

CASES = {
    "age off": ([], ALL, {"age": 2.0}, {}),
    "age in fives off": ([cf.Recode("age", width=5)], ALL, {"age": 2.0}, {}),
    "age topcoded off": ([cf.Topcode("age", at=75)], ALL, {"age": 2.0}, {}),
    "marital off": ([], ALL, {"marital": 0.1}, {}),
    "marital recoded, off": (
        [cf.Recode("marital", mapping={"separated": "divorced"})], ALL, {"marital": 0.1}, {},
    ),
    "age and marital off": ([], ALL, {"age": 2.0, "marital": 0.1}, {}),
    "age and income off": ([], ["sex", "marital", "age", "hh_income"], {"age": 2.0, "hh_income": 4_000.0}, {}),
    "swapped marital, off": ([SWAP], ALL, {"marital": 0.1}, {}),
    "age off, marital swapped": ([SWAP], ALL, {"age": 2.0}, {}),
    "age off, marital swapped, average": ([SWAP], ALL, {"age": 2.0}, {
        "available": "average", "unavailable": "average", "others": "average",
        "believes": [cf.Swap("marital", rate=0.3)],
    }),
    "age off, marital swapped and unknown": ([SWAP], ["sex", "race", "age"], {"age": 2.0}, {}),
    "age off, others ignored": ([], ALL, {"age": 2.0}, {"unavailable": "ignore", "others": "ignore"}),
    "age off, income noisy": ([NOISE], ["sex", "marital", "age", "hh_income"], {"age": 2.0}, {}),
    "age off, exact": ([SWAP], ALL, {"age": 2.0}, EXACT),
    "income noisy, off": ([NOISE], ["sex", "marital", "hh_income"], {"hh_income": 8_000.0}, {}),
    "age noisy, off": ([cf.Noise("age", sd=3)], ALL, {"age": 2.0}, {}),
    "interval of a kept number, age off": ([], ["sex", "marital", "age"], {"age": 2.0}, {
        "between": {"hh_income": ("low", "high")},
    }),
    "interval of a noisy number, age off": ([NOISE], ["sex", "marital", "age"], {"age": 2.0}, {
        "between": {"hh_income": ("low", "high")},
    }),
    "measured": ([MEASURED], ALL, {}, {}),
    "measured beside a swap": ([MEASURED, SWAP], ALL, {}, {}),
    "microaggregated": ([cf.Microaggregate("age", k=5)], ALL, {}, {}),
}  # fmt: skip


def mistaken(people: pl.DataFrame, errors: dict[str, float], rng: np.random.Generator) -> pl.DataFrame:
    """What an intruder holds who is off by the errors stated."""
    for v, size in errors.items():
        if people[v].dtype.is_numeric():
            people = people.with_columns(pl.Series(v, people[v].to_numpy() + rng.normal(0, size, people.height)))
        else:
            levels, code = np.unique(people[v].cast(pl.String).to_numpy(), return_inverse=True)
            other = (code + rng.integers(1, len(levels), len(code))) % len(levels)
            told = levels[np.where(rng.random(len(code)) < size, other, code)]
            people = people.with_columns(pl.Series(v, told.tolist(), dtype=people[v].dtype))
    cuts = np.array([0, 20_000, 40_000, 70_000, 120_000])
    at = np.searchsorted(cuts, people["hh_income"].to_numpy(), side="right")
    ends = [None, *cuts.tolist()], [*(cuts - 1).tolist(), None]
    return people.with_columns(low=pl.Series([ends[0][i] for i in at]), high=pl.Series([ends[1][i] for i in at]))


def outcome(case: str, seeds: range, rows: int = 6_000) -> pl.DataFrame:
    """Claims and truth of everybody in the population, over some samples."""
    steps, knows, errors, options = CASES[case]
    people, out = cf.demo("heads").head(rows), []
    for seed in seeds:
        plan = cf.Plan([cf.Sample(0.3), *steps], identifiers="id")
        release = plan.protect(people, seed=seed)
        seen = cf.simulate_targets(people, cf.Plan(steps), seed=seed) if MEASURED in steps else people
        targets = mistaken(seen, errors, np.random.default_rng(seed))
        who = cf.Intruder(knows=knows, errors=errors, membership="in_file", **options)
        found = who.attack(release, targets, truth=np.arange(rows), threads=1)
        share = found.units["hit"].fill_null(False) / found.units["n_max"].clip(1)
        out.append(found.units.with_columns(
            absent=pl.Series((found.own_rows < 0).astype(float)), right=share, group=people["marital"].cast(pl.String),
            sex=people["sex"].cast(pl.String),
        ))  # fmt: skip
    return pl.concat(out)


def z(table: pl.DataFrame, claimed: str, true: str) -> float:
    """How far claims are from the truth, in standard errors."""
    p = table[claimed].to_numpy()
    return float((table[true].sum() - p.sum()) / max(np.sqrt((p * (1 - p)).sum()), 1e-9))


def groups(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    some = {g: table.filter(pl.col("group") == g) for g in ("widowed", "never married")}
    return {"all": table, **some, "one sex": table.filter(pl.col("sex") == table["sex"][0])}


def test_the_belief_in_somebody_unseen_is_the_sum_over_the_file() -> None:
    """Without labels: the mean over the file of the mistake's density, to the precision of merging values."""
    rng = np.random.default_rng(1)
    y = np.round(rng.gamma(3, 15, 3_000))
    y[:400] = 20  # common enough for a bin of its own
    bins, of = Bins.of(y, None, 32, Error(4.0))
    x = np.array([-3.0, 0.0, 19.5, 20.0, 33.3, 90.0, y.max() + 9])
    share = np.log(np.bincount(of) / len(y))
    found = logsumexp(bins.log_known(x) + share, axis=1)
    plainly = logsumexp(-0.5 * ((x[:, None] - y) / 2) ** 2, axis=1) - np.log(len(y) * 2 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(found, plainly, atol=5e-3)
    alone = np.flatnonzero(bins.values[bins.starts] == 20)[0]
    assert np.sum(of == alone) == np.sum(y == 20)


@pytest.mark.parametrize("step", [cf.Noise("age", sd=3), cf.Noise("hh_income", sd=9_000)])
def test_a_mistaken_noisy_number_is_averaged_over_belief(step: cf.Noise) -> None:
    """Pr(z given x) = sum over y of Pr(y given cell) N(x; y, e) Pr(z given y), over the same without z."""
    (v,) = step.variables
    people = cf.demo("heads").head(1_500)
    e = 2.0 if v == "age" else 6_000.0
    release = cf.Plan([step], identifiers="id").protect(people, seed=1)
    targets = mistaken(people, {v: e}, np.random.default_rng(1)).head(40)
    attack = cf.Intruder(knows=["sex", v], errors={v: e}).attack(release, targets, truth=np.arange(40), threads=1)
    (_, scene), *_ = scenes(attack)
    number = next(n for n in scene.fit.believed.numbers if n.variable == v)
    belief, z = number.belief, release.data[v].to_numpy().astype(float)
    nodes = belief.nodes.values
    for i in range(0, 40, 7):
        p = belief.law.mass(belief.nodes, np.arange(len(nodes)), np.full(len(nodes), scene.cell_t[i]))[:, 0]
        known = p * np.exp(-0.5 * ((targets[v][i] - nodes) / e) ** 2)
        seen = ndtr((z[:, None] + 0.5 - nodes) / step.sd) - ndtr((z[:, None] - 0.5 - nodes) / step.sd)
        weight = (seen @ (known / known.sum())) / (seen @ (p / p.sum()))
        weight *= (release.data["sex"] == people["sex"][i]).to_numpy()
        found = attack.posterior(i).sort("row")
        wanted = (weight / weight.sum())[found["row"].to_numpy()]
        np.testing.assert_allclose(found["p"], wanted, rtol=2e-3, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_absence_is_as_probable_as_claimed(case: str) -> None:
    table = outcome(case, range(2))
    for name, part in groups(table).items():
        assert abs(z(part, "p_absent", "absent")) < 3, (name, z(part, "p_absent", "absent"))
        assert abs(z(part, "p_max", "right")) < 3.5, (name, z(part, "p_max", "right"))
