"""Attacks for which counts are not enough."""

from __future__ import annotations

from confide.core.errors import InputError


class NeedsWhole(InputError):
    """Evidence must see all rows; `why`, as a part of a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(f"This attack holds all rows at once: {why}.")
        self.why = why
