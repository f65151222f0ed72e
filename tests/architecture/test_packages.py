"""What a developer forgets: packages in the build, plug-ins, one test command."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_is_built() -> None:
    listed = set(PYPROJECT["tool"]["setuptools"]["packages"])
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "tabprotect").rglob("__init__.py")
    }
    assert listed == found | {"tabprotect.resources"}


def test_every_module_is_in_a_package() -> None:
    for path in (ROOT / "tabprotect").rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), path


def test_ci_runs_exactly_the_readmes_test_command() -> None:
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"```sh\n(.*?)\n```", readme, flags=re.DOTALL)
    ci = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert ci in commands


def test_constraints_pin_every_dependency_and_name_no_address() -> None:
    text = (ROOT / "packaging" / "constraints.txt").read_text()
    assert "://" not in text
    pinned = {line.split("==")[0].lower() for line in text.splitlines() if "==" in line}
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[<>=\[ ]", w)[0].lower() for w in wanted}
    assert names <= pinned


def test_version_is_one() -> None:
    from tabprotect import __version__

    assert PYPROJECT["project"]["version"] == __version__


def test_the_citation_names_this_version() -> None:
    from tabprotect import __version__

    text = (ROOT / "resources" / "docs" / "CITATION.cff").read_text()
    assert f"version: {__version__}\n" in text
