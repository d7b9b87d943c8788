"""What a statistician may get wrong with files made elsewhere: a sentence each."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

import confide as cf

FILE = pl.DataFrame({"age": [31, 42, 57, 68] * 30, "sex": ["f", "m", "m", "f"] * 30, "x": [k / 7 for k in range(120)]})
GONE = FILE.with_columns(sex=pl.lit(None, dtype=pl.String))
RELEASE = cf.Release.adopt(FILE, FILE)


def nearest(**more: object) -> cf.Matches:
    return cf.Nearest(["age", "sex"], numeric="age").attack(RELEASE, **more)  # type: ignore[arg-type]


CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: cf.Radius("age", share=10), r"share is a fraction between 0 and 1; for 10 percent write 0\.1"),
    (lambda: cf.Radius("age", share="wide"), "share must be a number, not str"),
    (lambda: cf.Radius("age", floor=-1), "floor is a distance in units of the variable, 0 or more"),
    (lambda: cf.Radius("age", floor="half"), 'floor is "precision" or a distance'),
    (lambda: cf.Radius("age", floor={"agee": 1}), 'floor names "agee", which is not known. Did you mean "age"'),
    (lambda: cf.Radius("age", spikes=0), "spikes is a share of rows above 0"),
    (lambda: cf.Radius([]), "knows takes the name of a column"),
    (lambda: cf.Radius("age", wildcard="sex"), 'wildcard names "sex", which is not known'),
    (lambda: cf.Radius("age", numeric="age", categorical="age"), "categorical and numeric; choose one"),
    (lambda: cf.Nearest("age", weight=0), "weight must be above zero"),
    (lambda: cf.Nearest("age", distance="euclid"), 'distance is one of sd, gower, not "euclid"'),
    (lambda: cf.Nearest("agee").attack(RELEASE), 'there is no "agee" in the original file. Did you mean "age"'),
    (lambda: cf.Nearest("age").attack(FILE), "takes a release, not DataFrame: make one of two files"),
    (lambda: cf.Nearest("age").attack(cf.Release.adopt(FILE, {"other": [1]})), "share no column"),
    (lambda: cf.Nearest("sex").attack(cf.Release.adopt(FILE, GONE)), '"sex" has no value in one of the files'),
    (lambda: cf.Release.adopt(FILE, FILE.clear()), "at least one original and one released row"),
    (lambda: cf.Nearest("x").attack(cf.Release.adopt(FILE, {"x": ["low", "high"]})), "holds text, but numbers are needed"),
    (lambda: cf.Nearest("sex").attack(cf.Release.adopt(FILE, FILE.with_columns(sex=pl.col("sex") + "?"))),
     'knows: no released value of "sex" occurs in the original'),
    (lambda: cf.Radius("age").attack(cf.Release.adopt(FILE, FILE.with_columns(pl.col("age").cast(pl.String)))),
     'knows: no released value of "age" occurs in the original'),
    (lambda: nearest(targets=FILE.drop("sex")), 'targets: there is no column "sex"'),
    (lambda: nearest(targets=FILE.clear()), "targets has no row"),
    (lambda: nearest().posterior(900), "one of the 120 targets, 0 to 119"),
    (lambda: nearest().guess(["x"]), "guess takes one variable at a time"),  # type: ignore[arg-type]
    (lambda: nearest().guess(["x", "sex"]), "guess takes one variable at a time"),  # type: ignore[arg-type]
    (lambda: nearest().guess("age"), '"age" is known already'),
    (lambda: nearest().guess("agee"), 'guess: there is no "agee"'),
    (lambda: nearest().guess("x", "quadratic"), 'loss is one of zero_one, absolute, squared, within, not "quadratic"'),
    (lambda: nearest().guess("x", within=5), r"for 5 percent write 0\.05"),
    (lambda: nearest().guess("x", "within"), r"needs within=\.\.\., a share of the truth"),
    (lambda: nearest().guess("x", "squared", within=0.1), 'within goes with loss="within"'),
    (lambda: cf.Nearest("x").attack(RELEASE).guess("sex", "absolute"), "holds text, but numbers are needed"),
    (lambda: cf.Nearest("x").attack(cf.Release.adopt(FILE, FILE.with_columns(sex=pl.lit("?")))).guess("sex"),
     "no released value of \"sex\" occurs in the original"),
    (lambda: cf.Nearest("x").attack(cf.Release.adopt(FILE.with_columns(sex=pl.lit("f")), FILE)).guess("sex"),
     '"sex" has one value in the original: there is nothing to learn'),
    (lambda: nearest().guess("x", held_out=FILE.head(50)), "50 of 50 people equal a person of the original file"),
    (lambda: nearest().guess("x", held_out=FILE.drop("sex")), 'held_out: there is no column "sex"'),
    (lambda: nearest().guess("x", held_out=FILE.drop("x").with_columns(age=pl.col("age") + 90)),
     'The people who are attacked have no column "x"'),
    (lambda: cf.SinglingOut(attacks=0), "attacks is a whole number from 1 upwards"),
    (lambda: cf.SinglingOut(mode="both"), 'mode is one of multivariate, univariate, not "both"'),
    (lambda: cf.SinglingOut(columns=5).attack(RELEASE), "columns is 5, but there are 3 variables"),
    (lambda: cf.SinglingOut(variables="y").attack(RELEASE), 'variables: there is no "y"'),
    (lambda: cf.SinglingOut().attack(RELEASE, held_out=FILE), "Held-out people must not be in the file"),
    (lambda: cf.Linkability(["age"], ["age", "x"]), "age is in both files"),
    (lambda: cf.Linkability(["age"], ["x"], neighbours=0), "neighbours is a whole number"),
    (lambda: cf.Linkability(["age"], ["x"], numeric="sex"), 'numeric names "sex", which is in neither part'),
    (lambda: cf.Linkability(["age"], ["x"], neighbours=500).attack(RELEASE), "only 120 rows are released"),
    (lambda: cf.Inference("age", "age"), "learns is the name of one variable that is not known"),
    (lambda: cf.Inference("age", "x", within=5), r"for 5 percent write 0\.05"),
    (lambda: cf.Inference("age", "y").attack(RELEASE), 'there is no "y"'),
    (lambda: cf.customary_risks(FILE, FILE, keys="age", target="age"), "not among the keys"),
    (lambda: cf.customary_risks(FILE, keys="age", target="sex"), "takes the original and the released file"),
    (lambda: cf.customary_risks(FILE, GONE, keys="age", target="sex"), "all are missing"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), CASES, ids=[said[:40] for _, said in CASES])
def test_a_sentence_each(call: Callable[[], object], said: str) -> None:
    with pytest.raises(cf.InputError, match=said) as found:
        call()
    assert "68" not in str(found.value).replace("0.68", "")  # no value of the data


def test_few_columns_may_coincide() -> None:
    """Held-out people who are like others by chance are no overlap."""
    heads = cf.demo("heads").select("sex", "race", "tenure")
    release = cf.Release.adopt(heads.head(2_000), heads.head(2_000))
    assert cf.Nearest(["sex", "race"]).attack(release).guess("tenure", held_out=heads.tail(2_000)).excess is not None
