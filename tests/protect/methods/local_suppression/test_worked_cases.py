"""The worked cases: cells hidden by each rule, bounds and the optimum, and what an intruder claims."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.intruder import Intruder
from confide.frames.columns import Records, encode_column
from confide.protect.methods.local_suppression.exact import hide_exactly
from confide.protect.methods.local_suppression.pieces import key_codes, pieces_of
from tests.helpers.suppression import GUIDE, TEN, WIDOW, posterior

HEADS = cf.demo("heads").select("sex", "race", "marital", (pl.col("age") // 10).cast(pl.String))
CASES = {
    "ten values": (TEN, (1, 1), 2, 2, 1, 2),
    "the widow": (WIDOW, (1, 1), 3, 2, 1, 3),
    "guide": (GUIDE, (4, 1), 8, 8, 7, 8),
    "20 heads": (HEADS.head(20), None, 18, 18, 15, 23),
    "30 heads": (HEADS.head(30), None, 19, 18, 14, 25),
}


def told(frame: pl.DataFrame, **how: object) -> dict[str, object]:
    release = cf.Plan([cf.LocalSuppression(frame.columns, k=2, **how)]).protect(frame, seed=1)
    (found,) = release.details
    assert found["cells"] == sum(s.null_count() for s in release.data)
    return found


@pytest.mark.parametrize("name", CASES)
def test_cells_hidden(name: str) -> None:
    frame, wildcard, least, linear, distance, greedy = CASES[name]
    if wildcard is not None:
        found = told(frame, rule="wildcard")
        assert (found["cells"], found["least_candidates"]) == wildcard
        assert found["bound"] is None
    exact, quick = told(frame, how="exact"), told(frame)
    assert exact["cells"] == exact["cost"] == pytest.approx(exact["bound"]) == least
    assert exact["proved"]
    assert quick["bound"] == distance
    assert least <= quick["cells"] <= greedy
    assert quick["gap"] == pytest.approx(quick["cells"] / distance - 1)
    columns = [encode_column(s, "categorical") for s in frame]
    codes = key_codes(Records(columns), [c.codebook() for c in columns])
    pieces, _ = pieces_of(codes, np.ones(len(codes)), np.ones(len(codes), dtype=bool))
    assert hide_exactly(pieces, 2, np.ones(len(columns)), "").linear == pytest.approx(linear)
    assert exact["below_k"]["own"] == quick["below_k"]["own"] == exact["below_k"]["person"] == 0  # type: ignore[index]


def test_greedy_finds_the_least_of_small_cases() -> None:
    assert [told(CASES[name][0])["cells"] for name in CASES] == [2, 3, 8, 18, 20]


def ten() -> cf.Release:
    """Ten values of which c and one b are hidden, as another tool may have chosen."""
    released = pl.DataFrame({"v": [*"aaaaaabb", None, None]})
    return cf.Release.adopt(TEN, released, cf.Plan([cf.LocalSuppression("v", k=2)]), link=range(10))


@pytest.mark.parametrize(
    ("level", "claims", "a", "visible", "hidden", "c"),
    [("sdl", (1, 1, 0.5), 1 / 6, 1 / 3, 1 / 6, 1 / 2), ("average", (0.8333, 1.1538, 0.5), 0.139, 0.385, 0.115, 0.5)],
)
def test_claims_of_ten_values(
    level: str, claims: tuple[float, ...], a: float, visible: float, hidden: float, c: float
) -> None:
    release = ten()
    attack = Intruder.at(level, knows=["v"]).attack(release)
    shown = release.data["v"]
    for target, value in ((0, a), (6, visible), (9, c)):
        p = attack.posterior(target)
        own = TEN["v"][target]
        seen = p.filter(pl.Series([shown[r] == own for r in p["row"]]))["p"]
        gone = p.filter(pl.Series([shown[r] is None for r in p["row"]]))["p"]
        if own != "c":
            assert seen.to_numpy() == pytest.approx(np.full(len(seen), value), abs=5e-4)
        if own == "b":
            assert gone.to_numpy() == pytest.approx(np.full(2, hidden), abs=5e-4)
        if own == "c":
            assert gone.to_numpy() == pytest.approx(np.full(2, c), abs=5e-4)
    top = attack.units["p_max"].to_numpy()
    found = [top[:6].sum(), top[6:9].sum(), top[9]]
    assert found == pytest.approx(claims, abs=5e-4)


def test_posteriors_are_those_of_the_formula() -> None:
    frame = GUIDE.select("residence", "education", "labour")
    release = cf.Plan([cf.LocalSuppression(frame.columns, k=2)]).protect(frame, seed=1)
    assert release.link is not None
    levels = {v: {x: i for i, x in enumerate(frame[v].unique(maintain_order=True))} for v in frame.columns}
    true = [tuple(levels[v][x] for v, x in zip(frame.columns, row, strict=True)) for row in frame.rows()]
    shown: list[tuple[int, ...]] = [()] * len(true)
    for place, row in zip(release.link, release.data.rows(), strict=True):
        shown[place] = tuple(-1 if x is None else levels[v][x] for v, x in zip(frame.columns, row, strict=True))
    attack = cf.Intruder(knows=frame.columns).attack(release)
    for t in range(len(true)):
        p = np.zeros(len(true))
        found = attack.posterior(t)
        p[release.link[found["row"].to_numpy()]] = found["p"].to_numpy()
        assert p == pytest.approx(posterior(true, shown, t, True), abs=1e-9)


def test_one_variable_hidden_at_constant_rates_is_the_formula_too() -> None:
    release = ten()
    true = [("abc".index(v),) for v in TEN["v"]]
    shown = [(-1,) if v is None else ("abc".index(v),) for v in release.data["v"]]
    attack = Intruder.at("average", knows=["v"]).attack(release)
    for t in range(10):
        p = np.zeros(10)
        found = attack.posterior(t)
        p[found["row"].to_numpy()] = found["p"].to_numpy()
        assert p == pytest.approx(posterior(true, shown, t, False), abs=1e-9)


def test_hidden_by_a_rule_that_spares_safe_values() -> None:
    """Bound: values that k rows show are never hidden. a is then certain of its rows, and c and b share the rest."""
    attack = cf.Intruder(knows=["v"], guesses={"suppressed": "bound"}).attack(ten())
    shown = pl.DataFrame({"v": [*"aaaaaabb", None, None]})["v"]
    a, b, c = (attack.posterior(t).filter(pl.col("p") > 0) for t in (0, 6, 9))
    assert a["p"].to_numpy() == pytest.approx(np.full(6, 1 / 6))
    assert [shown[r] for r in b["row"]] == ["b", "b"]  # two rows show it: it counts as safe
    assert c["p"].to_numpy() == pytest.approx([0.5, 0.5])


def test_what_is_learnt_of_a_hidden_value_gives_rare_ones_more() -> None:
    """g_j(y) is proportional to e(y) Pr(hidden | y): the row that hides says c with 1/2 though c is one in ten."""
    frame = TEN.with_columns(sex=pl.lit("f"))
    released = pl.DataFrame({"v": [*"aaaaaabb", None, None], "sex": ["f"] * 10})
    plan = cf.Plan([cf.LocalSuppression("v", k=2)])
    release = cf.Release.adopt(frame, released, plan, link=range(10))
    guess = cf.Intruder(knows=["sex"]).attack(release).guess("v", smoothing=1e-9)
    found = dict(guess.predictive(0).rows())
    # Ten candidates as likely each: visible ones say themselves; a left-out person believes (5, 3, 1)/9 of the rest.
    e, hidden = np.array([5, 3, 1]) / 9, np.array([0, 1 / 3, 1.0])
    g = e * hidden / (e * hidden).sum()
    expected = np.array([6, 2, 0]) / 10 + 0.2 * g
    assert [found["a"], found["b"], found["c"]] == pytest.approx(expected, abs=1e-6)
