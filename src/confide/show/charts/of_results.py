"""The picture of each result, by the name of its class: what `result.chart()` draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError
from confide.core.result import Result
from confide.frames.roles.guess import ROLES
from confide.measure.utility.distances import TotalVariation
from confide.measure.utility.run import pairs_of
from confide.show.charts.advice_chart import advice_chart
from confide.show.charts.charts import calibration_chart, risk_counts, risk_distribution_chart
from confide.show.charts.grid_chart import grid_chart
from confide.show.charts.group_charts import utility_by_group_chart
from confide.show.charts.improve_chart import improve_chart
from confide.show.charts.lattice_chart import lattice_chart
from confide.show.charts.nats_charts import by_group_chart, clearing_chart, contributions_chart, nats_chart
from confide.show.charts.plan_charts import interval_chart
from confide.show.charts.rank_charts import exposure_chart
from confide.show.charts.table_charts import bands_chart, sap_chart, scheme_map
from confide.show.charts.theory_charts import uniques_chart
from confide.show.look.alike import alike_counts

if TYPE_CHECKING:
    from confide.attack.learning.adopted.attack_rates import AttackRates
    from confide.attack.learning.adopted.guessed import NaiveGuess
    from confide.attack.learning.adopted.matches import Matches
    from confide.attack.learning.attributes.harm import Harm
    from confide.attack.learning.attributes.result import Guess, Guesses
    from confide.attack.learning.attributes.summary import LearntSummary
    from confide.attack.learning.attributes.uniformity import Coverage
    from confide.attack.learning.one_to_one.result import OneToOne, OneToOneSummary
    from confide.attack.results.attack import Attack
    from confide.attack.results.copies import Averaged
    from confide.attack.results.explain import Explanation
    from confide.attack.results.tried import Tried
    from confide.frames.counts import Counts
    from confide.frames.roles.result import Roles
    from confide.measure.combining import Combined
    from confide.measure.risk.customary import CustomaryRisks
    from confide.measure.risk.file_risks.population_uniques import UniquesResult
    from confide.measure.risk.file_risks.result import FileRiskResult
    from confide.measure.risk.identification import Summary
    from confide.protect.release import Release
    from confide.study.advise.offers import Offers
    from confide.study.drawn import Drawn
    from confide.study.look.result import Look
    from confide.study.search.few import Few
    from confide.study.synthesise.result import Synthesis
    from confide.study.tradeoff.choice import Choice
    from confide.tables.published import Published
    from confide.tables.risk.attack_result import Certificate

Row = tuple[str, float | None, float | None, float | None, str]
"""A name, a number with the ends of its interval, and the number in words."""
ONE_TO_ONE = {"independent": "one by one", "map": "best assignment", "marginal": "largest marginals"}
WIDTHS = {"exact": 0, "within 1": 1, "within 4": 4, "within 9": 9, "within 99": 99}


def picture_of(result: Result) -> Any:
    """The chart of a result."""
    for kind in type(result).__mro__:
        if kind.__name__ in PICTURES:
            return PICTURES[kind.__name__](result)
    raise InputError(f"A {type(result).__name__} has no chart; draw its frame.")


def _rows(rows: Sequence[Row], x_title: str, title: str) -> Any:
    numbers = dict.fromkeys(("at", "low", "high"), pl.Float64)
    frame = pl.DataFrame(rows, schema={"plan": pl.String, **numbers, "shown": pl.String}, orient="row")
    return interval_chart(frame, x_title, title)


def _plain(name: str, value: float | None, form: str = ".4g", words: str = "") -> Row:
    return name, value, None, None, words or ("unknown" if value is None else format(value, form))


def _attack(result: Attack | Matches) -> Any:
    return risk_distribution_chart(risk_counts({"all targets": result.units}), title="Who is at risk")


def _rates(result: AttackRates) -> Any:
    rows = [(r["what"], r["rate"], r["low"], r["high"], f"{r['rate']:.3f}") for r in result.frame.iter_rows(named=True)]
    return _rows(rows, "Share of attacks that succeed, with 95% intervals", result.name)


def _guessed(result: NaiveGuess) -> Any:
    rows = [
        (
            f"{r['people']}, {r['guessed']}",
            r["loss"],
            r["low"],
            r["high"],
            format(r["loss"], ".3f" if result.binary else ".4g"),
        )
        for r in result.summary().iter_rows(named=True)
    ]
    what = f"{result.words}, with 95% intervals".capitalize()
    return _rows(rows, what, f'What is learnt of "{result.variable}"')


def _customary(result: CustomaryRisks) -> Any:
    rows = [_plain(result.names[r["measure"]], r["value"], ".3f") for r in result.frame.iter_rows(named=True)]
    return _rows(rows, "Value; each has a fault, which the printout says", f'Customary risks of "{result.target}"')


def _file_risk(result: FileRiskResult) -> Any:
    rows = [_plain(r["what"], r["value"], ",.6g") for r in result.bars.iter_rows(named=True)]
    return _rows(rows, result.axis, result.title)


def _uniques(result: UniquesResult) -> Any:
    """tau1 by every estimator that has it; DIS where none has."""
    table = result.table.filter(pl.col("tau1").is_not_null())
    what, form = ("tau1", ",.1f") if table.height else ("dis", ".4f")
    rows: list[Row] = []
    for r in (table if table.height else result.table).iter_rows(named=True):
        words = "unknown" if r[what] is None else format(r[what], form)
        rows.append((r["estimator"], r[what], r[f"{what}_low"], r[f"{what}_high"], words))
    axis = result.axis if table.height else "Chance that a match with a sample unique is right"
    return _rows(rows, axis, result.title)


def _averaged(result: Averaged) -> Any:
    counts = risk_counts({f"copy {i}": a.units for i, a in enumerate(result.attacks, 1)})
    return risk_distribution_chart(counts, title="Who is at risk, by copy")


def _explanation(result: Explanation) -> Any:
    """Records by their place, not by their row: the picture tells what counts, not who it is."""
    place = {row: k for k, row in enumerate(dict.fromkeys(result.frame["row"]), 1)}
    rows = [
        _plain(f"record {place[r['row']]} (p = {r['p']:.3g}): {r['part']}", r["factor"], ".3g")
        for r in result.frame.iter_rows(named=True)
    ]
    return _rows(rows, "Factor by which the record is likelier than the average candidate", "Why these records")


def _one_to_one(result: OneToOne | OneToOneSummary) -> Any:
    """Right beside claimed, by each way to declare."""
    found = result.summary()
    rows = []
    for r in found.frame.iter_rows(named=True):
        name = ONE_TO_ONE[r["way"]]
        rows += [_plain(f"{name}, right", r["right"], ",.1f"), _plain(f"{name}, claimed", r["claimed"], ",.1f")]
    return _rows(rows, "Number of targets", f"Everybody matched at once: {found.targets:,} targets")


def _summary(result: Summary) -> Any:
    names = ("found", "claimed_matches", "over_threshold", "expected_matches", "unique_declared", "unique_matches")
    found = result.to_dict()
    rows = [_plain(n.replace("_", " "), found[n], ",.1f") for n in names]
    return _rows(rows, "Number of targets", f"Risk of {result.targets:,} targets")


def _tried(result: Tried) -> Any:
    rows = [_plain(r["level"], r["found"], ",.1f") for r in result.frame.iter_rows(named=True)]
    return _rows(rows, "Right matches found", f"Levels tried on {result.frame['targets'][0]:,} targets")


def _drawn(result: Drawn) -> Any:
    found = result.frame.filter(measure="found")
    rows = [
        (str(r["intruder"]), r["value"], r["low"], r["high"], "unknown" if r["value"] is None else f"{r['value']:,.1f}")
        for r in found.iter_rows(named=True)
    ]
    return _rows(rows, "Right matches found", "This very file, and the 95% interval of the mean over draws")


def _combined(result: Combined) -> Any:
    rows = [
        (f"estimand {r['estimand']}", r["estimate"], r["low"], r["high"], f"{r['estimate']:.6g}")
        for r in result.frame.iter_rows(named=True)
    ]
    return _rows(rows, "Estimate", f"{100 * result.confidence:g}% intervals from {result.copies} copies")


def _release(releases: Sequence[Release]) -> Any:
    pairs = pairs_of(releases)
    rows = [_plain(v, TotalVariation(v).of(pairs).value, ".3g") for v in pairs[0].shared]
    return _rows(rows, "Total variation distance between original and release", "How far each distribution has moved")


def _published(result: Published) -> Any:
    width = result.frame.select(width=pl.col("upper") - pl.col("lower"))["width"]
    rows, below = [], -1
    for name, most in WIDTHS.items():
        rows.append(_plain(name, int(((width > below) & (width <= most)).sum()), ",.0f"))
        below = most
    rows.append(_plain("wider, or no bound", int((width.fill_null(below + 1) > below).sum()), ",.0f"))
    return _rows(rows, "Number of counts", "How closely each count can be stated")


def _certificate(result: Certificate) -> Any:
    levels = [c for c in result.frame.columns if c not in ("cell", "people")]
    rows = [
        _plain(", ".join(str(r[c]) for c in levels), r["people"], ",.0f") for r in result.frame.iter_rows(named=True)
    ]
    return _rows(rows, "Known people", str(result))


def _choice(result: Choice) -> Any:
    rows = []
    for r in result.table.iter_rows(named=True):
        value = r[result.by]
        within = (
            "chosen" if r["plan"] == result.plan else "within the limits" if r["meets"] else "not within the limits"
        )
        rows.append(_plain(r["plan"], value, words="unknown" if value is None else f"{value:.4g}, {within}"))
    return _rows(rows, result.by, f'The choice: "{result.plan}"')


def _few(result: Few) -> Any:
    rows = [
        (r["what"], r["at_risk"], r["at_risk_low"], r["at_risk_high"], f"{r['at_risk']:,.1f}")
        for r in result.table.iter_rows(named=True)
    ]
    return _rows(rows, "People at risk", "Raising protection for the risky few, and for all")


def _guess(result: Guess) -> Any:
    """Mean losses with two standard errors, before the release and after."""
    names = {
        "loss_margin": "by the margin alone", "loss_relations": "by published relations",
        "loss_without_person": "the release without the own record", "loss": "the release",
    }  # fmt: skip
    rows = []
    seen = result.frame.filter(pl.col("loss").is_not_null())
    for column, words in names.items():
        values = seen[column].drop_nulls().to_numpy()
        at = float(values.mean()) if len(values) else None
        half = 2 * float(values.std()) / len(values) ** 0.5 if len(values) else 0.0
        ends = (None, None) if at is None else (at - half, at + half)
        rows.append((words, at, *ends, "unknown" if at is None else f"{at:,.4g}"))
    return _rows(rows, "Mean loss of the best guess (bars: 2 standard errors)", f"What is learnt of {result.variable}")


def _guesses(result: Guesses) -> Any:
    rows = []
    for g in result:
        s = g.summary()
        share = None if not s.relations or s.loss is None else 100 * (1 - s.loss / s.relations)
        rows.append(_plain(g.variable, share, words="unknown" if share is None else f"{share:.1f}%"))
    return _rows(rows, "Loss saved by the release, in percent of that by relations", "What the release adds")


def _coverage(result: Coverage) -> Any:
    rows = [
        (f"stated {r['level']:.0%}", r["covered"], r["covered"] - 2 * r["error"], r["covered"] + 2 * r["error"],
         f"{r['covered']:.1%}")
        for r in result.frame.iter_rows(named=True)
    ]  # fmt: skip
    return _rows(rows, "Share of people whose value lies in its interval", "Do intervals hold?")


def _harm(result: Harm) -> Any:
    rows = [
        _plain(f"{r['what']}: {kind}", r[f"{kind}_harm"], ",.1f")
        for r in result.frame.iter_rows(named=True)
        for kind in ("true", "perceived")
    ]
    return _rows(rows, "Harm, at the costs stated", f"Harm to those declared above {result.threshold:g}")


def _learnt(result: LearntSummary) -> Any:
    names = {"by the margin": result.margin, "by relations": result.relations}
    names |= {"without the own record": result.without_person, "the release": result.loss}
    rows = [_plain(words, value) for words, value in names.items()]
    return _rows(rows, "Mean loss of the best guess", f"What is learnt of {result.variable}")


def _look(result: Look) -> Any:
    """People by how many are alike."""
    rows = [
        _plain(name, many, words=f"{many:,} ({100 * many / result.rows:.1f}%)")
        for name, many in alike_counts(result).items()
    ]
    return _rows(rows, "People, by how many have the same keys", f"Who is alone among {result.rows:,} rows")


def _roles(result: Roles) -> Any:
    rows = [_plain(role, len(result.of(role)), ",.0f") for role in ROLES]
    return _rows(rows, "Variables", "What each variable was taken for")


def _counts(result: Counts) -> Any:
    rows = [_plain(value, people, ",.0f") for value, people in result.frame.select("value", "people").rows()]
    return _rows(rows, "People", result.variable)


def _offers(result: Offers) -> Any:
    found = result.summary().group_by("family", maintain_order=True).agg(pl.col("offers").sum())
    rows = [_plain(family, many, ",.0f") for family, many in found.rows()]
    return _rows(rows, "Offers", "What can be done to the file, by method")


def _synthesis(result: Synthesis) -> Any:
    """How far the distribution of each variable is from the original's."""
    rows = [_plain(r["variable"], r["hellinger"], ".3f") for r in result.compare.iter_rows(named=True)]
    return _rows(rows, "Hellinger distance from the original: 0 is the same", "Synthetic variables, one by one")


