"""Every result of every room has a frame, a summary, a chart, a way into a file and a table for notebooks."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import stat
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.core.result import Public, Result
from confide.core.upward import ABOVE, upward
from confide.show.charts.of_results import PICTURES
from confide.study.drawn import drawn
from confide.theory import smallest_noise_for_uniques
from tests.helpers.advice import small_advice
from tests.helpers.source import modules

SOURCE = Path(cf.__file__).parent
HEADS = cf.demo("heads").head(300)
PLAN = cf.Plan([cf.Swap("race", rate=0.3), cf.Recode("age", width=10)], identifiers=["id"])
WHO = cf.Intruder(knows=["sex", "race", "age"])
TABLE = cf.Table([[2, 1, 3], [0, 5, 1]], names=["sex", "age"])
AREAS = cf.Tables([[2, 1], [0, 3]], areas=["north", "south"])


@cache
def attack() -> cf.Attack:
    return WHO.attack(PLAN.protect(HEADS, seed=1))


def scanned_attack() -> cf.ScannedAttack:
    with tempfile.TemporaryDirectory() as folder:
        data = cf.scan(cf.write(HEADS, f"{folder}/heads.parquet"))
        return WHO.attack(PLAN.protect(data, seed=1, out=f"{folder}/out", private=f"{folder}/private"))


@cache
def copies() -> cf.Copies:
    plan = cf.Plan([cf.Swap("race", rate=0.3)])
    return plan.protect(HEADS.select("sex", "race"), seed=1, copies=2, linked=False)


@cache
def study() -> cf.StudyResult:
    sweep = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.5])
    rule = cf.Rule({"expected_matches": 1e6}, by="hellinger")
    needs = ["hellinger", cf.Means(["age"], label="mean age")]
    return cf.Study(HEADS, {"swap": sweep, "both": PLAN}, {"near": WHO}, needs, repeats=2, seed=1, choice=rule).run()


def optimum() -> cf.Optimum:
    sweep = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.5])
    limits = {"expected_matches": 1e6}
    return cf.optimise(
        HEADS, sweep, intruders={"a": WHO}, utility=["hellinger"], max_risk=limits, repeats=2, rounds=0, seed=1
    )


@cache
def guess() -> cf.Guess:
    return attack().guess("tenure")


@cache
def matches() -> cf.Matches:
    return cf.Nearest(["sex", "age", "hh_income"]).attack(cf.Release.adopt(HEADS, HEADS.drop("id"), link=range(300)))


RESULTS: dict[str, Callable[[], Result]] = {
    "Advice": lambda: small_advice(rows=300, extra=5),
    "Attack": attack,
    "AttackRates": lambda: cf.SinglingOut(attacks=20).attack(matches().settled.release),
    "Averaged": lambda: cf.Intruder(knows=["sex", "race"]).attack(copies()),
    "ByGroup": lambda: attack().by("race"),
    "Calibration": lambda: attack().calibration(),
    "Certificate": lambda: cf.Table([2, 1, 3]).publish().attack(known=[3]).certificate(),
    "Choice": lambda: study().choose(),
    "Clearing": lambda: attack().clearing(0.1),
    "Combined": lambda: cf.combine([[1.0, 5.0], [2.0, 4.0]], [[0.1, 0.2], [0.1, 0.3]]),
    "Contributions": lambda: attack().contributions("sex"),
    "Copies": copies,
    "Counts": lambda: cf.counts(HEADS, "age"),
    "Coverage": lambda: guess().coverage(),
    "CustomaryRisks": lambda: cf.customary_risks(HEADS, HEADS, keys=["sex", "age"], target="tenure"),
    "Drawn": lambda: drawn(attack().release, {"near": WHO}, [cf.Hellinger()]),
    "Explanation": lambda: attack().explain(3),
    "Exposure": lambda: cf.exposure(HEADS, PLAN, ["sex", "race"], shares=[1.0, 0.5], seed=1),
    "Few": lambda: cf.protect_few(HEADS, PLAN, intruders={"a": WHO}, utility=["hellinger"], seed=1, repeats=2),
    "FileRiskResult": lambda: cf.measures.KAnonymity(["sex", "age"], k=3).of(HEADS),
    "Generalised": lambda: cf.generalise(HEADS, hierarchies=["sex", "age"], until={"k": 5}),
    "Grid": lambda: cf.Intruder.at("naive", knows=["sex", "race"]).attack(attack().release).grid(),
    "Guess": lambda: guess(),
    "Guesses": lambda: attack().guess(["tenure", "hh_income"]),
    "Harm": lambda: guess().harm(
        right_identification=1, wrong_identification=1, right_attribution=1, wrong_attribution=1, threshold=0.5),
    "Improvements": lambda: cf.improve(
        HEADS, PLAN, intruders={"a": WHO}, utility=["hellinger"], tries=6, most=2, repeats=2, seed=1),
    "LearntSummary": lambda: guess().summary(),
    "Look": lambda: cf.look(HEADS, keys=["sex", "race", "age"]),
    "Matches": matches,
    "Nats": lambda: attack().explain(3).nats,
    "NaiveGuess": lambda: matches().guess("tenure"),
    "Offers": lambda: cf.offers(HEADS, PLAN, knows=["sex", "age"]),
    "OneToOne": lambda: attack().one_to_one(sweeps=100),
    "OneToOneSummary": lambda: attack().one_to_one(sweeps=100).summary(),
    "Optimum": optimum,
    "Published": lambda: TABLE.publish(cf.RoundCells(3), margins="all"),
    "PublishedTables": lambda: AREAS.publish(cf.RoundCells(3)),
    "Release": lambda: PLAN.protect(HEADS),
    "Roles": lambda: cf.roles(HEADS),
    "ScannedAttack": scanned_attack,
    "SchemeComparison": lambda: cf.compare_schemes(TABLE, {"as it is": cf.Exact(), "base 5": cf.RoundCells(5)}),
    "SpecialUniques": lambda: cf.measures.Suda(["sex", "race", "age"], fraction=0.1).of(HEADS),
    "StudyResult": study,
    "Summary": lambda: attack().summary(),
    "Synthesis": lambda: cf.synthesise(HEADS, keys=["sex", "age"], sensitive=["hh_income"]),
    "TableAttack": lambda: TABLE.publish().attack(known=range(4)),
    "TablesAttack": lambda: AREAS.publish(cf.RoundCells(3)).attack(known=range(3)),
    "Tried": lambda: attack().stronger(),
    "UniquesResult": lambda: cf.measures.PopulationUniques(["sex", "race", "age"], total=3_000).of(HEADS),
    "UniquesNoise": lambda: smallest_noise_for_uniques(HEADS["hh_income"].to_numpy(), limit=0.2, seed=1),
    "UtilityByGroup": lambda: cf.utility_by_group(attack().release, "sex", [cf.Hellinger("race")]),
}  # fmt: skip


@cache
def result(name: str) -> Any:
    return RESULTS[name]()


def kinds() -> set[str]:
    """The classes of results that the package defines."""
    for module in pkgutil.walk_packages([str(SOURCE)], "confide."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    def below(kind: type) -> set[type]:
        return {kind}.union(*(below(k) for k in kind.__subclasses__()))

    return {k.__name__ for k in below(Result) if k.__module__.startswith("confide.")} - {"Result", "Public"}


def test_every_result_is_tried_here_and_has_a_picture() -> None:
    assert kinds() == set(RESULTS) == set(PICTURES)


@pytest.mark.parametrize("name", RESULTS)
def test_frame_summary_chart_and_table(name: str) -> None:
    found = result(name)
    assert type(found).__name__ == name
    assert isinstance(found.frame, pl.DataFrame)
    assert found.frame.height
    summary = found.summary()
    assert isinstance(summary, pl.DataFrame | Result)
    assert found.chart().to_dict()["$schema"]
    page = found._repr_html_()
    assert page.startswith("<p>")
    assert page.count("<tr>") > 1


@pytest.mark.parametrize("name", RESULTS)
def test_saved_by_the_ending(name: str, tmp_path: Path) -> None:
    found = result(name)
    more = {"draft": True} if getattr(found, "refusal", "") else {}
    written = found.save(tmp_path / "table.parquet", **more)
    assert (
        written == [tmp_path / "table.parquet"]
        if name in ("Advice", "StudyResult")
        else written == tmp_path / "table.parquet"
    )
    assert cf.read(tmp_path / "table.parquet").equals(pl.DataFrame(found.frame))
    found.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text().startswith("<svg")
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        found.save(tmp_path / "picture.svg")
    mode = stat.S_IMODE((tmp_path / "table.parquet").stat().st_mode)
    assert (mode == 0o600) == (found.private or bool(more))
    assert stat.S_IMODE((tmp_path / "picture.svg").stat().st_mode) == 0o600 or name in ("Combined", "UniquesNoise")


def test_an_ending_that_nothing_has() -> None:
    with pytest.raises(cf.InputError, match=r'a table \(\.csv, .*\) or as a picture \(\.html, .*\), not as "\.pdf"'):
        attack().save("attack.pdf")


def test_a_draft_is_not_saved_unless_asked(tmp_path: Path) -> None:
    for name, draft in {
        "a": PLAN.protect(HEADS, seed=1),
        "b": copies(),
        "c": TABLE.publish(cf.SmallCounts(3), seed=1),
    }.items():
        assert isinstance(draft, Public)
        with pytest.raises(cf.InputError, match="draft=True"):
            draft.save(tmp_path / f"{name}.csv")
        made = draft.save(tmp_path / f"{name}.csv", draft=True)
        assert stat.S_IMODE(made.stat().st_mode) == 0o600


def test_a_release_is_saved_as_its_data(tmp_path: Path) -> None:
    release = PLAN.protect(HEADS.to_pandas())
    assert cf.read(release.save(tmp_path / "out.csv")).height == 300
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) != 0o600


def test_no_record_in_a_notebook() -> None:
    """Names and values of people stay out of tables that a notebook keeps."""
    people = pl.DataFrame({"name": ["Ada Lovelace", "Mary Shelley"] * 20, "x": [*range(40)]})
    release = cf.Plan([cf.Swap("name", rate=0.5)]).protect(people, seed=1)
    shown = release._repr_html_() + cf.Intruder(knows=["name"]).attack(release)._repr_html_()
    assert "Ada" not in shown
    assert release.summary()["released"].to_list() == [2, 40]


def test_copies_one_below_the_other() -> None:
    every = copies().frame
    assert every.columns[0] == "copy"
    for i, copy in enumerate(copies(), 1):
        mine = every.filter(copy=i).drop("copy")
        assert mine.select(pl.all().cast(pl.String)).equals(copy.frame.select(pl.all().cast(pl.String)))


def test_a_published_frame_may_still_be_called() -> None:
    published = TABLE.publish(cf.RoundCells(3))
    with pytest.warns(DeprecationWarning, match=r"write published\.frame"):
        assert published.frame().equals(published.frame)  # type: ignore[operator]


def test_excel_by_its_xml(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": ["=1+1", "b & <c>"], "x": [1.5, float("nan")], "n": [3, None], "yes": [True, False]})
    cf.write(frame, tmp_path / "a.xlsx")
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
        words = [t.text for t in ElementTree.fromstring(book.read("xl/sharedStrings.xml")).iterfind(".//m:t", space)]
    rows = []
    for row in sheet.iterfind(".//m:row", space):
        assert row.find(".//m:f", space) is None
        cells = [(c.get("t"), c.findtext("m:v", None, space)) for c in row]
        rows.append([words[int(v)] if kind == "s" and v is not None else v for kind, v in cells])
    assert rows == [["text", "x", "n", "yes"], ["=1+1", "1.5", "3", "1"], ["b & <c>", None, None, "0"]]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1], "A": [2]}, "for the same name"),
        ({"a": [2**53 + 1]}, "all digits"),
        ({"a": ["x" * 40_000]}, "letters in a cell"),
        ({"a": [[1]]}, "cannot hold column"),
    ],
)
def test_excel_refuses_what_it_would_lose(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        cf.write(pl.DataFrame(columns), tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())


def test_without_xlsxwriter_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.frames.formats.excel.find_spec", lambda _: None)
    with pytest.raises(cf.InputError, match=r'pip install "confide\[excel\]"'):
        cf.write(HEADS, tmp_path / "a.xlsx")


def test_what_is_looked_for_upward_is_there_and_asked_for() -> None:
    assert all(callable(upward(name)) or upward(name) for name in ABOVE)
    calls = (n for m in modules().values() for n in ast.walk(m.tree) if isinstance(n, ast.Call))
    asked = {ast.literal_eval(n.args[0]) for n in calls if getattr(n.func, "id", "") == "upward"}
    assert asked == ABOVE.keys()
