"""What a statistician may get wrong: each mistake is met by a sentence, and no sentence holds a value of the data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf

SECRET = "zzsecret"  # a value of the data: no message may repeat it
NUMBER = 987_654  # the same for counts
TABLE = cf.Table([[2, 1, 3], [0, 5, 1]], names=["sex", "age"], levels=[["m", "f"], ["young", "middle", "old"]])
GROUPED = cf.Table([2, 1, 3], names=["age"], hierarchies={"age": {"broad": {"low": ["0", "1"], "high": ["2"]}}})
RELEASE = TABLE.publish(cf.RoundCells(3), margins="all")
NESTED = TABLE.publish(margins="total")
AREAS = cf.Tables([[2, 1], [0, 3]], areas=["north", "south"], names=["sex"])
MANY = AREAS.publish()
PEOPLE = {"sex": ["m", "f", SECRET], "age": ["young", "old", "old"]}
COUNTS = {"sex": ["m", SECRET], "count": [4, NUMBER]}
RANDOM = cf.RoundCells(3, how="random")

# name: (what is done, a piece of the sentence)
MISTAKES = {
    # A table
    "percent for counts": (lambda: cf.Table([0.25, 0.75]), "fractions"),
    "counts as text": (lambda: cf.Table([SECRET, "2"]), "text"),
    "negative counts": (lambda: cf.Table([1, -NUMBER]), "negative"),
    "missing counts": (lambda: cf.Table([1.0, np.nan]), "missing"),
    "endless counts": (lambda: cf.Table([1.0, np.inf]), "whole numbers"),
    "huge counts": (lambda: cf.Table([2**50]), "2^40"),
    "booleans for counts": (lambda: cf.Table([True, False]), "booleans"),
    "nothing": (lambda: cf.Table([]), "empty"),
    "None": (lambda: cf.Table(None), "whole numbers"),
    "rows of different lengths": (lambda: cf.Table([[1, 2], [3]]), "different lengths"),
    "too few names": (lambda: cf.Table([[1, 2]], names=["sex"]), "dimensions"),
    "names as one text": (lambda: cf.Table([1, 2], names="sex"), "list"),
    "a name twice": (lambda: cf.Table([[1, 2]], names=["sex", "sex"]), "more than one"),
    "too few levels": (lambda: cf.Table([1, 2], levels=[["a"]]), "levels"),
    "a level twice": (lambda: cf.Table([1, 2], levels=[["a", "a"]]), "same label"),
    "levels as one list": (lambda: cf.Table([1, 2], levels=["a", "b"]), "list"),
    "levels as a number": (lambda: cf.Table([1, 2], levels=2), ""),
    "levels of a variable too many": (lambda: cf.Table([1, 2], names=["a"], levels=[["x", "y"], ["z"]]), "level"),
    "structural zeros as numbers": (lambda: cf.Table([1, 0], structural=[0, 1]), "booleans"),
    "structural zeros of another shape": (lambda: cf.Table([1, 0], structural=[True]), "shape"),
    "ragged structural zeros": (lambda: cf.Table([[1, 0], [1, 1]], structural=[[True], [False, True]]), ""),
    "a structural zero with people": (lambda: cf.Table([NUMBER, 0], structural=[True, False]), "has people in it"),
    "keys beyond 1": (lambda: cf.Table([1, 2], keys=[0.5, 1.5]), "[0, 1)"),
    "keys as text": (lambda: cf.Table([1, 2], keys=["0.5", SECRET]), ""),
    # Groupings
    "groupings as a list": (lambda: cf.Table([1, 2], names=["a"], hierarchies=["a"]), "dict"),
    "a grouping as a list": (lambda: cf.Table([1, 2], names=["a"], hierarchies={"a": ["g"]}), ""),
    "a grouping of no variable": (lambda: cf.Table([1, 2], names=["a"], hierarchies={"b": {}}), "no variable"),
    "overlapping groups": (lambda: _grouped({"g": {"x": ["0", "1"], "y": ["1", "2", "3"]}}), "overlap"),
    "a level in no group": (lambda: _grouped({"g": {"x": ["0", "1"], "y": ["2"]}}), "in no group"),
    "a group of no level": (lambda: _grouped({"g": {"x": ["0", "1"], "y": ["2", "9"]}}), "no level"),
    "groupings that cross": (
        lambda: _grouped({"g": {"x": ["0", "1"], "y": ["2", "3"]}, "h": {"x": ["0", "2"], "y": ["1", "3"]}}),
        "must nest",
    ),
    "groupings that cross beside an empty group": (
        lambda: _grouped({"g": {"x": ["0", "1"], "y": ["2", "3"], "e": [], "f": []}, "h": {"x": ["0", "2"], "y": ["1", "3"]}}),
        "",
    ),
    "a grouping with its variable's name": (lambda: _grouped({"a": {"x": ["0", "1"], "y": ["2", "3"]}}), "a"),
    "a grouping with another variable's name": (
        lambda: cf.Table([[1, 2]], names=["a", "b"], hierarchies={"b": {"a": {"x": ["0", "1"]}}}),
        "a",
    ),
    # From frames
    "a column that is not there": (lambda: cf.Table.of(PEOPLE, by=["sexe"]), 'Did you mean "sex"'),
    "by as a text": (lambda: cf.Table.of(PEOPLE, by="sex"), 'by=["sex"]'),
    "by as a number": (lambda: cf.Table.of(PEOPLE, by=2), ""),
    "by left out": (lambda: cf.Table.of(PEOPLE, by=None), ""),
    "by with nothing": (lambda: cf.Table.of(PEOPLE, by=[]), "at least one"),
    "by with a variable twice": (lambda: cf.Table.of(PEOPLE, by=["sex", "sex"]), "twice"),
    "no frame": (lambda: cf.Table.of([1, 2], by=["sex"]), "DataFrame"),
    "an empty frame": (lambda: cf.Table.of({"sex": []}, by=["sex"]), "no values"),
    "an empty frame with levels": (lambda: cf.Table.of({"sex": []}, by=["sex"], levels={"sex": ["m"]}), "no rows"),
    "levels that lack a value": (lambda: cf.Table.of(PEOPLE, by=["sex"], levels={"sex": ["m", "f"]}), "not among its levels"),
    "levels as a list for a frame": (lambda: cf.Table.of(PEOPLE, by=["sex"], levels=["m", "f", SECRET]), ""),
    "levels of an unknown variable": (lambda: cf.Table.of(PEOPLE, by=["age"], levels={"aeg": ["young", "old"]}), ""),
    "a level listed twice": (lambda: cf.Table.of(PEOPLE, by=["sex"], levels={"sex": ["m", "f", "f", SECRET]}), ""),
    "record keys that are no numbers": (lambda: cf.Table.of(PEOPLE, by=["sex"], key="age"), "numbers in [0, 1)"),
    "record keys beyond 1": (lambda: cf.Table.of({**PEOPLE, "k": [0.1, 7.0, 0.2]}, by=["sex"], key="k"), "[0, 1)"),
    "no column of counts": (lambda: cf.Table.from_counts({"sex": ["m"], "n": [4]}), "no column"),
    "a column of counts as text": (lambda: cf.Table.from_counts({"sex": ["m"], "count": [SECRET]}), "not numbers"),
    "a column with missing counts": (lambda: cf.Table.from_counts({"sex": ["m", "f"], "count": [4, None]}), "missing"),
    "a column with negative counts": (lambda: cf.Table.from_counts({"sex": ["m"], "count": [-NUMBER]}), "negative"),
    "a column with shares": (lambda: cf.Table.from_counts({"sex": ["m"], "count": [0.5]}), "fractions"),
    # Publishing
    "a scheme's name": (lambda: TABLE.publish("round"), "RoundCells(5)"),
    "a scheme's class": (lambda: TABLE.publish(cf.RoundCells), "RoundCells(5)"),
    "base 0": (lambda: cf.RoundCells(0), "at least 2"),
    "base 1": (lambda: cf.RoundCells(1), "at least 2"),
    "base True": (lambda: cf.RoundCells(True), "whole number"),
    "base as text": (lambda: cf.RoundCells("5"), "whole number"),
    "base 2.5": (lambda: cf.RoundCells(2.5), "whole number"),
    "an unknown way to round": (lambda: cf.RoundCells(5, how="up"), "conventional"),
    "small counts below 0": (lambda: cf.SmallCounts(-3), "at least 2"),
    "controlled rounding to base 1": (lambda: cf.ControlledRounding(1), "at least 2"),
    "a threshold as text": (lambda: cf.Suppress(below="5"), "whole number"),
    "a cell key of nothing": (lambda: cf.CellKey(2), "PTable"),
    "a variance that cannot be": (lambda: cf.CellKey.of(largest=1, variance=9.0), "variance"),
    "a margin as a variable's name": (lambda: TABLE.publish(margins="sex"), 'margins=[["sex"]]'),
    "margins as names": (lambda: TABLE.publish(margins=["sex"]), "list of lists"),
    "margins as a number": (lambda: TABLE.publish(margins=1), "list of lists"),
    "a margin of an unknown variable": (lambda: TABLE.publish(margins=[["sxe"]]), 'Did you mean "sex"'),
    "a margin with a variable twice": (lambda: TABLE.publish(margins=[["sex", "sex"]]), "margin"),
    "a margin with two readings": (lambda: GROUPED.publish(margins=[["age", "broad"]]), "two readings"),
    "nothing published": (lambda: TABLE.publish(cells=False), "Nothing is published"),
    "unknown totals": (lambda: TABLE.publish(totals="sum"), "separate"),
    "sums of cells that are not published": (lambda: TABLE.publish(margins="all", cells=False, totals="summed"), "cells=False"),
    "sums under controlled rounding": (lambda: TABLE.publish(cf.ControlledRounding(3), margins="all", totals="summed"), "separate"),
    "a seed below 0": (lambda: TABLE.publish(RANDOM, seed=-1), "seed"),
    "a seed that is no whole number": (lambda: TABLE.publish(RANDOM, seed=0.5), "seed"),
    # Any constraints
    "no constraint": (lambda: cf.Published.of(TABLE, []), "at least one"),
    "constraints as a number": (lambda: cf.Published.of(TABLE, 3), ""),
    "a constraint on no cell": (lambda: cf.Published.of(TABLE, [([], 0, 1)]), "names no cell"),
    "a constraint on a cell that is not there": (lambda: cf.Published.of(TABLE, [([6], 0, 1)]), "from 0 to 5"),
    "a constraint that contradicts the table": (lambda: cf.Published.of(TABLE, [([0], 3, 4)]), "contradicts"),
    "a constraint upside down": (lambda: cf.Published.of(TABLE, [([0], 3, 2)]), "above its upper bound"),
    "a constraint of two parts": (lambda: cf.Published.of(TABLE, [([0], 3)]), "two whole numbers"),
    "a constraint on half a cell": (lambda: cf.Published.of(TABLE, [([0.5], 2, 2)]), ""),
    "a bound that is no whole number": (lambda: cf.Published.of(TABLE, [([0], 1.5, 2)]), ""),
    "constraints on no table": (lambda: cf.Published.of([2, 1], [([0], 2, 2)]), ""),
    "releases of two tables": (lambda: RELEASE.beside(cf.Table([1, 2]).publish()), "same table"),
    # The attack
    "a table that is not published": (lambda: cf.sap(TABLE, known=1), "publish"),
    "an empty table": (lambda: cf.sap(cf.Table([0, 0]).publish(), known=0), "every count is 0"),
    "a share of people": (lambda: cf.sap(NESTED, known=0.1), "number of people"),
    "a number as text": (lambda: cf.sap(NESTED, known="3"), "number of people"),
    "fewer than nobody": (lambda: cf.sap(NESTED, known=-1), "fewer than 0"),
    "more than everybody": (lambda: cf.sap(NESTED, known=[1, 13]), "fewer people than that"),
    "more than anybody": (lambda: cf.sap(NESTED, known=10**30), ""),
    "numbers that are none": (lambda: cf.sap(NESTED, known=[1.5]), "number of people"),
    "an array of no dimension": (lambda: cf.sap(NESTED, known=np.array(2.5)), ""),
    "no numbers": (lambda: cf.sap(NESTED, known=[]), "empty"),
    "known people with a strange column": (lambda: cf.sap(NESTED, known={"gender": [SECRET]}), "no variable"),
    "known people of no level": (lambda: cf.sap(NESTED, known={"sex": [SECRET, "m"]}), "no level"),
    "known people who are not there": (lambda: cf.sap(NESTED, known={"sex": ["f"], "age": ["young"]}), "than the table has"),
    "known people without columns": (lambda: cf.sap(NESTED, known={}), "no columns"),
    "known people in no list": (lambda: cf.sap(NESTED, known={"sex": "m"}), "list"),
    "known people for many areas": (lambda: cf.sap(MANY, known={"sex": ["0"]}), "one area"),
    "no draws": (lambda: cf.sap(RELEASE, known=1, draws=0), "draws"),
    "a seed below 0 in an attack": (lambda: cf.sap(RELEASE, known=1, seed=-1), "seed"),
    "threads below 1": (lambda: cf.sap(MANY, known=1, threads=0), "threads"),
    "fractions of a simulation": (
        lambda: cf.expected_sap(TABLE, RANDOM, margins="all", known=1, fractions=True),
        "no exact fractions",
    ),
    # Targets
    "a target that is not there": (lambda: cf.sap(RELEASE, known=1, targets=[6]), "from 0 to 5"),
    "a target below 0": (lambda: cf.sap(RELEASE, known=1, targets=[-1]), "from 0 to 5"),
    "targets as a text": (lambda: cf.sap(RELEASE, known=1, targets="m"), "targets"),
    "targets as fractions": (lambda: cf.sap(RELEASE, known=1, targets=[0.5]), "targets"),
    "ragged targets": (lambda: cf.sap(RELEASE, known=1, targets=[[0, 1], [2]]), ""),
    "a mask of another shape": (lambda: cf.sap(RELEASE, known=1, targets=[True, False]), "shape"),
    "a target's level": (lambda: cf.sap(RELEASE, known=1, targets={"sex": "x"}), "no such level"),
    "a target's variable": (lambda: cf.sap(RELEASE, known=1, targets={"sxe": "m"}), "no variable"),
    "targets of a grouping": (lambda: cf.sap(GROUPED.publish(), known=1, targets={"broad": "low"}), "grouping"),
    "aggregates as a text": (lambda: cf.sap(RELEASE, known=1, aggregates="sex"), "list of margins"),
    "aggregates as names": (lambda: cf.sap(RELEASE, known=1, aggregates=["sex"]), "list of margins"),
    "aggregates as a number": (lambda: cf.sap(RELEASE, known=1, aggregates=1), ""),
    "an aggregate as a number": (lambda: cf.sap(RELEASE, known=1, aggregates=[1]), ""),
    "depth 0": (lambda: cf.sap(RELEASE, known=1, depth=0), "from 1 to 2"),
    "depth beyond the variables": (lambda: cf.sap(RELEASE, known=1, depth=3), "from 1 to 2"),
    "two kinds of targets": (lambda: cf.sap(RELEASE, known=1, depth=1, targets=[0]), "one of"),
    # Results
    "percent for a probability": (lambda: NESTED.attack(known=1).at_least(20), "0.20"),
    "a probability of 0": (lambda: NESTED.attack(known=1).at_least(0), "between 0 and 1"),
    "a certificate of no cell": (lambda: NESTED.attack(known=1).certificate(6), "from 0 to 5"),
    "a certificate of True": (lambda: NESTED.attack(known=1).certificate(True), ""),
    "a certificate of no target": (lambda: NESTED.attack(known=1, targets=[0]).certificate(1), "not among the targets"),
    "unknown keys": (lambda: NESTED.attack(known=1).recovered(keys=["sxe"]), "no variable"),
    "keys as a number": (lambda: NESTED.attack(known=1).recovered(keys=1), ""),
    "areas at a risk in percent": (lambda: MANY.attack(known=1).at_risk(1, above=10), "0.10"),
    "areas at risk for another n": (lambda: MANY.attack(known=1).at_risk(2), "not run for"),
    "areas at risk for a text": (lambda: MANY.attack(known=1).at_risk("1"), ""),
    "bands without a column": (lambda: cf.sap_bands(pl.DataFrame({"n": [1]})), '"sap"'),
    "bands of percent": (lambda: cf.sap_bands(pl.DataFrame({"n": [1], "sap": [50.0]})), "between 0 and 1"),
    "bands of text": (lambda: cf.sap_bands(pl.DataFrame({"n": [1], "sap": [SECRET]})), ""),
    "bands of NaN": (lambda: cf.sap_bands(pl.DataFrame({"n": [1], "sap": [float("nan")]})), ""),
    "bands of nothing": (lambda: cf.sap_bands(None), ""),
    # Conditional tables
    "given an unknown variable": (lambda: TABLE.given(sxe="m"), "no variable"),
    "given an unknown level": (lambda: TABLE.given(sex="x"), "no such level"),
    "given everything": (lambda: TABLE.given(sex="m", age="old"), "leave out"),
    "given a text": (lambda: TABLE.given("m"), ""),
    # Areas
    "one table as many": (lambda: cf.Tables([1, 2]), "use Table"),
    "too few areas": (lambda: cf.Tables([[1, 2]], areas=["a", "b"]), "areas"),
    "an area twice": (lambda: cf.Tables([[1, 2], [1, 2]], areas=["a", "a"]), "twice"),
    "areas as a number": (lambda: cf.Tables([[1, 2]], areas=1), ""),
    "an unknown area": (lambda: AREAS["nroth"], 'Did you mean "north"'),
    "a column of areas that is not there": (lambda: cf.Tables.of(PEOPLE, by=["sex"], area="ward"), "areas"),
    "an area as variable": (lambda: cf.Tables.of(PEOPLE, by=["sex"], area="sex"), "cannot be a variable"),
    "areas with nobody at all": (lambda: cf.sap(cf.Tables([[0, 0], [0, 0]]).publish(), known=1), "every count is 0"),
    "a structural zero with people in an area": (lambda: cf.Tables([[1, 0], [1, 2]], structural=[False, True]), "has people"),
    # Schemes compared
    "expected risk of many areas": (lambda: cf.expected_sap(AREAS, RANDOM), "one Table"),
    "expected risk of named people": (lambda: cf.expected_sap(TABLE, RANDOM, known={"sex": ["m"]}), "numbers"),
    "expected risk by one draw": (lambda: cf.expected_sap(TABLE, RANDOM, margins="all", known=1, draws=1), "draws"),
    "candidates as a list": (lambda: cf.compare_schemes(TABLE, [cf.Exact()]), "dict"),
    "a candidate's name": (lambda: cf.compare_schemes(TABLE, {"as it is": "exact"}), "Exact()"),
    "a strange candidate": (lambda: cf.compare_schemes(TABLE, {"as it is": {"shceme": cf.Exact()}}), "as it is"),
    "several numbers to compare at": (lambda: cf.compare_schemes(TABLE, {"as it is": cf.Exact()}, known=range(3)), "one number"),
    "no repeats": (lambda: cf.compare_schemes(TABLE, {"as it is": cf.Exact()}, repeats=0), "repeats"),
    "the best in percent": (lambda: cf.compare_schemes(TABLE, {"as it is": cf.Exact()}, known=1).best(5), "0.05"),
    "none good enough": (lambda: cf.compare_schemes(TABLE, {"as it is": cf.Exact()}, known=1).best(0.01), "comes nearest"),
    "no seed to compare with": (lambda: cf.compare_schemes(TABLE, {"random": RANDOM}, seed=None), ""),
}  # fmt: skip


def _grouped(groupings):
    return cf.Table([1, 2, 3, 4], names=["a"], hierarchies={"a": groupings})


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_met_by_a_sentence(mistake):
    work, piece = MISTAKES[mistake]
    with pytest.raises(cf.InputError) as error:
        work()
    said = str(error.value)
    assert piece in said
    assert SECRET not in said
    assert str(NUMBER) not in said.replace(",", "")
    assert said.rstrip()[-1] in ".?"
    assert len(said) > 25


def test_several_mistakes_are_told_at_once():
    with pytest.raises(cf.InputError) as error:
        cf.sap(NESTED, known={"sex": ["x"], "age": ["y"]})
    assert '"sex"' in str(error.value)
    assert '"age"' in str(error.value)


@pytest.mark.parametrize("option", [{"fractons": True}, {"draw": 3}])
def test_a_misspelt_option_is_never_swallowed(option):
    for release in (RELEASE, NESTED, MANY):
        with pytest.raises((cf.InputError, TypeError)):
            cf.sap(release, known=1, **option)


@pytest.mark.parametrize("option", [{"draws": 0}, {"seed": -1}])
def test_options_are_checked_also_where_they_are_not_needed(option):
    for release in (RELEASE, NESTED, MANY):
        with pytest.raises(cf.InputError):
            cf.sap(release, known=1, **option)


@pytest.mark.parametrize("option", [{"targets": []}, {"targets": {"sex": []}}, {"aggregates": []}])
def test_no_target_is_no_safe_table(option):
    """A risk of 0 because nothing was asked would be read as safety."""
    with pytest.raises(cf.InputError):
        cf.sap(RELEASE, known=1, **option)
