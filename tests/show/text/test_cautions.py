"""What is doubtful about an attack is said where it is printed."""

from __future__ import annotations

import polars as pl
import pytest

import confide as cf
from confide.show.text import cautions
from tests.helpers.panels import panel

HEADS = cf.demo("heads").head(900).select("id", "sex", "race", "marital", "age", "tenure", "hh_income")
KEYS = ["sex", "race", "marital", "age"]
SWAPPED = cf.Plan([cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=1)
SYNTHETIC = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers="id").protect(HEADS, seed=1)


def printed(attack: object) -> str:
    """The printout without line breaks."""
    return " ".join(str(attack).split())


def test_a_calibrated_attack_says_so_without_a_caution() -> None:
    attack = cf.Intruder.at("exact", knows=KEYS).attack(SWAPPED)
    claims = attack.calibration()
    assert f"claimed {claims.claimed:,.1f}" in printed(attack)
    assert f"true {claims.true:,.1f}" in printed(attack)
    assert f"z {claims.z:+.1f}" in printed(attack)
    assert "Caution" not in printed(attack)


def test_claims_that_are_off_and_a_stronger_level() -> None:
    attack = cf.Intruder(knows=["sex", "age", "hh_income"]).attack(SYNTHETIC)
    found = attack.stronger().frame.filter(level="exact")["found"][0]
    assert "right less often than it claims: risk stated from its claims is overstated" in printed(attack)
    assert f"level exact finds {found:,.0f} (" in printed(attack)
    assert "of 900 targets tried, this level (informed)" in printed(attack)
    assert attack._repr_html_().count("<p>Caution: ") == 2


def test_large_files_are_tried_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "PRINTED", 100)
    attack = cf.Intruder(knows=KEYS).attack(SWAPPED)
    assert "levels exact, unaltered and naive were not tried on a file of this size" in printed(attack)


def test_a_stated_weakness_is_no_reason_for_a_caution() -> None:
    assert "level exact" not in printed(cf.Intruder.at("naive", knows=KEYS).attack(SWAPPED))


