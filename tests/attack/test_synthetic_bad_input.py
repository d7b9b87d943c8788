"""What people get wrong about intruders who face synthetic data, and what they are told."""

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.show.charts.charts import save_chart


def file(n=120, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    return pl.DataFrame({
        "sex": sex, "age": rng.integers(20, 60, n), "pay": rng.normal(50, 9, n).round(1) + 9 * (sex == "m"),
        "wealth": rng.lognormal(3, 1, n).round(1), "rent": rng.choice(["yes", "no"], n),
    })  # fmt: skip


DRAWN = cf.QuantileRegression("pay", given=["sex", "age"], quantiles=9)
DECK = cf.HotDeck("wealth", match="pay", within="sex", window=5)


def attacked(*steps, knows=("sex", "age", "pay"), level="sdl", **options):
    release = cf.Plan(list(steps), drop=options.pop("drop", ["rent"])).protect(file(), seed=1)
    return cf.Intruder.at(level, knows=list(knows), **options).attack(release)


MISTAKES = {
    "guesses as a list": (lambda: cf.Intruder(knows=["sex"], guesses=[("tau", 0.5)]), "guesses is a table"),
    "a guess about nothing": (lambda: attacked(DRAWN, guesses={"tua": 0.5}), 'Did you mean "tau"'),
    "tau": (lambda: attacked(DRAWN, guesses={"tau": 50}), "a number between 0 and 1"),
    "caliper": (lambda: attacked(DRAWN, guesses={"caliper": 0}), "a distance above zero"),
    "widen": (lambda: attacked(DRAWN, guesses={"widen": 2}), "true or false"),
    "window": (lambda: attacked(DRAWN, DECK, guesses={"window": 0.1}), "not a share"),
    "a variable without it": (lambda: attacked(DRAWN, DECK, guesses={"window": {"pay": 3}}), 'no "window" of "pay"'),
    "a method without guesses": (
        lambda: attacked(cf.Noise("pay", sd=3), guesses={"tau": 0.5}),
        'no step of the plan has something called "tau"',
    ),
    "threads of a grid": (lambda: attacked(DRAWN).grid(threads=0), "threads must be a whole number"),
    "level": (lambda: cf.Intruder.at("super naive", knows=["sex"]), "super_naive"),
    "mistakes about it": (lambda: attacked(DRAWN, errors={"pay": 3.0}), "is synthetic"),
    "mistakes about it, exact": (
        lambda: attacked(DRAWN, errors={"pay": 3.0}, level="exact", drop=[]),
        "leave it out of errors",
    ),
    "recoded": (
        lambda: attacked(DRAWN, cf.Recode("pay", width=10)),
        "compares numbers",
    ),
    "mixed match": (
        lambda: attacked(
            DRAWN, cf.HotDeck("wealth", match=["pay", "age"], within="sex"), level="exact", knows=["sex", "wealth"]
        ),
        "neither all kept nor all synthetic",
    ),
    "match on a hot deck that kept values found": (
        lambda: attacked(
            cf.HotDeck("wealth", match="age", within="sex", window=5),
            cf.HotDeck("pay", match="wealth", within="sex"),
            level="exact",
            knows=["sex", "pay"],
        ),
        "neither all kept nor all synthetic",
    ),
    "a density beside absence": (
        lambda: cf.Intruder(knows=["sex", "age", "pay"], membership=cf.Unsure(total=999), others="ignore").attack(
            cf.Plan([DRAWN]).protect(file(), seed=1)
        ),
        "cannot be compared",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        do()


def test_intervals_of_a_drawn_value():
    release = cf.Plan([DRAWN], drop=["rent"]).protect(file(), seed=1)
    targets = file().with_columns(low=pl.col("pay") - 1, high=pl.col("pay") + 1)
    who = cf.Intruder(knows=["sex", "age"], between={"pay": ("low", "high")})
    with pytest.raises(cf.InputError, match="is synthetic"):
        who.attack(release, targets, truth=np.arange(120))
    exact = cf.Intruder.at("exact", knows=["sex", "age"], between={"pay": ("low", "high")})
    units = exact.attack(release, targets, truth=np.arange(120)).units
    assert np.allclose(units["p_true"], 1 / units["candidates"])


def test_the_printout_says_what_is_synthetic():
    attack = attacked(DRAWN, level="exact", drop=[])
    assert {t.variable: t.evidence for t in attack.treatments}["pay"] == "synthetic"
    assert "synthetic" in repr(attack)


def test_a_release_made_by_another_tool():
    y = file()
    z = cf.Plan([DRAWN], drop=["rent"]).protect(y, seed=9)
    adopted = cf.Release.adopt(y, z.data, cf.Plan([DRAWN], drop=["rent"]), link=z.link)
    own = cf.Intruder(knows=["sex", "age", "pay"]).attack(z).units
    assert cf.Intruder(knows=["sex", "age", "pay"]).attack(adopted).units.equals(own)


@pytest.mark.slow
def test_the_heat_map_holds_its_numbers(tmp_path):
    grid = attacked(DRAWN, DECK, knows=["sex", "age", "pay", "wealth"]).grid(progress=False)
    save_chart(grid.plot(), tmp_path / "grid.svg")
    text = (tmp_path / "grid.svg").read_text()
    for r in grid.frame.iter_rows(named=True):
        shown = f"{r['claimed']:,.0f}" if r["claimed"] >= 10 else f"{r['claimed']:.1f}"
        assert f"claims {shown}" in text
    assert "does not fit" not in text
    assert "What each choice of an intruder gets right" in text


def test_documents_hold_guesses_and_steps():

    who = cf.Intruder(knows=["sex"], guesses={"tau": 0.5, "window": {"wealth": 3}})
    assert cf.Intruder.from_dict(who.to_dict()).guesses == who.guesses


def test_an_average_intruder_reads_recoded_predictors_as_released():
    """Recoded by the plan or beforehand: the same release, and the same intruder who fits models to it."""
    late = cf.Plan([cf.Recode("age", width=10), DRAWN], drop=["rent"]).protect(file(), seed=1, draws="shared")
    early = cf.Plan([cf.Recode("age", width=10)]).protect(file(), seed=1, draws="shared")
    before = early.data[np.argsort(early.link)]
    release = cf.Plan([DRAWN], drop=["rent"]).protect(before, seed=1, draws="shared")
    assert release.data["pay"].equals(late.data["pay"])
    units = [cf.Intruder.at("average", knows=["sex", "age", "pay"]).attack(r).units for r in (late, release)]
    np.testing.assert_allclose(units[0]["p_true"], units[1]["p_true"], rtol=1e-9)
