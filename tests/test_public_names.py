"""The public names: listed once, typed, and imported only when they are used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf

SOURCE = Path(cf.__file__).parent
ROOMS = ("beliefs", "charts", "measures", "schemes", "theory")
HEAVY = ("altair", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn")


def listed(file: str) -> dict[str, str]:
    """Names that a file passes on, `from home import name as name`, and their homes; it holds nothing else."""
    found = {}
    _, *body = ast.parse((SOURCE / file).read_text()).body
    if not file.endswith(".pyi"):
        assert ast.unparse(body.pop()) == "guard_room(__name__)", file
        body = [line for line in body if ast.unparse(line) != "from confide.core.arguments import guard_room"]
    for line in body:
        assert isinstance(line, ast.ImportFrom), f"{file}: {ast.unparse(line)}"
        assert all(name.asname == name.name for name in line.names), f"{file}: {ast.unparse(line)}"
        found |= {name.name: str(line.module) for name in line.names}
    return found


def test_what_type_checkers_read_is_what_is_there() -> None:
    names = listed("__init__.pyi")
    assert sorted(names) == sorted(cf.__all__)
    for name, home in names.items():
        module = importlib.import_module(f"confide.{name}" if home == "confide" else home)
        mine = module if home == "confide" else getattr(module, name)
        found = getattr(cf, name)
        assert getattr(found, "__wrapped__", found) is mine or found is importlib.import_module("confide.demo"), name
    with pytest.raises(AttributeError, match="has no attribute 'Swop'"):
        cf.Swop  # type: ignore[attr-defined]  # noqa: B018
    assert {"Plan", "measures", "__version__"} <= set(dir(cf))


def test_what_authors_need_is_where_the_stub_says() -> None:
    names = listed("extend.pyi")
    assert sorted(names) == cf.extend.__dir__()
    assert all(getattr(cf.extend, n) is getattr(importlib.import_module(home), n) for n, home in names.items())


@pytest.mark.parametrize("room", [r for r in ROOMS if r != "theory"])
def test_rooms_pass_on_the_same_objects(room: str) -> None:
    top = listed("__init__.pyi")
    for name, home in listed(f"{room}.py").items():
        mine = getattr(getattr(cf, room), name)
        assert getattr(mine, "__wrapped__", mine) is getattr(importlib.import_module(home), name)
        assert top.get(name, home) == home, f"{room}.{name} is not the name at the top"


def test_all_measures_and_schemes_are_in_their_rooms() -> None:
    top = listed("__init__.pyi")
    for room, home in {"measures": "confide.measure.utility.", "schemes": "confide.tables.schemes."}.items():
        assert {n for n, h in top.items() if h.startswith(home)} - {"utility"} <= set(listed(f"{room}.py"))


def test_arguments_are_judged_in_rooms_too() -> None:
    with pytest.raises(cf.InputError, match="bins is how many intervals"):
        cf.measures.Hellinger(bins="many")  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match="frame must be of type DataFrame"):
        cf.charts.sap_chart([1, 2])  # type: ignore[arg-type]


def loaded(code: str) -> set[str]:
    """The heavy libraries that some code imports in a fresh process."""
    say = f"import sys\nprint(*(m for m in {HEAVY} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{say}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_alone_loads_nothing_heavy() -> None:
    assert loaded("import confide; confide.__version__; dir(confide)") == set()


def test_a_plan_needs_polars_alone() -> None:
    assert loaded("import confide; confide.Plan") == {"numpy", "polars"}


def test_a_first_attack_needs_no_scikit_learn() -> None:
    swap = "plan = cf.Plan([cf.Recode('age', width=5), cf.Swap('race', rate=0.3)], identifiers=['id'])"
    attack = "cf.Intruder(knows=['race', 'age']).attack(plan.protect(cf.demo('heads').head(300), seed=1)).summary()"
    assert not loaded(f"import confide as cf\n{swap}\n{attack}") & {"altair", "pandas", "pyarrow", "sklearn"}


def test_data_come_first_and_the_old_order_still_works() -> None:
    heads = cf.demo("heads").head(200)
    plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    record = plan.protect(heads, seed=1).record(private=True)
    with pytest.warns(DeprecationWarning, match=r"replay\(data, record\)"):
        again = cf.replay(record, heads)
    assert again.data.equals(cf.replay(heads, record).data)
    sweep = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.5])
    asked = {
        "intruders": {"a": cf.Intruder(knows=["sex"])},
        "utility": ["means"],
        "max_risk": {"expected_matches": 9e9},
    }
    with pytest.warns(DeprecationWarning, match=r"optimise\(data, space"):
        old = cf.optimise(sweep, heads, **asked, repeats=1, rounds=0, seed=1)  # type: ignore[arg-type]
    assert old.frame.equals(cf.optimise(heads, sweep, **asked, repeats=1, rounds=0, seed=1).frame)  # type: ignore[arg-type]