def test_intervals_that_miss_are_counted() -> None:
    targets = HEADS.with_columns(low=pl.lit(30), high=pl.lit(60))
    outside = HEADS.filter((pl.col("age") < 30) | (pl.col("age") > 60)).height
    who = cf.Intruder(knows=["sex", "race"], between={"age": ("low", "high")})
    said = f"the interval of age misses the true value of {outside:,} of 900 targets"
    assert said in printed(who.attack(SWAPPED, targets))
    right = targets.with_columns(low=pl.col("age") // 50 * 50, high=pl.lit(None, dtype=pl.Int64))
    assert "interval of age misses" not in printed(who.attack(SWAPPED, right))


def test_units_that_cannot_be_meant() -> None:
    frame = panel(400).with_columns(pl.when(pl.int_range(pl.len()) % 10 > 0).then("household").alias("household"))
    frame = frame.with_columns(block=pl.int_range(pl.len()) // 100)
    release = cf.Plan([cf.Swap("job", rate=0.2)]).protect(frame, seed=1)
    gaps = cf.Intruder(knows=["region", "sex", "job"], unit="household").attack(release)
    assert '160 original rows (10.0%) have no "household": each counts as a unit of its own' in printed(gaps)
    huge = cf.Intruder(knows=["region", "sex", "job"], unit="block").attack(release)
    assert '16 units have 100 rows each on average: does "block" say' in printed(huge)
    with pytest.raises(cf.InputError, match='"sex" puts 1,600 rows into 2 units'):
        cf.Intruder(knows=["region", "job"], unit="sex").attack(release)


def test_found_is_first_and_counts_have_shares() -> None:
    lines = str(cf.Intruder(knows=KEYS).attack(SWAPPED).summary()).splitlines()
    names = ["targets", "found", "claimed", "declared above 0.2", "expected matches", "unique matches"]
    assert [line[:18].strip() for line in lines[:6]] == names
    assert all("%" in line for line in lines[1:])
    assert "of whom wrong" in lines[3]
    assert "altered values break ties: may rise with protection" in lines[6]


def test_tables_and_other_printouts_have_shares() -> None:
    attack = cf.Intruder(knows=KEYS).attack(SWAPPED)
    table, found = attack.declare([0.1, 0.5]), attack.summary()
    assert table["share_declared"].to_list() == pytest.approx((table["declared"] / 900).to_list())
    assert attack.ranks(3)["share"].sum() == pytest.approx(1.0)
    assert f"{found.found:,.1f} ({found.found_share:.1%})" in printed(attack.grid())
    copies = SWAPPED.plan.protect(HEADS.select("id", "sex", "race"), seed=1, copies=2, linked=False)  # type: ignore[union-attr]
    assert "of 900 targets per copy, on average, found " in printed(cf.Intruder(knows=["sex", "race"]).attack(copies))


def test_sampling_shows_where_membership_is_unsure() -> None:
    sure, unsure = (
        cf.Intruder(knows=KEYS, membership=m).attack(SWAPPED).summary() for m in ("certain", cf.Unsure(total=90_000))
    )
    assert sure.expected_matches == unsure.expected_matches
    assert "p_absent" not in str(sure)
    assert "each right match counts 1 - p_absent" in str(unsure)
    assert "mean probability that a target is not in the file" in str(unsure)
    assert "if known to be in the file; found allows for not knowing" in str(unsure)
    assert (unsure.given_presence, unsure.released, unsure.targets) == (True, 900, 900)
    assert f"({unsure.p_absent:.1%})" in str(unsure)


@pytest.mark.parametrize(
    ("membership", "stated"),
    [
        (cf.Unsure(total=90_000), "a population of 90,000 and a log-linear model"),
        (cf.Unsure(total=900), "a population of 900 and a log-linear model"),
        (cf.Unsure(weights="age", model="proportional"), 'the weights "age" and proportion to the release'),
        (cf.Unsure(population=HEADS), "the population that is given"),
    ],
)
def test_what_claims_and_truth_do_not_check_is_said(membership: cf.Unsure, stated: str) -> None:
    attack = cf.Intruder(knows=KEYS, membership=membership).attack(SWAPPED)
    said = "does not check how many people could be the target, since all targets are released: that rests on what "
    assert f"{said}was stated, {stated}, and counts on both sides" in printed(attack)
    assert stated in attack._repr_html_().replace("&quot;", '"')


def test_belief_that_is_checked_is_not_said_to_be_open() -> None:
    half = cf.Plan([cf.Sample(0.5)], identifiers="id").protect(HEADS, seed=1)
    from_outside = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=900)).attack(half, HEADS)
    in_file = cf.Intruder(knows=KEYS, membership="in_file").attack(half)
    for attack in (from_outside, in_file, cf.Intruder(knows=KEYS).attack(SWAPPED)):
        assert "does not check" not in printed(attack)
        assert "not checked" not in repr(attack.calibration())
    unsure = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=90_000)).attack(SWAPPED)
    assert repr(unsure.calibration()).endswith("is not checked: it counts on both sides, as stated.")


def test_targets_whom_nothing_fits_are_unknown_and_not_safe() -> None:
    wrong = HEADS.with_columns(pl.col("age").cast(pl.Int64) + 200)
    every = cf.Intruder(knows=KEYS).attack(SWAPPED, wrong)
    assert (every.summary().found, every.summary().unevaluated) == (None, 900)
    said = "no record can be that of 900 of 900 targets (100.0%), though they should be there"
    assert said in printed(every)
    assert said in every._repr_html_()
    assert "z +" not in printed(every)
    assert "found unknown" in printed(every)
    right = cf.Intruder(knows=KEYS).attack(SWAPPED, HEADS.head(300)).summary()
    some = cf.Intruder(knows=KEYS).attack(SWAPPED, pl.concat([HEADS.head(300), wrong.tail(100)]))
    assert some.summary().found == pytest.approx(right.found)
    assert f"not small; of the other 300, {right.found_share:.1%} are found" in printed(some)
    assert "no record can be that of" not in printed(cf.Intruder(knows=KEYS).attack(SWAPPED))
