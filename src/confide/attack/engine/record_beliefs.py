"""Known numbers of which records say something, as the loop over them asks for it."""

from __future__ import annotations

import numpy as np

from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.engine.scene import Number, Scene
from confide.attack.engine.target_side import met_value
from confide.frames.columns import I64, Bools, codes_of_numbers
from confide.protect.seam.likelihood import take


def believed_in(s: Scene) -> list[tuple[Number, NumberBelief]]:
    """Known numbers that are not synthetic, with what is believed of them."""
    return [(n, n.belief) for n in s.numbers if n.known and n.belief is not None and n.target is not None]


def places(s: Scene, n: Number, belief: NumberBelief, t: I64) -> tuple[I64, Bools]:
    """Where targets' values lie among those of the reference, -1 for nowhere; and of whom the number is altered."""
    assert n.target is not None
    y = met_value(s, n, t)
    return codes_of_numbers(y, belief.every.values), n.like.altered(take(n.target, t)) & ~np.isnan(y)


def all_in_reference(s: Scene) -> bool:
    """Whether the loop understands what records say of known numbers: only of values that the reference holds."""
    for n, belief in believed_in(s):
        at, asked = places(s, n, belief, np.arange(s.targets.n))
        if belief.logs or n.fit.log_there is not None or np.any(at[asked] < 0):
            return False
    return True
