"""How the site is built: `scripts/docs`, or `sphinx-build -c docs . site` in the folder above.

The folder above is the source, so that a link that works in the repository works in the site.
"""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from site_text import cited, with_tree  # noqa: E402

project = "confide"
author = "The confide developers"
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
exclude_patterns = [".*", "**/__pycache__", "build", "dist", "site", "src", "tests", "benchmarks", "scripts"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinxcontrib.bibtex"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
default_role = "code"
smartquotes = False
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"

html_theme = "furo"
html_title = "confide"
html_static_path = ["_static"]
html_css_files = ["confide.css"]
templates_path = ["_templates"]
html_additional_pages = {"index": "start.html"}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False
mathjax_path = "tex-svg-full.js"
mathjax3_config = {"options": {"enableMenu": False}}


def change_page(_app: Sphinx, name: str, content: list[str]) -> None:
    text = cited(content[0], "{cite:year}")
    content[0] = with_tree(text) if name == root_doc else text


def cite_docstring(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = cited("\n".join(lines), ":cite:year:").split("\n")


def copy_mathjax(app: Sphinx) -> None:
    """One file, from an installed package: equations as SVG need no fonts."""
    found = next(f for f in files("sphinx-mathjax-offline") or [] if f.name == mathjax_path)
    target = Path(app.outdir, "_static")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(str(found.locate()), target / mathjax_path)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", copy_mathjax)
    app.connect("source-read", change_page)
    app.connect("autodoc-process-docstring", cite_docstring)
