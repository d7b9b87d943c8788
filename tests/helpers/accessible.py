"""What axe-core finds on a page that is serious for those who cannot see, hear or point."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

SERIOUS = ("serious", "critical")


@lru_cache(maxsize=1)
def _axe() -> str:
    import axe_playwright_python

    return (files(axe_playwright_python) / "axe.min.js").read_text(encoding="utf-8")


def serious(page: Any) -> list[str]:
    """Each finding with the place it is at; nothing where all is well. Evaluated from outside the page's policy."""
    page.evaluate(_axe())
    told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{v['id']} ({v['impact']}): {node['target']} {node['html'][:120]}"
        for v in told["violations"]
        if v["impact"] in SERIOUS
        for node in v["nodes"]
    ]
