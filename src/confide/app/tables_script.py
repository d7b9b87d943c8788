"""The way of tables as a script."""

from __future__ import annotations

from confide.app.state import State


def tables_script(state: State) -> str:
    """What the screens of the tables do, in Python."""
    return f"import confide as cf\n\ncounts = cf.read({state.source!r})\n"
