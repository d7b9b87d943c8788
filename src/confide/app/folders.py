"""Folders that somebody names: read safely, and judged before anything is written to them."""

from __future__ import annotations

from pathlib import Path

from confide.app import words
from confide.app.desk import Desk


def path_of(text: str, desk: Desk) -> Path | None:
    """A path as somebody wrote it, below the first named folder where it is not a whole one; None for no path."""
    try:
        path = Path(text).expanduser()
        path = path if path.is_absolute() else desk.settings.roots[0] / path
        path.resolve().exists()  # a name that no system takes is found out here
    except (OSError, ValueError, RuntimeError):
        return None
    return path


def folder_problems(desk: Desk, public: str, private: str) -> dict[str, str]:
    """What is wrong with the two folders of a release, by field."""
    wrong = {field: said for field, text in (("public", public), ("private", private)) if (said := _wrong(desk, text))}
    if not wrong:
        a, b = ((path_of(text, desk) or Path()).resolve() for text in (public, private))
        if a == b or a in b.parents or b in a.parents:
            wrong["private"] = "The public and the private folder may not lie in each other."
    return wrong


def _wrong(desk: Desk, text: str) -> str:
    place = path_of(text, desk) if text else None
    if place is None:
        return "Write the path of a folder that is not there yet." if not text else "No folder can have this name."
    real, projects = place.resolve(), desk.settings.projects.resolve()
    if not desk.allowed(place):
        return f"Only below {words.names([str(r) for r in desk.settings.roots])}."
    if real == projects or projects in real.parents or real in projects.parents:
        return "This lies among the projects, which are confide's own. Name another folder."
    if not real.parent.is_dir():
        return "The folder above it is not there."
    if place.is_symlink() or (place.exists() and (not place.is_dir() or any(place.iterdir()))):
        return "This is there already and not empty. Nothing is replaced: name another folder."
    return ""
