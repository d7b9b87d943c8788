"""One file per screen: the state and what has been found, as what its template shows; and what its forms do."""

from __future__ import annotations

from types import ModuleType

from confide.app.screens import compare, history, open, protect, publish, release, risk, schemes, table, variables

SCREENS: dict[str, ModuleType] = {
    screen.NAME: screen
    for screen in (open, variables, risk, protect, compare, release, history, table, schemes, publish)
}
"""All screens of a project by the name in their address."""
