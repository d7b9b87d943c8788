"""`cf.advise`: which methods at which strength, found by trying many plans and attacking each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed, fresh_seed, stream
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.seam.dials import Dial, Untried
from confide.study.advise.aside import found_aside
from confide.study.advise.asked import Asked, asked_about
from confide.study.advise.budget import Budget, stated_budget
from confide.study.advise.cost import at_the_end, cut
from confide.study.advise.finish import FEW, FINALISTS, ended, finalists_of, names_of, with_anchor
from confide.study.advise.result import Advice
from confide.study.advise.room import USUAL, stated_memory, tight
from confide.study.advise.search import Search
from confide.study.advise.space import Space, offered
from confide.study.advise.told import families_frame, nearest_of, reason_of, tried_frame, untried_frame
from confide.study.advise.trials import Work, sample_of
from confide.study.pieces.keys import fingerprint
from confide.study.pieces.store import Store
from confide.study.run import run_in
from confide.study.statement.rule import Rule
from confide.study.statement.study import Study
from confide.study.tradeoff.asked import checked_floors, checked_limits
from confide.study.tradeoff.risk_names import about_file, is_share

NOTE = "confide-advice.json"
"""Where a folder says which search it holds."""


def advise(
    data: Any, keys: str | Sequence[str] | None = None, *, sensitive: str | Sequence[str] | None = None,
    weight: str | None = None, unit: str | None = None, population: Any = None,
    identifiers: str | Sequence[str] | None = None, intruders: Mapping[str, Intruder] | None = None,
    utility: Measure | str | Sequence[Measure | str | Mapping[str, object]] | None = None,
    max_risk: Mapping[str, float | str] | None = None, by: str | Measure | None = None,
    min_utility: Mapping[str, float] | None = None, hierarchies: Mapping[str, Hierarchy] | None = None,
    keep: str | Sequence[str] = (), plans: Mapping[str, Plan] | None = None,
    budget: int | str | timedelta | None = None, quick: bool = False, memory: str | int | None = None,
    repeats: int = 5, seed: int | None = None, threshold: float = 0.2, folder: str | os.PathLike[str] | None = None,
    overwrite: bool = False, progress: Progress = None, threads: int | None = None,
    file_risks: Sequence[FileRisk | Mapping[str, object]] = (), finalists: int | None = None,
) -> Advice:  # fmt: skip
    """Which methods, at which strength: many plans are tried, each is attacked, and the best within limits confirmed.

    `keys`, `sensitive`, `weight`, `unit`, `identifiers`, `population`: roles, guessed as `look` does where they are not
    stated, which `Advice.asked` says. `intruders`: by name; by default one who knows the keys and that a person is in
    the file, and, where weights or a population say how many people there are, one who does not know that.
    `max_risk`: limits as in `Rule`, {"found": "1%"} by default. `utility`: measures; by default the Hellinger distance
    of the distributions of all pairs of variables, by which plans are chosen, and of single ones: a pair's distance is
    at least that of its margins, so swapping, which keeps margins, does not look free; what is dropped counts as lost;
    and it takes a fraction of a second. `by`: the measure chosen by, the first where nobody says. `min_utility`: what
    is asked of measures. `hierarchies`: groups to recode by; others are proposed. `keep`: variables released as they
    are. `plans`: plans of your own that take part, and around which is searched too; what they do not state of
    identifiers, weight and unit is as for all.

    Every method says which variables it suits and how strongly it can be turned. First each of these dials is turned
    alone, then mixes are tried: what promises most risk lowered for the utility lost, from several starts, so that all
    families get a chance, and strengths between those that were tried, near the limit. Most plans meet intruders who
    look for a sample of people, the same for all plans; the best meet them at every level on all people, then with
    repeats. What is discarded breaks a limit, or is beaten by a plan that keeps the limits, beyond three standard
    errors; what was left for want of budget is said.

    It ends in a `Study` of finalists with draws that the search had not seen. The plan that the study chooses is drawn
    again, with draws that chose nothing: those are the numbers to report, and where they break a limit the next plan is
    taken, which the reason says. Where no plan meets the limits, `Advice.nearest` says which comes nearest.

    `budget`: evaluations of the search, as 200, or time for all of it, as "10 min" (the default; about a minute with
    `quick`, which also has fewer finalists). With a number of evaluations and a `seed` the answer is the same again; a
    time decides how many evaluations begin, and `Advice.evaluations` is that number. `repeats`: releases of each
    finalist; `finalists`: how many plans the study at the end has at most. Where time is too short, both are cut, and
    `Advice.script` states all three. `folder`: finished evaluations are kept there, and a search that was stopped goes
    on; it is private.
    `memory`: as "2 GB" (the default), what the process should take: evaluations that would not fit beside each other,
    by what those of their kind took, and plans that take much, run one after another; near the limit what is remembered
    is dropped; one that takes more by itself is not cut off. `threads` never changes a result.

    >>> import confide as cf
    >>> few = cf.demo("heads").head(150).select("sex", "race", "age")
    >>> advice = cf.advise(few, ["sex", "age"], max_risk={"found": "20%"}, budget=12, repeats=2, seed=1)
    >>> advice.choice.risks["found_share"] <= 0.20, advice.evaluations
    (True, 12)
    """
    began = time.perf_counter()
    limit = stated_budget(budget, quick)
    if finalists is not None and (isinstance(finalists, bool) or not isinstance(finalists, int) or finalists < 1):
        raise InputError("finalists is how many plans the study at the end has at most, a whole number from 1 upwards.")
    given: dict[str, Any] = {
        "population": population, "intruders": intruders, "utility": utility, "hierarchies": hierarchies,
        "plans": plans, "file_risks": file_risks, "min_utility": min_utility, "quick": quick, "repeats": repeats,
        "threshold": threshold,
    }  # fmt: skip
    asked = asked_about(
        data, keys=keys, sensitive=sensitive, weight=weight, unit=unit, population=population,
        identifiers=identifiers, intruders=intruders, utility=utility, max_risk=max_risk, by=by,
        hierarchies=hierarchies, keep=(keep,) if isinstance(keep, str) else tuple(keep),
    )  # fmt: skip
    own = _own_plans(plans, asked.base)
    rule = Rule(asked.limits, asked.by.name, min_utility=min_utility or {})
    common: dict[str, Any] = {
        "intruders": asked.intruders, "utility": asked.measures, "repeats": repeats, "threshold": threshold,
        "file_risks": file_risks, "choice": rule,
    }  # fmt: skip
    study = Study(data, {"as it is": asked.base, **own}, seed=seed, **common)
    with nullcontext() if folder is None else Store.opened(folder) as store:
        seed, limit, before = _settled(study, store, asked, limit, overwrite)
        cores = thread_count(threads)
        most = FEW if quick else FINALISTS
        limits = checked_limits(asked.limits, study.measures, learnt=study.own_risks)
        needed = _needed(study, asked.by, min_utility)
        room = stated_memory(USUAL if memory is None else memory)
        work = Work(study, needed, seed, sample_of(study.data.height, _share(limits, study), seed), store)
        dials, untried = _useful(asked, limits, quick)
        with progress_bar("searching", int(limit), progress) as done:
            counted = Budget(limit, done)
            search = Search(
                Space(asked.base, dials), own, work, limits, asked.by, counted, threads, asked.outlook.kept, room,
                ends=lambda s: at_the_end(finalists_of(s, most), repeats, cores),
            )  # fmt: skip
            search.run()
        ends = cut(finalists_of(search, most)[:finalists], repeats, cores, counted.left, before)
        chosen, common["repeats"] = names_of(ends.plans), ends.repeats
        if not chosen:
            raise InputError(_nothing(search))
        tight(room)
        stated = {name: c.plan for name, c in chosen.items() if c.plan is not None}
        end = int(stream(seed, "study at the end").integers(2**63))
        final = Study(data, with_anchor(stated, asked.base), seed=end, title="Advice", **common)
        result = _run(final, store, progress, threads)
        ending = ended(final, result, limits, asked.by.name, end, threads, progress)
        if store is not None:
            kept = {"evaluations": counted.begun, "end": [len(ends.plans), ends.repeats]}
            store.note(NOTE, {**(store.noted(NOTE) or {}), **kept})
    last = len(ends.plans) if ends.said else finalists
    script = _script(asked, {**given, "seed": seed, "repeats": ends.repeats, "finalists": last}, counted.begun)
    return _told(asked, search, ending, chosen, untried, final, seed, time.perf_counter() - began, script, ends.said)


def _useful(asked: Asked, limits: Mapping[str, float], quick: bool) -> tuple[list[Dial], list[Untried]]:
    """Dials that can lower a risk that is limited: what no intruder knows need not be altered, unless a risk of the
    file is limited. A quick search leaves out what takes long."""
    dials, untried = offered(asked.outlook)
    slow = "it takes long on this file; a search that is not quick tries it"
    untried += [Untried(d.family, slow, d.variables) for d in dials if quick and d.dear]
    dials = [d for d in dials if not (quick and d.dear)]
    if any(about_file(risk) for risk in limits):
        return dials, untried
    known = {s.name for s in asked.outlook.subjects if s.known}
    idle = [d for d in dials if d.variables and not known & set(d.variables)]
    why = "no intruder knows it, so that altering it lowers no risk that is limited"
    left = [Untried(d.family, why, d.variables) for d in idle]
    return [d for d in dials if d not in idle], [*untried, *left]


def _run(final: Study, store: Store | None, progress: Progress, threads: int | None) -> Any:
    """The study at the end, piece by piece, since its memory is limited; in a folder inside that of the search."""
    if store is None:
        return run_in(final, None, progress=progress, threads=threads, overwrite=False, alone=True)
    with Store.opened(Path(store.folder) / "study") as inner:
        return run_in(final, inner, progress=progress, threads=threads, overwrite=True, alone=True)


def _told(
    asked: Asked, search: Search, ending: Any, chosen: Any, untried: Any, final: Study, seed: int, seconds: float,
    script: str, cut_short: str,
) -> Advice:  # fmt: skip
    plans = {c.name: c.plan for c in (final.everything, *final.candidates)}
    near = nearest_of(search, ending, plans.get(ending.nearest))
    aside = found_aside(ending.result, ending.name or ending.nearest)
    return Advice(
        plan=None if ending.name is None else plans[ending.name], name=ending.name, choice=ending.choice,
        study=ending.result, confirmed=ending.confirmed, frame=tried_frame(search, ending, chosen),
        families=families_frame(search), untried=untried_frame(untried, search), runner_up=ending.runner_up,
        asked=asked.said, evaluations=search.budget.begun, seconds=seconds, seed=seed,
        reason=" ".join(s for s in (reason_of(search, ending), cut_short, aside) if s), nearest=near, script=script,
        limits=search.limits, by=asked.by.name, statement=final, aside=aside,
    )  # fmt: skip


def _own_plans(plans: Mapping[str, Plan] | None, base: Plan) -> dict[str, Plan]:
    """Plans of the user, with the identifiers, weight and unit of the file where they state none."""
    if plans is None:
        return {}
    if not isinstance(plans, Mapping) or not all(isinstance(p, Plan) for p in plans.values()):
        raise InputError('plans is a table of plans by name, as {"last year": cf.Plan([...])}.')
    if "as it is" in plans:
        raise InputError('plans: "as it is" is the name of the file without any step; give another.')
    return {
        name: replace(p, identifiers=p.identifiers or base.identifiers, weight=p.weight or base.weight,
                      unit=p.unit or base.unit)
        for name, p in plans.items()
    }  # fmt: skip


def _settled(
    study: Study, store: Store | None, asked: Asked, limit: int | float, overwrite: bool
) -> tuple[int, int | float, tuple[int, int] | None]:
    """The seed, and the budget: in a folder whose search is done, as many evaluations as it had, with as many finalists
    and repeats at its end."""
    if store is None:
        return checked_seed(study.seed), limit, None
    mark = f"{fingerprint(study)} {sorted(asked.outlook.kept)}"
    there = store.noted(NOTE)
    if there is not None and there.get("mark") != mark and not overwrite:
        raise InputError(
            f"{store.folder} holds advice on something else (data, intruders, measures, limits, seed or version "
            "differ). Give another folder, or overwrite=True: what can be used again will be."
        )
    same = there is not None and there.get("mark") == mark
    drawn = int(there["seed"]) if there is not None and same else fresh_seed()
    seed = drawn if study.seed is None else checked_seed(study.seed)
    before = there if there is not None and same and there.get("budget") == repr(limit) else {}
    done, end = before.get("evaluations"), before.get("end")
    store.note(NOTE, {"mark": mark, "seed": str(seed), "budget": repr(limit), "evaluations": done, "end": end})
    return seed, limit if done is None else int(done), None if not end else (int(end[0]), int(end[1]))


def _needed(study: Study, by: Measure, floors: Mapping[str, float] | None) -> tuple[Measure, ...]:
    """Measures that decide."""
    least = checked_floors(floors or {}, study.measures)
    return tuple(m for m in study.measures if m.name == by.name or m.name in least)


def _share(limits: Mapping[str, float], study: Study) -> float:
    """The smallest limit, as a share of people."""
    each = [x if is_share(r) else x / study.data.height for r, x in limits.items() if not about_file(r)]
    return min(each, default=0.01)


def _nothing(search: Search) -> str:
    why = next((c.error for c in search.candidates if c.error), "")
    return f"No plan could be carried out on this file.{' The first said: ' + why if why else ''}"


def _script(asked: Asked, given: Mapping[str, Any], evaluations: int) -> str:
    """The call that does the same: roles as they were understood, numbers as they were, and by their names what cannot
    be written in a line. `given`: arguments of the call."""
    roles = {k: v for k, v in asked.roles.items() if v or k in ("sensitive", "identifiers")}
    named = ("population", "intruders", "utility", "hierarchies", "plans", "file_risks")
    stated = [k for k in named if given[k] is not None and not (k == "file_risks" and not len(given[k]))]
    plain = {
        "max_risk": dict(asked.limits), "by": asked.by.name, "min_utility": dict(given["min_utility"] or {}),
        "keep": list(asked.outlook.kept), "quick": given["quick"], "budget": evaluations, "repeats": given["repeats"],
        "threshold": given["threshold"], "seed": given["seed"], "finalists": given["finalists"],
    }  # fmt: skip
    left_out: dict[str, Any] = {"min_utility": {}, "keep": [], "quick": False, "threshold": 0.2, "finalists": None}
    numbers = {k: v for k, v in plain.items() if k not in left_out or v != left_out[k]}
    said = [f"{k}={_literal(v)}" for k, v in roles.items()] + [f"{k}={k}" for k in stated]
    return f"advice = cf.advise(data, {', '.join([*said, *(f'{k}={_literal(v)}' for k, v in numbers.items())])})"


def _literal(value: Any) -> str:
    """A value as Python has it, with double quotes.

    >>> print(_literal({"found": "1%"}), _literal(["a", "b's"]), _literal(True))
    {"found": "1%"} ["a", "b's"] True
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
