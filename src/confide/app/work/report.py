"""The reports of a comparison under a rule, for inside and for outside, and the map as a picture."""

from __future__ import annotations

from typing import Any

from confide.app.project import private
from confide.app.work.verdict import chosen, ruled
from confide.app.worker import Work


def run(work: Work) -> dict[str, Any]:
    """Write them into a folder of the project."""
    result = ruled(work.folder / work.given["folder"], work.given["choice"])
    choice, _ = chosen(result)
    place = private(work.folder / work.given["folder"] / work.given["name"])
    private(place / "outside")
    result.report(place / "report.html", choice=choice, overwrite=True)
    result.report(place / "outside" / "report.html", choice=choice, outside=True, overwrite=True)
    (place / "outside" / "report.html").chmod(0o600)
    result.save(place / "map.svg", overwrite=True)
    return {"folder": f"{work.given['folder']}/{work.given['name']}"}
