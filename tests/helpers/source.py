"""The package as text: its modules and what each imports, read without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.helpers.places import ROOT

SOURCE = ROOT / "src"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def functions(self) -> list[Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def imports(self) -> set[str]:
        """Modules of the package that this one imports, at its top or inside a function; not those for types only."""
        return {found for node in _run(self.tree) for found in _imported(node)}


@cache
def modules() -> dict[str, Module]:
    """Every module of the package by its name."""
    found = {}
    for path in sorted((SOURCE / "confide").rglob("*.py")):
        name = ".".join(path.with_suffix("").relative_to(SOURCE).parts).removesuffix(".__init__")
        found[name] = Module(name, path)
    return found


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that are run: what stands under `if TYPE_CHECKING` is not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _run(other)
            continue
        yield child
        yield from _run(child)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "confide")
    elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "confide":
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in modules() else str(node.module)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("confide."):
        yield from {node.value} & modules().keys()  # as given to import_module
