"""A release owns the arrays of both files, and they are what encoding its frames gives, whatever the method."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.registry import known
from confide.frames.columns import encode_column
from confide.frames.comparing import in_unit, same_numbers
from tests.helpers.columns import counted, same, tried

HEADS = cf.demo("heads").head(300)
FORMS = {
    "as read": HEADS,
    "text": HEADS.with_columns(pl.col(pl.Enum).cast(pl.String)),
    "codes": HEADS.with_columns(pl.col(pl.Enum).to_physical()),
    "pooled": HEADS.with_columns(pl.col(pl.Enum).cast(pl.String).cast(pl.Categorical), pl.col("age").cast(pl.Float32)),
}
BOTH = [[0.8, 0.2], [0.1, 0.9]]
PLANS = {
    "nothing": cf.Plan([]),
    "recode": cf.Plan([cf.Recode("age", width=5)]),
    "topcode": cf.Plan([cf.Topcode("hh_income", at=90_000), cf.Bottomcode("age", at=20)]),
    "round": cf.Plan([cf.Round("hh_income", base=100)]),
    "swap": cf.Plan([cf.Swap(["race", "educ"], rate=0.3, within="sex"), cf.Swap("marital", rate=0.9)]),
    "pram": cf.Plan([cf.Pram("sex", matrix=BOTH)], categorical=["sex", "n_persons"]),
    "noise": cf.Plan([cf.Noise("age", sd=3), cf.Noise("hh_income", relative=0.1)]),
    "sample": cf.Plan([cf.Sample(0.1), cf.Swap("race", rate=0.5)]),
    "rank swap": cf.Plan([cf.RankSwap("hh_income", window=10)]),
    "quantile": cf.Plan([cf.QuantileRegression("hh_income", given=["sex", "age"], quantiles=9)]),
    "hot deck": cf.Plan([cf.HotDeck(["hh_income", "wage_income"], match="age", within="sex", window=5)]),
    "cart": cf.Plan([cf.CartSynthesis("race", given=["sex", "age"])], categorical=["race"]),
    "logistic": cf.Plan([cf.LogisticSynthesis("race", given=["sex", "age"])], categorical=["race"]),
    "recompute": cf.Plan([cf.CartSynthesis("wage_income"), cf.Recompute("hh_income", plus="wage_income")]),
    "normal": cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])]),
    "microaggregate": cf.Plan([cf.Microaggregate(["hh_income", "age"], k=3)]),
    "local suppression": cf.Plan([cf.LocalSuppression(["sex", "race", "marital", "age"], k=3)]),
    "error": cf.Plan([cf.MeasurementError("age", noise_sd=3)]),
    "mask": cf.Plan([cf.MatrixMask(["hh_income", "age"], C=np.ones((300, 2)))], drop=["id"]),
}


def test_every_method_is_tried() -> None:
    tried_here = {type(s) for p in PLANS.values() for s in p.parts}
    left = {c.__name__ for c in known("method").values() if not c.__name__.startswith("_")} - {
        t.__name__ for t in tried_here
    }
    assert left <= {"MultiplicativeNoise", "LogNoise", "LognormalNoise"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLANS)
def test_arrays_are_what_encoding_the_frames_gives(name: str, form: str) -> None:
    plan = replace(PLANS[name], identifiers=["id"] if name != "mask" else ())
    release = plan.protect(FORMS[form], seed=3, draws="shared")
    for file, frame in ((release.before, release.original), (release.after, release.frame)):
        for v in frame.columns:
            for kind in ("categorical", "numeric"):
                wanted = tried(frame[v], kind)
                if not isinstance(wanted, str):
                    assert same(file.column(v, kind), wanted), (v, kind)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLANS)
def test_both_files_in_the_forms_of_the_plan(name: str, form: str) -> None:
    plan = replace(PLANS[name], identifiers=["id"] if name != "mask" else ())
    release = plan.protect(FORMS[form], seed=3, draws="shared")
    names = [v for v in ("sex", "race", "age", "hh_income") if v in release.frame.columns]
    original, released = release.encoded(names)
    assert release.compiled is not None
    for v in names:
        kind = plan.kinds.get(v)
        before = encode_column(release.original[v], kind)
        expected = release.compiled.released_form(before)
        after = encode_column(in_unit(release.frame[v], expected.dtype), expected.kind, special=before.special)
        assert same(original[v], before)
        assert same(released[v], same_numbers(release.frame[v], after, expected))


def test_text_that_steps_moved_is_not_read_again() -> None:
    data = FORMS["text"]
    with counted(data) as many:
        release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(data, seed=1)
        cf.Intruder(knows=["sex", "race", "age"]).attack(release, progress=False)
        cf.Intruder(knows=["sex", "race"]).attack(release, progress=False)
    assert dict(many) == {("original", v, k): 1 for v, k in
                          (("sex", "categorical"), ("race", "categorical"), ("age", "numeric"))}  # fmt: skip


def test_copies_share_the_original_and_each_has_a_file_of_its_own() -> None:
    plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers=["id"])
    copies = plan.protect(HEADS, seed=1, copies=3)
    with counted(HEADS) as many:
        cf.utility(copies, ["means", "hellinger"])
        cf.Intruder(knows=["sex", "age"]).attack(copies, progress=False)
    assert max(many[key] for key in many if key[0] == "original") == 1
    assert len({id(r.before) for r in copies}) == 1
    assert len({id(r.after) for r in copies}) == 3


def test_nobody_changes_the_arrays() -> None:
    plan = cf.Plan(
        [cf.Recode("age", width=5), cf.Swap("race", rate=0.3), cf.Noise("hh_income", sd=900)],
        identifiers=["id"], weight="weight",
    )  # fmt: skip
    release = plan.protect(HEADS, seed=1)
    files = (release.before, release.after)
    held = [(f, v, f.column(v).values, f.column(v).values.copy()) for f in files for v in f.frame.columns]
    for who in (["sex", "race", "age"], ["sex", "hh_income"]):
        cf.Intruder(knows=who).attack(release, progress=False).calibration()
    cf.utility(release, ["means", "entropy", "total_variation", "propensity", "correlations"])
    for f, v, now, before in held:
        assert np.array_equal(now, before, equal_nan=f.column(v).kind == "numeric"), v
        assert f.column(v).values is now


def test_another_frame_has_other_arrays() -> None:
    release = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(HEADS, seed=1)
    less = replace(release, frame=release.frame.head(10), link=release.link[:10])
    assert len(less.after.column("race").values) == 10
    assert less.before is release.before
    again = pickle.loads(pickle.dumps(release))
    assert same(again.after.column("race"), release.after.column("race"))
    assert (again.before.frame is again.original, again.after.frame is again.frame) == (True, True)


def test_parts_of_a_plan_are_found_once() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.3), cf.Sample(0.5)])
    assert plan.parts is plan.parts
    assert plan == cf.Plan([cf.Swap("race", rate=0.3), cf.Sample(0.5)])
    assert repr(plan) == repr(pickle.loads(pickle.dumps(plan)))
