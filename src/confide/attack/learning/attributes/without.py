"""The same release without a person's own record: when leaving the record out is exact, and ten releases where not.

Leaving a record out is exact where no other record's weight hangs on it: where all that is compared is certain, the
variable that is guessed is kept or coarsened, or altered by a likelihood that was stated and not counted in the file.
Elsewhere it is an approximation, and is called so: counts of a swap, ranks, groups and fitted beliefs still hold the
record. `left_out_releases` is the long way: ten releases of the same plan, each without a tenth of the people, ten
attacks on those who are not there.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.attack.intruder import Unsure
from confide.attack.learning.attributes.asked import Asked
from confide.attack.learning.attributes.compute import Learnt, compute
from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.said import Said
from confide.core.errors import InputError
from confide.frames.columns import F64, I64

FOLDS = 10
EXACT = "exact"
NEAR = (
    "approximate: the record is left out, but counts, ranks or beliefs that read\nthe file still hold it; "
    'without="releases" makes ten releases instead'
)
NONE = "nothing changes: no record says anything of its owner"
RELEASES = f"{FOLDS} releases of the same plan, each without a tenth of the people"


def how_exact(asked: Asked, learnt: Learnt) -> tuple[bool, str]:
    """Whether leaving a record out is what a release without it would give, and the same in words."""
    said = learnt.reading.said
    if not said.speaks:
        return True, NONE
    case, who = said.case, asked.intruder
    certain = not any(case.altered(v) for v in who.knows if v in case.released) and not who.errors
    counted = said.how == "altered" and _reads_file(said)
    modelled = isinstance(who.membership, Unsure) and who.membership.population is None
    modelled = modelled and getattr(who.membership, "model", "") == "loglinear"
    return (True, EXACT) if certain and not counted and not modelled else (False, NEAR)


def _reads_file(said: Said) -> bool:
    i = said.case.compiled.way(said.variable).random
    return i is not None and bool(said.case.compiled.fitted[i].reads_others)


def folds(n: int, original: pl.DataFrame) -> I64:
    """A tenth of the people each, by what their rows hold and not by where they stand."""
    mixed = original.hash_rows(seed=17).to_numpy()
    order = np.lexsort((np.arange(n), mixed))
    out = np.empty(n, dtype=np.int64)
    out[order] = np.arange(n) % FOLDS
    return out


def left_out_releases(asked: Asked, loss: Loss, smoothing: float | None) -> tuple[F64, str]:
    """What guesses lose by ten releases, each without a tenth of the people, of those who are not in them."""
    release = asked.release
    if release.plan is None or asked.given[0] is not None or asked.given[2] or release.origin is None:
        raise InputError(
            'without="releases" makes releases of the plan again, so it needs a release that was made here, and its '
            'own people as targets; use without="record".'
        )
    fold = folds(release.original.height, release.original)
    out = np.full(asked.n, np.nan)
    for f in range(FOLDS):
        mine = np.flatnonzero(fold[asked.truth] == f)
        if not len(mine):
            continue
        seed = None if release.seed is None else release.seed + 1 + f
        other = release.plan.protect(release.original.filter(pl.Series(fold != f)), seed=seed)
        people = release.original[asked.truth[mine]]
        part = Asked.of(asked.intruder, other, (people, np.full(len(mine), -1), ()), asked.variable)
        out[mine] = compute(part, loss, smoothing).by_person("loss")
    return out, RELEASES
