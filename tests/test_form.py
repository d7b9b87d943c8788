"""The form of the source: short files, short functions, and signatures that say what they take."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import confide
from tests.helpers.source import Function, modules

DATA = {
    "data", "file", "frames", "original", "population", "released", "source", "like", "targets", "held_out",  # frames of any library
    "counts", "estimates", "keys", "link", "published", "truth", "values", "variances",  # columns and arrays of any library
}  # fmt: skip
"""Parameters and fields that take data of any library."""

CHARTS = {"chart", "map", "plot"}
"""Methods that return a chart of altair, which is loaded only when somebody draws."""

LEFT = {
    "Attack.given", "Attack.of.given", "Combined.adjusted", "Intruder.at.options", "Intruder.errors", "Intruder.guesses",
    "Intruder.sweep.options", "MatrixMask.A", "MatrixMask.B", "MatrixMask.C",
    "Noise.bounds", "Noise.correlation", "Optimum.map.options", "Optimum.parameters",
    "Pram.levels", "Pram.matrix", "Published.attack.known", "Published.attack.options", "Published.scheme",
    "PublishedTables.attack.known", "PublishedTables.attack.options", "PublishedTables.scheme", "Recode.mapping",
    "Release.record.return", "Study.utility", "StudyResult.map.options",
    "Copies.data.return", "Sweep.__init__.parameters", "Sweep.at.setting", "Sweep.parameters", "Sweep.values.return",
    "Table.of.vault", "Table.publish.vault", "Tables.of.vault", "Tables.publish.vault", "combine_frames.estimator",
    "compare_schemes.candidates", "compare_schemes.options", "expected_sap.known", "optimise.utility",
    "protect_few.utility", "replay.record", "sap.known", "sap.options", "simulate_targets.return", "utility.measures",
}  # fmt: skip
"""Signatures that still say `Any` for something else. The list only becomes shorter."""


def ninetieth(values: list[int]) -> int:
    """The value that a tenth of all exceed at most."""
    return sorted(values)[int(0.9 * len(values))]


def length(function: Function) -> int:
    """Lines of a function without its docstring."""
    first = function.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    assert function.end_lineno is not None
    assert first.end_lineno is not None
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if told else 0)


def test_files_are_short() -> None:
    lengths = {name: module.text.count("\n") for name, module in modules().items()}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
    assert ninetieth(list(lengths.values())) < 250


def test_functions_are_short() -> None:
    assert ninetieth([length(f) for module in modules().values() for f in module.functions]) < 20


def homes() -> dict[str, str]:
    """The module of every public name."""
    return {name: home for name, home in confide._HOMES.items() if home in modules()}


def unsaid(annotation: ast.expr | None) -> bool:
    return annotation is not None and "Any" in {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)}


def of_function(name: str, function: ast.FunctionDef) -> Iterator[str]:
    args = function.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg and unsaid(arg.annotation) and arg.arg not in DATA:
            yield f"{name}.{arg.arg}"
    if unsaid(function.returns) and function.name not in CHARTS:
        yield f"{name}.return"


def of_class(name: str, node: ast.ClassDef) -> Iterator[str]:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and (part.name == "__init__" or not part.name.startswith("_")):
            yield from of_function(f"{name}.{part.name}", part)
        elif isinstance(part, ast.AnnAssign) and unsaid(part.annotation):
            field = ast.unparse(part.target)
            if field not in DATA and not field.startswith("_"):
                yield f"{name}.{field}"


def test_public_signatures_say_what_they_take() -> None:
    found = set()
    for name, home in homes().items():
        for node in modules()[home].tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                found |= set(of_function(name, node))
            elif isinstance(node, ast.ClassDef) and node.name == name:
                found |= set(of_class(name, node))
    assert found <= LEFT
