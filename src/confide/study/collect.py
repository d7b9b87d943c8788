"""From finished pieces of a study to its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.version import __version__
from confide.frames.columns import Kind
from confide.frames.scan.scan import Scan
from confide.study.booked import WHO, Booked, booked_levels
from confide.study.evaluate import Evaluated, is_random
from confide.study.learnt_tables import learnt_risks, learnt_tables
from confide.study.released import SCHEMA, SIZES
from confide.study.result import AUDIT, GROUP_UTILITY, Info, StudyResult
from confide.study.scanned import kinds_of
from confide.study.statement.checks import COLUMNS, RISKS
from confide.study.statement.file_risks import file_risk_columns
from confide.study.statement.learns import as_learns
from confide.study.statement.sweep import Candidate, shown
from confide.study.tradeoff.repeats import interval

if TYPE_CHECKING:
    from confide.study.pieces.keys import Piece
    from confide.study.statement.study import Study


def collected(study: Study, seed: int, done: Sequence[tuple[Piece, Evaluated]], seconds: float) -> StudyResult:
    """One result from all pieces, plan by plan in the order of statement."""
    order = {c.name: i for i, c in enumerate((study.everything, *study.candidates))}
    pieces = sorted(done, key=lambda pair: (order[pair[0].candidate.name], pair[0].repeat))
    met = Booked((p.candidate.name, found) for p, found in pieces)
    random = {c.name: is_random(c.plan) for c in (study.everything, *study.candidates)}
    info = Info(
        study.title, study.label, study.data.height, study.data.width, study.repeats, seed, study.threshold, seconds,
        __version__,
    )  # fmt: skip
    return StudyResult(
        frame=study_frame(
            ((p.candidate, p.repeat, found) for p, found in pieces),
            [m.name for m in study.measures],
            study.learnt,
            list(file_risk_columns(study.on_file)),
        ),
        plans={c.name: c.plan for c in study.candidates},
        intruders=dict(study.intruders),
        measures=study.measures,
        info=info,
        distribution=met.distribution(),
        groups=met.groups(random),
        group_utility=_group_utility(pieces, study, random),
        details=_details(pieces),
        timings=_timings(pieces),
        rule=study.choice,
        copies=dict(study.copies),
        audit=_audit(pieces),
        levels=_levels(pieces),
        calibration=met.calibration(),
        claims=met.claims(),
        distributions=_shares(pieces),
        kinds=_kinds(study),
        released=_released(pieces),
        learns=tuple(as_learns(one) for one in study.learns),
        **learnt_tables(((p.candidate.name, p.repeat, found) for p, found in pieces), random, study.learns),
        file_risks=study.on_file,
        statements={p.candidate.name: [(i, f, n) for i, f, n in found.quoted] for p, found in pieces if p.repeat == 0},
    )


def study_frame(
    met: Iterable[tuple[Candidate, int, Evaluated]],
    measures: Sequence[str],
    learnt: Sequence[str] = (),
    file_risks: Sequence[str] = (),
) -> pl.DataFrame:
    """The table of a study: one row for each candidate, intruder and repeat, at the level that is booked.

    `learnt`: names of the risks of what must not be learnt. `file_risks`: columns of customary risks of the file.
    """
    rows: list[tuple[Any, ...]] = []
    pieces = list(met)
    levels = booked_levels((c.name, found) for c, _, found in pieces)
    for c, repeat, found in pieces:
        for who, ways in found.met.items():
            level = levels[c.name, who]
            risks = dict.fromkeys(RISKS) if level is None else ways[level].risks
            place = (c.name, c.sweep, shown(c.setting), c.value, who, level, repeat)
            would = learnt_risks(found, who, level)
            rows.append(
                (
                    *place,
                    *(risks[r] for r in RISKS),
                    *(would.get(r) for r in learnt),
                    *(found.file_risks.get(r) for r in file_risks),
                    *(found.utility[m] for m in measures),
                )
            )
    kinds = (pl.String, pl.String, pl.String, pl.Float64, pl.String, pl.String, pl.Int64)
    schema = {
        **dict(zip(COLUMNS, kinds, strict=False)),
        **dict.fromkeys((*RISKS, *learnt, *file_risks, *measures), pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _levels(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    """Every level that was tried."""
    rows = [
        (p.candidate.name, who, p.repeat, level, met.risks["found"], met.risks["claimed_matches"])
        for p, found in pieces
        for who, ways in found.met.items()
        for level, met in ways.items()
    ]
    schema = {**WHO, "repeat": pl.Int64, "level": pl.String, "found": pl.Float64, "claimed": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _shares(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    rows = [(p.candidate.name, *row) for p, found in pieces for row in found.shares]
    schema = {"plan": pl.String, "variable": pl.String, "level": pl.String, "before": pl.Float64, "after": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.group_by("plan", "variable", "level", maintain_order=True).agg(pl.col("before", "after").mean())


def _group_utility(pieces: Sequence[tuple[Piece, Evaluated]], study: Study, random: Mapping[str, bool]) -> pl.DataFrame:
    """Utility in groups, means over repeats with their intervals."""
    every: dict[tuple[str, str, str, str], list[tuple[float, float | None]]] = {}
    for p, found in pieces:
        for variable, level, people, measure, value in found.parts:
            every.setdefault((p.candidate.name, variable, level, measure), []).append((people, value))
    ranges = {m.name: m.range for m in study.measures}
    rows = []
    for key, held in every.items():
        values = [v for _, v in held if v is not None]
        mean = interval(values, random[key[0]], ranges[key[3]])
        numbers = (None, None, None, 0) if mean is None else (mean.mean, mean.low, mean.high, mean.repeats)
        rows.append((*key[:3], float(np.mean([n for n, _ in held])), key[3], *numbers))
    return pl.DataFrame(rows, schema=GROUP_UTILITY, orient="row")


def _kinds(study: Study) -> pl.DataFrame:
    """The kind of every variable that some plan releases, and why it is taken to be that."""
    if isinstance(study.data, Scan):
        return kinds_of(study, study.everything)
    plan = study.everything.plan
    names = [v for v in study.data.columns if v not in (*plan.identifiers, *plan.drop)]
    rows = []
    for v in names:
        kind: Kind | None = "numeric" if v in plan.numeric else "categorical" if v in plan.categorical else None
        try:
            column = study.source.column(v, kind)
        except InputError:  # a type that is released as it is, such as a list
            continue
        doubt = study.source.doubt(v) if kind is None and column.kind == "numeric" else ""
        rows.append((v, column.kind, column.why, doubt))
    return pl.DataFrame(rows, schema=dict.fromkeys(("variable", "kind", "why", "doubt"), pl.String), orient="row")


def _released(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    """How many variables and records each plan releases, means over repeats."""
    rows = [(p.candidate.name, *(found.size[k] for k in SIZES)) for p, found in pieces]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return frame.group_by("plan", maintain_order=True).agg(pl.col(SIZES).mean())


def _details(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    """Remarks of measures, and why one, or an intruder, failed: of the first repeat in which it did, else the first."""
    found: dict[tuple[str, str], tuple[bool, str]] = {}
    for p, made in pieces:
        told = [(m, made.utility[m] is None, text) for m, text in made.details.items()]
        told += [(f"risk: {who}", True, why) for who, why in (made.refused | made.file_refused).items()]
        told += [(f"risk: {name}", False, text) for name, text in made.file_notes.items()]
        for name, failed, text in told:
            key = (p.candidate.name, name)
            if key not in found or (failed and not found[key][0]):
                found[key] = (failed, text)
    rows = [(plan, name, text) for (plan, name), (_, text) in found.items()]
    return pl.DataFrame(rows, schema={"plan": pl.String, "measure": pl.String, "detail": pl.String}, orient="row")


def _audit(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    rows = [(p.candidate.name, m, p.repeat, *(t[k] for k in list(AUDIT)[3:])) for p, found in pieces
            for m, t in found.traces.items()]  # fmt: skip
    return pl.DataFrame(rows, schema=AUDIT, orient="row")


def _timings(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    rows = [(p.candidate.name, p.repeat, *(f.seconds[k] for k in ("protect", "attack", "utility"))) for p, f in pieces]
    schema = {"plan": pl.String, "repeat": pl.Int64, **dict.fromkeys(("protect", "attack", "utility"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")
