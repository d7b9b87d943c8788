"""IL1s: how far each person's values moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import I64
from confide.measure.utility.altered import rest
from confide.measure.utility.items import spread
from confide.measure.utility.measure import Found
from confide.measure.utility.moments import OfNumbers
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import mean


@registered
@dataclass(frozen=True)
class InformationLoss(OfNumbers):
    r"""IL1s: mean distance between a person's original and released value, scaled by the original's spread.

    .. math:: \frac{1}{np} \sum_v \sum_i \frac{|x_{iv} - x'_{iv}|}{\sqrt2\, s_v}

    over released rows i, weighted by their original weight, with s the original's standard deviation (divisor: the sum
    of weights). The expected distance of two independent normal values is 0.8 in this unit. **Needs the link** between
    rows: a release made by a plan has it, an adopted one where it was given. A value that the original lacks is left
    out; one that the release alone lacks counts 1, and so does every value of a record that is not released: an
    unaltered sample of half of the records has 0.5. Lower is better, from 0 (best) to 1, which a lost variable counts,
    and none counts more. Over copies it is averaged (Mateo-Sanz, Sebé and Domingo-Ferrer 2004; `IL1s` of sdcMicro,
    which compare files of one length).

    >>> import confide as cf, numpy as np
    >>> heads = cf.demo("heads").head(2000)
    >>> moved = heads.with_columns(heads["age"] + 3)
    >>> found = cf.InformationLoss("age")(heads, moved, link=np.arange(2000))
    >>> round(found * 2**0.5 * heads["age"].std(ddof=0), 9)
    3.0
    """

    key: ClassVar[str] = "il1s"
    needs_link: ClassVar[bool] = True

    def of(self, pairs: Sequence[Pair]) -> Found:
        items = self._chosen(pairs)
        scale = {v: np.sqrt(2) * spread(pairs[0], v) for v in items.kept}
        gone = [_unreleased(p) for p in pairs] if items.kept else []
        losses = {
            v: float(np.mean([_moved(p, v, s, rows) for p, rows in zip(pairs, gone, strict=True)]))
            for v, s in scale.items()
        }
        many, n = round(sum(map(len, gone)) / len(pairs)), pairs[0].original.height
        notes = [f"{many:,} of {n:,} records not released, which count 1"] if many else []
        return replace(items, notes=[*items.notes, *notes]).averaged(losses, self.worst)


def _unreleased(pair: Pair) -> I64:
    """Original rows that the release leaves out."""
    if pair.link is None:
        raise InputError(
            "InformationLoss compares row by row and needs the link between released and original rows. Give link= to "
            "Release.adopt(), or use a measure that needs none, such as means or total_variation."
        )
    return rest(pair.original.height, pair.link)


def _moved(pair: Pair, variable: str, scale: float, gone: I64) -> float:
    """The mean absolute change of a variable; a value that the release alone lacks counts as lost, whether its record
    is there or not."""
    assert pair.link is not None
    before = pair.numbers(variable, 0)[np.concatenate([pair.link, gone])]
    after = np.concatenate([pair.numbers(variable, 1), np.full(len(gone), np.nan)])
    change = np.abs(after - before) / scale
    w = pair.weights(0)[np.concatenate([pair.link, gone])]
    found = mean(np.where(np.isnan(change) & ~np.isnan(before), 1.0, change), w)
    return 0.0 if np.isnan(found) else found
