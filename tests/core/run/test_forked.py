"""After a fork confide works, or says that it cannot: it never hangs."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest

if "fork" not in multiprocessing.get_all_start_methods():
    pytest.skip("there is no fork here.", allow_module_level=True)

SENTENCE = "this process was forked after confide (or polars) had been used"
BEFORE = """
import multiprocessing, sys
import confide as cf

PEOPLE = {"id": [*range(40)], "sex": ["f", "m"] * 20, "income": [float(i * i) for i in range(40)]}
PLAN = cf.Plan([cf.Noise("income", sd=3.0)], identifiers=["id"])

def found(seed):
    release = PLAN.protect(PEOPLE, seed=seed)
    return round(cf.Intruder(knows=["sex", "income"]).attack(release, threads=2).summary().expected_matches, 6)
"""
POOL = """
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map_async({work}, range(3)).get(timeout=100))
"""
USED = BEFORE + "\nif __name__ == '__main__':\n    found(1)\n" + POOL.format(work="found")


def run(tmp_path: object, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = os.path.join(str(tmp_path), "script.py")
    with open(script, "w") as file:
        file.write(code)
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, timeout=150)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_pool_works_after_use(tmp_path: object, method: str) -> None:
    done = run(tmp_path, USED, method)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")
    assert done.stderr == ""


@pytest.mark.slow
def test_a_fork_before_use_works(tmp_path: object) -> None:
    done = run(tmp_path, BEFORE + POOL.format(work="found"), "fork")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")


DOORS = """
import os, signal, tempfile
release = PLAN.protect(PEOPLE, seed=1)
attack = cf.Intruder(knows=["sex", "income"]).attack(release)
table = cf.Table.of(PEOPLE, by=["sex"])
published = table.publish(cf.RoundCells(5), margins="total")
cf.read, cf.demo, cf.write

DOORS = {
    "protect": lambda: PLAN.protect(PEOPLE, seed=2),
    "attack": lambda: cf.Intruder(knows=["sex"]).attack(release),
    "summary": lambda: attack.summary(),
    "posterior": lambda: attack.posterior(3),
    "calibration": lambda: attack.calibration(),
    "ranks": lambda: attack.ranks(),
    "adopt": lambda: cf.Release.adopt(PEOPLE, release.data, PLAN, link=release.link),
    "read": lambda: cf.read("people.csv"),
    "demo": lambda: cf.demo("heads"),
    "write": lambda: cf.write(PEOPLE, "people.csv"),
    "table": lambda: cf.Table.of(PEOPLE, by=["sex"]),
    "publish": lambda: table.publish(cf.RoundCells(5), margins="total"),
    "bounds": lambda: published.bounds(),
    "first used here": lambda: cf.utility,
    "the link": lambda: len(release.link),
    "a statement": lambda: cf.Intruder(knows=["sex"]),
    "the error": lambda: cf.InputError,
}
for name, door in DOORS.items():
    sys.stdout.flush()
    if not (child := os.fork()):
        signal.alarm(20)
        try:
            door()
            print(f"{name}: works")
        except cf.InputError as e:
            print(f"{name}: {e}")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
PLAN.protect(PEOPLE, seed=2)
print("the parent: works")
"""


@pytest.mark.slow
def test_every_door_says_so_after_use(tmp_path: object) -> None:
    done = run(tmp_path, BEFORE + DOORS)
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    works = {name for name, text in said.items() if text == "works"}
    assert works == {"the link", "a statement", "the error", "the parent"}, done.stderr
    refused = [text for text in said.values() if text != "works"]
    assert len(refused) == 14
    assert all(text.startswith(SENTENCE) and "spawn" in text for text in refused)


@pytest.mark.slow
def test_a_pool_of_forks_after_use_ends_in_the_sentence(tmp_path: object) -> None:
    done = run(tmp_path, USED, "fork")
    assert done.returncode == 1
    assert f"confide.InputError: {SENTENCE}" in done.stderr


@pytest.mark.slow
def test_loops_work_after_a_fork(tmp_path: object) -> None:
    code = BEFORE + (
        "from confide.protect.methods.microaggregate.mdav import mdav\nimport numpy as np\nX = np.arange(60.0).reshape(30, 2)\n"
        "def groups(k): return int(mdav(X, k + 2).max())\nfound(1); groups(1)\n"
    )
    done = run(tmp_path, code + POOL.format(work="groups"), "fork")
    assert done.stdout == "[14, 9, 6]\n", done.stderr
