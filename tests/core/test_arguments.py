"""Arguments of a wrong type: told at the public door, and nothing else is hidden there."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.arguments import fits, guarded
from confide.core.errors import InputError

HEADS = cf.demo("heads").head(60)

MISTAKES = {
    "a number for names": (lambda: cf.Plan(identifiers=3), "list of names"),
    "a set of names": (lambda: cf.Swap({"race", "sex"}, rate=0.1), "list of names"),
    "a list for one name": (lambda: cf.Recode(["age", "sex"], width=5), "name of one column"),
    "ranges as a list": (lambda: cf.Uniform(ranges=[[1, 2]]), "ranges must be a table"),
    "no path": (lambda: cf.read(["a.csv"]), "path must be text or a path, not a list"),
    "NUL in a path": (lambda: cf.write(HEADS, "a\0.csv"), "no file's name can hold"),
    "half a letter in a path": (lambda: cf.replay(HEADS, "\ud800"), "cannot be the name of a file"),
    "a long path": (lambda: cf.read("y" * 5000 + ".csv"), "cannot be the name of a file"),
    "more digits than a number has": (lambda: cf.Topcode("age", at=10**400), "more than 308 digits"),
    "a variable's schema as text": (lambda: cf.VariableSchema("a", value_labels="x"), "value_labels is a dict"),
    "a schema of nothing": (lambda: cf.Schema({"a": 1}), "VariableSchema"),
    "another frame's units": (lambda: cf.calibrate(HEADS), "units of an attack"),
}


@pytest.mark.parametrize(("make", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_type_is_told_in_a_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_methods_of_results_are_guarded_too():
    release = cf.Plan([cf.Sample(0.9)]).protect(HEADS, seed=1)
    with pytest.raises(InputError, match=r"Release\.save_record: path must be text or a path, not a table"):
        release.save_record({"a": 1}, private=True)


def test_a_fault_with_fitting_arguments_stays_one():
    def broken(size: float) -> float:
        raise KeyError(size)

    with pytest.raises(KeyError):
        guarded(broken)(1.0)
    with pytest.raises(InputError, match="size must be a number, not text"):
        guarded(broken)("1.0")


MISSPELT = {
    "rate": lambda: cf.Swap("area", rat=0.3),
    "width": lambda: cf.Recode("age", widht=5),
    "identifiers": lambda: cf.Plan([], identifier=["id"]),
    "knows": lambda: cf.Intruder(know=["age"]),
    "total": lambda: cf.Unsure(totl=100),
    "variables": lambda: cf.Means(variable="age"),
    "repeats": lambda: cf.Study(HEADS, {}, {}, [], repeat=3),
    "seed": lambda: cf.Plan([]).protect(HEADS, sed=1),
    "items": lambda: cf.utility(cf.Plan([]).protect(HEADS, seed=1), item=["age"]),
}


@pytest.mark.parametrize("meant", MISSPELT)
def test_a_misspelt_argument_is_told_with_the_name_that_was_meant(meant):
    with pytest.raises(TypeError, match=f'unexpected keyword argument ".*"[.] Did you mean "{meant}"[?]'):
        MISSPELT[meant]()


MISSING = {
    "Exceeds[(][)] is missing 2 .* arguments: give cost=[.]{3} and gain=[.]{3} No number would be right for every file":
        lambda: cf.Exceeds(limit=1),
    "Guess.harm[(][)] is missing 5 .*give right_identification=[.]{3}, .* and threshold=[.]{3} No number would be right":
        lambda: cf.Intruder(knows="sex").attack(cf.Plan([]).protect(HEADS, seed=1)).guess("tenure").harm(),
    "Plan.protect[(][)] is missing 1 required positional argument: give data=[.]{3}$": lambda: cf.Plan([]).protect(),
}  # fmt: skip


@pytest.mark.parametrize("said", MISSING)
def test_a_missing_argument_is_told_with_why_it_has_no_default(said):
    with pytest.raises(TypeError, match=said):
        MISSING[said]()


def test_earlier_names_and_arguments_that_are_missing_are_python_s_own_errors():
    with pytest.warns(DeprecationWarning, match="now called variables"):
        cf.Swap(what="race", rate=0.1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        cf.Swap("race")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: cf.Sample(1.5), "Sample: fraction is a fraction between 0 and 1; for 1.5 percent write 0.015."),
        (lambda: cf.Sample(0), "Sample: fraction is 0, which releases nothing."),
        (lambda: cf.Sample("a"), "Sample: fraction must be a number, not str."),
        (lambda: cf.Unsure(total=0.5), "Unsure: total is the number of people in the population, not 0.5."),
    ],
)
def test_one_mistake_is_told_once(make, sentence):
    with pytest.raises(InputError) as told:
        make()
    assert told.value.problems == (sentence,)


def test_mistakes_beside_a_wrong_name_are_still_told_together():
    with pytest.raises(InputError) as told:
        cf.Swap({"race"}, rate=30)
    assert len(told.value.problems) == 2


def test_what_was_foreseen_keeps_its_own_sentence():
    with pytest.raises(InputError, match=r"for 30 percent write 0\.3"):
        cf.Swap("race", rate=30)


@pytest.mark.parametrize("value", [3, 3.5, np.int64(3), np.float32(0.5)])
def test_numbers_of_numpy_are_numbers(value):
    assert fits(value, float)
    assert not fits(value, str)
    assert not fits(True, float)
    assert fits(pl.Series([1.0]), object)


def test_documents_nested_without_end_are_refused(tmp_path):
    path = tmp_path / "plan.json"
    for depth in (60, 5000, 200_000):
        path.write_text('{"steps": ' + "[" * depth + "]" * depth + "}")
        with pytest.raises(InputError, match="deep inside of each other"):
            cf.Plan.load(path)
    path.write_text('{"weight": ' + "9" * 5000 + "}")
    with pytest.raises(InputError, match="too many digits"):
        cf.Plan.load(path)


def test_a_record_without_a_digest_is_damaged():
    record = cf.Plan([cf.Sample(0.9)]).protect(HEADS, seed=1).record(private=True)
    for part in (lambda r: r["private"]["original"], lambda r: r["released"]):
        spoiled = json.loads(json.dumps(record))
        del part(spoiled)["sha256"]
        with pytest.raises(InputError, match="damaged"):
            cf.replay(HEADS, spoiled)
