"""Rooms import from rooms to their left only: the import graph, read from the source."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.source import Module, modules

WAY = ("core", "frames", "protect", "attack", "measure", "study", "show", "cli")
MAY = {room: set(WAY[:i]) for i, room in enumerate(WAY)}
MAY |= {"tables": {"core", "frames"}, "theory": {"core"}, "demo": {"core", "frames"}}
MAY["study"] |= {"demo"}
MAY["show"] |= {"demo", "tables", "theory"}
MAY["cli"] |= {"demo", "tables", "theory", "app"}
MAY["app"] = set()  # it uses public names alone

UPWARD = "confide.core.upward"
"""The one place that may look upward, for methods such as `attack.chart()`."""

NAMES = {"beliefs", "charts", "extend", "measures", "schemes"}
"""Files at the top that pass public names on. A method may be written against `extend`, which looks each name up late."""

ANYWHERE = {"confide", "confide.__main__", "confide.precompile", UPWARD, *(f"confide.{name}" for name in NAMES)}
"""They look into every room: public names, compiling at installation, convenience methods."""

SPELLINGS = {"confide.study.theory": "confide.theory"}
"""Earlier places of a room, kept for those who import them."""

LAYERS = {
    "core": ("visible", "errors", "upward", "run", "files", "random", "registry", "customary", "documents"),
    "protect": ("seam", "likelihoods", "shared", "methods"),
}
"""Inside a room: each may import from those before it, and everything else in the room from all of them."""

LEFT: set[tuple[str, str]] = set()
"""Modules that still import the wrong way, with the room or layer. The list only becomes shorter."""


def room(name: str) -> str:
    """The room of a module; empty for the package itself."""
    return [*name.split("."), ""][1]


def upward() -> set[tuple[str, str]]:
    """Each module with every room that it should not know."""
    found = set()
    for name, module in modules().items():
        if name in ANYWHERE:
            continue
        for other in module.imports():
            there = room(other)
            if there == "extend" and name.startswith("confide.protect.methods."):
                continue
            if there not in ("", room(name), *MAY[room(name)]) and SPELLINGS.get(name) != other:
                found.add((name, there))
    return found


def test_every_room_has_its_place_on_the_way() -> None:
    assert {room(name) for name in modules()} - {"", "__main__", "precompile", *NAMES} == MAY.keys()


def test_rooms_import_from_rooms_to_their_left_only() -> None:
    assert upward() <= LEFT


def test_from_the_package_itself_nothing_is_taken() -> None:
    """`from confide import Plan` inside the package would load everything, from wherever it stands."""
    taken = {
        (name, alias.name)
        for name, module in modules().items()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "confide"
        for alias in node.names
        if f"confide.{alias.name}" not in modules()
    }
    assert not taken


@pytest.mark.parametrize("where", LAYERS)
def test_layers_inside_a_room(where: str) -> None:
    layers = LAYERS[where]

    def height(name: str) -> int:
        part = [*name.split("."), ""][2]
        return layers.index(part) if part in layers else len(layers)

    wrong = {
        (name, other.split(".")[2])
        for name, module in modules().items()
        if room(name) == where and name.count(".") > 1 and name != UPWARD
        for other in module.imports()
        if room(other) == where and height(other) > height(name)
    }
    assert wrong <= LEFT


def methods() -> dict[str, str]:
    """The class of every registered method, and its name in plan files."""
    found = {}
    for name, module in modules().items():
        if name.startswith("confide.protect.methods"):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef) and "registered" in map(ast.unparse, node.decorator_list):
                    found[node.name] = _name_in_plans(node)
    return found


def _name_in_plans(node: ast.ClassDef) -> str:
    return next(
        str(ast.literal_eval(line.value))
        for line in node.body
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "method" and line.value
    )


def words(module: Module) -> set[str]:
    """Names and texts in the code of a module, without its docstrings."""
    own = [
        node for node in ast.walk(module.tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    told = {id(node.value) for node in own}
    found = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    found |= {f'"{n.value}"' for n in ast.walk(module.tree) if isinstance(n, ast.Constant) and id(n) not in told}
    return found | {node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}


def test_the_attack_knows_no_method() -> None:
    known = methods()
    assert len(known) >= 16
    names = {*known, *(f'"{method}"' for method in known.values()), *(f'"{method}"' for method in known)}
    for name, module in modules().items():
        if room(name) == "attack":
            assert not words(module) & names, name
            assert not any(other.startswith("confide.protect.methods") for other in module.imports()), name
