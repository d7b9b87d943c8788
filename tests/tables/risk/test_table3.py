"""Table 3 of Smith and Elliot: 1200 simulated 2 x 6 tables, rounded to base 5 with their total, in bands of risk.

Their tables are lost, so no number can be equal. The printed table is scored as one more run of 1200 tables: its distance
from what is expected, by three discrepancies, has to lie among the distances of simulated runs.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import confide as cf
from tests.helpers import brute

KNOWN = range(25)
BANDS = ["=0", *(f"{k / 10:g}-{(k + 1) / 10:g}" for k in range(10)), "=1"]
RUN = 1200

PRINTED = np.array([
    [1200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [26, 1173, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [26, 1137, 36, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    [25, 869, 275, 28, 2, 0, 0, 0, 1, 0, 0, 0],
    [25, 460, 497, 160, 40, 16, 1, 0, 0, 0, 0, 1],
    [25, 234, 471, 267, 127, 48, 20, 6, 1, 0, 0, 1],
    [23, 108, 332, 365, 169, 113, 59, 13, 14, 2, 0, 2],
    [23, 60, 226, 266, 292, 115, 117, 50, 28, 17, 4, 2],
    [23, 33, 144, 201, 254, 212, 115, 102, 64, 31, 17, 4],
    [23, 14, 93, 146, 188, 203, 220, 93, 105, 75, 30, 10],
    [23, 9, 58, 110, 158, 150, 205, 176, 125, 95, 72, 19],
    [22, 4, 42, 63, 108, 149, 186, 154, 188, 113, 138, 33],
    [22, 4, 21, 51, 84, 126, 126, 169, 211, 148, 186, 52],
    [22, 3, 12, 37, 57, 104, 111, 138, 157, 234, 244, 81],
    [22, 3, 8, 33, 32, 65, 104, 124, 159, 217, 303, 130],
    [22, 3, 2, 18, 32, 46, 80, 108, 127, 199, 379, 184],
    [22, 3, 0, 12, 30, 31, 46, 101, 118, 182, 395, 260],
    [21, 4, 0, 7, 16, 28, 39, 73, 93, 144, 442, 333],
    [20, 5, 0, 2, 13, 26, 25, 45, 84, 143, 409, 428],
    [20, 5, 0, 0, 9, 12, 29, 40, 54, 105, 423, 503],
    [20, 4, 1, 0, 7, 9, 26, 18, 43, 104, 365, 603],
    [20, 3, 1, 0, 2, 10, 9, 27, 35, 74, 318, 701],
    [20, 3, 1, 0, 0, 7, 10, 16, 26, 42, 290, 785],
    [19, 3, 1, 1, 0, 5, 6, 10, 26, 33, 235, 861],
])  # fmt: skip

REFERENCE = {  # means of 300,000 tables simulated apart from this package, for 1200 tables
    2: [27.0, 1173.0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    5: [26.7, 487.1, 475.3, 154.4, 43.4, 10.1, 2.4, 0.4, 0.1, 0.1, 0, 0.0],
    10: [24.2, 17.5, 105.3, 147.2, 194.6, 180.7, 192.1, 123.1, 96.8, 73.3, 38.3, 6.9],
    16: [21.9, 3.6, 3.0, 22.7, 32.0, 56.3, 76.2, 107.1, 141.2, 187.3, 365.5, 183.2],
    24: [20.5, 1.9, 0.5, 0.4, 1.1, 4.3, 9.4, 14.0, 24.3, 39.6, 232.2, 851.9],
}


def simulated(count, seed):
    return np.random.default_rng(seed).poisson(2.0, (count, 2, 6))


def attacked(counts, **options):
    """The frame of risks: area, n, sap, ..."""
    return cf.sap(cf.Tables(counts).publish(cf.RoundCells(5), margins="total"), known=KNOWN, **options)


def risks(frame, areas):
    """Risk by table and number of known units."""
    assert frame["n"].to_list() == areas * list(KNOWN)
    return frame["sap"].to_numpy().reshape(areas, len(KNOWN))


def by_print(counts):
    """Section 2.3.2 of the paper for one table; all units are known where more are asked for than there are."""
    flat = [int(c) for c in counts.ravel()]
    *cells, total = brute.release(flat, "conventional", "total", base=5)
    whole = brute.printed_with_total(flat, [c[1] for c in cells], [c[2] for c in cells], total[2])
    return [whole[min(n, sum(flat))] for n in KNOWN]


def band(risk):
    """The column of one risk: exactly 0, [0, 0.1), ..., [0.9, 1), exactly 1."""
    return 0 if risk == 0 else 11 if risk == 1 else 1 + int(10 * risk)


def tally(bands):
    """Tables by known units (rows) and band (columns), from the band of each table (rows) and number known (columns)."""
    return np.array([np.bincount(column, minlength=12) for column in np.asarray(bands).T])


@pytest.fixture(scope="module")
def pool():
    """The band of 72,000 simulated tables for each number of known units."""
    counts = simulated(60 * RUN, seed=3)
    found = risks(attacked(counts), len(counts))
    inside = 1 + np.floor(np.round(10 * found, 9)).astype(int).clip(0, 9)
    return np.where(found == 0, 0, np.where(found == 1, 11, inside))


def test_every_printed_row_counts_all_tables():
    assert PRINTED.shape == (25, 12)
    assert (PRINTED.sum(axis=1) == RUN).all()


def test_a_run_equals_the_printed_algorithm():
    """For these tables the paper's algorithm has no error, so a whole run is checked against it, bands as well."""
    counts = simulated(RUN, seed=1)
    frame = attacked(counts)
    expected = [by_print(c) for c in counts]
    np.testing.assert_allclose(risks(frame, RUN), np.array(expected, dtype=float), rtol=0, atol=1e-12)
    banded = cf.sap_bands(frame)
    assert banded.columns == ["n", *BANDS]
    assert banded["n"].to_list() == list(KNOWN)
    own = tally([[band(risk) for risk in row] for row in expected])
    np.testing.assert_array_equal(banded.select(BANDS).to_numpy(), own)


