"""What a developer forgets: packages in the build, plug-ins, one test command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tabprotect.version import KERNELS, missing_kernels

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "packaging" / "pins"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_package_is_built() -> None:
    listed = set(PYPROJECT["tool"]["setuptools"]["packages"])
    found = {
        ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "tabprotect").rglob("__init__.py")
    }
    assert listed == found | {"tabprotect.resources"}


def test_every_compiled_part_is_built_and_counted() -> None:
    sources = (ROOT / "tabprotect").rglob("*.c")
    assert {one.relative_to(ROOT / "tabprotect").with_suffix("").as_posix() for one in sources} == set(
        KERNELS
    )
    assert not missing_kernels()


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler is found in the registry of Windows")
def test_a_build_without_a_compiler_ends_and_says_what_to_install(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tabprotect", tmp_path / "tabprotect", ignore=shutil.ignore_patterns("*.so"))
    shutil.copy(ROOT / "setup.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext"],
        cwd=tmp_path,
        env={**os.environ, "CC": "/nowhere/cc"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "apt-get install gcc libc6-dev python3-dev" in done.stderr or "xcode-select" in done.stderr


def test_a_build_holds_every_module_and_what_type_checkers_read(tmp_path: Path) -> None:
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(
        ROOT / "tabprotect", tmp_path / "tabprotect", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "resources").mkdir()
    build = [sys.executable, "setup.py", "build_py", "--build-lib", "built"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)

    def typed(place: Path) -> set[str]:
        return {
            path.relative_to(place).as_posix()
            for path in (place / "tabprotect").rglob("*.*")
            if path.suffix in (".py", ".pyi", ".typed")
        }

    assert typed(tmp_path / "built") == typed(tmp_path)


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
    assert "://" not in "".join(path.read_text() for path in PINS.iterdir())
    pinned = {pin.name.lower() for pin in pins()}
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[<>=\[ ]", w)[0].lower() for w in wanted}
    assert names <= pinned


# What not every platform and Python installs, with the Python that its release asks for: it cannot
# be looked up everywhere.
ELSEWHERE = {
    "brotlicffi==1.2.1.0": ">=3.8",
    "importlib-metadata==10.2.0": ">=3.11",
    "lazy-importer==0.1.0": ">=3.11",
    "macholib==1.16.4": "",
    "pefile==2024.8.26": ">=3.6.0",
    "pywin32-ctypes==0.2.3": ">=3.6",
    "zipp==4.1.2": ">=3.10",
}


def pins(of: str = "all") -> list[Requirement]:
    text = (PINS / f"{of}.txt").read_text()
    return [Requirement(one.partition("--hash")[0]) for one in text.replace("\\\n", "").splitlines()]


@pytest.mark.parametrize("of", ["window", "server"])
def test_what_is_installed_for_less_is_pinned_alike(of: str) -> None:
    everything = {pin.name: pin.specifier for pin in pins()}
    assert all(everything[pin.name] == pin.specifier for pin in pins(of))
    extra = {"window": "gui"}.get(of, of)
    asked = PYPROJECT["project"]["dependencies"] + PYPROJECT["project"]["optional-dependencies"][extra]
    assert {Requirement(one).name.lower() for one in asked} <= {pin.name.lower() for pin in pins(of)}


@pytest.mark.parametrize("of", ["all", "window", "server"])
def test_every_pin_has_hashes(of: str) -> None:
    text = (PINS / f"{of}.txt").read_text().replace("\\\n", "")
    assert all("--hash=sha256:" in line for line in text.splitlines())


def asked_of_python(pin: Requirement) -> str | None:
    """What the pinned release asks of Python; None where another release of it is installed."""
    named = f"{pin.name}{pin.specifier}"
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        return ELSEWHERE[named]
    return found.metadata.get("Requires-Python", "") if found.version in pin.specifier else None


def test_every_pin_serves_debian_12_and_every_python_after_it() -> None:
    """Debian 12 has Python 3.11.2; a release that asks for 3.11.5 stops its whole installation."""
    assert PYPROJECT["project"]["requires-python"] == ">=3.11.2"
    asked = {str(pin): asked_of_python(pin) for pin in pins()}
    for version in ("3.11.2", "3.12.0", "3.13.0"):
        for pin in pins():
            if pin.marker is None or pin.marker.evaluate({"python_full_version": version}):
                wanted = SpecifierSet(asked[str(pin)] or "")
                assert version in wanted, f"{pin} asks for Python {wanted}"
    looked_up = [name for name, wanted in asked.items() if wanted is not None]
    assert len(looked_up) > 0.9 * len(asked), "what is installed is not what is pinned"


def test_each_package_has_one_pin() -> None:
    """Every Python that is served runs the same releases."""
    names = [pin.name for pin in pins()]
    assert len(names) == len(set(names))


def test_what_is_recorded_of_other_platforms_is_pinned() -> None:
    assert set(ELSEWHERE) <= {f"{pin.name}{pin.specifier}" for pin in pins()}


def test_version_is_one() -> None:
    from tabprotect import __version__

    assert PYPROJECT["project"]["version"] == __version__


def test_the_citation_names_this_version() -> None:
    from tabprotect import __version__

    text = (ROOT / "resources" / "docs" / "CITATION.cff").read_text()
    assert f"version: {__version__}\n" in text


def test_one_place_asks_what_a_path_is() -> None:
    """``Path.exists`` and its like raise for all but a file that is not there; ``resolve`` for links in a circle."""
    asks = re.compile(r"\.(exists|is_file|is_dir|resolve)\(\)")
    for path in (ROOT / "tabprotect").rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not asks.search(line) or "member.is_dir()" in line, (path, line)


def test_one_place_says_which_text_is_a_number() -> None:
    """``str.isdigit`` takes signs that ``int`` does not, such as a raised two: ``natural`` does it right."""
    others = {"decoding.py", "numerals.py", "digits.py"}
    """The function itself, ASCII only, and codes that no number is made of."""
    for path in (ROOT / "tabprotect").rglob("*.py"):
        if path.name not in others:
            assert not re.search(r"\bis(digit|numeric)\b", path.read_text()), path


def test_a_test_closes_its_database() -> None:
    """A connection as a context ends a transaction only: the collector warns of it in whatever test runs then."""
    for path in (ROOT / "tests").rglob("*.py"):
        assert not re.search(r"with sqlite3\.connect\(", path.read_text()), path


def test_array_types_have_one_home() -> None:
    aliases = re.compile(r"^\w+(?:: TypeAlias)? = (?:npt\.)?NDArray\[", flags=re.MULTILINE)
    found = {path.name for path in (ROOT / "tabprotect").rglob("*.py") if aliases.search(path.read_text())}
    assert found == {"arrays.py"}
