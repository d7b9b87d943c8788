"""What pages without a script have in common: templates, sections with their drawings, and the style."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING, Any

from confide.core.visible import visible
from confide.show.charts.svg import STYLE
from confide.show.report.page import inline

if TYPE_CHECKING:
    from jinja2 import Template


def template(room: str, name: str) -> Template:
    """A page's template, which may take parts of the report's."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(f"confide.show.{each}", ".") for each in (room, "report")]
    pages = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda part: visible(part) if isinstance(part, str) and not hasattr(part, "__html__") else part,
    )  # fmt: skip
    return pages.get_template(name)


def parts_of(sections: Iterable[Any]) -> list[dict[str, Any]]:
    """Sections as templates take them: pictures inside the page, and code with its lines."""
    from markupsafe import Markup, escape

    return [
        {**vars(s), "drawings": [inline(d) for d in s.drawings], "code": Markup(escape(visible(s.code, keep="\n")))}
        for s in sections
    ]


def style_of(*files: str) -> Any:
    """The report's style, that of drawings, and further files of rooms, as "look/look.css"."""
    from markupsafe import Markup

    own = [_text(file) for file in files]
    return Markup("\n".join([_text("report/style.css"), STYLE.replace("text{", ":where(.drawn) text{", 1), *own]))


def _text(file: str) -> str:
    room, name = file.split("/")
    return resources.files(f"confide.show.{room}").joinpath(name).read_text(encoding="utf-8")
