"""One loop that is compiled and kept, as cheaply as one can be."""

from __future__ import annotations

from confide.core.run.compile import compiled


@compiled
def doubled(x: float) -> float:
    """Twice x."""
    return 2.0 * x
