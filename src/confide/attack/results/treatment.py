"""How an attack treated each variable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Treatment:
    """How one variable was treated: known or not, its kind and why, what the plan did, whether that is certain."""

    variable: str
    knowledge: str
    kind: str
    why: str
    plan: str
    evidence: str
