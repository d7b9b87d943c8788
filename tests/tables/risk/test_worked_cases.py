"""Worked cases of the subtraction-attribution probability, as exact fractions; each was enumerated by hand or by machine."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest

import confide as cf
from tests.helpers import brute

FIGURE_1 = [[1, 3, 0], [4, 0, 0], [3, 2, 0]]
CENTRE = [[0, 2, 0], [2, 3, 1], [4, 3, 4]]
NAMES = ["a", "b", "c"]


def table(counts):
    return cf.Table(np.asarray(counts), names=NAMES[: np.ndim(counts)])


def rounded(counts, base, margins="none", **options):
    return table(counts).publish(cf.RoundCells(base, **options), margins=margins)


def exact(counts, margins="none", **options):
    return table(counts).publish(cf.Exact(), margins=margins, **options)


def fractions(text):
    return [Fraction(part) for part in text.split(",")]


def found(published, total):
    """SAP for 0, ..., `total` known units, as fractions."""
    frame = cf.sap(published, known=range(total + 1), fractions=True)
    assert frame["n"].to_list() == list(range(total + 1))
    assert frame["status"].unique().to_list() == ["exact"]
    assert frame["standard_error"].to_list() == [0.0] * (total + 1)
    answer = [Fraction(f) for f in frame["fraction"]]
    np.testing.assert_allclose(frame["sap"].to_numpy(), [float(f) for f in answer], rtol=0, atol=1e-12)
    return answer


def claims(published):
    """What the release states: (cells, lower, upper) of every published sum."""
    sets = [np.flatnonzero(row).tolist() for row in published.layout.matrix.toarray()]
    return list(zip(sets, published.lower, published.upper, strict=True))


def limits(published):
    frame = published.bounds().sort("cell")
    return frame["lower"].to_list(), frame["upper"].to_list()


def random_interval(value, base=3):
    return brute.intervals("random", value, base=base)


def by_hand(counts, constraints):
    return cf.Published.of(table(counts), constraints)


def all_pairs(counts):
    return exact(counts, [["a", "b"], ["a", "c"], ["b", "c"]], cells=False)


def hidden_columns(counts):
    """W16: exact row and column margins and an exact third column; the first two columns are suppressed."""
    sets = [*brute.margin_sets((2, 3), [(0,), (1,)], cells=False), {2}, {5}]
    sums = [int(np.ravel(counts)[list(s)].sum()) for s in sets]
    return by_hand(counts, [(sorted(s), x, x) for s, x in zip(sets, sums, strict=True)])


CUBE = [[[0, 1], [1, 1]], [[1, 1], [1, 0]]]
ROUNDED_DOWN = [([0], *random_interval(3)), ([1], *random_interval(0)), ([0, 1], *random_interval(3))]
OVERLAPPING = [([0], 0, 1), ([0, 1, 2], 2, 2), ([0, 2, 3], 2, 2), ([0, 1, 3], 2, 2)]

CASES = {  # counts, release, SAP(0), SAP(1), ..., SAP(N)
    "W1": ([2, 1, 3], exact, "0, 1/6, 2/5, 7/10, 1, 1, 1"),
    "W2": ([0, 2], exact, "1, 1, 1"),
    "W3": ([4], exact, "0, 0, 0, 0, 1"),
    "W4": ([3, 3, 3], exact, "0, 0, 0, 1/28, 1/7, 5/14, 19/28, 1, 1, 1"),
    "W5": ([1, 4, 2], lambda c: rounded(c, 3), "0, 1/7, 2/7, 3/7, 3/5, 17/21, 1, 1"),
    "W6": ([2, 2, 1, 0], lambda c: rounded(c, 5), "0, 0, 1/5, 3/5, 1, 1"),
    "W7": ([1, 1], lambda c: rounded(c, 5, "total"), "0, 0, 1"),
    "W8": ([2, 2], lambda c: rounded(c, 3, "total"), "0, 0, 1/3, 1, 1"),
    "W10": ([0, 2, 2], lambda c: rounded(c, 3, "total"), "1, 1, 1, 1, 1"),
    "W11": ([3, 2, 2], lambda c: rounded(c, 3, "total"), "0, 0, 0, 1/35, 4/35, 2/7, 4/7, 1"),
    "W12": ([1, 1, 5], lambda c: rounded(c, 5, "total"), "0, 0, 0, 0, 0, 0, 0, 1"),
    "W14": ([4, 1], lambda c: by_hand(c, ROUNDED_DOWN), "0, 0, 0, 0, 0, 1"),
    "W14b": (
        [2, 1],
        lambda c: by_hand(c, [([0], *random_interval(0)), ([1], *random_interval(3))]),
        "0, 0, 1/3, 1",
    ),
    "W14c to even": ([2, 6], lambda c: rounded(c, 4, ties="even"), "0, 0, 1/28, 3/28, 3/14, 5/14, 15/28, 3/4, 1"),
    "W14c up": ([2, 6], lambda c: rounded(c, 4, ties="up"), "0, 0, 0, 0, 0, 0, 0, 0, 0"),
    "W15": (
        [[1, 2], [3, 1]],
        lambda c: exact(c, [["a"], ["b"]], cells=False),
        "0, 0, 0, 2/35, 9/35, 2/3, 1, 1",
    ),
    "W16": (
        [[2, 1, 4], [1, 3, 5]],
        hidden_columns,
        "0, 0, 0, 1/280, 1/65, 15/364, 27/308, 1849/11440, 577/2145, 943/2288, 586/1001, 1679/2184, 12/13, 1, 1, 1, 1",
    ),
    "W16c": ([[1, 2], [2, 2]], lambda c: rounded(c, 3, "all"), "0, 1/7, 3/7, 27/35, 1, 1, 1, 1"),
    "W16c, cells": ([[1, 2], [2, 2]], lambda c: rounded(c, 3), "0, 1/7, 2/7, 3/7, 4/7, 5/7, 6/7, 1"),
    "W16d": (FIGURE_1, lambda c: rounded(c, 3, "all"), ", ".join(14 * ["1"])),
    "W16f": (
        FIGURE_1,
        lambda c: rounded(c, 3),
        "0, 1/13, 2/13, 3/13, 17/55, 503/1287, 205/429, 245/429, 862/1287, 551/715, 124/143, 37/39, 1, 1",
    ),
    "W17": (
        CENTRE,
        lambda c: rounded(c, 3, "all"),
        "0, 1/19, 2/19, 154/969, 49/228, 3193/11628, 1315/3876, 405/988, 18403/37791, 52647/92378, 1597/2431, "
        "1481/1989, 10427/12597, 872/969, 925/969, 319/323, 1, 1, 1, 1",
    ),
    "W18": ([0, 1, 1, 1], lambda c: by_hand(c, OVERLAPPING), "1, 1, 1, 1"),
    "W19": (CUBE, all_pairs, ", ".join(7 * ["1"])),
    "pinned by its total": (4 * [3] + 8 * [0], lambda c: rounded(c, 5, "total"), ", ".join(13 * ["1"])),
}


@pytest.mark.parametrize("case", CASES)
def test_worked_case(case):
    counts, publish, expected = CASES[case]
    assert found(publish(counts), int(np.sum(counts))) == fractions(expected)


@pytest.mark.parametrize("case", CASES)
def test_the_enumeration_says_the_same(case):
    counts, publish, expected = CASES[case]
    assert brute.sap(claims(publish(counts)), counts) == fractions(expected)


# Bounds


def test_figures_5_and_6_of_smith_and_elliot():
    published = rounded(FIGURE_1, 3, "all")
    assert limits(published) == ([0, 2, 0, 3, 0, 0, 3, 2, 0], [1, 3, 0, 4, 1, 0, 4, 3, 0])
    assert published.bounds()["proven"].all()


def test_figures_3_and_4_are_the_bounds_without_margins():
    assert limits(rounded(FIGURE_1, 3)) == ([0, 2, 0, 2, 0, 0, 2, 2, 0], [1, 4, 1, 4, 1, 1, 4, 4, 1])


def test_sharp_bound_that_the_shuttle_algorithm_misses():
    lower, upper = limits(rounded(CENTRE, 3, "all"))
    assert upper[4] == 3
    assert (lower, upper) == ([0, 2, 0, 2, 2, 0, 3, 3, 3], [1, 3, 1, 3, 3, 1, 4, 4, 4])


def test_three_zeros_are_recovered_in_figure_1_before_any_unit_is_known():
    risks = rounded(FIGURE_1, 3, "all").attack(known=[0]).cells
    at_zero = {row["cell"]: row["risk"] for row in risks.iter_rows(named=True)}
    assert [at_zero.get(i, 0) for i in range(9)] == [0, 0, 1, 0, 0, 1, 0, 0, 1]


def test_a_unique_table_is_known_from_its_margins():
    assert limits(all_pairs(CUBE)) == 2 * (np.ravel(CUBE).tolist(),)


def test_integers_matter_where_groupings_overlap():
    """W18: over the rationals the first cell could be a half, so a proof without integers is a lower bound only."""
    published = by_hand([0, 1, 1, 1], OVERLAPPING)
    assert limits(published)[1][0] == 0
    frame = cf.sap(published, known=range(4), prove=False)
    assert frame["sap"].to_list() == pytest.approx([0, 1, 1, 1], abs=1e-12)
    assert frame["status"][0] == "lower bound"


# Where print and definition part


@pytest.mark.parametrize(
    ("counts", "base", "static"), [([1, 1], 5, "0, 0, 0"), ([1, 1, 5], 5, "0, 0, 0, 0, 0, 0, 0, 0")]
)
def test_bounds_before_the_sample_understate_the_risk(counts, base, static):
    """W7 and W12: the displayed formula takes upper bounds before the sample is seen; all units known is a risk."""
    constraints = brute.release(counts, "conventional", "total", base=base)
    assert brute.static_sap(constraints, counts) == fractions(static)
    answer = found(rounded(counts, base, "total"), sum(counts))
    assert answer[-1] == 1
    assert answer[-1] > fractions(static)[-1]


def printed(counts, base):
    *cells, total = brute.release(counts, "conventional", "total", base=base)
    return brute.printed_with_total(counts, [c[1] for c in cells], [c[2] for c in cells], total[2])


def test_section_232_errs_where_the_table_is_known_exactly():
    """W8: printed steps give 1 for every n; without zero counts the risk is that of the exact table."""
    assert printed([2, 2], 3) == fractions("1, 1, 1, 1, 1")
    assert found(rounded([2, 2], 3, "total"), 4) == found(exact([2, 2]), 4) == fractions("0, 0, 1/3, 1, 1")


@pytest.mark.parametrize(
    ("counts", "base"), [([1, 1], 5), ([0, 2, 2], 3), ([3, 2, 2], 3), ([1, 1, 5], 5), ([2, 2, 1, 0], 5)]
)
def test_section_232_is_right_elsewhere(counts, base):
    assert found(rounded(counts, base, "total"), sum(counts)) == printed(counts, base)


def test_one_cell_above_its_lower_bound():
    """W11: the paper's step 5 with S = T - 3."""
    assert found(rounded([3, 2, 2], 3, "total"), 7) == [
        Fraction(comb(4, n - 3), comb(7, n)) if n >= 3 else Fraction(0) for n in range(8)
    ]


