"""What stands in the strip names no option of the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tabprotect
from tabprotect.gui.look.error_strip import without_options

ENGINE = Path(tabprotect.__file__).parent / "engine"


def _texts(node: ast.AST) -> Iterator[str]:
    """Every text that an expression is made of; a comma, the hardest, stands for each value."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "," for v in node.values)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    else:
        for part in ast.iter_child_nodes(node):
            yield from _texts(part)


def _remedies() -> list[str]:
    found = []
    for path in ENGINE.rglob("*.py"):
        source = path.read_text("utf-8")
        if "--" not in source or ("hint" not in source and "_mark" not in source):
            continue
        for node in ast.walk(ast.parse(source)):
            named = isinstance(node, ast.keyword) and node.arg == "hint"
            if isinstance(node, ast.Assign):
                named = ast.unparse(node.targets[0]) == "hint"
            if named and isinstance(node, ast.keyword | ast.Assign):
                found += _texts(node.value)
            elif isinstance(node, ast.FunctionDef) and node.name.endswith(("_mark", "_hint")):
                found += [t for n in ast.walk(node) if isinstance(n, ast.Return) for t in _texts(n)]
    return [text for text in found if "--" in text]


def test_no_remedy_of_the_source_keeps_an_option() -> None:
    remedies = _remedies()
    assert len(remedies) > 30
    for text in remedies:
        left = without_options(f"{text}.")
        assert "--" not in left and "=" not in left and left.endswith("."), (text, left)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Say which: --count COLUMN; or that it is a grid: --form grid.", "Say which; or that it is a grid."),
        ("Say what it means: --marks \"-=zero\", or =missing, =suppressed.", "Say what it means."),
        ("Sagen Sie, wo sie steht: --header-row 3, und was darunter ist: --footer 2.", "Sagen Sie, wo sie steht, und was darunter ist."),
        ("Tabulate them first: tabprotect tabulate a.csv --by A,B --out t.csv.", "Tabulate them first."),
        ("a.csv: no such column. It has: A, B.", "a.csv: no such column. It has: A, B."),
    ],
)  # fmt: skip
def test_what_is_left(said: str, left: str) -> None:
    assert without_options(said) == left
