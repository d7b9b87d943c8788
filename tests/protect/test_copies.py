"""Several copies of a release."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import confide as cf


def file(n=300):
    rng = np.random.default_rng(0)
    return pl.DataFrame({"id": range(n), "g": rng.choice(["a", "b"], n), "x": rng.normal(50, 9, n).round(1)})


PLAN = cf.Plan([cf.NormalSynthesis("x", given="g")], identifiers="id")


def test_rows_are_the_same_people_and_values_are_not():
    copies = PLAN.protect(file(), seed=1, copies=4)
    assert len(copies) == len(copies.data) == 4
    for copy in copies:
        assert np.array_equal(copy.link, copies[0].link)
        assert copy.data["g"].equals(copies[0].data["g"])
    assert len({tuple(c["x"]) for c in copies.data}) == 4
    again = PLAN.protect(file(), seed=1, copies=2)  # another call shares nothing with this one
    assert not again[1].data["x"].sort().equals(copies[1].data["x"].sort())
    assert not np.array_equal(again[1].link, copies[1].link)


def test_unlinked_copies_have_orders_of_their_own():
    copies = PLAN.protect(file(), seed=1, copies=2, linked=False)
    assert not np.array_equal(copies[0].link, copies[1].link)
    assert copies.linkable() == 0.0
    unique = cf.Plan([cf.Noise("x", sd=3)]).protect(file(), seed=1, copies=2, linked=False)
    assert unique.linkable() == 1.0  # the row number was left in
    linked = unique.relinked()
    assert np.array_equal(linked[0].link, linked[1].link)
    assert linked[0].frame["id"].equals(linked[1].frame["id"])


def test_samples_select_the_same_rows_in_every_copy():
    plan = cf.Plan([cf.Sample(0.5), cf.Noise("x", sd=3)], identifiers="id")
    a, b = plan.protect(file(), seed=1, copies=2)
    assert np.array_equal(a.link, b.link)
    assert not a.data["x"].equals(b.data["x"])


def test_the_frame_comes_back_in_the_callers_type():
    copies = PLAN.protect(file().to_pandas(), seed=1, copies=2)
    assert all(isinstance(c, pd.DataFrame) for c in copies.data)


@pytest.mark.parametrize("linked", [True, False])
def test_a_copy_can_be_replayed(linked):
    copies = PLAN.protect(file(), seed=5, copies=3, linked=linked)
    again = cf.replay(file(), copies[2].record(private=True))
    assert again.data.equals(copies[2].data)
    assert "copy" not in str(copies[2].record())  # the public record holds nothing of it


def test_estimates_from_copies_are_combined():
    copies = PLAN.protect(file(), seed=1, copies=10)
    found = cf.combine_frames(copies.data, lambda f: (f["x"].mean(), f["x"].var() / f.height), rule="partial")
    assert found.low < file()["x"].mean() < found.high
    same = cf.combine_frames(copies, lambda f: (f["x"].mean(), f["x"].var() / f.height), rule="partial")
    assert same.estimate == found.estimate


def test_bad_input():
    for wrong in (1, 0, 2.5, True, "five"):
        with pytest.raises(cf.InputError, match="copies is how many releases"):
            PLAN.protect(file(), copies=wrong)
    with pytest.raises(cf.InputError, match="linked is true"):
        PLAN.protect(file(), copies=2, linked="no")
    with pytest.raises(cf.InputError, match="all copies would be the same"):
        cf.Plan([cf.Topcode("x", at=60)]).protect(file(), copies=3)
    a, b = (PLAN.protect(file(), seed=s) for s in (1, 2))
    with pytest.raises(cf.InputError, match="say linked=False"):
        cf.Copies([a, b])
    assert len(cf.Copies([a, b], linked=False)) == 2
    with pytest.raises(cf.InputError, match="from one plan"):
        cf.Copies([a, cf.Plan([cf.Noise("x", sd=1)], identifiers="id").protect(file(), seed=1)])
    with pytest.raises(cf.InputError, match="one or more releases"):
        cf.Copies([])
