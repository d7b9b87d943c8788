"""The stages of an attack, for tests that look into them: nothing merged, so that rows are those of the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confide.attack.engine.prepare import prepare


def scenes(attack: Any) -> Iterator[tuple[Any, Any]]:
    """One pattern of knowledge after another: the rows of its targets, and the scene."""
    targets, truth, also = attack.given
    for rows, scene, _ in prepare(attack.intruder, attack.release, targets, truth, also, merge=False).scenes():
        yield rows, scene
