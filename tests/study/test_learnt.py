"""What would be learnt, in studies: risks, tables, rules, maps, and what is kept."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.study.evaluate import evaluate
from confide.study.levels import every
from confide.study.outside import published
from confide.study.pieces.keys import fingerprint, pieces_of
from confide.study.pieces.store import Store

HEADS = cf.demo("heads").head(400)
COSTS = {"right_identification": 1.0, "wrong_identification": 0.5, "right_attribution": 2.0, "wrong_attribution": 1.0}
WHO = {"near": cf.Intruder(knows=["sex", "race", "age"]), "owner": cf.Intruder(knows=["sex", "age", "tenure"])}
INCOME = cf.Learns("hh_income", loss=cf.Within(share=0.1), gain=0.5, costs={**COSTS, "threshold": 0.9})


def shuffled() -> cf.Plan:
    return cf.Plan([cf.Swap("hh_income", rate=1.0), cf.Swap("tenure", rate=1.0)], identifiers=["id"])


def study(**more: object) -> cf.Study:
    plans = {
        "shuffled": shuffled(),
        "coarse": cf.Plan([cf.Recode("age", width=20)], identifiers=["id"], drop=["tenure"]),
    }
    stated = {"learns": [INCOME, "tenure"], "repeats": 2, "seed": 1, **more}
    return cf.Study(HEADS, plans, WHO, ["hellinger"], **stated)  # type: ignore[arg-type]


@cache
def result() -> cf.StudyResult:
    return study().run()


def row(plan: str, who: str, variable: str) -> dict[str, float]:
    return result().learnt.filter(plan=plan, intruder=who, variable=variable).row(0, named=True)


def test_the_share_is_that_of_people_whose_guess_gets_better_by_more_than_the_gain() -> None:
    release = cf.Plan([], identifiers=["id"]).protect(HEADS, seed=5)
    guess = WHO["near"].attack(release).guess("hh_income", loss=cf.Within(share=0.1))
    adds = (guess.frame["loss_relations"] - guess.frame["loss"]).to_numpy()
    found = row("release everything", "near", "hh_income")
    assert found["learnt"] == pytest.approx(np.mean(adds > 0.5), abs=1e-12)
    assert found["misled"] == pytest.approx(np.mean(-adds > 0.5), abs=1e-12)
    assert found["loss"] == pytest.approx(guess.summary().loss, abs=1e-12)
    harm = guess.harm(**COSTS, threshold=0.9).frame.filter(what="both")["true_harm"].item()
    assert found["harm"] == pytest.approx(harm, abs=1e-9)
    assert (found["people"], found["left_out"], found["gain"]) == (400, 0, 0.5)


def test_columns_of_the_frame_are_the_risks_at_the_booked_level() -> None:
    frame = result().frame
    assert frame.columns[-4:] == ["learnt_hh_income", "harm_hh_income", "learnt_tenure", "hellinger"]
    near = frame.filter(plan="release everything", intruder="near").row(0, named=True)
    assert near["learnt_hh_income"] == row("release everything", "near", "hh_income")["learnt"]
    assert near["level"] == row("release everything", "near", "hh_income")["level"]
    assert result().learnt["level"].null_count() == 0


def test_who_knows_it_has_no_number_and_that_is_said() -> None:
    assert result().frame.filter(intruder="owner")["learnt_tenure"].is_null().all()
    assert result().frame.filter(intruder="near")["learnt_tenure"].null_count() == 0
    text = str(result())
    assert 'tenure is known to "owner", who cannot learn it.' in text
    assert "what would be learnt" in text
    with pytest.raises(cf.InputError, match="knows it already"):
        result().choose({"learnt_tenure": "5%"}, intruder="owner")


def test_a_permuted_attribute_adds_nothing_beyond_noise_and_the_file_as_it_is_most() -> None:
    for v, who in (("hh_income", "near"), ("hh_income", "owner"), ("tenure", "near")):
        none, most = row("shuffled", who, v), row("release everything", who, v)
        people = none["people"]
        error = np.sqrt((none["learnt"] + none["misled"]) / people)
        assert abs(none["learnt"] - none["misled"]) <= 3 * error + 1e-12
        assert none["relations"] - none["loss"] <= 3 * error + 1e-12
        every = [row(p, who, v) for p in ("shuffled", "coarse", "release everything")]
        assert max(e["relations"] - e["loss"] for e in every) == most["relations"] - most["loss"] > 0.1
        assert most["learnt"] >= none["learnt"]


def test_groups_add_up_to_all_people() -> None:
    groups = result().learnt_groups.filter(plan="coarse", intruder="near", learnt_of="hh_income")
    whole = row("coarse", "near", "hh_income")
    for (_,), part in groups.group_by(["variable"]):
        assert part["people"].sum() == whole["people"]
        assert part["learnt"].sum() == pytest.approx(whole["learnt"] * whole["people"])
        assert (part["loss"] * part["people"]).sum() == pytest.approx(whole["loss"] * whole["people"])


def test_rules_maps_and_frontiers_go_by_what_is_learnt() -> None:
    shares = {p: max(row(p, w, "hh_income")["learnt"] for w in WHO) for p in ("shuffled", "coarse")}
    between = sum(shares.values()) / 2
    safer = min(shares, key=lambda p: shares[p])
    chosen = result().choose({"learnt_hh_income": f"{100 * between}%"}, by="hellinger")
    assert chosen.plan == safer
    assert chosen.limits == {"learnt_hh_income": pytest.approx(between)}
    assert "learnt_hh_income" in chosen.reason
    assert " of 400" not in chosen.reason
    points = result().frontier("learnt_hh_income")
    assert points.filter(plan=safer)["risk"].item() == pytest.approx(shares[safer])
    assert points.filter(plan=safer)["worst_intruder"].item() in WHO
    assert "hh_income would be learnt" in json.dumps(result().map(risk="learnt_hh_income").to_dict())
    assert result().map(risk="harm_hh_income", limits={"harm_hh_income": 0.5}) is not None
    ruled = study(choice=cf.Rule({"learnt_hh_income": "90%", "harm_hh_income": 1e6}, by="hellinger"))
    chosen = ruled.run().choose()
    assert (chosen.plan, chosen.by) == ("shuffled", "hellinger")  # as useful as the file as it is, and less is learnt
    assert set(chosen.risks) == {"learnt_hh_income", "harm_hh_income"}


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"learnt_hh_income": 5}, "share of the targets"),
        ({"learnt_age": "5%"}, 'learns=\\["age"\\]'),
        ({"harm_tenure": 3}, "needs costs"),
        ({"harm_hh_income": "5%"}, "unit of its costs"),
    ],
)
def test_limits_that_cannot_be_meant(limits: dict[str, float | str], words: str) -> None:
    with pytest.raises(cf.InputError, match=words):
        result().choose(limits, by="hellinger")
    with pytest.raises(cf.InputError, match=words):
        study(choice=cf.Rule(limits, by="hellinger"))


def test_a_study_that_names_nothing_is_as_it_was() -> None:
    plain = study(learns=(), repeats=1)
    assert plain.learns == ()
    piece = pieces_of(plain, 1)[1]
    assert fingerprint(plain) != fingerprint(study(repeats=1))
    assert piece.key != pieces_of(study(repeats=1), 1)[1].key
    found = plain.run()
    assert not [c for c in found.frame.columns if "learnt" in c]
    assert "learnt" not in str(found)


def test_files_of_a_study_that_names_nothing_hold_nothing_of_it(tmp_path: Path) -> None:
    study(learns=(), repeats=1).run(tmp_path / "plain")
    text = "".join(p.read_text() for p in (tmp_path / "plain").rglob("*.json"))
    assert "learnt" not in text
    assert "learns" not in text


def test_it_is_kept_loaded_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study(repeats=1).run(tmp_path / "a")
    loaded = cf.StudyResult.load(tmp_path / "a")
    assert loaded.learns == first.learns
    for table in ("frame", "learnt", "learnt_groups"):
        assert getattr(loaded, table).equals(getattr(first, table))
    monkeypatch.setattr("confide.study.run.evaluate", None)  # nothing is computed again
    again = study(repeats=1).run(tmp_path / "a")
    assert again.learnt.equals(first.learnt)
    assert again.frame.equals(first.frame)


def test_a_piece_that_has_lost_what_was_learnt_is_computed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = study(repeats=1).run(tmp_path / "a")
    key = pieces_of(study(repeats=1), 1)[1].key
    with Store.opened(tmp_path / "a") as store:
        held = dict(store.get(key) or {})
        store.put(key, {**held, "learnt": held["learnt"][1:]})
    again = study(repeats=1).run(tmp_path / "a")
    assert "damaged" in capsys.readouterr().err
    assert again.frame.equals(first.frame)


def test_outside_has_rounded_shares_only() -> None:
    out = published(result(), 10)
    assert out.learnt["loss"].null_count() == out.learnt.height
    assert out.learnt["harm"].null_count() == out.learnt.height
    assert out.frame["harm_hh_income"].null_count() == out.frame.height
    shares = out.frame["learnt_hh_income"].drop_nulls() * 400
    assert all(s == 5 or round(s, 9) % 10 == 0 for s in shares)
    assert out.learnt_groups["loss"].null_count() == out.learnt_groups.height
    assert (out.learnt_groups["people"] >= 10).all()
    assert all(n % 10 in (0, 5) for n in out.learnt_groups["learnt"])
    small = HEADS["race"].value_counts().filter(pl.col("count") < 10)["race"].cast(pl.String).to_list()
    assert not set(small) & set(out.learnt_groups["level"])


def test_one_draw_is_held_against_the_limits_of_what_is_learnt() -> None:
    ruled = study(choice=cf.Rule({"learnt_hh_income": 0.0, "learnt_tenure": "100%"}, by="hellinger"), repeats=1).run()
    one = ruled.check(ruled.plans["coarse"].protect(HEADS, seed=9), "coarse")
    assert {"learnt_hh_income", "learnt_tenure"} <= set(one.frame["measure"])
    assert any("learnt_hh_income" in line for line in one.broken)
    assert not any("learnt_tenure" in line for line in one.broken)
    assert "learnt_hh_income" in str(one)


def test_only_levels_that_may_be_booked_are_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, who = cf.Plan([cf.Swap("race", rate=0.5)], identifiers=["id"]), {"near": WHO["near"]}
    monkeypatch.setattr("confide.study.evaluate.contenders", lambda _: {"near": ["exact"]})
    found = evaluate(HEADS, plan, who, [cf.Hellinger()], 1, ways=every, learns=[cf.Learns("tenure")])
    assert len(found.met["near"]) == 4
    assert [one.level for one in found.learnt] == ["exact"]
    assert not evaluate(HEADS, plan, who, [cf.Hellinger()], 1, ways=every).learnt


def test_a_guess_that_shares_the_hit_with_one_other_has_not_passed_half() -> None:
    release = cf.Plan([], identifiers=["id"]).protect(HEADS, seed=5)
    frame = WHO["near"].attack(release).guess("tenure").frame
    adds = (frame["loss_relations"] - frame["loss"]).to_numpy()
    assert np.mean(np.abs(adds - 0.5) < 1e-9) > 0.02
    assert row("release everything", "near", "tenure")["learnt"] == pytest.approx(np.mean(adds > 0.5 + 1e-9), abs=1e-12)
