"""From finished pieces of a study to its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.version import __version__
from confide.study.evaluate import BINS, RISKS, Evaluated
from confide.study.result import AUDIT, Info, StudyResult
from confide.study.statement.checks import COLUMNS
from confide.study.statement.sweep import Candidate, shown

if TYPE_CHECKING:
    from confide.study.pieces.keys import Piece
    from confide.study.statement.study import Study

WHO = {"plan": pl.String, "intruder": pl.String}


def collected(study: Study, seed: int, done: Sequence[tuple[Piece, Evaluated]], seconds: float) -> StudyResult:
    """One result from all pieces, plan by plan in the order of statement."""
    order = {c.name: i for i, c in enumerate((study.everything, *study.candidates))}
    pieces = sorted(done, key=lambda pair: (order[pair[0].candidate.name], pair[0].repeat))
    info = Info(
        study.title, study.label, study.data.height, study.data.width, study.repeats, seed, study.threshold, seconds,
        __version__,
    )  # fmt: skip
    return StudyResult(
        frame=study_frame(((p.candidate, p.repeat, found) for p, found in pieces), [m.name for m in study.measures]),
        plans={c.name: c.plan for c in study.candidates},
        intruders=dict(study.intruders),
        measures=study.measures,
        info=info,
        distribution=_distribution(pieces),
        groups=_groups(pieces),
        details=_details(pieces),
        timings=_timings(pieces),
        rule=study.choice,
        copies=dict(study.copies),
        audit=_audit(pieces),
        statements={p.candidate.name: [(i, f, n) for i, f, n in found.quoted] for p, found in pieces if p.repeat == 0},
    )


def study_frame(met: Iterable[tuple[Candidate, int, Evaluated]], measures: Sequence[str]) -> pl.DataFrame:
    """The table of a study: one row for each candidate, intruder and repeat."""
    rows: list[tuple[Any, ...]] = []
    for c, repeat, found in met:
        for who, risks in found.risks.items():
            place = (c.name, c.sweep, shown(c.setting), c.value, who, repeat)
            rows.append((*place, *(risks[r] for r in RISKS), *(found.utility[m] for m in measures)))
    kinds = (pl.String, pl.String, pl.String, pl.Float64, pl.String, pl.Int64)
    schema = {**dict(zip(COLUMNS, kinds, strict=False)), **dict.fromkeys((*RISKS, *measures), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _distribution(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    rows = [
        (p.candidate.name, who, name, count)
        for p, found in pieces
        for who, counts in found.distribution.items()
        for name, count in zip(BINS, counts, strict=True)
    ]
    frame = pl.DataFrame(rows, schema={**WHO, "bin": pl.String, "targets": pl.Float64}, orient="row")
    return frame.group_by("plan", "intruder", "bin", maintain_order=True).agg(pl.col("targets").mean())


def _groups(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    rows = [(p.candidate.name, who, *row) for p, found in pieces for who, each in found.groups.items() for row in each]
    numbers = ("targets", "over_threshold", "expected_matches")
    schema = {**WHO, "variable": pl.String, "level": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.group_by("plan", "intruder", "variable", "level", maintain_order=True).agg(pl.col(numbers).mean())


def _details(pieces: Sequence[tuple[Piece, Evaluated]]) -> pl.DataFrame:
    """Remarks of measures, and why one, or an intruder, failed: of the first repeat in which it did, else the first."""
    found: dict[tuple[str, str], tuple[bool, str]] = {}
    for p, made in pieces:
        told = [(m, made.utility[m] is None, text) for m, text in made.details.items()]
        told += [(f"risk: {who}", True, why) for who, why in made.refused.items()]
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
