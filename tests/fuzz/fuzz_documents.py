"""Documents and data files as they should be, and spoiled: lines, values and bytes deleted, doubled, exchanged."""

from __future__ import annotations

import functools
import io
import json
import random
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import confide as cf
from confide.cli.main import main
from confide.core.errors import InputError
from tests.fuzz.fuzz_values import people

PLAN = """
identifiers = ["id"]
weight = "weight"
public_codebook = ["sex"]
[[steps]]
method = "recode"
variable = "age"
width = 10
[[steps]]
method = "swap"
variables = ["region"]
rate = 0.3
within = ["sex"]
[[steps]]
method = "noise"
variable = "income"
sd = 12.5
bounds = [-inf, 600_000]
"""
INTRUDER = """
[[intruder]]
name = "neighbour"
knows = ["region", "age"]
membership = { total = 900 }
errors = { age = 2.0 }
[[intruder]]
name = "insider"
knows = ["income"]
beliefs = "released"
"""
STUDY = """
title = "Which?"
data = "people.csv"
repeats = 1
seed = 1
threshold = 0.2
[release]
identifiers = ["id"]
[[plan]]
name = "swap"
[[plan.steps]]
method = "swap"
variable = "region"
rate = { from = 0.1, to = 0.3, steps = 2 }
[[intruder]]
name = "neighbour"
knows = ["sex", "region"]
[[utility]]
measure = "hellinger"
[choice]
max_risk = { expected_matches = 100 }
"""
COUNTS = "sex,age,count\nf,young,3\nf,old,0\nm,young,12\nm,old,5\n"
INSERTED = [
    "\x00",
    "\u2028",
    "\ufeff",
    "\u202e",
    "'",
    '"',
    "[[",
    "}",
    "=",
    "\\",
    "e\u0301",
    "\r",
    "nan",
    "1e999",
    "9" * 40,
]
VALUES = ["3", "-1", '""', "true", "inf", "nan", "[]", "{}", '["income", 3]', "1e308", "2020-01-01", '"x"', "[[[]]]", "0x10",
          "9" * 30, '"' + "y" * 3000 + '"', "[" * 400 + "]" * 400, "{ from = 0, to = 1e9, steps = 1_000_000_000 }"]  # fmt: skip
ODD_JSON: list[Any] = [
    None,
    -1,
    0,
    2.5,
    1e308,
    10**40,
    "",
    "x",
    [],
    {},
    True,
    [None],
    {"a": {"b": [1, "2"]}},
    "\u0000\u2028",
]


@functools.cache
def _originals() -> dict[str, bytes]:
    """Every document and data file as it should be."""
    folder = Path.cwd()
    release = cf.Plan.load(_put("plan.toml", PLAN.encode())).protect(people(), seed=1)
    made = {"plan.toml": PLAN.encode(), "intruder.toml": INTRUDER.encode(), "study.toml": STUDY.encode()}
    made |= {"record.json": json.dumps(release.record(private=True)).encode(), "counts.csv": COUNTS.encode()}
    made["plan.json"] = json.dumps(release.record(private=True)["plan"]).encode()
    labels = {"age": cf.VariableSchema("age", "Age", {33: "a label"}, (99, (90.0, 98.0)), "scale")}
    for suffix in (".csv", ".tsv", ".parquet", ".arrow", ".sav", ".zsav", ".dta"):
        path = cf.write(people(), folder / f"data{suffix}", schema=cf.Schema(labels, "File", ("note",)), overwrite=True)
        made[path.name] = path.read_bytes()
    return made


def _put(name: str, content: bytes) -> Path:
    path = Path(name)
    path.write_bytes(content)
    return path


def _lines(text: bytes, rng: random.Random) -> tuple[str, bytes]:
    lines = text.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.choice(
        ["a line gone", "a line twice", "two lines exchanged", "another value", "cut off", "something put in"]
    )
    if how == "a line gone":
        del lines[i]
    elif how == "a line twice":
        lines.insert(j, lines[i])
    elif how == "two lines exchanged":
        lines[i], lines[j] = lines[j], lines[i]
    elif how == "another value":
        key = lines[i].split(b"=")[0]
        lines[i] = key + b"= " + rng.choice(VALUES).encode()
    elif how == "cut off":
        return how, text[: rng.randrange(len(text))]
    else:
        at = rng.randrange(len(text))
        return how, text[:at] + rng.choice(INSERTED).encode() + text[at:]
    return how, b"\n".join(lines)


