"""The grid of an intruder's choices: every part of the formula at every level it can use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.attack.intruder import LEVEL_WORDS
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count
from confide.core.shares import percent

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

LADDER = ("sdl", "average", "naive", "ignore")
"""Levels from most to least informed; who is at one cannot use those before it."""
REASONED = ("sdl", "average")


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Result):
    """What comes of every combination of levels for the parts C (available), B (unavailable) and A (others).

    `frame` has one row per combination: the three levels, `coherent` (no part is left out that another needs, and all
    parts that reason do so about the same plan), `claimed` (sum of the largest probabilities), `right` (expected
    matches), `unique_matches`, `p_true` (mean), `contradictions` (targets for whom no record is possible), `note`,
    why a combination was refused, `found` (right matches that count, as in `summary()`) and `targets`.
    A naive intruder leaves B and A out, whatever is chosen for them.
    """

    frame: pl.DataFrame

    def summary(self) -> pl.DataFrame:
        """The coherent combinations."""
        return self.frame.filter("coherent")

    def plot(self) -> Any:
        """A heat map: what is found by combination, beside what is claimed. The same as `chart`."""
        return self.chart()

    def __repr__(self) -> str:
        shown = self.frame.filter(pl.col("coherent"))
        lines = [f"{self.frame.height} combinations, {shown.height} of them coherent:"]
        lines.append(f"{'C':>8} {'B':>8} {'A':>8}  {'claimed':>18}  {'found':>18}")
        for r in shown.iter_rows(named=True):
            words = (LEVEL_WORDS[r[part]].partition(" (")[0] for part in ("available", "unavailable", "others"))
            names = " ".join(f"{w:>8}" for w in words)
            cells = (_cell(r[name], r["targets"]) for name in ("claimed", "found"))
            lines.append(f"{names}  {'refused' if r['claimed'] is None else '  '.join(cells)}")
        used = set(shown["available"])
        lines += [words for level, words in LEVEL_WORDS.items() if level in used and level != "ignore"]
        return "\n".join(lines)


def _cell(value: float | None, targets: int) -> str:
    """A number with its share, in 18 characters."""
    return f"{'unknown':>18}" if value is None else f"{value:>10,.1f} {f'({percent(value, targets)})':>7}"


def make_grid(attack: Attack, threads: int | None, progress: Progress) -> Grid:
    """Attack again with every combination; those that come to the same are computed once."""
    thread_count(threads)  # a mistake here is no refusal of every combination
    intruder = attack.intruder
    levels = ladder(intruder.levels)
    combinations = list(product(levels, repeat=3))
    seen: dict[tuple[str, str, str], dict[str, Any]] = {}
    rows = []
    with progress_bar("trying", len(combinations), progress) as done:
        for c, b, a in combinations:
            other = replace(intruder, available=c, unavailable=b, others=a)
            if other.levels not in seen:
                seen[other.levels] = _measured(attack, other, threads)
            names = {"available": c, "unavailable": b, "others": a, "coherent": coherent(*other.levels, c, b, a)}
            rows.append({**names, **seen[other.levels]})
            done(1)
    numbers = ("claimed", "right", "unique_matches", "p_true", "contradictions", "found")
    types = {n: pl.Int64 if n in ("unique_matches", "contradictions") else pl.Float64 for n in numbers}
    frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
    return Grid(frame.with_columns(targets=pl.lit(attack.units.height)))


def ladder(levels: tuple[str, str, str]) -> tuple[str, ...]:
    """The levels that somebody can use whose most informed part is at one of these."""
    for at, level in enumerate(LADDER):
        if level in levels or (level == "sdl" and "exact" in levels):
            return LADDER[at:]
    return LADDER[-1:]


def coherent(c: str, b: str, a: str, *asked: str) -> bool:
    """Whether the parts that reason about the plan fit together; `asked` are the choices before naive ones drop out."""
    reasoned = [level for level in (c, b) if level in REASONED]
    if (c, b, a) != tuple("ignore" if i and level == "naive" else level for i, level in enumerate(asked)):
        return False  # chosen, but not used
    if not reasoned:
        return a not in REASONED
    return a in REASONED and len({*reasoned, a}) == 1


def _measured(attack: Attack, intruder: Any, threads: int | None) -> dict[str, Any]:
    from confide.attack.engine.run import run_attack

    targets, truth, also = attack.given
    try:
        again = run_attack(intruder, attack.release, targets, truth, threads=threads, progress=False, also=also)
    except InputError as refused:
        return {"claimed": None, "right": None, "unique_matches": None, "p_true": None, "contradictions": None,
                "note": str(refused), "found": None}  # fmt: skip
    units, summary = again.units, again.summary()
    return {
        "claimed": float(units["p_max"].sum()), "right": summary.expected_matches,
        "unique_matches": summary.unique_matches, "p_true": _mean(units["p_true"]),
        "contradictions": int((units["status"] == "contradiction").sum()), "note": "",
        "found": summary.found,
    }  # fmt: skip


def _mean(column: pl.Series) -> float | None:
    found = column.mean()
    return float(found) if isinstance(found, (int, float)) else None
