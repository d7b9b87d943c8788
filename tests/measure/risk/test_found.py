"""What is found: the intruder's doubt counts once, by people who are absent or by the factor 1 - p_absent."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.attack.results import tried as module
from confide.attack.results.question import Question
from confide.attack.results.units import found_matches
from confide.measure.risk.calibration import calibrate
from confide.measure.risk.claims import claims_of
from confide.study.groups import Groups

HEADS = cf.demo("heads").head(1200)
KEYS = ["sex", "race", "marital", "age"]
SAMPLED = cf.Plan([cf.Sample(0.25)], identifiers="id").protect(HEADS, seed=3)
SWAPPED = cf.Plan([cf.Sample(0.25), cf.Swap("race", rate=0.3)], identifiers="id").protect(HEADS, seed=3)


def picked(attack: cf.Attack) -> float:
    """How often one of the likeliest records is the target's own: the mean over all ways to pick."""
    n = [u["hit"] / max(u["n_max"], 1) for u in attack.units.iter_rows(named=True)]
    return float(np.sum(n))


@pytest.mark.parametrize(
    ("membership", "targets"),
    [("in_file", None), (cf.Unsure(population=HEADS), HEADS), (cf.Unsure(total=1_200), HEADS)],
)
def test_absent_targets_count_nothing_and_nobody_else_counts_less(membership: object, targets: object) -> None:
    attack = cf.Intruder(knows=KEYS, membership=membership).attack(SAMPLED, targets)  # type: ignore[arg-type]
    summary, claims = attack.summary(), claims_of(attack.units)
    assert claims is not None
    assert summary.p_absent > 0.5
    assert summary.found == pytest.approx(picked(attack), rel=1e-12)
    assert summary.found == summary.expected_matches == pytest.approx(claims.true, rel=1e-12)
    assert "900 of the targets are not in the release and count 0" in str(summary)
    assert "1 - p_absent" not in str(summary)


def test_people_behind_records_count_by_the_probability_of_being_there() -> None:
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(population=HEADS)).attack(SAMPLED)
    count = HEADS.group_by(KEYS).len()
    customary = (1 / SAMPLED.frame.join(count, on=KEYS, how="left")["len"]).sum()
    assert attack.summary().found == pytest.approx(customary, rel=1e-12)
    assert attack.summary().found < 0.7 * attack.summary().expected_matches
    assert "each right match counts 1 - p_absent" in str(attack.summary())


def test_absent_people_of_whom_no_record_could_be_meant_are_targets_too() -> None:
    """They have no candidate and leave the calibration, which still counts as `found` does."""
    units = pl.DataFrame({
        "hit": [True, False], "n_max": [1, 0], "p_max": [0.5, 0.0], "p_absent": [0.5, 1.0], "p_true": [0.5, None],
    })  # fmt: skip
    assert calibrate(units, 1).true == found_matches(units).sum() == 1.0


def test_a_sample_of_targets_counts_as_all_of_them_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """One absent person among all targets: a sample without that person follows the same rule."""
    everybody = pl.concat([HEADS[np.sort(np.asarray(SWAPPED.link))], HEADS[_absent()[:1]]])
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=20_000)).attack(SWAPPED, everybody)
    assert attack.summary().found == attack.summary().expected_matches
    monkeypatch.setattr(module, "_sample", lambda n: np.arange(n - 1))
    own, exact, _ = attack.stronger().frame.rows(named=True)
    assert own["found"] == pytest.approx(attack.summary().found)
    every = cf.Intruder.at("exact", knows=KEYS, membership=cf.Unsure(total=20_000)).attack(SWAPPED, everybody)
    assert exact["found"] == pytest.approx(every.summary().found)
    assert exact["claimed"] == pytest.approx(every.units["p_max"][:-1].sum())


def test_one_person_is_explained_as_the_part_of_all_targets() -> None:
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=20_000)).attack(SWAPPED, HEADS)
    target = int(attack.units.filter(pl.col("hit"))["target"][0])
    answer = Question.of(attack, target).ask(KEYS, whole=True)
    assert answer is not None
    assert answer[1] == pytest.approx(attack.units["p_max"][target], rel=1e-9)


def test_groups_of_people_add_up_to_what_is_found() -> None:
    who = cf.Intruder(knows=KEYS, membership="in_file")
    attack = who.attack(SAMPLED)
    rows = Groups.of(HEADS, [who]).rows([attack], who, 0.2)
    assert sum(r[-1] for r in rows if r[0] == "sex") == pytest.approx(attack.summary().found)


def test_only_altered_values_are_said_to_break_ties() -> None:
    plain, swapped = (cf.Intruder(knows=KEYS, membership="in_file").attack(r).summary() for r in (SAMPLED, SWAPPED))
    assert plain.false_match_rate is not None
    assert plain.false_match_rate > 0.5  # people who are not there, each with one record like them
    assert plain.unique_wrong == 0
    assert "break ties" not in str(plain)
    assert swapped.unique_wrong
    assert "break ties" in str(swapped)


def test_unknown_truth_stays_unknown() -> None:
    adopted = cf.Release.adopt(HEADS, SAMPLED.data, SAMPLED.plan)
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=20_000)).attack(adopted)
    assert attack.summary().found is None
    units = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=20_000)).attack(SAMPLED).units
    assert attack.units.height == HEADS.height
    assert_frame_equal(
        units.select("p_max").unique().sort("p_max"),
        attack.units.filter(pl.col("p_max") > 0).select("p_max").unique().sort("p_max"),
    )


def _absent() -> list[int]:
    return sorted(set(range(HEADS.height)) - {int(k) for k in np.asarray(SAMPLED.link)})


def test_a_grid_and_a_rule_of_declaring_count_as_the_summary_does() -> None:
    attack = cf.Intruder(knows=KEYS, membership=cf.Unsure(total=20_000)).attack(SWAPPED)
    found = attack.summary()
    assert found.found is not None
    assert attack.declare(0.0)["found"].item() == pytest.approx(found.found_share)
    drawn = attack.grid().chart().to_dict()
    (data,) = drawn["datasets"].values()
    informed = [r for r in data if {r["available"], r["unavailable"], r["others"]} == {"informed"}]
    assert informed[0]["found"] == pytest.approx(found.found)
