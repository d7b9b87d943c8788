"""Advice on the shipped householders beside the six strategies of Reiter (2005) and a plan written by hand.

    python -m benchmarks.advise                    as docs/how-to/advise.md has it: some minutes
    python -m benchmarks.advise --quick            a short search
    python -m benchmarks.advise --budget 400       so many evaluations; "10 min" for a time
    python -m benchmarks.advise --without          only the plans that are there already
    python -m benchmarks.advise --guessed          with the intruders that are guessed, as `confide advise` has them

Of the three intruders two know amounts, which makes level exact dear where several numbers are synthetic. Peak memory
is printed beside the time. Who attacks, what analysts need, the limit and the plan written by hand are in
docs/examples/advise_study.toml, which was written before the first search. All plans meet the same fresh seeds, which
neither the search nor anybody else has seen. The last column says whether a plan is within the limit; a star, that none
of the others is better in both risk and the first utility.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import polars as pl

import confide as cf
from papers.reiter.setup import strategies

STATED = Path(__file__).parents[1] / "docs" / "examples" / "advise_study.toml"
FRESH = 7_919
"""The seed of the comparison; that of the search is stated in the file."""
SEARCH = 2_026
COLUMNS = ("plan", "found", "share", "worst")


def peak() -> float:
    """Bytes that the process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def advised(study: cf.Study, budget: int | str | None, quick: bool, guessed: bool = False) -> cf.Advice:
    """What a search finds under the limit that is stated."""
    assert study.choice is not None
    began, spent = time.perf_counter(), time.process_time()
    found = cf.advise(
        study.data, intruders=None if guessed else study.intruders, utility=study.measures,
        max_risk=study.choice.max_risk, by=study.choice.by, weight="weight", identifiers=["id"], budget=budget,
        quick=quick, seed=SEARCH,
    )  # fmt: skip
    mixes = found.frame.filter(pl.col("families").str.contains(", ", literal=True)).height
    print(
        f"{found}\n\n{time.perf_counter() - began:.0f} seconds, {time.process_time() - spent:.0f} of a processor, "
        f"{peak() / 1e9:.2f} GB at most; {found.evaluations:,} evaluations of {found.frame.height:,} plans, of which "
        f"{mixes:,} mix families\n"
    )
    return found


def compared(study: cf.Study, plans: dict[str, cf.Plan], repeats: int) -> pl.DataFrame:
    """One row per plan: found by the strongest intruder, its share, every utility, whether the limit is kept."""
    assert study.choice is not None
    result = cf.Study(
        study.data, plans, study.intruders, study.measures, repeats=repeats, seed=FRESH, title="Fresh seeds"
    ).run()
    by = study.choice.by
    front = result.frontier(risk="found", utility=by)
    means = result.summary()
    rows = []
    for r in front.iter_rows(named=True):
        mine = means.filter(plan=r["plan"])
        people = mine.filter(measure="targets")["mean"].max()
        told = {m.name: mine.filter(measure=m.name)["mean"].item() for m in result.measures}
        rows.append({"plan": r["plan"], "found": r["risk"], "share": r["risk"] / people, "by": r["worst_intruder"],
                     **told, "low": r["risk_low"], "high": r["risk_high"], "front": r["on_frontier"]})  # fmt: skip
    return pl.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short search")
    parser.add_argument("--budget", help='evaluations, or a time as "10 min"')
    parser.add_argument("--repeats", type=int, default=10, help="fresh draws of each plan (10)")
    parser.add_argument("--without", action="store_true", help="no search")
    parser.add_argument("--guessed", action="store_true", help="intruders that are guessed")
    options = parser.parse_args()
    study = cf.Study.load(STATED)
    plans = {**strategies(), **{name: plan for name, plan in study.plans.items() if isinstance(plan, cf.Plan)}}
    if not options.without:
        budget = int(options.budget) if options.budget and options.budget.isdigit() else options.budget
        plans["advice"] = advised(study, budget, options.quick, options.guessed).plan
    table = compared(study, plans, options.repeats)
    names = [m.name for m in study.measures]
    print(f"{'plan':<46}{'found':>9}{'share':>8}  {'by':<12}" + "".join(f"{n:>18}" for n in names) + "  within")
    for r in table.iter_rows(named=True):
        told = "".join(f"{r[n]:>18.4f}" for n in names)
        within = "yes" if r["share"] <= 0.01 else "no"
        star = " *" if r["front"] else ""
        print(f"{r['plan']:<46}{r['found']:>9,.1f}{r['share']:>8.2%}  {r['by']:<12}{told}  {within}{star}", flush=True)


if __name__ == "__main__":
    main()
