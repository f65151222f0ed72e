"""Limits stand with what they limit; what a house may set stands together."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tabprotect"
BUDGETS = PACKAGE / "engine" / "budgets.py"


def test_every_budget_is_held_to_by_somebody() -> None:
    stated = {
        node.targets[0].id
        for node in ast.parse(BUDGETS.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    taken = {
        alias.name
        for text in texts
        # Parsing all of the package takes seconds.
        if "engine.budgets" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "tabprotect.engine.budgets"
        for alias in node.names
    }
    assert len(stated) > 30
    assert stated == taken
