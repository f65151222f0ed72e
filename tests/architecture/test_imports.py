"""What tests import from the program is there: types are not checked in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


@cache
def _names(module: str) -> frozenset[str] | None:
    """The names that a module of the program has, with its submodules; ``None``: no such module."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if not file.exists():
        return None
    found = {child.stem for child in place.iterdir()} if place.is_dir() else set()
    tree = ast.parse(file.read_text())
    for node in _of_the_module(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.alias(name=name, asname=None):
                found.add(name.partition(".")[0])
            case ast.alias(asname=str(name)):
                found.add(name)
    return frozenset(found)


def _of_the_module(node: ast.AST) -> Iterator[ast.AST]:
    """All below a node that is not inside a function or a class."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _of_the_module(child)


def _missing(text: str) -> list[str]:
    """The names that a file imports from the program and that are not there."""
    out = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ImportFrom(module=str(module), level=0) if module.startswith("tabprotect"):
                names = _names(module)
                out += [
                    f"{module}.{alias.name}"
                    for alias in node.names
                    if names is None or alias.name not in names
                ]
            case ast.Import():
                out += [
                    alias.name
                    for alias in node.names
                    if alias.name.startswith("tabprotect") and _names(alias.name) is None
                ]
    return out


def test_every_name_that_a_test_imports_is_there() -> None:
    found = {file.relative_to(ROOT).as_posix(): _missing(file.read_text()) for file in TESTS}
    assert {file: names for file, names in found.items() if names} == {}


def test_a_name_that_is_not_there_is_found() -> None:
    text = "from tabprotect.engine.errors import InputError, Nowhere\nimport tabprotect.nowhere"
    assert _missing(text) == ["tabprotect.engine.errors.Nowhere", "tabprotect.nowhere"]
