"""`confide generalise`: the levels of hierarchies that lose least while a condition holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli import common
from confide.cli.common import Told
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    from confide.cli.common import Commands
    from confide.measure.risk.file_risks.statement import FileRisk

EXAMPLE = """\
  confide generalise heads.csv --hierarchy age=5,10,20 --hierarchy race=race.csv --hierarchy sex --k 5 --out plan.toml
  confide generalise heads.csv --hierarchy age=5,10,20 --hierarchy sex --k 5 --share 0.01
  confide generalise heads.csv --hierarchy age --hierarchy marital --intruder who.toml --limit expected_matches 50"""


def add(commands: Commands) -> None:
    """Its options."""
    about = "find the levels of recoding hierarchies that lose least while a condition holds"
    p = common.command(commands, "generalise", about, EXAMPLE)
    p.add_argument("data", type=Path, help=common.ORIGINAL)
    words = (
        "a variable with its hierarchy: a file (.csv of levels, .toml, .json), or widths as 5,10,20; alone: proposed"
    )
    p.add_argument("--hierarchy", action="append", default=[], metavar="VARIABLE[=LEVELS]", help=words)
    p.add_argument("--k", type=int, metavar="N", help="at least so many records alike on all keys")
    p.add_argument(
        "--keys", nargs="+", metavar="VARIABLE", help="keys of --k, --l and --t; default: all with --hierarchy"
    )
    p.add_argument("--sensitive", metavar="VARIABLE", help="what must not be learnt, of --l and --t")
    p.add_argument("--l", type=int, metavar="N", help="at least so many different sensitive values in each class")
    p.add_argument("--t", type=float, metavar="T", help="the largest distance of a class from the file, from 0 to 1")
    p.add_argument("--share", type=float, default=0.0, help="the share of rows that may fail, such as 0.01")
    p.add_argument("--intruder", type=Path, metavar="FILE", help="who attacks, for --limit; in TOML or JSON")
    p.add_argument("--name", help="which of several [[intruder]] tables")
    limit = "a limit on the intruder's risk, such as expected_matches 50 or found 2%%"
    p.add_argument("--limit", nargs=2, action="append", default=[], metavar=("RISK", "NUMBER"), help=limit)
    p.add_argument("--threshold", type=float, default=0.2, help="of over_threshold (0.2)")
    p.add_argument(
        "--goal", metavar="MEASURE", help="the measure of utility that is best; default: share of entropy lost"
    )
    common.add_plan(p, required=False)
    p.add_argument(
        "--tries", type=int, default=10, metavar="N", help="nodes that are attacked, where that is needed (10)"
    )
    p.add_argument("--seed", type=int, metavar="N", help="for attacks, where the plan has random steps")
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--out", type=Path, metavar="FILE", help="write the best plan, .toml or .json")
    p.add_argument("--nodes", type=Path, metavar="FILE", help="write one row per node that was visited; private")
    p.add_argument("--force", action="store_true", help="replace existing files")
    common.add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Search, print, write the plan."""
    raise_all(common.unwritable(options, [options.out, options.nodes]))
    if options.nodes is not None:
        common.check_suffix(options.nodes)
    data = cf.read(options.data)
    hierarchies = _hierarchies(options.hierarchy, data)
    who = None if options.intruder is None else cf.Intruder.load(options.intruder, options.name)
    found = cf.generalise(
        data, hierarchies=hierarchies, until=_until(options, list(hierarchies)), goal=options.goal, share=options.share,
        plan=None if options.plan is None else cf.Plan.load(options.plan), intruders=who, threshold=options.threshold,
        tries=options.tries, seed=options.seed, threads=options.threads,
    )  # fmt: skip
    lines = [str(found), "", *(f"  {r['variable']}: {r['level']} ({r['groups']:,} groups of {r['values']:,} values)"
                               for r in found.levels.iter_rows(named=True))]  # fmt: skip
    if options.out is not None:
        found.plan.save(options.out, overwrite=options.force)
        lines.append(f"\nPlan: {options.out}")
    if options.nodes is not None:
        cf.write(found.frame, options.nodes, overwrite=options.force, private=True)
        lines.append(f"\nPrivate, one row per node that was visited: {options.nodes}")
    return "\n".join(lines), _plain(found)


def _plain(found: cf.Generalised) -> dict[str, Any]:
    return {
        "best": dict(found.best), "loss": found.loss, "goal": found.goal, "visited": found.visited,
        "before_best": found.before_best, "nodes": found.nodes, "complete": found.complete,
        "minimal": found.minimal.to_dicts(), "ties": found.ties.to_dicts(), "reason": found.reason,
        "plan": found.plan.to_dict(),
    }  # fmt: skip


def _hierarchies(given: list[str], data: Any) -> dict[str, cf.Hierarchy]:
    if not given:
        raise InputError(
            "Name at least one variable: --hierarchy age=5,10,20, --hierarchy race=race.csv, or --hierarchy sex."
        )
    found: dict[str, cf.Hierarchy] = {}
    for text in given:
        variable, _, levels = text.partition("=")
        if variable in found:
            raise InputError(f'--hierarchy: "{variable}" is named twice.')
        found[variable] = _hierarchy(variable, levels, data)
    return found


def _hierarchy(variable: str, levels: str, data: Any) -> cf.Hierarchy:
    if not levels:
        return cf.Hierarchy.propose(data, variable)
    if Path(levels).suffix.lower() in (".csv", ".toml", ".json"):
        return cf.Hierarchy.load(levels)
    try:
        return cf.Hierarchy(widths=[_number(part) for part in levels.split(",")])
    except ValueError as cause:
        if isinstance(cause, InputError):
            raise
        raise InputError(
            f"--hierarchy {variable}=...: give a file that ends in .csv, .toml or .json, or widths such as 5,10,20."
        ) from None


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _until(options: argparse.Namespace, variables: list[str]) -> list[FileRisk] | dict[str, Any]:
    """What a node must meet: customary limits, or limits on risk."""
    keys = options.keys or variables
    for option in ("l", "t"):
        if getattr(options, option) is not None and options.sensitive is None:
            raise InputError(f"--{option} needs --sensitive VARIABLE: what must not be learnt.")
    made: list[FileRisk] = []
    if options.k is not None:
        made.append(cf.measures.KAnonymity(keys, k=options.k))
    if options.l is not None:
        made.append(cf.measures.LDiversity(keys, options.sensitive, l=options.l))
    if options.t is not None:
        made.append(cf.measures.TCloseness(keys, options.sensitive, t=options.t))
    if made and options.limit:
        raise InputError("--limit is on an intruder's risk, --k, --l and --t on classes; give one kind of condition.")
    if made:
        return made
    if not options.limit:
        raise InputError(
            "Say what must hold: --k 5, --l 2 or --t 0.2 with --sensitive, or --limit expected_matches 50."
        )
    return {risk: _limit(number) for risk, number in options.limit}


def _limit(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
