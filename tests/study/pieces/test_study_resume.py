"""A study that is killed goes on where it stopped, and ends with the same tables."""

from __future__ import annotations

import inspect
import json
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.study import run
from confide.study.groups import Groups
from confide.study.pieces.keys import pieces_of
from confide.study.pieces.restored import restored
from confide.study.pieces.store import PIECES


def study(seed: int | None = 3, rate: float = 0.3, repeats: int = 6) -> cf.Study:
    plans = {
        "swap": cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]),
        "pram": cf.Plan([cf.Pram("race", retention=0.8)], identifiers=["id"]),
    }
    who = {"near": cf.Intruder(knows=["sex", "race", "age"])}
    return cf.Study(cf.demo("heads").head(500), plans, who, ["hellinger"], repeats=repeats, seed=seed)


def tables(result: cf.StudyResult):
    return result.frame, result.distribution, result.groups, result.details


def assert_same(a: cf.StudyResult, b: cf.StudyResult) -> None:
    for x, y in zip(tables(a), tables(b), strict=True):
        assert_frame_equal(x, y, check_exact=True)


@pytest.mark.slow
def test_killed_and_restarted_it_gives_the_same_frame(tmp_path: Path) -> None:
    code = f"import confide as cf\n{inspect.getsource(study)}\nstudy(repeats=12).run({str(tmp_path)!r}, threads=1)"
    process = subprocess.Popen([sys.executable, "-c", code])
    pieces = tmp_path / PIECES
    for _ in range(3000):
        if pieces.is_dir() and len(list(pieces.glob("[!.]*.json"))) >= 3:
            break
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {p.name: p.stat().st_mtime_ns for p in pieces.glob("[!.]*.json")}
    assert 3 <= len(kept) < 25
    assert_same(study(repeats=12).run(tmp_path), study(repeats=12).run())
    now = {p.name: p.stat().st_mtime_ns for p in pieces.glob("[!.]*.json")}
    assert all(now[name] == when for name, when in kept.items())


@pytest.mark.slow
def test_a_finished_study_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study().run(tmp_path)
    monkeypatch.setattr(run, "evaluate", lambda *_: pytest.fail("computed again"))
    assert_same(study().run(tmp_path), first)


@pytest.mark.slow
def test_only_what_is_missing_or_damaged_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = study().run(tmp_path)
    pieces = sorted((tmp_path / PIECES).glob("*.json"))
    sealed = [json.loads(p.read_text()) for p in pieces]
    pieces[0].unlink()
    pieces[1].write_text(pieces[1].read_text()[:-20])
    pieces[2].write_text(json.dumps(sealed[2]["content"]))  # without key and checksum, as they once were
    sealed[3]["content"]["utility"]["hellinger"] += 1e-9
    pieces[3].write_text(json.dumps(sealed[3]))
    pieces[4].write_text(pieces[5].read_text())  # of another plan or repeat
    calls, true = [], run.evaluate
    monkeypatch.setattr(run, "evaluate", lambda *a: calls.append(a) or true(*a))
    assert_same(study().run(tmp_path), first)
    assert len(calls) == 5
    assert "confide: 4 pieces were damaged and are computed again." in capsys.readouterr().err


def _without(part: str, key: str):
    return lambda c: {**c, part: {k: v for k, v in c[part].items() if k != key}}


def met(content, **parts):
    """A piece in which parts of what was met are others."""
    return {**content, "met": {"near": {"informed": {**content["met"]["near"]["informed"], **parts}}}}


@pytest.mark.parametrize(
    "change",
    [
        lambda c: {**c, "met": None},
        lambda c: {**c, "met": {}},
        lambda c: {**c, "met": {"near": None}},
        lambda c: {**c, "met": {"near": {"informed": None}}},
        lambda c: {**c, "met": {"another": c["met"]["near"]}},
        lambda c: met(c, risks={**c["met"]["near"]["informed"]["risks"], "expected_matches": "9"}),
        lambda c: met(c, risks={"expected_matches": 9.0}),
        lambda c: met(c, distribution=[1.0]),
        lambda c: met(c, groups=[["sex", "f"]]),
        lambda c: met(c, groups=3),
        lambda c: met(c, claims=[[0.0, 1.0]]),
        lambda c: {**c, "shares": [["sex"]]},
        lambda c: {**c, "parts": [["race", "a", 3, "hellinger"]]},
        lambda c: {**c, "parts": [["race", "a", 3, "hellinger", "0.1"]]},
        lambda c: {**c, "seconds": {**c["seconds"], "attack": None}},
        _without("utility", "hellinger"),
        _without("details", "hellinger"),
        lambda c: {k: v for k, v in c.items() if k != "shares"},
        lambda c: {**c, "more": {}},
    ],
)
def test_a_piece_of_another_shape_counts_as_none(change) -> None:
    heads, who = cf.demo("heads").head(60), {"near": cf.Intruder(knows=["sex", "race"])}
    made = run.evaluate(heads, cf.Plan([]), who, [cf.Hellinger()], 1, groups=Groups.of(heads, who.values()))
    content = json.loads(json.dumps(made.to_dict()))
    assert restored(content, ["near"], ["hellinger"]) == made
    assert restored(change(content), ["near"], ["hellinger"]) is None


@pytest.mark.slow
def test_a_fresh_seed_is_kept_with_the_study(tmp_path: Path) -> None:
    first = study(seed=None).run(tmp_path)
    assert_same(study(seed=None).run(tmp_path), first)
    assert not study(seed=None).run().frame.equals(first.frame)


