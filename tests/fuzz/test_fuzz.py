"""Wrong calls and spoiled documents by the thousand: each answer is a result or a sentence, and holds no data value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import confide as cf
from tests.helpers.places import ROOT

GOOD = {"a result", "a sentence", "Python's own"}
RESULTS = {
    "Advice", "Attack", "AttackCost", "AttackRates", "Averaged", "ByGroup", "Calibration", "Certificate", "Choice", "Clearing", "Combined",
    "Contributions", "Counts", "CustomaryRisks", "Exposure", "Few", "Generalised", "Guess", "Guesses", "Improvements", "InputError", "Look",
    "Matches", "Measure", "NaiveGuess", "Offers", "OneToOne", "Optimum", "Published", "PublishedTables", "Release", "Roles",
    "Scan", "ScannedAttack", "ScannedRelease", "SchemeComparison", "Spark", "StudyResult", "Synthesis",
    "TableAttack", "UtilityByGroup", "__version__", "beliefs", "charts", "extend", "measures", "schemes", "theory",
}  # fmt: skip
"""What calls give, rooms of names, and what nobody constructs."""


def answers(kind: str, count: int, folder: Path) -> list[dict[str, object]]:
    """Answers to the cases of a kind, from one process of their own: an abort shows which case it was."""
    out = folder / "answers.json"
    environment = {**os.environ, "PYTHONPATH": str(Path(cf.__file__).parents[1])}
    command = [sys.executable, "-m", "tests.fuzz.fuzz_run", kind, "0", str(count), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, cwd=ROOT)
    last = (folder / "last").read_text() if (folder / "last").exists() else "before the first case"
    assert done.returncode == 0, f"the process ended with {done.returncode} at {last}\n{done.stderr[-2000:]}"
    found: list[dict[str, object]] = json.loads(out.read_text())
    assert len(found) == count
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("calls", 900), ("documents", 500)])
def test_every_answer_is_a_result_or_a_sentence(kind, count, tmp_path):
    found = answers(kind, count, tmp_path)
    wrong = [
        f"{a['case']}: {a['told']} gave {a['answer']}: {a['text']} {a['place']}"
        for a in found
        if a["answer"] not in GOOD
    ]
    assert not wrong, "\n".join(wrong)
    told = Counter(a["answer"] for a in found)
    assert told["a result"] > count / 10  # spoiled arguments that happen to be fine, and files that are read
    assert told["a sentence"] > count / 4
    assert told["Python's own"] < count / 20


def test_every_public_name_is_called():
    from tests.fuzz.fuzz_calls import unused

    assert unused() <= RESULTS


def test_the_check_sees_values_of_the_data():
    from tests.fuzz.fuzz_values import INCOMES, REGIONS, leak

    assert leak(f"There is no {REGIONS[0]}.")
    assert leak(f"{INCOMES[0]} is wrong.")
    assert leak(f"About {INCOMES[2]:,.1f}.")
    assert not leak('There is no column "icome"; there are 24 rows and 7 columns.')