# Schemes before they are drawn

EXPECTED = "0, 0, 2/135, 2/45, 167/1890, 37/252, 2/9, 43/135, 59/135, 77/135, 19/27"


def test_expected_risk_of_random_rounding():
    frame = cf.expected_sap(
        table([2, 1, 5, 2]), cf.RoundCells(3, how="random"), margins="none", known=range(11), fractions=True
    )
    assert frame["n"].to_list() == list(range(11))
    assert [Fraction(f) for f in frame["fraction"]] == fractions(EXPECTED)
    assert frame["sap"].to_list() == pytest.approx([float(f) for f in fractions(EXPECTED)], abs=1e-12)
    assert frame["standard_error"].to_list() == 11 * [0.0]
    assert frame["status"].unique().to_list() == ["exact"]


def test_expected_risk_is_the_mean_over_all_ways_to_round():
    counts, base = [2, 1, 5, 2], 3
    mean = 11 * [Fraction(0)]
    for up in product((False, True), repeat=4):
        chances = [Fraction(c % base if u else base - c % base, base) for c, u in zip(counts, up, strict=True)]
        values = [base * (c // base + u) for c, u in zip(counts, up, strict=True)]
        constraints = [({i}, *random_interval(v)) for i, v in enumerate(values)]
        risks = found(by_hand(counts, constraints), 10)
        mean = [m + prod(chances, start=Fraction(1)) * r for m, r in zip(mean, risks, strict=True)]
    assert mean == fractions(EXPECTED)
