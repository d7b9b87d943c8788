"""Whether the risks of a study can be believed: claims beside the truth, in sentences."""

from __future__ import annotations

import polars as pl

from confide.core.visible import visible

LARGE_Z = 3.0
FAR = 0.2
"""The share by which claims may be off before it is said, beside z."""
CLEAR_Z = 2.0
"""Standard errors below which being off by that share may be chance."""
FEW = 3.0
"""Matches below which a share of them says nothing."""


def doubtful(claimed: float, true: float, z: float) -> bool:
    """Whether claims and truth differ by more than chance, or by more than a fifth.

    >>> doubtful(100.0, 104.0, 0.4), doubtful(100.0, 160.0, 6.0), doubtful(1.0, 2.0, 1.0)
    (False, True, False)
    """
    most = max(claimed, true)
    return most >= FEW and (abs(z) > LARGE_Z or (abs(true - claimed) > FAR * most and abs(z) > CLEAR_Z))


def cautions(claims: pl.DataFrame) -> list[str]:
    """One sentence for each plan and intruder whose claims are off, the worst first."""
    rows = [r for r in claims.iter_rows(named=True) if doubtful(r["claimed"], r["true"], r["z"])]
    rows.sort(key=lambda r: -abs(r["true"] - r["claimed"]))
    return [_sentence(**r) for r in rows]


def _sentence(plan: str, intruder: str, level: str, claimed: float, true: float, z: float, **_: float) -> str:
    who = f'"{visible(plan)}", "{visible(intruder)}" ({level})'
    numbers = f"claims {claimed:,.1f} matches and has {true:,.1f} (z {z:+.1f})"
    if true > claimed:
        return f"{who} {numbers}: it is right more often than it says. Risk that is judged by claims is understated."
    return (
        f"{who} {numbers}: it is too sure. Its model of the file is misled, and one that is not might find more than "
        "was found here: do not count the difference as protection."
    )
