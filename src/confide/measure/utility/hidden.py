"""Values that a release lacks and its original has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.measure.utility.pair import Pair


def hidden_share(pairs: Sequence[Pair], variable: str) -> float:
    """The share of values missing in the release beyond those that the original lacks, in the copy with most; weighted.

    Of the same records, where they are known. 1 for a variable that is not released.
    """
    return max(_share(pair, variable) for pair in pairs)


def _share(pair: Pair, variable: str) -> float:
    if variable not in pair.after.types or variable not in pair.before.types:
        return 1.0
    gone, w = pair.series(variable, 1).is_null().to_numpy(), pair.after.each(pair.weights(1))
    lacking, v = pair.series(variable, 0).is_null().to_numpy(), pair.before.each(pair.weights(0))
    if pair.link is not None and not bool((pair.link < 0).any()):
        lacking, v = lacking[pair.link], w
    return float(max(0.0, np.average(gone, weights=w) - np.average(lacking, weights=v)))
