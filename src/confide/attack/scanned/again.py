"""Questions about single targets of a file larger than memory."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows, parts_are_asked, with_parts
from confide.attack.engine.fit import Fit
from confide.attack.engine.other_rows import other_rows
from confide.attack.engine.posterior import log_weights
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.engine.unit_sums import log_unit_rows
from confide.attack.evidence.gather import gather
from confide.attack.results.units import many_targets
from confide.attack.scanned.buckets import Bucketed
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.whole import Whole
from confide.core.errors import InputError
from confide.core.scale.engine import COUNT
from confide.core.scale.rows_alike import canonical
from confide.frames.columns import F64, I64, Bools, Records

if TYPE_CHECKING:
    from confide.attack.scanned.distinct_files import DistinctFiles
    from confide.attack.scanned.result import ScannedAttack
    from confide.protect.scanned.release import ScannedRelease

OF_UNITS = {"unit": pl.Int64, "p_unit": pl.Float64}
"""Columns that there are more where units have several rows."""
_LAST: weakref.WeakKeyDictionary[ScannedAttack, Prepared] = weakref.WeakKeyDictionary()


def posterior(attack: ScannedAttack, target: int) -> pl.DataFrame:
    """All candidates of a target, the likeliest first."""
    n = attack.files.targets if isinstance(attack.files, Bucketed) else many_targets(attack.merged)
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < n:
        raise InputError(f"target is a position from 0 to {n - 1}.")
    if isinstance(attack.files, Whole):
        return attack.files.attack.posterior(int(target))
    if isinstance(attack.files, Bucketed):
        return _of_bucketed(attack, attack.files, int(target))
    ready, place = _prepared(attack, attack.files, int(target))
    scene, at_target = ready.scene_of(place)
    at, parts = log_weights(scene, at_target)
    p = np.zeros(scene.case.released.n)
    if len(at):
        weights = np.sum(list(parts.values()), axis=0)
        if np.isfinite(weights).any():
            scale = _log_scale(attack, ready, place)
            p[scene.rows[at]] = np.exp(weights - weights.max() - scale)
    candidate = np.zeros(scene.case.released.n, dtype=bool)
    candidate[scene.rows[at]] = True
    return _rows(attack, attack.files, ready, candidate, p)


def _prepared(attack: ScannedAttack, files: DistinctFiles, target: int) -> tuple[Prepared, int]:
    """The attack up to its loops, and the target's place in it."""
    found = _LAST.get(attack)
    if found is None:
        _LAST.clear()
        found = _LAST[attack] = files.prepare(attack.stated)
    if attack.stated is not None:
        return found, target
    names = [v for v in files.counted.original.columns if not v.startswith(COUNT)]
    row = _original_row(attack.release, target, attack.intruder.membership == "in_file")
    mine = canonical(attack.release.original.slice(row, 1, names))
    every = files.counted.original.select(names).with_row_index("__place")
    at = int(mine.join(every, on=names, nulls_equal=True)["__place"][0])
    return found, int(np.flatnonzero(files.counted.pair_original == at)[0])


def _original_row(release: ScannedRelease, target: int, everybody: bool) -> int:
    """The original row of a target: the people behind released rows count in the order of the original."""
    n = release.original.height
    if everybody or release.released.height == n:
        return target
    there = np.zeros(n, dtype=bool)
    for rows in release.links():
        there[rows] = True
    return int(np.flatnonzero(there)[target])


def _log_scale(attack: ScannedAttack, ready: Prepared, place: int) -> float:
    """log of the sum of all weights relative to the largest: that of the likeliest is -log p_max."""
    unit = place if ready.of is None else int(ready.of[place])
    return -float(np.log(attack.merged["p_max"][unit]))


def _rows(attack: ScannedAttack, files: DistinctFiles, ready: Prepared, candidate: Bools, p: F64) -> pl.DataFrame:
    """The released rows that hold what the candidates hold."""
    names = [v for v in files.counted.released.columns if not v.startswith(COUNT)]
    place = ready.files.released.of
    assert place is not None
    raw = np.flatnonzero(candidate[place])
    table = files.counted.released.select(names)[raw].with_columns(pl.Series("p", p[place[raw]]))
    found = [pl.DataFrame(schema={"row": pl.Int64, "p": pl.Float64})]
    for first, batch in attack.release.released.batches(names):
        some = canonical(batch).with_row_index("row", offset=first)
        found.append(some.join(table, on=names, nulls_equal=True).select(pl.col("row").cast(pl.Int64), "p"))
    return pl.concat(found).sort(pl.col("p"), pl.col("row"), descending=[True, False])


def _p_max(attack: ScannedAttack, target: int) -> float:
    held = attack.table
    return float(attack.units.slice(target, 1, ["p_max"])["p_max"][0] if held is None else held["p_max"][target])


