"""`confide advise`: which plan to take for a file, found by trying many, and all that was tried in a folder."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli import common
from confide.cli.common import Told
from confide.core.errors import InputError

if TYPE_CHECKING:
    import confide as cf
    from confide.cli.common import Commands

EXAMPLE = """\
  confide advise survey.sav
  confide advise heads.csv --keys sex race marital age --weight weight --max-risk found 1% --out advice
  confide advise heads.csv --intruder who.toml --utility hellinger "log(hh_income) ~ age + C(sex)" --budget "10 min"
  confide advise --study study.toml --quick --out advice"""

WROTE = ("plan.toml", "nearest.toml", "why.html", "report.html", "tried.csv", "frame.parquet", "result.json")
"""What advice leaves in its folder, of which none may be in the way."""

WORK = "work"
"""Where finished evaluations and the seed are: private."""


def add(commands: Commands) -> None:
    """Its options."""
    about = "say which plan to take: try many, attack each, keep the best under a limit"
    p = common.command(commands, "advise", about, EXAMPLE)
    names: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    p.add_argument("data", type=Path, nargs="?", help=f"{common.ORIGINAL}; with --study that of the study")
    p.add_argument("--keys", help="what an intruder could know; default: guessed, and said so", **names)
    p.add_argument("--sensitive", help="what must not be learnt; default: guessed", **names)
    p.add_argument("--identifiers", help="what names people, and is not released; default: guessed", **names)
    p.add_argument("--weight", metavar="NAME", help="the survey weight; default: guessed")
    p.add_argument("--unit", metavar="NAME", help="which rows are of one household or firm; default: guessed")
    words = "a file of the population, one row per person with the keys; or its size"
    p.add_argument("--population", metavar="FILE|N", help=words)
    p.add_argument(
        "--intruder", type=Path, metavar="FILE", help="who might look for people, one or several; TOML or JSON"
    )
    words = "a study file: its data, intruders, utility and choice are taken"
    p.add_argument("--study", type=Path, metavar="FILE", help=words)
    words = "a plan of your own that takes part, in TOML or JSON; may be given again"
    p.add_argument("--plan", type=Path, action="append", default=[], metavar="FILE", help=words)
    words = 'measures of utility, or regressions as "log(income) ~ age + C(sex)"; default: distances of all pairs'
    p.add_argument("--utility", nargs="+", metavar="MEASURE", help=words)
    limit = "a limit on the strongest intruder, such as found 1%% or found 50; default: found 1%%"
    p.add_argument("--max-risk", nargs=2, action="append", default=[], metavar=("RISK", "NUMBER"), help=limit)
    p.add_argument("--by", metavar="MEASURE", help="the measure of utility to choose by; default: the first")
    p.add_argument("--keep", help="variables that must be released as they are", **names)
    budget = 'how long, as "10 min", or how many releases to try, as 400: with a number the answer is always the same'
    p.add_argument("--budget", metavar="TIME|N", help=budget)
    p.add_argument("--quick", action="store_true", help="about a minute, and fewer plans compared at the end")
    p.add_argument("--seed", type=int, metavar="N", help="of the search and its draws")
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument(
        "--out", type=Path, metavar="DIR", help="write the plan, the page why.html, the report and all tried"
    )
    p.add_argument("--force", action="store_true", help="replace files of an earlier run in --out")
    common.add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Search, print, write."""
    import confide as cf
    from confide.core.files.private import private_folder

    _free(options)
    asked = _asked(options)
    if options.out is not None:
        private_folder(options.out.expanduser())  # before the folder of the work makes it, open to others
    advice = cf.advise(**asked)
    files = [] if options.out is None else _written(advice, options)
    lines = [str(advice)]
    if files:
        lines += ["", "Private, not for release. Files written:", *(f"  {f}" for f in files)]
    return "\n".join(lines), plain(advice, files)


