"""The attack on one table per area: everybody's probabilities, the paper's banded table, areas at risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import run_pieces, thread_count
from confide.tables.layout import Bools, Ints
from confide.tables.published_areas import PublishedTables
from confide.tables.risk.attack import OPTIONS as ONE_TABLE
from confide.tables.risk.attack import attack_table, effort_of
from confide.tables.risk.targets import targets_of
from confide.tables.risk.who_is_known import is_frame, numbers
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.routes import EXACT, LOWER

EMPTY = "empty"


@dataclass(frozen=True, eq=False, repr=False)
class TablesAttack(Result):
    """What an intruder recovers, area by area.

    `frame`: area, people, n, sap, standard_error, lower, upper, status. Where an area has fewer than n people, all of
    them are known; an area with nobody has no probability (null, status "empty").

    >>> import confide as cf
    >>> tables = cf.Tables([[2, 1], [0, 3]], areas=["a", "b"])
    >>> tables.publish(cf.RoundCells(3)).attack(known=[1]).frame.select("area", "sap").rows()
    [('a', 0.3333333333333333), ('b', 0.0)]
    """

    published: PublishedTables
    frame: pl.DataFrame
    method: str

    def bands(self) -> pl.DataFrame:
        """How many areas have a probability of 0, up to 0.1, ..., 1, for each n; see `confide.sap_bands`."""
        from confide.tables.risk.bands import sap_bands

        return sap_bands(self.frame)

    def at_risk(self, n: int, above: float = 0.1) -> pl.DataFrame:
        """The areas with a probability of at least `above` when n people are known, the highest first.

        >>> import confide as cf
        >>> tables = cf.Tables([[2, 1], [0, 3]], areas=["a", "b"])
        >>> tables.publish(cf.RoundCells(3)).attack(known=range(3)).at_risk(n=2, above=0.5)["area"].to_list()
        ['a']
        """
        if isinstance(above, bool) or not isinstance(above, (int, float)) or not 0 <= above <= 1:
            raise InputError("A probability lies between 0 and 1; for 10 percent write 0.10.")
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise InputError("n is a number of known people.")
        here = self.frame.filter(pl.col("n") == n)
        if here.is_empty():
            raise InputError(f"The attack was not run for n = {n}; it has {_listed(self.frame['n'])}.")
        return here.filter(pl.col("sap") >= above).sort("sap", "area", descending=[True, False])

    def summary(self) -> pl.DataFrame:
        """The same as `bands`."""
        return self.bands()

    def __repr__(self) -> str:
        return f"TablesAttack on {len(self.published):,} areas, n = {_listed(self.frame['n'])} ({self.method})"


def _listed(ns: pl.Series) -> str:
    each = np.unique(ns.to_numpy())
    if len(each) > 1 and len(each) == each[-1] - each[0] + 1:
        return f"{each[0]}..{each[-1]}"
    return ", ".join(str(n) for n in each[:8]) + (", ..." if len(each) > 8 else "")


OPTIONS = (*ONE_TABLE, "threads", "progress")


def attack_tables(
    published: PublishedTables, known: Any = None, *, threads: int | None = None, progress: Progress = None,
    **options: Any,
) -> TablesAttack:  # fmt: skip
    """Attack every area; see `confide.sap`."""
    if is_frame(known):
        raise InputError("A named group belongs to one area: attack published[area] instead.")
    ns = numbers(known, None)
    people = published.tables.totals
    if not people.any():
        raise InputError("All tables are empty: every count is 0, so there is nobody to know or to learn about.")
    sizes = options.pop("targets", None), options.pop("aggregates", None), options.pop("depth", None)
    target, sets = targets_of(published.tables.together(), *sizes)
    tried = {"fractions": False, "prove": None, "draws": 2, "seed": 0, **options}
    effort_of(**tried)
    if published.layout.laminar and sets is None and not options.get("fractions"):
        risk = nested_risks(published, target, int(ns[-1]), thread_count(threads), progress)[:, ns]
        sure = published.sharp or all(p.members.max(initial=0) <= 1 for p in published.layout.parts)
        zeros = np.zeros(risk.shape)
        upper = risk if sure else np.ones(risk.shape)
        status = np.full(risk.shape, EXACT if sure else LOWER, dtype=object)
        return TablesAttack(published, _frame(published, ns, risk, zeros, risk, upper, status), "nested")
    named = dict(zip(("targets", "aggregates", "depth"), sizes, strict=True))
    return _one_by_one(published, ns, {**options, **named}, progress)


def nested_risks(
    published: PublishedTables, target: Bools, most: int, threads: int, progress: Progress = False
) -> Floats:
    """Recovery probabilities, areas x (most + 1); NaN where an area is empty."""
    from confide.tables.solve.nested_kernels import nested_risks as run

    layout = published.layout
    assert layout.families is not None
    tree = layout.families[0]
    counts = published.tables.counts.reshape(len(published), -1)
    lower, upper = own_bounds(published)
    home = np.where(tree.of_cell < 0, tree.size, tree.of_cell)
    order = np.argsort(home, kind="stable")
    start = np.searchsorted(home[order], np.arange(tree.size + 2)).astype(np.int64)
    truth = layout.sums(counts)[:, tree.quantity]
    pad = np.zeros((len(published), 1))
    node_low = np.hstack([truth == published.lower[:, tree.quantity], pad]).astype(np.float64)
    node_up = np.hstack([truth == published.upper[:, tree.quantity], pad]).astype(np.float64)
    parent = np.append(np.where(tree.parent < 0, tree.size, tree.parent), -1)
    counts_, low, up = (np.ascontiguousarray(a[:, order]) for a in (counts, counts == lower, counts == upper))
    out = np.full((len(published), most + 1), np.nan)
    full = np.flatnonzero(published.tables.totals > 0)
    arguments = (start, counts_[full], low[full].astype(np.float64), up[full].astype(np.float64), target[order], parent)
    found = np.empty((len(full), most + 1))

    def work(first: int, last: int) -> None:
        run(*arguments, node_low[full], node_up[full], most, first, last, found)

    step = max(64, len(full) // 64)
    with progress_bar("areas", len(full), progress) as done:
        run_pieces(work, [(a, min(a + step, len(full))) for a in range(0, len(full), step)], threads, done)
    out[full] = found
    return out


def own_bounds(published: PublishedTables) -> tuple[Ints, Ints]:
    """What is published of each cell by itself, areas x m."""
    from confide.tables.layout import UNBOUNDED

    m = published.layout.cells
    lower = np.zeros((len(published), m), dtype=np.int64)
    upper = np.full((len(published), m), UNBOUNDED)
    for q in np.flatnonzero(published.layout.single >= 0):
        cell = published.layout.single[q]
        np.maximum(lower[:, cell], published.lower[:, q], out=lower[:, cell])
        np.minimum(upper[:, cell], published.upper[:, q], out=upper[:, cell])
    upper[:, published.tables.structural.ravel()] = 0
    return lower, upper


def _one_by_one(published: PublishedTables, ns: Ints, options: dict[str, Any], progress: Progress) -> TablesAttack:
    shape = (len(published), len(ns))
    found = {name: np.full(shape, np.nan) for name in ("sap", "standard_error", "lower", "upper")}
    status = np.full(shape, EMPTY, dtype=object)
    fractions: list[str | None] = []
    method = ""
    totals = published.tables.totals
    with progress_bar("areas", len(published), progress) as done:
        for a in range(len(published)):
            if totals[a]:
                clamped = np.minimum(ns, totals[a])
                attack = attack_table(published.at(a), clamped, **options)
                at = np.searchsorted(attack.frame["n"].to_numpy(), clamped)
                for name, array in found.items():
                    array[a] = attack.frame[name].to_numpy()[at]
                status[a] = np.array(attack.frame["status"].to_list(), dtype=object)[at]
                method = method or attack.method
                if "fraction" in attack.frame.columns:
                    fractions += attack.frame["fraction"].to_numpy()[at].tolist()
            elif options.get("fractions"):
                fractions += [None] * len(ns)
            done(1)
    frame = _frame(published, ns, found["sap"], found["standard_error"], found["lower"], found["upper"], status)
    if options.get("fractions"):
        frame = frame.with_columns(fraction=pl.Series(fractions, dtype=pl.String))
    return TablesAttack(published, frame, method)


def _frame(
    published: PublishedTables, ns: Ints, risk: Floats, error: Floats, lower: Floats, upper: Floats, status: Any
) -> pl.DataFrame:
    areas = np.array(published.tables.areas, dtype=object)
    empty = np.isnan(risk)
    status = np.where(empty, EMPTY, status)
    numbers = {"sap": risk, "standard_error": np.where(empty, np.nan, error), "lower": lower, "upper": upper}
    return pl.DataFrame(
        {
            "area": pl.Series(np.repeat(areas, len(ns)), dtype=pl.String),
            "people": np.repeat(published.tables.totals, len(ns)),
            "n": np.tile(ns, len(areas)),
            **{k: pl.Series(v.ravel()).fill_nan(None) for k, v in numbers.items()},
            "status": pl.Series(status.ravel(), dtype=pl.String),
        }
    )
