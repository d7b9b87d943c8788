"""Results of guesses: summary, groups, harm, coverage, pictures, several variables, and the compiled densities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.attributes.harm import harm
from confide.attack.learning.attributes.loss_limits import Exceeds
from confide.attack.learning.attributes.loss_values import ZeroOne
from confide.attack.learning.attributes.normal_pairs import add_normal
from confide.attack.learning.attributes.summary import summarise_guess
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import take


@pytest.fixture(scope="module")
def found() -> cf.Guesses:
    heads = cf.demo("heads").head(600)
    release = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(
        heads, seed=1
    )
    return cf.Intruder(knows=["sex", "race", "age"]).attack(release).guess(["tenure", "hh_income"])


def test_the_summary_is_made_of_the_frame(found: cf.Guesses) -> None:
    for g in found:
        s, f = g.summary(), g.frame
        assert s.loss == pytest.approx(f["loss"].mean())
        adds = (f["loss_relations"] - f["loss"]).to_numpy()
        assert s.release_gained == pytest.approx(adds[adds > 0].sum())
        assert s.release_lost == pytest.approx(-adds[adds < 0].sum())
        assert s.release_adds == pytest.approx(adds.sum())
        assert s.taking_part_adds == pytest.approx((f["loss_without_person"] - f["loss"]).sum())
        assert s.people == 600
        assert "the release adds" in str(s)


def test_weights_count_people(found: cf.Guesses) -> None:
    g = found["tenure"]
    w = g.attack.release.original["weight"].to_numpy()
    s = g.summary(weight="weight")
    assert s.people == pytest.approx(w.sum())
    assert s.loss == pytest.approx(np.average(g.frame["loss"].to_numpy(), weights=w))
    assert "by survey weight" in str(s)
    same = summarise_guess(g, np.ones(600))
    assert same.loss == pytest.approx(g.summary().loss)


def test_groups_add_up(found: cf.Guesses) -> None:
    g = found["hh_income"]
    for variable in ("race", "age", "n_persons"):
        by = g.by(variable)
        assert by["people"].sum() == 600
        assert (by["loss"] * by["people"]).sum() == pytest.approx(g.frame["loss"].sum())
        assert (
            by["release_adds_low"].drop_nulls() <= by["release_adds"].filter(by["release_adds_low"].is_not_null())
        ).all()
        assert by["few"].to_list() == [n < 30 for n in by["people"]]


def test_harm_by_hand() -> None:
    """Three declared identifications of which 1.5 are right; two declared attributions, one right."""
    units = pl.DataFrame({"p_max": [0.9, 0.6, 0.8, 0.1], "n_max": [1, 2, 1, 1], "hit": [True, True, False, True]})
    frame = pl.DataFrame({"guess": list("abcd"), "loss": [0.0, 1.0, 0.0, 1.0], "expected_loss": [0.2, 0.1, 0.6, 0.7]})
    rows = harm(units, frame, ZeroOne(), (10.0, 2.0, 5.0, 1.0), 0.5).frame.rows()
    assert rows[0][1:] == pytest.approx((3, 1.5, 1.5, 18.0, 10 * 2.3 + 2 * 0.7), rel=1e-9)
    assert rows[1][1:] == pytest.approx((2, 1, 1, 6.0, 5 * 1.7 + 0.3), rel=1e-9)
    assert rows[2][4] == pytest.approx(24.0)


def test_harm_of_limits() -> None:
    units = pl.DataFrame({"p_max": [0.1] * 3, "n_max": [1] * 3, "hit": [False] * 3})
    frame = pl.DataFrame({"guess": [True, True, False], "loss": [-2.0, 1.0, 0.0], "expected_loss": [-1.4, -0.8, 0.0]})
    row = harm(units, frame, Exceeds(limit=1, cost=1, gain=2), (1.0, 1.0, 3.0, 1.0), 0.5).frame.row(1)
    assert row[1:] == pytest.approx((2, 1, 1, 4.0, 3 * 1.4 + 0.6), rel=1e-9)


def test_pictures_and_files(found: cf.Guesses, tmp_path: Path) -> None:
    g = found["tenure"]
    shown = [g, found, g.coverage(), g.summary()]
    shown.append(
        g.harm(right_identification=1, wrong_identification=1, right_attribution=1, wrong_attribution=1, threshold=0.5)
    )
    for i, result in enumerate(shown):
        assert result.chart().to_dict()
        assert result.save(tmp_path / f"{i}.csv").exists()
        assert "<table" in result._repr_html_()
        assert repr(result)
    chart = cf.charts.learning_chart(found["hh_income"].by("age"))
    assert "before: published relations" in str(chart.to_dict())
    with pytest.raises(cf.InputError, match="fewer than 30"):
        cf.charts.learning_chart(found["hh_income"].by("age").with_columns(few=pl.lit(True)))


def test_several_variables_in_one_frame(found: cf.Guesses) -> None:
    assert found.frame.columns[:3] == ["variable", "target", "guess"]
    assert found.frame.height == 1200
    assert found.summary()["variable"].to_list() == ["tenure", "hh_income"]


def test_one_asked_for_alone_is_the_same(found: cf.Guesses) -> None:
    alone = found["tenure"].attack.guess("tenure")
    assert alone.frame.equals(found["tenure"].frame)


def test_compiled_densities_are_those_of_the_likelihood() -> None:
    rng = np.random.default_rng(3)
    y, z = rng.normal(size=30), rng.normal(size=40)
    inside = rng.random(40) < 0.8
    for width in (0.0, 0.01, 0.7):
        like = Normal(z, z + width, inside, 0.4, lambda _: (y, np.abs(y) < 1.5), lambda x: -0.1 * x**2, slope=0.2)
        true = like.target(None)  # type: ignore[arg-type]
        out = np.zeros((30, 40))
        add_normal(like, true, like.record, out)
        who, which = np.repeat(np.arange(30), 40), np.tile(np.arange(40), 30)
        slow = like.log(take(true, who), take(like.record, which)).reshape(30, 40)
        assert out == pytest.approx(slow, abs=1e-9)
