"""All losses by name, and the one that a user means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.loss_limits import Exceeds, Within
from confide.attack.learning.attributes.loss_values import Absolute, Own, Squared, ZeroOne
from confide.core.checks import finite
from confide.core.errors import InputError

NAMED: dict[str, Loss] = {"zero_one": ZeroOne(), "absolute": Absolute(), "squared": Squared()}
Stated = str | Within | Exceeds | Callable[..., Any] | None
"""What may be said for a loss; None: 0/1 for categories, absolute for numbers."""


def loss_of(stated: Stated, grid: Sequence[float], numeric: bool, variable: str, levels: tuple[Any, ...]) -> Loss:
    """The loss that is meant, refused where the variable has no numbers for it."""
    if stated is None:
        stated = "absolute" if numeric else "zero_one"
    if isinstance(stated, str):
        if stated not in NAMED:
            raise InputError(
                f'loss is one of {", ".join(NAMED)}, Within(...), Exceeds(...) or a function, not "{stated}".'
            )
        found = NAMED[stated]
    elif isinstance(stated, (Within, Exceeds)):
        found = stated
    elif callable(stated):
        found = Own(stated, tuple(finite(g, "grid") for g in grid), None if numeric else levels)
    else:
        raise InputError(f"loss is one of {', '.join(NAMED)}, Within(...), Exceeds(...) or a function.")
    if found.numbers and not numeric:
        raise InputError(
            f'loss: "{variable}" is categorical, and this loss is about numbers; use "zero_one" or a function, or name '
            "the variable in numeric= of the plan."
        )
    if len(grid) and not isinstance(found, Own):
        raise InputError("grid goes with a loss that is a function; the others know their best guess.")
    return found
