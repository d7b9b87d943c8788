"""What several copies of a file say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.protect.likelihoods.product import repeated


def joined(each: Sequence[Knowledge]) -> Knowledge:
    """What copies say together: likelihoods multiply, and part A is one joint sum over all copies' values."""
    first = each[0]
    if len(each) == 1:
        return first
    uncertain = [_joined(same) for same in zip(*(k.uncertain for k in each), strict=True)]
    eligible = np.logical_and.reduce([k.eligible for k in each])
    return replace(first, uncertain=tuple(uncertain), eligible=np.asarray(eligible))


def _joined(same: Sequence[Uncertain]) -> Uncertain:
    first = same[0]
    if first.silent or first.once:
        return first
    like = repeated([u.like for u in same])
    like_a = None
    if first.like_a is not None:
        shared = all(u.like_a is u.like for u in same)
        like_a = like if shared else repeated([u.like_a for u in same])
    own = [u.log_own for u in same if u.log_own is not None]
    log_own = np.asarray(np.sum(own, axis=0)) if own else None
    return replace(first, like=like, like_a=like_a, log_own=log_own)
