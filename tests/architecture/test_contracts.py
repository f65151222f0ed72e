"""The import contracts hold, and each bites when it is broken on purpose."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINT, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(
        ROOT / "tabprotect", tmp_path / "tabprotect", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("engine/tables/table.py", "import tabprotect.engine.project.project", "earlier ones"),
        ("engine/cycles/files.py", "import PySide6.QtCore", "reach no Qt"),
        ("cli/describe.py", "def f():\n    import pyqtgraph", "reach no Qt"),
        ("engine/newfolder/__init__.py", "", "earlier ones"),
        ("engine/release/release.py", "import tabprotect.engine.microdata.tabulate", "secret"),
        ("engine/bundle/public.py", "import tabprotect.engine.project.project", "secret"),
        ("engine/posterior/infer.py", "import tabprotect.engine.protection.method", "posterior |"),
        ("gui/look/theme.py", "import tabprotect.cli.main", "Four shells"),
        ("gui/pages/start.py", "import tabprotect.gui.pages.help", "No page imports"),
        ("gui/frame/rail.py", "import tabprotect.gui.pages.help", "by the list of stages"),
        ("gui/grid/cells.py", "import tabprotect.gui.frame.rail", "The window:"),
        ("gui/newfolder/__init__.py", "", "The window:"),
        ("server/__init__.py", "import tabprotect.cli.main", "Four shells"),
        ("server/__init__.py", "import PySide6.QtCore", "reach no Qt"),
        ("engine/errors.py", "import tabprotect.engine.registry", "earlier ones"),
        ("cli/output.py", "import tabprotect.cli.main", "No circles"),
        ("cli/main.py", "import tabprotect.cli.reader.infer", "without loading any"),
        ("cli/verbs.py", "def f():\n    import numpy", "without loading any"),
        (
            "engine/protection/methods/other.py",
            "import tabprotect.engine.protection.methods.cyclic_perturbation",
            "sibling",
        ),
        (
            "engine/assessment/risk/other.py",
            "import tabprotect.engine.assessment.risk.tcap",
            "sibling",
        ),
        (
            "engine/query_space/rules/other.py",
            "import tabprotect.engine.query_space.rules.myopic",
            "sibling",
        ),
        (
            "engine/formats/kinds/other.py",
            "import tabprotect.engine.formats.kinds.csv",
            "sibling",
        ),
    ],
)
def test_each_contract_bites(copy: Path, module: str, line: str, contract: str) -> None:
    path = copy / "tabprotect" / module
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    done = lint(copy)
    assert done.returncode != 0
    broken = [row for row in done.stdout.splitlines() if "BROKEN" in row]
    assert broken, done.stdout
    if contract != "posterior |":
        assert any(contract in row for row in broken), broken
