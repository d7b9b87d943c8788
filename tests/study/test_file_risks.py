"""Customary risks of the file in studies: columns, means over repeats, rules, maps, files, reports, and bad input."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

import confide as cf
from confide.measures import HouseholdRisk, KAnonymity, KMap, LDiversity, TCloseness
from confide.study.evaluate import repeat_seed
from confide.study.outside import published
from confide.study.pieces.keys import fingerprint, pieces_of
from confide.study.pieces.restored import restored

HEADS = cf.demo("heads").head(600)
KEYS = ["sex", "race", "age"]
WHO = {"near": cf.Intruder(knows=KEYS), "far": cf.Intruder(knows=["sex", "age"])}
RISKS = [
    KAnonymity(KEYS, k=3),
    KAnonymity(["sex", "age"], k=5, label="two"),
    TCloseness(KEYS, "tenure", t=0.3, kind="ordered"),
]
COLUMNS = ["k_anonymity", "k_anonymity_share", "k_anonymity_two", "k_anonymity_two_share", "t_closeness",
           "t_closeness_share", "t_closeness_largest"]  # fmt: skip
SWAP = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])


def study(**more: object) -> cf.Study:
    plans = {
        "swap": SWAP,
        "coarse": cf.Plan([cf.Recode("age", width=20)], identifiers=["id"]),
        "dropped": cf.Plan([cf.Recode("age", width=20)], identifiers=["id"], drop=["race"]),
    }
    stated = {"file_risks": RISKS, "repeats": 2, "seed": 1, **more}
    return cf.Study(HEADS, plans, WHO, ["hellinger"], **stated)  # type: ignore[arg-type]


@cache
def result() -> cf.StudyResult:
    return study(choice=cf.Rule({"k_anonymity": "2%"}, by="hellinger")).run()


def test_a_study_without_them_is_as_before() -> None:
    plain = study(file_risks=()).run()
    assert plain.frame.equals(result().frame.select(plain.frame.columns))
    assert set(result().frame.columns) - set(plain.frame.columns) == set(COLUMNS)
    assert fingerprint(study(file_risks=())) == fingerprint(cf.Study(HEADS, study().plans, WHO, ["hellinger"], 2, 1))
    assert fingerprint(study()) != fingerprint(study(file_risks=RISKS[:1]))


def test_numbers_are_those_of_each_released_file() -> None:
    seed = result().info.seed
    for repeat in range(2):
        release = SWAP.protect(HEADS, seed=repeat_seed(seed, repeat), draws="shared")
        mine = result().frame.filter(plan="swap", repeat=repeat)
        for risk in RISKS:
            for column, value in risk.numbers(release).items():
                assert mine[column].to_list() == [value] * 2
    mean = result().frame.filter(plan="swap")["k_anonymity"].mean()
    row = result().summary().filter(plan="swap", measure="k_anonymity")
    assert row["mean"].to_list() == [mean]
    assert row["intruder"].to_list() == [None]


def test_they_are_limits_of_rules_and_risks_of_maps() -> None:
    assert result().choose().plan == "coarse"
    both = result().choose(max_risk={"k_anonymity": 0, "found": 100}, by="hellinger")
    assert both.plan == "dropped"
    assert "worst intruder" not in both.reason.partition("found")[0]
    assert result().choose(max_risk={"t_closeness_largest": 0.9}, by="hellinger").plan == "release everything"
    title = result().map(risk="k_anonymity").to_dict()["title"]["subtitle"][0]
    assert title.startswith("Risk of the released file, the same for every intruder.")
    assert result().frontier("k_anonymity")["worst_intruder"].null_count() == 4


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"k_anonymity": 0.02}, r'For 2 percent of what it counts write \{"k_anonymity": "2%"\}'),
        ({"t_closeness_largest": "2%"}, "is no number of people, so it has no share"),
        ({"k_anonymity_share": 2}, "for 2 percent write 0.02"),
        ({"k_map": 3}, r'the study states no risk of the file "k_map"; state it in file_risks'),
    ],
)
def test_limits_that_make_no_sense(limits: dict[str, float | str], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        result().choose(max_risk=limits, by="hellinger")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"file_risks": [KAnonymity(["sex", "agee"])]}, 'file_risks "k_anonymity": there is no column "agee"'),
        ({"file_risks": [KAnonymity(["id", "sex"])]}, '"id" is an identifier, which no plan releases'),
        ({"file_risks": [HouseholdRisk(KEYS, "id")]}, r'state Plan\(..., unit="id"\) in its place'),
        ({"file_risks": [RISKS[0], RISKS[0]]}, "give the risks a label each"),
        ({"file_risks": ["k_anonymity"]}, "is not stated by its name alone"),
        ({"file_risks": [KAnonymity]}, "the class KAnonymity without parentheses"),
        ({"file_risks": [{"risk": "kanon", "keys": ["sex"]}]}, 'unknown risk "kanon"'),
        ({"file_risks": 3}, "file_risks is a list"),
        ({"utility": [cf.Hellinger(label="k_anonymity")]}, 'another column named "k_anonymity"'),
        ({"choice": cf.Rule({"k_anonimity": 0}, by="hellinger")}, 'Did you mean "k_anonymity"'),
    ],
)
def test_bad_input(more: dict[str, object], said: str) -> None:
    stated = {"plans": {"swap": SWAP}, "intruders": WHO, "utility": ["hellinger"], "file_risks": RISKS, **more}
    with pytest.raises(cf.InputError, match=said):
        cf.Study(HEADS, **stated)  # type: ignore[arg-type]


def test_what_cannot_be_computed_in_the_file_as_it_is_is_an_error_and_in_a_plan_a_remark() -> None:
    with pytest.raises(cf.InputError, match='file_risks "k_anonymity": KAnonymity: k is 1,000'):
        study(file_risks=[KAnonymity(KEYS, k=1000)]).run()
    plans = {"few": cf.Plan([cf.Sample(0.1)], identifiers=["id"])}
    found = cf.Study(HEADS, plans, WHO, ["hellinger"], 2, 1, file_risks=[KAnonymity("sex", k=100)]).run()
    assert found.frame.filter(plan="few")["k_anonymity"].null_count() == 4
    assert "k is 100" in found.details.filter(plan="few", measure="risk: k_anonymity")["detail"].item()
    table = found.choose(max_risk={"k_anonymity": 100}, by="hellinger").table
    assert table.filter(plan="few")["why_not"].item() == "k_anonymity is not known"


def test_what_limits_a_number_is_among_the_remarks() -> None:
    told = result().details.filter(measure="risk: k_anonymity")
    assert told["plan"].to_list() == ["release everything", "swap", "coarse", "dropped"]
    said = dict(told.select("plan", "detail").iter_rows())
    assert "Altered at random: race." in said["swap"]
    assert "Not released, so nobody is told apart by it: race." in said["dropped"]


def test_only_what_is_registered_is_taken() -> None:
    class Own(KAnonymity):
        """A class of somebody's own."""

    with pytest.raises(cf.InputError, match="the class Own is not registered"):
        study(file_risks=[Own(KEYS)])


