"""`cf.synthesise`: synthetic data of a whole file in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import polars as pl

from confide.core.errors import InputError, Problems, did_you_mean
from confide.core.random.vault import Vault
from confide.core.run.progress import Progress, progress_bar
from confide.protect.copies import Copies, checked_copies
from confide.protect.release import Release
from confide.protect.seam.mechanism import Mechanism
from confide.protect.shared.rules import Held, Sum, read_rule
from confide.study.synthesise.asked import Asked, asked_of
from confide.study.synthesise.cautions import cautions_of
from confide.study.synthesise.implied import rules_in
from confide.study.synthesise.measured import attacked, compared, risk_of, rules_kept, utility_of
from confide.study.synthesise.models import Chosen, Ruled, checked_models, chosen_for
from confide.study.synthesise.result import Synthesis
from confide.study.synthesise.sums import sums_in

FRAME: dict[str, Any] = {
    "order": pl.Int64, "variable": pl.String, "kind": pl.String, "becomes": pl.String, "model": pl.String,
    "predictors": pl.String, "rules": pl.String, "why": pl.String,
}  # fmt: skip


def synthesise(
    data: Any,
    only: str | Sequence[str] | None = None,
    keep: str | Sequence[str] | None = None,
    *,
    keys: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    weight: str | None = None,
    unit: str | None = None,
    rules: str | Sequence[str] | None = None,
    find_rules: bool = True,
    order: str | Sequence[str] | None = None,
    models: Mapping[str, str | Mechanism] | None = None,
    leaf: int = 5,
    copies: int = 1,
    seed: int | None = None,
    vault: Vault | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Synthesis:
    r"""Synthetic data of a whole file: kinds, order, predictors, models and rules are chosen, stated and measured.

    Each variable is drawn from its distribution given those before it,

    .. math:: p(z_1, \ldots, z_p) = p(z_1) \prod_{k > 1} p(z_k \mid z_1, \ldots, z_{k-1}),

    by a tree whose leaves hold `leaf` records or more (`CartSynthesis`). Numbers come first, in the order of the
    file, since regressions of one number on others are kept better so; then categories, those with few values before
    those with many; a survey weight last. The first variable is drawn from its margin, so that no row begins
    with a real person. Of more than 25 variables before it, a variable is drawn from those that go with it most. One
    file is drawn evenly from leaves, which is closest to the original; of several `copies` each has its own weights of
    the leaves' values, so that they differ as much as the file leaves uncertain, and estimates can be combined
    (`combine`).

    **Rules** that all rows keep are sought and kept in every synthetic row: sums (``total = a + b``: the total is made
    again from its parts), limits and combinations that never occur (``marital == 'married' -> age >= 15``, ``rooms <=
    floor_area``, ``job == 'none' -> wage is missing``), if chance alone would break them in 20 rows or more. Ranges,
    zeros, codes, whole numbers and precision need no rule: values drawn are values that occur. Totals may leave the
    range of the file, which is said. `rules` states further ones, `find_rules=False` seeks none.

    Identifiers are left out, and so is what says which rows are of one `unit`: rows are drawn one by one. `only` names
    the variables to draw, all others being kept; `keep` those to keep. `order` names variables to draw first; `models`
    says by name how to draw some: "cart", "ranks", "quantile", "logistic", "margin", or a step of one's own. `keys` and
    `sensitive`, what an intruder knows and would like to learn, are guessed by `cf.roles` where nobody says.
    `seed` and `vault` as in `Plan.protect`: a seed alone makes a draft.

    The result is a plan like any other, with its release, utility, and the attack of the strongest intruder beside it.

    >>> import confide as cf
    >>> made = cf.synthesise(cf.demo("heads").head(1_000), seed=1)
    >>> made.data.height, "id" in made.data.columns
    (1000, False)
    >>> made.frame["variable"].to_list()[:3], made.frame["model"][0]
    (['age', 'wage_income', 'other_income'], 'CartSynthesis')
    """
    problems = Problems()
    problems.when(not isinstance(find_rules, bool), "find_rules is true or false.")
    whole = isinstance(leaf, int) and not isinstance(leaf, bool) and leaf >= 1
    problems.when(not whole, "leaf is the smallest number of records in a leaf, from 1 upwards.")
    with problems:
        several = None if type(copies) is int and copies == 1 else checked_copies(copies)
    problems.tell()
    with progress_bar("synthetic data", 6, progress) as done:
        asked = asked_of(data, only, keep, keys, sensitive, weight, unit)
        said, places = checked_models(asked, models, order)
        ruled, stated, unsought = _ruled(asked, rules, find_rules)
        done(1)
        chosen = chosen_for(asked, ruled, places, said, leaf, draw=several is not None)
        made = _made(chosen, data, seed, vault, several)
        done(1)
        cautions = [*asked.cautions, *unsought]
        held = rules_kept(made, chosen, ruled, stated)
        done(1)
        useful, beside = utility_of(made, asked), compared(made, asked)
        done(1)
        attack = attacked(made, asked, threads)
        done(1)
        risk = risk_of(made, asked, attack, cautions)
        done(1)
    cautions += cautions_of(asked, ruled.sums, held, several, made)
    used = {"keys": asked.keys, "sensitive": asked.sensitive, "guessed": tuple(sorted(asked.guessed))}
    return Synthesis(
        _frame(asked, chosen),
        chosen.plan,
        made,
        made.data,
        held,
        useful,
        beside,
        risk,
        attack,
        asked.roles,
        used,
        tuple(cautions),
    )


def _made(chosen: Chosen, data: Any, seed: int | None, vault: Any, several: int | None) -> Release | Copies:
    if several is None:
        return chosen.plan.protect(data, seed, vault=vault)
    return chosen.plan.protect(data, seed, vault=vault, copies=several)


def _ruled(asked: Asked, rules: Any, find: bool) -> tuple[Ruled, set[str], list[str]]:
    """Rules found and stated; texts of those that were stated; and why some cannot be kept."""
    stated = [] if rules is None else [rules] if isinstance(rules, str) else list(rules)
    many = len(stated) > 1
    own = [read_rule(t, f"rules, number {k}" if many else "rules") for k, t in enumerate(stated, 1)]
    known = [*asked.kept, *asked.drawn]
    problems = Problems()
    for rule in own:
        for v in rule.names:
            wrong = v not in known
            problems.when(wrong, f'rules: "{v}" is no variable that is drawn or kept.{did_you_mean(v, known)}')
    problems.tell()
    for rule in own:
        if isinstance(rule, Held):
            rule.holds(asked.records)  # what cannot be compared is said before any work
    sums = [r for r in own if isinstance(r, Sum)]
    twice = [s.total for s in sums if sum(t.total == s.total for t in sums) > 1]
    if twice:
        raise InputError(f'rules: "{twice[0]}" is the total of two sums; state one of them.')
    held = [r for r in own if isinstance(r, Held)]
    if find:
        sums += sums_in(asked.records, sums)
        held += [r for r in rules_in(asked.records) if r.text not in stated]
    sums, idle = _possible(asked, sums)
    drawn = {*asked.drawn}
    idle += _in_vain(asked, own)
    held = [r for r in held if drawn & {*r.names} and (r.text in stated or not _follows(r, sums))]
    return Ruled(tuple(sums), tuple(held)), {*stated}, idle


def _in_vain(asked: Asked, stated: Sequence[Held | Sum]) -> list[str]:
    """Sentences on rules of somebody's own that say less than was meant."""
    out = []
    for k, rule in enumerate(stated, 1):
        clauses = [c for c in (rule.given, rule.then) if c is not None] if isinstance(rule, Held) else []
        strange = [c.variable for c in clauses if c.strange(asked.records)]
        out += [f'Rule {k} of those stated names a value that "{v}" never has; see how it is written.' for v in strange]
        if not {*rule.names} & {*asked.drawn}:
            out.append(f"Rule {k} of those stated is about variables that are kept as they are: nothing keeps it.")
    return out


