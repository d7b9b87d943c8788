"""Counts with their shares, as printouts have them."""

from __future__ import annotations


def percent(value: float, of: float) -> str:
    """A count as a share of another in percent; one that is not 0 is not printed as 0.

    >>> percent(968, 51_016), percent(3, 51_016), percent(0, 51_016), percent(1, 0)
    ('1.9%', '<0.1%', '0.0%', '0.0%')
    """
    share = value / of if of else 0.0
    return "<0.1%" if 0 < share < 0.0005 else f"{max(share, 0.0):.1%}"