def test_copies_are_averaged() -> None:
    plans = {"three": cf.Plan([cf.Swap("race", rate=0.5)], identifiers=["id"])}
    found = cf.Study(
        HEADS, plans, {"near": WHO["near"]}, ["hellinger"], 1, 1, copies={"three": 3}, file_risks=RISKS[:1]
    )
    seed = repeat_seed(1, 0)
    copies = plans["three"].protect(HEADS, seed=seed, draws="shared", copies=3)
    each = [RISKS[0].of(copy).value or 0.0 for copy in copies]
    assert found.run().frame.filter(plan="three")["k_anonymity"].item() == pytest.approx(sum(each) / 3)


def test_files_schema_and_results_come_back(tmp_path: Path) -> None:
    stated = study(choice=cf.Rule({"k_anonymity": 0}, by="hellinger"))
    for name in ("study.toml", "study.json"):
        stated.save(tmp_path / name, data="demo:heads")
        again = cf.Study.load(tmp_path / name)
        assert again.file_risks == stated.file_risks
        assert again.choice == stated.choice
    document = json.loads((tmp_path / "study.json").read_text())
    jsonschema.validate(document, cf.Study.json_schema())
    document["file_risk"][0]["kk"] = 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, cf.Study.json_schema())
    result().save(tmp_path / "kept")
    back = cf.StudyResult.load(tmp_path / "kept")
    assert back.file_risks == result().file_risks
    assert back.frame.equals(result().frame)


