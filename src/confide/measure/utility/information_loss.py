"""IL1s: how far each person's values moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.measure.utility.measure import Found, described
from confide.measure.utility.moments import OfNumbers, spread
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import mean


@registered
@dataclass(frozen=True)
class InformationLoss(OfNumbers):
    r"""IL1s: mean distance between a person's original and released value, scaled by the original's spread.

    .. math:: \frac{1}{np} \sum_v \sum_i \frac{|x_{iv} - x'_{iv}|}{\sqrt2\, s_v}

    over released rows i, weighted by their original weight, with s the original's standard deviation (divisor: the sum
    of weights). The expected distance of two independent normal values is 0.8 in this unit. **Needs the link** between
    rows: a release made by a plan has it, an adopted one where it was given. A pair with a missing value is left out.
    Lower is better, from 0 (best) upwards. Over copies it is averaged (Mateo-Sanz, Sebé and Domingo-Ferrer 2004;
    `IL1s` of sdcMicro).

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
        first = pairs[0]
        names, notes = self._chosen(first)
        scale = [np.sqrt(2) * spread(first, v, "InformationLoss") for v in names]
        losses = np.mean([[_moved(p, v) / s for v, s in zip(names, scale, strict=True)] for p in pairs], axis=0)
        return Found(float(losses.mean()), described("variable", names, losses, notes))


def _moved(pair: Pair, variable: str) -> float:
    """The mean absolute change of a variable."""
    if pair.link is None:
        raise InputError(
            "InformationLoss compares row by row and needs the link between released and original rows. Give link= to "
            "Release.adopt(), or use a measure that needs none, such as means or total_variation."
        )
    change = np.abs(pair.numbers(variable, 1) - pair.numbers(variable, 0)[pair.link])
    found = mean(change, pair.weights(0)[pair.link])
    if np.isnan(found):
        raise InputError(f'InformationLoss: no linked record has "{variable}" in both files.')
    return found
