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


def test_the_guide_says_what_is_in_every_folder() -> None:
    guide = (ROOT / "resources" / "docs" / "guide.md").read_text()
    map_ = guide.split("## Where things are")[1].split("\n## ")[0]
    named: set[str] = set()
    for row in re.findall(r"^\| .*", map_, flags=re.MULTILINE):
        folder = ""
        for name in re.findall(r"`([a-z_/]+)`", row):
            # `protection/rounding`, `resampling`: the second stands beside the first.
            folder = folder or name.rpartition("/")[0]
            named |= {name, f"{folder}/{name}", f"gui/{name}", f"gui/pages/{name}", f"cli/{name}"}
            named |= {f"{row.split('`')[1]}/{name}"}
    found = {
        path.parent.relative_to(ROOT / "tabprotect").as_posix().removeprefix("engine/")
        for path in (ROOT / "tabprotect").rglob("__init__.py")
        if "migrations" not in path.parts
    }
    assert found - {".", "engine", "gui"} <= named
    for row in re.findall(r"^\| `([a-z_/]+)`", map_, flags=re.MULTILINE):
        assert any((ROOT / "tabprotect" / top / row).is_dir() for top in ("", "engine")), row
    stems = {path.stem for path in (ROOT / "tabprotect").rglob("*") if path.suffix in ("", ".py")}
    for name in re.findall(r"`([a-z_/]+)`", map_):
        assert name.rpartition("/")[2] in {*stems, "tabprotect"}, name


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


def test_array_types_have_one_home() -> None:
    aliases = re.compile(r"^\w+(?:: TypeAlias)? = (?:npt\.)?NDArray\[", flags=re.MULTILINE)
    found = {
        path.name
        for path in (ROOT / "tabprotect").rglob("*.py")
        if aliases.search(path.read_text())
    }
    assert found == {"arrays.py"}
