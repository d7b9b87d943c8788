"""A study encodes each column of the original once, and each of a released file once."""

from __future__ import annotations

from collections import Counter

import polars as pl

import confide as cf
from confide.frames.encoded import Encoded
from confide.study.evaluate import evaluate
from tests.helpers.columns import counted

HEADS = cf.demo("heads").head(400).with_columns(pl.col(pl.Enum).cast(pl.String))
INTRUDERS = {"near": cf.Intruder(knows=["sex", "race", "age"]), "tax": cf.Intruder(knows=["race", "hh_income"])}
MEASURES = [cf.Means("hh_income"), cf.Entropy(), cf.RegressionOverlap("hh_income ~ C(race) + age")]
STEPS = [cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=900)]
PLAN = cf.Plan(STEPS, identifiers=["id"], weight="weight")


def test_one_piece_encodes_a_column_of_each_file_once_for_each_kind() -> None:
    with counted(HEADS) as many:
        evaluate(HEADS, PLAN, INTRUDERS, MEASURES, seed=1)
    assert set(many.values()) == {1}, [key for key, times in many.items() if times > 1]
    released = {v for file, v, _ in many if file == "other"}
    assert released == {"hh_income"}  # all others are the original's in another order


def test_pieces_of_a_study_share_the_original() -> None:
    plans = {"swap": PLAN, "coarse": cf.Plan([cf.Recode("age", width=10), *STEPS], identifiers=["id"], weight="weight")}
    study = cf.Study(HEADS, plans, INTRUDERS, MEASURES, repeats=3, seed=1)
    with counted(HEADS) as many:
        study.run(threads=2, progress=False)
    assert {times for (file, _, _), times in many.items() if file == "original"} == {1}


def test_a_study_does_not_see_what_becomes_of_the_callers_frame() -> None:
    frame = HEADS.clone()
    mine, theirs = (cf.Study(f, {"swap": PLAN}, INTRUDERS, MEASURES, repeats=1, seed=1) for f in (HEADS, frame))
    frame[0, "hh_income"] = 10**9
    assert theirs.run(progress=False).frame.equals(mine.run(progress=False).frame)


def test_a_file_that_several_share_gives_what_each_alone_gives() -> None:
    shared = Encoded.of(HEADS)
    for seed in (1, 2):
        for plan in (PLAN, cf.Plan([cf.Recode("age", width=10)], identifiers=["id"], weight="weight")):
            apart = evaluate(HEADS, plan, INTRUDERS, MEASURES, seed=seed, audit="thorough")
            found = evaluate(shared, plan, INTRUDERS, MEASURES, seed=seed, audit="thorough")
            assert [getattr(found, k) for k in ("met", "utility", "traces", "quoted")] == [
                getattr(apart, k) for k in ("met", "utility", "traces", "quoted")
            ]


def test_the_audit_notes_what_a_measure_reads_also_where_it_is_remembered() -> None:
    from confide.measure.utility.run import pairs_of

    release = PLAN.protect(HEADS, seed=1)
    reads: list[Counter[str]] = []
    for _ in range(2):
        pair = pairs_of([release])[0]
        for m in MEASURES:
            m.of([pair])
        reads.append(Counter(pair.reads))
    assert reads[0] == reads[1]
    assert set(reads[0]) == set(pair.shared)
