"""One HTML file: words, tables and charts, with all that draws them; it asks no network and evaluates no text."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError, system_reason
from confide.core.visible import visible
from confide.frames import atomic_write, private_folder
from confide.show.charts.drawable import drawable
from confide.show.charts.drawing import chart_licences, save_pictures
from confide.show.charts.svg import STYLE
from confide.show.report.bundle import bundle
from confide.show.report.figures import Drawing, Figure
from confide.show.report.sections import Section, board_sections, figure_sections, page_words
from confide.show.report.treatment import BASE
from confide.show.report.view import View

if TYPE_CHECKING:
    from confide.study.result import StudyResult

MARKS = {
    "chosen": '<circle cx="7" cy="7" r="6" class="f-accent"/>',
    "dot": '<circle cx="7" cy="7" r="5" class="f-strong"/>',
    "ring": '<circle cx="7" cy="7" r="5" class="f-none s-strong" stroke-width="1.6"/>',
    "stairs": '<path d="M0 11H7V3H14" class="f-empty s-axis" stroke-width="1.5"/>',
    "limit": '<rect x="7" y="0" width="7" height="14" class="f-shade"/>'
    '<path d="M7 0V14" class="f-empty s-warn dash" stroke-width="1.6"/>',
}
"""Marks of the map's key."""

ROOM_FOR_PICTURES = 2_500_000
"""Bytes that static pictures may take, so that a report stays below 5 MB; those beyond are left out."""


def write_report(
    result: StudyResult,
    path: str | os.PathLike[str],
    outside: bool = False,
    choice: Any = None,
    overwrite: bool = False,
    fewest: int = BASE,
) -> Path:
    """Write the report of a study as one HTML file that needs no network.

    `outside`: the version for people outside the agency, without seed, small groups, parts of plans that are marked
    private, and numbers that with the release would tell about fewer than `fewest` people. Its file is the system's
    usual; the internal one, which holds the seed, is readable by its owner only. `choice`: what `choose` gave, or the
    name of a plan.
    """
    if not isinstance(outside, bool):
        raise InputError("outside is true (for people outside the agency) or false.")
    view = View.of(result, outside, choice, fewest)
    return _written(view, figure_sections, path, overwrite)