def _somebody(attack: ScannedAttack, held: Bucketed, target: int) -> tuple[Records, Fit]:
    """What is known of a target, and the fit of those of whom the same is known."""
    assert held.before is not None
    if held.stated is not None:
        return held.stated.someone(target)
    row = _original_row(attack.release, target, attack.intruder.membership == "in_file")
    whole = held.before.encode(attack.release.original.slice(row, 1, list(held.before.columns)), 0)
    case = held.fits[0].case
    there = {v for v in case.intruder.knows if v in case.told_missing or not whole[v].missing[0]}
    known = Records(whole.select(case.intruder.knows).values(), n=1)
    if parts_are_asked(case):
        known = with_parts(known, part_of_rows(whole))
    return known, next(f for f in held.fits if set(f.knows) == there)


def _of_bucketed(attack: ScannedAttack, held: Bucketed, target: int) -> pl.DataFrame:
    """The same where results were found bucket by bucket: the target's block is read from the release."""
    assert held.after is not None
    known, fit = _somebody(attack, held, target)
    block, rows = list[pl.DataFrame](), list[I64]()
    for batch in attack.release.records(held.after):
        plain = Records(batch.values(), n=batch.n)
        knowledge = gather(replace(fit.case, released=plain), fit.knows, fit.between)
        mine = np.flatnonzero(knowledge.eligible)
        for c in knowledge.certain:
            mine = mine[c.released[mine] == c.of(known)[0]]
        block.append(frame_of(plain.take(mine)))
        rows.append(batch.rows[mine])
    found, every = pl.concat(block), np.concatenate(rows)
    if not len(every):
        return pl.DataFrame(schema={"row": pl.Int64, "p": pl.Float64} | ({} if held.units is None else OF_UNITS))
    if held.units is not None:
        return _of_units(attack, held, fit, known, target, every)
    case = replace(fit.case, released=records_of(found, held.after.columns))
    knowledge = fit.knowledge(case, known)
    scene = Scene.place(case, knowledge, fit, TargetSide.of(knowledge, fit, known))
    at, parts = log_weights(scene, 0)
    weights = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(at))
    p = np.zeros(len(at))
    if np.isfinite(weights).any():
        p = np.exp(weights - weights.max() + np.log(_p_max(attack, target)))
    return pl.DataFrame({"row": every[scene.rows[at]], "p": p}).sort("p", "row", descending=[True, False])


def _of_units(
    attack: ScannedAttack, held: Bucketed, fit: Fit, known: Records, target: int, block: I64
) -> pl.DataFrame:  # fmt: skip
    """The same of whole units, all rows of which are read: `block`, the rows of the target's block."""
    assert held.after is not None
    assert held.units is not None
    frame, row, unit = _whole_units(attack, held, held.units, block)
    case = replace(fit.case, released=records_of(frame, held.after.columns))
    knowledge = fit.knowledge(case, known)
    mine = np.flatnonzero(np.isin(row, block) & knowledge.eligible)
    scene = Scene.place(case, knowledge, fit, TargetSide.of(knowledge, fit, known), mine)
    at = scene.members(int(scene.block_t[0]))
    parts = log_unit_rows(scene, other_rows(scene, unit), np.array([0]), at)
    weights = np.sum([part[0] for part in parts.values()], axis=0) if parts else np.zeros(len(at))
    p, own = np.zeros(len(at)), unit[scene.rows[at]]
    if np.isfinite(weights).any():
        p = np.exp(weights - weights.max())
    of = np.unique(own, return_inverse=True)[1]
    whole = np.bincount(of, weights=p)
    scale = _p_max(attack, target) / max(float(whole.max()), 1e-300)
    found = pl.DataFrame({"row": row[scene.rows[at]], "p": p * scale, "unit": own, "p_unit": whole[of] * scale})
    return found.sort("p_unit", "unit", "p", "row", descending=[True, False, True, False])


def _whole_units(
    attack: ScannedAttack, held: Bucketed, units: FileUnits, block: I64
) -> tuple[pl.DataFrame, I64, I64]:  # fmt: skip
    """All rows of the units that some released rows belong to, their numbers, and their units."""
    assert held.after is not None
    asked, first = np.zeros(len(units.unit), dtype=bool), 0
    for link in attack.release.links():
        here = block[(block >= first) & (block < first + len(link))] - first
        asked[units.of_rows(link[here])] = True
        first += len(link)
    found, rows, unit = list[pl.DataFrame](), list[I64](), list[I64]()
    for batch, link in zip(attack.release.records(held.after), attack.release.links(), strict=True):
        of = units.of_rows(link)
        mine = np.flatnonzero(asked[of])
        found.append(frame_of(Records(batch.values(), n=batch.n).take(mine)))
        rows.append(batch.rows[mine])
        unit.append(of[mine])
    return pl.concat(found), np.concatenate(rows), np.concatenate(unit)
