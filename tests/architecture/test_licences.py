"""Every licence of what an installer carries is in it, and said by the program."""

from __future__ import annotations

import runpy
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest

from tabprotect import licences
from tabprotect.cli.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build() -> dict[str, object]:
    """The script that builds the frozen program."""
    return runpy.run_path(str(ROOT / "packaging" / "build.py"))


def test_every_declared_package_is_in_the_text_with_its_licence() -> None:
    names = licences.installed()
    assert {"numpy", "duckdb", "python-calamine", "pyside6-essentials", "pyreadstat"} <= set(names)
    text = licences.for_installer(names)
    parts = {licences.normal(part.split()[0]): part for part in text.split(licences.LINE + "\n") if part}
    for name in names:
        said = parts[name].splitlines()
        assert said[1].startswith("Licence: ") and said[1] != "Licence: "
    assert parts["tabprotect"].split("\n\n", 1)[1].strip() == (ROOT / "LICENSE").read_text().strip()
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in parts["lgpl-3.0".replace(".", "-")]
    assert "GNU GENERAL PUBLIC LICENSE" in parts["gpl-3-0"]
    assert "exchange" in parts["qt"] and "LGPL-3.0-only" in parts["pyside6-essentials"]


def test_what_is_frozen_is_known_or_the_build_fails(build: dict[str, object]) -> None:
    found = build["distributions_of"]
    assert callable(found)
    spec = find_spec("duckdb")
    stranger = str(Path(sysconfig.get_path("purelib")) / "nobodys" / "module.py")
    assert spec is not None and spec.origin is not None
    taken = [("duckdb", spec.origin), ("json", json_file()), ("built in", "-")]
    assert found(taken) == {"duckdb"}
    with pytest.raises(SystemExit, match="nobodys"):
        found([("nobodys.module", stranger)])


def json_file() -> str:
    spec = find_spec("json")
    assert spec is not None and spec.origin is not None
    return spec.origin


def test_libraries_of_the_system_are_told(build: dict[str, object]) -> None:
    found = build["libraries_of"]
    assert callable(found)
    said = dict(found([("libodd.so.3", "/usr/lib/odd/libodd.so.3"), ("json", json_file())]))
    assert list(said) == ["libodd.so.3"] and "libodd.so.3" in said["libodd.so.3"]


def test_the_program_says_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--licences"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("tabprotect\n") and "PySide6" in out and "GNU LESSER" in out


def test_an_installer_says_what_it_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / licences.THIRD_PARTY).write_text("all of it\n")
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys.executable", str(tmp_path / "tabprotect"))
    assert licences.text() == "all of it\n"