def _free(options: argparse.Namespace) -> None:
    """Refused before any work: no file to look at, or files in the way."""
    if options.data is None and options.study is None:
        raise InputError("Name the file: confide advise heads.csv, or give --study FILE, which names its data.")
    if options.intruder is not None and options.study is not None:
        raise InputError("--intruder and --study: give one of them; a study has its own intruders.")
    out = options.out
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder, which may be new.")
    there = [] if options.force else [name for name in WROTE if (out / name).exists()]
    if there:
        raise InputError(f"{out} holds {', '.join(there)}; choose another folder, or --force to replace them.")


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """What is handed to `advise`; what was not said is left to it."""
    import confide as cf
    from confide.cli.look import _population
    from confide.frames import read

    given = {
        k: getattr(options, k) for k in ("keys", "sensitive", "identifiers", "weight", "unit", "by", "seed", "threads")
    }
    given |= {"keep": options.keep, "budget": budget(options.budget), "quick": options.quick or None}
    given["population"] = _population(options.population)
    given["max_risk"] = {risk: _limit(n) for risk, n in options.max_risk} or None
    given["utility"] = None if options.utility is None else [_measure(m) for m in options.utility]
    if options.intruder is not None:
        from confide.attack.document import intruders_in

        given["intruders"] = intruders_in(options.intruder)
    if options.plan:
        given["plans"] = {path.stem: cf.Plan.load(path) for path in options.plan}
    if options.out is not None:
        given |= {"folder": options.out.expanduser() / WORK, "overwrite": options.force}
    asked = {k: v for k, v in given.items() if v is not None}
    if options.study is not None:
        asked = _of_study(options.study) | asked
    if options.data is not None:
        asked["data"] = read(options.data)
    return asked


def _of_study(path: Path) -> dict[str, Any]:
    """A study's data, intruders, utility, threshold, risks of the file and rule; roles as its first plan has them."""
    import confide as cf

    study = cf.Study.load(path)
    out: dict[str, Any] = {"data": study.data, "intruders": study.intruders, "utility": list(study.measures),
                           "threshold": study.threshold, "file_risks": study.on_file}  # fmt: skip
    rule = study.choice
    if rule is not None:
        if rule.cautious or rule.intruder is not None:
            which = "cautious" if rule.cautious else "intruder"
            raise InputError(
                f"--study: its choice has {which}, which advice does not know: limits hold for means, by the strongest "
                "of all intruders. Take that out of the study file, or state what is asked without --study."
            )
        out |= {"max_risk": rule.max_risk, "min_utility": rule.min_utility}
        out |= {} if rule.by is None else {"by": rule.by}
    plan = next(iter(study.candidates)).plan
    roles = {"identifiers": list(plan.identifiers), "weight": plan.weight, "unit": plan.unit, "seed": study.seed}
    return out | {k: v for k, v in roles.items() if v}


def budget(text: str | None) -> int | str | None:
    """A number of releases, or a time as it was written.

    >>> budget("400"), budget("10 min"), budget(None)
    (400, '10 min', None)
    """
    if text is None:
        return None
    plain_number = text.replace(",", "").replace("_", "")
    return int(plain_number) if plain_number.isdigit() else text


def _limit(text: str) -> float | str:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def _measure(text: str) -> Any:
    """A measure by its name, or a regression whose intervals are compared."""
    import confide as cf

    return cf.RegressionOverlap(text) if "~" in text else text


def _written(advice: cf.Advice, options: argparse.Namespace) -> list[Path]:
    """The report first: the page links to it where it is there."""
    out: Path = options.out.expanduser()
    files = [advice.report(out / "report.html", overwrite=options.force)]
    data = None if options.data is None else str(options.data)
    return [*files, *advice.save(out, overwrite=options.force, data=data)]


def plain(advice: cf.Advice, files: list[Path]) -> dict[str, Any]:
    """Advice as plain data, without records."""
    from confide.show.advice.view import AdviceView
    from confide.show.advice.words import answer, cautions, confirm

    view, second, near = AdviceView(advice), advice.runner_up, advice.nearest
    told: dict[str, Any] = {
        "answer": answer(view), "name": advice.name, "plan": None if advice.plan is None else advice.plan.to_dict(),
        "confirmed": advice.confirmed.to_dicts(), "limits": dict(advice.limits), "by": advice.by,
        "runner_up": None if second is None else {
            "name": second.name, "plan": second.plan.to_dict(), "difference": vars(second.difference),
            "apart": second.apart,
        },
        "nearest": None if near is None else {
            "name": near.name, "plan": near.plan.to_dict(), "give_up": list(near.give_up),
        },
        "asked": list(advice.asked), "confirm": confirm(view), "cautions": cautions(view), "reason": advice.reason,
        "tried": advice.tried.to_dicts(), "families": advice.families.to_dicts(), "untried": advice.untried.to_dicts(),
        "evaluations": advice.evaluations, "seconds": advice.seconds, "seed": advice.seed, "script": advice.script,
        "files": [str(f) for f in files],
    }  # fmt: skip
    return dict(_finite(told))


def _finite(told: Any) -> Any:
    """JSON has no infinite numbers: they become text."""
    if isinstance(told, dict):
        return {k: _finite(v) for k, v in told.items()}
    if isinstance(told, (list, tuple)):
        return [_finite(v) for v in told]
    return str(told) if isinstance(told, float) and not math.isfinite(told) else told
