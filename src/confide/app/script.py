"""A state as a script and as a study file: what every click amounts to, to be done again without a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.documents import (
    DATA,
    REPEATS,
    SEED,
    choice_table,
    intruder_tables,
    plan_table,
    release_table,
    study_table,
    utility_tables,
)
from confide.app.project import Project
from confide.app.state import AS_IT_IS, State, Table
from confide.app.tables_script import headline, tables_script
from confide.app.web import Page
from confide.app.words import slug

KEPT = {"report.html": "report.html", "report-outside.html": "outside/report.html", "map.svg": "map.svg"}


@dataclass(frozen=True)
class Script:
    """The script so far in Python and TOML."""

    python: str
    toml: str


def shown_script(state: State) -> Script:
    """The script as pages show it: which values a grouping names is left out, since few people may have one of them."""
    whole = script_of(state.but(steps=_brief(state.steps), candidates=[
        {**c, "steps": _brief(c["steps"])} for c in state.candidates
    ]), "")  # fmt: skip
    return Script(whole.python, whole.toml and "yes")


def _brief(steps: Sequence[Table]) -> list[Table]:
    return [{k: {f"{len(v)} values": "..."} if isinstance(v, Mapping) else v for k, v in s.items()} for s in steps]


def script_of(state: State, screen: str) -> Script:  # noqa: ARG001 - every screen shows the whole
    """Both forms of a state."""
    if state.way == "tables":
        return Script(tables_script(state), "")
    return Script("\n".join(_python(state)) + "\n", cf.to_toml(study_table(state)) if state.intruders else "")


def last_line(now: State, before: State) -> str:
    """The first line of the script that a change brought; empty where it took lines away."""
    if now.way == "tables":
        return headline(tables_script(now), tables_script(before))
    old = set(shown_script(before).python.splitlines())
    return next(
        (line.strip() for line in shown_script(now).python.splitlines() if line.strip() and line not in old), ""
    )


def file_of(state: State, name: str) -> str | None:
    """A text that is made from the state alone; None for anything else."""
    if name == "script.py":
        return script_of(state, "").python
    if name == "study.toml" and state.way == "records" and state.intruders:
        return cf.to_toml(study_table(state))
    if name == "plan.toml" and state.way == "records":
        return cf.to_toml(plan_table(state, _chosen_steps(state)))
    return None


def kept_file(project: Project, page: Page, name: str) -> Path | None:
    """A report that the last comparison of this state wrote; None where there is none."""
    from confide.app.screens import compare

    folder = compare.report_folder(page)
    path = None if folder is None or name not in KEPT else project.folder / folder / KEPT[name]
    return path if path is not None and path.is_file() else None


def _chosen_steps(state: State) -> Sequence[Table]:
    chosen = state.candidate(state.choice)
    return state.steps if chosen is None else chosen["steps"]


def _python(state: State) -> Iterator[str]:
    yield "import confide as cf"
    yield ""
    demo = state.source.startswith("demo:")
    yield (
        f"people = cf.demo({literal(state.source.removeprefix('demo:'))})"
        if demo
        else f"people = cf.read({literal(state.source)})"
    )
    shared = release_table(state)
    if shared:
        yield f"shared = {literal(shared)}"
    if state.intruders:
        yield ""
        yield "intruders = {"
        for who in intruder_tables(state):
            rest = {k: v for k, v in who.items() if k != "name"}
            yield f"    {literal(who['name'])}: cf.Intruder.from_dict({literal(rest)}),"
        yield "}"
    if state.steps:
        yield ""
        yield from _plan("plan", state, state.steps)
        if state.intruders:
            yield f"print(next(iter(intruders.values())).attack(plan.protect(people, seed={SEED})).summary())"
    if state.candidates:
        yield from _study(state)
    if state.choice:
        yield from _release(state)


def _plan(name: str, state: State, steps: Sequence[Table]) -> Iterator[str]:
    table = plan_table(state, steps)
    shared = release_table(state)
    own = {k: v for k, v in table.items() if k != "steps" and shared.get(k) != v}
    yield f"{name} = cf.Plan.from_dict({{"
    yield '    "steps": ['
    yield from (f"        {literal(dict(step))}," for step in table["steps"])
    yield "    ],"
    if shared:
        yield "    **shared,"
    yield from (f"    {literal(k)}: {literal(v)}," for k, v in own.items())
    yield "})"


def _study(state: State) -> Iterator[str]:
    yield ""
    yield "plans = {}"
    for candidate in [{"name": AS_IT_IS, "steps": ()}, *state.candidates]:
        yield from _plan(f"plans[{literal(candidate['name'])}]", state, candidate["steps"])
    rule = choice_table(state)
    yield "study = cf.Study("
    yield f"    people, plans, intruders, utility={literal(utility_tables(state))},"
    yield f"    repeats={REPEATS}, seed={SEED}, title={literal(state.name)},"
    if rule is not None:
        yield f"    choice=cf.Rule.from_dict({literal(rule)}),"
    yield ")"
    yield "result = study.run()"
    if rule is not None:
        yield "choice = result.choose()"


def _release(state: State) -> Iterator[str]:
    yield ""
    yield f'release = plans[{literal(state.choice)}].protect(people, vault="vault")    # its secret keys the draws'
    yield f"print(result.check(release, {literal(state.choice)}))"
    public, private = (str(state.decision.get(k) or k) for k in ("public", "private"))
    name = f"{slug(Path(state.name).stem)}.{state.decision.get('format') or 'csv'}"
    yield f"cf.write(release.data, {literal(f'{public}/{name}')})"
    yield f"release.save_record({literal(f'{public}/public-record.json')})"
    yield f"release.save_record({literal(f'{private}/record.json')}, private=True)"
    choice = literal(state.choice)
    yield f"result.report({literal(f'{private}/report.html')}, choice={choice})"
    if state.decision.get("tell", True):
        yield f"result.report({literal(f'{public}/report.html')}, choice={choice}, outside=True)"


def literal(value: Any) -> str:
    """A value as Python writes it, with double quotes.

    >>> literal({"a": ["x", 1], "b": True})
    '{"a": ["x", 1], "b": True}'
    """
    if isinstance(value, str):
        return '"' + repr('"' + value)[2:-1].replace('"', '\\"').replace("\\'", "'") + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    return repr(value)


__all__ = ["DATA", "Script", "file_of", "kept_file", "last_line", "literal", "script_of"]