@pytest.mark.slow
def test_another_study_is_refused_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study().run(tmp_path)
    other = study(rate=0.1)
    with pytest.raises(cf.InputError, match="holds another study"):
        other.run(tmp_path)
    calls, true = [], run.evaluate
    monkeypatch.setattr(run, "evaluate", lambda *a: calls.append(a) or true(*a))
    assert_same(other.run(tmp_path, overwrite=True), other.run())
    assert len(calls) == 6 + 13  # the swaps anew in the folder; then all without one


@pytest.mark.slow
def test_an_error_leaves_the_folder_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true, calls = run.evaluate, []

    def fails(*a):
        calls.append(a)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return true(*a)

    monkeypatch.setattr(run, "evaluate", fails)
    with pytest.raises(KeyboardInterrupt):
        study().run(tmp_path)
    monkeypatch.setattr(run, "evaluate", true)
    assert_same(study().run(tmp_path), study().run())


def test_a_plan_that_no_file_can_hold_is_computed_anew(tmp_path: Path) -> None:
    def stated(size: float) -> cf.Study:
        noise = cf.MatrixMask("age", C=lambda x, rng: rng.normal(0, size, x.shape))
        who = {"near": cf.Intruder(knows=["sex", "race"])}
        plans = {"mask": cf.Plan([noise], identifiers=["id"])}
        return cf.Study(cf.demo("heads").head(300), plans, who, [cf.Variances("age")], repeats=2, seed=1)

    for size in (1.0, 20.0):
        assert_same(stated(size).run(tmp_path), stated(size).run())


def test_what_a_piece_depends_on_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    base = study(repeats=1)

    def keys(data=base.data, seed: int = 1, **changes) -> set[str]:
        stated = {"plans": base.plans, "intruders": base.intruders, "utility": ["hellinger"], "repeats": 1} | changes
        return {p.key for p in pieces_of(cf.Study(data, **stated), seed=seed)}

    heads, same = base.data, keys()
    assert keys(heads.clone()) == same
    labelled = cf.attach(heads.clone(), cf.Schema({"age": cf.VariableSchema("age", missing=(99,))}))
    knows = ["sex", "race", "age"]
    for other in (
        keys(heads[::-1]),
        keys(heads.with_columns(heads["age"].cast(float))),
        keys(heads.with_columns(heads["age"] + 1)),
        keys(labelled),
        keys(intruders={"near": cf.Intruder(knows=["sex", "race"])}),
        keys(intruders={"near": cf.Intruder(knows=knows, errors={"age": 1.0})}),
        keys(intruders={"near": cf.Intruder(knows=knows, membership=cf.Unsure(population=heads))}),
        keys(utility=[cf.Hellinger("race")]),
        keys(threshold=0.3),
        keys(seed=2),
    ):
        assert not other & same
    assert len(keys(copies={"swap": 2}) & same) == 2
    among = [cf.Unsure(population=people.to_pandas()) for people in (heads, heads.head(400))]
    one, two = (keys(intruders={"near": cf.Intruder(knows=knows, membership=of)}) for of in among)
    assert not one & two
    monkeypatch.setattr("confide.study.pieces.keys.__version__", "another")
    assert not keys() & same


def test_measures_of_ones_own_are_told_apart(tmp_path: Path) -> None:
    heads = cf.demo("heads").head(200)

    @dataclass(frozen=True, eq=False)
    class Held:
        values: np.ndarray
        name: str = "held"
        direction: str = "lower"
        range: tuple[float, float] = (0.0, 1e9)
        best: float = 0.0

        def __call__(self, original, released, *, weight=None, link=None) -> float:  # noqa: ARG002
            return float(self.values.sum()) if original.height == released.height else 0.0

    def keys(measure) -> set[str]:
        plans = {"swap": cf.Plan([cf.Swap("race", rate=0.3)])}
        stated = cf.Study(heads, plans, {"near": cf.Intruder(knows=["sex"])}, [measure], repeats=1, seed=1)
        return {p.key for p in pieces_of(stated, 1)}

    assert keys(Held(np.arange(5000.0))) == keys(Held(np.arange(5000.0)))
    assert not keys(Held(np.arange(5000.0))) & keys(Held(np.arange(5000.0) + (np.arange(5000) == 2500)))

    class Plain:
        name, direction, range, best = "plain", "lower", (0.0, 1.0), 0.0

        def __call__(self, original, released, *, weight=None, link=None) -> float:  # noqa: ARG002
            return 0.0

    def plain() -> cf.Study:
        plans = {"swap": cf.Plan([cf.Swap("race", rate=0.3)])}
        return cf.Study(heads, plans, {"near": cf.Intruder(knows=["sex"])}, [Plain()], repeats=1, seed=1)

    assert_same(plain().run(tmp_path), plain().run(tmp_path))


def test_a_folder_keeps_its_seed_when_a_study_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study(seed=None, repeats=2).run(tmp_path)
    calls, true = [], run.evaluate
    monkeypatch.setattr(run, "evaluate", lambda *a: calls.append(a) or true(*a))
    study(seed=None, repeats=3).run(tmp_path, overwrite=True)
    assert len(calls) == 2


def test_warnings_are_as_before_when_studies_overlap() -> None:
    before = list(warnings.filters)
    threads = [threading.Thread(target=lambda n=n: study(repeats=n).run()) for n in (1, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before