def test_a_band_holds_its_lower_edge():
    """Four cells of 2 among 16 people: the risk of three known units is exactly one tenth."""
    counts = np.array([[[2, 2, 2, 2, 0, 0], [1, 1, 3, 3, 0, 0]]])
    assert by_print(counts)[3] == Fraction(4 * comb(14, 1), comb(16, 3)) == Fraction(1, 10)
    row = cf.sap_bands(attacked(counts)).row(3, named=True)
    assert row["0.1-0.2"] == 1


def test_print_is_wrong_that_nobody_known_is_no_risk():
    """Four 3s and eight 0s: the lower bounds of the cells add up to the upper bound of the total, so all is known."""
    counts = np.array([[[3, 3, 3, 3, 0, 0], [0, 0, 0, 0, 0, 0]]])
    assert attacked(counts)["sap"].to_list() == 25 * [1.0]


def test_more_known_than_people_is_all_people_known():
    counts = simulated(40, seed=2)
    counts[:20] = np.minimum(counts[:20], 1)
    found = risks(attacked(counts), 40)
    for table, row in zip(counts, found, strict=True):
        assert (row[table.sum() :] == row[min(table.sum(), 24)]).all()
        assert (np.diff(row) >= 0).all()


@pytest.mark.slow
def test_means_agree_with_an_outside_simulation(pool):
    runs = len(pool) / RUN
    mean = tally(pool) / runs
    for n, expected in REFERENCE.items():
        error = np.sqrt(np.maximum(expected, 0.5) / runs)
        assert (np.abs(mean[n] - expected) < 4.5 * error + 0.1).all()


# The printed table as one more run


def squares(observed, expected):
    return float(((observed - expected) ** 2 / (expected + 1)).sum())


def deviance(observed, expected):
    ratio = np.where(observed > 0, observed, 1) / np.where(observed > 0, expected, 1)
    return 2 * float((observed * np.log(ratio)).sum())


def squares_without_two(observed, expected):
    """Row n = 2 holds one table in a band where 0.1 are expected: the fit does not hang on it."""
    keep = np.arange(len(observed)) != 2
    return squares(observed[keep], expected[keep])


@pytest.mark.parametrize("discrepancy", [squares, deviance, squares_without_two])
def test_the_printed_table_is_a_typical_run(pool, discrepancy):
    half = len(pool) // 2
    expected = RUN * (tally(pool[:half]) + 0.5) / (half + 6)
    rng = np.random.default_rng(5)
    draws = (pool[half:][rng.integers(0, half, RUN)] for _ in range(300))
    distances = np.array([discrepancy(tally(run), expected) for run in draws])
    share = float((distances >= discrepancy(PRINTED, expected)).mean())
    assert 0.05 < share < 0.95
    # the score can tell: the same table with every row one n late is farther off than any run
    late = np.vstack([PRINTED[:1], PRINTED[:-1]])
    assert discrepancy(late, expected) > distances.max()


def share_without_risk(known):
    """P(risk 0) of a Poisson(2) table: no count is 2 more than a multiple of 5 (so none has a true upper bound), and the
    total is none either, or the cells above their lower bounds hold more than `known` people.
    """
    chance = [np.exp(-2.0)]
    for k in range(1, 25):
        chance.append(chance[-1] * 2.0 / k)
    states = {(0, 0): 1.0}
    for _ in range(12):
        after = {}
        for (total, above), p in states.items():
            for c in (c for c in range(25) if c % 5 != 2):
                lower = max(0, brute.rounded(c, 5) - 2)
                key = (total + c, above + c * (lower < c))
                after[key] = after.get(key, 0.0) + p * chance[c]
        states = after
    return sum(p for (total, above), p in states.items() if total % 5 != 2 or above > min(known, total))


@pytest.mark.slow
def test_tables_without_risk_stay_without(pool):
    """20.8 of 1200 tables are expected without risk when 24 units are known; print has 19."""
    expected = RUN * share_without_risk(24)
    assert expected == pytest.approx(20.80, abs=0.005)
    assert abs(RUN * (pool[:, 24] == 0).mean() - expected) < 4 * np.sqrt(expected * RUN / len(pool))
    assert abs(PRINTED[24, 0] - expected) < np.sqrt(expected)
    assert (np.diff((pool == 0).sum(axis=0)) <= 0).all()
