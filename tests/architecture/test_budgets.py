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
    taken = {
        alias.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "tabprotect.engine.budgets"
        for alias in node.names
    }
    assert len(stated) > 30
    assert stated == taken