def test_populations_are_named_in_files(tmp_path: Path) -> None:
    people = cf.demo("heads_population")
    risk = KMap(KEYS, people, count="n_pop")
    stated = cf.Study(HEADS, {"swap": SWAP}, WHO, ["hellinger"], file_risks=[risk])
    with pytest.raises(cf.InputError, match='risk of the file "k_map": a document holds no data'):
        stated.save(tmp_path / "study.toml", data="demo:heads")
    stated.save(tmp_path / "study.toml", data="demo:heads", populations={"k_map": "demo:heads_population"})
    (again,) = cf.Study.load(tmp_path / "study.toml").on_file
    assert again.numbers(HEADS) == risk.numbers(HEADS)
    people.head(50).write_csv(tmp_path / "people.csv")
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "other.toml").write_text(text.replace("demo:heads_population", "people.csv"))
    assert cf.Study.load(tmp_path / "other.toml").on_file[0].population.height == 50  # type: ignore[attr-defined]
    assert fingerprint(stated) != fingerprint(cf.Study.load(tmp_path / "other.toml"))
    (tmp_path / "none.toml").write_text(text.replace("demo:heads_population", "nobody.csv"))
    with pytest.raises(cf.InputError, match=r"nobody\.csv"):
        cf.Study.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('risk = "k_anonymity"', '"keys" is missing'),
        ('risk = "k-anonymity"\nkeys = ["sex"]', 'unknown risk "k-anonymity"'),
        ('risk = "k_anonymity"\nkeys = ["sex"]\nkk = 3', 'unknown key "kk"'),
        ('risk = "k_anonymity"\nkeys = ["sex"]\nk = "3"', '"k" must be a whole number'),
        ('keys = ["sex"]', 'must be a table with a "risk"'),
        ('risk = "k_map"\nkeys = ["sex"]\npopulation = 3', "must be the name of a file"),
    ],
)
def test_tables_that_are_wrong(tmp_path: Path, table: str, said: str) -> None:
    study(file_risks=()).save(tmp_path / "study.toml", data="demo:heads")
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(f"{text}\n[[file_risk]]\n{table}\n")
    with pytest.raises(cf.InputError, match=said):
        cf.Study.load(tmp_path / "study.toml")


def test_pieces_are_taken_up_and_damage_is_noticed(tmp_path: Path) -> None:
    first = study().run(tmp_path / "work")
    assert study().run(tmp_path / "work").frame.equals(first.frame)
    piece = pieces_of(study(), first.info.seed)[1]
    held = json.loads(next((tmp_path / "work").rglob(f"*{piece.key}*")).read_text())["content"]
    asked = (list(WHO), ["hellinger"], (), COLUMNS)
    assert restored(held, *asked) is not None
    for wrong in (
        {"file_notes": {"a": 1}},
        {"file_risks": {}},
        {"file_risks": {**held["file_risks"], "t_closeness": "a"}},
        {"file_refused": []},
    ):
        assert restored(held | wrong, *asked) is None
    assert restored({k: v for k, v in held.items() if k != "file_risks"}, *asked) is None


def test_printouts_tell_them_and_nothing_goes_outside() -> None:
    text = str(result())
    assert "k_anonymity: records in classes of fewer than 3." in text
    assert "as if its values were true" in text
    assert published(result()).frame["k_anonymity"].null_count() == published(result()).frame.height


@pytest.mark.slow
def test_reports_tell_them_and_outside_none(tmp_path: Path) -> None:
    page = result().report(tmp_path / "in.html").read_text()
    assert "Customary risks of the file" in page
    assert "records in classes of fewer than 5 (k_anonymity_two)" in page
    outside = result().report(tmp_path / "out.html", outside=True).read_text()
    assert "Customary risks of the file" not in outside


def test_the_very_file_is_held_against_the_rule() -> None:
    checked = result().check(SWAP.protect(HEADS, seed=9), "swap")
    assert checked.frame.filter(measure="k_anonymity")["intruder"].to_list() == [None]
    assert any("k_anonymity_share of this file is" in said for said in checked.broken)
    assert "k_anonymity" in str(checked)


def test_a_search_goes_by_them() -> None:
    space = cf.Sweep(lambda width: cf.Plan([cf.Recode("age", width=width)], identifiers=["id"]), width=[5, 20, 40])
    found = cf.optimise(
        HEADS, space, intruders=WHO, utility=["hellinger"], max_risk={"k_anonymity": "1%"}, repeats=1, rounds=0, seed=1,
        file_risks=RISKS[:1],
    )  # fmt: skip
    values = [KAnonymity(KEYS).of(space.at(width=w).protect(HEADS, seed=1)).numbers["share"] for w in (5, 20, 40)]
    met = [w for w, v in zip((5, 20, 40), values, strict=True) if v is not None and v <= 0.01]
    assert found.parameters["width"] == min(met)


def test_households_and_what_is_learnt_stand_side_by_side() -> None:
    homes = HEADS.with_columns(home=HEADS["id"] // 2)
    plans = {"coarse": cf.Plan([cf.Recode("age", width=20)], identifiers=["id"], unit="home")}
    risks = [HouseholdRisk(["sex", "age"], "home"), LDiversity(["sex", "age"], "tenure")]
    found = cf.Study(homes, plans, {"far": WHO["far"]}, ["hellinger"], 1, 1, learns=["tenure"], file_risks=risks).run()
    columns = found.frame.columns
    assert columns.index("learnt_tenure") < columns.index("household_risk") < columns.index("hellinger")
    assert found.frame["household_risk_share"].is_between(0, 1).all()
