"""The script of a user: it names all there is, is checked with the product, and runs."""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import tabprotect as tp

SCRIPT = Path(__file__).with_name("users_script.py")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script() -> ModuleType:
    """The script, imported."""
    spec = importlib.util.spec_from_file_location("users_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_names_every_public_name() -> None:
    named = {
        node.attr
        for node in ast.walk(ast.parse(SCRIPT.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tp"
    }
    assert named >= set(tp.__all__)


def test_it_is_type_checked_with_the_product() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]
    assert settings["strict"] is True
    assert str(SCRIPT.relative_to(ROOT)) in settings["files"]


def test_it_runs(script: ModuleType, tmp_path: Path) -> None:
    table = script.opened(tmp_path)
    script.protected(table, tmp_path)
    assert len(script.several(tmp_path).release.tables) == 6
    assert script.kept(tmp_path)
    script.read(tmp_path)
    script.weighed(table)
    version, refusal = script.refused(table)
    assert version == tp.__version__
    assert "D" in refusal
