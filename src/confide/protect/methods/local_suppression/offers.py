"""What local suppression offers to a search: all known keys together, by k and by either rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from confide.protect.methods.local_suppression.wildcard_rule import MOST
from confide.protect.seam.dials import Change, Dial, Offers, Outlook, Untried

if TYPE_CHECKING:
    from confide.protect.methods.local_suppression.local_suppression import LocalSuppression

METHOD = "local_suppression"
SIZES = (2, 3, 5, 10, 20)
"""Numbers of people who share a combination to try."""
REPEATS = 10
"""Rows per value that a key has on average, at least: of others nearly all values would be hidden."""
PARTS = 5
"""How many groups of k people a file must have room for."""
VALUES = 100
"""Values that a key has at most, for the same reason."""
KEYS = 60
"""Keys that a step takes together."""
DEAR = 100_000
"""Values of keys in a file beyond which a step takes many seconds."""


def offers(cls: Callable[..., LocalSuppression], outlook: Outlook) -> Offers:
    """Dials for the coarse ones among the keys that some intruder knows."""
    known = outlook.those(known=True)
    keys = tuple(s.name for s in known if s.distinct <= min(VALUES, outlook.rows // REPEATS))[:KEYS]
    fine = tuple(s.name for s in known if s.name not in keys)
    if fine:
        yield Untried(METHOD, "too many values: nearly all of them would be hidden; recode it first", fine)
    if not keys:
        yield Untried(METHOD, "no intruder knows a variable of few values")
        return
    if outlook.shared(keys):
        yield Untried(METHOD, "all rows of a unit have the same keys, and k counts rows", keys)
        return
    sizes = tuple(k for k in SIZES if k * PARTS <= outlook.rows)
    if not sizes:
        yield Untried(METHOD, "the file has too few rows to put people together", keys)
        return
    dear = outlook.rows * len(keys) > DEAR
    yield _dial(cls, keys, sizes, "own", dear)
    if len(keys) <= MOST:
        yield _dial(cls, keys, sizes, "wildcard", dear)
    else:
        yield Untried(METHOD, f"rule wildcard takes at most {MOST} keys", keys)


def _dial(
    cls: Callable[..., LocalSuppression], keys: tuple[str, ...], sizes: tuple[int, ...], rule: str, dear: bool
) -> Dial:
    """One rule. Only whole numbers of people are strengths."""
    return Dial(
        METHOD, keys, sizes, lambda k: Change((cls(keys, k=k, rule=rule),)),
        lambda k: cls(keys, k=k, rule=rule).words,
        between=True, whole=True, dear=dear,
    )  # fmt: skip