def _bytes(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    at, size = rng.randrange(len(content)), rng.randrange(1, 40)
    how = rng.choice(
        ["a bit flipped", "bytes changed", "cut off", "bytes gone", "bytes twice", "zeros", "a byte put in"]
    )
    head, tail = content[:at], content[at + size :]
    if how == "a bit flipped":
        return how, head + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
    middle = {
        "bytes changed": rng.randbytes(size), "cut off": b"", "bytes gone": b"", "zeros": bytes(size),
        "bytes twice": content[at : at + size] * 2, "a byte put in": rng.randbytes(1) + content[at : at + size],
    }[how]  # fmt: skip
    return how, head + middle + (b"" if how == "cut off" else tail)


def _structure(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """JSON with one part deleted, replaced or nested."""
    document = json.loads(content)
    parents: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key in part if isinstance(part, dict) else range(len(part)):
            parents.append((part, key))
            if isinstance(part[key], (dict, list)):
                walk(part[key])

    walk(document)
    parent, key = rng.choice(parents)
    how = rng.choice(["gone", "replaced", "replaced", "nested"])
    if how == "gone":
        del parent[key]
    elif how == "nested":
        for _ in range(rng.choice([1, 2, 300])):
            parent[key] = [parent[key]]
    else:
        parent[key] = rng.choice(ODD_JSON)
    return f"{key} {how}", json.dumps(document).encode()


def _command(line: str) -> None:
    """A command in this process: it succeeds, or ends with 2 and a sentence."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(line.split())
    print(out.getvalue())
    if code == 2 and err.getvalue().startswith("confide: ") and "Traceback" not in err.getvalue():
        raise InputError(err.getvalue())
    if code != 0:
        raise SystemExit(f"exit code {code}: {err.getvalue()}")


def _plan(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.5:
        cf.Plan.load(path).protect(people(), seed=1)
    else:
        _command(f"protect people.csv --plan {path} --out public/a.csv --force")


def _intruder(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.3:
        cf.Intruder.load(path, "neighbour")
    else:
        _command(f"attack people.csv --plan plan.toml --seed 1 --intruder {path} --name neighbour")


def _study(path: Path, _: random.Random) -> None:
    repr(cf.Study.load(path))


def _record(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.5:
        cf.replay(people(), path)
    else:
        vault = Path("vault")
        vault.mkdir(exist_ok=True)
        (vault / "record.json").write_bytes(path.read_bytes())
        _command("attack data.parquet --private vault --intruder intruder.toml --name neighbour --threads 1")


def _data(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.5:
        found = cf.read(path, labels=rng.random() < 0.5)
        cf.write(found, f"copy{rng.choice(['.csv', '.parquet', '.sav', '.dta'])}", overwrite=True)
    else:
        _command(f"protect {path} --plan plan.toml --out public/a.parquet --force")


def _counts(path: Path, rng: random.Random) -> None:
    _command(f"sap {path} --round 3 --margins {rng.choice(['all', 'total', 'none'])} --known 0:3")


Spoil = Callable[[bytes, random.Random], tuple[str, bytes]]
KINDS: dict[str, tuple[Callable[[Path, random.Random], None], tuple[Spoil, ...]]] = {
    "plan.toml": (_plan, (_lines, _lines, _bytes)),
    "plan.json": (_plan, (_structure, _structure, _bytes)),
    "intruder.toml": (_intruder, (_lines, _lines, _bytes)),
    "study.toml": (_study, (_lines, _lines, _bytes)),
    "record.json": (_record, (_structure, _structure, _bytes)),
    "counts.csv": (_counts, (_lines, _bytes)),
    **{f"data{s}": (_data, (_lines, _bytes)) for s in (".csv", ".tsv")},
    **{f"data{s}": (_data, (_bytes,)) for s in (".parquet", ".arrow", ".sav", ".zsav", ".dta")},
}


def calls() -> dict[str, Any]:
    """Every kind of document by name."""
    return KINDS


def spoiled(name: str, rng: random.Random) -> tuple[str, Path]:
    """A spoiled document in its file, beside the others as they should be."""
    for other, content in _originals().items():
        _put(other, content)
    content, told = _originals()[name], []
    for _ in range(rng.choice([1, 1, 2])):
        if content:
            how, content = rng.choice(KINDS[name][1] if _able(name, content) else (_bytes,))(content, rng)
            told.append(how)
    return f"{name} with {' and '.join(told)}", _put(f"spoiled-{name}", content)


def _able(name: str, content: bytes) -> bool:
    """Whether a JSON document is still one, so that its structure can be spoiled."""
    try:
        found = json.loads(content) if name.endswith(".json") else True
        return bool(found) and isinstance(found, (dict, bool))
    except (ValueError, RecursionError):
        return False


def spared(path: Path) -> list[str]:
    """What a file without its first line has for names."""
    first = path.read_bytes().splitlines()[:1] if path.suffix in (".csv", ".tsv") else []
    cells = [cell.strip('"') for line in first for cell in re.split("[,\t]", line.decode(errors="replace"))]
    return sorted(cells, key=len, reverse=True)


def run(name: str, path: Path, rng: random.Random) -> None:
    """Use the document as a user would."""
    KINDS[name][0](path, rng)