def _possible(asked: Asked, sums: list[Sum]) -> tuple[list[Sum], list[str]]:
    """Sums whose total is drawn, with a part that is; and a sentence on each of the others that is touched."""
    good, idle = list[Sum](), list[str]()
    for s in sums:
        parts = {*s.plus, *s.minus} & {*asked.drawn}
        if s.total in asked.drawn and parts:
            good.append(s)
        elif parts or s.total in asked.drawn:
            idle.append(f'"{s.text}" holds in the file and is not kept: part of it is kept as it is. Draw all of it.')
    return good, idle


def _follows(rule: Held, sums: list[Sum]) -> bool:
    """Whether a rule is about a total and a part of it: made from its parts, it needs no rule of its own."""
    return any(s.total in rule.names and {*rule.names} - {s.total} <= {*s.plus, *s.minus} for s in sums)


def _frame(asked: Asked, chosen: Chosen) -> pl.DataFrame:
    kinds = {str(r["variable"]): str(r["kind"]) for r in asked.roles.frame.iter_rows(named=True)} | asked.kinds
    kinds |= dict.fromkeys(chosen.plan.numeric, "numeric")
    rows = [{**r, "kind": kinds.get(r["variable"], "")} for r in chosen.rows]
    return pl.DataFrame(rows, schema=FRAME)