PICTURES: dict[str, Callable[[Any], Any]] = {
    "ScannedAttack": lambda result: calibration_chart(result.calibration()),
    "Advice": advice_chart,
    "Attack": _attack,
    "AttackRates": _rates,
    "Averaged": _averaged,
    "ByGroup": by_group_chart,
    "Calibration": calibration_chart,
    "Certificate": _certificate,
    "Choice": _choice,
    "Clearing": clearing_chart,
    "Combined": _combined,
    "Contributions": contributions_chart,
    "Counts": _counts,
    "Coverage": _coverage,
    "Copies": lambda copies: _release(list(copies)),
    "CustomaryRisks": _customary,
    "Drawn": _drawn,
    "Explanation": _explanation,
    "Exposure": lambda result: exposure_chart(result.frame),
    "Few": _few,
    "FileRiskResult": _file_risk,
    "Guess": _guess,
    "Guesses": _guesses,
    "Generalised": lattice_chart,
    "Grid": lambda result: grid_chart(result.frame),
    "Harm": _harm,
    "Improvements": improve_chart,
    "LearntSummary": _learnt,
    "Look": _look,
    "Nats": nats_chart,
    "Matches": _attack,
    "NaiveGuess": _guessed,
    "Offers": _offers,
    "OneToOne": _one_to_one,
    "OneToOneSummary": _one_to_one,
    "Optimum": lambda result: result.map(),
    "Published": _published,
    "PublishedTables": _published,
    "Release": lambda release: _release([release]),
    "Roles": _roles,
    "SchemeComparison": lambda result: scheme_map(result.frame),
    "SpecialUniques": _file_risk,
    "StudyResult": lambda result: result.map(),
    "Summary": _summary,
    "Synthesis": _synthesis,
    "TableAttack": lambda result: sap_chart(result.frame),
    "TablesAttack": lambda result: bands_chart(result.bands()),
    "Tried": _tried,
    "UniquesResult": _uniques,
    "UniquesNoise": lambda result: uniques_chart(result.tried, result),
    "UtilityByGroup": utility_by_group_chart,
}
