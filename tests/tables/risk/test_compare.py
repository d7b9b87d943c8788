"""Schemes side by side: each number by hand, the frontier, and the choice."""

from __future__ import annotations

import numpy as np
import pytest

import confide as cf
from confide.tables.publish_areas import simulated

TABLE = cf.Table([[2, 1, 3], [4, 5, 1]], names=["a", "b"])


def row(compared, name):
    return next(r for r in compared.frame.iter_rows(named=True) if r["scheme"] == name)


def test_risk_and_distortion_of_one_table():
    compared = cf.compare_schemes(TABLE, {"exact": cf.Exact(), "base 5": cf.RoundCells(5)}, known=4, margins="total")
    for name, scheme in {"exact": cf.Exact(), "base 5": cf.RoundCells(5)}.items():
        published = TABLE.publish(scheme, margins="total")
        found = row(compared, name)
        assert found["sap"] == found["worst"] == pytest.approx(cf.sap(published, known=4)["sap"][0], rel=1e-12)
        assert found["distortion"] == pytest.approx(np.abs(published.values - published.truth).mean())
        assert (found["n"], found["hidden"], found["standard_error"]) == (4, 0.0, 0.0)
    assert row(compared, "exact")["additive"]
    rounded = TABLE.publish(cf.RoundCells(5), margins="total").values
    assert row(compared, "base 5")["additive"] == (rounded[:6].sum() == rounded[6])


def test_a_hidden_count_is_read_as_the_middle_of_what_can_be_stated():
    """No margins: 1, 1 and 2 are hidden and known to be 0 to 2, read as 1."""
    found = row(cf.compare_schemes(TABLE, {"hidden": cf.Suppress(3)}, known=1), "hidden")
    assert found["distortion"] == pytest.approx((1 + 0 + 0 + 0 + 0 + 0) / 6)
    assert found["hidden"] == pytest.approx(3 / 6)
    assert not found["additive"]


def test_margins_narrow_what_a_hidden_count_can_be():
    """Two counts of 0 to 2 that sum to 3 are 1 and 2 in some order: read as 1.5 each."""
    table = cf.Table([2, 1, 9])
    found = row(cf.compare_schemes(table, {"hidden": cf.Suppress(3)}, known=1, margins="total"), "hidden")
    assert found["distortion"] == pytest.approx((0.5 + 0.5 + 0 + 0) / 4)


def test_areas_repeats_and_standard_errors():
    tables = cf.Tables(np.random.default_rng(1).poisson(2, (30, 2, 3)) + 1)
    scheme = cf.RoundCells(3, how="random")
    found = row(cf.compare_schemes(tables, {"random": scheme}, known=3, repeats=4, seed=7), "random")
    drawn = [simulated(tables, scheme, "none", cells=True, totals="separate", seed=7 + r) for r in range(4)]
    each = [cf.sap(d, known=3)["sap"].to_numpy() for d in drawn]
    means = np.array([e.mean() for e in each])
    assert found["sap"] == pytest.approx(means.mean())
    assert found["standard_error"] == pytest.approx(means.std(ddof=1) / 2)
    assert found["worst"] == pytest.approx(max(e.max() for e in each))
    assert found["at_risk"] == pytest.approx(np.mean([(e >= 0.1).mean() for e in each]))


def test_the_frontier_and_the_choice():
    candidates = {
        "exact": cf.Exact(),
        "base 3": cf.RoundCells(3),
        "base 5": cf.RoundCells(5),
        "base 50": cf.RoundCells(50),
    }
    compared = cf.compare_schemes(TABLE, candidates, known=3)
    rows = compared.frame.to_dicts()
    for r in rows:
        beaten = any(
            o["sap"] <= r["sap"] and o["distortion"] <= r["distortion"]
            and (o["sap"] < r["sap"] or o["distortion"] < r["distortion"]) for o in rows
        )  # fmt: skip
        assert r["frontier"] == (not beaten)
    limit = 0.2
    fits = [r for r in rows if r["sap"] <= limit]
    assert compared.best(max_sap=limit) == min(fits, key=lambda r: r["distortion"])["scheme"]
    assert compared.best(max_sap=1) == "exact"


def test_a_limit_that_none_meets_names_the_nearest():
    compared = cf.compare_schemes(cf.Table([0, 2]), {"exact": cf.Exact()}, known=1)
    with pytest.raises(cf.InputError, match='"exact" comes nearest'):
        compared.best(max_sap=0.5)


def test_candidates_may_differ_in_margins():
    options = {"scheme": cf.RoundCells(3), "margins": "all", "totals": "summed"}
    compared = cf.compare_schemes(TABLE, {"cells": cf.RoundCells(3), "summed": options}, known=2)
    assert row(compared, "summed")["sap"] == pytest.approx(row(compared, "cells")["sap"], rel=1e-12)
    assert row(compared, "summed")["additive"]
    with pytest.raises(cf.InputError, match="scheme, margins, cells, totals"):
        cf.compare_schemes(TABLE, {"odd": {"scheme": cf.Exact(), "margin": "all"}}, known=2)


def test_with_equal_distortion_less_risk_wins():
    """Exact margins without cells distort nothing either, and tell less."""
    margins = {"scheme": cf.Exact(), "margins": [["a"], ["b"]], "cells": False}
    compared = cf.compare_schemes(TABLE, {"cells": cf.Exact(), "margins": margins}, known=4)
    assert row(compared, "margins")["distortion"] == row(compared, "cells")["distortion"] == 0
    assert row(compared, "margins")["sap"] < row(compared, "cells")["sap"]
    assert [r["frontier"] for r in compared.frame.to_dicts()] == [False, True]