def _written(
    view: View, sections: Callable[[View], list[Section]], path: str | os.PathLike[str], overwrite: bool
) -> Path:
    """The page in its file; the file is checked before anything is drawn."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f'A report is an HTML file, such as "report.html"; its name cannot end in "{target.suffix}".')
    with atomic_write(target, overwrite, private=not view.outside) as temporary:
        temporary.write_text(report_html(view, sections(view)), encoding="utf-8", newline="\n")
    return target


def report_charts(result: StudyResult, choice: Any = None, outside: bool = False) -> dict[str, Any]:
    """The charts of a report by name, each with its title, for wide pages."""
    view = View.of(result, outside, choice)
    return {f.name: f.wide for f in _every(view, figure_sections(view))}


def _every(view: View, sections: list[Section]) -> list[Figure | Drawing]:
    """All figures and drawings of a report, in its order."""
    board = board_sections(view)
    shares = [d for _, drawings in board["shares"][:1] for d in drawings]
    first = [*board["maps"], *board["people"], *board["learnt"], *board["losses"], *shares, *board["calibration"]]
    return [*first, *(f for s in sections for f in (*s.drawings, *s.figures))]


def save_report_folder(
    result: StudyResult, folder: str | os.PathLike[str], choice: Any = None, overwrite: bool = False
) -> list[Path]:
    """Write `report.html`, `outside/report.html`, and every chart of the internal one as .png and .svg under `charts`.

    What is in the folder "outside" can be shown to others; the rest is for the agency. Tables: `result.save`.
    """
    place = Path(folder).expanduser()
    for part in (place, place / "charts", place / "outside"):
        if part.exists() and not part.is_dir():
            raise InputError(f"{part} is a file, but a folder of this name is needed; give another folder.")
    view = View.of(result, choice=choice)
    sections = functools.cache(figure_sections)
    if not place.is_dir():
        private_folder(place)
    private_folder(place / "charts")
    _open_folder(place / "outside")
    out = [
        _written(view, sections, place / "report.html", overwrite),
        write_report(result, place / "outside" / "report.html", True, choice, overwrite),
    ]
    for f in _every(view, sections(view)):
        out += save_pictures(f.wide, place / "charts" / f.name, overwrite, private=True)
    return out


def _open_folder(path: Path) -> None:
    """A folder with what may be shown to others."""
    try:
        path.mkdir(exist_ok=True)
    except OSError as cause:
        raise InputError(f"The folder {path} cannot be made: {system_reason(cause)}.") from cause


def report_html(view: View, sections: list[Section]) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    words = page_words(view)
    script, draw, style = bundle(), _file("draw.js"), _file("style.css")
    pages = Environment(
        loader=PackageLoader("confide.show.report", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_printed,
    )  # fmt: skip
    words["document"] = Markup(escape(visible(words["document"], keep="\n")))
    board = board_sections(view)
    shares = [(plan, [inline(d) for d in drawings]) for plan, drawings in board["shares"]]
    drawn = {k: [inline(d) for d in board[k]] for k in ("maps", "people", "learnt", "losses", "calibration")}
    contents = [("compared", "What was compared"), ("terms", "What the numbers mean"), ("table", "All plans")]
    contents += [(s.anchor, s.title) for s in sections] + [("again", "How to reproduce")]
    return pages.get_template("page.html.j2").render(
        **words, **board | drawn | {"shares": shares}, contents=contents, sections=list(_drawn(sections)),
        policy=_policy(script, draw), marks={k: Markup(v) for k, v in MARKS.items()},
        style=Markup(style + STYLE.replace("text{", ":where(.drawn) text{", 1)), licences=chart_licences(),
        bundle=Markup(script), draw=Markup(draw),
    )  # fmt: skip


def _printed(part: Any) -> Any:
    """Words as a page can hold them; what is marked up already stays as it is."""
    return visible(part) if isinstance(part, str) and not hasattr(part, "__html__") else part


def _drawn(sections: list[Section]) -> Iterator[dict[str, Any]]:
    """Sections with the specifications and static pictures of their figures."""
    from markupsafe import Markup

    room = ROOM_FOR_PICTURES
    for s in sections:
        figures = []
        for f in s.figures:
            wide, narrow = _spec(f.wide), _spec(f.narrow)
            picture = _picture(wide)
            room -= len(picture)
            figures.append({"figure": f, "specs": Markup(as_json({"wide": wide, "narrow": narrow})),
                            "picture": picture if room > 0 else ""})  # fmt: skip
        yield {**vars(s), "figures": figures, "drawings": [inline(d) for d in s.drawings]}


def inline(drawing: Drawing) -> dict[str, Any]:
    """A drawing as the page holds it: once where it is the same for all widths."""
    from markupsafe import Markup

    wide, narrow = Markup(drawing.wide.inline()), Markup(drawing.narrow.inline())
    return {"drawing": drawing, "wide": wide, "narrow": "" if drawing.wide is drawing.narrow else narrow}


def _spec(chart: Any) -> dict[str, Any]:
    """A chart as the page draws it: its title stands above it as text."""
    spec: dict[str, Any] = drawable(chart).to_dict(validate=False)
    spec.pop("title", None)
    spec.pop("$schema", None)
    return spec


def _picture(spec: dict[str, Any]) -> str:
    """A static picture as an address, for browsers that run no scripts."""
    return _address(json.dumps(spec))


@functools.lru_cache(maxsize=32)
def _address(spec: str) -> str:
    """The same; what stands in both reports is drawn once."""
    import vl_convert

    return "data:image/svg+xml;base64," + base64.b64encode(vl_convert.vegalite_to_svg(spec).encode()).decode()


def as_json(content: Any) -> str:
    """JSON that can stand in a script element whatever its texts are.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("confide.show.report").joinpath(name).read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    """What the page may do: draw itself, and nothing else. Only these very scripts run."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
