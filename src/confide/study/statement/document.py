"""Studies as documents: TOML or JSON with the data's name, `[[plan]]`, `[[intruder]]` and `[[utility]]` tables."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import polars as pl

from confide.attack.document import build_intruder
from confide.attack.intruder import Intruder
from confide.core.documents.hints import kind_of
from confide.core.documents.plain import Reader, Writer
from confide.core.documents.settings import settings_of
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.registry import name_of
from confide.frames import read, to_polars
from confide.frames.scan.scan import Scan, scan
from confide.measure.utility.measure import Measure
from confide.measure.utility.registry import as_measure
from confide.measure.utility.run import DEFAULT
from confide.protect.plan import Plan
from confide.study.statement.checks import (
    copies_problems,
    group_problems,
    intruder_problems,
    number_problems,
    plan_problems,
    utility_problems,
)
from confide.study.statement.file_risks import file_risk_columns, file_risk_table, read_file_risks
from confide.study.statement.learns_document import learns_tables, stated_learns
from confide.study.statement.ranges import swept
from confide.study.statement.rule import Rule
from confide.study.statement.study import Study
from confide.study.statement.sweep import Sweep

KEYS = (
    "title", "data", "repeats", "seed", "threshold", "strongest", "groups", "release", "plan", "intruder", "utility",
    "choice", "learn", "file_risk",
)  # fmt: skip
NUMBERS = {"repeats": 5, "seed": None, "threshold": 0.2}
SHARED = ("identifiers", "weight", "drop", "categorical", "numeric")
"""What `[release]` may state once for all plans."""

DEMO = "demo:"
NO_DATA = 'A document holds no data: save them, and name their file, as study.save(path, data="heads.csv").'


def build_study(reader: Reader, doc: Mapping[str, Any], folder: Path) -> Study | None:
    """The study that a document describes; None, and every problem in the reader, where that cannot be.

    >>> reader = Reader()
    >>> build_study(reader, {"data": "demo:elites", "plan": [], "repeat": 5}, Path("."))
    >>> print("\\n".join(reader.problems))
    unknown key "repeat". Did you mean "repeats"?
    There is no [[plan]]; a study compares at least one.
    There is no [[intruder]]; a study needs at least one.
    """
    for key in (k for k in doc if k not in KEYS):
        reader.blame("", f'unknown key "{key}".{did_you_mean(key, KEYS)}')
    data = _data(reader, doc.get("data"), folder)
    plans, copies = _plans(reader, doc)
    intruders = _intruders(reader, doc, folder)
    measures = _utility(reader, doc)
    repeats, seed, threshold = (doc.get(k, d) for k, d in NUMBERS.items())
    reader.problems += number_problems(repeats, seed, threshold)
    title, strongest = doc.get("title", ""), doc.get("strongest", True)
    if not isinstance(title, str):
        reader.blame("title", f"must be text, not {kind_of(title)}.")
    if not isinstance(strongest, bool):
        reader.blame("strongest", f"must be true or false, not {kind_of(strongest)}.")
    groups = doc.get("groups", ())
    if data is not None:
        reader.problems += [] if isinstance(data, Scan) else group_problems(groups, data, plans)
        reader.problems += [p for name, plan in plans.items() for p in plan_problems(name, plan, data)]
        reader.problems += [p for name, who in intruders.items() for p in intruder_problems(name, who, data)]
    reader.problems += copies_problems(copies, plans)
    learns = stated_learns(reader, doc.get("learn", ()))
    files = read_file_risks(reader, doc.get("file_risk", ()), folder)
    added = [*(risk for one in learns for risk in one.risks), *file_risk_columns(files)]
    rule = _rule(reader, doc, measures, added)
    if reader.problems:
        return None
    label = str(doc["data"])
    stated = (repeats, seed, threshold, copies, rule, title, label, strongest, groups, learns, files)
    try:
        return Study(data, plans, intruders, measures, *stated)
    except InputError as e:  # what only all parts together can tell
        reader.problems += e.problems
        return None


def _rule(reader: Reader, doc: Mapping[str, Any], measures: Sequence[Any], added: Sequence[str]) -> Rule | None:
    rule = reader.build(Rule, doc["choice"], "choice") if "choice" in doc else None
    if rule is not None:
        good = [as_measure(m) for m in measures if not utility_problems([m])]
        names = [name for name, *_ in _tables(Reader(), doc, "intruder")]
        reader.problems += rule.problems(good, names, whole=len(good) == len(measures), learnt=added)
    return rule


def _data(reader: Reader, name: Any, folder: Path) -> pl.DataFrame | Scan | None:
    if not isinstance(name, str) or not name:
        reader.blame("data", 'must be the name of a file, as data = "heads.csv", or "demo:heads".')
        return None
    try:
        if name.startswith(DEMO):
            from confide.demo import demo

            return demo(name.removeprefix(DEMO))
        if (folder / name).is_dir() or (glob.has_magic(name) and not (folder / name).is_file()):
            return _scanned(folder / name)
        frame = to_polars(read(folder / name))
    except InputError as e:
        reader.blame("data", str(e))
        return None
    if not frame.height:
        reader.blame("data", "the file has no rows.")
        return None
    return frame


def _scanned(place: Path) -> Scan:
    """Files that are one, which are read in parts."""
    found = scan(place)
    if not found.height:
        raise InputError("the file has no rows.")
    return found


def _tables(reader: Reader, doc: Mapping[str, Any], kind: str) -> list[tuple[str, Mapping[str, Any], str]]:
    """The `[[plan]]` or `[[intruder]]` tables: name, content, place for messages."""
    given = doc.get(kind, [])
    several = given if isinstance(given, list) else [given]
    if not several:
        need = "compares" if kind == "plan" else "needs"
        reader.blame("", f"There is no [[{kind}]]; a study {need} at least one.")
    out = []
    for i, table in enumerate(several):
        where = f"{kind}[{i}]"
        if not isinstance(table, Mapping):
            reader.blame(where, f"must be a table of keys and values, not {kind_of(table)}.")
            continue
        name = table.get("name")
        if not isinstance(name, str) or not name.strip():
            reader.blame(where, '"name" is missing: it distinguishes the results.')
            continue
        out.append((name, table, f'{kind} "{name}"'))
    for name, count in Counter(n for n, _, _ in out).items():
        if count > 1:
            reader.blame("", f'{count} [[{kind}]] tables are named "{name}"; give each a name of its own.')
    return out


def _plans(reader: Reader, doc: Mapping[str, Any]) -> tuple[dict[str, Plan | Sweep], dict[str, int]]:
    shared = doc.get("release", {})
    if not isinstance(shared, Mapping):
        reader.blame("release", f"must be a table of keys and values, not {kind_of(shared)}.")
        shared = {}
    for key in (k for k in shared if k not in SHARED):
        reader.blame("release", f'unknown key "{key}".{did_you_mean(key, SHARED)}')
    common = {k: v for k, v in shared.items() if k in SHARED}
    plans: dict[str, Plan | Sweep] = {}
    copies: dict[str, int] = {}
    for name, table, where in _tables(reader, doc, "plan"):
        own = {k: v for k, v in table.items() if k not in ("name", "copies")}
        made = swept(reader, {**common, **own}, where)
        if made is not None:
            plans[name] = made
        if "copies" in table:
            copies[name] = table["copies"]
    return plans, copies


def _intruders(reader: Reader, doc: Mapping[str, Any], folder: Path) -> dict[str, Intruder]:
    found = {}
    for name, table, where in _tables(reader, doc, "intruder"):
        who = build_intruder(reader, table, where, folder)
        if who is not None:
            found[name] = who
    return found


def _utility(reader: Reader, doc: Mapping[str, Any]) -> Sequence[Any]:
    """Measures as names or tables."""
    given = doc.get("utility", DEFAULT)
    each = [given] if isinstance(given, (str, Mapping)) else given
    if not isinstance(each, Sequence) or not each:
        reader.blame("utility", 'names measures, as utility = ["means"] or in [[utility]] tables.')
        return DEFAULT
    before = len(reader.problems)
    for i, measure in enumerate(each):
        known = isinstance(measure, (str, Mapping))
        found = utility_problems([measure]) if known else [f"must be a name or a table, not {kind_of(measure)}."]
        reader.problems += [f"utility[{i}]: {p.removeprefix('utility: ')}" for p in found]
    if len(reader.problems) == before:
        reader.problems += utility_problems(each)
    return each


def study_to_dict(study: Study, data: str | None, populations: Mapping[str, str]) -> dict[str, Any]:
    """A study as the document that `build_study` reads; all that it cannot hold is raised together."""
    named = data or study.label
    wrong = [] if data or named.startswith(DEMO) or Path(named).suffix else [NO_DATA]
    doc: dict[str, Any] = {"title": study.title} if study.title else {}
    doc |= {"data": named, "repeats": study.repeats, "threshold": study.threshold}
    doc |= {} if study.seed is None else {"seed": study.seed}
    doc |= {} if study.strongest else {"strongest": False}
    doc |= {"groups": list(study.groups)} if study.groups else {}
    tables, lost = written(study.plans, study.copies, study.intruders, study.measures, study.choice, populations)
    doc |= {"learn": learns_tables(study.learns)} if study.learns else {}
    files, without = written_file_risks(study.on_file, populations)
    doc |= {"file_risk": files} if files else {}
    lost |= without
    raise_all([*wrong, *(f"{what}: {why}" for what, why in lost.items())])
    return doc | tables


def written(
    plans: Mapping[str, Plan | Sweep], copies: Mapping[str, int], intruders: Mapping[str, Intruder],
    measures: Sequence[Measure], rule: Rule | None, populations: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:  # fmt: skip
    """What a study states, as tables of a document; and what those cannot hold, each with the reason."""
    lost: dict[str, str] = {}
    files = populations or {}

    def tables(kind: str, each: Mapping[str, Any], table: Callable[[str, Any], dict[str, Any]]) -> list[dict[str, Any]]:
        out = []
        for name, stated in each.items():
            try:
                out.append(table(name, stated))
            except InputError as e:
                lost[f'{kind} "{name}"'] = str(e)
        return out

    many = {name: {"copies": m} for name, m in copies.items()}
    doc: dict[str, Any] = {
        "plan": tables("plan", plans, lambda n, p: {"name": n, **_plan_table(p), **many.get(n, {})}),
        "intruder": tables("intruder", intruders, lambda n, w: {"name": n, **w.to_dict(files.get(n))}),
        "utility": tables("measure", {m.name: m for m in measures}, lambda _, m: measure_table(m)),
    }
    return doc | ({} if rule is None else {"choice": rule.to_dict()}), lost


def written_file_risks(
    risks: Sequence[Any], populations: Mapping[str, str] | None = None
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Risks of the file as tables of a document; and those that it cannot hold, each with the reason."""
    out: list[dict[str, Any]] = []
    lost: dict[str, str] = {}
    for risk in risks:
        try:
            out.append(file_risk_table(risk, populations))
        except InputError as e:
            lost[f'risk of the file "{risk.name}"'] = str(e)
    return out, lost


def _plan_table(plan: Plan | Sweep) -> dict[str, Any]:
    if isinstance(plan, Plan):
        return plan.to_dict()
    if plan.document is None:
        raise InputError(
            "a sweep that is made by a function has no place in a document; state its ranges in a file, or give its "
            "candidates as plans, {c.name: c.plan for c in study.candidates}."
        )
    return dict(plan.document)


def measure_table(measure: Measure) -> dict[str, Any]:
    """A measure by its short name and what was stated of it."""
    named = name_of(measure)
    if named is None:
        raise InputError(f"the class {type(measure).__name__} has no place in a document: it is not registered.")
    out: dict[str, Any] = {"measure": named[1]}
    for f in fields(measure):  # type: ignore[arg-type]
        value = getattr(measure, f.name)
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        if value is not None and value != default:
            out[f.name] = Writer().plain(value, settings_of(type(measure))[f.name].hint, f.name)
    return out
