"""Risk against utility: every number with its spread over repeats, and which plans no other beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import F64, Bools
from confide.measure.utility.measure import Measure
from confide.study.tradeoff.asked import SAFER, checked_risk, chosen_intruders
from confide.study.tradeoff.repeats import Interval, Repeats, interval, same, worst_of
from confide.study.tradeoff.risk_names import about_file, own_risks

SUMMARY = {
    "plan": pl.String, "sweep": pl.String, "value": pl.Float64, "intruder": pl.String, "measure": pl.String,
    "kind": pl.String, "direction": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "sd": pl.Float64, "repeats": pl.Int64,
}  # fmt: skip
POINTS = {
    "plan": pl.String, "risk": pl.Float64, "risk_low": pl.Float64, "risk_high": pl.Float64, "utility": pl.Float64,
    "utility_low": pl.Float64, "utility_high": pl.Float64, "on_frontier": pl.Boolean, "p_frontier": pl.Float64,
    "dominated_by": pl.String, "worst_intruder": pl.String, "note": pl.String,
}  # fmt: skip


def summarise_repeats(
    frame: pl.DataFrame, measures: Sequence[Measure], risks: Sequence[str], random: Mapping[str, bool] | None = None
) -> pl.DataFrame:
    """One row per plan, intruder and risk, and one per plan and measure of utility or risk of the file (the intruder is
    null).

    `random` says which plans have random steps. `low` and `high` are Student's 95% interval of the mean over repeats:
    the mean itself for a plan without random steps, null for a random plan with one repeat. A repeat without a number
    is left out, as `repeats` shows.

    >>> frame = pl.DataFrame({"plan": "swap", "sweep": None, "value": None, "intruder": "a", "repeat": [0, 1],
    ...                       "expected_matches": [10.0, 12.0]})
    >>> summarise_repeats(frame, [], ["expected_matches"]).select("mean", "sd", "repeats").row(0)
    (11.0, 1.4142135623730951, 2)
    """
    every = Repeats.of(frame, random)
    about = {p: (s, v) for p, s, v in frame.select("plan", "sweep", "value").iter_rows()}
    theirs, of_file = ([r for r in risks if about_file(r) is file] for file in (False, True))
    asked: list[tuple[str | None, str, str]] = [(who, who, name) for who in every.intruders for name in theirs]
    asked += [(None, every.intruders[0], name) for name in of_file]
    of_risk = [(who, name, every.risk(name, by), every.risk_ends(name, by)) for who, by, name in asked]
    of_utility = [(m, every.utility(m.name)) for m in measures]
    rows: list[tuple[Any, ...]] = []
    for k, plan in enumerate(every.plans):
        drawn = bool(every.random[k])
        for who, name, values, ends in of_risk:
            better = "higher" if name in SAFER else "lower"
            rows.append((plan, *about[plan], who, name, "risk", better, *_numbers(interval(values[k], drawn, ends[k]))))
        for m, values in of_utility:
            found = _numbers(interval(values[k], drawn, m.range))
            rows.append((plan, *about[plan], None, m.name, "utility", m.direction, *found))
    return pl.DataFrame(rows, schema=SUMMARY, orient="row")


def _numbers(found: Interval | None) -> tuple[float | None, float | None, float | None, float | None, int]:
    return (
        (None, None, None, None, 0) if found is None else (found.mean, found.low, found.high, found.sd, found.repeats)
    )


def frontier(
    frame: pl.DataFrame, risk: str, utility: Measure, intruder: str | None = None, draws: int = 1000,
    random: Mapping[str, bool] | None = None,
) -> pl.DataFrame:  # fmt: skip
    r"""Which plans no other beats: plan q dominates p where

    .. math:: R_q \le R_p, \quad U_q \succeq U_p, \quad \text{and one of the two is strictly better.}

    R is the mean over repeats, of the intruder for whom it is largest (`worst_intruder`) unless one is named; U is the
    mean in the measure's own direction. Equal plans do not dominate each other. `p_frontier` is the
    probability that the plan's expected values are undominated, given the repeats and no other knowledge of the plans:
    the share of `draws` of all means together, whose differences have Student's t distribution (`drawn_means`); it is
    null for a random plan with one repeat. `dominated_by` is the first stated plan of the frontier that dominates it. A
    plan with a number that is not known is never on the frontier; its `note` says so.

    >>> import confide as cf
    >>> frame = pl.DataFrame({"plan": ["a", "b", "c"], "intruder": "i", "repeat": 0, "expected_matches": [1.0, 5, 6],
    ...                       "hellinger": [0.4, 0.1, 0.2]})
    >>> frontier(frame, "expected_matches", cf.Hellinger()).select("plan", "on_frontier", "dominated_by").rows()
    [('a', True, None), ('b', True, None), ('c', False, 'b')]
    """
    risk = checked_risk(risk, [utility], learnt=own_risks(frame.columns))
    every = Repeats.of(frame, random)
    who = chosen_intruders(every.intruders, intruder)
    worst = worst_of(every, risk, who)
    found = every.intervals(every.utility(utility.name), utility.range)
    sign = _sign(utility)
    r = np.array([np.nan if w is None else w[1].mean for w in worst])
    loss = np.array([np.nan if u is None else sign * u.mean for u in found])
    beaten = dominated(r, loss)
    p = frontier_shares(*drawn_points(every, risk, who, utility, draws))
    rows = []
    for k, plan in enumerate(every.plans):
        known = worst[k] is not None and found[k] is not None
        on = known and not beaten[k].any()
        unsure = bool(every.random[k]) and every.there[k].sum() == 1
        by = None if on or not known else every.plans[_first_of_frontier(beaten, k)]
        name, numbers = worst[k] or (None, None)
        name = None if about_file(risk) else name
        rows.append((
            plan, *_numbers(numbers)[:3], *_numbers(found[k])[:3], on, None if unsure or not known else float(p[k]),
            by, name, _note(worst[k] is None, found[k] is None, risk, utility.name),
        ))  # fmt: skip
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def _note(no_risk: bool, no_utility: bool, risk: str, utility: str) -> str | None:
    lost = [name for name, gone in ((risk, no_risk), (utility, no_utility)) if gone]
    return f"not compared: {' and '.join(lost)} cannot be computed" if lost else None


def dominated(risk: F64, loss: F64) -> Bools:
    """Entry (p, q): q is no worse than p in both and better in one, shape (plans, plans); unknown numbers never."""
    lower, equal = _compared(risk)
    less, alike = _compared(loss)
    return np.asarray((lower | equal) & (less | alike) & (lower | less))


def _compared(x: F64) -> tuple[Bools, Bools]:
    """Entry (p, q): q is below p; q is equal to p."""
    equal = same(x[:, None], x[None, :])
    return np.asarray((x[None, :] < x[:, None]) & ~equal), equal


def _first_of_frontier(beaten: Bools, plan: int) -> int:
    by = np.flatnonzero(beaten[plan])
    best = [q for q in by if not beaten[q].any()]
    return int(best[0] if best else by[0])


def drawn_points(every: Repeats, risk: str, who: Sequence[str], utility: Measure, draws: int) -> tuple[F64, F64]:
    """Risks and losses of all plans in each draw of their means, shape (draws, plans) both.

    A plan that has the best value of all is never behind one whose draw lies beyond that: its own is endlessly good.
    """
    sign = _sign(utility)
    risks = np.max([every.drawn_means(every.risk(risk, name), draws) for name in every.learners(risk, who)], axis=0)
    losses = sign * every.drawn_means(every.utility(utility.name), draws)
    return _unbeaten(risks, 0.0), _unbeaten(losses, sign * float(utility.best))


def _unbeaten(drawn: F64, best: float) -> F64:
    return np.where((drawn == best).all(axis=0), -np.inf, drawn)


def _sign(utility: Measure) -> float:
    return -1.0 if utility.direction == "higher" else 1.0


def frontier_shares(risks: F64, losses: F64) -> F64:
    """The share of draws in which each plan is dominated by none, shape (plans,)."""
    out = np.zeros(risks.shape[1])
    for p in range(len(out)):
        r, s = risks[:, [p]], losses[:, [p]]
        equal, alike = same(risks, r), same(losses, s)
        lower, less = (risks < r) & ~equal, (losses < s) & ~alike
        beaten = ((lower | equal) & (less | alike) & (lower | less)).any(axis=1)
        out[p] = (~beaten).mean()
    return out


def frontier_band(
    frame: pl.DataFrame, risk: str, utility: Measure, at: Sequence[float], intruder: str | None = None,
    draws: int = 1000, random: Mapping[str, bool] | None = None,
) -> pl.DataFrame:  # fmt: skip
    """The best utility within a risk, for each risk in `at`, with the middle 95% of draws of the means.

    `best` is null where no plan has so little risk; `low` and `high` (in the measure's own unit, low the smaller) where
    that is so in one draw in 40.
    """
    every = Repeats.of(frame, random)
    who = chosen_intruders(every.intruders, intruder)
    sign = _sign(utility)
    points = frontier(frame, risk, utility, intruder, draws=1)
    r, u = (points[c].cast(pl.Float64).fill_null(np.nan).to_numpy() for c in ("risk", "utility"))
    drawn = drawn_points(every, risk, who, utility, draws)
    rows = []
    for x in at:
        best = _least(r[None], sign * u[None], x)[0]
        ends = np.maximum(np.quantile(_least(*drawn, x), [0.025, 0.975], method="nearest"), sign * float(utility.best))
        low, high = sorted(sign * float(e) for e in ends)
        fine = [None if not np.isfinite(v) else float(v) for v in (sign * best, low, high)]
        rows.append((float(x), *fine))
    names = {"risk": pl.Float64, "best": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=names, orient="row")


def _least(risks: F64, losses: F64, limit: float) -> F64:
    """The least loss among plans within a risk, per draw; infinite where there is none."""
    fits = (risks <= limit * (1 + 1e-12)) & ~np.isnan(losses)
    return np.asarray(np.where(fits, losses, np.inf).min(axis=1))
