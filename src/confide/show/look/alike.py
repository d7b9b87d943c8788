"""People by how many are alike, in a few ranges: for pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confide.study.look.result import Look

SIZES = {"alone": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-9": (5, 9), "10-24": (10, 24), "25+": (25, None)}


def alike_counts(look: Look) -> dict[str, int]:
    """People by the size of their class."""
    size = look.frame["alike"].to_numpy()
    return {
        name: int(look.each[(size >= low) & (True if high is None else size <= high)].sum())
        for name, (low, high) in SIZES.items()
    }
