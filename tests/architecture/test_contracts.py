"""The import contracts hold, and each bites when it is broken on purpose."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


BREACHES = [
    ("engine/tables/table.py", "import tabprotect.engine.project.project", "earlier ones"),
    ("engine/cycles/cycle_files.py", "import PySide6.QtCore", "reach no Qt"),
    ("cli/describe.py", "def f():\n    import pyqtgraph", "reach no Qt"),
    ("engine/newfolder/__init__.py", "", "earlier ones"),
    ("engine/release/release.py", "import tabprotect.engine.microdata.tabulate", "secret"),
    ("engine/bundle/public.py", "import tabprotect.engine.project.project", "secret"),
    ("engine/posterior/infer.py", "import tabprotect.engine.protection.method", "earlier ones"),
    ("engine/posterior/prior.py", "import tabprotect.engine.protection.problem", "neither problems"),
    ("engine/cycles/designs.py", "import tabprotect.engine.tables.table", "never a table"),
    ("gui/look/theme.py", "import tabprotect.cli.main", "Four shells"),
    ("gui/pages/start.py", "import tabprotect.gui.pages.help.page", "No page imports"),
    ("gui/frame/rail.py", "import tabprotect.gui.pages.help.page", "by the list of stages"),
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
    ("engine/assessment/risk/other.py", "import tabprotect.engine.assessment.risk.tcap", "sibling"),
    ("engine/query_space/rules/other.py", "import tabprotect.engine.query_space.rules.myopic", "sibling"),
    ("engine/formats/kinds/other.py", "import tabprotect.engine.formats.kinds.csv", "sibling"),
]
"""A module, a line too many in it, and a word of the contract that this breaks."""

LINT = """
import contextlib, io, json, sys
from pathlib import Path
from importlinter.cli import lint_imports

out = []
for module, line, contracts in json.loads(sys.argv[1]):
    path, text = Path("tabprotect", module), io.StringIO()
    before = path.read_bytes() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((before or b"") + f"\\n{line}\\n".encode())
    with contextlib.redirect_stdout(text):
        code = lint_imports(cache_dir="cache", limit_to_contracts=tuple(contracts))
    out.append([code, text.getvalue()])
    if before is None:
        path.unlink()
        if path.name == "__init__.py":
            path.parent.rmdir()
    else:
        path.write_bytes(before)
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str]]:
    """What the linter says of a copy with one breach at a time, and at last with none.

    Of a breach it is asked the contract that is meant, at the end all of them.
    """
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "tabprotect", folder / "tabprotect", ignore=shutil.ignore_patterns("__pycache__"))
    settings = (ROOT / "pyproject.toml").read_text()
    names = [one["name"] for one in tomllib.loads(settings)["tool"]["importlinter"]["contracts"]]
    for number, name in enumerate(names):
        settings = settings.replace(f'name = "{name}"', f'id = "{number}"\nname = "{name}"')
    (folder / "pyproject.toml").write_text(settings)
    cases = []
    for module, line, contract in BREACHES:
        (meant,) = (str(number) for number, name in enumerate(names) if contract in name)
        cases.append((module, line, [meant]))
    cases.append(("engine/errors.py", "", []))
    done = subprocess.run(
        [sys.executable, "-c", LINT, json.dumps(cases)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[tuple[int, str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("number", range(len(BREACHES)), ids=lambda n: BREACHES[n][0])
def test_each_contract_bites(said: list[tuple[int, str]], number: int) -> None:
    (code, text), contract = said[number], BREACHES[number][2]
    assert code != 0
    broken = [row for row in text.splitlines() if "BROKEN" in row]
    assert broken, text
    assert all(contract in row for row in broken), broken


def test_without_a_breach_all_hold(said: list[tuple[int, str]]) -> None:
    code, text = said[-1]
    assert code == 0 and "BROKEN" not in text
